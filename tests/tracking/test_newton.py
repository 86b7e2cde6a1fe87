"""The exact Hessian and its steps between bounds."""

from __future__ import annotations

import numpy as np
import pytest

from solver.skeleton.rig import Rig
from solver.tracking import Targets, TrackingOptions
from solver.tracking.inverse_kinematics import InverseKinematics
from solver.tracking.newton import Newton
from tests.tracking.bodies import cloud, seen_from


def test_an_indefinite_hessian_is_stiffened_or_refused() -> None:
    """Each stiffened coordinate is an attempt; the step is Newton's own if that coordinate is at a bound."""
    matrix = np.diag([1.0, -2.0, 3.0])
    assert Newton.from_hessian(matrix.copy(), 0, 5.0) is None
    newton = Newton.from_hessian(matrix.copy(), 1, 5.0)
    assert newton.stiffened == [1]
    assert not newton.is_exact(None)
    assert not newton.is_exact(np.array([True, False, False]))
    assert newton.is_exact(np.array([False, True, False]))
    np.testing.assert_allclose(newton.solve(np.ones(3)), [1.0, 1.0 / 3.0, 1.0 / 3.0])


def test_the_remaining_change_follows_from_the_steps(person: Rig) -> None:
    """With one Hessian a geometric series; after an exact step ten times its square, else as much as the step."""
    engine = InverseKinematics(
        person,
        Targets.from_markers(person, cloud(person), seen_from(person, cloud(person), person.neutral[None])).tasks,
        TrackingOptions(),
    )
    found = [engine._remaining_step(0.1, before) for before in (0.5, 0.05, np.inf)]
    assert found == pytest.approx([0.1 * 0.2 / (1.0 - 0.2), 0.1, 0.1])  # 0.1 (0.2 + 0.2^2 + ...)
    engine.state.newton = Newton(np.eye(3), np.eye(3), [])
    assert engine._remaining_step(0.02, np.inf) == pytest.approx(0.004)
    engine.state.newton.stiffened.append(1)
    assert engine._remaining_step(0.02, np.inf) == 0.02
