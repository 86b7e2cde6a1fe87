"""Real recordings with motion, plates' errors and inertials estimated together, judged by what was not used."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solver.formats.recording import ReadOptions
from solver.identification.comparison import AXES
from solver.identification.equations import measured_wrench, reconstructed_wrench
from solver.identification.result import Identification
from solver.signals import GRAVITY, preset_of
from solver.study.following import track_all
from solver.study.preparation import Prepared, prepare
from solver.study.recordings import load
from solver.study.residuals import body_height
from solver.study.subject import calibrate_subject
from solver.study.together.rounds import Work, together
from solver.study.together.unseen import Hidden, hidden
from solver.threads import one_blas_thread

from . import runs, subject
from .figure import Bound, Figure, at_most, missing

FORCE_MUST, FORCE_AIM = 0.02, 0.01
MOMENT_MUST, MOMENT_AIM = 0.005, 0.003
MORE_MUST = 2.0
"""[mm] More marker error than the motion that only follows markers."""


def together_figures(data: Path) -> list[Figure]:
    """In-sample residuals of the subject, and unseen errors of every person with motions led by their markers."""
    people = {"subject_a": (subject.SEX, [data / subject.SUBJECT])}
    people |= {name: (runs.SEX, [data / file for file in files]) for name, files in runs.RUNS.items()}
    figures = []
    with one_blas_thread():
        for name, (sex, paths) in people.items():
            if not all(path.exists() for path in paths):
                rows = in_sample((float("nan"),) * 3, "") if name == subject.SUBJECT else []
                figures += missing([*rows, _unseen_row(name, [])], "no data")
                continue
            work = work_of(paths, sex)
            if name == subject.SUBJECT:
                prepared, found = together(work)
                before = work.prepared(work.records)
                first = left_of(before, work.identified(before))
                left = left_of(prepared, found)
                note = f"before: {first[0]:.3g} BW, {first[1]:.3g} BW h, markers {first[2]:.1f} mm"
                figures += in_sample((left[0], left[1], left[2] - first[2]), note)
            figures.append(_unseen_row(name, list(hidden(work))))
    return figures


def work_of(paths: list[Path], sex: str) -> Work:
    """One person's recordings, calibrated on all of them and tracked."""
    recordings = [item for item in load(paths, ReadOptions(ragged=True)) if item.markers is not None]
    calibration = calibrate_subject(recordings, sex=sex)
    records, preset = track_all(calibration, recordings), preset_of(subject.PRESET)
    prepared = prepare(calibration.rig, records, preset)
    return Work(
        calibration,
        records,
        lambda moved: prepare(calibration.rig, moved, preset),
        subject.options_of(prepared),
        preset,
    )


def in_sample(values: tuple[float, float, float], note: str) -> list[Figure]:
    """Root mean square size of what is left of forces [BW] and moments [BW h], and the markers' price [mm]."""
    where = f"real, {subject.SUBJECT}, moving trials"
    rows: list[tuple[str, str, Bound, Bound | None]] = [
        ("together, in-sample residual force", "BW", at_most(FORCE_MUST), at_most(FORCE_AIM)),
        ("together, in-sample residual moment", "BW h", at_most(MOMENT_MUST), at_most(MOMENT_AIM)),
        ("together, more marker error", "mm", at_most(MORE_MUST), None),
    ]
    return [Figure(what, where, value, unit, must, aim, note) for value, (what, unit, must, aim) in zip(values, rows)]


def left_of(prepared: Prepared, found: Identification) -> tuple[float, float, float]:
    """Means over the moving trials: residual force [BW] and moment [BW h], marker error [mm]."""
    rig, parameters, base = prepared.rig, found.parameters, found.base_link
    weight = rig.prior.total_mass * GRAVITY
    rows = []
    for record in prepared.records:
        trial, tracked = record.trial, record.tracked
        if trial is None or tracked is None or record.name == subject.STATIC:
            continue
        rest = measured_wrench(rig, trial, base) - reconstructed_wrench(rig, trial, parameters, base)
        rest = rest[trial.counted & np.isfinite(rest).all(axis=1)]
        force, moment = (np.sqrt(np.mean(np.sum(part**2, axis=1))) for part in (rest[:, :3], rest[:, 3:]))
        rows.append((force / weight, moment / (weight * body_height(rig)), 1e3 * tracked.rmse))
    force, moment, markers = np.mean(rows, axis=0)
    return float(force), float(moment), float(markers)


def _unseen_row(name: str, found: list[Hidden]) -> Figure:
    """Mean ratio over the moving trials whose plates were hidden in turn."""
    what = "plates hidden in turn, motion led by markers, RMSE over prior's"
    moving = [one for one in found if one.comparison.trial != subject.STATIC]
    if not moving:
        return Figure(what, f"real, {name}", None)
    ours, prior = (
        np.mean([fit.rmse for fit in fits], axis=0)
        for fits in zip(*((one.comparison.identified, one.comparison.prior) for one in moving))
    )
    listed = ", ".join(f"{axis} {value:.3g} ({table:.3g})" for axis, value, table in zip(AXES, ours, prior))
    flights = [one.flight for one in moving if one.flight is not None]
    aloft = ""
    if flights:
        acceleration = 100.0 / GRAVITY * np.mean([flight.acceleration[0] for flight in flights])
        rate = np.mean([flight.momentum_rate[0] for flight in flights])
        aloft = f"; flights {acceleration:.2g} % of g, {rate:.2g} N m"
    agreed = f"{sum(one.led for one in moving)} of {len(moving)} led, in the others trials agree on nothing"
    value = float(np.mean([one.comparison.ratio.mean() for one in moving]))
    return Figure(
        what, f"real, {name}", value, "", None, None, f"{agreed}; RMSE in N and N m (prior's): {listed}{aloft}"
    )
