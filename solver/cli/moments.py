"""``moments``: joint moments of recorded trials by inverse dynamics."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from .options import add_output, add_study, add_verb
from .printed import warn

EXPLANATION = """
Inverse dynamics: what moment each joint had to produce, from the motion, the measured contact wrenches and the
identified inertial parameters, with 95 % intervals from the errors of parameters, motion and plates. STUDY is the
folder that `identify` wrote. Each plate's force acts on the foot that is on it. Moments of a person are those of the
anatomical joint angles (hip_flexion_r), positive in the direction that increases them. Of an OpenSim model they are
those of its own coordinates, with their moving axes, as OpenSim's inverse dynamics gives them.

What the measured wrenches leave over appears at the root: the residual force and moment, reported for every trial.
Frames with unmeasured contacts have no moments; a plate that carries both feet leaves those of the legs open.

Written to DIR, for every trial with forces: NAME.moments.csv (of each coordinate the moment [N m], the same per kg
[N m/kg], and its interval; the residual) and NAME.moments.npz for Blender; and moments.html.

Examples:
  python -m solver moments results --output moments
  python -m solver moments results --trial walk1 walk2 --output moments
  python -m solver moments results --prior --output moments_of_tables
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "moments", "compute joint moments of trials by inverse dynamics", EXPLANATION, run)
    add_study(parser)
    parser.add_argument("--feet", metavar="LINK", nargs="+", default=(), help="links that touch the plates")
    add_output(parser)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from ..formats.text_table import format_table
    from ..report.moments_page import write_moments
    from ..scene.study_folder import MOMENTS_PAGE
    from ..workflow.study import load_study

    study = load_study(options.study)
    found = study.moments(trials=options.trial, prior=options.prior, feet=options.feet, progress=progress)
    write_moments(options.output, found)
    warn([f"{name}: {note}" for name, moments in found.items() for note in moments.notes])
    for name, moments in found.items():
        rows = [
            (coordinate, *(f"{value:.3f}" for value in row)) for coordinate, row in zip(moments.names, moments.peaks)
        ]
        print(format_table((f"{name} [N m/kg]", "least", "greatest", "± 95 %"), rows))
        (force, moment), (peak_force, peak_moment) = moments.residual_rms, moments.residual_peak
        print(
            f"residual at the root: force {force:.1f} N RMS, {peak_force:.1f} N peak; "
            f"moment {moment:.2f} N m RMS, {peak_moment:.2f} N m peak\n"
        )
    print(f"written: {options.output}, the page is {options.output / MOMENTS_PAGE}")
