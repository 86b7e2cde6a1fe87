"""Authored dances for the tests of authoring."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver.contacts.schedule import Anchor, Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dynamics import integrate
from solver.skeleton.rig import Rig
from solver.trajectory.legged_rig import LeggedRig


def home(rig: Rig) -> tuple[np.ndarray, tuple[Anchor, ...]]:
    """A balanced posture with bent knees, and the anchors of its feet."""
    legged = LeggedRig(rig, shrink=0.0)
    footing = legged.get_footing("both")
    _, curves, _ = legged.solve_static(legged.home_posture(footing)[None], footing.solved)
    return curves.q[0], footing.anchors


def rotate_joints(rig: Rig, q: np.ndarray, angles: Mapping[str, tuple[int, float]]) -> np.ndarray:
    """A posture with joints (link: axis, angle [rad]) rotated further."""
    step = np.zeros(rig.nv)
    for link, (axis, angle) in angles.items():
        step[rig.v_slices[rig.index(link)].start + axis] += angle
    return integrate(rig, q, step)


def shift_root(q: np.ndarray, x: float, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """A posture with its root, and so its feet, shifted [m]."""
    result = np.array(q)
    result[:3] += [x, y, z]
    return result


def arm_swing(rig: Rig, size: float, period: float, swings: int = 2) -> AuthoredDance:
    """Both arms of a person swing forwards and back; the first and last posture are fixed."""
    q, anchors = home(rig)
    keys = [Keyframe(0.0, q, "fixed", "start")]
    for number in range(swings):
        angle = -size if number % 2 == 0 else 0.3 * size
        arms = {"right_upper_arm": (1, angle), "left_upper_arm": (1, angle)}
        keys.append(Keyframe((number + 1) * period, rotate_joints(rig, q, arms)))
    stop = (swings + 1) * period
    keys.append(Keyframe(stop, q, "fixed", "end"))
    return AuthoredDance(rig, tuple(keys), Schedule.constant(anchors, 0.0, stop))
