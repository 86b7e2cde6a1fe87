"""``find-load``: what was added between two sets of recordings, and where."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from ..base.progress import Progress
from ..options.reading import watched
from ..options.study import LoadOptions, Settings
from .argument_types import add_options, given, path
from .bodies import add_rig
from .foreseen import require_sense
from .options import (
    add_calibration,
    add_output,
    add_plates,
    add_reading,
    add_subject,
    add_verb,
    calibrated,
    read_options,
    settings_of,
)

if TYPE_CHECKING:
    from ..calibration.calibration import Calibration
    from ..skeleton.rig import Rig

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
    add_options(group, LoadOptions)
    add_options(group, Settings, "filter", "jobs")
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    body: Calibration | Rig | None = require_sense(options, options.before, options.after)
    from ..base.progress import halves
    from ..study.recordings import load, require_rates
    from ..workflow.find_load import find_load
    from .printed import warn
    from .words import found_load

    searched = LoadOptions(**given(options, LoadOptions))
    settings = replace(settings_of(options), no_cross_validation=True)
    with watched(read_options(options), (*options.before, *options.after)) as reading:
        before, after = (load(files, reading) for files in (options.before, options.after))
    require_rates((*before, *after), settings)
    first, second = halves(progress)
    if body is None:
        body = calibrated(options, before, first)
    study = find_load(before, after, body, settings=settings, options=searched, progress=second)
    study.write(options.output)
    warn(study.warnings)
    assert study.load is not None
    print(found_load(study.load))
    print(f"\nwritten: {options.output}")
