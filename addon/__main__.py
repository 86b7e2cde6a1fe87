"""``python -m addon DIR``: write DIR/scene.blend and DIR/body.png from a study. Needs the `bpy` package.

``python -m addon rehearse DANCE_FOLDER --output FILE.mp4``: render a video that teaches a dance.
"""

from __future__ import annotations

import argparse
import os
import sys

from .base.solver_api import errors, termination
from .display.study import make_scene
from .rehearsal import command as rehearsal_words


def main() -> int:
    """Run the command; 0 on success, 2 when the folder is missing or damaged."""
    if sys.argv[1:2] == [rehearsal_words.VERB]:
        return rehearsal_words.run(sys.argv[2:], f"python -m addon {rehearsal_words.VERB}")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m addon", description=__doc__, formatter_class=raw, allow_abbrev=False)
    parser.add_argument("folder", help="the --output folder of `python -m solver identify`")
    parser.add_argument("--no-picture", action="store_true", help="write the scene only")
    options = parser.parse_args()
    try:
        for path in make_scene(options.folder, picture=not options.no_picture):
            print(path)
    except errors.SolverError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    termination.end_with_parent(lambda: os._exit(termination.CODE))
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # the exit handlers of Blender 4.5's module sometimes wait forever for one of its threads
    os._exit(code)
