"""Settings for the exciting motion of a fixed-base arm, stored with the scene."""

from __future__ import annotations

import bpy

from ..base.option_fields import option_group
from ..base.solver_api import ExcitingOptions

MEASURED = (
    ("torques", "Joint Torques", "Torques of all moving joints"),
    ("base", "Base Wrench", "Force and moment between the arm and its mount"),
)
CRITERIA = (
    ("condition", "Condition Number", "Condition number of the regressor, as reported in the literature"),
    ("deviations", "Standard Deviations", "Mean predicted standard deviation of the parameters"),
)


class FixedBaseSettings(option_group(ExcitingOptions, criterion={"items": CRITERIA}), bpy.types.PropertyGroup):  # type: ignore[misc]
    """Settings for an arm's exciting motion."""

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
