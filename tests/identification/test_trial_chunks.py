"""Trials that are processed in overlapping chunks."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from solver.identification import equations as parts
from solver.identification.equations import CORE_FRAMES, reconstructed_wrenches, split_trial
from solver.identification.error_model.weight_estimation import ResidualGrams
from solver.motion import Motion
from solver.rig import Rig
from solver.signals import PRESETS, MarkerDisplacements, light_preset, smooth_motion
from solver.trial import Trial
from solver.wrenches import Wrenches
from tests.identification.bodies import ideal_weights, other_body, small_rig
from tests.identification.test_equations import RATE, swung
from tests.random_motion import measured

PRESET = PRESETS["jovic_human"]
FRAMES = 1500


def long_trial(rig: Rig, frames: int = FRAMES) -> Trial:
    """A body with markers that are missing for a while, a plate with missing samples, and frames that do not count."""
    times, generator = np.arange(frames) / RATE, np.random.default_rng(4)
    motion = smooth_motion(rig, times, np.resize(swung(rig, frames=FRAMES), (frames, rig.nq)), None)
    wrenches = measured(replace(rig, prior=other_body(rig)), motion)
    values = wrenches.values + generator.normal(0.0, 1.0, wrenches.values.shape)
    values[1100:1120] = np.nan
    counted, known = np.ones(frames, bool), np.ones(frames, bool)
    counted[1050:1170] = counted[300:400] = False
    known[350:370] = False
    sums = np.cumsum(generator.normal(0.0, 1e-4, (frames, len(rig.links), 3)), axis=0)
    pulled = MarkerDisplacements(times, sums, np.ones(sums.shape[:2]), known, times, light_preset(PRESET, RATE))
    given = Wrenches(times, wrenches.frames, values)
    return Trial("long", motion, given, counted, preset=PRESET, marker_displacements=pulled)


def test_chunks_cover_every_frame_once() -> None:
    """Every frame is in the core of one chunk, in order; a short trial is one chunk, itself."""
    rig = small_rig()
    count = 2 * CORE_FRAMES + CORE_FRAMES // 2
    speeds = np.zeros((count, rig.nv))
    still = Motion(np.arange(count) / RATE, np.zeros((count, rig.nq)), speeds, speeds)
    trial = Trial("still", still, Wrenches(still.times, (), np.zeros((len(still), 0, 6))), np.ones(len(still), bool))
    cut = list(split_trial(replace(trial, preset=PRESET)))
    frames = np.arange(len(still))
    assert np.array_equal(np.concatenate([frames[part.frames] for part in cut]), frames)
    for part in cut:
        assert np.array_equal(part.trial.motion.times[part.core], still.times[part.frames])
    short = trial.part(0, CORE_FRAMES)
    assert next(split_trial(short)).trial is short


def test_results_do_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrenches and Gram matrices do not depend on the chunks, to 1e-7 and 1e-5."""
    rig = small_rig()
    trial, bodies = long_trial(rig), [rig.prior, other_body(rig)]

    def compute() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        residual_grams = ResidualGrams.from_trials(rig, [trial], bodies)
        cutoffs = np.full((len(rig.links), 6), 2.0)
        shares = residual_grams.estimate_marker_shares(ideal_weights(np.full_like(cutoffs, np.inf)))
        assert shares is not None
        return (
            residual_grams.grams[0],
            shares,
            reconstructed_wrenches(rig, trial, bodies, [ideal_weights(cutoffs, shares)] * len(bodies)),
        )

    whole = compute()
    monkeypatch.setattr(parts, "CORE_FRAMES", 400)
    assert len(list(split_trial(trial))) > 1
    for once, cut, error in zip(whole, compute(), (1e-5, 1e-5, 1e-7)):
        assert np.array_equal(np.isnan(once), np.isnan(cut))
        assert np.nanmax(np.abs(cut - once)) < error * np.nanmax(np.abs(once))


def test_memory_is_that_of_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks, a long trial needs less than half the memory that it needs at once."""
    rig = small_rig()
    trial = long_trial(rig, 6000)

    def peak() -> int:
        tracemalloc.start()
        ResidualGrams.from_trials(rig, [trial], [rig.prior])
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    whole = peak()
    monkeypatch.setattr(parts, "CORE_FRAMES", 1000)
    assert peak() < 0.5 * whole
