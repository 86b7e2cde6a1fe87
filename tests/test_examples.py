"""The examples run unchanged in an empty folder and print their results."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SECONDS = 400.0
"""[s] An example takes 20 s on an idle machine."""
EXPECTED = {
    "batch_in_blender": ("Ada: 55.0 kg", "Ben: 84.0 kg", "Ada.blend Ben.blend"),
    "design_and_check": ("every check holds", "Not feasible", "centre of mass moves"),
    "new_marker_set": ("refused:", "have names that say", "calibrated 1.7"),
    "robot_with_its_own_data": ("plate.fx [N]", "right_thigh", "force error"),
    "persons_masses": ("right_thigh", "body", "report.html"),
}
"""Text that each example prints."""
SLOW = ("persons_masses", "robot_with_its_own_data")
"""Whole identifications; tests of the study and of a robot's own data have the same steps for less data."""


def test_every_example_is_known() -> None:
    """Examples in the folder and in the list above are the same."""
    assert {path.stem for path in EXAMPLES} == set(EXPECTED)


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in SLOW else ()) for path in EXAMPLES]
)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    """An example ends without an error, prints its results, and writes to out/ only."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [words for words in EXPECTED[path.stem] if words not in done.stdout] == [], done.stdout
    assert done.stderr == ""
    assert {made.name for made in tmp_path.iterdir()} <= {"out"}
    print(f"{path.stem}: {time.monotonic() - start:.1f} s")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_opens_as_a_notebook(path: Path) -> None:
    """An example in percent format begins with a text cell with a heading, and every code cell is complete."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# %% [markdown]\n# # ")
    for cell in text.split("\n# %%\n")[1:]:
        ast.parse(cell.partition("\n# %% [markdown]")[0])
