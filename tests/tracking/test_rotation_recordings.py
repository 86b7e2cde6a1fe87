"""Recordings of rotations and a root without lengths (AMASS, SMPL-X), followed as a person of a stature."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import log
from solver.cli import main
from solver.cli.exit_codes import INCOMPLETE
from solver.dynamics import link_motions
from solver.formats.recording import read_recording
from solver.formats.smpl import JOINT_NAMES, MODEL_TO_WORLD, T_POSE_OFFSETS
from solver.rigs import hrp2, human
from solver.scene.motion_record import MOTION
from solver.tracking.anatomy import find_anatomy, find_joint_centres
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.retarget import retarget_motion
from solver.tracking.retargeting.rotation_recordings import DEFAULT_STATURE, lacks_lengths, performer_of_stature
from solver.values.motion import SegmentPoses
from tests.tracking.test_retargeting import assert_feet_stand

RATE, STEP, BEND = 60.0, 0.8, 0.6
"""[1/s]; [s] that one foot is up; [rad] of the hip."""
LEAN = float(
    np.arctan2(-T_POSE_OFFSETS[JOINT_NAMES.index("left_ankle"), 2], -T_POSE_OFFSETS[JOINT_NAMES.index("left_ankle"), 1])
)
"""[rad] of the model's shanks at rest: ankles lie behind knees."""
STEPS = ("left", "right", "left", "right")


def walk_in_place(path: Path, **changes: object) -> Path:
    """Simulated: an archive as AMASS has it; feet go up in turn, level, below a pelvis that stays 0.9 m high."""
    times = np.arange(0.0, STEP * (len(STEPS) + 1), 1.0 / RATE)
    poses = np.zeros((len(times), 52, 3))
    poses[:, 0] = log(MODEL_TO_WORLD)  # the model's y is up, the world's z is
    for number, side in enumerate(STEPS):
        phase = np.clip((times - STEP * (number + 0.5)) / STEP, 0.0, 1.0)
        bend = BEND * np.sin(np.pi * phase) ** 2  # about the model's x, which points to the left
        for joint, share in (("hip", -1.0), ("knee", 2.0), ("ankle", -1.0)):
            poses[:, JOINT_NAMES.index(f"{side}_{joint}"), 0] += share * bend
    toes = [JOINT_NAMES.index(f"{side}_toes") for side in ("left", "right")]
    poses[:, toes, 0] = 0.4 * np.sin(7.0 * times)[:, None]  # wriggling toes are no feet
    arrays: dict[str, object] = {
        "poses": poses.reshape(len(times), -1), "trans": np.tile([1.0, 2.0, 0.9], (len(times), 1)),
        "mocap_framerate": RATE, "betas": np.zeros(16),
    }  # fmt: skip
    np.savez(path, **{**arrays, **changes})  # type: ignore[arg-type]
    return path


@pytest.fixture
def walk(tmp_path: Path) -> SegmentPoses:
    """What is read of it."""
    segments = read_recording(walk_in_place(tmp_path / "walk.npz")).segments
    assert segments is not None
    return segments


def raised(performer: Performer, side: str) -> np.ndarray:
    """(N,) [m] height of a sole's lowest point."""
    return np.asarray(performer.sole_points(side)[..., 2].min(axis=1))


