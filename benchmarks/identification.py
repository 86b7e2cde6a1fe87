"""Figures to reach of the main job: `python -m benchmarks identification [--quick] [--data DIR]`.

Prints every figure: what was measured, on which data (real or simulated), its must and its aim. Exits 1 when a
measured figure misses its must; a figure that could not be measured (no data) is listed as such and does not count.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from solver.base.threads import one_blas_thread
from solver.values.wrenches import WRENCH_AXES

from .figures import (
    added_load,
    foreign,
    long_recording,
    plates,
    runs,
    short_recordings,
    simulated,
    speed,
    subject,
)
from .figures.figure import Bound, Figure, at_least, at_most, missing, within
from .figures.table import FigureTable, table_parser

QUICK_TRIALS = ("squats1", "DJ1")
RUNS = 3
QUICK_LEAVES_OUT = (
    "plates of other people's walks, the mean marker error of static1's calibration, "
    "the shoulder girdle, "
    "added loads, times of the programs and of the regressor, "
    "all trials and short recordings through identify"
)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("identification", __doc__, data=True, quick="under one minute; lists what it leaves out")
    parser.add_argument(
        "--hour", action="store_true", help="also an hour of eight plates through identify, for its memory"
    )
    options = parser.parse_args(list(arguments))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; data: {options.data}")
    if options.quick:
        print(f"--quick leaves out: {QUICK_LEAVES_OUT}")
    table = FigureTable(["identification", *arguments], options.output)
    parts: list[Callable[[], list[Figure]]] = [
        lambda: real(options.data, options.quick),
        lambda: runs.run_figures(options.data),
        lambda: plates.plate_figures(options.data, options.quick),
        simulated.noise_free_figures,
        simulated.noisy_motion_figures,
        lambda: added_load.added_load_figures(options.quick),
        *([] if options.quick else [speed.solver_figures, speed.regressor_figures]),
        *([] if options.quick else [lambda: [speed.whole_figure(options.data, RUNS)]]),
        *([] if options.quick else [lambda: short_recordings.short_figures(options.data)]),
        *([long_recording.long_figures] if options.hour else []),
    ]
    for part in parts:
        table.measure(part)
    return table.close()


def real(data: Path, quick: bool) -> list[Figure]:
    """Everything measured on the subject."""
    recordings = subject.read_recordings(data)
    if not recordings:
        return missing(unmeasured(), f"no data in {data / subject.SUBJECT}")
    figures: list[Figure] = []
    with one_blas_thread():
        prepared, records = subject.track_recordings(recordings, ())
        assert prepared is not None
        figures += subject.mass_figures(prepared)
        figures += plates.subject_figures(prepared)
        figures += foreign.foreign_figures({subject.SUBJECT: (prepared.rig, records)})
        chosen = QUICK_TRIALS if quick else ()
        _, alone_records = subject.track_recordings(recordings, (subject.STATIC,), chosen)
        figures += subject.marker_figures(data, alone_records, static_only=True)
        figures += subject.marker_figures(data, records, static_only=False)
        label = "skeleton from all trials' markers"
        splits = list(subject.predict_unseen_trials(prepared))
        print(f"\n  {subject.SUBJECT}, {label}: RMSE [N, N m] and identified / prior; {subject.SIDE}")
        print("\n".join(subject.split_lines(splits)) + "\n", flush=True)
        figures += subject.unseen_figures(splits, label)
        figures += subject.travel_figures(prepared)
        if not quick:
            girdled, followed = subject.track_recordings(recordings, (), shoulders="girdle")
            assert girdled is not None
            figures += subject.girdle_marker_figures(followed)
            figures.append(subject.vertical_figure(list(subject.predict_unseen_trials(girdled)), "shoulder girdle"))
    return figures


def unmeasured() -> list[Figure]:
    """The rows that need the real recordings."""
    where = f"real, {subject.SUBJECT}"
    rows: list[tuple[str, str, Bound, Bound | None]] = [
        ("body mass from all trials given", "kg", within(63.5, 0.4), None),
        ("plate offset of the standing trials", "N", Bound(33.0, 37.0, "33 to 37"), None),
        ("free moment reversed in the files: trials in which it is found", "", at_least(subject.TRIALS), None),
        ("plates of walking, sideways against the others", "mm", plates.LATERAL_BOUND, None),
        ("marker error, calibrated on static1 only: squats1", "mm", at_most(15.0), at_most(10.4)),
        ("marker error, calibrated on static1 only: DJ1", "mm", at_most(25.0), at_most(17.3)),
        ("marker error, calibrated on static1 only: mean of 8 trials", "mm", at_most(20.0), None),
        ("unseen trials, RMSE identified / prior, 6 axes", "", at_most(0.80), at_most(0.68)),
        ("  the same, moments about the pelvis", "", at_most(0.70), None),
        ("  the same, largest axis", "", at_most(1.05), None),
        ("unseen moving trials, RMSE identified / prior, 6 axes", "", at_most(subject.RATIO_MUST), None),
        *(
            (f"unseen moving trials, mean RMSE {axis}", "N" if axis[0] == "F" else "N m", at_most(must), at_most(aim))
            for axis, must, aim in zip(WRENCH_AXES, subject.RMSE_MUST, subject.RMSE_AIM)
        ),
        ("  the same, vertical force, worst split", "", at_most(subject.VERTICAL_MUST), None),
        ("unseen flights, CoM acceleration error", "% of g", at_most(6.5), at_most(5.0)),
        ("unseen flights, rate of angular momentum", "N m", at_most(8.5), at_most(6.0)),
        ("unseen flights, CoM acceleration error, identified / prior", "", at_most(0.9), at_most(0.8)),
        ("unseen flights, angular momentum rate, identified / prior", "", at_most(0.7), at_most(0.55)),
    ]
    return [Figure(what, where, None, unit, must, aim) for what, unit, must, aim in rows]
