"""A disk that is full in the midst of writing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from solver.demo.examples import simulated_robot
from solver.storage.atomic import PROBE_BYTES

pytest.importorskip("resource", reason="Windows limits no file's size")

ROOT = Path(__file__).resolve().parents[2]
LIMITED = """
import resource, sys
from solver.__main__ import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
del sys.argv[1]
sys.exit(main())
"""


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Joint coordinates of a robot."""
    folder = tmp_path_factory.mktemp("recorded")
    simulated_robot().write(folder)
    return folder / "dance_joints.csv"


def track(recorded: Path, output: Path, most: int) -> subprocess.CompletedProcess[str]:
    """Track in a process that can write no file beyond so many bytes."""
    command = [sys.executable, "-c", LIMITED, str(most), "track", str(recorded), "--rig", "hrp2"]
    return subprocess.run([*command, "--output", str(output)], cwd=ROOT, capture_output=True, text=True, check=False)


def test_results_that_do_not_fit_are_reported_in_one_line_and_leave_the_old_ones(
    recorded: Path, tmp_path: Path
) -> None:
    """Full after some files: one line, exit code 2, the results of the run before, and no other files."""
    assert track(recorded, tmp_path / "out", 1 << 30).returncode == 0
    before = tree(tmp_path)
    largest = max(map(len, before.values()))
    for most in (PROBE_BYTES + 1, largest - 1):  # where the first larger file does not fit, and where only the largest
        done = track(recorded, tmp_path / "out", most)
        assert done.returncode == 2, done.stderr
        (line,) = done.stderr.strip().splitlines()
        assert line.startswith("error: ")
        assert "out" in line
        assert tree(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
