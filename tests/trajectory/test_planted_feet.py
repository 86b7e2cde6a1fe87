"""Paths of feet: at rest on the floor, and without a jump where they leave it or come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures.jump import CHECKS, keyed_jump
from solver.base.so3 import exp
from solver.contacts.schedule import Phase, Schedule, stance
from solver.dynamics.kinematics import link_paths
from solver.rigs import human
from solver.skeleton.rig import ROOT_NV
from solver.trajectory.ballistic import find_flights, make_flights_ballistic
from solver.trajectory.curve import FlatCurve
from solver.trajectory.planted_feet import PlantedTrajectory
from tests.dance.example_dances import rotate_joints

INSTANT = 1e-7
"""[s] Before and after an event."""


@pytest.mark.parametrize("event", [0, 1], ids=["take-off", "landing"])
def test_feet_leave_and_meet_the_floor_without_a_jump(event: int) -> None:
    """Of a jump's feet position, speed and acceleration go on where the flight begins and where it ends."""
    jump = keyed_jump(human(1.75, 70.0, "male"))
    trajectory = PlantedTrajectory(
        jump.rig, make_flights_ballistic(jump.rig, jump.curve(), jump.schedule, CHECKS), jump.schedule
    )
    (flight,) = find_flights(jump.schedule)
    times = flight[event] + np.array([-INSTANT, INSTANT])
    middle = np.array([0.0, 0.5 * sum(flight)])
    paths = trajectory.foot_poses(times)
    assert len(paths) == 2
    for path, moved in zip(paths, trajectory.foot_poses(middle)):
        for before, after in path:
            np.testing.assert_allclose(after, before, atol=1e-4)
        assert np.abs(np.diff(moved[0], axis=0)).max() > 0.03  # it is a jump


def test_derivatives_of_legs_are_differences() -> None:
    """Angles of solved legs, and how far each leg is from stretched, change with the coordinates that lead them."""
    jump = keyed_jump(human(1.75, 70.0, "male"))
    trajectory = PlantedTrajectory(
        jump.rig, make_flights_ballistic(jump.rig, jump.curve(), jump.schedule, CHECKS), jump.schedule
    )
    (flight,) = find_flights(jump.schedule)
    times = np.array([0.5 * flight[0], 0.5 * sum(flight)])
    feet = trajectory.foot_poses(times)
    solved, _ = trajectory.solve_legs(trajectory.curve.at(times), feet)
    found, regular = trajectory.leg_derivatives(solved, feet)
    step, leading = 1e-5, found.leading_columns
    assert len(leading) >= 6
    for k, column in enumerate(leading):
        sides = []
        for sign in (1.0, -1.0):
            moved = tuple(np.array(part) for part in solved)
            moved[0][:, column] += sign * step
            sides.append(trajectory.solve_legs((moved[0], moved[1], moved[2]), feet))
        (after, regular_after), (before, regular_before) = sides
        angles = (after[0] - before[0])[:, found.leg_columns] / (2.0 * step)
        np.testing.assert_allclose(found.derivatives[0, :, :, k], angles, atol=1e-3)
        np.testing.assert_allclose(regular[:, :, k], (regular_after - regular_before) / (2.0 * step), atol=1e-3)
    assert np.abs(regular).max() > 0.1


@pytest.fixture(scope="module")
def walk() -> tuple[PlantedTrajectory, PlantedTrajectory]:
    """A left foot that is lifted, put down 20 cm ahead and turned, and lifted again at the end; and a fixed posture."""
    rig = human(1.75, 70.0, "male")
    right, left = stance(rig, "both")
    if rig.sides["left"] == right.patch:
        right, left = left, right
    ahead = replace(
        left,
        position=left.position + np.array([0.2, 0.0, 0.0]),
        rotation=exp(np.array([0.0, 0.0, 0.4])) @ left.rotation,
    )
    phases = (
        Phase(0.0, 0.5, (right, left)), Phase(0.5, 1.0, (right, left)), Phase(1.0, 2.5, (right,)),
        Phase(2.5, 3.5, (right, ahead)), Phase(3.5, 5.0, (right,)),
    )  # fmt: skip
    q = np.tile(rig.neutral, (4, 1))
    q[:, 2] = rig.standing_height - 0.05
    bent = rotate_joints(rig, q[0], {"left_thigh": (1, -0.6), "left_shank": (1, 0.8)})
    curve = FlatCurve.through_keys(rig, np.array([0.0, 1.7, 3.0, 5.0]), [q[0], bent, q[2], bent])
    off = np.array(curve.motion(rig, np.array([3.0])).q[0])
    schedule = Schedule(phases)
    return PlantedTrajectory(rig, curve, schedule), PlantedTrajectory(rig, curve, schedule, [(3.0, off)])


