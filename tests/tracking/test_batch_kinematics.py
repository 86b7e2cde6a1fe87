"""Kinematics of all frames of a motion at once, against the dynamics library, for each kind of joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.so3 import exp, to_quaternion
from solver.dynamics import link_poses
from solver.rigs import hoap3, hrp2
from solver.skeleton.rig import ROOT_NV, Rig
from solver.tracking.joint_chains import ChainFit
from solver.tracking.retargeting.batch_kinematics import BatchKinematics, to_configurations
from tests.tracking.test_retargeting import person


def sliding() -> Rig:
    """HRP-2 with an elbow that slides and a wrist that turns about a slanted axis."""
    rig, joints = hrp2(), list(hrp2().joints)
    elbow, wrist = rig.index("right_forearm"), rig.index("right_hand")
    joints[elbow] = replace(joints[elbow], kind="prismatic")
    joints[wrist] = replace(joints[wrist], axes=np.array([[1.0, 2.0, -2.0]]) / 3.0)
    return replace(rig, joints=tuple(joints))


@pytest.mark.parametrize("make", [hrp2, hoap3, person, sliding])
def test_link_frames_match_the_dynamics_library(make: object) -> None:
    """Axes and origins of every link, and the Jacobian of a hand's origin against differences, for random root
    rotations.
    """
    rig: Rig = make()  # type: ignore[operator]
    tree, rng, count = BatchKinematics(rig), np.random.default_rng(1), 5
    y = np.zeros((count, rig.nv))
    y[:, :3], y[:, ROOT_NV:] = rng.normal(size=(count, 3)), 0.5 * rng.normal(size=(count, rig.nv - ROOT_NV))
    turn = exp(rng.normal(size=(count, 3)))
    placed, links = tree.forward(turn, y), np.arange(len(rig.links))
    for frame, q in enumerate(to_configurations(rig, to_quaternion(turn), y)):
        turns, places = link_poses(rig, q)
        assert tree.link_rotations(placed, links)[frame] == pytest.approx(turns, abs=1e-9)
        assert np.array([tree.link_origins(placed, k)[:, frame] for k in links]) == pytest.approx(places, abs=1e-9)
    hand, step = rig.index("right_hand" if "right_hand" in rig.links else "right_forearm"), 1e-6
    slopes = tree.jacobian(placed, hand, tree.link_origins(placed, hand))
    spherical = [j for j in rig.joints[1:] if j.nv > 1]
    for column in (0, 1, 2, *range(ROOT_NV, rig.nv)):
        more = y.copy()
        more[:, column] += step
        moved = (tree.link_origins(tree.forward(turn, more), hand) - tree.link_origins(placed, hand)).T / step
        if not spherical:  # theirs are slopes by turns, not by rotation vectors
            assert slopes[:, :, column] == pytest.approx(moved, abs=1e-5)


def test_chains_of_a_batch_are_those_of_each_frame() -> None:
    """The chain fit of a batch equals that of each frame by itself."""
    rig, rng = hrp2(), np.random.default_rng(2)
    links = np.array([0, rig.index("right_hand"), rig.index("left_foot"), rig.index("chest")])
    turns = exp(rng.normal(size=(6, len(links), 3)))
    turns[2, 1] = np.nan
    fit = ChainFit(rig, links)
    angles, seen = fit.fit_angles(turns)
    assert seen.sum() == seen.size - 1
    for frame in range(len(turns)):
        own, known = fit.fit_angles(turns[frame])
        assert own == pytest.approx(angles[frame], abs=1e-12)
        assert (known == seen[frame]).all()
