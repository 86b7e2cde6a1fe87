"""Simulated data: the method's error without noise, and with noise in the motion of its equations."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from solver.base.threads import one_blas_thread
from solver.demo.person import Person, simulate_person
from solver.demo.run import InertialError, inertial_error
from solver.dynamics import integrate, predicted_wrench
from solver.identification.comparison import compare
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.signals import FilterPreset, light_preset, preset_of, resample, smooth_motion
from solver.signals.trial import Recording, Trial
from solver.skeleton.rig import ROOT_NV, Rig
from solver.study.preparation import adapt_cutoff
from solver.study.values import TrialRecord
from solver.tracking.track import TrackedMotion
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import WRENCH_AXES, Wrenches

from .figure import Bound, Figure, at_most

SEED = 5
PARTS = ("first", "second")
NOISE = (0.0007, 0.008, 0.011)
"""[m], [rad], [rad] of the root's place, its attitude and the joints in each frame: what 2 mm of white noise on Plug-in
Gait's markers leave when the skeleton has been fitted to them, without its correlations."""
FRAME_RATE, PRESET = 100, "jovic_human"
LEEWAY = 1.1
"""Identification must not end further from the truth than this multiple of the prior's distance."""


@lru_cache(maxsize=1)
def person() -> tuple[Person, tuple[Trial, ...]]:
    """A simulated person whose true inertials differ from the prior, and its moving trials, without noise."""
    found = simulate_person(SEED)
    moving = {name: motion for name, motion in found.motions.items() if motion.v.any()}
    return found, tuple(exact_trial(found.rig, name, motion, found.truth) for name, motion in moving.items())


def exact_trial(rig: Rig, name: str, motion: Motion, truth: InertialParameters) -> Trial:
    """A trial whose wrench is exactly what the motion needs with these inertials."""
    wrench = predicted_wrench(rig, motion, truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    everything = np.ones(len(motion), bool)
    return Trial(name, motion, Wrenches(motion.times, ("plate",), wrench[:, None]), everything)


def noise_free_figures() -> list[Figure]:
    """Identified on one half of every simulated motion, tested on the other half, and the other way round."""
    with one_blas_thread():
        body, trials = person()
        rig, truth = body.rig, body.truth
        # The true body is not symmetric to 10 %, so symmetry must not be demanded of the result.
        options = IdentifyOptions(total_mass=truth.total_mass, symmetric=False, cross_validate=False)
        folds = {part: [select_half(trial, part) for trial in trials] for part in PARTS}
        ratios = []
        for part, others in zip(PARTS, reversed(PARTS)):
            found = identify_trials(rig, folds[part], options)
            ratios += [compare(rig, t, found.parameters, found.prior).ratio for t in folds[others]]
        errors = compare(rig, trials[0], truth, rig.prior).prior.rmse
    mean = np.mean(ratios, axis=0)
    axes = ", ".join(f"{axis} {value:.1e}" for axis, value in zip(WRENCH_AXES, mean))
    listed = ", ".join(f"{value:.0f}" for value in errors)
    return [
        Figure(
            "unseen halves, RMSE identified / prior, no noise, mean over axes",
            f"simulated person, {len(trials)} motions", float(mean.mean()), "", at_most(0.01), at_most(0.001),
            f"{axes}; the prior alone misses by {listed} N and N m; the fit allows for moving skin, which is not there",
        )
    ]  # fmt: skip


def select_half(trial: Trial, part: str) -> Trial:
    """A trial of which only one half counts."""
    first = np.arange(len(trial.counted)) < len(trial.counted) // 2
    return replace(trial, counted=trial.counted & (first if part == PARTS[0] else ~first))


def noisy_motion_figures() -> list[Figure]:
    """Errors against the truth with white noise in the tracked motion: prior, requested cut-off and lowered cut-off.

    Forces are exact and the skeleton is the true one, so that nothing else is wrong.
    """
    with one_blas_thread():
        body, trials = person()
        records = [_track(body, trial, number) for number, trial in enumerate(trials)]
        given = preset_of(PRESET)
        lowered = adapt_cutoff(body.rig, given, records)
        as_measured, with_noise = (
            [_noisy_trial(body, record, preset) for record in records] for preset in (given, lowered)
        )
        prior = inertial_error(body.truth, body.rig.prior.scaled(body.truth.total_mass))
        before, after = (_identify(body, trials) for trials in (as_measured, with_noise))
    data = f"simulated person, {len(trials)} motions, markers' noise 2 mm"
    known = f"filter {lowered.cutoff:.1f} Hz"
    rows = (
        ("mass", "kg", 1.0, (a.mass for a in (prior, before, after))),
        ("centre of mass", "mm", 1e3, (a.com for a in (prior, before, after))),
        ("inertia", "%", 100.0, (a.inertia for a in (prior, before, after))),
    )
    result = []
    for what, unit, scale, values in rows:
        table, uncorrected, corrected = (scale * value for value in values)
        note = f"prior {table:.3g}, {given.cutoff:g} Hz and noise ignored {uncorrected:.3g}; {known}"
        result.append(_error_row(what, data, corrected, unit, at_most(LEEWAY * table), note))
    return result


def _error_row(what: str, data: str, value: float, unit: str, must: Bound, note: str) -> Figure:
    return Figure(f"noise in the motion, RMS error over links: {what}", data, value, unit, must, None, note)


def _track(body: Person, trial: Trial, seed: int) -> TrialRecord:
    generator = np.random.default_rng((SEED, seed))
    rig, exact = body.rig, trial.motion
    every = round(exact.rate / FRAME_RATE)
    times, q = exact.times[::every], exact.q[::every]
    scale = np.full(rig.nv, NOISE[2])
    scale[:3], scale[3:ROOT_NV] = NOISE[:2]
    noise = scale * generator.standard_normal((len(times), rig.nv))
    q = integrate(rig, q, noise)
    count = len(times)
    tracked = TrackedMotion(times, q, np.zeros((count, rig.nv)), (), np.zeros((count, 0)), np.ones(count, bool))
    return TrialRecord(Recording(trial.name, wrenches=trial.wrenches), tracked)


def _noisy_trial(body: Person, record: TrialRecord, preset: FilterPreset) -> Trial:
    tracked, wrenches = record.tracked, record.recording.wrenches
    assert tracked is not None
    assert wrenches is not None
    light = light_preset(preset, FRAME_RATE)
    motion = smooth_motion(body.rig, tracked.times, tracked.q, light)
    filtered = resample(wrenches, motion.times, light)
    counted = np.ones(len(motion), bool)
    counted[:FRAME_RATE] = counted[-FRAME_RATE:] = False  # a filter's ends
    return Trial(record.name, motion, filtered, counted, preset=preset)


def _identify(body: Person, trials: list[Trial]) -> InertialError:
    options = IdentifyOptions(total_mass=body.truth.total_mass, symmetric=False, cross_validate=False)
    return inertial_error(body.truth, identify_trials(body.rig, trials, options).parameters)
