"""Rate: a step in which the whole body moves as far as in several around it shows that frames were lost."""

from __future__ import annotations

import numpy as np

from ...base.arrays import list_names
from ...base.file_arrays import map_slices
from ...signals.trial import Recording
from ..check_definition import InputCheck, InputProblem, InputToCheck

LEAST_SPEED = 0.05
"""[m/s] or [rad/s]: smaller steps are too noisy to show a lost frame, and slower neighbours count as this fast; chosen
on the recordings below: .2 misses frames lost between squats."""
LEAST_POINTS, LEAST_SHARE = 4, 0.3
"""Number and fraction of the points that must move; chosen on the recordings below."""
LOST_RATIO = 1.7
"""Ratio of a step to the longer of its neighbours from which frames are lost; one lost frame gives 2. Chosen on 45
recordings of markers and skeletons: at most 1.2 with markers, 1.5 in a retargeted kick at 30 Hz."""
REPEATED = 0.05
"""A step below this fraction of the median repeats a frame: a longer step after it is no loss, the time is kept.
Chosen on a real clip of boxing, where repeats move by .003."""


def _measure(inputs: InputToCheck) -> InputProblem | None:
    found = _find_moving(inputs.recording)
    if found is None or len(found[0]) < 6:  # the longest window, of five steps
        return None
    times, points = found
    least = LEAST_SPEED * np.median(np.diff(times))
    ratio, median = map_slices(len(points) - 3, lambda own: _compare_steps(points[own.start : own.stop + 3], least)).T
    repeats = np.convolve(np.pad(median <= REPEATED * np.median(median), 1), np.ones(5), "same")[1:-1] > 0.0
    lost = np.flatnonzero((ratio > LOST_RATIO) & ~repeats)
    if not len(lost):
        return None
    shown = list_names(f"{times[k + 2]:.2f} s" for k in lost)
    return InputProblem(
        f"frames seem to have been lost before {shown} and the gap closed up: the whole body moves there as far "
        "as in several frames before and after",
        "Speeds and accelerations there are wrong: export every frame, with empty cells where nothing was recorded",
        is_note=True,
    )


def _compare_steps(points: np.ndarray, least: float) -> np.ndarray:
    """Median ratio of each inner step to those before and after it, and median length of the step (n, 2)."""
    steps = np.diff(points, axis=0)
    before, step, after = steps[:-2], steps[1:-1], steps[2:]
    lengths = [np.linalg.norm(each, axis=2) for each in (before, step, after)]
    usual = np.maximum(lengths[0], lengths[2])
    with np.errstate(invalid="ignore", divide="ignore"):
        is_moving = (lengths[1] > least) & (usual > 0.0)
        ratios = np.einsum("npi,npi->np", step, before + after) / (2.0 * usual * np.maximum(usual, least))
        ratios = np.where(is_moving, ratios, np.nan)
    ratios[is_moving.sum(axis=1) < max(LEAST_POINTS, LEAST_SHARE * ratios.shape[1])] = 0.0
    return np.stack([np.nanmedian(ratios, axis=1), np.median(np.nan_to_num(lengths[1]), axis=1)], axis=1)


def _find_moving(recording: Recording) -> tuple[np.ndarray, np.ndarray] | None:
    """Times (N,) [s] and points of the body (N, P, 3) [m], or angles of joints (N, P, 1) [rad]; None without any."""
    for moving in (recording.markers, recording.segments):
        if moving is not None and moving.positions is not None:
            return moving.times, moving.positions
    joints = recording.joints
    radians = [] if joints is None else [k for k, unit in enumerate(joints.units) if unit.startswith("rad")]
    return (joints.times, joints.values[:, radians, None]) if joints is not None and radians else None


RATE = InputCheck(
    name="rate", measures="each step of the whole body against the steps before and after", measure=_measure
)
