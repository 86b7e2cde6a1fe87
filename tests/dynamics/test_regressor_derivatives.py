"""Weighed sums of the regressor and inverse dynamics change with the motion as their slopes say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from solver.base.so3 import exp as exp_so3
from solver.dynamics import integrate, wrench_regressor
from solver.dynamics.mechanics import carried_axes, inverse_dynamics_derivatives
from solver.dynamics.regressor_derivatives import regressor_derivatives
from solver.rigs import hoap3
from solver.skeleton.rig import Rig
from solver.values.inertials import PER_LINK, InertialParameters
from solver.values.motion import Motion
from tests.random_motion import UNIT, humanoid_rig, joint, mixed_rig, random_motion, rig_of

STEP = 1e-5


def cardan_rig() -> Rig:
    """A universal joint between hinges."""
    generator = np.random.default_rng(3)
    kinds: tuple[tuple[str, object], ...] = (
        ("free", []), ("revolute", UNIT[:1]), ("universal", [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]]), ("revolute", UNIT[2:]),
    )  # fmt: skip
    chain, coms = [], []
    for number, (kind, axes) in enumerate(kinds):
        turn, place = exp_so3(generator.standard_normal(3)), 0.3 * generator.standard_normal(3)
        at = {"position": place, "rotation": turn} if number else {}
        chain.append(joint(kind, number - 1, f"joint {number}", axes=axes, **at))
        coms.append(0.1 * generator.standard_normal(3))
    links, count = [own.name for own in chain], len(chain)
    prior = InertialParameters.from_com(links, np.ones(count), np.array(coms), np.array([0.02 * np.eye(3)] * count))
    return rig_of(chain, prior, "cardan")


def differences(rig: Rig, motion: Motion, values: Callable[[Motion], np.ndarray]) -> np.ndarray:
    """Central differences (3, nv, N, ...) of values (N, ...) of frames by their coordinates and rates."""

    def at(order: int, column: int, step: float) -> np.ndarray:
        way = np.zeros_like(motion.v)
        way[:, column] = step
        q = np.array([integrate(rig, *pair) for pair in zip(motion.q, way)]) if order == 0 else motion.q
        return values(Motion(motion.times, q, motion.v + way * (order == 1), motion.a + way * (order == 2)))

    def slope(order: int, column: int) -> np.ndarray:
        return (at(order, column, STEP) - at(order, column, -STEP)) / (2.0 * STEP)

    return np.array([[slope(order, column) for column in range(rig.nv)] for order in range(3)])


@pytest.mark.parametrize("make", [mixed_rig, humanoid_rig, cardan_rig, hoap3])
def test_derivatives_of_the_regressor_are_differences(make: Callable[[], Rig]) -> None:
    """Any weights, hinges, balls, slides and universal joints; the root too."""
    rig = make()
    motion = random_motion(rig, 4, 1)
    weights = np.random.default_rng(2).standard_normal((6, PER_LINK, len(rig.links), len(motion)))

    def weighed(some: Motion) -> np.ndarray:
        rows = wrench_regressor(rig, some).reshape(len(some), 6, len(rig.links), PER_LINK)
        return np.einsum("naip,apin->n", rows, weights)

    found, expected = regressor_derivatives(rig, motion, weights), differences(rig, motion, weighed).swapaxes(1, 2)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_axes_are_moved_by_the_joints_before_them() -> None:
    """A universal joint's second axis is moved by its first, not the other way round."""
    rig = cardan_rig()
    above, moves = carried_axes(rig, rig.links[-1])
    np.testing.assert_array_equal(above, np.arange(rig.nv))
    motion = random_motion(rig, 1, 5)
    expected = differences(rig, motion, lambda some: inverse_dynamics_derivatives(rig, some.q, some.v, some.a)[2])[
        0, :, 0
    ]
    for moved in range(6, rig.nv):
        for by in range(6, rig.nv):
            assert bool(np.abs(expected[by, :, moved]).max() > 1e-6) == (bool(moves[moved, by]) and moved != by)
