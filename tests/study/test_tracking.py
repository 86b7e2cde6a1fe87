"""Tracked motions keep their forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import solver
from solver.base.errors import InvalidValue
from solver.study.tracking import collect_warnings
from solver.study.values import TrialRecord
from solver.values.motion import Markers
from solver.workflow.pipeline import track


def test_a_tracked_motion_keeps_its_forces() -> None:
    """Forces recorded with a motion are resampled at its times, and the motion is the same without them."""
    robot = solver.demo.simulated_robot()
    study = track(robot.recordings, robot.rig)
    alone = track([replace(recording, wrenches=None) for recording in robot.recordings], robot.rig)
    for record in study.records:
        assert np.array_equal(record.trial.wrenches.times, record.motion.times)
        without = alone.record(record.name)
        assert without.trial is None
        assert np.array_equal(without.motion.q, record.motion.q)


def test_one_frame_calibrates_and_is_not_tracked() -> None:
    """A static trial of one frame gives nearly the same rig as the whole trial; it has no motion, the others have."""
    dance, static = solver.demo.simulated_person().recordings
    assert static.markers is not None
    markers = static.markers
    frame = Markers(markers.times[:1], markers.names, markers.positions[:1])
    one = replace(static, markers=frame, wrenches=None)
    found, usual = (
        solver.calibrate([trial, dance], sex="male", mass=71.0, height=1.76, static=("static",))
        for trial in (one, static)
    )
    for link, length in usual.lengths.items():
        assert found.lengths[link] == pytest.approx(length, abs=5e-3), link
    study = track([one, dance], found)
    assert study.record("static").motion is None
    assert study.record("dance").motion is not None
    with pytest.raises(InvalidValue, match="no recording could be tracked: static: no markers in two frames"):
        track([one], found)


def test_a_warning_of_many_trials_names_eight() -> None:
    """Of forty recordings without a motion the warning has the first eight names and the number of the others."""
    (recording,) = solver.demo.simulated_robot().recordings
    bare = [TrialRecord(replace(recording, name=f"bare {index}", joints=None)) for index in range(40)]
    (warning,) = collect_warnings(bare, None)
    assert warning == f"{', '.join(f'bare {index}' for index in range(8))} and 32 more: no joint coordinates, left out"
