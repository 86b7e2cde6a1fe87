"""Trials that are processed in overlapping chunks."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from solver.identification import equations as parts
from solver.identification.equations import CORE_FRAMES, reconstructed_wrenches, split_trial
from solver.identification.error_model.frequency_weights import DELAYS, body_regions
from solver.identification.error_model.weight_estimation import choose_cutoffs, compute_products
from solver.signals import PRESETS, smooth_motion
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from tests.identification.bodies import other_body, small_rig, weights_of
from tests.identification.test_equations import RATE, swung
from tests.random_motion import measured

PRESET = PRESETS["jovic_human"]
FRAMES = 1500


def long_trial(rig: Rig, frames: int = FRAMES) -> Trial:
    """A plate with missing samples, and frames that do not count."""
    times, generator = np.arange(frames) / RATE, np.random.default_rng(4)
    motion = smooth_motion(rig, times, np.resize(swung(rig, frames=FRAMES), (frames, rig.nq)), None)
    wrenches = measured(replace(rig, prior=other_body(rig)), motion)
    values = wrenches.values + generator.normal(0.0, 1.0, wrenches.values.shape)
    values[1100:1120] = np.nan
    counted = np.ones(frames, bool)
    counted[1050:1170] = counted[300:400] = False
    return Trial("long", motion, Wrenches(times, wrenches.frames, values), counted, preset=PRESET)


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
    """Wrenches and products do not depend on the chunks, to 1e-7 and 1e-5."""
    rig = small_rig()
    trial, bodies = long_trial(rig), [rig.prior, other_body(rig)]
    weights = weights_of(trial, np.full((len(body_regions(rig)), 6, 5 + len(DELAYS)), 0.3))

    def compute() -> tuple[np.ndarray, np.ndarray]:
        found = compute_products(rig, [trial], bodies, choose_cutoffs([trial]))
        assert found is not None
        return found.products, reconstructed_wrenches(rig, trial, bodies, [weights] * len(bodies))

    whole = compute()
    monkeypatch.setattr(parts, "CORE_FRAMES", 400)
    assert len(list(split_trial(trial))) > 1
    for once, cut, error in zip(whole, compute(), (1e-5, 1e-7)):
        assert np.array_equal(np.isnan(once), np.isnan(cut))
        assert np.nanmax(np.abs(cut - once)) < error * np.nanmax(np.abs(once))


def test_memory_is_that_of_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks, a long trial needs less than half the memory that it needs at once."""
    rig = small_rig()
    trial = long_trial(rig, 6000)

    def peak() -> int:
        tracemalloc.start()
        compute_products(rig, [trial], [rig.prior], choose_cutoffs([trial]))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    whole = peak()
    monkeypatch.setattr(parts, "CORE_FRAMES", 1000)
    assert peak() < 0.5 * whole
