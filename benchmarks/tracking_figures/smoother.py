"""The smoother compared with the tracker: smooth accelerations without losing the markers, and computing time.

Real: the acceleration of the centre of mass (by the prior, not fitted to anything) against the plates' force over the
mass, both through the same filter, lag and mass fitted alike on both sides, in the frames that count. Every constant
of the smoother was chosen on runs and walks; the drop jumps that test it were not used.

Simulated: recorded motions, as the pipeline filters coordinates, are the truth; their markers get noise and gaps, the
tracker follows them, and its motion passes the Butterworth filter with the cut-off that is best for this very trial and
error, which is unknown outside a simulation; the smoother has one setting and no filter after it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.optimize import minimize_scalar

from solver.calibration import Calibration
from solver.dynamics import centroidal_momentum, difference
from solver.options.reading import ReadOptions
from solver.signals import GRAVITY, filter_wrenches, light_preset, preset_of, smooth_motion
from solver.skeleton.rig import ROOT_NV, Rig
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import TrialRecord
from solver.tracking import TrackedMotion, targets_from_attachments, track_markers
from solver.tracking.kinematics import Kinematics
from solver.tracking.smoothing.smooth import smooth
from solver.values.filter_presets import FilterPreset
from solver.values.motion import Markers, rate_of

from ..figures.figure import Bound, Figure, at_most, left_out

JUMPS = ("DJ1", "DJ2", "DJAsym1")
"""Nothing accelerates."""
PRESET = "human_8hz"
CUTOFFS = (20.0, 8.0)
"""[Hz] At which both accelerations are compared."""
LONGEST_LAG = 0.03
"""[s]"""
NOISE, GAPS, GAP = 0.0015, 0.1, 0.3
"""[m] of every marker coordinate; share of the samples that are missing, in gaps of so many seconds."""
SIMULATED = {"a": ("DJ1", "walking1", "squats1"), "e": ("run200",)}
LONGEST = 400
"""Frames of a simulated trial."""
BUTTERWORTH = (3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0)
"""[Hz]"""
ENDS = 10
"""Frames at the ends that no filter knows."""
SEED = 20261122
SUBJECTS = {"a": ("subject_a", "female"), "e": ("subject_e", "male")}


REAL = f"real, subject_a {', '.join(JUMPS)}"
MADE = f"simulated on real motions, {1e3 * NOISE:g} mm"
ROWS = (
    ("smoother, CoM acceleration error at 20 Hz over the tracker's", REAL, "", at_most(0.88), at_most(0.75)),
    ("  the same at 8 Hz", REAL, "", at_most(1.0), at_most(0.94)),
    ("  marker error more than the tracker's", REAL, "mm", at_most(0.1), None),
    ("  its time per frame", REAL, "ms", at_most(3.0), at_most(1.0)),
    ("smoother, joint error over the best Butterworth's", MADE, "", at_most(0.9), at_most(0.8)),
    ("  the same, CoM acceleration", MADE, "", at_most(1.0), at_most(0.9)),
    ("smoother with gaps, joint error over the best Butterworth's", f"{MADE}, a tenth missing", "", at_most(1.0), None),
    ("  the same, CoM acceleration", f"{MADE}, a tenth missing", "", at_most(1.0), None),
)
"""What, on which data, unit, must, aim."""


@dataclass(frozen=True, slots=True)
class Trials:
    """A calibrated person with tracked trials, and the same smoothed.

    Attributes:
        calibration: on all trials.
        records: tracked, prepared: frames that count, offsets of plates.
        smoothed: each trial's, by name.
        seconds: of the processor that smoothing took.
    """

    calibration: Calibration
    records: tuple[TrialRecord, ...]
    smoothed: dict[str, TrackedMotion]
    seconds: float

    def record(self, name: str) -> TrialRecord:
        """One trial."""
        return next(record for record in self.records if record.name == name)


def smoother_figures(data: Path, quick: bool) -> list[Figure]:
    """The rows of the smoother; quickly, one run alone, for which a calibration is short."""
    if not all((data / folder).is_dir() for folder, _ in SUBJECTS.values()):
        return [_figure(row, None, "no recordings") for row in ROWS]
    if quick:
        found = _simulated(data, {"e": SIMULATED["e"]}, 0.0)
        return [*found, *left_out([_figure(row, None, "") for row in (*ROWS[:4], *ROWS[6:])], "not with --quick")]
    return [
        *_real(track_trials(data, "a", JUMPS)),
        *_simulated(data, SIMULATED, 0.0),
        *_simulated(data, SIMULATED, GAPS),
    ]


@cache
def track_trials(data: Path, subject: str, names: tuple[str, ...]) -> Trials:
    """A subject's trials of these names; calibrated on all."""
    folder, sex = SUBJECTS[subject]
    recordings = [r for r in load([data / folder], ReadOptions(ragged=True)) if r.markers is not None]
    calibration = calibrate(recordings, sex=sex)
    records = prepare(calibration.rig, track_all(calibration, recordings)).records
    smoothed, spent = {}, 0.0
    for record in records:
        if record.name not in names or record.tracked is None or record.recording.markers is None:
            continue
        targets, _ = targets_from_attachments(calibration.rig, calibration.attachments, record.recording.markers)
        began = time.process_time()
        smoothed[record.name] = smooth(calibration.rig, targets, record.tracked)
        spent += time.process_time() - began
    return Trials(calibration, records, smoothed, spent)


