"""Comfortable ranges of the joints for a dancer's skill."""

from __future__ import annotations

import numpy as np

from ...dynamics import link_poses
from ...dynamics.coordinates import joint_slices
from ...options.dances import Skill
from ...skeleton.rig import ROOT_NV
from ...trajectory.legged_rig import LeggedRig

SIDEWAYS_FRACTION = 0.5
"""Least sideways component of a joint axis whose rotation counts as bending forward or backward."""


def comfort_limits(legged: LeggedRig, home: np.ndarray, skill: Skill) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits (D,) of the flat coordinates for a dancer's skill.

    Args:
        legged: with the anatomical limits.
        home: (D,) about which the ranges shrink.
        skill: of the dancer.
    """
    lower, upper = np.array(legged.lower), np.array(legged.upper)
    moved = np.concatenate([legged.trunk, np.concatenate(list(legged.leg_columns.values()))])
    lower[moved] = np.maximum(lower[moved], home[moved] - skill.range_fraction * (home[moved] - lower[moved]))
    upper[moved] = np.minimum(upper[moved], home[moved] + skill.range_fraction * (upper[moved] - home[moved]))
    if np.isfinite(skill.max_backward_bend):
        lower[4] = max(lower[4], -skill.max_backward_bend)  # the root's rotation about y: forward is positive
        for column, sign in bending_columns(legged):
            if sign > 0.0:
                lower[column] = max(lower[column], min(home[column], 0.0) - skill.max_backward_bend)
            else:
                upper[column] = min(upper[column], max(home[column], 0.0) + skill.max_backward_bend)
    return lower, upper


def bending_columns(legged: LeggedRig) -> list[tuple[int, float]]:
    """Columns in which trunk and head bend, with the sign of bending forward."""
    rig = legged.rig
    paired = {link for pair in rig.pairs for link in pair}
    turns = link_poses(rig, rig.neutral)[0]
    result = []
    for number, (joint, _, span) in enumerate(joint_slices(rig)):
        if span.start < ROOT_NV or rig.links[number] in paired or joint.kind == "prismatic":
            continue
        axes = joint.axes if len(joint.axes) else np.eye(3)
        for axis, column in zip(axes, range(span.start, span.stop)):
            sideways = float((turns[number] @ axis)[1])
            if column in legged.trunk and abs(sideways) > SIDEWAYS_FRACTION:
                result.append((column, float(np.sign(sideways))))
    return result
