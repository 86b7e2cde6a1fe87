"""``centroidal``: centre of mass and rate of angular momentum of recorded trials."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from .options import add_output, add_study, add_verb
from .printed import warn

NAMES = ("smoother", "complementary", "causal", "ekf", "fusion", "force", "kinematic")
EXPLANATION = """
Combines motion and forces; the result is better than either alone. STUDY is the folder that `identify` wrote. Its
identified inertial parameters are used with their uncertainty, or with --prior those of the tables.

Methods: `smoother` weighs all sources by their noise (the default); `complementary` is the recursive filter of
bailly2019 with the paper's cut-offs, `causal` the same looking back only; `ekf`, `fusion`, `force` and `kinematic` are
baselines.

Written to DIR, for every trial with forces: NAME.centroidal.csv (centre of mass and its acceleration, angular
momentum and its rate, the contact wrench that they require, and the estimates from motion alone and from the wrench
alone) and NAME.centroidal.npz (the same without loss, with the flights).

Examples:
  python -m solver centroidal results --output centroidal
  python -m solver centroidal results --trial squats --method complementary --output paper
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "centroidal", "estimate centre of mass and momentum rate", EXPLANATION, run)
    add_study(parser)
    parser.add_argument("--method", choices=NAMES, default=NAMES[0], help=f"(default: {NAMES[0]})")
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from ..centroidal.estimate import write_estimates
    from ..centroidal.values import COM, KINEMATIC
    from ..formats.text_table import format_table
    from ..workflow.study import load_study

    study = load_study(options.study)
    found = study.centroidal(method=options.method, trials=options.trial, prior=options.prior, progress=progress)
    write_estimates(options.output, found)
    warn([f"{name}: {note}" for name, estimate in found.items() for note in estimate.notes])
    rows = []
    for name, estimate in found.items():
        moved = estimate.com - estimate.source(KINEMATIC, COM)
        size = 1e3 * (moved**2).mean(axis=0) ** 0.5
        rows.append((name, str(len(estimate)), *(f"{value:.1f}" for value in size)))
    print(format_table(("trial", "frames", "CoM off the kinematic one, RMS x", "y", "z [mm]"), rows))
    print(f"\nwritten: {options.output}")
