"""Laws of coordinates: flat ones and configurations are two views of one posture, their rates of one motion."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from solver.dynamics.coordinates import flat_rates, joint_coordinates, joint_slices, to_flat, to_manifold
from tests.laws.strategies import arrays
from tests.random_motion import mixed_rig

RIG = mixed_rig()


@given(arrays((2, RIG.nv), 1.0), arrays((2, 2, RIG.nv), 3.0))
def test_flat_coordinates_come_back_from_configurations(y: np.ndarray, rates: np.ndarray) -> None:
    """Below half a turn y, dy, ddy -> q, v, a -> y, dy, ddy changes nothing, for every kind of joint."""
    curves = to_manifold(RIG, y, *rates)
    np.testing.assert_allclose(to_flat(RIG, curves.q), y, atol=1e-9)
    np.testing.assert_allclose(joint_coordinates(RIG, curves.q), y[:, 6:], atol=1e-9)
    dy, ddy = flat_rates(RIG, y, curves.v, curves.a)
    np.testing.assert_allclose(dy, rates[0], atol=1e-8)
    np.testing.assert_allclose(ddy, rates[1], atol=1e-6)


@given(arrays((1, RIG.nv), 1.0))
def test_every_configuration_is_one(y: np.ndarray) -> None:
    """Quaternions have length one: q is a posture, not just numbers."""
    still = np.zeros((1, RIG.nv))
    q = to_manifold(RIG, y, still, still).q[0]
    turned = [q[into][-4:] for joint, into, _ in joint_slices(RIG) if joint.kind in ("free", "spherical")]
    assert len(turned) == 2
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), 1.0, atol=1e-12)
