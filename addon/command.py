"""``blender --command exciting_dance VERB ...``: the solver's verbs, then scene and picture (not with --no-picture).

``rehearse DANCE_FOLDER --output FILE.mp4`` renders a video to learn a dance from, in this Blender itself.
"""

from __future__ import annotations

import subprocess
import sys

import bpy

from .authoring.dances import make_dance_scene
from .interpreter import chosen
from .rehearsal import words as rehearsal_words
from .study import make_scene
from .values import errors

NAME = "exciting_dance"
NO_PICTURE = "--no-picture"
WITH_SCENE = ("identify", "track", "dance")
_handles: list = []


def run(arguments: list[str]) -> int:
    """Run a verb in a child process, and make the scene of the study or dance that it made. The child's exit code."""
    if arguments[:1] == [rehearsal_words.VERB]:
        return rehearsal_words.run(arguments[1:], f"blender --command {NAME} {rehearsal_words.VERB}")
    picture = NO_PICTURE not in arguments
    arguments = [word for word in arguments if word != NO_PICTURE]
    solver = chosen(bpy.context)
    done = subprocess.run(solver.command(arguments or ["--help"]), env=solver.environment, check=False)
    folder = _output(arguments)
    if done.returncode or not arguments or arguments[0] not in WITH_SCENE or folder is None:
        return done.returncode
    try:
        make = make_dance_scene if arguments[0] == "dance" else make_scene
        for path in make(folder, picture=picture and arguments[0] != "track"):
            if path is not None:
                print(path)
    except errors.SolverError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def register() -> None:
    """Tell Blender's command line."""
    _handles.append(bpy.utils.register_cli_command(NAME, run))


def unregister() -> None:
    """Take it back."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())


def _output(arguments: list[str]) -> str | None:
    for index, word in enumerate(arguments):
        if word == "--output" and index + 1 < len(arguments):
            return arguments[index + 1]
        if word.startswith("--output="):
            return word.partition("=")[2]
    return None