def _figure(row: tuple[str, str, str, Bound, Bound | None], value: float | None, note: str) -> Figure:
    what, data, unit, must, aim = row
    return Figure(what, data, value, unit, must, aim, note, timed=unit == "ms")


def _real(trials: Trials) -> list[Figure]:
    figures, rig = [], trials.calibration.rig
    jumps = [(name, trials.record(name).tracked, trials.smoothed[name]) for name in JUMPS]
    for row, cutoff in zip(ROWS, CUTOFFS):
        pairs = np.array([
            [acceleration_error(rig, trials.record(name), motion, cutoff) for motion in motions if motion is not None]
            for name, *motions in jumps
        ])  # fmt: skip
        before, after = pairs.mean(axis=0)
        listed = ", ".join(f"{name} {b:.2f} to {a:.2f}" for name, (b, a) in zip(JUMPS, pairs))
        figures.append(_figure(row, after / before, f"{before:.3f} to {after:.3f} m/s2, mean of {listed}"))
    before = 1e3 * float(np.mean([tracked.rmse for _, tracked, _ in jumps if tracked is not None]))
    after = 1e3 * float(np.mean([smoothed.rmse for *_, smoothed in jumps]))
    figures.append(_figure(ROWS[2], after - before, f"{before:.2f} to {after:.2f} mm"))
    frames = sum(len(tracked) for tracked in trials.smoothed.values())
    figures.append(_figure(ROWS[3], 1e3 * trials.seconds / frames, f"{frames} frames, the tracker's time not counted"))
    return figures


def acceleration_error(rig: Rig, record: TrialRecord, tracked: TrackedMotion, cutoff: float) -> float:
    """Root mean square [m/s^2] of the CoM's acceleration less force over mass and gravity, lag and mass fitted."""
    trial, wrenches = record.trial, record.recording.wrenches
    assert trial is not None
    assert wrenches is not None
    preset = replace(preset_of(PRESET), cutoff=cutoff)
    motion = smooth_motion(rig, tracked.times, tracked.q, preset)
    needed = centroidal_momentum(rig, motion, rig.prior).rate[:, :3] / rig.prior.total_mass + [0.0, 0.0, GRAVITY]
    filtered = filter_wrenches(replace(record.plate_errors, lag=0.0, clock=0.0).remove_from(wrenches), preset)
    force = filtered.total[:, :3]
    known = np.isfinite(force).all(axis=1)
    spline = make_interp_spline(filtered.times[known], force[known], k=5)
    inside = (motion.times > filtered.times[known][0] + LONGEST_LAG) & (
        motion.times < filtered.times[known][-1] - LONGEST_LAG
    )
    counted = trial.counted & inside
    times, needed = motion.times[counted], needed[counted]

    def error(lag: float) -> float:
        measured = spline(times + lag)
        share = np.sum(measured * needed) / np.sum(measured**2)
        return float(np.sqrt(np.mean(np.sum((needed - share * measured) ** 2, axis=1))))

    lags = np.arange(-LONGEST_LAG, LONGEST_LAG + 1e-9, 1e-3)
    best = lags[int(np.argmin([error(lag) for lag in lags]))]
    return float(minimize_scalar(error, bounds=(best - 1e-3, best + 1e-3), method="bounded").fun)