def own_pose(trajectory: PlantedTrajectory, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes and origin of the left foot in the curve as given."""
    rig = trajectory.rig
    motion = trajectory.curve.motion(rig, times)
    rotations, positions = link_paths(rig, motion, [rig.index(rig.patch(rig.sides["left"]).link)])
    return rotations[0], positions[0]


def test_a_foot_is_on_its_anchor_or_on_its_own_path(walk: tuple[PlantedTrajectory, PlantedTrajectory]) -> None:
    """Planted it rests on its anchor; in the middle of a swing it is where the curve has it."""
    trajectory, _ = walk
    place = {leg.side: path for leg, path in zip(trajectory.solved_legs, trajectory.foot_poses(np.linspace(0, 5, 501)))}
    times, (position, velocity, acceleration) = np.linspace(0, 5, 501), place["left"]
    for start, stop, anchor in ((0.0, 1.0, trajectory.schedule.phases[0]), (2.5, 3.5, trajectory.schedule.phases[3])):
        own = next(a for a in anchor.anchors if a.patch == trajectory.rig.sides["left"])
        planted = (times >= start) & (times <= stop)
        np.testing.assert_allclose(position[planted, :3], np.tile(own.position, (planted.sum(), 1)), atol=1e-9)
        np.testing.assert_allclose(exp(position[planted, 3:]), np.tile(own.rotation, (planted.sum(), 1, 1)), atol=1e-9)
        np.testing.assert_allclose(velocity[planted], 0.0, atol=1e-9)
        np.testing.assert_allclose(acceleration[planted], 0.0, atol=1e-9)
    rotations, origins = own_pose(trajectory, times)
    swings = ((times > 1.45) & (times < 2.05)) | (times > 3.95)
    np.testing.assert_allclose(position[swings, :3], origins[swings], atol=1e-6)
    np.testing.assert_allclose(exp(position[swings, 3:]), rotations[swings], atol=1e-6)
    assert np.abs(position[110, :3] - origins[110]).max() > 1e-3
    between, step = times[:-1] + 0.0037, 1e-5
    side = [leg.side for leg in trajectory.solved_legs].index("left")
    before, here, after = (trajectory.foot_poses(between + d)[side] for d in (-step, 0.0, step))
    for order in range(2):
        slope = (after[order] - before[order]) / (2.0 * step)
        np.testing.assert_allclose(slope, here[order + 1], atol=1e-4 * np.abs(slope).max())
    still = place["right"]
    np.testing.assert_allclose(np.ptp(still[0], axis=0), 0.0, atol=1e-12)


def test_a_fixed_posture_is_met_with_its_foot_where_it_is(walk: tuple[PlantedTrajectory, PlantedTrajectory]) -> None:
    """At a fixed key a planted foot is where the posture has it, at rest; before and after it is on its anchor."""
    trajectory, fixed = walk
    times = np.array([2.5, 3.0, 3.5])
    side = [leg.side for leg in fixed.solved_legs].index("left")
    position, velocity, acceleration = fixed.foot_poses(times)[side]
    plain = trajectory.foot_poses(times)[side][0]
    np.testing.assert_allclose(position[[0, 2]], plain[[0, 2]], atol=1e-9)
    rotations, origins = own_pose(trajectory, times)
    np.testing.assert_allclose(position[1, :3], origins[1], atol=1e-9)
    np.testing.assert_allclose(exp(position[1:2, 3:])[0], rotations[1], atol=1e-9)
    np.testing.assert_allclose(velocity, 0.0, atol=1e-9)
    np.testing.assert_allclose(acceleration, 0.0, atol=1e-8)


def test_legs_follow_their_feet(walk: tuple[PlantedTrajectory, PlantedTrajectory]) -> None:
    """In the motion the links of the feet have the poses of their paths; what may change is all but solved legs."""
    trajectory, _ = walk
    times = np.linspace(0.0, 5.0, 51)
    rig, motion = trajectory.rig, trajectory.motion(times)
    links = [rig.index(leg.link) for leg in trajectory.solved_legs]
    rotations, positions = link_paths(rig, motion, links)
    for k, (position, _, _) in enumerate(trajectory.foot_poses(times)):
        np.testing.assert_allclose(positions[k], position[:, :3], atol=1e-9)
        np.testing.assert_allclose(rotations[k], exp(position[:, 3:]), atol=1e-9)
    solved = {ROOT_NV + int(c) for leg in trajectory.solved_legs for c in leg.solved}
    assert set(trajectory.free_columns.tolist()) == set(range(rig.nv)) - solved
    moves = set(trajectory.free_columns[trajectory.moves_legs].tolist())
    beyond = {ROOT_NV + int(c) for leg in trajectory.solved_legs for c in leg.columns} - solved
    assert moves == set(range(ROOT_NV)) | beyond
