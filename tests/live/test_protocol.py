"""Request and response lines of the live check."""

from __future__ import annotations

import json

import numpy as np
import pytest

from solver.live.protocol import (
    CheckRequest,
    DragRequest,
    EndRequest,
    GrabRequest,
    LookRequest,
    MalformedRequest,
    done_line,
    error_line,
    excitation_line,
    parse_request,
)
from solver.scene.checked_frame import SceneFoot, SceneFrame, SceneMargin, scene_frame

FRAME = SceneFrame(
    3, 0.1, (SceneMargin("zmp", "support polygon", -0.01, "m", -0.5, True, "the ZMP is outside"),), ("foot",),
    ("knee",), ("hand",), False,
    (0.0, 0.1, 0.9), (0.2, 0.3), np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    (SceneFoot("sole", (0.0, 1.0, 700.0), (0.1, 0.2, 0.0)), SceneFoot("other", (0.0, 0.0, 0.0), None)),
)  # fmt: skip


def test_a_frame_survives_its_line() -> None:
    """A frame that is written and read is the same."""
    found = scene_frame(json.loads(json.dumps(FRAME.tree())))
    np.testing.assert_array_equal(found.polygon, FRAME.polygon)
    assert found.tree() == FRAME.tree()
    assert (found.comfort, found.failed) == (-0.5, True)


def test_requests_are_parsed_with_their_options() -> None:
    """A timeline has its own checks, so a request only selects what is reported."""
    found = parse_request('{"do": "timeline", "serial": 4, "path": "a"}')
    assert isinstance(found, CheckRequest)
    assert (found.serial, found.path, found.excitation) == (4, "a", True)
    found = parse_request('{"do": "timeline", "serial": 4, "path": "a", "excitation": false}')
    assert isinstance(found, CheckRequest)
    assert not found.excitation
    assert parse_request('{"do": "look", "frame": 7}') == LookRequest(7)
    assert parse_request('{"do": "end"}') == EndRequest()


@pytest.mark.parametrize(
    ("line", "said", "serial"),
    [
        ("{", "must be one JSON object", None),
        ("[1]", "JSON object", None),
        ('{"do": "jump", "serial": 3}', "one of timeline, pose, look, grab, drag, inbetweens, end", 3),
        ('{"do": "timeline", "serial": 3}', "needs 'path'", 3),
        ('{"do": "timeline", "serial": "x", "path": "a"}', "must be an integer", None),
        ('{"do": "look", "frame": 1.5}', "'frame' must be an integer", None),
        ('{"do": "look", "frame": true}', "'frame' must be an integer", None),
        ('{"do": "look", "frame": %s}' % ("9" * 400), "within 2^53, got 999", None),
        ('{"do": "look", "frame": %s}' % ("9" * 5000), "must be one JSON object", None),
        ('{"do": "pose", "serial": 1e400, "path": "a"}', "1e400 is out of range", None),
        ('{"do": "look", "frame": NaN}', "NaN is not JSON", None),
        ('{"do": "look", "frame": 1, "frame": 2}', "'frame' occurs twice", None),
        ("[" * 60000, "must be one JSON object", None),
        ('{"do": "pose", "serial": 1, "path": "a\\u0000b"}', "'path' must be the name of a file", 1),
        ('{"do": "pose", "serial": 1, "path": ""}', "'path' must be the name of a file", 1),
        ('{"do": "pose", "serial": 1, "path": ["a"]}', "'path' must be the name of a file", 1),
        ('{"do": "timeline", "serial": 1, "path": "a", "excitation": "no"}', "'excitation' must be true or false", 1),
        ('{"do": "pose", "serial": 1, "path": "a", "shrink": 1}', "'shrink'; it has serial, path", 1),
        ('{"do": "look", "frame": 1, "serial": 2}', "no entry 'serial'; it has frame", 2),
        (b'{"do": "pose", "serial": 1, "path": "\xff"}', "utf-8", None),
    ],
)
def test_malformed_requests_say_why(line: bytes | str, said: str, serial: int | None) -> None:
    """The message names the wrong entry, and the response has the request's serial if there is one."""
    found = parse_request(line)
    assert isinstance(found, MalformedRequest)
    assert said in found.message
    assert found.serial == serial
    answer = json.loads(error_line(found.message, found.serial))
    assert answer.get("serial") == serial
    assert len(found.message) < 200


def test_messages_are_bounded() -> None:
    """A very long name is truncated to a readable length."""
    assert len(json.loads(error_line("no " * 10000))["message"]) < 2100


def test_the_last_response_lists_failures() -> None:
    """It has runs of failing frames, frames that could not be checked, and one sentence for each check."""
    good = SceneFrame(0, 0.0, (), (), (), (), True, (0.0, 0.0, 1.0), None)
    frames = [good, FRAME, FRAME, good, None]
    tree = json.loads(done_line(9, frames, {4: "no floor"}))
    assert tree["failed"] == [[1, 2], [4, 4]]
    assert not tree["feasible"]
    assert len(tree["failures"]) == 2
    assert tree["failures"][0] == "the ZMP is outside at 0.10 s"
    assert tree["failures"][1] == "no floor"
    assert json.loads(done_line(9, [good, good], {}))["feasible"]


def test_what_is_not_excited_is_null() -> None:
    """JSON has no infinity."""
    assert json.loads(excitation_line(1, 2.0, {"arm": float("inf"), "leg": 3.0}))["links"] == {"arm": None, "leg": 3.0}


def test_drags_are_parsed_with_targets_and_pins() -> None:
    """A free axis is null in the line and NaN in the target; balance is kept unless the request says otherwise."""
    pin = '{"link": "hand", "point": [0, 0, 0.1]}'
    found = parse_request(f'{{"do": "grab", "serial": 1, "path": "a", "pins": [{pin}]}}')
    assert isinstance(found, GrabRequest)
    assert (found.pins[0].link, found.pins[0].point.tolist()) == ("hand", [0.0, 0.0, 0.1])
    target = '{"link": "pelvis", "point": [0, 0, 0], "position": [0.1, null, 2]}'
    found = parse_request(f'{{"do": "drag", "serial": 2, "targets": [{target}]}}')
    assert isinstance(found, DragRequest)
    assert found.balance
    np.testing.assert_array_equal(found.targets[0].position, [0.1, np.nan, 2.0])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"do": "drag", "serial": 2}', "needs 'targets'"),
        ('{"do": "drag", "serial": 2, "targets": 3}', "'targets' must be a list of objects"),
        ('{"do": "drag", "serial": 2, "targets": [{"point": [0,0,0]}]}', "'link' must be a name"),
        (
            '{"do": "drag", "serial": 2, "targets": [{"link": "a", "position": [0,0]}]}',
            "'position' must be three numbers",
        ),
        ('{"do": "drag", "serial": 2, "targets": [], "balance": 1}', "'balance' must be true or false"),
        ('{"do": "grab", "serial": 2, "path": "a", "pins": [{"link": "a", "point": [0,null,0]}]}', "'point' must be"),
        ('{"do": "inbetweens", "serial": 2, "path": "a"}', "needs 'planted'"),
        ('{"do": "inbetweens", "serial": 2, "path": "a", "planted": []}', "'planted' must be a list of names"),
        ('{"do": "inbetweens", "serial": 2, "path": "a", "planted": [3]}', "'planted' must be a list of names"),
    ],
)
def test_malformed_drags_say_why(line: str, said: str) -> None:
    """The message names the wrong entry."""
    found = parse_request(line)
    assert isinstance(found, MalformedRequest)
    assert said in found.message
