"""A failing process of the live check is reported, leaves the scene unchanged, and can be restarted."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import bpy
import pytest

from addon.base.bpy_access import run_at_once
from addon.base.interpreter import chosen_interpreter
from addon.live import session as live_session
from addon.live.check_results import CheckResults
from addon.live.control import LiveCheck
from addon.live.responses import INVALID, parse_response
from addon.live.session import NO_RESPONSE, CheckSession, fingerprint
from solver.base.errors import MissingDependency
from solver.rigs import hoap3
from solver.scene.checked_frame import SceneFoot, SceneFrame, SceneMargin
from solver.scene.timeline import SceneTimeline
from tests.addon.live_session import PATIENCE, until
from tests.addon.scenes import build
from tests.random_motion import planar_pair

MARGIN = SceneMargin("zmp", "support polygon", -0.02, "m", -2.0, True, "outside")
FRAME = SceneFrame(
    1, 0.5, (MARGIN,), ("foot",), (), ("chest",), False, (0.1, 0.0, 0.3), (0.2, 0.0),
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], (SceneFoot("sole", (0.0, 0.0, 8.0), None),),
)  # fmt: skip
GOOD = (
    {"kind": "frames", "serial": 1, "frames": [FRAME.tree() | {"polygon": [[0.0, 0.0], [1.0, 0.0]]}]},
    {"kind": "excitation", "serial": 1, "time": 0.5, "links": {"arm": 3.0, "leg": None}},
    {"kind": "done", "serial": 1, "feasible": True, "failed": [], "failures": [], "notes": ["no torque limits"]},
    {"kind": "error", "serial": 1, "message": "wrong", "frames": [[0, 1]]},
)
WRONG: tuple[object, ...] = (None, True, -1, 1e999, float("nan"), 10**400, "text", [], [[1]], {}, {"a": 1})
HANGS = "import time; time.sleep(1000)"
GARBAGE = "import sys, time; sys.stdin.readline(); print('[' * 100000); sys.stdout.flush(); time.sleep(1000)"
HALF = "import sys; sys.stdout.write('{\"kind\": \"fra'); sys.stdout.flush(); sys.exit('out of paper')"
BABBLES = "while True: print('x' * 100)"


@pytest.fixture
def body(registered: None) -> Iterator[bpy.types.Object]:
    """A small humanoid at rest."""
    made = build(hoap3())
    bpy.context.scene.frame_end = 3
    bpy.context.view_layer.objects.active = made
    yield made
    LiveCheck.stop(wait=True)


def started(body: bpy.types.Object, script: str) -> CheckSession:
    """The live check with another program as its process."""
    own = replace(chosen_interpreter(bpy.context), executable=sys.executable, prefix_arguments=("-c", script))
    return LiveCheck.start(bpy.context, body, own)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (GARBAGE, "invalid response: '[[["),
        (HALF, "ended: out of paper"),
        (HANGS, NO_RESPONSE),
        (BABBLES, "invalid response: 'xxx"),
    ],
)
def test_failing_process_is_reported_and_restarted(
    body: bpy.types.Object, script: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After invalid, partial, missing or endless output the panel shows a message, and the scene is unchanged.

    The next process checks the rig normally.
    """
    scene = bpy.context.scene
    before = fingerprint(scene, body, {})
    with monkeypatch.context() as impatient:
        impatient.setattr(live_session, "RESPONSE_TIMEOUT", 0.3)
        first = started(body, script)
        until(first, lambda: said in first.problem)
    assert fingerprint(scene, body, {}) == before
    for _ in range(2):
        assert bpy.ops.exciting_dance.live() == {"FINISHED"}
    second = LiveCheck.session
    until(second, lambda: second.results is not None and second.results.done)
    assert second.problem == ""
    stop = time.monotonic() + PATIENCE
    while first.process.running or first.process.folder.exists():
        assert time.monotonic() < stop
        time.sleep(0.02)


def test_unwritable_timeline_is_reported(body: bpy.types.Object) -> None:
    """The reason, such as a full disk, is shown in the panel, and the next timeline is sent again."""
    session = LiveCheck.start(bpy.context, body)
    until(session, lambda: session.results is not None and session.results.done)
    folder = session.process.folder
    folder.rename(folder.with_name("away"))
    run_at_once(session.check_all())
    until(session, lambda: bool(session.results.message))
    assert str(folder) in session.results.message
    folder.with_name("away").rename(folder)
    run_at_once(session.check_all())
    until(session, lambda: session.results.done)
    assert session.results.message == ""


def test_missing_interpreter_is_one_error(
    body: bpy.types.Object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing program starts nothing and leaves nothing behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    nowhere = replace(chosen_interpreter(bpy.context), executable="/nowhere/python")
    with pytest.raises(MissingDependency, match="nowhere"):
        LiveCheck.start(bpy.context, body, nowhere)
    assert LiveCheck.session is None
    assert not list(tmp_path.iterdir())


def test_valid_responses_are_parsed() -> None:
    """Responses of each kind are parsed, with any valid content."""
    found = [parse_response(json.dumps(tree)) for tree in GOOD]
    assert [each.kind for each in found] == ["frames", "excitation", "done", "error"]
    assert found[1].links == {"arm": 3.0, "leg": float("inf")}
    assert (found[2].notes, found[3].unchecked) == (("no torque limits",), ((0, 1),))


def test_no_response_breaks_the_results() -> None:
    """A response with one changed entry is either accepted by the results or becomes an invalid response."""
    chance, garbled = random.Random(8), 0
    for _ in range(3000):
        tree = json.loads(json.dumps(chance.choice(GOOD)))
        holder, entry = tree, chance.choice(list(tree))
        while isinstance(holder[entry], (dict, list)) and holder[entry] and chance.random() < 0.7:
            holder = holder[entry]
            entry = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder[entry] = chance.choice(WRONG)
        found = parse_response(json.dumps(tree))
        garbled += found.kind == INVALID
        CheckResults(1, _plain()).add_response(found)
    assert 1500 < garbled < 3000
    for line in (b"\xff", b"[" * 100000, b"{}", b"null", b'{"kind": "flies"}', None):
        assert parse_response(line).kind == INVALID
        assert len(parse_response(line).message) < 120


def _plain() -> SceneTimeline:
    """Two links at rest, for two frames."""
    rotations = [[[0.0, 0.0, 0.0, 1.0]] * 2] * 2
    return SceneTimeline("plain", planar_pair(0.1), [0.0, 0.5], [[0.0] * 3] * 2, rotations, [[[0.0] * 3] * 2] * 2)
