"""In a real `blender -b`, which differs from the bpy module in its signals and its exit: a rehearsal video is kept.

    blender -b --factory-startup --python-exit-code 1 --python tests/addon/real_blender/rehearsal.py [-- FOLDER]

FOLDER holds a rig (`write_rig_file`), where this Blender's own Python lacks the solver's libraries.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
RIG_FILE = "rig.json"


def write_rig_file(folder: Path) -> None:
    """What the script needs from Python with the solver's libraries."""
    from solver.rigs import hoap3
    from solver.scene.rig import write_rig

    write_rig(folder / RIG_FILE, hoap3())


def main(folder: Path) -> None:
    """Fails with an AssertionError, or an error of Blender, where the button loses its video."""
    import bpy

    from addon import registration
    from addon.authoring import keying
    from addon.base.interpreter import blender_interpreter
    from addon.base.solver_api import errors, read_rig
    from addon.jobs import job as jobs
    from addon.rehearsal.rehearse import CHILD_CALL
    from addon.scene import armature

    if not (folder / RIG_FILE).exists():
        write_rig_file(folder)
    if not hasattr(bpy.types.Scene, "exciting_dance"):
        registration.register()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    body = armature.build_armature(bpy.context, read_rig(folder / RIG_FILE))
    scene = bpy.context.scene
    for frame, angle in ((1, 0.0), (13, 0.5), (25, 0.0)):
        scene.frame_set(frame)
        body.pose.bones["left_upper_arm"].rotation_euler.x = angle
        keying.key_posture(scene, body, "preferred")
    settings = scene.exciting_dance_rehearsal
    settings.slow, settings.lead, settings.title_time, settings.rate = 0.0, 0.0, 0.0, 5.0
    settings.width, settings.height = 96, 54
    settings.output = str(folder / "rehearsal.mp4")
    assert bpy.ops.exciting_dance.rehearsal() == {"FINISHED"}
    assert Path(settings.output).stat().st_size > 0

    nowhere = str(folder / "nowhere.blend")
    program = blender_interpreter(CHILD_CALL)
    broken = replace(
        program,
        prefix_arguments=tuple("raise KeyError('broken')" if "sys.path" in w else w for w in program.prefix_arguments),
    )
    for interpreter, wanted in ((program, "nowhere.blend"), (broken, "internal error: KeyError: 'broken'")):
        job = jobs.Job("Rendering", [nowhere, str(folder / "none.mp4")], interpreter)
        job.wait()
        said = ""
        try:
            job.raise_on_failure()
        except errors.SolverError as error:
            said = str(error)
        assert wanted in said, said
        assert "import" not in said, f"the child's command line is no error message: {said}"


if __name__ == "__main__":
    if "--" in sys.argv:
        main(Path(sys.argv[-1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
    print("real Blender: the rehearsal video is kept")
