"""Readers of orientations: skeleton animations, tables of quaternions, OpenSim's units, body models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solver.base.errors import InputError
from solver.base.so3 import exp
from solver.formats.npz import write_recording_npz
from solver.formats.recording import content_kind, find_recordings, read_recording
from solver.formats.smpl import JOINT_NAMES, MODEL_TO_WORLD
from solver.input_checks import check_recording
from solver.input_checks.check_definition import InputToCheck
from solver.input_checks.checks.root_position import ROOT_POSITION
from solver.options.reading import ReadOptions
from solver.signals.trial import Recording
from solver.study.recordings import load
from solver.values.motion import SegmentPoses
from tests.formats.skeletons import LAFAN1, SPARSE, XSENS, YAW, Skeleton, bvh_text, quaternion_rows, storage_text

FRAMES = 12
TIMES = np.arange(FRAMES) / 50.0


def turns(seed: int, size: float = 0.4) -> np.ndarray:
    """A smooth rotation (N, 3, 3)."""
    rng = np.random.default_rng(seed)
    return exp(size * np.sin(TIMES[:, None] * 5.0 + rng.uniform(0.0, 6.0, 3)))


def moved(skeleton: Skeleton) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rotations of the joints that are links, and a path of the root."""
    rotations = {name: turns(k) for k, name in enumerate(skeleton.links)}
    return rotations, np.array([0.0, 0.0, 0.95]) + TIMES[:, None] * [0.5, 0.1, 0.0]


def read(path: Path, text: str) -> SegmentPoses:
    """The segments of a file with this text."""
    path.write_text(text, encoding="utf-8")
    segments = read_recording(path).segments
    assert segments is not None
    return segments


@pytest.mark.parametrize("up", ["y", "z"])
@pytest.mark.parametrize("skeleton", [LAFAN1, XSENS], ids=["lafan1", "xsens"])
def test_a_skeleton_moves_as_it_was_written(skeleton: Skeleton, up: str, tmp_path: Path) -> None:
    """Rotations, the root's path in metres, and the pose at rest come back, whatever axis is up."""
    rotations, root = moved(skeleton)
    found = read(tmp_path / "dance.bvh", bvh_text(skeleton, rotations, root, up=up))
    assert set(skeleton.links) <= set(found.names)
    for name, wanted in rotations.items():
        k = found.names.index(name)
        turned = found.rotations[:, k] @ found.rest.rotations[k].T
        np.testing.assert_allclose(turned, YAW @ wanted @ YAW.T, atol=1e-6)
    np.testing.assert_allclose(found.positions[:, 0], root @ YAW.T, atol=1e-6)
    heads = dict(zip(found.names, found.rest.heads))
    down = heads[next(n for n, link in skeleton.links.items() if link == "left_shank")]
    np.testing.assert_allclose(down, YAW @ [0.0, 0.09, 0.48], atol=1e-6)
    np.testing.assert_allclose(found.times, TIMES, atol=1e-9)


