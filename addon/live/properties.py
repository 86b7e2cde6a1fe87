"""What the user chose for the live check, kept with the scene; whether it runs is not: it ends with the session."""

from __future__ import annotations

import bpy

PAIRS = (
    ("all", "All", "No two links touch that are not neighbours"),
    ("paper", "Paper's", "The pairs of bonnet2016 III.D: faster, may miss a touch"),
)


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
    shrink: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Shrink support",
        description="Share by which the support polygon is shrunk about its centre, to be safe",
        default=0.4,
        min=0.0,
        max=0.95,
        subtype="FACTOR",
    )
    friction: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Friction", description="Coefficient between soles and floor", default=0.5, min=0.01, max=2.0, precision=2
    )
    slip: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Allowed slip",
        description="By which a standing foot may leave its place; hand-made feet are never quite still",
        default=0.002,
        min=0.0,
        max=0.1,
        precision=4,
        unit="LENGTH",
    )
    pairs: bpy.props.EnumProperty(name="Collisions", description="Links that must not touch", items=PAIRS)  # type: ignore[valid-type]


def live_settings(scene: bpy.types.Scene) -> LiveSettings:
    """A scene's choices."""
    return scene.exciting_dance_live  # type: ignore[attr-defined]


def options_of(scene: bpy.types.Scene) -> dict[str, object]:
    """What a request to check says besides the timeline."""
    settings = live_settings(scene)
    return {
        "shrink": round(settings.shrink, 4),
        "friction": round(settings.friction, 4),
        "slip": round(settings.slip, 6),
        "pairs": settings.pairs,
        "excitation": settings.show_excitation,
    }
