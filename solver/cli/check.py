"""``check``: is a dance feasible."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..progress import Progress
from .dances import add_checks, add_dance, check_options, load, verdict
from .options import add_output, add_verb, number

if TYPE_CHECKING:
    from ..feasibility import Checks
    from .dances import Loaded

RATE = 500.0
FEASIBLE, INFEASIBLE = 0, 1
EXPLANATION = """
Checks joint angles, speeds and torques, balance, friction, feet and collisions at every sample, and prints for each
check where it first fails, what fails, and by how much.

With --output, summary.json says the same to Blender and to scripts.
Exit codes: 0 feasible, 1 not feasible, 2 wrong input.

Examples:
  python -m solver check dance.json
  python -m solver check dance.npz --shrink 0.2 --rate 200
  python -m solver check dance.timeline.npz --output checked
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "check", "say whether a dance is feasible, and what fails", EXPLANATION, run)
    add_dance(parser)
    parser.add_argument("--rate", type=number, default=RATE, metavar="HZ", help="samples a second (default: 500)")
    add_checks(parser)
    add_output(parser, required=False)


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Sample, check, tell; the exit code."""
    from ..feasibility import check_motion
    from ..feasibility.sentences import unsupported
    from .words import warn

    progress(0.0, "sampling the dance")
    found = load(options.dance, options.rate)
    progress(0.2, f"checking {len(found.motion)} frames")
    checks = check_motion(found.rig, found.motion, found.schedule, check_options(options, found.shrink))
    hanging = unsupported(found.schedule, checks)
    said = message(checks, hanging)
    if options.output is not None:
        progress(0.9, "writing")
        _write(options, found, checks, said, hanging)
    progress(1.0, "checked")
    warn(checks.notes)
    print(f"{verdict(checks)}\n{said}")
    return FEASIBLE if checks.feasible else INFEASIBLE


def message(checks: Checks, hanging: tuple[str, ...] = ()) -> str:
    """The verdict in one sentence.

    Args:
        checks: of the dance.
        hanging: spans in which nothing carries the body, which explain what else fails there.
    """
    from ..feasibility.sentences import fails, listed, plain_names

    if checks.feasible:
        return "Feasible: every check holds"
    worst = checks.worst_failures
    which = listed(plain_names(failure.check for failure in worst))
    share = f"Not feasible, {100.0 * float(checks.failed.mean()):.3g} % of the frames fail in {which}"
    return f"{share}: {hanging[0] if hanging else fails(worst[0])}"


def _write(
    options: argparse.Namespace, found: Loaded, checks: Checks, said: str, hanging: tuple[str, ...]
) -> None:  # fmt: skip
    from ..dance.workflows.summaries import RATE as EXCITATION_RATE
    from ..dance.workflows.summaries import excitation_of, failures_of, keys_of, ranges_of, strips_of
    from ..formats.folder import write_folder
    from ..scene.summary import NAME, SceneSummary, write_summary

    start, stop = float(checks.times[0]), float(checks.times[-1])
    conditions, deviations = excitation_of(found.rig, load(options.dance, EXCITATION_RATE).motion)
    summary = SceneSummary(
        "check", "feasible" if checks.feasible else "infeasible", checks.feasible, said,
        () if found.keyed is None else keys_of(found.keyed), strips_of(found.schedule, start, stop),
        failures_of(checks), ranges_of(checks), troubles=hanging, notes=checks.notes, excitation=conditions,
        deviation=deviations, duration=stop - start,
    )  # fmt: skip
    with write_folder(options.output) as folder:
        write_summary(folder / NAME, summary)
