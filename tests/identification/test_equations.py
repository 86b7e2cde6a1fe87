"""Equations with the same filter on both sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import Axes, external_wrench, integrate, predicted_wrench
from solver.identification.accumulate import accumulate_regression
from solver.identification.base_estimation import estimate_base
from solver.identification.equations import measured_wrench, reconstructed_wrench
from solver.signals import PRESETS, filter_wrenches, light_preset, low_pass, low_pass_pieces, smooth_motion
from solver.signals.trial import Trial
from solver.skeleton.rig import ROOT_NV, Rig
from solver.values.inertials import InertialParameters
from tests.identification.bodies import WEIGHTS, other_body, residuals, small_rig
from tests.random_motion import measured, random_motion

HUMAN = PRESETS["jovic_human"]
FRAMES, RATE = 400, 100.0


def swung(rig: Rig, seed: int = 0, frames: int = FRAMES) -> np.ndarray:
    """Configurations (frames, nq): every coordinate a sum of sinusoids up to 3 Hz."""
    generator = np.random.default_rng(seed)
    times = np.arange(frames) / RATE
    frequency, phase = generator.uniform(0.3, 3.0, (3, rig.nv)), generator.uniform(0.0, 2.0 * np.pi, (3, rig.nv))
    steps = 0.3 * np.sin(2.0 * np.pi * frequency * times[:, None, None] + phase).sum(axis=1)
    steps[:, :3] *= 0.3  # m
    return np.array([integrate(rig, rig.neutral[None], step[None])[0] for step in steps])


def swinging_trial(rig: Rig, truth: InertialParameters, seed: int = 0, frames: int = FRAMES) -> Trial:
    """A trial of a smooth motion and exactly the forces that it requires."""
    motion = smooth_motion(rig, np.arange(frames) / RATE, swung(rig, seed, frames), None)
    wrenches = measured(replace(rig, prior=truth), motion)
    return Trial(f"swing {seed}", motion, wrenches, np.ones(frames, bool), preset=HUMAN)


@pytest.mark.parametrize("axes", ["world", "link"])
@pytest.mark.parametrize("base", ["trunk", "left_hand"])
def test_consistent_forces_stay_consistent_through_any_filter(base: str, axes: Axes) -> None:
    """Y phi = f still holds when both sides were filtered, for any motion."""
    rig = small_rig()
    motion = random_motion(rig, FRAMES)
    trial = Trial("wild", motion, measured(rig, motion), np.ones(FRAMES, bool), preset=HUMAN)
    size = np.abs(trial.wrenches.total).max()
    assert np.abs(residuals(rig, trial, rig.prior, base, axes)).max() < 1e-9 * size
    # the filter does something: the motion's own forces are no longer those measured
    assert np.abs(measured_wrench(rig, trial) - external_wrench(rig, motion, trial.wrenches, axes="world")).max() > 1.0


def test_filtering_both_sides_finds_the_same_parameters() -> None:
    """Without noise the base parameters are the same with and without the filter, to 1e-9."""
    rig = small_rig()
    truth = other_body(rig)
    trials = [swinging_trial(rig, truth, seed) for seed in range(3)]
    whole = accumulate_regression(rig, trials, axes="world").with_weights(WEIGHTS)
    plain = accumulate_regression(rig, [replace(t, preset=None) for t in trials], axes="world").with_weights(WEIGHTS)
    filtered, unfiltered = estimate_base(whole).values, estimate_base(plain).values
    assert filtered == pytest.approx(unfiltered, abs=1e-9)
    assert filtered == pytest.approx(whole.structure.project(truth), abs=1e-9)
    assert whole.axis_factors[2].shape == plain.axis_factors[2].shape


def test_filtered_equations_are_more_accurate_than_filtered_coordinates() -> None:
    """With noisy coordinates the truth explains filtered equations better than equations of filtered coordinates."""
    rig = small_rig()
    truth = other_body(rig)
    inner = slice(50, -50)
    errors = []
    for seed in range(4):
        exact = swinging_trial(rig, truth, seed)
        noise = 0.003 * np.random.default_rng(seed).standard_normal((FRAMES, rig.nv))
        noise[:, :3] *= 0.3
        q = integrate(rig, exact.motion.q, noise)
        light = light_preset(HUMAN, RATE)
        equations = replace(
            exact,
            motion=smooth_motion(rig, exact.motion.times, q, light),
            wrenches=filter_wrenches(exact.wrenches, light),
        )
        coordinates = replace(
            exact,
            motion=smooth_motion(rig, exact.motion.times, q, HUMAN),
            wrenches=filter_wrenches(exact.wrenches, HUMAN),
            preset=None,
        )
        left = [residuals(rig, trial, truth, axes="world")[inner] for trial in (equations, coordinates)]
        errors.append([np.sqrt(np.mean(each**2, axis=0)) for each in left])
    ours, theirs = np.mean(errors, axis=0)
    assert np.all(ours < 0.8 * theirs)


def test_comparison_and_equations_have_the_same_residuals() -> None:
    """Measured minus reconstructed wrench is the residual of the equations, at any base link."""
    rig = small_rig()
    trial = swinging_trial(rig, other_body(rig))
    for base in (0, "right_arm"):
        compared = measured_wrench(rig, trial, base) - reconstructed_wrench(rig, trial, rig.prior, base)
        assert compared == pytest.approx(residuals(rig, trial, rig.prior, base, "world"), abs=1e-6)


def test_without_a_filter_the_wrenches_are_those_of_the_motion() -> None:
    """A trial without a preset is compared as it was measured."""
    rig = small_rig()
    trial = replace(swinging_trial(rig, other_body(rig)), preset=None)
    assert measured_wrench(rig, trial, "head") == pytest.approx(
        external_wrench(rig, trial.motion, trial.wrenches, "head", "world"), abs=1e-9
    )
    assert reconstructed_wrench(rig, trial, rig.prior, "head") == pytest.approx(
        predicted_wrench(rig, trial.motion, rig.prior, "head", "world"), abs=1e-9
    )


def test_a_gap_in_the_forces_separates_filtered_intervals() -> None:
    """Frames beyond a gap in the forces do not affect the equations before it."""
    rig = small_rig()
    trial = swinging_trial(rig, other_body(rig))
    values = np.array(trial.wrenches.values)
    values[180:200] = np.nan
    counted = np.arange(FRAMES) < 170
    broken = replace(trial, wrenches=replace(trial.wrenches, values=values), counted=counted)
    values[200:] += 500.0
    invalid = replace(trial, wrenches=replace(trial.wrenches, values=values), counted=counted)
    before = [residuals(rig, each, rig.prior)[:170] for each in (broken, invalid)]
    assert before[0] == pytest.approx(before[1], abs=1e-9)
    assert np.isnan(measured_wrench(rig, broken)[180:200]).all()
    assert np.abs(residuals(rig, broken, other_body(rig))[:170]).max() < 1e-9 * np.abs(trial.wrenches.total).max()


@pytest.mark.parametrize("sizes", [(1,), (7, 300, 2), (128,), (5000,)])
def test_pieces_are_filtered_as_the_whole(sizes: tuple[int, ...]) -> None:
    """The filtered pieces of a signal are those of the whole, ends included."""
    signal = np.random.default_rng(0).standard_normal((3000, 4)).cumsum(axis=0)
    edges = np.cumsum(np.tile(sizes, -(-len(signal) // sum(sizes))))
    pieces = np.split(signal.T, edges[edges < len(signal)], axis=1)
    found = np.concatenate(list(low_pass_pieces(pieces, RATE, HUMAN)), axis=1).T
    assert found == pytest.approx(low_pass(signal, RATE, HUMAN), abs=1e-7 * np.abs(signal).max())
    assert max(piece.shape[1] for piece in low_pass_pieces(pieces, RATE, HUMAN)) < 600


def test_a_short_signal_is_filtered_in_one_piece() -> None:
    """A recording shorter than the filter's reach gets the whole filter's padding."""
    signal = np.random.default_rng(1).standard_normal((17, 2))
    (found,) = low_pass_pieces([signal.T], RATE, HUMAN)
    np.testing.assert_allclose(found.T, low_pass(signal, RATE, HUMAN), atol=1e-12)


def test_link_axes_rotate_the_filtered_wrench() -> None:
    """In link axes the filtered wrench is that of world axes, rotated: its length does not change."""
    rig = small_rig()
    trial = swinging_trial(rig, other_body(rig))
    world, link = (residuals(rig, trial, rig.prior, 0, axes) for axes in ("world", "link"))
    for part in (slice(0, 3), slice(3, ROOT_NV)):
        assert np.linalg.norm(link[:, part], axis=1) == pytest.approx(np.linalg.norm(world[:, part], axis=1), abs=1e-9)
