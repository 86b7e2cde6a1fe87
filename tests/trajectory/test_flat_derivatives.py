"""Derivatives of joint torques and contact loads by flat coordinates are finite differences, with solved legs."""

from __future__ import annotations

import numpy as np
import pytest

from solver.dynamics.coordinates import to_manifold
from solver.feasibility import check_table
from solver.options.checks import DANCE_CHECKS
from solver.rigs import hoap3, human
from solver.skeleton.rig import Rig
from solver.trajectory.flat_derivatives import FlatDerivatives, leg_derivatives_by_root
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.segment import SegmentChecker

FRAMES = 4
STEP = 1e-5
CHECKS = sum(check.limits_transitions for check in check_table.CHECKS)
"""Least margins that depend on loads. Those of corners in the air come after: the lowest has its link's margin and its
own slope, see `load_slopes`, and is tested there."""


@pytest.mark.parametrize("rig", [hoap3(), human(1.75, 65.0, "female")], ids=["hinges", "balls"])
@pytest.mark.parametrize("configuration", ["both", "left"])
def test_derivatives_are_differences(rig: Rig, configuration: str) -> None:
    """Torques, zero-moment points, twist of the feet, and angles and speeds of solved legs, by all that is free."""
    legged, checker = LeggedRig(rig, shrink=DANCE_CHECKS.shrink), SegmentChecker(rig, DANCE_CHECKS)
    footing, generator = legged.get_footing(configuration), np.random.default_rng(0)
    y = np.tile(legged.home_posture(legged.get_footing("both")), (FRAMES, 1))
    free = np.concatenate([np.arange(6), legged.trunk])
    y[:, free] += 0.005 * generator.standard_normal((FRAMES, len(free)))
    dy, ddy = np.zeros((2, FRAMES, legged.size))
    dy[:, free], ddy[:, free] = (size * generator.standard_normal((FRAMES, len(free))) for size in (0.5, 2.0))
    solved, good = legged.solve_legs(y, dy, ddy, footing.solved)
    assert good.all()
    rates = np.stack(solved)
    legs = np.concatenate([legged.leg_columns[side] for side in footing.solved])

    def held(some: np.ndarray) -> np.ndarray:
        y, dy, ddy = legged.solve_legs(some[0], some[1], some[2], footing.solved)[0]
        found = checker.linearise_loads(
            to_manifold(rig, y[:, : rig.nv], dy[:, : rig.nv], ddy[:, : rig.nv]), footing.anchors
        )
        others = found.other_margins[:, :CHECKS]
        return np.concatenate([found.torques, found.zmp, others, y[:, legs], dy[:, legs]], axis=1)

    curves = to_manifold(rig, *rates[:, :, : rig.nv])
    flat = FlatDerivatives(rig, rates, leg_derivatives_by_root(legged, rates, footing.solved))
    loads = checker.linearise_loads(curves, footing.anchors)
    known = loads.torques.shape[1] + loads.zmp.shape[1] + CHECKS
    slopes = np.concatenate([flat.to_flat(loads.derivatives[:, :, :known]), flat.leg_rows], axis=2)
    for order in range(3):
        for column in free:
            way = np.zeros_like(rates)
            way[order, :, column] = STEP
            change = (held(rates + way) - held(rates - way)) / (2.0 * STEP)
            np.testing.assert_allclose(slopes[order, :, :, column], change, atol=2e-4 * max(np.abs(change).max(), 1.0))
