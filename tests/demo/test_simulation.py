"""The demonstration's simulated bodies, motions and laboratory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.demo.laboratory import (
    FORCE_NOISE,
    MARKER_NOISE,
    MarkerPlacement,
    PlateNoise,
    record_markers,
    record_plates,
    sole_centres,
    write_forces,
    write_trc,
)
from solver.demo.motions import MotionAmplitudes, Stance, centre_of_pressure, simulate_motion, standing_posture
from solver.demo.person import CROUCH, WHOLE_BODY
from solver.demo.truth import MASS_CHANGE, perturb_inertials
from solver.dynamics import link_motions, predicted_wrench
from solver.dynamics.coordinates import joint_coordinates
from solver.formats.recording import read_recording
from solver.rigs import hrp2, human
from solver.skeleton.rig import Rig
from solver.values.motion import Motion

FEET = ("right_foot", "left_foot")
LEGS = tuple(f"{side}_{part}" for side in ("right", "left") for part in ("thigh", "shank", "foot"))


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A person."""
    return human(1.76, 71.0, "male")


@pytest.fixture(scope="module")
def dance(rig: Rig) -> Motion:
    """Six seconds on both feet."""
    return simulate_motion(
        rig, Stance(standing_posture(rig, CROUCH), FEET, LEGS), WHOLE_BODY, np.arange(0.0, 6.0, 0.01), 7
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_truth_is_a_body_that_can_exist(rig: Rig, seed: int) -> None:
    """Every changed truth is physically consistent, has the same mass, and has centres of mass inside their boxes."""
    for body in (rig, hrp2()):
        truth = perturb_inertials(body, seed)
        assert np.all(truth.consistency_margin > 0.0)
        assert truth.total_mass == pytest.approx(body.prior.total_mass, rel=1e-12)
        assert np.all(truth.coms >= body.boxes[:, 0] - 1e-12)
        assert np.all(truth.coms <= body.boxes[:, 1] + 1e-12)
        change = truth.masses / body.prior.masses
        assert change.max() > 1.1
        assert np.all(np.abs(np.log(change)) < 2.0 * MASS_CHANGE)


def test_feet_stay_and_limits_hold(rig: Rig, dance: Motion) -> None:
    """Feet on the ground move by less than a micrometre, and no joint leaves its range."""
    motions = link_motions(rig, dance)
    feet = [rig.index(foot) for foot in FEET]
    assert np.ptp(motions.position[:, feet], axis=-1).max() < 1e-6
    coordinates = joint_coordinates(rig, dance.q)
    assert np.all(coordinates >= rig.limits.lower - 0.02)
    assert np.all(coordinates <= rig.limits.upper + 0.02)


def test_ground_pushes_under_the_feet(rig: Rig, dance: Motion) -> None:
    """The centre of pressure stays inside the box around the soles."""
    soles = np.array(list(sole_centres(rig, dance).values()))
    pressure = centre_of_pressure(rig, dance)
    half_length, half_width = 0.14, 0.06
    assert np.all(pressure[:, 0] < soles[:, 0].max() + half_length)
    assert np.all(pressure[:, 0] > soles[:, 0].min() - half_length)
    assert np.all(np.abs(pressure[:, 1]) < np.abs(soles[:, 1]).max() + half_width)


def test_plates_together_carry_the_motion(rig: Rig, dance: Motion) -> None:
    """The sum of the plates is the wrench of the true inertials, within the stated noise, on either foot."""
    truth = perturb_inertials(rig, 1)
    plates = record_plates(rig, dance, truth, sole_centres(rig, dance), noise=PlateNoise(np.random.default_rng(0)))
    needed = predicted_wrench(rig, dance, truth, axes="world")
    error = plates.about(dance.q[:, :3])[:, :3] - needed[:, :3]
    assert np.std(error, axis=0) == pytest.approx(np.full(3, FORCE_NOISE * np.sqrt(2.0)), rel=0.15)
    assert np.all(plates.values[:, :, 2] > 0.0)


def test_files_hold_what_was_recorded(rig: Rig, dance: Motion, tmp_path: Path) -> None:
    """Written as by a laboratory (y up, millimetres) and read again, markers and wrenches are the same."""
    generator = np.random.default_rng(0)
    placements = [MarkerPlacement(f"M{i}", link, np.array([0.05, 0.02, -0.1])) for i, link in enumerate(rig.links)]
    markers = record_markers(rig, dance, placements, generator)
    plates = record_plates(rig, dance, rig.prior, sole_centres(rig, dance), noise=PlateNoise(generator))
    write_trc(tmp_path / "dance.trc", markers)
    write_forces(tmp_path / "dance.mot", plates)
    again = read_recording([tmp_path / "dance.trc", tmp_path / "dance.mot"])
    assert np.abs(again.markers.positions - markers.positions).max() <= 0.5e-5 + 1e-9  # files have 0.01 mm
    assert np.abs(again.wrenches.total[:, :3] - plates.total[:, :3]).max() < 1e-4
    assert np.abs(again.wrenches.total[:, 3:] - plates.total[:, 3:]).max() < 2e-3


def test_marker_noise_is_as_stated(rig: Rig) -> None:
    """Markers on a body at rest have the stated standard deviation."""
    quiet = MotionAmplitudes(root=(0.0,) * 6, joints=())
    rest = simulate_motion(rig, Stance(standing_posture(rig, CROUCH), FEET, LEGS), quiet, np.arange(0.0, 4.0, 0.01), 1)
    markers = record_markers(rig, rest, [MarkerPlacement("A", "head", np.zeros(3))], np.random.default_rng(0))
    assert markers.positions.std(axis=0).ravel() == pytest.approx(np.full(3, MARKER_NOISE), rel=0.15)
