"""Reachability of postures: straight paths between them that are feasible at rest at every instant.

A motion that is slow enough differs arbitrarily little from rest. A path that is balanced, within torque limits and
free of collisions at rest is therefore feasible at some speed. Many paths are checked in one batch.
"""

from __future__ import annotations

import numpy as np

from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import SegmentChecker

INSTANTS = 13
"""Number of instants at which a path is checked."""
DIP_FRACTIONS = (0.0, 0.05)
"""Fractions of the leg's length by which the root is lowered on the path, tried in turn until the legs reach."""


def find_open_paths(
    legged: LeggedRig, checker: SegmentChecker, footing: Footing, home: np.ndarray, stops: np.ndarray
) -> np.ndarray:
    """(K,) True for balanced postures (K, D) to which the straight path from home (D,) is feasible at rest."""
    result = np.zeros(len(stops), bool)
    com = legged.compute_com(legged.solve_static(np.concatenate([home[None], stops]), footing.solved)[1])[:, :2]
    share = np.linspace(0.0, 1.0, INSTANTS)[None, :, None]
    for dip in DIP_FRACTIONS:
        left = np.flatnonzero(~result)
        if not len(left):
            break
        y = (1.0 - share) * home + share * stops[left, None]
        y[:, :, 2] -= dip * legged.rig.leg_length * np.sin(np.pi * share[..., 0])
        goals = (1.0 - share) * com[0] + share * com[1 + left, None]
        y, good = legged.balance(y.reshape(-1, legged.size), goals.reshape(-1, 2), footing.solved)
        whole = good.reshape(-1, INSTANTS).all(axis=1)
        kept = np.repeat(whole, INSTANTS)
        if not kept.any():
            continue
        _, curves, _ = legged.solve_static(y[kept], footing.solved)
        inside = checker.worst_margins(curves, footing.anchors).reshape(-1, INSTANTS).min(axis=1) >= 0.0
        result[left[whole]] = inside
    return result
