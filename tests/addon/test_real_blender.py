"""Tests in a real Blender, from the variable BLENDER or the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.addon.real_blender.rehearsal import write_rig_file

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).parent / "real_blender"


@pytest.fixture(scope="module")
def blender() -> str:
    """The program of a real Blender."""
    found = os.environ.get("BLENDER") or shutil.which("blender")
    if not found:
        pytest.skip("no Blender here besides the bpy module: name its program in the variable BLENDER")
    return found


def test_real_blender_writes_the_rehearsal_video(blender: str, tmp_path: Path) -> None:
    """The child process of a real Blender writes the video, or explains why it cannot."""
    write_rig_file(tmp_path)
    words = ["-b", "--factory-startup", "--python-exit-code", "1", "--python", str(SCRIPTS / "rehearsal.py")]
    done = subprocess.run([blender, *words, "--", str(tmp_path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


CHILD = """
import signal, sys
from pathlib import Path
from addon.rehearsal.video import stop_on_signal

number, folder = signal.{name}, Path(sys.argv[1])
assert signal.getsignal(number) is None, "the test needs a handler that was set from C"
with stop_on_signal(folder, (number,)) as stop:
    {act}
print(stop.requested, "kept" if folder.exists() else "lost", signal.getsignal(number) == signal.SIG_DFL)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no such signals")
@pytest.mark.parametrize(
    ("act", "code", "said"),
    [
        ("pass", 0, ["False kept True"]),
        ("signal.raise_signal(number)", 0, ["True kept True"]),
        ("signal.raise_signal(number); signal.raise_signal(number)", 130, []),
    ],
)
def test_a_handler_set_from_c_does_not_lose_the_video(tmp_path: Path, act: str, code: int, said: list[str]) -> None:
    """A signal with a handler that Python sees as None (here faulthandler's, in Blender that of Ctrl-C) requests a
    stop, a second one ends the process cleanly, and without a signal nothing changes.
    """
    building = tmp_path / "building"
    building.mkdir()
    program = CHILD.format(name="SIGFPE", act=act)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program, str(building)], cwd=ROOT, capture_output=True, text=True
    )
    output = [
        line for line in done.stdout.splitlines() if "color_management" not in line
    ]  # what Blender 5.2 logs itself
    assert (done.returncode, output) == (code, said), done.stderr
    assert building.exists() == (code == 0)
