"""Figures to reach of tracking and retargeting: `python -m benchmarks tracking [--quick] [--only PART] [--data DIR]`.

Prints every figure: what was measured, on which data (real or simulated), its must and its aim. Exits 1 when a
measured figure misses its must; a figure that could not be measured (no data, no peer) is listed as such and does not
count. Times are of the processor, as ratios to mink with DAQP in the same run: medians of interleaved blocks.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from solver.base.threads import one_blas_thread

from .figures.figure import Figure
from .figures.table import FigureTable, table_parser
from .tracking_figures.accuracy import accuracy_figures
from .tracking_figures.flights import flight_figures
from .tracking_figures.labels import swap_figures
from .tracking_figures.limits import limit_figures
from .tracking_figures.live import live_figures
from .tracking_figures.live_labels import live_label_figures
from .tracking_figures.marker_sets import marker_set_figures
from .tracking_figures.markers import marker_figures
from .tracking_figures.passes import pass_figures
from .tracking_figures.retargeting import peer_figures, retargeting_figures, walking_figures
from .tracking_figures.smoother import smoother_figures

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
QUICK_LEAVES_OUT = (
    "accuracy of standing and walking, of 48 degrees of freedom and iCub, most dampings of the peer, 18 of 20 starts "
    "outside the limits, six of the subject's trials and the marker error over all, all but 8 s of the ten live "
    "minutes, labels of three people's streams, three of five retargeted clips, their repair and MuJoCo, "
    "walks of all bodies but the person, seven of nine clips beside the peer"
)
PARTS: tuple[Callable[[Path, bool], list[Figure]], ...] = (
    pass_figures,
    marker_figures,
    accuracy_figures,
    limit_figures,
    swap_figures,
    marker_set_figures,
    smoother_figures,
    live_label_figures,
    live_figures,
    retargeting_figures,
    walking_figures,
    peer_figures,
    flight_figures,
)
"""Each measures its figures from the folder of the recordings, and less of them or on less where it is to be quick."""


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("tracking", __doc__, data=True, quick="under one minute; lists what it leaves out")
    parser.add_argument("--only", choices=[part.__name__ for part in PARTS], help="these rows alone")
    options = parser.parse_args(list(arguments))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; data: {options.data}")
    if options.quick:
        print(f"--quick leaves out: {QUICK_LEAVES_OUT}")
    table = FigureTable(["tracking", *arguments], options.output)
    chosen = [part for part in PARTS if options.only in (None, part.__name__)]
    with one_blas_thread():
        for part in chosen:
            table.measure(partial(part, options.data, options.quick))
    return table.close()
