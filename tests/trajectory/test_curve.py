"""Curves through keys are evaluated piece by piece."""

from __future__ import annotations

import numpy as np
import pytest

from solver.rigs import hoap3
from solver.trajectory.curve import FlatCurve


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_curve_and_its_derivatives_are_the_polynomials(shuffled: bool) -> None:
    """At, between and beyond keys, whatever the order of the times, as SciPy evaluates them."""
    rig, generator = hoap3(), np.random.default_rng(1)
    keys = np.array([0.0, 0.7, 1.0, 2.5])
    q = np.tile(rig.neutral, (4, 1))
    q[:, 7:] += 0.3 * generator.standard_normal(q[:, 7:].shape)
    curve = FlatCurve.through_keys(rig, keys, list(q))
    times = np.concatenate([np.linspace(-0.2, 2.7, 101), keys])
    times = generator.permutation(times) if shuffled else np.sort(times)
    inside = np.clip(times, 0.0, 2.5)
    for order, found in enumerate(curve.at(times)):
        np.testing.assert_allclose(found, curve.spline(inside, order), atol=1e-12)
