"""Laws of links that lie beside where rigid joints hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import (
    base_regressor,
    centroidal_momentum,
    com_trajectory,
    link_motions,
    predicted_wrench,
)
from solver.errors import InvalidValue
from solver.identification.accumulate import accumulate, residuals
from solver.identification.comparison import check_flight, compare
from solver.inertials import InertialParameters
from solver.motion import Motion, Shifts
from solver.signals import preset_of
from solver.so3 import to_matrix
from solver.trial import Trial
from tests.random_motion import measured, mixed_rig, random_motion, shifted

FRAMES = 7


def test_shifting_every_link_alike_moves_the_root() -> None:
    """All links beside the rig by the same d(t) are a root that is translated by it, column by column of Y."""
    rig = mixed_rig()
    motion = random_motion(rig, FRAMES)
    d, rate, acceleration = np.random.default_rng(1).standard_normal((3, FRAMES, 1, 3))
    soft = replace(motion, shifts=Shifts(*(np.repeat(x, len(rig.links), axis=1) for x in (d, rate, acceleration))))
    back = to_matrix(motion.q[:, 3:7]).swapaxes(1, 2)
    q, v, a = motion.q.copy(), motion.v.copy(), motion.a.copy()
    q[:, :3] += d[:, 0]
    added = (back @ rate[:, 0, :, None])[:, :, 0]
    v[:, :3] += added
    a[:, :3] += (back @ acceleration[:, 0, :, None])[:, :, 0] - np.cross(v[:, 3:6], added)
    moved = Motion(motion.times, q, v, a)
    for base in (0, len(rig.links) - 1):
        np.testing.assert_allclose(
            base_regressor(rig, soft, base, "world"), base_regressor(rig, moved, base, "world"), rtol=0, atol=1e-10
        )
    np.testing.assert_allclose(
        centroidal_momentum(rig, soft, rig.prior).momentum,
        centroidal_momentum(rig, moved, rig.prior).momentum,
        rtol=0,
        atol=1e-10,
    )


def test_a_shifted_link_weighs_where_it_lies_and_pulls_by_its_mass() -> None:
    """One link's shift d moves the centre of mass by m d / M and needs the force m d'' more."""
    rig = mixed_rig()
    motion = random_motion(rig, FRAMES)
    all_shifted = shifted(motion, len(rig.links)).shifts
    assert all_shifted is not None
    only = np.arange(len(rig.links)) == 3
    one = Shifts(*(x * only[:, None] for x in (all_shifted.values, all_shifted.rates, all_shifted.accelerations)))
    soft, mass = replace(motion, shifts=one), rig.prior.masses[3]
    rigid, given = (predicted_wrench(rig, m, rig.prior, axes="world")[:, :3] for m in (motion, soft))
    np.testing.assert_allclose(given - rigid, mass * one.accelerations[:, 3], rtol=0, atol=1e-10)
    moved = com_trajectory(rig, soft, rig.prior) - com_trajectory(rig, motion, rig.prior)
    np.testing.assert_allclose(moved, mass / rig.prior.total_mass * one.values[:, 3], rtol=0, atol=1e-12)


@pytest.mark.parametrize("preset", [None, "human_8hz"])
@pytest.mark.parametrize("base", [0, "end"])
def test_what_shifted_links_need_is_explained_by_their_motion(preset: str | None, base: int | str) -> None:
    """Wrenches simulated with shifted links leave no residual in the equations, the comparison and the flight check."""
    rig = mixed_rig()
    frames = 80
    steady = random_motion(rig, 1)
    motion = Motion(0.01 * np.arange(frames), np.repeat(steady.q, frames, axis=0), *np.zeros((2, frames, rig.nv)))
    waves = np.sin(0.3 * np.arange(frames)[:, None, None] + np.arange(len(rig.links))[:, None])
    values = 0.01 * waves * np.ones(3)
    slow = Shifts(values, 0.0 * values, -900.0 * values)
    soft = replace(motion, shifts=slow)
    wrenches, counted = measured(rig, soft), np.ones(frames, bool)
    trial = Trial("soft", soft, wrenches, counted, preset=None if preset is None else preset_of(preset))
    size = np.abs(wrenches.total).max()
    np.testing.assert_allclose(residuals(rig, trial, rig.prior, base, "world"), 0.0, atol=1e-8 * size)
    heavier = InertialParameters(rig.links, 1.1 * rig.prior.values)
    assert compare(rig, trial, rig.prior, heavier, base=base).identified.rmse.max() < 1e-8 * size
    flight = check_flight(rig, trial, counted, rig.prior, heavier)
    assert flight.acceleration[0] < 1e-8
    assert flight.momentum_rate[0] < 1e-8 * size
    rigid = replace(trial, motion=motion)
    assert np.abs(residuals(rig, rigid, rig.prior, base, "world")).max() > 0.01 * size
    assert accumulate(rig, [trial], base, "world").axis_rmse(rig.prior).max() < 1e-7 * size


def test_shifts_follow_their_frames() -> None:
    """A part of a motion keeps the shifts of its frames, and shifts of another rig or length are refused."""
    rig = mixed_rig()
    soft = shifted(random_motion(rig, FRAMES), len(rig.links))
    whole, part = link_motions(rig, soft), link_motions(rig, soft.part(2, 5))
    np.testing.assert_array_equal(part.acceleration, whole.acceleration[:, :, 2:5])
    np.testing.assert_array_equal(
        link_motions(rig, soft.frames(np.array([1, 4]))).position[:, :, 1], part.position[:, :, 2]
    )
    with pytest.raises(InvalidValue, match="7 frames, the motion has 3"):
        replace(soft, times=soft.times[:3], q=soft.q[:3], v=soft.v[:3], a=soft.a[:3])
    with pytest.raises(InvalidValue, match="shifts 2 links"):
        link_motions(rig, shifted(random_motion(rig, FRAMES), 2))
