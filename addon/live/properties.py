"""What the user chose for the live check, kept with the scene; whether it runs is not: it ends with the session."""

from __future__ import annotations

import bpy


class LiveSettings(bpy.types.PropertyGroup):
    """Choices of the live check."""

    show_balance: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Balance",
        description="Support polygon as checked, centre of mass over the floor, and zero-moment point (ZMP)",
        default=True,
    )
    show_forces: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Foot forces",
        description="What the floor has to push, at the centre of pressure of each foot",
        default=True,
    )
    show_arc: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Gravity arc",
        description="In the air, the parabola that the centre of mass must follow, with its apex and landing point",
        default=True,
    )
    show_links: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Links",
        description="Links that fail (red), collide (bright red) or are near a limit (amber)",
        default=True,
    )
    show_words: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Read-out", description="The worst margins in words, in the corner of the view", default=True
    )
    show_timeline: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Timeline", description="Contacts and margins along the Dope Sheet and the Timeline", default=True
    )
    show_excitation: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Excitation so far",
        description="Colour each link by how well the dance has excited its inertia up to the current frame",
    )


def live_settings(scene: bpy.types.Scene) -> LiveSettings:
    """A scene's choices."""
    return scene.exciting_dance_live  # type: ignore[attr-defined]


def request_options(scene: bpy.types.Scene) -> dict[str, object]:
    """What a request to check says besides the timeline, which carries the checks."""
    return {"excitation": live_settings(scene).show_excitation}
