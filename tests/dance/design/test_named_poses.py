"""Named poses and their variations in a design."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue
from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Keyframe
from solver.dance.design.footsteps import StepPlanner
from solver.dance.design.named_poses import AMPLITUDE_RANGE, NamedPose, PoseVariations
from solver.dance.design.plan import build_transition_planner, find_candidates
from solver.dance.design.postures import DrawOptions, PosturePool, draw_posture_pool
from solver.dance.workflows.design import design_dance
from solver.dance.workflows.loading import load_named_poses
from solver.dance.workflows.summaries import posture_keys
from solver.dynamics import integrate
from solver.dynamics.coordinates import to_flat
from solver.options.dances import DanceOptions
from solver.rigs import hrp2
from solver.skeleton.rig import ROOT_NV, Rig
from tests.dance.example_dances import home, rotate_joints
from tests.pinocchio import pin

REACH = {"left_upper_arm": (0, 0.9), "right_upper_arm": (0, -0.3)}
BOW = {"left_shoulder": (0, -0.6)}
SMALL = DanceOptions(postures={"both": 4}, pool=24, rounds=1, workers=1, seed=3)


@pytest.fixture(scope="module")
def poses(strong_robot: Rig) -> tuple[NamedPose, ...]:
    """Two poses of the arms."""
    q, _ = home(strong_robot)
    return NamedPose("reach", rotate_joints(strong_robot, q, REACH)), NamedPose(
        "bow", rotate_joints(strong_robot, q, BOW)
    )


@pytest.fixture(scope="module")
def pool(strong_robot: Rig, poses: tuple[NamedPose, ...]) -> PosturePool:
    """Feasible variations on both feet."""
    options = replace(SMALL, poses=poses)
    ground = StepPlanner(build_transition_planner(strong_robot, options)).stance_postures("both")
    return find_candidates(strong_robot, options, ground, 7).pool


def test_variations_lie_between_home_and_the_pose(strong_robot: Rig, poses: tuple[NamedPose, ...]) -> None:
    """Trunk and arms are a fraction of the way to the pose or its mirror image; both sides and every pose occur."""
    planner = build_transition_planner(strong_robot, SMALL)
    legged = planner.legged
    footing = legged.get_footing("both")
    rest = legged.home_posture(footing)
    y, which = PoseVariations(legged, poses, footing, rest).draw(np.random.default_rng(1), 200)
    assert set(which) == {0, 1}
    goal = to_flat(strong_robot, poses[0].q)[legged.trunk] - rest[legged.trunk]
    moved = y[which == 0][:, legged.trunk] - rest[legged.trunk]
    share = moved @ goal / (goal @ goal)
    left = np.linalg.norm(moved - share[:, None] * goal, axis=1) < 1e-9
    assert 0.3 < left.mean() < 0.7
    assert share[left].min() >= AMPLITUDE_RANGE[0] - 1e-9
    assert share[left].max() <= AMPLITUDE_RANGE[1] + 1e-9
    sizes = np.linalg.norm(moved, axis=1) / np.linalg.norm(goal)
    np.testing.assert_array_less(sizes[~left], AMPLITUDE_RANGE[1] + 1e-6)
    np.testing.assert_array_less(AMPLITUDE_RANGE[0] - 1e-6, sizes[~left])


def test_variations_of_every_pose_are_drawn(pool: PosturePool) -> None:
    """However little one of two poses excites, both have feasible variations."""
    assert set(pool.pose_indices) == {0, 1}


def test_a_dance_keeps_the_names_of_its_poses(strong_robot: Rig, poses: tuple[NamedPose, ...]) -> None:
    """Postures have their names in the dance, in its file's keys and on the timeline, and pass every check."""
    dance = design_dance(strong_robot, replace(SMALL, postures={"both": 4}, poses=poses))
    names = {"bow", "bow, mirrored", "reach", "reach, mirrored"}
    assert sorted(dance.poses) == ["bow", "bow", "reach", "reach"]
    assert {dance.segments[k].name for k in dance.postures} == names
    assert names <= {key.name for key in posture_keys(dance)}
    assert all(checks.feasible for checks in dance.check(strong_robot, 100.0))


