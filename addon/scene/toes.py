"""Drawn toes: they bend while the heel of a foot that rolls rises. No joint of the rig moves them, drivers do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import bpy
import numpy as np

from ..base import bpy_access, convert
from ..base.solver_api import TOE_BEND, Rig, RollingSole

EXPRESSION = "clamp(asin(clamp({a}*(w*y-x*z)-{b}*(y*z+w*x)+{c}*(x*x+y*y-0.5),-0.5,0.5)*2),0,{most})/{unit}"
"""Bend of the toes [rad] over a unit, from the quaternion of the foot's bone in the world and the direction of the toes
in its axes; Blender evaluates it without Python."""


def is_toe_driver(curve: bpy.types.FCurve) -> bool:
    """Whether a driver bends drawn toes, and so moves no link."""
    return bpy_access.require(curve.driver, "driver").expression.startswith(EXPRESSION.partition("{")[0])


def drive_skin(
    skin: bpy.types.Object, armature: bpy.types.Object, rig: Rig, bent: Mapping[str, np.ndarray], axes: np.ndarray
) -> None:
    """Bend the toes of a person's skin by a shape key for each foot.

    Args:
        skin: of the person.
        armature: of the rig.
        rig: of the person.
        bent: vertices (V, 3) [m] of the skin with the toes bent by `TOE_BEND`, by the link of the foot.
        axes: (L, 3, 3) of the links' bones, link axes.
    """
    skin.shape_key_add(name="Basis")
    for sole in (sole for sole in rig.soles if sole.link in bent):
        key = skin.shape_key_add(name=f"{sole.link} toes")
        key.data.foreach_set("co", bent[sole.link].astype(np.float32).ravel())
        _add_driver(key.driver_add("value"), armature, rig, sole.name, axes, float(TOE_BEND))


def drive_bones(armature: bpy.types.Object, rig: Rig, names: Iterable[str], axes: np.ndarray) -> None:
    """Bend the toes of a character: those of the named bones that begin in the front half of a foot.

    Args:
        armature: of the character.
        rig: of the character.
        names: of bones that may be driven.
        axes: (L, 3, 3) of the links' bones, link axes.
    """
    rest, bones = convert.rest_matrices(rig), bpy_access.armature(armature).bones
    for patch in (sole for sole in rig.soles if sole.toes):
        sole = RollingSole.of(rig, patch.name)
        forward, left, _ = (rest[rig.index(patch.link), :3, :3] @ sole.axes).T
        for bone in (child for child in bones[patch.link].children if child.name in names):
            if forward @ np.array(bone.head_local - bones[patch.link].head_local) > sole.corners[:, 0].mean():
                posed = bpy_access.pose_bones(armature)[bone.name]
                posed.driver_remove("rotation_axis_angle", 0)
                posed.rotation_mode = "AXIS_ANGLE"
                posed.rotation_axis_angle = (0.0, *(-left @ convert.to_array(bone.matrix_local)[:3, :3]))
                _add_driver(posed.driver_add("rotation_axis_angle", 0), armature, rig, patch.name, axes, 1.0)


def _add_driver(curve: Any, armature: bpy.types.Object, rig: Rig, sole: str, axes: np.ndarray, unit: float) -> None:
    link = rig.patch(sole).link
    for letter in "wxyz":
        variable = curve.driver.variables.new()
        variable.name, variable.type = letter, "TRANSFORMS"
        target = variable.targets[0]
        target.id, target.bone_target, target.transform_type = armature, link, f"ROT_{letter.upper()}"
        target.rotation_mode, target.transform_space = "QUATERNION", "WORLD_SPACE"
    a, b, c = axes[rig.index(link)].T @ RollingSole.of(rig, sole).axes[:, 0]
    curve.driver.expression = EXPRESSION.format(
        a=f"{a:.7f}", b=f"{b:.7f}", c=f"{c:.7f}", most=float(TOE_BEND), unit=unit
    )
