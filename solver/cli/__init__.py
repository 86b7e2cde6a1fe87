"""Words of a command line in, calls of the library and printed results out; one file per verb.

`exit_codes` says what the exit codes mean.
"""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from ..base.errors import Cancelled, SolverError
from ..base.standard_streams import robust_streams, write_error
from ..base.termination import CODE as STOPPED
from ..base.termination import NOTHING
from ..version import __version__
from .exit_codes import OK, WRONG_INPUT
from .extensions import find_extensions
from .options import AS_WRITTEN, PROGRESS, Paragraphs, Parser, outputs
from .printed import JSON, captured, print_failure, print_result
from .settings_file import apply_settings_file, find_settings_file

CLOSED_PIPE = (errno.EPIPE, errno.EINVAL)
"""Errors of an output whose reader has closed it, as ``head`` does; not a failure."""
VERB_MODULES: list[str] = [
    "demo",
    "samples",
    "rig",
    "character",
    "markers",
    "calibrate",
    "track",
    "identify",
    "cohort",
    "compare",
    "centroidal",
    "moments",
    "find_load",
    "retarget",
    "dance",
    "check",
    "repair",
    "complete",
    "slow",
    "export",
    "perform",
    "live",
    "capture",
    "replay",
    "completion",
]
"""One row per verb: the module of this package whose function ``add`` puts it on the command line."""

DESCRIPTION = """
From a recording of a person or robot to the mass, centre of mass and inertia of every link.

Start here:
  python -m solver demo --output out
      a labelled simulation through the whole chain; needs no data
  python -m solver samples samples
      simulated recordings, and the commands to try on them
  python -m solver identify squats.trc squats.mot static.trc static.mot --height 1.75 --mass 70 --sex male --output out
      one subject: markers and force plates in, identified inertials and a report out

Help on a verb: python -m solver identify --help

Exit codes:
  0    what was requested was delivered
  1    results are written, and are not all that was requested: not feasible, fewer postures, not repaired, subjects
       that failed; "status" in summary.json says which. Or a defect of this program, with a traceback
  2    wrong input or arguments, or an output that cannot be written
  130  stopped; nothing half-written is left
"""


def parser(settings: Path | None = None, verb: str | None = None) -> argparse.ArgumentParser:
    """The command line; a settings file replaces the defaults of its verb.

    Args:
        settings: file of a run's settings.
        verb: the only one that is needed; None, or a name that is not in `VERB_MODULES`, gives all verbs.

    Raises:
        InputError: the settings file cannot be used.
    """
    result = Parser(prog=AS_WRITTEN, description=DESCRIPTION, formatter_class=Paragraphs)
    result.add_argument("--version", action="version", version=f"exciting_dance {__version__}")
    verbs = result.add_subparsers(title="verbs", metavar="VERB", dest="verb", required=True)
    for module in find_verbs(verb):
        module.add(verbs)
    if settings is not None and verb in verbs.choices:
        apply_settings_file(verbs.choices[verb], settings)
    return result


def find_verbs(verb: str | None = None) -> Iterator[ModuleType]:
    """Modules of all verbs, or of the named one alone if it is in `VERB_MODULES`."""
    own = None if verb is None else verb.replace("-", "_")
    for name in [own] if own in VERB_MODULES else VERB_MODULES:
        yield import_module(f".{name}", __package__)
    if own not in VERB_MODULES:
        for extension in find_extensions():
            yield from extension.VERBS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; the exit code."""
    with robust_streams():
        code = _run(arguments)
        if (why := write_error(sys.stdout)) is not None and why.errno not in CLOSED_PIPE and code != STOPPED:
            print(f"error: the standard output cannot be written: {why.strerror}", file=sys.stderr)
            return WRONG_INPUT
        return code


def _run(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = parser(find_settings_file(words), next(iter(words), None)).parse_args(words)
        shown = "none" if options.quiet else options.progress
        with outputs(options), PROGRESS[shown]() as progress, captured(options) as report:
            code = options.run(options, progress)
    except Cancelled as error:
        return _failed(words, STOPPED, f"\n{error}")
    except KeyboardInterrupt:
        return _failed(words, STOPPED, f"\n{NOTHING}")
    except SolverError as error:
        return _failed(words, WRONG_INPUT, f"error: {' '.join(str(error).split())}")
    code = OK if code is None else int(code)
    if options.json:
        print_result(options, code, report.getvalue())
    return code


def _failed(words: Sequence[str], code: int, message: str) -> int:
    print(message, file=sys.stderr)
    if JSON in words:
        print_failure(next(iter(words), None), code, message.removeprefix("error: ").strip())
    return code