def test_a_joint_that_does_not_turn_stands_where_its_parents_put_it(tmp_path: Path) -> None:
    """Places follow the chain: the head lies above the hips by the sum of the offsets at rest."""
    still = {name: np.tile(np.eye(3), (FRAMES, 1, 1)) for name in LAFAN1.links}
    found = read(tmp_path / "still.bvh", bvh_text(LAFAN1, still, np.tile([1.0, 0.0, 0.95], (FRAMES, 1))))
    head = found.positions[:, found.names.index("Head")] - found.positions[:, 0]
    np.testing.assert_allclose(head, np.tile([0.0, 0.0, 0.68], (FRAMES, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("unit", "metres", "tall"),
    [
        ("cm", 0.01, 1.0),
        ("inch", 0.0254, 1.0),
        ("cmu", 0.0254 / 0.45, 1.0),
        ("cmu", 0.0254 / 0.45, 0.8),
        ("m", 1.0, 1.1),
    ],
)
def test_an_adult_s_height_determines_the_unit(unit: str, metres: float, tall: float, tmp_path: Path) -> None:
    """Inches and the CMU database's unit as well, whose 31 for a person are no toddler's inches; or it is stated."""
    still = {name: np.tile(np.eye(3), (2, 1, 1)) for name in LAFAN1.parents}
    path = tmp_path / "unit.bvh"
    text = bvh_text(replace(LAFAN1, scale=tall / metres), still, np.tile([0.0, 0.0, 0.95], (2, 1)))
    path.write_text(text, encoding="utf-8")
    for options in (ReadOptions(), ReadOptions(units=unit)):
        recording = read_recording(path, options)
        height = np.ptp(recording.segments.rest.heads[:, 2])
        assert height == pytest.approx(1.61 * tall, abs=0.01)
        assert any("lengths are taken" in said for said in recording.warnings) == (options.units is None)


def test_an_implausible_height_requires_the_unit(tmp_path: Path) -> None:
    """A child's in inches, or a person's in feet: what may be stated is named."""
    still = {name: np.tile(np.eye(3), (2, 1, 1)) for name in LAFAN1.parents}
    text = bvh_text(replace(LAFAN1, scale=1.0 / 0.3048), still, np.tile([0.0, 0.0, 0.95], (2, 1)))
    with pytest.raises(InputError, match=r"5.81 high.*m, cmu, inch, cm, mm.*--units"):
        read(tmp_path / "feet.bvh", text)


def test_bones_that_all_lie_along_one_axis_at_zero_rest_where_the_body_stands(tmp_path: Path) -> None:
    """As LAFAN1 is published: all channels at zero are no pose, so a quiet frame of standing shows how bones lie."""
    rotations, root = moved(LAFAN1)
    still = FRAMES // 2 + 2
    for series in rotations.values():
        series[:still] = np.eye(3)
    root[:still] = root[0]
    path = tmp_path / "aiming1_subject1.bvh"
    expected = read(tmp_path / "t_pose.bvh", bvh_text(LAFAN1, rotations, root))
    found = read(path, bvh_text(LAFAN1, rotations, root, along=True))
    assert found.names == expected.names
    assert found.positions is not None
    assert expected.positions is not None
    assert "used as the rest pose" in " ".join(read_recording(path).warnings)
    turned, wanted = (s.rotations @ s.rest.rotations.swapaxes(1, 2) for s in (found, expected) if s.rest is not None)
    np.testing.assert_allclose(turned, wanted, atol=1e-6)
    np.testing.assert_allclose(found.positions, expected.positions, atol=1e-6)
    np.testing.assert_allclose(found.rest.heads, expected.rest.heads, atol=1e-6)
    ended = np.isfinite(found.rest.tips[:, 0])
    assert not ended[found.names.index("Head")]
    np.testing.assert_allclose(found.rest.tips[ended], expected.rest.tips[ended], atol=1e-6)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A BVH file with other names of joints."""
    return re.sub(r"((?:ROOT|JOINT) +)(\S+)", lambda found: found[1] + names.get(found[2], found[2]), text)


@pytest.mark.parametrize(
    ("skeleton", "along"),
    [(SPARSE, False), (SPARSE, True), (LAFAN1, False), (LAFAN1, True)],
    ids=["sparse", "sparse_along_one_axis", "lafan1", "lafan1_along_one_axis"],
)
@pytest.mark.parametrize("up", ["y", "-y"])
@pytest.mark.parametrize("called", ["crown", "unnamed"])
def test_a_skeleton_stands_upright_whatever_its_joints_are_called(
    called: str, up: str, skeleton: Skeleton, along: bool, tmp_path: Path
) -> None:
    """Feet, hips and neck show the vertical where no joint is called head; chains of bones where no name helps."""
    rotations, root = moved(skeleton)
    for series in rotations.values():
        series[: FRAMES // 2 + 2] = np.eye(3)
    root[: FRAMES // 2 + 2] = root[0]
    skeleton = replace(skeleton, offsets={**skeleton.offsets, "Hips": (0.0, 0.0, 0.0)})  # as most programs write it
    text = bvh_text(skeleton, rotations, root, up=up, along=along)
    names = {"Head": "Crown", "LeftShoulder": "LeftCollar", "RightShoulder": "RightCollar"}
    if called == "unnamed":
        names = {name: f"J{k}" for k, name in enumerate(skeleton.parents)}
    expected, found = read(tmp_path / "a.bvh", text), read(tmp_path / "b.bvh", renamed(text, names))
    assert found.positions is not None
    assert expected.positions is not None
    assert "Head" not in found.names
    np.testing.assert_allclose(found.positions, expected.positions, atol=1e-9)
    if not along:
        assert found.rest.heads[found.names.index(names["Head"]), 2] > 0.4
        assert found.rest.heads[found.names.index(names.get("LeftFoot", "LeftFoot")), 2] < -0.5


def test_a_skeleton_that_shows_no_vertical_is_refused(tmp_path: Path) -> None:
    """A single chain of bones without names is read only with the axis stated: nothing is guessed from its origin."""
    chain = Skeleton({"J0": None, "J1": "J0", "J2": "J1"}, {"J0": (0.0, 0.0, 0.0), "J1": (0.0, 0.0, -0.8),
                     "J2": (0.0, 0.0, -0.8)}, {"J2": (0.0, 0.0, -0.1)}, {"J0": "pelvis"})  # fmt: skip
    path = tmp_path / "chain.bvh"
    path.write_text(bvh_text(chain, {"J0": turns(0)}, np.zeros((FRAMES, 3))), encoding="utf-8")
    with pytest.raises(InputError, match=r"vertical axis.*--up"):
        read_recording(path)
    assert read_recording(path, ReadOptions(up="y")).segments is not None


def test_a_body_that_stands_in_no_frame_is_refused(tmp_path: Path) -> None:
    """Folded at zero, and folded in every frame."""
    rotations, root = moved(LAFAN1)
    lines = bvh_text(LAFAN1, rotations, root, along=True).splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    for k in range(first, len(lines)):
        lines[k] = " ".join([*lines[k].split()[:3], *["0"] * (len(lines[k].split()) - 3)])
    with pytest.raises(InputError, match="does not stand"):
        read(tmp_path / "folded.bvh", "\n".join(lines))


def test_blocks_may_open_on_the_line_that_names_them(tmp_path: Path) -> None:
    """As some programs write them."""
    rotations, root = moved(LAFAN1)
    text = bvh_text(LAFAN1, rotations, root)
    opened = re.sub(r"\n\s*\{", " {", text)
    assert "ROOT Hips {" in opened
    found, expected = read(tmp_path / "opened.bvh", opened), read(tmp_path / "plain.bvh", text)
    assert found.names == expected.names
    np.testing.assert_array_equal(found.rotations, expected.rotations)


def test_an_end_site_without_length_is_ignored(tmp_path: Path) -> None:
    """Common where programs have no bone beyond the last joint."""
    rotations, root = moved(LAFAN1)
    text = bvh_text(LAFAN1, rotations, root)
    found = read(tmp_path / "ends.bvh", re.sub(r"(End Site\s*\{\s*OFFSET).*", r"\1 0.0 0.0 0.0", text))
    ends = np.isnan(found.rest.tips[:, 0])
    assert {found.names[k] for k in ends.nonzero()[0]} == set(LAFAN1.ends)


def broken(old: str, new: str, count: int = 1) -> str:
    """A skeleton's file with something replaced."""
    rotations, root = moved(LAFAN1)
    text = bvh_text(LAFAN1, rotations, root)
    assert old in text
    return text.replace(old, new, count)


@pytest.mark.parametrize("channels", ["CHANNELS 1 Zrotation", "CHANNELS 0", ""])
def test_a_rotation_without_a_channel_is_zero(channels: str, tmp_path: Path) -> None:
    """Hinges and fixed joints, as some programs write them, move as joints whose other angles are zero."""
    still = {name: np.tile(np.eye(3), (FRAMES, 1, 1)) for name in LAFAN1.parents}
    lines = bvh_text(LAFAN1, still, np.tile([0.0, 0.0, 0.95], (FRAMES, 1))).splitlines()
    expected = read(tmp_path / "whole.bvh", "\n".join(lines))
    last = max(k for k, line in enumerate(lines) if "CHANNELS 3" in line)
    motion = next(k for k, line in enumerate(lines) if line.startswith("Frame Time"))
    kept = 3 - (1 if "1" in channels else 0)
    lines[last] = channels
    lines[motion + 1 :] = [" ".join(line.split()[:-kept]) for line in lines[motion + 1 :] if line.split()]
    found = read(tmp_path / "fixed.bvh", "\n".join(lines))
    np.testing.assert_allclose(found.rotations, expected.rotations, atol=1e-12)


def test_frames_are_those_in_the_file(tmp_path: Path) -> None:
    """A count that differs, as in a recording that was cut by hand, is a warning; tabs may be anywhere."""
    path = tmp_path / "cut.bvh"
    text = broken(f"Frames: {FRAMES}", f"Frames:\t{FRAMES + 3}").replace("Frame Time:", "Frame\tTime:")
    path.write_text(text, encoding="utf-8")
    recording = read_recording(path)
    assert recording.segments is not None
    assert len(recording.segments) == FRAMES
    assert "15 frames are stated, but there are 12 rows; all are used" in " ".join(recording.warnings)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("CHANNELS 3 Zrotation", "CHANNELS 4 Zrotation", r"line \d+: .*states 4 channels and names 3"),
        ("Xposition Yposition", "Xposition Xposition", r"line \d+: .*lacks Yposition"),
        ("Zrotation", "Wrotation", r"line \d+: .*unknown channel 'Wrotation'"),
        ("Frame Time:", "Frame Rate:", r"line \d+"),
        ("MOTION", "MOTIONS", "has no line MOTION"),
        ("JOINT Spine1", "JOINT Spine", r"line \d+: joint 'Spine' occurs twice"),
    ],
)
def test_what_is_wrong_in_a_skeleton_is_reported_with_its_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    """Missing and unknown channels, counts that differ, and names twice."""
    with pytest.raises(InputError, match=words):
        read(tmp_path / "broken.bvh", broken(old, new))


