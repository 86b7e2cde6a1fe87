"""Estimation of frequency weights from the wrenches of force plates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.errors import InvalidValue
from solver.identification.comparison import compare
from solver.identification.equations import group_wrenches, low_pass_at, reconstructed_wrench
from solver.identification.error_model.frequency_weights import FrequencyWeights, PairedWeights
from solver.identification.error_model.weight_estimation import ResidualGrams, describe_cutoffs, fit_gains
from solver.motion import Motion
from solver.signals import FilterPreset, low_pass, smooth_motion
from solver.so3 import conjugate, rotate
from solver.trial import Trial
from tests.identification.bodies import ideal_weights, other_body, small_rig
from tests.identification.test_equations import FRAMES, HUMAN, RATE, swinging_trial
from tests.random_motion import measured
from tests.signals.test_noise_replicas import swinging

WIDE = replace(HUMAN, cutoff=10.0)


def shaking_trial(low: float, high: float, size: float = 0.01, seed: int = 0) -> Trial:
    """A slow motion (up to 3 Hz) with a false sideways vibration of the tracked root between two frequencies [Hz]."""
    exact = swinging_trial(small_rig(), other_body(small_rig()), seed)
    return shaken(replace(exact, preset=WIDE), low, high, size, seed)


def shaken(exact: Trial, low: float, high: float, size: float = 0.01, seed: int = 0) -> Trial:
    """The trial with a false sideways vibration of the tracked root of ``size`` [m] between two frequencies [Hz]."""
    rig = small_rig()
    noise = np.random.default_rng(seed).standard_normal((FRAMES, 1))
    noise = low_pass(noise, RATE, FilterPreset("high", 5, high)) - low_pass(noise, RATE, FilterPreset("low", 5, low))
    steps = np.zeros((FRAMES, rig.nv))
    steps[:, :3] = size / noise.std() * rotate(conjugate(exact.motion.q[:, 3:7]), noise * [1.0, 0.0, 0.0])
    moved = integrate(rig, exact.motion.q, steps)
    return replace(exact, motion=smooth_motion(rig, exact.motion.times, moved, None))


def test_exact_motion_is_used_completely() -> None:
    """Without noise no cut-off explains the forces better than none."""
    rig = small_rig()
    truth = other_body(rig)
    trials = [replace(swinging_trial(rig, truth, seed), preset=WIDE) for seed in range(2)]
    assert (
        ResidualGrams.from_trials(rig, trials, [truth]).estimate_frequency_weights().cutoffs.tolist()
        == [[np.inf] * 6] * 6
    )


def test_false_vibration_is_removed() -> None:
    """If the motion vibrates and the plates do not, the cut-off lies below the vibration and above the true motion."""
    rig = small_rig()
    trials = [shaking_trial(6.0, 9.0, seed=seed) for seed in range(2)]
    found = ResidualGrams.from_trials(rig, trials, [other_body(rig)]).estimate_frequency_weights()
    assert np.all(found.cutoffs[:, 0] >= 2.0)
    assert found.cutoffs[0, 0] <= 6.0  # the root is the heaviest part of what shakes
    weighted = compare(rig, trials[0], other_body(rig), rig.prior, weights=PairedWeights(found))
    unweighted = compare(rig, trials[0], other_body(rig), rig.prior)
    assert weighted.identified.rmse[0] < 0.7 * unweighted.identified.rmse[0]


def test_measured_wrenches_are_not_filtered() -> None:
    """Frequency weights filter the reconstruction alone: without any motion the residual is the measured wrench minus
    its mean.

    So no cut-off, however low, hides forces from the comparison.
    """
    rig = small_rig()
    trial = swinging_trial(rig, other_body(rig))
    nothing = PairedWeights(ideal_weights(np.full((6, 6), 0.05)))
    never = compare(rig, trial, other_body(rig), rig.prior, weights=nothing)
    everything = compare(rig, trial, other_body(rig), rig.prior)
    assert np.all(never.identified.rmse > 10.0 * everything.identified.rmse)


def test_static_trials_have_no_influence() -> None:
    """A standing body shows noise alone: with it or without it the cut-offs are the same."""
    rig = small_rig()
    times = np.arange(FRAMES) / RATE
    q = np.repeat(rig.neutral[None], FRAMES, axis=0)
    noise = np.zeros((FRAMES, rig.nv))
    noise[:, :3] = 0.001 * np.random.default_rng(0).standard_normal((FRAMES, 3))
    exact = Motion(times, q, np.zeros((FRAMES, rig.nv)), np.zeros((FRAMES, rig.nv)))
    seen = smooth_motion(rig, times, integrate(rig, q, noise), None)
    still = Trial("still", seen, measured(rig, exact), np.ones(FRAMES, bool), preset=WIDE)
    moving = replace(swinging_trial(rig, rig.prior), preset=WIDE)
    assert (
        ResidualGrams.from_trials(rig, [moving, still], [rig.prior]).estimate_frequency_weights().cutoffs.tolist()
        == [[np.inf] * 6] * 6
    )
    assert (
        ResidualGrams.from_trials(rig, [still], [rig.prior]).estimate_frequency_weights().cutoffs.tolist()
        == [[np.inf] * 6] * 6
    )


def test_slow_trials_count() -> None:
    """A motion so slow that its force varies by less than 2 % of the weight shows which vibration is false."""
    rig = small_rig()
    motion = smooth_motion(rig, *swinging(0.0, FRAMES / RATE, hertz=0.1), None)
    exact = Trial(
        "slow", motion, measured(replace(rig, prior=other_body(rig)), motion), np.ones(FRAMES, bool), preset=WIDE
    )
    force = exact.wrenches.total[:, :3]
    assert np.linalg.norm(force.std(axis=0)) < 0.02 * np.linalg.norm(force.mean(axis=0))
    found = ResidualGrams.from_trials(rig, [shaken(exact, 6.0, 9.0)], [other_body(rig)]).estimate_frequency_weights()
    assert found.cutoffs[0, 0] <= 6.0


def test_unmeasured_axes_are_not_filtered() -> None:
    """On an axis without measurements the whole motion is used."""
    rig = small_rig()
    trial = shaking_trial(6.0, 9.0)
    known = np.ones((FRAMES, 6), bool)
    known[:, 3:] = False
    found = (
        ResidualGrams.from_trials(
            rig, [replace(trial, wrenches=replace(trial.wrenches, measured=known))], [other_body(rig)]
        )
        .estimate_frequency_weights()
        .cutoffs
    )
    assert np.isfinite(found[0, 0])
    assert np.all(np.isinf(found[:, 3:]))


def test_each_axis_has_its_own_cut_off() -> None:
    """A cut-off on one axis leaves the others unchanged; infinite ones leave all unchanged."""
    rig = small_rig()
    trial = swinging_trial(rig, rig.prior)
    wrench = reconstructed_wrench(rig, trial, rig.prior)
    some = np.tile([np.inf, 2.0, np.inf, np.inf, 1.0, np.inf], (6, 1))
    cut = reconstructed_wrench(rig, trial, rig.prior, weights=ideal_weights(some))
    np.testing.assert_array_equal(cut[:, [0, 2, 3, 5]], wrench[:, [0, 2, 3, 5]])
    assert np.abs(cut - wrench)[:, [1, 4]].max(axis=0) == pytest.approx(np.abs(cut - wrench).max(axis=0)[[1, 4]])
    assert np.all(np.abs(cut - wrench)[:, [1, 4]].max(axis=0) > 0.1)
    everything = ideal_weights(np.full((6, 6), np.inf))
    np.testing.assert_array_equal(reconstructed_wrench(rig, trial, rig.prior, weights=everything), wrench)


def test_group_wrenches_sum_to_the_whole() -> None:
    """The wrenches of groups of links sum to the whole, and a cut-off on one link changes its wrench alone."""
    rig = small_rig()
    trial = swinging_trial(rig, rig.prior)
    groups = [np.array([0, 2]), np.array([1]), np.array([3, 4, 5])]
    shares = group_wrenches(rig, trial, [rig.prior, other_body(rig)], groups)
    for body, parameters in enumerate((rig.prior, other_body(rig))):
        whole = reconstructed_wrench(rig, trial, parameters)
        np.testing.assert_allclose(shares[:, body].sum(axis=1), whole, rtol=0, atol=1e-9)
    some = np.full((6, 6), np.inf)
    some[1] = 2.0
    cut = reconstructed_wrench(rig, trial, rig.prior, weights=ideal_weights(some))
    rest = low_pass_at(trial, shares[:, 0, 1], 2.0) - shares[:, 0, 1]
    np.testing.assert_allclose(cut - reconstructed_wrench(rig, trial, rig.prior), rest, rtol=0, atol=1e-9)


def test_only_the_region_with_false_vibration_is_filtered() -> None:
    """If the tracked arms vibrate and the true ones do not, arms have a low cut-off and the trunk does not."""
    rig = small_rig()
    truth = other_body(rig)
    trials = []
    for seed in range(2):
        exact = replace(swinging_trial(rig, truth, seed), preset=WIDE)
        noise = np.random.default_rng(seed).standard_normal((FRAMES, 1))
        noise = low_pass(noise, RATE, FilterPreset("high", 5, 9.0)) - low_pass(noise, RATE, FilterPreset("low", 5, 6.0))
        steps = np.zeros((FRAMES, rig.nv))
        steps[:, 7:] = 0.05 * noise / noise.std()  # the joints of the arms
        moved = integrate(rig, exact.motion.q, steps)
        trials.append(replace(exact, motion=smooth_motion(rig, exact.motion.times, moved, None)))
    found = ResidualGrams.from_trials(rig, trials, [truth]).estimate_frequency_weights()
    assert np.all(found.cutoffs[2:, 0] <= 6.0)
    assert np.all(found.cutoffs[:2, 0] > 6.0)
    assert "arms Fx" in describe_cutoffs(rig, found)
    assert "trunk Fx" not in describe_cutoffs(rig, found)


def test_bodies_and_trials_are_independent() -> None:
    """Computed together or alone, a body and a choice of trials have the same gains; noise from 3 Hz on leaves less
    of the motion than noise from 6 Hz on."""
    rig = small_rig()
    trials, bodies = [shaking_trial(low, 9.0, seed=k) for k, low in enumerate((3.0, 6.0))], [other_body(rig), rig.prior]
    together = ResidualGrams.from_trials(rig, trials, bodies)
    for body, parameters in enumerate(bodies):
        for chosen in ([0], [1], [0, 1]):
            alone = ResidualGrams.from_trials(rig, [trials[k] for k in chosen], [parameters])
            for ours, theirs in zip(together.estimate_gains(body, chosen), alone.estimate_gains()):
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)
    low, high = (together.estimate_gains(0, [k])[1][0, 0] for k in (0, 1))
    assert np.all(low <= high)
    assert low.sum() < high.sum() - 0.3


def test_gains_are_the_optimal_nonincreasing_ones() -> None:
    """No other nonincreasing gains have a lower cost, penalty included; regions with separate motion have separate
    gains."""
    generator = np.random.default_rng(0)
    regions, bands, penalty = 2, 4, 0.01
    parts = generator.standard_normal((200, regions, bands))
    kept = np.array([[1.0, 1.0, 0.6, 0.0], [1.0, 0.3, 0.3, 0.3]])
    measured_ = np.einsum("nrc,rc->n", parts, kept) + 0.1 * generator.standard_normal(200)
    low_passed = np.cumsum(parts, axis=2).reshape(200, -1)
    rows = np.column_stack([low_passed, measured_])
    gram = rows.T @ rows / 200.0

    def cost(gains: np.ndarray) -> float:
        rest = measured_ - np.einsum("nrc,rc->n", parts, gains)
        return float(np.mean(rest**2) + penalty * np.sum((1.0 - gains) ** 2))

    found = fit_gains(gram, regions, penalty)
    assert found == pytest.approx(kept, abs=0.05)
    assert np.all(found[:, 0] == 1.0)
    assert np.all(np.diff(found, axis=1) <= 0.0)
    for _ in range(200):
        other = np.sort((found + 0.05 * generator.standard_normal(found.shape)).clip(0.0, 1.0), axis=1)[:, ::-1]
        other[:, 0] = 1.0
        assert cost(found) <= cost(other) + 1e-9


def test_gains_are_a_mixture_of_low_passes() -> None:
    """A gain of one half above a cut-off is halfway between all and nothing of the motion there."""
    rig = small_rig()
    trial = swinging_trial(rig, rig.prior)
    half = FrequencyWeights(np.array([2.0, np.inf]), np.tile([1.0, 0.5], (6, 6, 1)))
    none, every = (
        ideal_weights(np.full((6, 6), 2.0)),
        ideal_weights(np.full((6, 6), np.inf)),
    )
    made = [reconstructed_wrench(rig, trial, rig.prior, weights=trust) for trust in (none, half, every)]
    np.testing.assert_allclose(made[1], 0.5 * (made[0] + made[2]), rtol=0, atol=1e-9)
    assert np.all(half.low_pass_weights.sum(axis=2) == 1.0)
    for wrong in ([np.inf, 2.0], [2.0, 3.0], []):
        with pytest.raises(InvalidValue):
            FrequencyWeights(np.array(wrong), np.ones((6, 6, len(wrong))))
