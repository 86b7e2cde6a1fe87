"""Estimation of frequency weights from the wrenches of force plates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import conjugate, rotate
from solver.dynamics import integrate
from solver.identification.comparison import compare
from solver.identification.equations import group_wrenches, measured_wrench, reconstructed_wrench, wrench_spectrum
from solver.identification.error_model.frequency_weights import (
    DELAYS,
    FrequencyWeights,
    PairedWeights,
    body_regions,
    compute_likeness,
    filter_changes,
)
from solver.identification.error_model.weight_estimation import choose_cutoffs, compute_products, learn_weights
from solver.signals import FilterPreset, low_pass, smooth_motion
from solver.signals.trial import Trial
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from tests.identification.bodies import other_body, small_rig, weights_of
from tests.identification.test_equations import FRAMES, HUMAN, RATE, swinging_trial
from tests.random_motion import measured

WIDE = replace(HUMAN, cutoff=10.0)
REGIONS = len(body_regions(small_rig()))


def learnt(trials: Sequence[Trial], body: InertialParameters) -> FrequencyWeights | None:
    """Weights of a body from trials that are groups of their own."""
    cutoffs = choose_cutoffs(trials)
    groups = [compute_products(small_rig(), [trial], [body], cutoffs) for trial in trials]
    return learn_weights(groups, 0, cutoffs)


def rmse(trial: Trial, body: InertialParameters, weights: FrequencyWeights | None) -> np.ndarray:
    """(6,) error of the reconstructed wrench of a trial."""
    return compare(small_rig(), trial, body, body, weights=PairedWeights(weights)).identified.rmse


def shaking_trial(low: float, high: float, size: float = 0.01, seed: int = 0) -> Trial:
    """A slow motion (up to 3 Hz) with a false sideways vibration of the tracked root between two frequencies [Hz]."""
    rig = small_rig()
    exact = replace(swinging_trial(rig, other_body(rig), seed), preset=WIDE)
    noise = np.random.default_rng(seed).standard_normal((FRAMES, 1))
    noise = low_pass(noise, RATE, FilterPreset("high", 5, high)) - low_pass(noise, RATE, FilterPreset("low", 5, low))
    steps = np.zeros((FRAMES, rig.nv))
    steps[:, :3] = size / noise.std() * rotate(conjugate(exact.motion.q[:, 3:7]), noise * [1.0, 0.0, 0.0])
    moved = integrate(rig, exact.motion.q, steps)
    return replace(exact, motion=smooth_motion(rig, exact.motion.times, moved, None))


def late_trial(seed: int, frames: int = 4) -> Trial:
    """A motion that was recorded some frames too late."""
    exact = replace(swinging_trial(small_rig(), other_body(small_rig()), seed), preset=WIDE)
    return replace(exact, wrenches=replace(exact.wrenches, values=np.roll(exact.wrenches.values, -frames, axis=0)))


def test_an_exact_motion_has_no_weights() -> None:
    """Without noise no filter explains the forces better than none, and so it is if the plates alone have noise."""
    rig = small_rig()
    truth = other_body(rig)
    trials = [replace(swinging_trial(rig, truth, seed), preset=WIDE) for seed in range(3)]
    assert learnt(trials, truth) is None
    noise = np.random.default_rng(0).standard_normal((3, FRAMES, 1, 6))
    noisy = [replace(t, wrenches=replace(t.wrenches, values=t.wrenches.values + n)) for t, n in zip(trials, noise)]
    assert learnt(noisy, truth) is None


def test_a_false_vibration_is_removed() -> None:
    """If the motion vibrates and the plates do not, weights from other trials remove the vibration and keep the
    motion; trials whose equations are whitened, as those of flights, teach none."""
    truth = other_body(small_rig())
    *trials, unseen = (shaking_trial(6.0, 9.0, seed=seed) for seed in range(5))
    found = learnt(trials, truth)
    assert found is not None
    assert found.improvement < 0.8
    assert learnt([replace(trial, corner=2.0) for trial in trials], truth) is None
    before, after = rmse(unseen, truth, None), rmse(unseen, truth, found)
    assert after[0] < 0.5 * before[0]
    assert np.all(after < before + 0.01)


def test_a_delay_is_removed() -> None:
    """Weights advance a motion that comes 40 ms too late."""
    truth = other_body(small_rig())
    *trials, unseen = (late_trial(seed) for seed in range(5))
    found = learnt(trials, truth)
    assert found is not None
    before, after = rmse(unseen, truth, None), rmse(unseen, truth, found)
    assert np.all(after < before)
    assert np.all(after[:3] < 0.3 * before[:3])


def test_halves_of_one_trial_teach_each_other() -> None:
    """One trial is enough if each of its halves improves the other; both then have one filter. A single step, shorter
    than a period of the lowest cut-off, teaches none."""
    truth, trial = other_body(small_rig()), shaking_trial(6.0, 9.0)
    found = learnt([trial], truth)
    assert found is not None
    assert len(found.spectra) == 1
    step = np.arange(FRAMES) < RATE / found.cutoffs[0] - 1
    assert learnt([replace(trial, counted=step)], truth) is None


def test_nothing_changes_at_zero_frequency() -> None:
    """A constant has no changes, so that weight and static moments are never filtered; gaps separate intervals."""
    trial = replace(swinging_trial(small_rig(), small_rig().prior), preset=WIDE)
    values = np.repeat([[3.0, -7.0]], FRAMES, axis=0)
    values[100:110] = np.nan
    values[200:] *= -1.0
    changes = filter_changes(trial, values, choose_cutoffs([trial]))
    assert changes.shape == (5 + len(DELAYS), FRAMES, 2)
    assert np.isnan(changes[:, 100:110]).all()
    assert np.abs(changes[:, :100]).max() < 1e-9
    delay = round(DELAYS[-1] * RATE)
    assert changes[-1, 200 + delay - 1, 0] == 6.0
    assert changes[-1, 200 + delay, 0] == 0.0


def test_static_trials_have_no_influence() -> None:
    """A standing body shows noise alone, from which nothing is learnt."""
    rig = small_rig()
    times = np.arange(FRAMES) / RATE
    q = np.repeat(rig.neutral[None], FRAMES, axis=0)
    noise = np.zeros((FRAMES, rig.nv))
    noise[:, :3] = 0.001 * np.random.default_rng(0).standard_normal((FRAMES, 3))
    exact = Motion(times, q, np.zeros((FRAMES, rig.nv)), np.zeros((FRAMES, rig.nv)))
    seen = smooth_motion(rig, times, integrate(rig, q, noise), None)
    still = Trial("still", seen, measured(rig, exact), np.ones(FRAMES, bool), preset=WIDE)
    assert compute_products(rig, [still], [rig.prior], choose_cutoffs([still])) is None


def test_unmeasured_axes_are_not_filtered() -> None:
    """On an axis without measurements the motion is used as it is."""
    rig = small_rig()
    trials = [shaking_trial(6.0, 9.0, seed=seed) for seed in range(3)]
    known = np.ones((FRAMES, 6), bool)
    known[:, 3:] = False
    found = learnt([replace(t, wrenches=replace(t.wrenches, measured=known)) for t in trials], other_body(rig))
    assert found is not None
    assert np.abs(found.coefficients[:, :, 0]).max() > 0.1
    assert np.all(found.coefficients[:, :, 3:] == 0.0)


def test_another_kind_of_motion_is_not_filtered() -> None:
    """A trial with ten times the motion is left as it is; one like the training trials is filtered in full, and one
    with half the motion more than one with twice as much."""
    spectrum = np.zeros((6, 6))
    others = np.array([spectrum, spectrum + np.log(10.0)])
    likeness = [compute_likeness(spectrum + np.log(factor), others)[0] for factor in (1.0, 0.5, 2.0)]
    assert likeness[0] == 1.0
    assert likeness[0] > likeness[1] > likeness[2]
    one_axis = spectrum.copy()
    one_axis[3] += 1.0
    assert compute_likeness(one_axis, others)[0] < 0.01  # one unlike axis is enough
    trial = replace(swinging_trial(small_rig(), small_rig().prior), preset=WIDE)
    weights = weights_of(trial, np.ones((REGIONS, 6, 5 + len(DELAYS))))
    assert weights.coefficients_of(weights.spectra[0]) == pytest.approx(1.0, abs=0.01)
    assert np.abs(weights.coefficients_of(weights.spectra[0] + np.log(10.0))).max() < 0.01
    many = replace(weights, spectra=np.tile(weights.spectra, (50, 1, 1)),
                   coefficients=np.tile(weights.coefficients, (50, 1, 1, 1)))  # fmt: skip
    assert np.abs(many.coefficients_of(weights.spectra[0] + np.log(3.0))).max() < 0.05


def test_measured_wrenches_are_not_filtered() -> None:
    """Weights filter the reconstruction alone: without any motion the residual is the measured wrench minus its mean.

    So no filter, however low, hides forces from the comparison.
    """
    rig = small_rig()
    trial = swinging_trial(rig, other_body(rig))
    nothing = np.zeros((REGIONS, 6, 1 + len(DELAYS)))
    nothing[:, :, 0] = 1.0
    never = rmse(trial, other_body(rig), weights_of(trial, nothing, np.array([0.05])))
    assert np.all(never > 10.0 * rmse(trial, other_body(rig), None))


def test_weights_change_their_region_and_axis_alone() -> None:
    """A coefficient of one region and axis changes that axis by that region's wrench."""
    rig = small_rig()
    trial = replace(swinging_trial(rig, rig.prior), preset=WIDE)
    groups = list(body_regions(rig).values())
    coefficients = np.zeros((len(groups), 6, 5 + len(DELAYS)))
    coefficients[1, 4, 0] = 1.0
    weights = weights_of(trial, coefficients)
    change = reconstructed_wrench(rig, trial, rig.prior, weights=weights) - reconstructed_wrench(rig, trial, rig.prior)
    assert np.abs(change[:, [0, 1, 2, 3, 5]]).max() < 1e-9
    share = group_wrenches(rig, trial, [rig.prior], groups)[:, 0]
    assert share.sum(axis=1) == pytest.approx(measured_wrench(rig, trial), abs=1e-6)
    applied = weights.coefficients_of(weights.spectra[0])[1, 4, 0]
    assert change[:, 4] == pytest.approx(applied * filter_changes(trial, share[:, 1, 4], weights.cutoffs)[0], abs=1e-6)