def test_a_root_at_the_position_of_the_hips_is_not_an_error(tmp_path: Path) -> None:
    """As some programs write one that carries the whole skeleton; what turns first, below it, has the position."""
    rotations, root = moved(LAFAN1)
    lines = bvh_text(LAFAN1, rotations, root).splitlines()
    end = lines.index("MOTION")
    body = [line.replace("ROOT", "JOINT") for line in lines[1:end]]
    body[2] = "OFFSET 0 0 0"
    own = ["HIERARCHY", "ROOT Reference", "{", "OFFSET 0 0 0", "CHANNELS 3 Zrotation Yrotation Xrotation"]
    rows = [f"0 0 0 {line}" for line in lines[end + 3 :]]
    found = read(tmp_path / "carried.bvh", "\n".join([*own, *body, "}", *lines[end : end + 3], *rows]))
    expected = read(tmp_path / "plain.bvh", "\n".join(lines))
    assert found.names == ("Reference", *expected.names)
    assert np.isnan(found.rest.tips[0]).all()
    np.testing.assert_allclose(found.rotations[:, 1:], expected.rotations, atol=1e-9)
    assert expected.positions is not None
    assert found.positions is not None
    np.testing.assert_allclose(found.positions[:, 1:], expected.positions, atol=1e-9)
    for segments, is_still in ((found, False), (replace(found, positions=0.0 * found.positions), True)):
        problem = ROOT_POSITION.measure(InputToCheck(Recording("file", segments=segments)))
        assert (problem is not None) is is_still


