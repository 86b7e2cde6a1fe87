"""Posing by dragging, in Blender: the body follows with planted feet, and everything can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from addon.authoring import keying, timeline  # noqa: E402
from addon.base import bpy_access  # noqa: E402
from addon.base.interpreter import chosen_interpreter  # noqa: E402
from addon.base.solver_api import errors, find_handles  # noqa: E402
from addon.live.check_process import CheckProcess  # noqa: E402
from addon.live.responses import Response, parse_response  # noqa: E402
from addon.live.session import CheckSession  # noqa: E402
from addon.posing.drag import PoseDrag  # noqa: E402
from addon.posing.inbetweens import PostureReceiver, key_inbetweens  # noqa: E402
from addon.posing.mouse_target import MouseTarget  # noqa: E402
from addon.posing.pins import handle_point, handle_points, pinned_points, toggle_pin  # noqa: E402
from addon.scene.armature import build_armature, rig_of  # noqa: E402
from addon.scene.pose_writer import PoseWriter, read_pose, restore_pose, show_frame  # noqa: E402
from solver.dynamics import link_poses  # noqa: E402
from solver.dynamics.coordinates import static_motion  # noqa: E402
from solver.rigs import hoap3, hrp2, human  # noqa: E402
from solver.scene.motion import joint_movements, scene_motion  # noqa: E402
from solver.skeleton.rig import Rig  # noqa: E402
from solver.values.motion import Motion  # noqa: E402

PATIENCE = 60.0
RIG = hrp2()


@pytest.fixture
def session(empty_scene: None) -> Iterator[CheckSession]:
    """A standing robot and its live check."""
    body = build_armature(bpy.context, RIG)
    bpy_access.view_layer(bpy.context).objects.active = body
    rest = np.zeros((1, RIG.nv))
    posture = Motion(np.zeros(1), np.array(RIG.provenance["half_sitting"])[None], rest, rest)
    show_frame(body, scene_motion(RIG, posture), 0)
    bpy_access.view_layer(bpy.context).update()
    found = CheckSession(bpy_access.scene(bpy.context), body, CheckProcess(chosen_interpreter(bpy.context)))
    yield found
    found.process.end(wait=True)


def link_places(body: Any, rig: Rig) -> dict[str, np.ndarray]:
    """World positions (3,) [m] of all links, from the bones."""
    bpy_access.view_layer(bpy.context).update()
    places = timeline.evaluated_links(bpy.context.evaluated_depsgraph_get(), body, rig)[1]
    return dict(zip(rig.links, places, strict=True))


def origins(session: CheckSession) -> dict[str, np.ndarray]:
    """The same of the robot of a session."""
    return link_places(session.find_scene_and_rig()[1], RIG)


def test_the_body_follows_with_planted_feet(session: CheckSession) -> None:
    """The waist is pulled down by 8 cm: it is there within 1 mm, and the feet stay within .1 mm."""
    before = origins(session)
    drag = PoseDrag(session, "waist", np.zeros(3))
    np.testing.assert_allclose(drag.start, before["waist"], atol=1e-6)
    drag.move(drag.start - np.array([0.0, 0.0, 0.08]))
    drag.settle(PATIENCE)
    after = origins(session)
    drag.end()
    np.testing.assert_allclose(after["waist"], before["waist"] - [0.0, 0.0, 0.08], atol=1e-3)
    for foot in ("right_foot", "left_foot"):
        np.testing.assert_allclose(after[foot], before[foot], atol=1e-4)
    assert drag.describe() == ""
    assert session.receiver is None


def test_a_cancelled_drag_restores_the_posture(session: CheckSession) -> None:
    """Every bone has the channels that it had before."""
    _, body = session.find_scene_and_rig()
    before = read_pose(body)
    drag = PoseDrag(session, "right_hand", np.zeros(3))
    drag.move(drag.start + np.array([0.1, 0.0, 0.1]))
    drag.settle(PATIENCE)
    assert np.abs(origins(session)["right_hand"] - drag.start).max() > 0.05
    drag.cancel()
    after = read_pose(body)
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_an_unreachable_target_says_what_holds_the_body_back(session: CheckSession) -> None:
    """Pulled up by half a metre, the body stays, and the sentence names the distance and a reason."""
    drag = PoseDrag(session, "waist", np.zeros(3))
    drag.move(drag.start + np.array([0.0, 0.0, 0.5]))
    drag.settle(PATIENCE)
    assert "cm short" in drag.describe()
    drag.cancel()


def test_a_dead_process_keeps_the_posture(session: CheckSession) -> None:
    """The drag says that the live check ended; the posture is the last one that was shown."""
    drag = PoseDrag(session, "waist", np.zeros(3))
    drag.move(drag.start - np.array([0.0, 0.0, 0.03]))
    drag.settle(PATIENCE)
    shown = origins(session)["waist"]
    session.process.end(wait=True)
    drag.move(drag.start - np.array([0.0, 0.0, 0.06]))
    drag.apply()
    assert "ended" in drag.describe()
    assert drag.is_settled
    np.testing.assert_allclose(origins(session)["waist"], shown, atol=1e-9)


def test_a_refused_posture_keeps_its_reason(session: CheckSession) -> None:
    """Further targets are refused for the posture's reason, which stays the one that is shown."""
    drag = PoseDrag(session, "waist", np.zeros(3))
    first = drag.start - np.array([0.0, 0.0, 0.02])
    drag.add_response(Response("error", drag.first_serial, message="the posture is refused"))
    drag.move(first)
    drag.add_response(Response("error", drag.first_serial + 1, message="send 'grab'"))
    assert drag.describe() == "the posture is refused"
    assert drag.is_running
    drag.cancel()
    assert not drag.is_running