def test_position_and_heading_of_a_pose_do_not_matter(strong_robot: Rig) -> None:
    """A pose keyed anywhere and facing anywhere gives the same variations."""
    q, _ = home(strong_robot)
    step = np.zeros(strong_robot.nv)
    step[4] = 0.2
    leaning = integrate(strong_robot, q, step)
    turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, 1.0)).coeffs()
    elsewhere = np.array(leaning)
    elsewhere[:3] = pin.Quaternion(turn).toRotationMatrix() @ leaning[:3] + [1.0, 2.0, 0.0]
    elsewhere[3:7] = (pin.Quaternion(turn) * pin.Quaternion(leaning[3:7])).coeffs()
    planner = build_transition_planner(strong_robot, SMALL)
    footing = planner.legged.get_footing("both")
    rest = planner.legged.home_posture(footing)
    one, other = (
        PoseVariations(planner.legged, (NamedPose("lean", own),), footing, rest).draw(np.random.default_rng(0), 8)[0]
        for own in (leaning, elsewhere)
    )
    np.testing.assert_allclose(one, other, atol=1e-9)
    assert np.abs(one[:, 4]).max() > 0.1
    assert np.abs(one[:, 3:ROOT_NV][:, [0, 2]]).max() < 1e-9


def test_poses_are_read_from_named_keys(strong_robot: Rig, tmp_path: Path) -> None:
    """Only keys with names are poses; another rig's, none, and two of one name are refused with a remedy."""
    q, anchors = home(strong_robot)

    def written(names: tuple[str, ...]) -> Path:
        keys = [
            Keyframe(float(k), rotate_joints(strong_robot, q, REACH if k else {}), "preferred", n)
            for k, n in enumerate(names)
        ]
        return AUTHORED_DANCE.write(
            tmp_path / "keyed.json", AuthoredDance(strong_robot, tuple(keys), Schedule.constant(anchors, 0.0, 3.0))
        )

    found = load_named_poses(written(("", "reach", "")), strong_robot)
    assert [pose.name for pose in found] == ["reach"]
    np.testing.assert_allclose(found[0].q, rotate_joints(strong_robot, q, REACH), atol=1e-9)
    with pytest.raises(InputError, match="none of its 3 postures has a name"):
        load_named_poses(written(("", "", "")), strong_robot)
    with pytest.raises(InputError, match="several postures are named reach"):
        load_named_poses(written(("reach", "", "reach")), strong_robot)
    with pytest.raises(InputError, match="has postures of"):
        load_named_poses(written(("reach", "", "")), hrp2())


def test_infeasible_poses_are_named(strong_robot: Rig) -> None:
    """An arm that the pose puts into the chest, and poses without or with equal names, are refused."""
    q, _ = home(strong_robot)
    inside = rotate_joints(strong_robot, q, {"left_upper_arm": (0, -0.6)})
    options = replace(SMALL, poses=(NamedPose("hug", inside),))
    planner = build_transition_planner(strong_robot, options)
    ground = StepPlanner(planner).stance_postures("both")
    motifs = PoseVariations(planner.legged, options.poses, ground.footing, ground.home)
    few = DrawOptions(5, 0, motifs, max_draws=400)
    with pytest.raises(InvalidValue, match="variations of hug in configuration 'both' keeps all limits"):
        draw_posture_pool(planner.legged, planner.coarse_checker, ground.footing, ground.home, few)
    both = replace(options, poses=(NamedPose("bow", rotate_joints(strong_robot, q, BOW)), *options.poses))
    found = find_candidates(strong_robot, both, ground, 1)
    assert set(found.pool.pose_indices) == {0}
    assert any("no variation of 'hug'" in note for note in found.notes)
    with pytest.raises(InvalidValue, match="needs a name"):
        NamedPose(" ", q)
    with pytest.raises(InvalidValue, match="several poses have the name hug"):
        replace(SMALL, poses=(NamedPose("hug", q), NamedPose("hug", inside)))
