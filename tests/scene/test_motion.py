"""Motions and recordings as a scene draws them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import solver
from solver.base.differences import differences
from solver.base.so3 import to_matrix
from solver.demo.examples import simulated_robot
from solver.dynamics import com_trajectory, link_motions, link_poses
from solver.rigs import human
from solver.scene.motion import find_trial_files, read_trials, scene_motion, scene_recording
from solver.scene.motion_record import MOTION, motion_record
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from tests.formats.skeletons import LAFAN1, bvh_text
from tests.random_motion import mixed_rig, random_motion


def test_joint_displacements_give_link_poses() -> None:
    """From the root outwards, the drawn rotations and translations give every link's pose."""
    rig = mixed_rig()
    motion = random_motion(rig, 5)
    drawn, links = scene_motion(rig, motion), link_motions(rig, motion)
    turns: list[np.ndarray] = []
    origins: list[np.ndarray] = []
    for link, joint in enumerate(rig.joints):
        turn = joint.rotation @ to_matrix(drawn.rotations[:, link])
        origin = joint.position + drawn.translations[:, link] @ joint.rotation.T
        if joint.parent >= 0:
            origin = origins[joint.parent] + np.einsum("nij,nj->ni", turns[joint.parent], origin)  # n frame
            turn = turns[joint.parent] @ turn
        else:
            origin = origin + drawn.root
        turns.append(turn)
        origins.append(origin)
        np.testing.assert_allclose(turn, links.rotation[:, :, link].transpose(2, 0, 1), atol=1e-12)
        np.testing.assert_allclose(origin, links.position[:, link].T, atol=1e-12)


def test_soles_are_drawn_where_they_are_near_the_floor() -> None:
    """Of a person who rises by 3 cm and then 6, each corner of a sole is drawn at its place, until it is 4 cm high."""
    rig = human(1.75, 70.0, "male")
    q = np.tile(np.array(rig.provenance["standing"]), (3, 1))
    q[:, 2] += [0.0, 0.03, 0.06]
    drawn = scene_motion(rig, Motion(np.arange(3.0), q, *np.zeros((2, 3, rig.nv))))
    soles = [(rig.index(patch.link), patch.vertices) for patch in rig.contacts]
    poses = [link_poses(rig, posture) for posture in q]
    wanted = np.array([np.concatenate([v @ turns[k].T + places[k] for k, v in soles]) for turns, places in poses])
    wanted[np.repeat(wanted[:, :, 2:] > 0.04, 3, axis=2)] = np.nan
    np.testing.assert_allclose(drawn.standing, wanted, atol=1e-12)
    assert np.isfinite(drawn.standing[:, :8]).all(axis=(1, 2)).tolist() == [True, True, False]


def test_a_motion_is_read_as_it_was_drawn(tmp_path: Path) -> None:
    """The file keeps every number, and the centre of mass is that of the given parameters, not of the prior."""
    rig = mixed_rig()
    motion = random_motion(rig, 6)
    other = rig.prior.replaced("ball", 3.0 * rig.prior.link("ball"))
    again = MOTION.read(MOTION.write(tmp_path / "a.motion.npz", motion_record("a", rig, motion, other))).scene
    assert differences(again, scene_motion(rig, motion, other)) == ()
    np.testing.assert_array_equal(again.com, com_trajectory(rig, motion, other))
    assert np.abs(again.com - scene_motion(rig, motion).com).max() > 1e-3
    assert len(again) == 6


def test_a_force_acts_at_its_centre_of_pressure() -> None:
    """A load at a point of the floor is drawn there; a plate with almost no load has no centre, nor one
    whose moments are not measured; a hundred forces a second are drawn."""
    forces = np.array([[10.0, -20.0, 500.0], [0.0, 0.0, 5.0]])  # frame by axis
    place = np.array([0.3, -0.2, 0.0])
    values = np.concatenate([forces, np.cross(place, forces)], axis=1)[:, None]
    drawn = scene_recording(None, Wrenches(np.arange(2.0), ("plate",), values))
    np.testing.assert_allclose(drawn.centres[0, 0], place, atol=1e-12)
    assert np.isnan(drawn.centres[1]).all()
    np.testing.assert_array_equal(drawn.forces[:, 0], forces)
    assert drawn.markers == ()
    many = np.tile(values[:1], (250, 1, 1))
    measured = np.ones((250, 6), bool)
    measured[:5, 4] = False
    drawn = scene_recording(None, Wrenches(np.arange(250) / 500.0, ("plate",), many, measured))
    np.testing.assert_allclose(drawn.force_times, np.arange(50) / 100.0, atol=1e-12)
    assert np.isfinite(drawn.centres[:, 0]).all(axis=1).tolist() == [False] + [True] * 49


def test_a_skeleton_is_drawn_at_the_starts_of_its_segments(tmp_path: Path) -> None:
    """A clip without markers is seen in a scene: each joint is a point, where the reader puts it."""
    path = tmp_path / "clip.bvh"
    path.write_text(bvh_text(LAFAN1, {}, np.array([[0.0, 0.0, 0.95], [0.1, 0.0, 0.95]])))
    (drawn,), (recording,) = read_trials([path]).values(), solver.load([path])
    assert recording.segments is not None
    assert drawn.markers == recording.segments.names
    np.testing.assert_array_equal(drawn.positions, np.asarray(recording.segments.positions))


def test_listed_and_read_trials_agree(tmp_path: Path) -> None:
    """Joint coordinates and wrenches of one name are one trial, whether its files are listed or read."""
    robot = simulated_robot()
    robot.write(tmp_path)
    paths = find_trial_files([tmp_path])
    drawn = read_trials([tmp_path])
    assert list(paths) == list(drawn) == ["dance"]
    assert {path.name for path in paths["dance"]} == {"dance_joints.csv", "dance_wrenches.csv"}
    wrenches = robot.recordings[0].wrenches
    assert drawn["dance"].plates == wrenches.frames
    np.testing.assert_allclose(drawn["dance"].forces, wrenches.values[:, :, :3], atol=1e-6)
