"""Settings for the exciting motion of a fixed-base arm, stored with the scene."""

from __future__ import annotations

import bpy

MEASURED = (
    ("torques", "Joint Torques", "Torques of all moving joints"),
    ("base", "Base Wrench", "Force and moment between the arm and its mount"),
)
CRITERIA = (
    ("condition", "Condition Number", "Condition number of the regressor, as reported in the literature"),
    ("deviations", "Standard Deviations", "Mean predicted standard deviation of the parameters"),
)


class FixedBaseSettings(bpy.types.PropertyGroup):
    """Settings for an arm's exciting motion."""

    seconds: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Duration",
        description="Duration of the motion in seconds",
        default=10.0,
        min=1.0,
        soft_max=60.0,
        max=600.0,
        precision=1,
        subtype="TIME_ABSOLUTE",
    )
    measured: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Measured", description="Measurement from which the arm will be identified", items=MEASURED
    )
    drives: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Motor Side",
        description="Torques are measured at the motors and include friction and rotor inertia, not behind the gears",
        default=True,
    )
    held: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Fixed Joints",
        description="Links or joints that do not move, separated by spaces. If empty, coupled fingers do not move",
    )
    criterion: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Criterion", description="What the search minimises", items=CRITERIA
    )
    speed: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Speed",
        description="Fraction of the speed limits that the motion may use",
        default=0.9,
        min=0.01,
        max=1.0,
        subtype="FACTOR",
    )
    torque: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Torque",
        description="Fraction of the torque limits that the motion may use",
        default=0.8,
        min=0.01,
        max=1.0,
        subtype="FACTOR",
    )
    clearance: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Clearance", description="Minimum distance of links from one another and from the mount",
        default=0.02, min=0.0, max=0.2, precision=4, unit="LENGTH",
    )  # fmt: skip
    seed: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Seed", description="Seed of the random initial motions of the search", min=0
    )
    output: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Results",
        description="Folder for the motion (exciting.csv for the controller). If empty, the add-on's own folder",
        subtype="DIR_PATH",
    )


def fixed_base_settings(scene: bpy.types.Scene) -> FixedBaseSettings:
    """A scene's settings."""
    return scene.exciting_dance_bench  # type: ignore[attr-defined]


def register() -> None:
    """Add the settings to all scenes."""
    bpy.types.Scene.exciting_dance_bench = bpy.props.PointerProperty(type=FixedBaseSettings)  # type: ignore[attr-defined]


def unregister() -> None:
    """Remove the settings."""
    del bpy.types.Scene.exciting_dance_bench  # type: ignore[attr-defined]


CLASSES = (FixedBaseSettings,)