def test_a_bone_without_length_is_reported_with_its_line(tmp_path: Path) -> None:
    """A bone that ends where it begins points nowhere."""
    rotations, root = moved(LAFAN1)
    lines = bvh_text(LAFAN1, rotations, root).splitlines()
    at = next(k for k, line in enumerate(lines) if "JOINT LeftLeg" in line)
    lines[at + 2] = "OFFSET 0 0 0"
    with pytest.raises(InputError, match=rf"line {at + 1}: the bone of joint 'LeftUpLeg' has no length"):
        read(tmp_path / "short.bvh", "\n".join(lines))


def units(seed: int = 3) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and quaternions xyzw (N, B, 4) of a person who moves a little."""
    names = ("pelvis", "torso", "thigh_l", "shank_l", "thigh_r", "shank_r")
    matrices = np.stack([turns(seed + k) for k in range(len(names))], axis=1)
    return names, Rotation.from_matrix(matrices.reshape(-1, 3, 3)).as_quat().reshape(FRAMES, -1, 4)


def test_quaternions_are_read_in_the_order_that_titles_state(tmp_path: Path) -> None:
    """xyzw by name, with a missing sample and with quaternions of either sign."""
    names, quaternions = units()
    flipped = quaternions.copy()
    flipped[::3] *= -1.0
    text = quaternion_rows(TIMES, names, flipped).replace(f"{flipped[4, 0, 0]:.9f}", "", 1)
    found = read(tmp_path / "units.csv", text)
    wanted = Rotation.from_quat(quaternions.reshape(-1, 4)).as_matrix().reshape(FRAMES, -1, 3, 3)
    assert np.isnan(found.rotations[4, 0]).all()
    np.testing.assert_allclose(found.rotations[5:], wanted[5:], atol=1e-7)


@pytest.mark.parametrize(("order", "word"), [([3, 0, 1, 2], "first"), ([0, 1, 2, 3], "last")])
def test_an_order_that_is_not_stated_is_found_and_reported(order: list[int], word: str, tmp_path: Path) -> None:
    """Columns q0 to q3: where the segments stand shows which is the scalar part."""
    names, quaternions = units()
    path = tmp_path / "units.csv"
    path.write_text(quaternion_rows(TIMES, names, quaternions[:, :, order], ("q0", "q1", "q2", "q3")), encoding="utf-8")
    recording = read_recording(path)
    wanted = Rotation.from_quat(quaternions.reshape(-1, 4)).as_matrix().reshape(FRAMES, -1, 3, 3)
    np.testing.assert_allclose(recording.segments.rotations, wanted, atol=1e-7)
    assert any(f"scalar part is assumed to be {word}" in warning for warning in recording.warnings)


@pytest.mark.parametrize("turned", [0.0, 0.25, 1.0])
def test_a_stated_order_that_the_numbers_contradict_is_reported(turned: float, tmp_path: Path) -> None:
    """W first under x, y, z, w, and the reverse; not where a person has only turned round."""
    names, quaternions = units()

    def about(axis: list[float]) -> np.ndarray:
        turn = Rotation.from_rotvec(np.pi * turned * np.array(axis))
        return (turn * Rotation.from_quat(quaternions.reshape(-1, 4))).as_quat().reshape(quaternions.shape)

    def words(name: str, text: str) -> bool:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return any("look as if the file held" in warning for warning in check_recording(read_recording(path)).warnings)

    upright, standing = about([0.0, 0.0, 1.0]), about([0.0, 1.0, 0.0])
    assert not words("right.csv", quaternion_rows(TIMES, names, upright))
    assert not words("right.sto", storage_text(TIMES, names, standing))
    if turned < 1.0:  # who has turned his back holds his turn where neither order has a scalar part
        assert words("wrong.csv", quaternion_rows(TIMES, names, upright[:, :, [3, 0, 1, 2]]))
        assert words("wrong.sto", storage_text(TIMES, names, standing[:, :, [1, 2, 3, 0]]))


def test_an_order_that_cannot_be_determined_is_refused(tmp_path: Path) -> None:
    """Half turns either way look alike."""
    half = np.tile(np.sqrt(0.5) * np.array([1.0, 0.0, 0.0, 1.0]), (FRAMES, 2, 1))
    with pytest.raises(InputError, match="the order of its quaternions is unknown"):
        read(tmp_path / "units.csv", quaternion_rows(TIMES, ("a", "b"), half, ("q0", "q1", "q2", "q3")))


def test_quaternions_that_are_none_are_refused(tmp_path: Path) -> None:
    """A length that is not one is reported with segment and line; a little rounding is reported and taken."""
    names, quaternions = units()
    quaternions[7, 2] *= 1.2
    path = tmp_path / "units.csv"
    with pytest.raises(InputError, match=r"line 9: the quaternion of 'thigh_l' has length 1.2, not 1"):
        read(path, quaternion_rows(TIMES, names, quaternions))
    quaternions[7, 2] *= 1.005 / 1.2
    path.write_text(quaternion_rows(TIMES, names, quaternions), encoding="utf-8")
    assert any("normalised" in warning for warning in read_recording(path).warnings)


def test_segments_are_kept_in_an_archive(tmp_path: Path) -> None:
    """What is written comes back: rotations with what is missing, places, and the pose at rest."""
    rotations, root = moved(LAFAN1)
    found = read(tmp_path / "dance.bvh", bvh_text(LAFAN1, rotations, root))
    dropped = found.rotations.copy()
    dropped[3, 5] = np.nan
    segments = SegmentPoses(found.times, found.names, dropped, found.positions, found.rest)
    write_recording_npz(tmp_path / "kept.npz", Recording("kept", segments=segments))
    again = read_recording(tmp_path / "kept.npz").segments
    assert again.names == segments.names
    np.testing.assert_allclose(again.rotations, dropped, atol=1e-9)
    assert again.positions is not None
    assert found.positions is not None
    np.testing.assert_array_equal(again.positions, found.positions)
    np.testing.assert_allclose(again.rest.rotations, found.rest.rotations, atol=1e-9)


def test_time_that_runs_backwards_is_refused(tmp_path: Path) -> None:
    """Rows out of order, in both kinds of tables."""
    names, quaternions = units()
    times = TIMES.copy()
    times[[3, 4]] = times[[4, 3]]
    for name, text in (
        ("a.csv", quaternion_rows(times, names, quaternions)),
        ("a.sto", storage_text(times, names, quaternions)),
    ):
        with pytest.raises(InputError, match="does not come after"):
            read(tmp_path / name, text)


def test_units_of_opensim_are_read(tmp_path: Path) -> None:
    """Cells w,x,y,z in a world whose y is up; they are no joint angles and no forces."""
    names, quaternions = units()
    path = tmp_path / "walk_orientations.sto"
    path.write_text(storage_text(TIMES, names, quaternions), encoding="utf-8")
    assert content_kind(path) == "segments"
    found = read_recording(path).segments
    wanted = Rotation.from_quat(quaternions.reshape(-1, 4)).as_matrix().reshape(FRAMES, -1, 3, 3)
    upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(found.rotations, upright @ wanted, atol=1e-7)
    assert [r.segments is not None for r in find_recordings([tmp_path])] == [True]


def body(**changes: object) -> dict[str, object]:
    """Arrays of a body model's motion."""
    poses = np.zeros((FRAMES, 156))
    poses[:, :3] = [1.2092, 1.2092, 1.2092]  # upright, facing x: y becomes z, z becomes x
    poses[:, 12:15] = np.linspace(0.0, [0.9, 0.0, 0.0], FRAMES)
    arrays: dict[str, object] = {
        "poses": poses,
        "trans": np.tile([0.0, 0.0, 0.9], (FRAMES, 1)),
        "mocap_framerate": 60.0,
        "betas": np.zeros(16),
        "gender": np.array("female"),
    }
    return {name: value for name, value in {**arrays, **changes}.items() if value is not None}


