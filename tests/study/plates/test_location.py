"""Laws of the location of plates, estimated from residual moments; simulated."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from solver.motion import Motion
from solver.rigs import from_opensim, hoap3
from solver.so3 import exp, to_quaternion
from solver.study.joint_motion import convert_joint_recordings
from solver.study.pipeline import prepare
from solver.study.plates.finding import Action
from solver.study.plates.location import check_location
from solver.study.plates.trial_wrenches import ComparedTrial
from solver.study.recordings import load
from solver.trial import Trial
from solver.wrenches import Wrenches

FRAMES, RATE = 500, 100.0
YAWS = (0.0, 0.25 * np.pi, 0.5 * np.pi, 1.1 * np.pi)
"""[rad] Headings of the body."""


def weighed(yaw: float, shift: np.ndarray, bob: float = 0.0) -> ComparedTrial:
    """A trial with this heading on a plate that is displaced from its file's location by a shift (3,) [m], world; the
    root moves up and down by ``bob`` [m], never sideways."""
    rig, times = hoap3(), np.arange(FRAMES) / RATE
    q = np.tile(rig.neutral, (FRAMES, 1))
    q[:, 2] += bob * np.sin(times)
    q[:, 3:7] = to_quaternion(exp(np.array([0.0, 0.0, yaw])))
    zero = np.zeros((FRAMES, rig.nv))
    force = np.stack([5.0 * np.sin(times), 3.0 * np.cos(times), 70.0 + 20.0 * np.sin(3.0 * times)], axis=1)
    point = np.array([0.4, -0.3, 0.0])
    stated = np.hstack([force, np.cross(point, force)])
    needed = np.hstack([force, np.cross(point + shift, force)])
    trial = Trial("still", Motion(times, q, zero, zero), Wrenches(times, ("plate",), stated[:, None]),
                  np.ones(FRAMES, bool))  # fmt: skip
    return ComparedTrial(trial, needed, stated)


def world(yaw: float, forward: float, left: float) -> np.ndarray:
    """Displacement (3,) in world axes from one in the body's directions."""
    return exp(np.array([0.0, 0.0, yaw])) @ np.array([forward, left, 0.0])


@pytest.mark.parametrize("yaw", YAWS)
@pytest.mark.parametrize(("forward", "left"), [(0.12, 0.0), (0.0, 0.06), (-0.1, 0.05)])
def test_a_displaced_plate_is_corrected(yaw: float, forward: float, left: float) -> None:
    """A moment that is wrong by d x F is a plate that is displaced by d, whatever the heading of the body."""
    shift = world(yaw, forward, left)
    ((finding, applied),) = check_location([weighed(yaw, shift)], overridden=False)
    assert finding.done is Action.UNDONE
    np.testing.assert_allclose(applied, shift, atol=1e-3)
    stated = {float(value): float(wide) for value, wide in re.findall(r"([\d.]+) ± ([\d.]+) mm", finding.text)}
    assert sorted(stated) == pytest.approx(sorted([1e3 * abs(forward), 1e3 * abs(left)]), abs=1.0)
    assert finding.unit == "mm"
    low, high = finding.interval  # in the unit, about the value
    assert 0.5 * (low + high) == pytest.approx(finding.evidence, abs=0.1)
    assert 0.5 * (high - low) == pytest.approx(stated[round(abs(finding.evidence), 1)], abs=0.1)


@pytest.mark.parametrize("yaw", YAWS)
def test_the_bodys_uncertainty_has_the_bodys_directions(yaw: float) -> None:
    """A plate displaced by 35 mm sideways is corrected; 35 mm forwards may be the error of the trunk's prior."""
    ((_, sideways),) = check_location([weighed(yaw, world(yaw, 0.0, 0.035))], overridden=False)
    np.testing.assert_allclose(sideways, world(yaw, 0.0, 0.035), atol=1e-3)
    ((finding, forwards),) = check_location([weighed(yaw, world(yaw, 0.035, 0.0))], overridden=False)
    assert finding.done is Action.NOTHING
    assert not forwards.any()


@pytest.mark.parametrize("yaw", YAWS)
def test_a_planar_model_moves_no_plate_sideways(yaw: float) -> None:
    """A body that moves, but never sideways, is planar: forwards plates are corrected, sideways nothing is said."""
    ((finding, applied),) = check_location([weighed(yaw, world(yaw, 0.12, 0.06), bob=0.02)], overridden=False)
    np.testing.assert_allclose(applied, world(yaw, 0.12, 0.0), atol=2e-3)
    assert not re.search("left|right", finding.text)


def test_plates_of_a_planar_walk_stay(shared_data: Path) -> None:
    """Gait10dof (recorded, planar): neither the layout nor a single plate is moved sideways."""
    folder = shared_data / "brought" / "gait10dof"
    rig = from_opensim(folder / "gait10dof_subject01.osim", meshes="none")
    recordings = load([folder / "subject01_walk_IK.mot", folder / "subject01_walk_grf.mot"])
    (record,) = prepare(rig, convert_joint_recordings(rig, recordings)).records
    assert record.plate_correction.shift[1] == 0.0
    assert not record.plate_correction.shifts[:, 1].any()
