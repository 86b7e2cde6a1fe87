"""Laws of the checks of recordings against the body that they are used with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.capture.followers import FollowOptions
from solver.capture.replay import build_stream
from solver.demo import simulated_robot
from solver.input_checks import check_recording
from solver.signals.trial import Recording
from solver.values.motion import JointCoordinates

ROBOT = simulated_robot()
RECORDED = ROBOT.recordings[0]


def with_angles(factor: float, **changes: object) -> Recording:
    """The robot's recording with its angles multiplied."""
    joints = RECORDED.joints
    assert isinstance(joints, JointCoordinates)
    return replace(RECORDED, joints=replace(joints, values=factor * joints.values), **changes)  # type: ignore[arg-type]


def test_a_right_recording_is_returned_as_it_is() -> None:
    """Checks change nothing of a recording that passes them."""
    found = check_recording(RECORDED, ROBOT.rig)
    assert found.joints is RECORDED.joints
    assert found.warnings == RECORDED.warnings
    assert found.found is not None
    assert found.found.reading == ""


def test_degrees_are_read_as_degrees_unless_the_user_states_radians() -> None:
    """Angles far beyond the rig's limits are degrees, with a note; a stated unit is kept, with a note."""
    found = check_recording(with_angles(np.degrees(1.0)), ROBOT.rig)
    assert found.joints is not None
    assert set(found.joints.units) == {"deg or m"}
    assert any("--angle-units rad overrules" in text for text in found.warnings)
    stated = check_recording(with_angles(np.degrees(1.0), stated={"angle_units": "rad"}), ROBOT.rig)
    assert stated.joints is not None
    assert set(stated.joints.units) == {"rad"}
    assert any("beyond the limits" in text for text in stated.warnings)
    small = check_recording(with_angles(np.radians(1.0)), ROBOT.rig)
    assert any("no joint angle exceeds" in text for text in small.warnings)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_the_first_seconds_of_a_stream_are_checked(is_wrong: bool) -> None:
    """Quaternions w x y z of a robot are noted within three seconds, right ones are not; both streams are followed."""
    joints = RECORDED.joints
    assert joints is not None
    assert joints.root is not None
    root = np.c_[joints.root[:, :3], np.roll(joints.root[:, 3:], int(is_wrong), axis=1)]
    stream = build_stream(replace(RECORDED, joints=replace(joints, root=root)))
    follower = FollowOptions(ROBOT.rig).create_follower(stream.layout)
    for time, values in zip(stream.times[:300], stream.values):
        pose = follower.follow(values, float(time), 0.0)
        assert pose is not None
        assert pose.tracked
    assert bool(follower.notes) == is_wrong
    assert all("upright" in note for note in follower.notes)


def test_what_no_reading_explains_is_refused() -> None:
    """The refusal names the recording, what was compared, the readings tried and the remedy."""
    with pytest.raises(InputError, match=r"dance.*beyond the limits of.*tried: angles in degrees \(fails\).*unit"):
        check_recording(with_angles(1e5), ROBOT.rig)
