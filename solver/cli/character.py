"""``character``: the rig of a skinned character."""

from __future__ import annotations

import argparse

from ..base.progress import Progress
from .argument_types import by_name, path
from .options import PARTS, add_output_file, add_parts, add_verb

EXPLANATION = """
Blender writes the file: bones, surface and weights in rest pose. Bones are matched to the parts of a person by name
and by the shape of the skeleton; --parts states others.

Examples:
  python -m solver character dancer.npz --mass 62 --output rig.json
  python -m solver character dancer.npz --mass 62 --parts left_thigh=Bone.007 head= --output rig.json
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "character", "make a rig from a skinned character", EXPLANATION, run)
    parser.add_argument("character", type=path, metavar="FILE", help="the character, written by Blender")
    words = "mass of the whole body [kg]; without it, that of its volume and the densities of tables"
    parser.add_argument("--mass", type=float, metavar="KG", help=words)
    add_parts(parser)
    add_output_file(parser, "write the rig there, .json", ".json", required=True)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from ..character.character import CHARACTER
    from ..character.rig import build_character_rig
    from ..formats.text_table import format_inertial_table
    from ..scene.rig import write_rig

    character = CHARACTER.read(options.character)
    progress(0.0, "measuring its volume")
    built = build_character_rig(character, options.mass, by_name(options.parts, *PARTS))
    rig = built.rig
    print(f"{rig.name}: {len(rig.links)} links, {rig.prior.total_mass:.2f} kg\n")
    print(format_inertial_table(rig.prior))
    for part, bone in built.parts.items():
        print(f"{part}: {bone}")
    for note in rig.notes:
        print(f"note: {note}")
    write_rig(options.output, rig)
    print(f"\nwritten: {options.output}")
