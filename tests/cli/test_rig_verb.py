"""The rig verb, which Blender runs for every rig that is added, imports no more than it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from solver import engine
from tests.imports import ROOT

PROGRAM = """
import sys
from solver.cli import main
code = main(sys.argv[1:])
print(*sys.modules)
raise SystemExit(code)
"""


@pytest.mark.skipif(engine.NAME != "pinocchio", reason="the second engine solves with SciPy")
def test_a_person_and_how_it_stands_need_neither_scipy_nor_readers_of_robots(tmp_path: Path) -> None:
    """SciPy and readers of robots' files would double the time after which an added person appears."""
    words = [
        "rig",
        "human",
        "--height",
        "1.75",
        "--mass",
        "70",
        "--sex",
        "female",
        "--output",
        "rig.json",
        "--standing",
        "standing.npz",
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "rig.json").exists()
    assert (tmp_path / "standing.npz").exists()
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "solver.trajectory.legged_rig" in loaded
    assert not loaded & {"scipy", "solver.rigs.urdf", "solver.rigs.mjcf", "solver.rigs.opensim.rig"}
