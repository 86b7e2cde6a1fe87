"""``blender --command exciting_dance VERB ...``: runs a solver verb, then writes scene and picture of its results.

``--no-picture`` writes the scene only.

``rehearse DANCE_FOLDER --output FILE.mp4`` renders a video that teaches a dance, in this Blender.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bpy

from ..base.interpreter import chosen_interpreter
from ..base.solver_api import dance_folder, errors

NAME = "exciting_dance"
NO_PICTURE = "--no-picture"
INCOMPLETE = 1
"""Exit code of a verb that wrote less than was requested, such as a partial dance, or that crashed."""
SCENE_VERBS = ("identify", "track", "dance")
_handles: list = []


def run(arguments: list[str]) -> int:
    """Run a verb in a child process and write the scene of its study or dance, also of a partial dance.

    Returns:
        the child's exit code, or 2 if the scene cannot be written.
    """
    from ..authoring.dance_import import make_dance_scene
    from ..display.study import make_scene
    from ..rehearsal import command as rehearsal_words

    if arguments[:1] == [rehearsal_words.VERB]:
        return rehearsal_words.run(arguments[1:], f"blender --command {NAME} {rehearsal_words.VERB}")
    picture = NO_PICTURE not in arguments
    arguments = [word for word in arguments if word != NO_PICTURE]
    solver = chosen_interpreter(bpy.context)
    folder = _output_folder(arguments)
    before = _summary_time(folder)
    done = subprocess.run(solver.command(arguments or ["--help"]), env=solver.environment, check=False)
    partial = done.returncode == INCOMPLETE and _summary_time(folder) != before
    if (done.returncode and not partial) or not arguments or arguments[0] not in SCENE_VERBS or folder is None:
        return done.returncode
    try:
        make = make_dance_scene if arguments[0] == "dance" else make_scene
        for path in make(folder, picture=picture and arguments[0] != "track"):
            print(path)
    except errors.SolverError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return done.returncode


def register() -> None:
    """Register the command with Blender."""
    _handles.append(bpy.utils.register_cli_command(NAME, run))


def unregister() -> None:
    """Unregister the command."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())


def _summary_time(folder: str | None) -> int | None:
    """Time of change [ns] of the summary in a folder; None without one."""
    path = Path(folder or "") / dance_folder.SUMMARY_FILE
    return path.stat().st_mtime_ns if folder is not None and path.exists() else None


def _output_folder(arguments: list[str]) -> str | None:
    for index, word in enumerate(arguments):
        if word == "--output" and index + 1 < len(arguments):
            return arguments[index + 1]
        if word.startswith("--output="):
            return word.partition("=")[2]
    return None
