"""What the user chose for the exciting motion of an arm that is bolted down; kept with the scene."""

from __future__ import annotations

import bpy

MEASURED = (
    ("torques", "Joint torques", "Of every joint that moves"),
    ("base", "Force under the base", "Force and moment that the bench gives the arm"),
)
CRITERIA = (
    ("condition", "Condition", "Condition number of the regressor, as the literature prints it"),
    ("deviations", "Deviations", "Mean deviation to expect of the parameters"),
)


class FixedBaseSettings(bpy.types.PropertyGroup):
    """Choices of an arm's exciting motion."""

    seconds: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Length", description="Of the motion [s]", default=10.0, min=1.0, soft_max=60.0, max=600.0, precision=1,
        subtype="TIME_ABSOLUTE",
    )  # fmt: skip
    measured: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Measured", description="By what the arm will be identified", items=MEASURED
    )
    drives: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Drives",
        description="Torques are measured at the motors: friction and rotors are in them; otherwise behind the gears",
        default=True,
    )
    held: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Held", description="Links or joints that do not move, parted by spaces; empty: coupled fingers"
    )
    criterion: bpy.props.EnumProperty(name="Criterion", items=CRITERIA)  # type: ignore[valid-type]
    speed: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Speed", description="Share of the speed limits to use", default=0.9, min=0.01, max=1.0, subtype="FACTOR"
    )
    torque: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Torque", description="Share of the torque limits to use", default=0.8, min=0.01, max=1.0, subtype="FACTOR"
    )
    clearance: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Clearance", description="Distance that links keep from one another and from what the arm stands on",
        default=0.02, min=0.0, max=0.2, precision=4, unit="LENGTH",
    )  # fmt: skip
    seed: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Seed", description="Of the random motions that the search begins with", min=0
    )
    output: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Results",
        description="Folder for the motion: exciting.csv for the arm's controller; empty: the add-on's own",
        subtype="DIR_PATH",
    )


def fixed_base_settings(scene: bpy.types.Scene) -> FixedBaseSettings:
    """A scene's choices."""
    return scene.exciting_dance_bench  # type: ignore[attr-defined]


def register() -> None:
    """Give every scene the choices."""
    bpy.types.Scene.exciting_dance_bench = bpy.props.PointerProperty(type=FixedBaseSettings)  # type: ignore[attr-defined]


def unregister() -> None:
    """Take them away."""
    del bpy.types.Scene.exciting_dance_bench  # type: ignore[attr-defined]


CLASSES = (FixedBaseSettings,)
