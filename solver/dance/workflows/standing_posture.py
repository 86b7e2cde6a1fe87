"""A feasible standing posture of a rig, with which a scene starts."""

from __future__ import annotations

import numpy as np

from ...base.errors import InvalidValue
from ...options.checks import DANCE_CHECKS
from ...scene.motion_record import MotionRecord, motion_record
from ...skeleton.rig import Rig
from ...trajectory.legged_rig import LeggedRig
from ...values.motion import Motion

DURATION = 0.01
"""[s] Duration of the posture, because a motion has a duration."""


def find_standing_posture(rig: Rig) -> MotionRecord | None:
    """The neutral posture of dances: knees bent, arms clear of the body, balanced; None if the rig cannot stand so.

    Example:
        >>> import solver
        >>> from solver.dance.workflows.standing_posture import find_standing_posture
        >>> record = find_standing_posture(solver.hoap3())
        >>> record.name, len(record)
        ('find_standing_posture', 2)
    """
    try:
        legged = LeggedRig(rig, shrink=DANCE_CHECKS.shrink)
        footing = legged.get_footing("both")
        _, curves, good = legged.solve_static(legged.home_posture(footing)[None], footing.solved)
    except InvalidValue:
        return None
    if not good.all():
        return None
    none = np.zeros((2, rig.nv))
    return motion_record("standing", rig, Motion(np.array([0.0, DURATION]), np.repeat(curves.q, 2, axis=0), none, none))
