"""The extension as Blender sees it: manifest, registering, operators against functions, jobs."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import bpy
import pytest

from addon import registration
from addon.interpreter import Interpreter, build_environment
from addon.jobs import END_TIMEOUT, Job
from addon.operators.rigs import rig_arguments
from addon.process_errors import describe_failure
from solver.errors import BackendError, Cancelled
from solver.version import VERSION

ROOT = Path(__file__).resolve().parent.parent.parent


def test_root_file_imports_nothing_of_blender() -> None:
    """Tools without Blender may import the root: it imports nothing on its own."""
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    assert not [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]


def test_manifest_says_what_blender_s_rules_ask() -> None:
    """Tagline short and without a full stop, version as the package's, permissions for files and the loopback."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert len(manifest["tagline"]) <= 64
    assert not manifest["tagline"].endswith(".")
    assert manifest["version"] == VERSION
    assert set(manifest["permissions"]) == {"files", "network"}
    assert all(len(words) <= 64 and not words.endswith(".") for words in manifest["permissions"].values())


def test_registering_twice_and_back_leaves_nothing(empty_scene: None) -> None:
    """After unregistering, Blender knows neither settings nor operators; registering again works."""
    for _ in range(2):
        registration.register()
        assert bpy.context.scene.exciting_dance.kind == "human"
        assert "import_rig" in dir(bpy.ops.exciting_dance)
        registration.unregister()
        assert not hasattr(bpy.context.scene, "exciting_dance")


def test_every_operator_and_panel_is_known(registered: None) -> None:
    """All classes arrived: a broken one would only have printed."""
    for cls in registration.CLASSES:
        assert getattr(cls, "is_registered", False), cls.__name__


def test_a_subject_becomes_the_words_of_the_verb(registered: None) -> None:
    """The interface says to the solver what the user set."""
    settings = bpy.context.scene.exciting_dance
    settings.height, settings.mass, settings.sex = 1.62, 58.5, "female"
    words = rig_arguments("human", settings, "")
    assert words == ["rig", "human", "--height", "1.62", "--mass", "58.5", "--sex", "female"]


def test_a_robot_s_packages_are_looked_for_where_the_panel_says(registered: None, tmp_path: Path) -> None:
    """Meshes of package:// paths are found in the chosen folder; a file that knows none is not asked for them."""
    settings = bpy.context.scene.exciting_dance
    settings.packages, settings.up = str(tmp_path), "y"
    assert rig_arguments("urdf", settings, "/r.urdf") == ["rig", "/r.urdf", "--up", "y", "--packages", str(tmp_path)]
    assert rig_arguments("urdf", settings, "/r.xml") == ["rig", "/r.xml"]
    settings.packages = ""
    assert rig_arguments("urdf", settings, "/r.urdf") == ["rig", "/r.urdf", "--up", "y"]


def test_passes_are_odd(registered: None) -> None:
    """A dance that went back and not forth again would end elsewhere: an even number becomes the next odd one."""
    settings = bpy.context.scene.exciting_dance_dance
    for given, kept in ((1, 1), (2, 3), (3, 3), (8, 9)):
        settings.passes = given
        assert settings.passes == kept


def child(tmp_path: Path, program: str, patience: float = END_TIMEOUT) -> Job:
    """A job whose solver package is the given program."""
    package = tmp_path / "solver"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(program, encoding="utf-8")
    return Job("Testing", [], Interpreter(sys.executable, build_environment([str(tmp_path)])), end_timeout=patience)


def test_progress_reaches_the_window(tmp_path: Path) -> None:
    """JSON lines on stdout become fraction and message; other output is passed over."""
    job = child(tmp_path, 'print("a table")\nprint(\'{"fraction": 0.25, "message": "tracking"}\')')
    job.wait()
    job.raise_on_failure()
    assert (job.fraction, job.message) == (0.25, "tracking")


def test_a_failing_child_tells_why(tmp_path: Path) -> None:
    """The error is the child's own words, not a code."""
    job = child(tmp_path, 'import sys\nprint("error: a.trc, line 3: short row.", file=sys.stderr)\nsys.exit(2)')
    job.wait()
    with pytest.raises(BackendError, match=r"^a\.trc, line 3: short row\.$"):
        job.raise_on_failure()


def test_cancelling_ends_the_child(tmp_path: Path) -> None:
    """A cancelled job has no living child and says so, even when the child ignores the polite request."""
    program = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('on', flush=True)\ntime.sleep(60)"
    )
    job = child(tmp_path, program)
    job.end()
    assert not job.running
    with pytest.raises(Cancelled):
        job.raise_on_failure()


def test_a_wrong_file_is_one_error_and_changes_nothing(registered: None, tmp_path: Path) -> None:
    """Importing a recording that is none reports once and leaves the scene empty."""
    (tmp_path / "bad.trc").write_text("no recording", encoding="utf-8")
    before = len(bpy.data.objects), len(bpy.data.collections)
    with pytest.raises(RuntimeError, match=r"bad\.trc"):
        bpy.ops.exciting_dance.import_recording(directory=str(tmp_path), files=[{"name": "bad.trc"}])
    assert (len(bpy.data.objects), len(bpy.data.collections)) == before


def test_a_real_recording_stands_in_the_scene(registered: None, shared_data: Path) -> None:
    """A TRC of a person: as many balls as markers, and none above three metres."""
    folder = str(shared_data / "subject_a" / "markers")
    assert bpy.ops.exciting_dance.import_recording(directory=folder, files=[{"name": "squats1.trc"}]) == {"FINISHED"}
    balls = [item for item in bpy.data.objects if "exciting_dance_recording" in item]
    assert len(balls) >= 30
    bpy.context.scene.frame_set(10)
    assert all(0.0 < ball.location.z < 3.0 for ball in balls if not ball.hide_viewport)


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
def test_a_child_s_command_line_is_no_error_message(lines: str, code: int, words: str) -> None:
    """Of what a failed child writes, its own error is told; never the script it was started with."""
    assert describe_failure(lines.splitlines(), code) == words
