"""What is only tracked keeps what was measured beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import solver
from solver.study.following import track_study


def test_a_tracked_motion_keeps_its_forces() -> None:
    """Forces given with a motion are there at its times, and the motion is the one without them."""
    robot = solver.simulated_robot()
    study = track_study(robot.recordings, robot.rig)
    alone = track_study([replace(recording, wrenches=None) for recording in robot.recordings], robot.rig)
    for record in study.records:
        assert record.motion is not None
        assert record.trial is not None
        assert np.array_equal(record.trial.wrenches.times, record.motion.times)
        without = alone.record(record.name)
        assert without.trial is None
        assert without.motion is not None
        assert np.array_equal(without.motion.q, record.motion.q)
