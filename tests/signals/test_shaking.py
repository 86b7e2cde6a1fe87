"""Laws of the noise that a motion tells of itself."""

from __future__ import annotations

import numpy as np
import pytest

from solver.pinocchio_loader import pin
from solver.signals import PRESETS, NoiseReplicas, lower_cutoff, noise_floor, noise_frequency, smooth_motion
from solver.signals.noise_replicas import REPLICA_SAMPLES, REPLICAS
from tests.identification.bodies import small_rig

RATE, NOISE = 100.0, 0.002
PRESET = PRESETS["human_8hz"]


def swinging(
    noise: float, seconds: float = 12.0, hertz: float = 1.0, size: float = 0.3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Times and configurations of joints that swing, with white noise in every coordinate."""
    model = small_rig().model
    times = np.arange(0.0, seconds, 1.0 / RATE)
    phases = np.linspace(0.0, 3.0, model.nv)
    steps = size * np.sin(2.0 * np.pi * hertz * times[:, None] + phases)
    steps = steps + noise * np.random.default_rng(seed).standard_normal(steps.shape)
    return times, np.array([pin.integrate(model, pin.neutral(model), step) for step in steps])


def test_white_noise_is_found() -> None:
    """The floor of each coordinate is the variance of its white noise, and never much above."""
    rig = small_rig()
    floor = noise_floor(rig, *swinging(NOISE), PRESET)
    assert floor is not None
    joints = np.sqrt(np.diag(floor))[6:]
    assert np.median(joints) == pytest.approx(NOISE, rel=0.2)
    assert joints.max() < 1.5 * NOISE


@pytest.mark.parametrize("seconds", [0.5, 0.9])
def test_a_jump_that_was_cut_out_tells_its_noise(seconds: float) -> None:
    """Half a second is enough for a floor on the scale of the noise; a quarter is not, and says so."""
    rig = small_rig()
    floor = noise_floor(rig, *swinging(NOISE, seconds), PRESET)
    assert floor is not None
    assert 0.5 * NOISE < np.median(np.sqrt(np.diag(floor))[6:]) < 1.5 * NOISE
    assert noise_floor(rig, *swinging(NOISE, 0.25), PRESET) is None


def test_a_smooth_motion_has_no_floor() -> None:
    """What a filter already took away is not found, and the cut-off asked for is kept."""
    rig = small_rig()
    times, q = swinging(0.0)
    floor = noise_floor(rig, times, q, PRESET)
    assert floor is not None
    assert np.sqrt(np.diag(floor)).max() < 1e-3 * NOISE
    assert lower_cutoff(PRESET, [noise_frequency(rig, times, q, floor)]) == PRESET


@pytest.mark.parametrize("noise", [0.002, 0.02])
def test_the_cut_off_goes_down_to_where_noise_begins(noise: float) -> None:
    """A motion of 1 Hz under white noise needs no 8 Hz; one motion among others that does keeps it."""
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
def test_bands_where_noise_happens_to_be_strong_change_nothing(seed: int) -> None:
    """In 6 s at 50 Hz the noise of some band is above twice its mean: a motion of 0.3 Hz still ends below 4 Hz."""
    rig = small_rig()
    times, q = (values[::2] for values in swinging(NOISE, 6.0, hertz=0.3, seed=seed))
    floor = noise_floor(rig, times, q, PRESET)
    assert floor is not None
    assert 0.3 < noise_frequency(rig, times, q, floor) < 4.0


def test_shaken_copies_carry_as_much_noise_again() -> None:
    """Accelerations of copies differ from the motion's as much as those differ from the motion without noise."""
    rig = small_rig()
    times, q = swinging(NOISE)
    exact = smooth_motion(rig, *swinging(0.0), PRESET)
    seen = smooth_motion(rig, times, q, PRESET)
    floor = noise_floor(rig, times, q, PRESET)
    assert floor is not None
    copies = tuple(NoiseReplicas(rig, times, q, PRESET, floor, "a"))
    inner = slice(50, -50)
    own = (seen.a - exact.a)[inner, 6:].std()
    again = np.mean([(copy.a - seen.a)[inner, 6:].std() for copy in copies])
    assert again == pytest.approx(own, rel=0.2)
    same = tuple(NoiseReplicas(rig, times, q, PRESET, floor, "a"))
    assert np.array_equal(copies[0].q, same[0].q)
    assert not np.array_equal(copies[0].q, copies[1].q)


def test_copies_times_frames_are_enough() -> None:
    """Copies are four of a short recording and fewer of a long one, never with fewer frames together."""
    rig = small_rig()
    floor = np.eye(rig.nv)
    for minutes, copies in ((0.1, 4), (1.0, 4), (1.5, 3), (2.0, 2), (5.0, 1), (60.0, 1)):
        times = np.arange(round(minutes * 12_000)) / 200.0
        assert len(NoiseReplicas(rig, times, np.zeros((len(times), rig.nq)), PRESET, floor)) == copies
        assert copies * len(times) >= min(REPLICA_SAMPLES, REPLICAS * len(times))
    assert len(list(NoiseReplicas(rig, *swinging(NOISE), PRESET, floor * NOISE**2))) == REPLICAS