def test_pinned_points_stay_while_another_is_dragged(session: CheckSession) -> None:
    """A pinned hand stays in place; pinning it again removes the pin."""
    _, body = session.find_scene_and_rig()
    point = handle_point(body, "left_hand")
    assert toggle_pin(body, "left_hand", np.zeros(3))
    before = origins(session)["left_hand"]
    drag = PoseDrag(session, "waist", np.zeros(3))
    drag.move(drag.start - np.array([0.0, 0.0, 0.04]))
    drag.settle(PATIENCE)
    drag.end()
    np.testing.assert_allclose(origins(session)["left_hand"], before, atol=1e-4)
    assert not toggle_pin(body, "left_hand", point)
    assert pinned_points(body) == {}


def test_damaged_pins_are_no_pins(empty_scene: None) -> None:
    """Pins of bones that do not exist, or that are no points, are ignored."""
    body = build_armature(bpy.context, RIG)
    body["exciting_dance_pins"] = {"tail": [0.0, 0.0, 0.0], "left_hand": [1.0, 2.0], "head": [float("nan"), 0.0, 0.0]}
    assert pinned_points(body) == {}
    body["exciting_dance_pins"] = "none"
    assert pinned_points(body) == {}
    with pytest.raises(errors.UnknownLink):
        handle_point(body, "tail")


