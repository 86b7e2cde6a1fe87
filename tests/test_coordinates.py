"""Laws of joint and flat coordinates, against Pinocchio's differences, on joints of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.so3 import quaternion_exp
from solver.dynamics import difference, integrate
from solver.dynamics.coordinates import (
    continuous_coordinates,
    coordinate_lengths,
    coordinate_links,
    coordinate_names,
    joint_coordinates,
    joint_slices,
    quaternion_columns,
    rotation_columns,
    to_flat,
)
from solver.skeleton.rig import Rig
from tests.random_motion import joint, rig_of

JOINTS = {
    "turn": ("revolute", [[0.6, 0.0, 0.8]]),
    "slide": ("prismatic", [[1.0, 0.0, 0.0]]),
    "ball": ("spherical", []),
    "wheel": ("continuous", [[0.0, 0.0, 1.0]]),
}


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A free flyer with a joint of every kind."""
    chain = [joint("free", -1, "root")]
    for number, (name, (kind, axes)) in enumerate(JOINTS.items()):
        chain.append(joint(kind, number, name, axes=axes, position=np.full(3, 0.1)))
    return rig_of(chain)


def test_coordinates_are_differences_from_neutral(rig: Rig) -> None:
    """Joint coordinates, of one configuration or a batch, are the difference from neutral."""
    steps = np.random.default_rng(0).uniform(-1.5, 1.5, (6, rig.nv))
    q = integrate(rig, rig.neutral, steps)
    expected = [difference(rig, rig.neutral, row)[6:] for row in q]
    np.testing.assert_allclose(joint_coordinates(rig, q), expected, atol=1e-12)
    np.testing.assert_allclose(joint_coordinates(rig, q), steps[:, 6:], atol=1e-12)
    np.testing.assert_array_equal(joint_coordinates(rig, q[2]), joint_coordinates(rig, q)[2])
    np.testing.assert_array_equal(to_flat(rig, q)[:, 6:], joint_coordinates(rig, q))
    np.testing.assert_array_equal(to_flat(rig, q)[:, :3], q[:, :3])
    np.testing.assert_allclose(np.abs(np.sum(quaternion_exp(to_flat(rig, q)[:, 3:6]) * q[:, 3:7], axis=1)), 1.0)


def test_each_coordinate_has_its_name_link_and_unit(rig: Rig) -> None:
    """A single coordinate is named by its link, several by link and axis; slides are lengths."""
    assert coordinate_names(rig) == (
        "turn", "slide", "ball x", "ball y", "ball z", "wheel"
    )  # fmt: skip
    assert [links[0] for links in coordinate_links(rig)] == [name.split()[0] for name in coordinate_names(rig)]
    assert coordinate_lengths(rig).tolist() == [False, True, False, False, False, False]


def test_slices_follow_one_another(rig: Rig) -> None:
    """A step along a joint's entries of v changes its entries of q, and no other joint's."""
    for own, into, moves in joint_slices(rig):
        changed = integrate(rig, rig.neutral, np.isin(np.arange(rig.nv), np.arange(rig.nv)[moves]) * 0.1) != rig.neutral
        assert changed[into].any(), own.name
        assert not np.delete(changed, into).any(), own.name
    assert rotation_columns(rig) == [slice(3, 6), slice(8, 11)]
    assert quaternion_columns(rig) == [slice(3, 7), slice(9, 13)]


def test_rotations_beyond_half_a_turn_are_continuous(rig: Rig) -> None:
    """Coordinates of a spherical joint have no jump beyond half a turn, whatever the signs of its quaternions."""
    angles = np.linspace(0.0, 5.0, 60)
    q = np.tile(rig.neutral, (60, 1))
    ball = quaternion_columns(rig)[1]
    q[:, ball] = quaternion_exp(angles[:, None] * np.array([0.0, 0.6, 0.8]))
    q[20:40, ball] *= -1.0
    own = slice(rotation_columns(rig)[1].start - 6, rotation_columns(rig)[1].stop - 6)
    np.testing.assert_allclose(
        continuous_coordinates(rig, q)[:, own], angles[:, None] * np.array([0.0, 0.6, 0.8]), atol=1e-12
    )
    assert np.abs(np.diff(joint_coordinates(rig, q)[:, own], axis=0)).max() > 3.0
    np.testing.assert_allclose(difference(rig, rig.neutral, q[0]), 0.0, atol=1e-12)
