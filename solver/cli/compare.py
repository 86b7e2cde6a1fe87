"""``compare``: identified inertials on trials that were not used."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidValue
from ..progress import Progress
from .options import add_recordings, add_verb, read_options
from .words import AXES

if TYPE_CHECKING:
    from ..identification.comparison import Comparison

COLUMNS = ("RMSE identified", "RMSE prior", "CC identified", "CC prior")
EXPLANATION = """
Reconstructs the forces and moments of further trials with the identified parameters and with the prior, and prints root
mean square error and correlation per axis for both.

Example:
  python -m solver compare results walk2.trc walk2.mot
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "compare", "test identified inertials on further trials", EXPLANATION, run)
    parser.add_argument("result", type=Path, metavar="DIR", help="the --output of `identify`")
    add_recordings(parser)
    parser.add_argument("--jobs", type=int, metavar="N", help="processes at once (default: joblib's)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table there as CSV")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Compare and tell."""
    from ..calibration.calibration_file import read_calibration
    from ..identification.comparison import compare
    from ..identification.result_file import read_result
    from ..inertials import InertialParameters
    from ..progress import Part
    from ..scene.study_folder import CALIBRATION_FILE, RESULT_FILE
    from ..signals import preset_of
    from ..study import pipeline
    from ..study.preparation import prepare
    from .words import compared, warn

    result = read_result(options.result / RESULT_FILE)
    calibration = read_calibration(options.result / CALIBRATION_FILE)
    identified, prior = (InertialParameters(result["links"], result[name]) for name in ("parameters", "prior"))
    recordings = pipeline.load(options.files, read_options(options))
    records = pipeline.track_all(calibration, recordings, jobs=options.jobs, progress=Part(progress, 0.0, 0.9))
    rig = calibration.rig.with_prior(prior)
    preset = preset_of(result["settings"]["preset"])
    prepared = prepare(rig, [r for r in records if r.tracked], preset, stated_mass=prior.total_mass)
    used = set(result["trials"])
    found = [
        compare(rig, r.trial, identified, prior, used=r.name in used, base=result["base_link"])
        for r in prepared.records
        if r.trial is not None and r.trial.counted.any()
    ]
    if not found:
        raise InvalidValue("no trial has markers, forces and a frame that counts")
    if options.output is not None:
        write_comparisons(options.output, found)
    warn(prepared.warnings)
    print(compared(found))


def write_comparisons(path: Path, comparisons: Sequence[Comparison]) -> None:
    """RMSE and correlation per trial and axis as CSV, whole or not at all."""
    from ..formats.atomic import write_atomically

    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["trial", "used", "frames", "axis", "unit", *COLUMNS])
        for c in comparisons:
            columns = (c.identified.rmse, c.prior.rmse, c.identified.correlation, c.prior.correlation)
            for axis, name in enumerate(AXES):
                values = [f"{float(column[axis]):.9g}" for column in columns]
                unit = "N" if name.startswith("F") else "N m"
                writer.writerow([c.trial, "yes" if c.used else "no", c.frames, name, unit, *values])
