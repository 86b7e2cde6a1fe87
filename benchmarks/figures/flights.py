"""Identification from flight: thrown and jumping bodies, simulated, then people's flights, real."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from solver.dynamics import link_motions
from solver.dynamics.wrench import com_acceleration
from solver.options.study import Settings
from solver.signals import find_flights, true_runs
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import StudyData, TrialRecord
from solver.workflow.pipeline import identify_motions

from ..papers import ayusawa, jumper
from .figure import Figure, at_most
from .subject import PRESET, STATIC

FLYING = {"subject_a": "female", "subject_e": "male", "subject_b": "male"}
"""Recordings with flights; the sex only chooses the prior's table."""
LEAST = 0.04
"""[s] of a flight by the plates: shorter ones are a few samples' chance."""
MOMENTS, FORCES = (0.68, 0.58), (1.03, 0.97)


def alone_figures(data: Path, quick: bool = False) -> Iterator[Figure]:
    """All rows; quick: those of a few simulated throws."""
    yield from ayusawa.rows(quick)
    if quick:
        return
    yield from jumper.rows()
    for subject in FLYING:
        if not (data / subject).is_dir():
            yield Figure(f"{subject}: flights found from motion alone", "real", None, note="no data")
            continue
        recordings = load([data / subject])
        calibration = calibrate(recordings, sex=FLYING[subject])
        records = [r for r in track_all(calibration, recordings) if r.poses is not None]
        prepared = prepare(calibration.rig, records)
        yield from _found(subject, prepared)
        if subject == next(iter(FLYING)):
            yield from _alone(prepared, records)


def _found(subject: str, prepared: StudyData) -> Iterator[Figure]:
    """Flights found from the motion and from the plates."""
    missed, edges, extra, count = 0, [0.0], 0, 0
    for record in prepared.records:
        if record.motion is None or record.windows is None:
            continue
        times = record.motion.times
        vertical = com_acceleration(link_motions(prepared.rig, record.motion), prepared.rig.prior)[:, 2]
        seen = [(times[a], times[b - 1]) for a, b in true_runs(find_flights(times, vertical))]
        counted = record.windows.counted & ~record.windows.flight
        for start, stop in true_runs(record.windows.flight):
            first, last = times[start], times[stop - 1]
            if last - first < LEAST:
                continue
            same = [span for span in seen if span[0] <= last and first <= span[1]]
            count, missed = count + 1, missed + (not same)
            # where frames beside are left out the plates do not show the edge
            edges += [abs(span[0] - first) for span in same[:1] if counted[start - 1]]
            edges += [abs(span[1] - last) for span in same[:1] if stop < len(times) and counted[stop]]
        extra += sum(bool(counted[(times >= a) & (times <= b)].all()) for a, b in seen)
    data = f"real, {count} flights by the plates"
    note = f"{extra} found where the plates carry the body throughout"
    yield Figure(f"{subject}: flights missed by the motion alone", data, float(missed), "", at_most(0.0), note=note)
    what = f"{subject}: edges of flights by the motion alone, largest error"
    yield Figure(what, data, max(edges), "s", at_most(0.1), at_most(0.05))


def _alone(prepared: StudyData, records: list[TrialRecord]) -> Iterator[Figure]:
    """Flights alone, the plates withheld, on what the plates saw."""
    assert prepared.mass is not None
    settings = Settings(flight_only=True, no_cross_validation=True, filter=PRESET)
    study = identify_motions(prepared.rig, records, stated_mass=prepared.mass.mass, settings=settings)
    assert study.flights is not None
    used = set(study.identification.trials)
    ratios = [
        c.ratio for c in study.identification.comparisons if c.trial not in used and not c.trial.startswith(STATIC)
    ]
    forces, moments = np.mean(ratios, axis=0)[:3].mean(), np.mean(ratios, axis=0)[3:].mean()
    data = f"real, subject_a, {len(study.flights.used)} flights of {', '.join(sorted(used))}, plates withheld"
    what = "flight alone, on the frames that the plates carry: RMSE identified / prior"
    yield Figure(f"{what}, moments", data, float(moments), "", at_most(MOMENTS[0]), at_most(MOMENTS[1]))
    yield Figure(f"{what}, forces", data, float(forces), "", at_most(FORCES[0]), at_most(FORCES[1]))
