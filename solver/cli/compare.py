"""``compare``: identified inertials on trials that were not used."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.progress import Progress
from ..options.study import Settings
from ..values.wrenches import WRENCH_AXES
from .argument_types import add_options, path
from .extensions import find_extensions
from .foreseen import require_forces
from .options import add_output_file, add_plates, add_recordings, add_verb, plate_options, read_options

if TYPE_CHECKING:
    from ..identification.comparison import Comparison

COLUMNS = (
    "RMSE identified", "RMSE prior", "RMSE prior without weights",
    "CC identified", "CC prior", "CC prior without weights",
)  # fmt: skip
EXPLANATION = """
Reconstructs the forces and moments of further trials with the identified parameters and with the prior, and prints root
mean square error per axis and their ratios. Each of the two has frequency weights of its own, estimated from the
training trials; a third row shows the prior without weights. The rig is that of the results: of a robot the trials hold
joint coordinates, of a person markers.

Of a fixed-base robot (`identify-fixed-base`) each trial is a file of joint coordinates and one of torques or forces;
the drives are those of the identification.

Examples:
  python -m solver compare results walk2.trc walk2.mot
  python -m solver compare robot_results second_angles.csv second_wrenches.csv
  python -m solver compare arm second_run.csv second_torques.csv
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "compare", "test identified inertials on further trials", EXPLANATION, run)
    parser.add_argument("result", type=path, metavar="DIR", help="the --output of `identify` or `identify-fixed-base`")
    add_recordings(parser)
    add_options(parser, Settings, "planted_foot", "jobs")
    add_plates(parser)
    add_output_file(parser, "write the table there as CSV")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from ..storage.json_tree import to_json_values
    from ..study.recordings import load
    from ..workflow.study import load_study
    from .printed import warn
    from .words import compared

    if any(extension.compare(options) for extension in find_extensions()):
        return
    study = load_study(options.result)
    settings = Settings(jobs=options.jobs, planted_foot=options.planted_foot, plates=plate_options(options))
    recordings = load(options.files, read_options(options))
    require_forces(recordings)
    found, warnings = study.compare(recordings, settings, progress)
    if options.output is not None:
        write_comparisons(options.output, found)
    warn(warnings)
    print(compared(found))
    options.found = {"comparisons": to_json_values(found)}


def write_comparisons(path: Path, comparisons: Sequence[Comparison]) -> None:
    """RMSE and correlation per trial and axis as CSV, whole or not at all."""
    from ..storage.atomic import write_atomically

    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["trial", "used", "frames", "axis", "unit", *COLUMNS])
        for c in comparisons:
            fits = (c.identified, c.prior, c.unweighted_prior)
            columns = [getattr(fit, name) for name in ("rmse", "correlation") for fit in fits]
            for axis, name in enumerate(WRENCH_AXES):
                values = [f"{float(column[axis]):.9g}" for column in columns]
                unit = "N" if name.startswith("F") else "N m"
                writer.writerow([c.trial, "yes" if c.used else "no", c.frames, name, unit, *values])
