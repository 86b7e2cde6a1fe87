"""How a rig stands before anything is asked of it: a pose that keeps every check, for a scene to begin with."""

from __future__ import annotations

import numpy as np

from ...check_options import DANCE_CHECKS
from ...errors import InvalidValue
from ...motion import Motion
from ...rig import Rig
from ...scene.motion_record import MotionRecord, motion_record
from ...trajectory.legged_rig import LeggedRig

STILL = 0.01
"""[s] that the pose lasts, for a motion has a duration."""


def standing(rig: Rig) -> MotionRecord | None:
    """Home, where dances begin: knees bent, arms clear of the body, balanced; None of a rig that cannot stand so.

    Example:
        >>> import solver
        >>> from solver.dance.workflows.standing import standing
        >>> record = standing(solver.hoap3())
        >>> record.name, len(record)
        ('standing', 2)
    """
    try:
        legged = LeggedRig(rig, shrink=DANCE_CHECKS.shrink)
        footing = legged.footing("both")
        _, curves, good = legged.still(legged.home(footing)[None], footing.solved)
    except InvalidValue:
        return None
    if not good.all():
        return None
    none = np.zeros((2, rig.nv))
    return motion_record("standing", rig, Motion(np.array([0.0, STILL]), np.repeat(curves.q, 2, axis=0), none, none))
