"""Wrong joint coordinates and forces of a robot are named; right ones are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.demo.robot import Robot, simulate_robot
from solver.signals.trial import Recording
from solver.study.joint_motion import poses_of
from solver.study.prepare import prepare
from solver.study.values import TrialRecord


@pytest.fixture(scope="module")
def robot() -> Robot:
    """HRP-2 that dances on both feet; its inertials differ from the prior."""
    return simulate_robot(1, trials=("dance",), seconds=6.0, rate=50)


def change_joints(change: Callable[[np.ndarray, list[str]], None]) -> Callable[[Recording], Recording]:
    """Change a recording's joint angles (N, J) in place, by their names."""

    def changed(recording: Recording) -> Recording:
        assert recording.joints is not None
        values = recording.joints.values.copy()
        change(values, list(recording.joints.names))
        return replace(recording, joints=replace(recording.joints, values=values))

    return changed


def reverse(values: np.ndarray, names: list[str]) -> None:
    values[:, names.index("left_shoulder_pitch")] *= -1.0


def exchange(values: np.ndarray, names: list[str]) -> None:
    pair = [names.index("left_shoulder_pitch"), names.index("left_forearm")]
    values[:, pair] = values[:, pair[::-1]]


def scale_wrenches(
    force: float,
    moment: float,
    plates: slice = slice(None),
) -> Callable[[Recording], Recording]:
    """Multiply forces and moments of some plates."""

    def scaled(recording: Recording) -> Recording:
        assert recording.wrenches is not None
        values = recording.wrenches.values.copy()
        values[:, plates] *= np.repeat([force, moment], 3)
        return replace(recording, wrenches=replace(recording.wrenches, values=values))

    return scaled


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (change_joints(reverse), "the angle of left_shoulder_pitch has the wrong sign"),
        (change_joints(exchange), "left_shoulder_pitch and left_forearm are exchanged"),
        (scale_wrenches(1.0, 1000.0), "the moments are in N mm"),
        (scale_wrenches(1.0, 1000.0, slice(0, 1)), "the moments of right_sole are in N mm"),
        (scale_wrenches(1.0, 0.001, slice(1, 2)), "the moments of left_sole are in N m but stated in N mm"),
        (scale_wrenches(0.01, 0.01), r"the plates weigh 0\.58 kg and the model of HRP-2 .* 58 kg"),
    ],
)
def test_the_cause_is_named(robot: Robot, change: Callable[[Recording], Recording], cause: str) -> None:
    """The refusal names the joint and the error, or the unit of the forces; right data have no finding."""
    (recording,) = robot.recordings
    wrong = change(recording)
    assert wrong.joints is not None
    with pytest.raises(InvalidValue, match=cause):
        prepare(robot.rig, [TrialRecord(wrong, given=poses_of(robot.rig, wrong.joints))])


def test_right_data_have_no_cause(robot: Robot) -> None:
    """A prior that differs from the truth is no wrong column."""
    (recording,) = robot.recordings
    assert recording.joints is not None
    found = prepare(robot.rig, [TrialRecord(recording, given=poses_of(robot.rig, recording.joints))])
    assert all(finding.done.is_silent for finding in found.findings)
