"""Laws of coordinates: flat ones and configurations are two views of one posture, their rates of one motion."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from solver.coordinates import flat_rates, joint_coordinates, joint_places, to_flat, to_manifold
from solver.rigs import human
from tests.laws.found import arrays
from tests.random_motion import mixed_rig

RIGS = (mixed_rig(), human(1.75, 70.0, "female"))
MOST = max(rig.nv for rig in RIGS)


@given(arrays((3, MOST), 1.0), arrays((2, 3, MOST), 3.0))
def test_flat_coordinates_come_back_from_configurations(values: np.ndarray, rates: np.ndarray) -> None:
    """Below half a turn y, dy, ddy -> q, v, a -> y, dy, ddy changes nothing, for every kind of joint."""
    for rig in RIGS:
        y, dy, ddy = values[:, : rig.nv], *rates[..., : rig.nv]
        curves = to_manifold(rig, y, dy, ddy)
        np.testing.assert_allclose(to_flat(rig, curves.q), y, atol=1e-9)
        np.testing.assert_allclose(joint_coordinates(rig, curves.q), y[:, 6:], atol=1e-9)
        back = flat_rates(rig, y, curves.v, curves.a)
        np.testing.assert_allclose(back[0], dy, atol=1e-8)
        np.testing.assert_allclose(back[1], ddy, atol=1e-6)


@given(arrays((MOST,), 1.0))
def test_every_configuration_is_one(values: np.ndarray) -> None:
    """Quaternions have length one, hinges without end a cosine and a sine: q is a posture, not just numbers."""
    for rig in RIGS:
        still = np.zeros((1, rig.nv))
        q = to_manifold(rig, values[None, : rig.nv], still, still).q[0]
        for joint, into, _ in joint_places(rig):
            if joint.kind in ("free", "spherical"):
                assert abs(np.linalg.norm(q[into][-4:]) - 1.0) < 1e-12
            elif joint.kind in ("continuous", "planar"):
                assert abs(np.linalg.norm(q[into][-2:]) - 1.0) < 1e-12
