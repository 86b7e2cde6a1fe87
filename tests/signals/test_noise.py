"""Laws of the noise estimated from a motion."""

from __future__ import annotations

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.signals import PRESETS, lower_cutoff, noise_floor, noise_frequency
from tests.identification.bodies import small_rig

RATE, NOISE = 100.0, 0.002
PRESET = PRESETS["human_8hz"]


def swinging(
    noise: float, seconds: float = 12.0, hertz: float = 1.0, size: float = 0.3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Times and configurations of oscillating joints, with white noise in every coordinate."""
    rig = small_rig()
    times = np.arange(0.0, seconds, 1.0 / RATE)
    phases = np.linspace(0.0, 3.0, rig.nv)
    steps = size * np.sin(2.0 * np.pi * hertz * times[:, None] + phases)
    steps = steps + noise * np.random.default_rng(seed).standard_normal(steps.shape)
    return times, integrate(rig, rig.neutral, steps)


def test_white_noise_is_found() -> None:
    """The floor of each coordinate is close to the variance of its white noise, and never much above."""
    rig = small_rig()
    floor = noise_floor(rig, *swinging(NOISE), PRESET)
    assert floor is not None
    joints = np.sqrt(np.diag(floor))[6:]
    assert np.median(joints) == pytest.approx(NOISE, rel=0.2)
    assert joints.max() < 1.5 * NOISE


@pytest.mark.parametrize("seconds", [0.5, 0.9])
def test_the_noise_of_a_short_jump_is_found(seconds: float) -> None:
    """Half a second suffices for a floor of the noise's order of magnitude; a quarter gives None."""
    rig = small_rig()
    floor = noise_floor(rig, *swinging(NOISE, seconds), PRESET)
    assert floor is not None
    assert 0.5 * NOISE < np.median(np.sqrt(np.diag(floor))[6:]) < 1.5 * NOISE
    assert noise_floor(rig, *swinging(NOISE, 0.25), PRESET) is None


def test_a_smooth_motion_has_no_floor() -> None:
    """Noise that a filter removed before is not found, and the requested cut-off stays."""
    rig = small_rig()
    times, q = swinging(0.0)
    floor = noise_floor(rig, times, q, PRESET)
    assert floor is not None
    assert np.sqrt(np.diag(floor)).max() < 1e-3 * NOISE
    assert lower_cutoff(PRESET, [noise_frequency(rig, times, q, floor)]) == PRESET


@pytest.mark.parametrize("noise", [0.002, 0.02])
def test_the_cut_off_is_lowered_to_where_noise_dominates(noise: float) -> None:
    """For a motion of 1 Hz with white noise the cut-off is below 8 Hz, unless another motion needs 8 Hz."""
    rig = small_rig()
    times, q = swinging(noise)
    floor = noise_floor(rig, times, q, PRESET)
    assert floor is not None
    above = noise_frequency(rig, times, q, floor)
    assert 1.0 < above < 5.0
    assert lower_cutoff(PRESET, [above]).cutoff < PRESET.cutoff
    assert lower_cutoff(PRESET, [above, np.inf]) == PRESET
    assert lower_cutoff(PRESET, []) == PRESET


@pytest.mark.parametrize("seed", range(4))
def test_single_noisy_bands_have_no_effect(seed: int) -> None:
    """In 6 s at 50 Hz the noise of some band is above twice its mean: a motion of 0.3 Hz still ends below 4 Hz."""
    rig = small_rig()
    times, q = (values[::2] for values in swinging(NOISE, 6.0, hertz=0.3, seed=seed))
    floor = noise_floor(rig, times, q, PRESET)
    assert floor is not None
    assert 0.3 < noise_frequency(rig, times, q, floor) < 4.0


def test_a_joint_at_its_limit_has_no_effect() -> None:
    """A slow motion ends below 4 Hz too if the tracker keeps one of its joints at a limit most of the time."""
    rig = small_rig()
    times = np.arange(0.0, 12.0, 1.0 / RATE)
    steps = 0.3 * np.sin(2.0 * np.pi * 0.3 * times[:, None] + np.linspace(0.0, 3.0, rig.nv))
    steps = steps + NOISE * np.random.default_rng(1).standard_normal(steps.shape)
    steps[:, -1] = np.maximum(steps[:, -1], 0.295)
    q = integrate(rig, rig.neutral, steps)
    floor = noise_floor(rig, times, q, PRESET)
    assert floor is not None
    assert 0.3 < noise_frequency(rig, times, q, floor) < 4.0