def test_handles_are_at_the_ends_and_in_the_middle_of_limbs(empty_scene: None) -> None:
    """Root, chest, head, hands, feet, elbows and knees, at the bones of these links."""
    body = build_armature(bpy.context, RIG)
    points = handle_points(body)
    assert set(points) == set(find_handles(RIG))
    limbs = {f"{side}_{part}" for side in ("right", "left") for part in ("hand", "forearm", "foot", "shank")}
    assert limbs | {"waist", "chest", "head"} == set(points)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((), (0.1, 0.2, 0.3)),
        (("Z",), (0.0, 0.0, 0.3)),
        (("Z", "Z"), (0.1, 0.2, 0.3)),
        (("shift Z",), (0.1, 0.2, 0.0)),
        (("Z", "MINUS", "PERIOD", "ONE", "FIVE"), (0.0, 0.0, -0.15)),
        (("Y", "TWO", "BACK_SPACE", "THREE"), (0.0, 3.0, 0.0)),
        (("FOUR",), (4.0, 0.0, 0.0)),
    ],
)
def test_axes_and_numbers_limit_the_mouse(keys: tuple[str, ...], expected: tuple[float, float, float]) -> None:
    """An axis keeps one component, a plane two; a number takes the place of the mouse, as in Blender's own tool."""
    target = MouseTarget(np.array([0.1, 0.2, 0.3]))
    for key in keys:
        name = key.removeprefix("shift ")
        if name in ("X", "Y", "Z"):
            target.press_axis("XYZ".index(name), plane=key != name)
        else:
            assert target.press_key(name)
    np.testing.assert_allclose(target.displacement(1.0), expected)
    assert not target.press_key("Q")


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "posture", "serial": 1}',
        '{"kind": "posture", "serial": 1, "rotations": [[0,0,0,1]], "translations": [], "converged": true,'
        ' "distance": 0, "obstacles": []}',
        '{"kind": "posture", "serial": 1, "rotations": [[0,0,0,1]], "translations": [[0,0,1e999]], "converged": true,'
        ' "distance": 0, "obstacles": []}',
    ],
)
def test_invalid_postures_are_reported(line: str) -> None:
    """A line that is no posture of a body is an invalid response, not an error of the add-on."""
    assert parse_response(line).kind == "garbled"


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"])
@pytest.mark.parametrize("rig", [RIG, human(1.75, 70.0, "male")], ids=["robot", "person"])
def test_a_posture_is_shown_in_every_rotation_mode(empty_scene: None, rig: Rig, mode: str) -> None:
    """The bones put the links where the posture has them, whatever channels they have; the rig may be anywhere."""
    body = build_armature(bpy.context, rig)
    body.location, body.rotation_euler = (1.0, -2.0, 0.5), (0.1, 0.2, 0.9)
    for bone in bpy_access.pose_bones(body):
        bone.rotation_mode = mode
    bpy_access.view_layer(bpy.context).update()
    q = static_motion(rig, np.random.default_rng(3).uniform(-0.4, 0.4, (1, rig.nv))).q[0]
    rotations, places = link_poses(rig, q)
    movements = joint_movements(rig, rotations[None], places[None])
    PoseWriter(body).show_posture(body, movements[0][0], movements[1][0])
    bpy_access.view_layer(bpy.context).update()
    shown = timeline.evaluated_links(bpy.context.evaluated_depsgraph_get(), body, rig)
    np.testing.assert_allclose(shown[0], rotations, atol=2e-5)
    np.testing.assert_allclose(shown[1], places, atol=2e-5)


