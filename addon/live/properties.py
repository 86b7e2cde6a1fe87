"""Settings for the live check, stored with the scene; whether it runs is not stored."""

from __future__ import annotations

import bpy


class LiveSettings(bpy.types.PropertyGroup):
    """Settings for the live check."""

    show_balance: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Balance",
        description="Show support polygon, centre of mass above the floor, zero-moment point (ZMP) and foot forces; in "
        "flight the parabola that the centre of mass must follow, with apex and landing point",
        default=True,
    )
    show_links: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Links",
        description="Highlight links that fail (red), collide (bright red) or are near a limit (amber)",
        default=True,
    )
    show_words: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Readout", description="Show the worst margins as text in the corner of the view", default=True
    )
    show_timeline: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Timeline", description="Show contacts and margins in Dope Sheet and Timeline", default=True
    )
    show_excitation: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Excitation So Far",
        description="Colour each link by how well the dance has excited it up to the current frame",
    )


def live_settings(scene: bpy.types.Scene) -> LiveSettings:
    """A scene's settings."""
    return scene.exciting_dance_live  # type: ignore[attr-defined]


def request_options(scene: bpy.types.Scene) -> dict[str, object]:
    """Options of a request besides the timeline, which contains the check options."""
    return {"excitation": live_settings(scene).show_excitation}