def test_bodies_and_trials_are_independent() -> None:
    """Computed together or alone, bodies and choices of trials have the same weights."""
    rig = small_rig()
    trials, bodies = [shaking_trial(4.0, 9.0, seed=k) for k in range(3)], [other_body(rig), rig.prior]
    cutoffs = choose_cutoffs(trials)
    together = [compute_products(rig, [trial], bodies, cutoffs) for trial in trials]
    for body, parameters in enumerate(bodies):
        for chosen in ([0, 1], [0, 1, 2]):
            ours = learn_weights([together[k] for k in chosen], body, cutoffs)
            theirs = learnt([trials[k] for k in chosen], parameters)
            assert ours is not None
            assert theirs is not None
            np.testing.assert_allclose(ours.coefficients, theirs.coefficients, rtol=0, atol=1e-6)


def test_spectra_count_motion_by_band_and_axis() -> None:
    """A vibration between 4 and 6 Hz raises the spectrum in that band only, and a heavier body changes nothing."""
    rig = small_rig()
    trial, cutoffs = replace(swinging_trial(rig, rig.prior), preset=WIDE), np.array([3.5, 7.0])
    quiet = replace(trial, motion=shaking_trial(4.0, 6.0, 1e-6).motion)
    shaken = replace(trial, motion=shaking_trial(4.0, 6.0, 0.02).motion)
    rise = wrench_spectrum(rig, shaken, cutoffs) - wrench_spectrum(rig, quiet, cutoffs)
    assert rise[0, 1] > 0.5
    assert rise[0, 0] < 0.5 * rise[0, 1]
    heavy = replace(rig, prior=rig.prior.scaled(2.0 * rig.prior.total_mass))
    np.testing.assert_allclose(wrench_spectrum(heavy, trial, cutoffs), wrench_spectrum(rig, trial, cutoffs))


def test_inconsistent_weights_are_refused() -> None:
    """Cut-offs must ascend, and bands and coefficients belong to them."""
    spectra, coefficients = np.zeros((1, 6, 3)), np.zeros((1, 5, 6, 2 + len(DELAYS)))
    FrequencyWeights(np.array([1.0, 2.0]), spectra, coefficients, 1.0)
    for cutoffs, bands in (([2.0, 1.0], spectra), ([1.0, 2.0], spectra[:, :, 1:]), ([1.0], spectra[:, :, 1:])):
        with pytest.raises(InvalidValue):
            FrequencyWeights(np.array(cutoffs), bands, coefficients, 1.0)
