"""The file of a summary."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from solver.base.errors import InvalidValue
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


def test_a_summary_needs_a_message_and_spans_that_end() -> None:
    """An empty message, and a span that ends before it starts, are refused on construction."""
    with pytest.raises(InvalidValue, match="has no message"):
        SceneSummary("check", "feasible", True, "")
    with pytest.raises(InvalidValue, match="before it starts"):
        replace(SUMMARY, ranges=((2.0, 1.0),))


def test_reading_needs_no_dynamics_library() -> None:
    """The module that a scene imports does not load Pinocchio."""
    code = "import sys, solver.scene.summary; sys.exit('pinocchio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2]).returncode == 0