def sole_slip(body: Any, rig: Rig, first: int, last: int) -> float:
    """[m] Largest displacement of a sole's corner from the first of some frames, also between frames."""
    scene, places = bpy_access.scene(bpy.context), []
    for half in range(2 * first, 2 * last + 1):
        scene.frame_set(half // 2, subframe=half % 2 / 2)
        turns, origins = timeline.evaluated_links(bpy.context.evaluated_depsgraph_get(), body, rig)
        indices = [(rig.index(sole.link), sole.vertices) for sole in rig.soles]
        places.append(np.concatenate([points @ turns[index].T + origins[index] for index, points in indices]))
    return float(np.linalg.norm(np.array(places) - places[0], axis=2).max())


def key_two_postures(session: CheckSession, *, between: bool) -> None:
    """Key the displayed posture, and one with the waist 8 cm lower 20 frames later."""
    scene, body = session.find_scene_and_rig()
    keying.key_posture(scene, body, "preferred")
    drag = PoseDrag(session, "waist", np.zeros(3))
    drag.move(drag.start - np.array([0.0, 0.0, 0.08]))
    drag.settle(PATIENCE)
    drag.end()
    lower = read_pose(body)
    scene.frame_set(21)
    restore_pose(body, lower)
    keying.key_posture(scene, body, "preferred")
    if between:
        assert not key_inbetweens(session, 21.0)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_soles_stay_between_keyed_postures(session: CheckSession, mode: str) -> None:
    """Blender's interpolation lets the soles slide by centimetres; with in-between keys they move by less than .1 mm
    at frames and .3 mm between them. The postures stay as they are, and the keys are generated ones."""
    scene, body = session.find_scene_and_rig()
    for bone in bpy_access.pose_bones(body):
        if not rig_of(body).joints[RIG.index(bone.name)].hinge:
            bone.rotation_mode = mode
    key_two_postures(session, between=False)
    assert sole_slip(body, RIG, 1, 21) > 3e-3
    before = [timeline.sample_timeline(scene, body, 1, 21).rotations[k] for k in (0, -1)]
    assert not key_inbetweens(session, 21.0)
    assert sole_slip(body, RIG, 1, 21) < 3e-4
    after = timeline.sample_timeline(scene, body, 1, 21).rotations
    np.testing.assert_allclose(after[[0, -1]], before, atol=1e-6)
    assert np.abs(np.diff(after, axis=0)).max() < 0.1
    assert list(timeline.read_key_roles(body)) == [1.0, 21.0]
    count = keying.clear_inbetweens(body, 1, 21)
    assert count > 19
    assert sole_slip(body, RIG, 1, 21) > 3e-3


def test_a_dead_process_leaves_the_keys_as_they_were(session: CheckSession) -> None:
    """Without the process the postures are keyed as before, and the message has the reason."""
    key_two_postures(session, between=False)
    _, body = session.find_scene_and_rig()
    session.process.end(wait=True)
    assert "ended" in key_inbetweens(session, 21.0)
    assert not keying.has_keys_between(body, 1, 21)
    assert session.receiver is None


MIRROR = np.diag([1.0, -1.0, 1.0])


@pytest.mark.parametrize("rig", [RIG, hoap3(), human(1.75, 70.0, "male")], ids=["hrp2", "hoap3", "person"])
def test_paste_flipped_mirrors_the_body(empty_scene: None, rig: Rig) -> None:
    """Copied and pasted flipped, every link is where its counterpart was, mirrored at the plane of symmetry."""
    body = build_armature(bpy.context, rig)
    bpy_access.view_layer(bpy.context).objects.active = body
    show_random_posture(body, rig)
    before = link_places(body, rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    assert bpy.ops.pose.copy() == {"FINISHED"}
    assert bpy.ops.pose.paste(flipped=True) == {"FINISHED"}
    after = link_places(body, rig)
    assert max(np.abs(after[link] - before[link]).max() for link in rig.links) > 0.05
    for link, place in before.items():
        other = link.replace("left_", "right_") if "left_" in link else link.replace("right_", "left_")
        np.testing.assert_allclose(after[other], MIRROR @ place, atol=1e-4)


def test_bones_that_were_built_with_other_axes_are_posed_alike(empty_scene: None) -> None:
    """Rigs in older files have bones with opposite x axes: hinges turn as their bones are, not as new ones would be."""
    body = build_armature(bpy.context, RIG)
    bpy_access.view_layer(bpy.context).objects.active = body
    show_random_posture(body, RIG)
    expected = link_places(body, RIG)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in body.data.edit_bones:
        if RIG.joints[RIG.index(bone.name)].hinge:
            bone.roll += np.pi
    bpy.ops.object.mode_set(mode="OBJECT")
    show_random_posture(body, RIG)
    for link, place in link_places(body, RIG).items():
        np.testing.assert_allclose(place, expected[link], atol=1e-4)


def show_random_posture(body: Any, rig: Rig) -> None:
    """Show a posture with every joint turned."""
    q = static_motion(rig, np.random.default_rng(5).uniform(-0.3, 0.3, (1, rig.nv))).q[0]
    movements = joint_movements(rig, *(part[None] for part in link_poses(rig, q)))
    PoseWriter(body).show_posture(body, movements[0][0], movements[1][0])


def test_a_pose_asset_brings_the_posture_back(session: CheckSession) -> None:
    """A pose from an action, as the pose library applies it, restores the links; a drag goes on from there."""
    scene, body = session.find_scene_and_rig()
    show_random_posture(body, RIG)
    keying.key_posture(scene, body, "preferred")
    saved = body.animation_data.action
    expected = origins(session)
    body.animation_data.action = None
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.pose.transforms_clear()
    assert np.abs(origins(session)[RIG.links[0]] - expected[RIG.links[0]]).max() > 1e-3
    body.pose.apply_pose_from_action(saved, evaluation_time=scene.frame_current)
    for link, place in origins(session).items():
        np.testing.assert_allclose(place, expected[link], atol=1e-5)
    drag = PoseDrag(session, RIG.links[0], np.zeros(3))
    np.testing.assert_allclose(drag.start, expected[RIG.links[0]], atol=1e-5)
    drag.cancel()


def test_soles_that_cannot_stay_are_reported(session: CheckSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Postures that could not be fitted are keyed as near as they came, and the message counts them."""
    key_two_postures(session, between=False)
    take = PostureReceiver.add_response

    def miss(self: PostureReceiver, response: Response) -> bool:
        posture = response.posture
        if posture is not None and len(self.postures) < 2:
            response = replace(response, posture=replace(posture, converged=False))
        return take(self, response)

    monkeypatch.setattr(PostureReceiver, "add_response", miss)
    assert key_inbetweens(session, 21.0) == "in 2 of 19 frames they cannot stay in place"
