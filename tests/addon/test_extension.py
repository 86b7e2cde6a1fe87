"""The extension in Blender: manifest, registration, operators, jobs."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import bpy
import pytest

from addon import registration
from addon.base.interpreter import Interpreter, build_environment
from addon.base.process_errors import describe_failure
from addon.jobs.job import END_TIMEOUT, Job
from addon.operators.rigs import rig_arguments
from solver.base.errors import BackendError, Cancelled
from solver.version import __version__
from tests.formats.recording_files import MARKERS, STANDING, standing_trc

ROOT = Path(__file__).resolve().parent.parent.parent


def test_root_file_does_not_import_blender() -> None:
    """Tools without Blender can import the root file, which imports nothing by itself."""
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    assert not [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]


def test_manifest_follows_blenders_rules() -> None:
    """The tagline is short and has no full stop, the version is the package's, and permissions cover files and
    loopback.
    """
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert len(manifest["tagline"]) <= 64
    assert not manifest["tagline"].endswith(".")
    assert manifest["version"] == __version__
    assert set(manifest["permissions"]) == {"files", "network"}
    assert all(len(words) <= 64 and not words.endswith(".") for words in manifest["permissions"].values())


def test_unregistering_leaves_nothing_behind(empty_scene: None) -> None:
    """After unregistering, Blender has no settings and operators of the add-on; registering again works."""
    for _ in range(2):
        registration.register()
        assert bpy.context.scene.exciting_dance.kind == "human"
        assert "import_rig" in dir(bpy.ops.exciting_dance)
        registration.unregister()
        assert not hasattr(bpy.context.scene, "exciting_dance")


def test_all_classes_are_registered(registered: None) -> None:
    """All classes are registered; a broken one would only print an error."""
    for cls in registration.CLASSES:
        is_gizmo_group = issubclass(cls, bpy.types.GizmoGroup)  # has no such attribute
        assert "bl_rna" in cls.__dict__ if is_gizmo_group else cls.is_registered, cls.__name__


def test_subject_settings_become_arguments(registered: None) -> None:
    """The settings of the subject become arguments of the verb."""
    settings = bpy.context.scene.exciting_dance
    settings.height, settings.mass, settings.sex = 1.62, 58.5, "female"
    words = rig_arguments("human", settings)
    assert words == ["rig", "human", "--height", "1.62", "--mass", "58.5", "--sex", "female"]


def test_mesh_packages_are_found_in_the_chosen_folder(registered: None, tmp_path: Path) -> None:
    """Meshes of package:// paths are found in the chosen folder; files without such paths get no such option."""
    settings = bpy.context.scene.exciting_dance
    settings.packages, settings.up = str(tmp_path), "y"
    assert rig_arguments("urdf", settings, "/r.urdf") == ["rig", "/r.urdf", "--up", "y", "--packages", str(tmp_path)]
    assert rig_arguments("urdf", settings, "/r.xml") == ["rig", "/r.xml"]
    settings.packages = ""
    assert rig_arguments("urdf", settings, "/r.urdf") == ["rig", "/r.urdf", "--up", "y"]


def child(tmp_path: Path, program: str, patience: float = END_TIMEOUT) -> Job:
    """A job that runs the given program in place of the solver package."""
    package = tmp_path / "solver"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(program, encoding="utf-8")
    return Job("Testing", [], Interpreter(sys.executable, build_environment([str(tmp_path)])), end_timeout=patience)


def test_job_reads_progress(tmp_path: Path) -> None:
    """JSON lines on stdout become fraction and message; other output is ignored."""
    job = child(tmp_path, 'print("a table")\nprint(\'{"fraction": 0.25, "message": "tracking"}\')')
    job.wait()
    job.raise_on_failure()
    assert (job.fraction, job.message) == (0.25, "tracking")


def test_failed_child_reports_its_error(tmp_path: Path) -> None:
    """The error is the child's own message, not an exit code."""
    job = child(tmp_path, 'import sys\nprint("error: a.trc, line 3: short row.", file=sys.stderr)\nsys.exit(2)')
    job.wait()
    with pytest.raises(BackendError, match=r"^a\.trc, line 3: short row\.$"):
        job.raise_on_failure()


def test_cancelling_ends_the_child(tmp_path: Path) -> None:
    """A cancelled job ends its child, even if the child ignores SIGTERM, and reports it."""
    program = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('on', flush=True)\ntime.sleep(60)"
    )
    job = child(tmp_path, program)
    job.end()
    assert not job.running
    with pytest.raises(Cancelled):
        job.raise_on_failure()


def test_a_recording_stands_in_the_scene(registered: None, tmp_path: Path) -> None:
    """A TRC of a person: a ball for every marker, each at its height."""
    standing_trc(tmp_path / "standing.trc")
    assert bpy.ops.exciting_dance.import_recording(directory=str(tmp_path), files=[{"name": "standing.trc"}]) == {
        "FINISHED"
    }
    balls = [item for item in bpy.data.objects if "exciting_dance_recording" in item]
    assert len(balls) == len(MARKERS)
    bpy.context.scene.frame_set(2)
    assert sorted(ball.location.z for ball in balls) == pytest.approx(sorted(STANDING[:, 2]), abs=1e-5)


BLENDER_S = """Traceback (most recent call last):
  File "<string>", line 1, in <module>
    signal.signal(number, handler)
    ~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^
TypeError: signal handler must be signal.SIG_IGN

Error: script failed, expr: 'import sys; sys.path.insert(0, "a"); from addon import b', exiting.
Blender quit"""


@pytest.mark.parametrize(
    ("lines", "code", "words"),
    [
        (BLENDER_S, 2, "internal error: TypeError: signal handler must be signal.SIG_IGN"),
        ("a warning\nerror: a.trc, line 3: short row.\nUse another.", 2, "a.trc, line 3: short row. Use another."),
        ("Error: script failed, expr: 'import sys', exiting.", 2, "ended with code 2"),
        ("", 3, "ended with code 3"),
    ],
)
def test_command_line_is_not_part_of_the_error_message(lines: str, code: int, words: str) -> None:
    """The error of a failed child contains its own message, but never the script that it was started with."""
    assert describe_failure(lines.splitlines(), code) == words