@pytest.mark.parametrize("height", [DEFAULT_STATURE, 1.9])
def test_feet_stand_level_and_rise_as_legs_of_that_stature_do(walk: SegmentPoses, height: float) -> None:
    """The standing sole stays on the floor; the other rises with the rotations of thigh and shank."""
    assert lacks_lengths(walk)
    performer = performer_of_stature(walk, height)
    assert performer.parts["left_foot"] == "left_ankle"
    body = human(height, 70.0, "male")
    starts = find_joint_centres(body, find_anatomy(body).parts)
    for number, (side, other) in enumerate((("left", "right"), ("right", "left"))):
        thigh = np.linalg.norm(starts[f"{side}_shank"] - starts[f"{side}_thigh"])
        shank = np.linalg.norm(starts[f"{side}_foot"] - starts[f"{side}_shank"])
        top = round(STEP * (number + 1.0) * RATE)
        rise = thigh * (1.0 - np.cos(BEND)) + shank * (np.cos(LEAN) - np.cos(LEAN + BEND))
        assert raised(performer, side)[top] == pytest.approx(rise, rel=0.02)
        up = slice(round(STEP * (number + 0.5) * RATE), round(STEP * (number + 1.5) * RATE))
        assert np.abs(performer.sole_points(other)[up] - performer.sole_points(other)[0]).max() < 1e-9
        assert np.abs(raised(performer, other)[up]).max() < 1e-9
        assert np.ptp(performer.sole_points(side)[..., 2], axis=1).max() < 1e-6
        knee, hip = (performer.part_positions(f"{side}_{part}")[top] for part in ("shank", "thigh"))
        assert knee[0] > hip[0] + 0.1  # the body faces the world's x
    left, right = (performer.part_positions(f"{side}_foot")[0] for side in ("left", "right"))
    assert left[1] > right[1] + 0.1
    own = starts["pelvis"][2] - min((body.rest[1][body.index(sole.link)] + sole.vertices)[:, 2].min()
                                    for sole in (body.patch(patch) for patch in body.sides.values()))  # fmt: skip
    assert performer.part_positions("pelvis")[:, 2] == pytest.approx(own, abs=0.02)
    assert "no lengths" in performer.notes[0]
    assert f"{height:g} m" in performer.notes[0]


def test_hrp2_walks_in_place_like_the_recording(walk: SegmentPoses) -> None:
    """Feet rise in turn, stand in between and do not slide; the root stays upright at the height of its legs."""
    performer, rig = performer_of_stature(walk), hrp2()
    found = retarget_motion(performer, rig)
    stands = found.foot_paths.in_stance
    assert 0.2 < stands[0].mean() < 0.8
    feet = {side: rig.patch(patch).link for side, patch in rig.sides.items()}
    links = link_motions(rig, found.motion)
    assert_feet_stand(found)
    for side in ("right", "left"):
        place = links.position[:, rig.index(feet[side])].T
        assert (place[:, 1].mean() > found.motion.q[0, 1]) == (side == "left")
        assert np.ptp(place[:, 2]) > 0.03
    assert np.ptp(found.motion.q[:, 2]) < 0.05
    neutral = rig.standing_height
    assert found.motion.q[0, 2] == pytest.approx(neutral, rel=0.1)
    up = 1.0 - 2.0 * (found.motion.q[:, 3:5] ** 2).sum(axis=1)
    assert up.min() > 0.98


def test_the_command_reads_the_archive_and_reports_its_assumption(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a person's rig the assumed stature is reported."""
    arguments = ["retarget", str(walk_in_place(tmp_path / "walk.npz")), "hrp2", "--no-repair", "--height", "1.8"]
    assert main([*arguments, "--output", str(tmp_path / "out")]) == INCOMPLETE
    assert "a person of 1.8 m" in capsys.readouterr().out
    assert np.isfinite(MOTION.read(tmp_path / "out" / "dance.motion.npz").motion.q).all()


def test_archives_with_missing_samples_are_refused(walk: SegmentPoses) -> None:
    """A root that is missing in a frame, and segments with other names."""
    assert walk.positions is not None
    places = np.array(walk.positions)
    places[3] = np.nan
    with pytest.raises(InvalidValue, match="missing in some frames"):
        performer_of_stature(replace(walk, positions=places))
    assert walk.rest is not None
    treeless = replace(walk, rest=replace(walk.rest, parents=()))
    with pytest.raises(InvalidValue, match="right_shank"):
        performer_of_stature(replace(treeless, names=tuple(name.replace("knee", "thing") for name in walk.names)))
