"""A disk that is full in the midst of writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.cli import main
from solver.demo.examples import simulated_robot
from solver.storage.atomic import PROBE_BYTES

resource = pytest.importorskip("resource", reason="Windows limits no file's size")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Joint coordinates of a robot."""
    folder = tmp_path_factory.mktemp("recorded")
    simulated_robot().write(folder)
    return folder / "dance_joints.csv"


def track(recorded: Path, output: Path, most: int) -> int:
    """Track while this process can write no file beyond so many bytes; the exit code."""
    _, hard = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        return main(["track", str(recorded), "--rig", "hrp2", "--output", str(output), "--progress", "none"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_results_that_do_not_fit_are_reported_in_one_line_and_leave_the_old_ones(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Full after some files: one line, exit code 2, the results of the run before, and no other files."""
    assert track(recorded, tmp_path / "out", 1 << 30) == 0
    before = tree(tmp_path)
    largest = max(map(len, before.values()))
    for most in (PROBE_BYTES + 1, largest - 1):  # where the first larger file does not fit, and where only the largest
        capsys.readouterr()
        assert track(recorded, tmp_path / "out", most) == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert line.startswith("error: ")
        assert "out" in line
        assert tree(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
