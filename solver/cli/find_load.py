"""``find-load``: what was added between two sets of recordings, and where."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..progress import Progress
from .argument_types import count, not_negative, path
from .bodies import add_rig
from .foreseen import require_sense
from .options import (
    add_calibration,
    add_filter,
    add_jobs,
    add_output,
    add_plates,
    add_reading,
    add_subject,
    add_verb,
    plate_options,
    read_options,
    subject,
)

if TYPE_CHECKING:
    from ..calibration.calibration import Calibration
    from ..rig import Rig

EXPLANATION = """
Compares recordings of the same person or robot without and with a load. Reports its mass, the most likely links that
carry it, and every other link, or links that share it, that the data do not exclude at 95 %. Errors that both sets
share cancel. An offset of the plates between the two sets looks like a load: zero the plates before both. Writes what
`identify` writes for the recordings without load, with the load in report.html and result.json.

Examples:
  python -m solver find-load --before bare/ --after belt/ --height 1.75 --sex male --output out
  python -m solver find-load --before empty_angles.csv empty_wrenches.csv --after full_angles.csv full_wrenches.csv \
--rig hoap3 --output out
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "find-load", "find what was added between recordings, and where", EXPLANATION, run)
    for name, words in (("before", "recordings, or folders of them, without the load"), ("after", "with it")):
        parser.add_argument(f"--{name}", nargs="+", type=path, required=True, metavar="FILE", help=words)
    add_reading(parser)
    add_subject(parser, required=False)
    add_calibration(parser)
    add_rig(parser)
    add_plates(parser)
    group = parser.add_argument_group("load")
    group.add_argument(
        "--max-links", type=count, metavar="N", help="largest number of links that carry a load (default: 3)"
    )
    group.add_argument(
        "--candidates", nargs="+", default=(), metavar="LINK", help="links that may carry the load (default: all)"
    )
    group.add_argument(
        "--margin",
        type=not_negative,
        metavar="M",
        help="distance by which the load may extend beyond its link (default: 0.05)",
    )
    add_filter(group)
    add_jobs(group)
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    body: Calibration | Rig | None = require_sense(options, options.before, options.after)
    from ..calibration.calibration import CALIBRATION
    from ..identification.added_load import LoadOptions
    from ..progress import PartialProgress
    from ..report.study_folder import write_study
    from ..study.find_load import find_load
    from ..study.recordings import load, require_rates
    from ..study.subject_calibration import calibrate
    from ..study.values import Settings
    from .words import found_load, warn

    if body is None and options.calibration is not None:
        body = CALIBRATION.read(options.calibration)
    person = subject(options) if body is None else None
    given = {name: getattr(options, name) for name in ("max_links", "margin") if getattr(options, name) is not None}
    searched = LoadOptions(candidates=tuple(options.candidates), **given)
    settings = Settings(
        preset=options.filter,
        cross_validate=False,
        jobs=options.jobs,
        standing=options.planted_foot,
        plates=plate_options(options),
    )
    before, after = (load(files, read_options(options)) for files in (options.before, options.after))
    require_rates((*before, *after), settings)
    if person is not None:
        body = calibrate(before, **person, progress=PartialProgress(progress, 0.0, 0.3))
    assert body is not None
    study = find_load(
        before, after, body, settings=settings, options=searched, progress=PartialProgress(progress, 0.3, 0.97)
    )
    write_study(options.output, study)
    progress(1.0, "done")
    warn(study.warnings)
    assert study.load is not None
    print(found_load(study.load))
    print(f"\nwritten: {options.output}")
