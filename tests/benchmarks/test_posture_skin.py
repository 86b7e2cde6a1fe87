"""Simulated people whose skin follows posture."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures import posture_skin
from benchmarks.figures.volunteers import ARMS_AWAY, MarkerPlacement, Volunteer, volunteer
from solver.demo.motions import standing_posture
from solver.dynamics import integrate, link_motions
from solver.motion import Motion
from solver.rig import Rig


@pytest.fixture(scope="module")
def body() -> Volunteer:
    """A volunteer, whose own motions and skin are not used."""
    return volunteer(1)


def hold(rig: Rig, step: np.ndarray) -> Motion:
    """Two frames in a posture, a tangent step (nv,) from that of the static trial."""
    q = np.tile(integrate(rig, standing_posture(rig, ARMS_AWAY), step), (2, 1))
    zeros = np.zeros((2, rig.nv))
    return Motion(np.array([0.0, 0.02]), q, zeros, zeros)


def displace(body: Volunteer, seed: int, angle: float, factor: float = 1.0) -> np.ndarray:
    """Displacement (M, 3) [m] after the left knee turned by an angle [rad]."""
    step = np.zeros(body.rig.nv)
    motions = {"static": hold(body.rig, step.copy())}
    step[body.rig.v_slices[body.rig.index("left_shank")]] = angle
    motions["bent"] = hold(body.rig, step)
    return posture_skin.displace_skin(body, motions, factor, np.random.default_rng(seed))["bent"][0]


def on_link(body: Volunteer, link: str) -> np.ndarray:
    """Which markers (M,) are on a link."""
    placements: tuple[MarkerPlacement, ...] = body.placements
    return np.array([placement.link == link for placement in placements])


def test_skin_moves_in_proportion_to_the_joints_beside_its_segment(body: Volunteer) -> None:
    """Half the knee angle or the factor halves the displacement of thigh and shank; other segments' skin is still."""
    whole = np.linalg.norm(displace(body, 3, 0.8), axis=1)
    np.testing.assert_allclose(np.linalg.norm(displace(body, 3, 0.4), axis=1), 0.5 * whole, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(displace(body, 3, 0.8, 0.5), axis=1), 0.5 * whole, atol=1e-9)
    beside = on_link(body, "left_thigh") | on_link(body, "left_shank")
    assert np.all(whole[beside] > 1e-4)
    assert np.all(whole[~beside] < 1e-9)


def test_skin_has_the_stated_size_per_radian(body: Volunteer) -> None:
    """The root mean square over many draws is `SKIN_PER_RADIAN`, half of its square common to a segment's markers."""
    draws = np.array([displace(body, seed, 1.0)[on_link(body, "left_thigh")] for seed in range(400)])
    square = posture_skin.SKIN_PER_RADIAN["thigh"] ** 2
    assert np.mean((draws**2).sum(axis=2)) == pytest.approx(square, rel=0.1)
    assert draws.shape[1] > 1
    common = np.mean((draws[:, 0] * draws[:, 1]).sum(axis=1))
    assert common == pytest.approx(posture_skin.SHARED * square, rel=0.2)


def test_accelerated_skin_stays_behind(body: Volunteer) -> None:
    """Pushed upwards with 10 m/s^2 at 8 Hz of natural frequency, the skin of the thigh is 4 mm lower."""
    still = hold(body.rig, np.zeros(body.rig.nv))
    pushed = Motion(still.times, still.q, still.v, np.tile(np.eye(body.rig.nv)[2] * 10.0, (2, 1)))
    assert link_motions(body.rig, pushed).acceleration[2].mean() == pytest.approx(10.0, rel=0.2)
    moved = posture_skin.displace_skin(body, {"static": still, "push": pushed}, 1.0, np.random.default_rng(0))["push"]
    thigh = moved[:, on_link(body, "left_thigh")]
    np.testing.assert_allclose(thigh[..., 2], -10.0 / (2.0 * np.pi * 8.0) ** 2, rtol=1e-3)
    np.testing.assert_allclose(thigh[..., :2], 0.0, atol=1e-5)


def test_motions_are_what_their_names_say(body: Volunteer) -> None:
    """A squat lowers the pelvis over a foot in place; what is slow in the dance is all of the slow dance."""
    rig, times = body.rig, np.arange(0.0, posture_skin.SECONDS, 1.0 / posture_skin.RATE)
    squat = posture_skin.squats(rig, times, np.random.default_rng(0))
    q = np.array([integrate(rig, standing_posture(rig, ()), step) for step in squat])
    zeros = np.zeros((len(q), rig.nv))
    position = link_motions(rig, Motion(times, q, zeros, zeros)).position
    assert np.ptp(position[:, rig.index("left_foot")], axis=1).max() < 0.005
    assert np.ptp(position[2, rig.index("pelvis")]) > 0.2
    fast, slow = (kind(rig, times, np.random.default_rng(0)) for kind in (posture_skin.dance, posture_skin.slow_dance))
    frequencies = np.fft.rfftfreq(len(times), 1.0 / posture_skin.RATE)
    power = [np.abs(np.fft.rfft(steps * np.hanning(len(times))[:, None], axis=0)) ** 2 for steps in (fast, slow)]
    above = [each[frequencies > 1.5 * posture_skin.SLOW].sum() / each.sum() for each in power]
    assert above[1] < 1e-3 < 0.01 < above[0]
