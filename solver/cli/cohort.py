"""``cohort``: every subject of a folder, and one page for all."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..base.progress import Progress
from ..options.study import CohortOptions, Settings
from .argument_types import add_options, given, path
from .exit_codes import INCOMPLETE, OK
from .options import add_plates, add_reading, add_verb, read_options, settings_of

if TYPE_CHECKING:
    from ..report.cohort_content import CohortMember

EXPLANATION = """
Identifies every subject of a study, each into a folder of its own, and writes cohort.html, cohort.csv and cohort.json
for all. FOLDER holds one folder per subject (sub-01, sub-02 ... as of BIDS; else every folder in it) and a table
participants.tsv or subjects.csv with one row per subject: its name, sex, and if known height and mass. The
static trial is found automatically.

A subject that fails does not stop the others; the page gives the reason. A second run keeps the results of subjects
whose files, options and program did not change, so a stopped run can be resumed. Exit code 1: some subjects failed.

Examples:
  python -m solver cohort study --output results
  python -m solver cohort study --output results --jobs -1
  python -m solver cohort study --output results --backend dask
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "cohort", "identify every subject of a folder, with one page for all", EXPLANATION, run)
    parser.add_argument("folder", type=path, metavar="FOLDER", help="of the study: one folder a subject, or BIDS")
    add_reading(parser)
    add_plates(parser)
    group = parser.add_argument_group("identification")
    add_options(group, CohortOptions)
    add_options(group, Settings, without=("planted_foot", "flight_only"))
    group.add_argument(
        "--backend",
        choices=("loky", "dask", "ray"),
        default="loky",
        help="where the work runs: processes on this machine (default), a Dask "
        "cluster (DASK_SCHEDULER_ADDRESS, else one is "
        "started here) or a Ray cluster",
    )
    parser.add_argument("--output", type=path, required=True, metavar="DIR", help="folder for all results")


def run(options: argparse.Namespace, progress: Progress) -> int:
    """Run the verb; returns 1 if a subject failed."""
    import sys

    from ..cohorts.run import cohort
    from ..formats.text_table import format_table
    from ..report.cohort_page import COHORT_PAGE

    found = cohort(
        options.folder,
        options.output,
        settings=settings_of(options),
        read=read_options(options),
        **given(options, CohortOptions),
        backend=options.backend,
        progress=progress,
    )
    rows = [
        (
            member.name,
            f"{member.mass:.2f}",
            *(_beside_prior(member, axes) for axes in (slice(0, 3), slice(3, 6))),
            f"{member.mean_ratio:.2f}",
            f"{1e3 * member.marker_error:.1f}",
            str(len(member.warnings)),
            "now" if member.is_new else "before",
        )
        for member in found.members
    ]
    if rows:
        head = ("subject", "mass [kg]", "force [N]", "moment [N m]", "ratio", "markers [mm]", "warnings", "made")
        print(format_table(head, rows))
        print("\nforce and moment: RMSE on trials not used, mean of axes, identified (prior, prior without weights)")
        print("ratio: identified / prior, each with frequency weights of its own, mean of six axes")
    for item in found.failed:
        print(f"failed: {item.name}: {item.reason}", file=sys.stderr)
    print(f"\nwritten: {options.output}, the page is {options.output / COHORT_PAGE}")
    return INCOMPLETE if found.failed else OK


def _beside_prior(member: CohortMember, axes: slice) -> str:
    """RMSE, mean of some axes, and in brackets the prior's with and without frequency weights."""
    ours, prior, unweighted = (
        f"{rmse[axes].mean():.1f}" for rmse in (member.rmse, member.prior_rmse, member.unweighted_rmse)
    )
    return f"{ours} ({prior}, {unweighted})"