def _simulated(data: Path, chosen: Mapping[str, Sequence[str]], gaps: float) -> list[Figure]:
    found = []
    for subject, names in chosen.items():
        trials = track_trials(data, subject, JUMPS if subject == "a" else ())
        found += [(name, simulated_errors(trials.calibration, trials.record(name), gaps)) for name in names]
    rows = ROWS[6:] if gaps else ROWS[4:6]
    return [
        _figure(
            row,
            float(np.mean([errors[k] for _, errors in found])),
            ", ".join(f"{name} {errors[k]:.2f}" for name, errors in found),
        )
        for k, row in enumerate(rows)
    ]


def simulated_errors(calibration: Calibration, record: TrialRecord, gaps: float) -> tuple[float, float]:
    """Errors of the smoothed motion over those of the best filter: joints, mean over them; CoM acceleration."""
    rig, tracked = calibration.rig, record.tracked
    assert tracked is not None
    frames = slice(0, min(len(tracked), LONGEST))
    truth = smooth_motion(
        rig, tracked.times[frames], tracked.q[frames], light_preset(preset_of(PRESET), rate_of(tracked.times))
    )
    seen = _simulate_markers(calibration, truth.times, truth.q, gaps)
    found = track_markers(rig, calibration.attachments, seen)
    wanted = _acceleration(rig, truth.times, truth.q, None)
    filtered = []
    for cutoff in BUTTERWORTH:
        preset = replace(preset_of(PRESET), cutoff=cutoff)
        q = smooth_motion(rig, found.times, found.q, preset).q
        filtered.append(
            (_joint_errors(rig, q, truth.q), _off(_acceleration(rig, found.times, found.q, preset), wanted))
        )
    smoothed = smooth(rig, targets_from_attachments(rig, calibration.attachments, seen)[0], found)
    joints = _joint_errors(rig, smoothed.q, truth.q)
    least = min(float(own.mean()) for own, _ in filtered)
    acceleration = _off(_acceleration(rig, smoothed.times, smoothed.q, None), wanted)
    return float(joints.mean()) / least, acceleration / min(off for _, off in filtered)


def _simulate_markers(calibration: Calibration, times: np.ndarray, q: np.ndarray, gaps: float) -> Markers:
    """Markers of a motion with noise, and gaps of `GAP` seconds at random times."""
    generator = np.random.default_rng(SEED)
    rig, attachments = calibration.rig, [a for a in calibration.attachments if a.weight > 0.0]
    links, offsets = np.array([rig.index(a.link) for a in attachments]), np.array([a.position for a in attachments])
    kinematics, positions = Kinematics(rig), np.empty((len(q), len(attachments), 3))
    for frame, configuration in enumerate(q):
        kinematics.update_positions(configuration)
        positions[frame] = kinematics.points(links, offsets)
    positions += NOISE * generator.standard_normal(positions.shape)
    length = round(GAP / (times[1] - times[0]))
    for marker in range(len(attachments)):
        for _ in range(int(gaps * len(times) / length + generator.random())):
            start = int(generator.integers(0, len(times) - length))
            positions[start : start + length, marker] = np.nan
    return Markers(times, tuple(a.marker for a in attachments), positions)


def _acceleration(rig: Rig, times: np.ndarray, q: np.ndarray, preset: FilterPreset | None) -> np.ndarray:
    motion = smooth_motion(rig, times, q, preset)
    return centroidal_momentum(rig, motion, rig.prior).rate[:, :3] / rig.prior.total_mass


def _off(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum((found - wanted)[ENDS:-ENDS] ** 2, axis=1))))


def _joint_errors(rig: Rig, q: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Root mean square error of every joint coordinate (nv - 6,) [rad]."""
    return np.sqrt(np.mean(difference(rig, q, truth)[ENDS:-ENDS, ROOT_NV:] ** 2, axis=0))


def _format_values(values: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values)