def test_a_body_model_is_read_without_its_body(tmp_path: Path) -> None:
    """AMASS: rotations add along the tree, the root's place is kept, other places are not known."""
    path = tmp_path / "amass.npz"
    np.savez(path, **body())  # type: ignore[arg-type]
    found = read_recording(path).segments
    assert found.names == JOINT_NAMES
    assert found.rest is not None
    knee = JOINT_NAMES.index("left_knee")
    np.testing.assert_allclose(found.rotations[0, knee], MODEL_TO_WORLD, atol=1e-3)
    turned = found.rotations[-1, JOINT_NAMES.index("left_ankle")]
    np.testing.assert_allclose(turned, found.rotations[0, 0] @ exp(np.array([0.9, 0.0, 0.0])), atol=1e-9)
    assert np.isnan(found.positions[:, 1:]).all()
    assert found.rate == pytest.approx(60.0)


def test_unused_arrays_of_objects_are_ignored(tmp_path: Path) -> None:
    """AMASS has dictionaries of marker indices beside its motions: they are not unpickled, and what is needed is."""
    path, hidden = tmp_path / "stageii.npz", tmp_path / "hidden.npz"
    np.savez(path, **body(markers_latent_vids=np.array({"LKNE": 1010}, object)))  # type: ignore[arg-type]
    found = read_recording(path).segments
    assert found.names == JOINT_NAMES
    np.savez(hidden, **body(poses=np.array([{}], object)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="array poses: holds objects, which are not read"):
        read_recording(hidden)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mocap_framerate": None}, "states no frame rate"),
        ({"trans": np.zeros((3, 3))}, "array trans"),
        ({"poses": np.zeros((FRAMES, 30))}, "10 joints"),
        ({"poses": np.full((FRAMES, 156), 90.0)}, "rotation vectors up to 90"),
    ],
)
def test_a_body_model_that_lacks_something_is_refused(changes: dict[str, object], words: str, tmp_path: Path) -> None:
    """No rate, another number of frames, too few joints, degrees."""
    path = tmp_path / "amass.npz"
    np.savez(path, **body(**changes))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=words):
        read_recording(path)


def test_a_skeleton_of_one_frame_is_a_posture(tmp_path: Path) -> None:
    """One frame is read as one, whatever its frame time; a study holds it still."""
    text = bvh_text(LAFAN1, {}, np.array([[0.0, 0.0, 0.95]]))
    path = tmp_path / "pose.bvh"
    for time in ("0", "0.02", "5"):
        path.write_text(re.sub("Frame Time: .*", f"Frame Time: {time}", text))
        found = read_recording(path).segments
        assert found is not None
        assert len(found) == 1
    (held,) = load(path)
    assert held.segments.times[-1] == 1.0
    assert np.ptp(held.segments.rotations, axis=0).max() == 0.0
    assert any("posture" in warning for warning in held.warnings)
