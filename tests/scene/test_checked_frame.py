"""Results of the checks in one frame, as the live check writes them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from solver.base.differences import differences
from solver.base.errors import InvalidValue
from solver.scene.checked_frame import SceneFoot, SceneFrame, SceneMargin, scene_frame

STANDING = SceneFrame(
    7,
    0.25,
    (
        SceneMargin("zmp", "support polygon", 0.01, "m", 0.5, False, "1.0 cm inside"),
        SceneMargin("joint torque", "knee", -2.0, "N m", -0.2, True, "2 N m too much"),
        SceneMargin("joint angle", "hip", 0.4, "rad", 4.0, False),
    ),
    ("shank",),
    ("thigh",),
    (),
    True,
    (0.0, 0.1, 0.9),
    (0.02, -0.01),
    np.array([[0.1, 0.1], [-0.1, 0.1], [0.0, -0.1]]),
    (SceneFoot("left_sole", (1.0, 2.0, 300.0), (0.0, 0.1, 0.0)), SceneFoot("right_sole", (0.0, 0.0, 0.0), None)),
)
AIRBORNE = SceneFrame(8, 0.3, (), (), (), ("hand", "head"), True, (0.0, 0.0, 1.2), None)


@pytest.mark.parametrize("frame", [STANDING, AIRBORNE])
def test_a_line_of_json_keeps_a_frame(frame: SceneFrame) -> None:
    """A frame on the floor or in the air survives JSON."""
    assert differences(scene_frame(json.loads(json.dumps(frame.tree()))), frame) == ()


def test_the_worst_margin_is_the_least_comfortable() -> None:
    """The worst margin is not the smallest number, because units differ. Without any check, comfort is infinite."""
    assert STANDING.worst is STANDING.margins[1]
    assert STANDING.comfort == -0.2
    assert STANDING.failed
    assert AIRBORNE.worst is None
    assert AIRBORNE.comfort == math.inf
    assert not AIRBORNE.failed


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("time", "soon"),
        ("time", True),
        ("time", math.nan),
        ("failing", [3]),
        ("com", [0.0, 1.0]),
        ("margins", [["zmp"]]),
        ("polygon", [1.0]),
        ("zmp", [0.0]),
        ("feet", ...),
    ],
)
def test_a_malformed_frame_is_refused(entry: str, value: object) -> None:
    """A wrong or missing entry gives one kind of error."""
    tree = STANDING.tree()
    tree.pop(entry) if value is ... else tree.update({entry: value})
    with pytest.raises(InvalidValue, match="checked frame is malformed"):
        scene_frame(tree)
