"""Noise of a motion's wrench equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import to_matrix
from solver.dynamics import difference, integrate
from solver.dynamics.mechanics import Mechanics, root_residual_derivatives
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.excitation import base_regressor
from solver.identification.excitation.expected_deviations import ExpectedDeviations
from solver.identification.excitation.wrench_noise import CoordinateNoise, WrenchNoise
from solver.rigs import hoap3
from solver.values.motion import Motion

RIG = hoap3("middle", torque="peak")
ERRORS = CoordinateNoise(position=0.001, angle=0.002, rate=100.0, cutoff=6.0)
PLATE = WrenchNoise(np.array([0.2, 0.2, 0.2, 0.02, 0.02, 0.02]), 500.0)
BOTH = replace(PLATE, motion=ERRORS)


def moving(tempo: float = 1.0, frames: int = 40) -> Motion:
    """All coordinates as different waves, at a given tempo."""
    nv = RIG.nv
    generator = np.random.default_rng(3)
    phase, size = generator.uniform(0.0, 6.0, nv), generator.uniform(0.1, 0.3, nv)
    times = np.linspace(0.0, 2.0, frames)
    step = 1e-4

    def at(time: float) -> np.ndarray:
        return integrate(RIG, RIG.neutral[None], (size * np.sin(3.0 * time + phase))[None])[0]

    q, v, a = [], [], []
    for time in times:
        before, here, after = at(time - step), at(time), at(time + step)
        ahead, behind = (difference(RIG, x[None], y[None])[0] / step for x, y in ((here, after), (before, here)))
        q.append(here)
        v.append(0.5 * (ahead + behind) * tempo)
        a.append((ahead - behind) / step * tempo**2)
    return Motion(times / tempo, np.array(q), np.array(v), np.array(a))


def equation_residual(motion: Motion, measured: np.ndarray) -> np.ndarray:
    """(6,) of one frame: the wrench of its motion minus the measured one (world axes, about the world origin)."""
    world = Mechanics(RIG).compute_wrenches(motion.q, motion.v, motion.a)[0] - measured
    turn, place = to_matrix(motion.q[0, 3:7]), motion.q[0, :3]
    force = turn.T @ world[:3]
    return np.concatenate([force, turn.T @ (world[3:] - np.cross(place, world[:3]))])


@pytest.mark.parametrize("order", [0, 1, 2])
def test_derivatives_of_the_equation_residual(order: int) -> None:
    """Changing one coordinate, speed or acceleration of a frame changes its equations as the derivatives predict."""
    motion = moving().part(7, 8)
    measured = Mechanics(RIG).compute_wrenches(motion.q, motion.v, motion.a)[0]
    slopes = root_residual_derivatives(RIG, motion.q, motion.v, motion.a)[0, :, order]
    step = 1e-6
    for column in range(RIG.nv):
        found = []
        for sign in (1.0, -1.0):
            change = np.zeros((1, RIG.nv))
            change[0, column] = sign * step
            q, v, a = motion.q, motion.v, motion.a
            moved = integrate(RIG, q, change) if order == 0 else q
            parts = [moved, v + change * (order == 1), a + change * (order == 2)]
            found.append(equation_residual(Motion(motion.times, *parts), measured))
        np.testing.assert_allclose((found[0] - found[1]) / (2.0 * step), slopes[:, column], atol=2e-5)


def test_covariance_is_that_of_filtered_white_noise() -> None:
    """White noise cut off at a frequency has the variances of value, speed and acceleration, and their covariance."""
    count = 200_000
    spectrum = np.fft.rfft(np.random.default_rng(0).normal(size=count))
    frequency = np.fft.rfftfreq(count, 1.0 / ERRORS.rate)
    spectrum[frequency > ERRORS.cutoff] = 0.0
    rates = [np.fft.irfft(spectrum * (2j * np.pi * frequency) ** order, count) for order in range(3)]
    expected = ERRORS.covariance
    size = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(np.cov(rates) / np.outer(size, size), expected / np.outer(size, size), atol=0.03)


def test_errors_of_the_motion_only_reduce_information() -> None:
    """With errors of the motion no base parameter becomes better known; without them only the plate counts."""
    structure, motion = base_parameters(RIG), moving()
    rows = base_regressor(RIG, motion, structure)
    plain = (PLATE.whitening(RIG, motion) @ rows).reshape(-1, len(structure))
    both = (BOTH.whitening(RIG, motion) @ rows).reshape(-1, len(structure))
    lost = np.linalg.eigvalsh(plain.T @ plain - both.T @ both)
    assert lost.min() > -1e-9 * lost.max()
    by_hand = rows / PLATE.plate[:, None] * np.sqrt(PLATE.rate)
    np.testing.assert_allclose(plain, by_hand.reshape(plain.shape), rtol=1e-12)


def test_with_errors_of_the_motion_speed_gains_less() -> None:
    """At three times the tempo the inertia's wrench is nine times as large; the effect of motion errors grows
    with it."""
    structure = base_parameters(RIG)
    gains = []
    for noise in (PLATE, BOTH):
        objective = ExpectedDeviations(structure, RIG.prior, noise)
        informations = [objective.motion_matrices(RIG, moving(tempo))[0] for tempo in (1.0, 3.0)]
        criteria = [objective.value(objective.prior_matrices + one) for one in informations]
        gains.append(float(criteria[0] / criteria[1]))
    assert gains[1] < gains[0]


def test_bad_noise_is_refused() -> None:
    """Invalid noise is refused with its name."""
    with pytest.raises(InvalidValue, match="cutoff"):
        CoordinateNoise(0.001, 0.001, 100.0, 0.0)
    with pytest.raises(InvalidValue, match="plate"):
        WrenchNoise(np.zeros(6), 500.0)
