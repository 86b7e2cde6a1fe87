"""Laws of the detection of quiet standing."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.so3 import product, rotate
from solver.dynamics import integrate, link_motions
from solver.signals import is_still
from solver.signals.stillness import STILL
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.identification.bodies import small_rig
from tests.signals.test_noise import swinging


def shifted(rig: Rig, size: float, count: int = 1000) -> np.ndarray:
    """Configurations (N, nq) of a rigid body that oscillates by ``size`` [m]."""
    steps = np.zeros((count, rig.nv))
    steps[:, 1] = size * np.sin(2.0 * np.pi * np.arange(count) / count)
    return integrate(rig, np.repeat(rig.neutral[None], count, axis=0), steps)


def radius_of_gyration(rig: Rig) -> float:
    """[m] Radius of gyration in the neutral posture, from the links' masses, centres and inertias."""
    links = link_motions(rig, Motion(np.array([0.0, 1.0]), shifted(rig, 0.0, 2), *np.zeros((2, 2, rig.nv))))
    coms = np.einsum("ijl,lj->li", links.rotation[..., 0], rig.prior.coms) + links.position[..., 0].T
    away = coms - rig.prior.masses @ coms / rig.prior.total_mass
    squares = rig.prior.masses * np.sum(away**2, axis=1) + 0.5 * np.trace(rig.prior.inertias_at_com, axis1=1, axis2=2)
    return float(np.sqrt(squares.sum() / rig.prior.total_mass))


def test_displacement_is_measured_in_radii_of_gyration() -> None:
    """A sinusoidal translation is still up to the threshold of its root mean square, amplitude / sqrt(2)."""
    rig = small_rig()
    limit = np.sqrt(2.0) * STILL * radius_of_gyration(rig)
    assert is_still(rig, shifted(rig, 0.99 * limit))
    assert not is_still(rig, shifted(rig, 1.01 * limit))


@pytest.mark.parametrize("hertz", [0.1, 0.3, 1.0])
def test_slow_motion_is_not_still(hertz: float) -> None:
    """Joint oscillations of a third of a radian are motion at any frequency; sway and noise of millimetres are not."""
    rig = small_rig()
    assert not is_still(rig, swinging(0.0, hertz=hertz)[1])
    assert is_still(rig, swinging(0.001, hertz=hertz, size=0.003)[1])


@pytest.mark.parametrize("size", [0.003, 0.3])
def test_the_world_s_axes_do_not_matter(size: float) -> None:
    """Rotating and translating the world does not change the result."""
    rig = small_rig()
    q = swinging(0.0, size=size)[1]
    turn, turned = np.tile([0.5, -0.5, 0.5, 0.5], (len(q), 1)), q.copy()
    turned[:, :3] = rotate(turn, q[:, :3]) + np.array([5.0, -3.0, 2.0])
    turned[:, 3:7] = product(turn, q[:, 3:7])
    assert is_still(rig, turned) == is_still(rig, q) == (size < 0.1)


def test_fewer_than_two_frames_are_still() -> None:
    """A motion without frames, or with a single one, is still."""
    rig = small_rig()
    assert is_still(rig, np.zeros((0, rig.nq)))
    assert is_still(rig, rig.neutral[None])
