"""Real runs of other people: one half of a run fitted to the other, and one run to another of the same person."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from solver.base.threads import one_blas_thread
from solver.identification.comparison import Comparison
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.options.reading import ReadOptions
from solver.skeleton.rig import Rig
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import StudyData, TrialRecord
from solver.values.wrenches import WRENCH_AXES

from .figure import Figure, at_most

SEX = "male"
"""The data do not say; it only chooses the prior's table."""
RUNS = {
    "subject_b run, halves": ("subject_b/markers/run.trc", "subject_b/forces/run.mot"),
    "subject_e, one run to the other": ("subject_e",),
}
OTHERS = {
    "subject_b walk": ("subject_b/markers/walk.trc", "subject_b/markers/static_walk.trc", "subject_b/forces/walk.mot"),
    "subject_c": (
        "subject_c/subject01_static.trc",
        "subject_c/subject01_walk1.trc",
        "subject_c/subject01_walk1_grf.mot",
    ),
    "walk_d": ("walk_d/walk_d.npz",),
}
"""Further recordings without faults; left out by --quick."""
MUST, AIM = 0.70, 0.55


def run_figures(data: Path) -> list[Figure]:
    """Mean ratio over six axes and both directions, next to the absolute errors."""
    figures = []
    with one_blas_thread():
        for name, files in RUNS.items():
            paths = [data / file for file in files]
            if not all(path.exists() for path in paths):
                figures.append(_figure(name, None, "no data"))
                continue
            figures.append(_figure(name, *_measure(prepare_runs(paths))))
    return figures


def prepare_runs(paths: Sequence[Path]) -> StudyData:
    """Trials of one person, calibrated on all of them."""
    rig, records = track_runs(tuple(paths))
    return prepare(rig, records)


@cache
def track_runs(paths: tuple[Path, ...]) -> tuple[Rig, tuple[TrialRecord, ...]]:
    """Calibrated person and tracked trials; tracking takes seconds and serves several figures."""
    options = ReadOptions(ragged=any(path.suffix == ".trc" for path in paths))
    recordings = [recording for recording in load(paths, options) if recording.markers is not None]
    calibration = calibrate(recordings, sex=SEX)
    return calibration.rig, track_all(calibration, recordings)


def predict_unused_trials(prepared: StudyData) -> list[Comparison]:
    """Predict every trial, or every half of a single one, from the inertials of the others."""
    rig = prepared.rig
    options = IdentifyOptions(
        base=str(rig.provenance.get("base_link", rig.links[0])),
        total_mass=None if prepared.mass is None else prepared.mass.mass,
    )
    trials = [record.trial for record in prepared.records if record.trial is not None]
    return [c for c in identify_trials(rig, trials, options).comparisons if not c.used]


def _measure(prepared: StudyData) -> tuple[float, str]:
    found = predict_unused_trials(prepared)
    ratio = np.mean([comparison.ratio for comparison in found], axis=0)
    return float(ratio.mean()), f"{format_errors(found)}; over the prior without weights {_unweighted(found)}"


def format_errors(found: Sequence[Comparison]) -> str:
    """Mean RMSE of each axis, in brackets the prior's with weights of its own and without."""
    ours, prior, unweighted = (
        np.mean([fit.rmse for fit in fits], axis=0)
        for fits in zip(*((c.identified, c.prior, c.unweighted_prior) for c in found))
    )
    listed = ", ".join(
        f"{axis} {value:.3g} ({table:.3g}, {plain:.3g})"
        for axis, value, table, plain in zip(WRENCH_AXES, ours, prior, unweighted)
    )
    return f"RMSE in N and N m, in brackets the prior's with its own frequency weights and without: {listed}"


def _unweighted(found: Sequence[Comparison]) -> str:
    ours = np.mean([c.ratio_to_unweighted for c in found])
    prior = np.mean([c.prior.rmse / c.unweighted_prior.rmse for c in found])
    return f"{ours:.3f}, the prior with its own {prior:.3f}"


def _figure(name: str, value: float | None, note: str) -> Figure:
    what = "unseen, RMSE identified / prior, 6 axes"
    return Figure(what, f"real, {name}", value, "", at_most(MUST), at_most(AIM), note)
