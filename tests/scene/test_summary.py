"""What a verb says about a dance, on disk."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from solver.errors import InputError, InvalidValue
from solver.scene.summary import NAME, SceneFailure, SceneSummary, read_summary, write_summary
from solver.scene.timeline import SceneKey, SceneStrip

SUMMARY = SceneSummary(
    "repair",
    "improved",
    False,
    "Only partly repaired: fixed key 'pose 3' at 2 s",
    (SceneKey(0.0, "fixed", "start"), SceneKey(2.0, "preferred", "größer")),
    (SceneStrip("left_sole", 0.0, 2.0),),
    (SceneFailure("zmp", "support polygon", "m", -0.02, 0.4, "it tips", ("left_foot", "right_foot")),),
    ((0.4, 0.6),),
    (("root position", 0.04, 0.01),),
    ("fixed key 'pose 3' at 2 s",),
    ("no torque limits",),
    {"arm": 12.5, "leg": math.inf},
    {"arm": 0.1, "leg": math.inf},
    2.0,
)


def test_a_summary_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Every entry survives the file, infinite numbers and umlauts too; its folder names it as well."""
    path = write_summary(tmp_path / NAME, SUMMARY)
    assert read_summary(path) == SUMMARY
    assert read_summary(tmp_path) == SUMMARY


@pytest.mark.parametrize(
    ("entry", "value", "said"),
    [
        ("feasible", "yes", "neither true nor false"),
        ("keys", [["soon", "fixed", ""]], "'soon' is no number"),
        ("strips", [["left_sole", 0.0]], "damaged"),
        ("ranges", [[2.0, 1.0]], "before it starts"),
        ("message", " ", "says nothing"),
        ("notes", "one", "no list"),
        ("excitation", {"arm": "much"}, "no number"),
        ("format", "other", "no summary"),
        ("duration", None, "no number"),
        ("moved", ..., "lacks the entry 'moved'"),
    ],
)
def test_what_is_no_summary_is_refused(tmp_path: Path, entry: str, value: object, said: str) -> None:
    """A wrong or missing entry is one clear sentence that names the file."""
    tree = json.loads(write_summary(tmp_path / NAME, SUMMARY).read_text(encoding="utf-8"))
    tree.pop(entry) if value is ... else tree.update({entry: value})
    (tmp_path / NAME).write_text(json.dumps(tree), encoding="utf-8")
    with pytest.raises(InputError, match=said) as error:
        read_summary(tmp_path)
    assert NAME in str(error.value)


def test_a_missing_and_a_torn_file_are_named(tmp_path: Path) -> None:
    """Neither an absent nor a half file is a summary."""
    with pytest.raises(InputError, match="cannot be read"):
        read_summary(tmp_path)
    whole = write_summary(tmp_path / NAME, SUMMARY).read_text(encoding="utf-8")
    (tmp_path / NAME).write_text(whole[:50], encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        read_summary(tmp_path)


def test_a_summary_says_something() -> None:
    """An empty message is refused where it arises."""
    with pytest.raises(InvalidValue, match="says nothing"):
        SceneSummary("check", "feasible", True, "")


def test_reading_needs_no_dynamics_library() -> None:
    """The module that a scene imports brings no Pinocchio with it."""
    code = "import sys, solver.scene.summary; sys.exit('pinocchio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2]).returncode == 0
