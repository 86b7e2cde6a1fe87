"""The file of a summary."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from solver.base.errors import InputError, InvalidValue
from solver.scene.dance_folder import SUMMARY_FILE
from solver.scene.summary import SUMMARY as FILE
from solver.scene.summary import SceneFailure, SceneMove, SceneSummary
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
    moves=(SceneMove("größer", 0.0, 2.0, 4, "4 of 5 fast, far", ("right_arm", "trunk")),),
    counts=((0.0, 5), (0.6, 6)),
)


def test_a_summary_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Every entry survives the file, infinite numbers and umlauts too."""
    assert FILE.read(FILE.write(tmp_path / SUMMARY_FILE, SUMMARY)) == SUMMARY


@pytest.mark.parametrize(
    ("entry", "value", "said"),
    [
        ("feasible", "yes", "'yes' is not true or false"),
        ("keys", [{"time": "soon", "role": "fixed"}], r"keys\[0\].time: 'soon' is not a number"),
        ("strips", [{"patch": "left_sole", "start": 0.0}], r"strips\[0\]: lacks the entry 'stop'"),
        ("ranges", [[2.0, 1.0]], "before it starts"),
        ("message", " ", "has no message"),
        ("notes", "one", "not a list"),
        ("excitation", {"arm": "much"}, "not a number"),
        ("kind", "other", "is 'other'"),
        ("duration", None, "not a number"),
        ("message", ..., "lacks the entry 'message'"),
    ],
)
def test_an_invalid_summary_is_refused(tmp_path: Path, entry: str, value: object, said: str) -> None:
    """A wrong or missing entry gives one clear sentence that names the file."""
    tree = json.loads(FILE.write(tmp_path / SUMMARY_FILE, SUMMARY).read_text(encoding="utf-8"))
    tree.pop(entry) if value is ... else tree.update({entry: value})
    (tmp_path / SUMMARY_FILE).write_text(json.dumps(tree), encoding="utf-8")
    with pytest.raises(InputError, match=said) as error:
        FILE.read(tmp_path / SUMMARY_FILE)
    assert SUMMARY_FILE in str(error.value)


def test_a_summary_needs_a_message() -> None:
    """An empty message is refused on construction."""
    with pytest.raises(InvalidValue, match="has no message"):
        SceneSummary("check", "feasible", True, "")


def test_reading_needs_no_dynamics_library() -> None:
    """The module that a scene imports does not load Pinocchio."""
    code = "import sys, solver.scene.summary; sys.exit('pinocchio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2]).returncode == 0
