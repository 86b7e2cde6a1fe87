"""Contacts by threshold and hysteresis, and leg odometry."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.leg_odometry import leg_odometry
from benchmarks.papers.walk import Gait, walk
from solver.contacts.contact_detection import contacts_by_force
from solver.errors import InvalidValue
from solver.motion import POSE
from solver.rigs import hrp2
from solver.wrenches import Wrenches


def vertical(loads: np.ndarray) -> Wrenches:
    """Sensors (N, K) that measure vertical forces [N] only."""
    values = np.zeros((*loads.shape, 6))
    values[:, :, 2] = loads
    return Wrenches(np.arange(len(loads)) / 100.0, tuple(f"foot {k}" for k in range(loads.shape[1])), values)


def test_noise_around_the_threshold_makes_no_steps() -> None:
    """Contact begins at 20 N and ends below 10 N; a gap changes nothing."""
    loads = np.array([0.0, 15.0, 21.0, 15.0, 19.0, np.nan, 11.0, 9.0, 15.0, 25.0])
    found = contacts_by_force(vertical(loads[:, None]))[:, 0]
    np.testing.assert_array_equal(found, [0, 0, 1, 1, 1, 1, 1, 0, 0, 1])
    with pytest.raises(InvalidValue, match="is released below"):
        contacts_by_force(vertical(loads[:, None]), touch=5.0)


def test_leg_odometry_gives_the_path_of_the_root() -> None:
    """Joint angles and contacts of a walk give its root's path, without a jump where feet change."""
    rig = hrp2()
    made = walk(rig, Gait(steps=4))
    q = np.array(made.motion.q)
    q[1:, :POSE] = rig.neutral[:POSE]
    loads = made.load * made.wrench[:, 2:3]
    found, known = leg_odometry(rig, made.motion.times, q, vertical(loads), ("right_foot", "left_foot"))
    assert known.all()
    np.testing.assert_allclose(found[:, :3], made.motion.q[:, :3], atol=2e-4)
    assert np.abs(found[:, 3:POSE] - made.motion.q[:, 3:POSE]).max() < 1e-4


def test_samples_in_flight_are_unknown() -> None:
    """Samples without contact are marked, and the root is constant there."""
    rig = hrp2()
    q = np.stack([np.array(rig.provenance["half_sitting"])] * 5)
    loads = np.array([[300.0, 300.0], [300.0, 300.0], [0.0, 0.0], [0.0, 0.0], [300.0, 300.0]])
    found, known = leg_odometry(rig, np.arange(5) / 100.0, q, vertical(loads), ("right_foot", "left_foot"))
    np.testing.assert_array_equal(known, [True, True, False, False, True])
    np.testing.assert_allclose(found, q, atol=1e-9)
    with pytest.raises(InvalidValue, match="3 feet"):
        leg_odometry(rig, np.arange(5) / 100.0, q, vertical(loads), ("right_foot", "left_foot", "head"))
