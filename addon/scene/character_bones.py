"""How the bones of a character's armature move its links: what else moves them, and what prevents posing them."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..base import bpy_access
from ..base.solver_api import Rig, errors
from .armature import is_character

REST_TOLERANCE = 1e-6
"""Largest entry of a bone's basis matrix minus one at rest."""


def posed_by_others(armature: bpy.types.Object, rig: Rig, curves: Iterable[bpy.types.FCurve] = ()) -> str:
    """What else than the links' own channels moves the links of a character, as one clause; empty if nothing does.

    Args:
        armature: of the character.
        rig: of it.
        curves: that animate it.
    """
    if not is_character(rig):
        return ""
    bones, posed, links = bpy_access.armature(armature).bones, bpy_access.pose_bones(armature), set(rig.links)
    animated = {curve.data_path.rpartition(".")[0] for curve in curves}
    for link, parent in zip(rig.links, rig.parents, strict=True):
        bone = bones[link]
        if not bone.use_inherit_rotation and bone.parent is not None:
            return f"bone {link} does not inherit rotation"
        above = bone.parent
        while above is not None and above.name not in links:
            if not _is_at_rest(posed[above.name]) or posed[above.name].path_from_id() in animated:
                return f"bone {above.name}, which is no link of the rig, is posed"
            above = above.parent
        expected = rig.links[parent] if parent >= 0 else None
        if (None if above is None else above.name) != expected:
            return f"bone {link} is not below bone {expected}"
    return ""


def _is_at_rest(bone: bpy.types.PoseBone) -> bool:
    basis = bone.matrix_basis
    identity = all(abs(basis[i][j] - (i == j)) < REST_TOLERANCE for i in range(4) for j in range(4))
    return identity and not any(constraint.enabled and not constraint.mute for constraint in bone.constraints)


def require_posable(armature: bpy.types.Object, rig: Rig, curves: Iterable[bpy.types.FCurve] = ()) -> None:
    """Raise an error if poses cannot be written to the bones of a character.

    Args:
        armature: of the character.
        rig: of it.
        curves: that animate it.

    Raises:
        InvalidValue: constraints, other bones or a connection to the parent move its links.
    """
    problem = _posing_problem(armature, rig, curves) if is_character(rig) else ""
    if problem:
        raise errors.InvalidValue(problem)


def _posing_problem(armature: bpy.types.Object, rig: Rig, curves: Iterable[bpy.types.FCurve]) -> str:
    """Why poses cannot be written to the bones of a character, with the remedy; empty if they can."""
    bones, posed = bpy_access.armature(armature).bones, bpy_access.pose_bones(armature)
    for link in rig.links:
        driven = [c.name for c in posed[link].constraints if c.enabled and not c.mute and c.influence > 0.0]
        if driven:
            return (
                f"{armature.name}: bone {link} follows the constraint {driven[0]!r}, so it cannot be posed directly: "
                "use a copy of the character with only its deforming bones, without constraints"
            )
    root = bones[rig.links[0]]
    if root.use_connect and root.parent is not None:
        return f"{armature.name}: bone {root.name} is connected to its parent and cannot be moved: disconnect it"
    reason = posed_by_others(armature, rig, curves)
    return f"{armature.name}: {reason}, so poses cannot be written: clear its pose (Alt R, Alt G)" if reason else ""
