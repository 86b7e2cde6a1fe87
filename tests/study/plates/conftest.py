"""Fixtures of several tests of plate checks."""

from __future__ import annotations

import numpy as np
import pytest

from solver.demo.examples import simulated_robot
from solver.skeleton.rig import Rig
from solver.study.joint_motion import poses_of
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import Poses, TrialRecord
from tests.simulated_walk import simulated_walker


@pytest.fixture(scope="session")
def robot() -> tuple[Rig, TrialRecord]:
    """A simulated robot and its trial, whose motion is known."""
    body = simulated_robot()
    recording = body.recordings[0]
    return body.rig, TrialRecord(recording, given=poses_of(body.rig, recording.joints))  # type: ignore[arg-type]


@pytest.fixture(scope="session", params=["simulated", "recorded"])
def walks(request: pytest.FixtureRequest) -> tuple[Rig, tuple[TrialRecord, ...]]:
    """Two trials in which one plate is stepped on after the other: simulated walks, and subject_e's tracked runs."""
    if request.param == "simulated":
        walker = simulated_walker()
        return walker.rig, tuple(
            TrialRecord(recording, given=Poses(motion.times, motion.q, np.ones(len(motion), bool)))
            for recording, motion in zip(walker.recordings[1:], walker.motions)
        )
    recordings = load([request.getfixturevalue("shared_data") / "subject_e"])
    person = calibrate(recordings, sex="male", mass=72.8)
    return person.rig, track_all(person, recordings, jobs=1)
