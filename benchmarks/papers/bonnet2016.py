"""bonnet2016: the paper's experiments compared with ours. Everything here is simulated.

python -m benchmarks.papers.bonnet2016 [--quick] [--only PART ...] [--output DIR] [--dances DIR]

planar     III.C, Fig. 4: the planar example by the criterion and by the total condition number
criterion  Fig. 5 and IV.D: HOAP-3's dance, the criterion over its transitions, base parameters predicted to be known
zmp        Fig. 6: the zero-moment point with and without rebalancing, by our checks and in MuJoCo
wrench     Table II, HOAP-3: 7.9 kg in MuJoCo against CAD's 8.8 kg, identified and tested on a dance not used
load       IV.B, Fig. 8, and Table II, human: the same dance in MuJoCo with and without 2.4 kg on an arm, and squats

--quick dances one posture on each foot configuration instead of fifteen and plays two transitions for Fig. 6. The last
three parts need MuJoCo (the benchmarks extra); without it `zmp` is planned only and the other two are not measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from solver.dance.design.options import DanceOptions, paper_options
from solver.rigs import hoap3
from solver.threads import one_blas_thread

from ..reference import reference_line
from . import plots
from .bonnet2016_criterion import criterion_drawing, criterion_rows, design_rows, evolutions, identified_rows
from .bonnet2016_dances import Dances
from .bonnet2016_planar import planar_rows
from .bonnet2016_zmp import format_table, zmp_drawing, zmp_table
from .rows import Row, table

PARTS = ("planar", "criterion", "zmp", "wrench", "load")
QUICK_TRANSITIONS = 2
"""Of each support that Fig. 6 plays with --quick."""
NO_ENGINE = "not measured: MuJoCo is not installed (pip install mujoco, the benchmarks extra)"


def main(arguments: list[str] | None = None) -> int:
    """Print the figures and tables; 1 if a must is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.bonnet2016",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="small dances, few transitions")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="which parts (default: all)")
    parser.add_argument("--workers", type=int, default=2, help="processes that design a dance (2)")
    parser.add_argument("--output", type=Path, help="folder for Fig. 5 and Fig. 6 as SVG")
    parser.add_argument("--dances", type=Path, help="folder in which designed dances are stored between runs")
    options = parser.parse_args(arguments)
    print(reference_line(), flush=True)
    missed = False
    with one_blas_thread():
        for text, rows in parts(options):
            print(text, flush=True)
            missed |= any(row.met is False for row in rows)
    return int(missed)


def parts(options: argparse.Namespace) -> Iterator[tuple[str, list[Row]]]:
    """Each part's text as it is measured, and the rows in it."""
    dances = Dances(options.quick, options.workers, options.dances)
    if "planar" in options.only:
        rows = planar_rows(options.quick)
        yield table("III.C, Fig. 4: the planar example", rows), rows
    if {"criterion", "zmp"} & set(options.only):
        yield from _robot_parts(options, dances)
    for part, measured in (("wrench", _wrench_part), ("load", _load_part)):
        if part in options.only:
            yield from measured(dances) if find_spec("mujoco") else [(f"\n{part}: {NO_ENGINE}", [])]


def _robot_parts(options: argparse.Namespace, dances: Dances) -> Iterator[tuple[str, list[Row]]]:
    """The dance of HOAP-3 at the paper's 7.9 kg, Fig. 5 and Fig. 6."""
    rig = hoap3("middle", torque="peak")
    dance, seconds = dances.of(rig, paper_options("hoap3"))
    wanted = sum(dances.options(paper_options("hoap3"), unseen=False).postures.values())
    most = QUICK_TRANSITIONS if options.quick else None
    drawings = {}
    if "criterion" in options.only:
        found = evolutions(dance)
        rows = design_rows(dance, rig, seconds, wanted) + criterion_rows(found, wanted)
        rows += identified_rows(dance, rig, wanted)
        drawings["fig5.svg"] = criterion_drawing(found)
        yield table("Fig. 5, III.E and IV.D: HOAP-3's dance", rows), rows
    if "zmp" in options.only:
        drawings["fig6.svg"] = zmp_drawing(rig, dance, most)
        yield format_table(zmp_table(rig, dance, most, engine=find_spec("mujoco") is not None)), []
    for name, drawing in drawings.items() if options.output else ():
        yield f"written: {plots.save(drawing, options.output / name)}", []


def _wrench_part(dances: Dances) -> Iterator[tuple[str, list[Row]]]:
    from .bonnet2016_wrench import identification_rows, robot_tests, wrench_table

    for name, options in (("the paper's tempo", paper_options("hoap3")), ("our default", DanceOptions())):
        for test in robot_tests(dances, options):
            rows = identification_rows(test)
            yield wrench_table(test, f"a shorter dance of another seed; dance: {name}"), []
            yield table(f"IV.D: identification from HOAP-3's dance; dance: {name}; {test.noise}", rows), rows


def _load_part(dances: Dances) -> Iterator[tuple[str, list[Row]]]:
    from .bonnet2016_load import fit_rows, load_rows, load_test
    from .bonnet2016_wrench import identification_rows, wrench_table

    test = load_test(dances)
    rows = load_rows(test) + fit_rows(test)
    yield table("IV.B, Fig. 8: a load on the left arm", rows), rows
    yield wrench_table(test.squats, "ten squats"), []
    rows = identification_rows(test.squats)
    yield table("IV.B: identification from the person's dance", rows), rows


if __name__ == "__main__":
    sys.exit(main())
