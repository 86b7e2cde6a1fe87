"""``rig``: show a rig, or write it as URDF."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..progress import Progress
from .options import SEXES, add_verb, number

EXPLANATION = """
Prints every link with its mass, centre of mass and inertia as believed before any measurement.

Examples:
  python -m solver rig human --height 1.75 --mass 70 --sex female
  python -m solver rig hrp2
  python -m solver rig robot.urdf --packages robots/
  python -m solver rig human --height 1.75 --mass 70 --sex male --output person.urdf
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "rig", "show a built-in rig or a URDF, or write it as URDF", EXPLANATION, run)
    parser.add_argument("body", metavar="BODY", help="human, hoap3, hrp2, or a .urdf file")
    parser.add_argument("--height", type=number, metavar="M", help="stature of a human in metres")
    parser.add_argument("--mass", type=number, metavar="KG", help="mass of a human or of hrp2 in kg")
    parser.add_argument("--sex", choices=SEXES, help="of a human: chooses the table of segment inertias")
    parser.add_argument("--variant", help="of a human: 34dof (15 segments) or 23dof (12 segments)")
    parser.add_argument("--table", help="of a human: dumas or deleva")
    parser.add_argument("--payload", help="of hoap3: what it carries")
    parser.add_argument(
        "--packages", nargs="+", default=(), metavar="DIR", help="of a URDF: folders that package:// paths start from"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the rig there as URDF")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Build, print, and write if asked to."""
    from ..rigs import build
    from .tables import inertial_table

    rig = build(_parameters(options))
    print(f"{rig.name}: {len(rig.links)} links, {rig.model.nv - 6} joint degrees of freedom, ", end="")
    print(f"{rig.prior.total_mass:.2f} kg\n")
    print(inertial_table(rig.prior))
    for note in rig.notes:
        print(f"note: {note}")
    if options.output is not None:
        from ..io.urdf_writer import write_urdf

        write_urdf(rig, options.output)
        print(f"\nwritten: {options.output}")


def _parameters(options: argparse.Namespace) -> dict[str, object]:
    if Path(options.body).suffix.lower() == ".urdf":
        return {"kind": "urdf", "path": options.body, "packages": tuple(options.packages)}
    given = {name: getattr(options, name) for name in ("height", "mass", "sex", "variant", "table", "payload")}
    return {"kind": options.body} | {name: value for name, value in given.items() if value is not None}
