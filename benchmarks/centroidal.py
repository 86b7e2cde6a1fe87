"""Figures of centre of mass, angular momentum and flight: ``python -m benchmarks centroidal [--quick] [--data DIR]``.

Prints every figure: what was measured, on which data (real or simulated), its must and its aim. Exits 1 when a measured
figure misses its must; a figure that could not be measured (no data) is listed as such and does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from solver.base.threads import one_blas_thread

from .figures import runs, subject
from .figures.centroidal_forces import force_figures
from .figures.centroidal_long import long_figures
from .figures.centroidal_real import Recorded, collect_recordings, flight_figures, hidden_figures, slow_figures
from .figures.centroidal_walk import speed_figures, walk_figures
from .figures.figure import Figure, at_most, missing
from .figures.flights import alone_figures
from .figures.table import FigureTable, table_parser

QUICK_LEAVES_OUT = (
    "17 of the 20 seeds of the simulated walk, the hour, subject_a, subject_b, the walk without moments, all but a few "
    "throws of flight alone"
)
EVERYBODY, RUNNER = "real, subject_a, b, e", "real, subject_e"


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("centroidal", __doc__, data=True, quick="under one minute; lists what it leaves out")
    options = parser.parse_args(list(arguments))
    if options.quick:
        print(f"--quick leaves out: {QUICK_LEAVES_OUT}")
    table = FigureTable(["centroidal", *arguments], options.output)
    parts: list[Callable[[], list[Figure]]] = [
        speed_figures,
        lambda: long_figures(options.quick),
        lambda: walk_figures(options.quick),
        lambda: real_figures(options.data, options.quick),
        *(() if options.quick else (lambda: force_figures(options.data),)),
        lambda: list(alone_figures(options.data, options.quick)),
    ]
    with one_blas_thread():
        for part in parts:
            table.measure(part)
    return table.close()


def real_figures(data: Path, quick: bool) -> list[Figure]:
    """Errors of every estimator on forces that it was not given."""
    trials = recordings(data, quick)
    if not trials:
        return missing(unmeasured(), f"no data in {data}")
    where = RUNNER if quick else EVERYBODY
    return [*flight_figures(trials, where), *slow_figures(trials, where), *hidden_figures(trials, where)]


def recordings(data: Path, quick: bool) -> list[Recorded]:
    """The signals of all moving trials there are."""
    trials: list[Recorded] = []
    for name, files in runs.RUNS.items():
        paths = [data / file for file in files]
        if all(path.exists() for path in paths) and (not quick or "subject_e" in name):
            trials += collect_recordings(runs.prepare_runs(paths))
    found = () if quick else subject.read_recordings(data)
    if found:
        prepared, _ = subject.track_recordings(found, ())
        assert prepared is not None
        trials += collect_recordings(prepared)
    return trials


def unmeasured() -> list[Figure]:
    """The rows that need the real recordings."""
    rows = (
        ("flights of jumps, forces withheld: CoM acceleration error over kinematics'", 0.80),
        ("flights of runs, forces withheld: CoM acceleration error over kinematics'", 0.70),
        ("flights, forces given: CoM acceleration error against the forces", 0.1),
        ("flights of jumps, forces withheld: velocity change over time", 0.85),
        ("stance hidden for 100 ms: force error over kinematics'", 0.70),
        ("stance hidden for 200 ms: force error over kinematics'", 0.85),
        ("horizontal CoM against the wrench below 1 Hz, squats", 2.0),
    )
    return [Figure(what, EVERYBODY, None, "", at_most(must)) for what, must in rows]
