"""``rig``: show a rig, or write it as URDF or as the description that Blender draws."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..base.progress import Progress
from .argument_types import path
from .bodies import add_body, body_of
from .options import add_output_file, add_verb

SUFFIXES = (".urdf", ".json")
EXPLANATION = """
Prints every link with its mass, centre of mass and inertia of the prior.

Examples:
  python -m solver rig human --height 1.75 --mass 70 --sex female
  python -m solver rig hrp2
  python -m solver rig robot.urdf --packages robots/
  python -m solver rig robot.urdf --srdf robot.srdf --feet left_sole right_sole --output robot.json
  python -m solver rig human --height 1.75 --mass 70 --sex male --output person.urdf
  python -m solver rig hoap3 --output hoap3.json
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "rig", "show a built-in rig or a URDF, or write it to a file", EXPLANATION, run)
    add_body(parser)
    add_output_file(parser, "write the rig there: .urdf, or .json for Blender", *SUFFIXES)
    words = "write there how it stands, a pose that keeps every check, for Blender; nothing where it cannot"
    parser.add_argument("--standing", type=path, metavar="FILE", help=words)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from ..formats.text_table import format_inertial_table
    from ..formats.urdf_writer import write_urdf
    from ..scene.rig import write_rig

    output: Path | None = options.output
    suffix = output.suffix.lower() if output is not None else ""
    progress(0.0, "building the rig")
    rig = body_of(options)
    print(f"{rig.name}: {len(rig.links)} links, {rig.nv - 6} joint degrees of freedom, ", end="")
    print(f"{rig.prior.total_mass:.2f} kg\n")
    print(format_inertial_table(rig.prior))
    for note in rig.notes:
        print(f"note: {note}")
    if output is not None:
        write_rig(output, rig) if suffix == ".json" else write_urdf(rig, output)
        print(f"\nwritten: {output}")
    if options.standing is not None:
        from ..dance.workflows.standing_posture import find_standing_posture
        from ..scene.motion_record import MOTION

        if (record := find_standing_posture(rig)) is not None:
            MOTION.write(options.standing, record)
