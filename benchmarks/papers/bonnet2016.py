"""bonnet2016: the paper's experiments compared with ours. Everything here is simulated.

python -m benchmarks.papers.bonnet2016 [--quick] [--only PART ...] [--output DIR] [--dances DIR]

planar     III.C, Fig. 4: the planar example by the criterion and by the total condition number
criterion  Fig. 5 and IV.D: HOAP-3's dance, the criterion over its transitions, base parameters predicted to be known
zmp        Fig. 6: the zero-moment point with and without rebalancing, by our checks and in MuJoCo
wrench     Table II, Figs. 12 and 13: HOAP-3 of 7.9 kg in MuJoCo against CAD's 8.8 kg, tested on a dance not used
load       IV.B, Figs. 8 and 9, Table II, human: a dance in MuJoCo with and without 2.4 kg on an arm, and squats

--quick dances one posture on each foot configuration instead of fifteen, plays two transitions for Fig. 6 and has one
tempo and one set of sensors in `wrench`. The last three parts need MuJoCo (the benchmarks extra); without it `zmp` is
planned only and the other two are not measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from solver.base.threads import one_blas_thread
from solver.options.dances import DanceOptions, paper_options
from solver.report.svg import Drawing
from solver.rigs import hoap3

from ..reference import reference_line
from . import plots
from .bonnet2016_counts import count_rows
from .bonnet2016_criterion import (
    criterion_drawing,
    criterion_rows,
    design_rows,
    deviation_rows,
    evolutions,
    identified_rows,
)
from .bonnet2016_dances import Dances
from .bonnet2016_planar import planar_drawing, planar_periods, planar_rows
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
    parser.add_argument("--output", type=Path, help="folder for the figures as SVG")
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
    drawings: dict[str, Drawing] = {}
    if "planar" in options.only:
        found = planar_periods(options.quick)
        drawings["fig4"] = planar_drawing(found)
        rows = planar_rows(found)
        yield table("III.C, Fig. 4: the planar example", rows), rows
    if {"criterion", "zmp"} & set(options.only):
        yield from _robot_parts(options, dances, drawings)
    for part, measured in (("wrench", _wrench_part), ("load", _load_part)):
        if part in options.only:
            yield from measured(dances, drawings) if find_spec("mujoco") else [(f"\n{part}: {NO_ENGINE}", [])]
    for name, drawing in drawings.items() if options.output else ():
        yield f"written: {plots.save(drawing, options.output / f'{name}.svg')}", []


def _robot_parts(
    options: argparse.Namespace, dances: Dances, drawings: dict[str, Drawing]
) -> Iterator[tuple[str, list[Row]]]:
    """The dance of HOAP-3 at the paper's 7.9 kg, Fig. 5 and Fig. 6."""
    rig = hoap3("middle", torque="peak")
    dance, seconds = dances.of(rig, paper_options("hoap3"))
    wanted = sum(dances.options(paper_options("hoap3"), unseen=False).postures.values())
    most = QUICK_TRANSITIONS if options.quick else None
    if "criterion" in options.only:
        straight, every = (dances.of(rig, paper_options("hoap3", **one))[0] for one in ({"rounds": 0}, {"via": None}))
        variants = {"straight paths": straight, "two via points (paper's program)": dance, "all control values": every}
        found = evolutions(dance, straight)
        rows = design_rows(dance, rig, seconds, wanted) + criterion_rows(found, wanted)
        rows += deviation_rows(variants, rig, wanted)
        rows += identified_rows(dance, rig, wanted)
        drawings["fig5"] = criterion_drawing(found)
        yield table("Fig. 5, III.E and IV.D: HOAP-3's dance", rows), rows
        rows = count_rows(dance, rig, wanted, options.quick)
        yield table("IV.D: the paper's 42 base parameters, assumption by assumption", rows), rows
    if "zmp" in options.only:
        drawings["fig6"] = zmp_drawing(rig, dance, most)
        yield format_table(zmp_table(rig, dance, most, engine=find_spec("mujoco") is not None)), []


def _wrench_part(dances: Dances, drawings: dict[str, Drawing]) -> Iterator[tuple[str, list[Row]]]:
    from .bonnet2016_wrench import ROBOT_SENSORS, identification_rows, robot_tests, wrench_drawing, wrench_table

    tempos = [("the paper's tempo", paper_options("hoap3"))]
    for name, options in tempos if dances.quick else [*tempos, ("our default", DanceOptions())]:
        for test in robot_tests(dances, options, ROBOT_SENSORS[:1] if dances.quick else ROBOT_SENSORS):
            rows = identification_rows(test)
            if "fig13" not in drawings:
                drawings["fig13"] = wrench_drawing(test, "Fig. 13: wrench of HOAP-3 in a dance not used, SIMULATED")
                sets = {"CAD": test.rig.prior, "identified by (8)": test.found.paper, "truth": test.truth}
                drawings["fig12"] = plots.parameters(test.rig, sets, "Fig. 12: parameters of HOAP-3, SIMULATED")
            yield wrench_table(test, f"a shorter dance of another seed; dance: {name}"), []
            yield table(f"IV.D: identification from HOAP-3's dance; dance: {name}; {test.noise}", rows), rows


def _load_part(dances: Dances, drawings: dict[str, Drawing]) -> Iterator[tuple[str, list[Row]]]:
    from .bonnet2016_load import fit_rows, load_rows, load_tests
    from .bonnet2016_wrench import identification_rows, wrench_drawing, wrench_table

    for test in load_tests(dances):
        rows = load_rows(test) + fit_rows(test)
        if "fig8" not in drawings:
            before, after = (found.paper for found in test.found)
            sets = {"table": test.rig.prior, "(8), without load": before, "(8), with load": after}
            drawings["fig8"] = plots.parameters(test.rig, sets, "Fig. 8: parameters of a person, SIMULATED")
            drawings["fig9"] = wrench_drawing(test.squats, "Fig. 9: wrench of a person in squats not used, SIMULATED")
        yield table(f"IV.B, Fig. 8: a load on the left arm; {test.squats.noise}", rows), rows
        yield wrench_table(test.squats, "ten squats"), []
        rows = identification_rows(test.squats)
        yield table(f"IV.B: identification from the person's dance; {test.squats.noise}", rows), rows


if __name__ == "__main__":
    sys.exit(main())
