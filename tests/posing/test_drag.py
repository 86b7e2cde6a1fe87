"""Laws of a drag: planted soles stay, joint limits and balance hold, and what cannot be reached has a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownLink
from solver.base.so3 import exp
from solver.contacts.schedule import anchors_at
from solver.contacts.support import support_polygon
from solver.dynamics import com_trajectory, contact_corners, link_poses
from solver.dynamics.coordinates import joint_coordinates
from solver.feasibility.collisions import CollisionDetector
from solver.options.checks import DANCE_CHECKS, CheckOptions
from solver.posing import Drag, DragResult, Pin, Target
from solver.posing import drag as drag_module
from solver.posing.kinematics import find_knees
from solver.posing.values import REACHED
from solver.qp.bounded import BoundedSolution, solve_bounded
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.dance.static_motions import sinusoidal_motion

SIDEWAYS = np.diag([1.0, -1.0, 1.0])
"""Mirrors left and right."""


def bodies() -> Iterator[tuple[Rig, np.ndarray]]:
    """Rigs with a standing posture."""
    person, robot, small = human(1.75, 70.0, "male"), hrp2(), hoap3(torque="peak")
    yield person, np.array(person.provenance["standing"])
    yield robot, np.array(robot.provenance["half_sitting"])
    q = np.array(small.neutral)
    for link, angle in (("thigh", -0.4), ("shank", 0.8), ("ankle", -0.4)):
        for side in ("right", "left"):
            q[small.q_slices[small.index(f"{side}_{link}")].start] = angle
    yield small, q


BODIES = {rig.name: (rig, q) for rig, q in bodies()}


@pytest.fixture(params=list(BODIES))
def body(request: pytest.FixtureRequest) -> tuple[Rig, np.ndarray]:
    """One of the rigs."""
    return BODIES[request.param]


def soles(rig: Rig) -> list[str]:
    """Names of the soles."""
    return [sole.name for sole in rig.soles]


def origin(rig: Rig, q: np.ndarray, link: str) -> np.ndarray:
    """World position (3,) of a link."""
    return link_poses(rig, q)[1][rig.index(link)]


def pull(drag: Drag, link: str, goal: np.ndarray, *, steps: int = 10, balance: bool = True) -> DragResult:
    """Drag a link's origin to a goal in steps, then until the posture has converged."""
    start = origin(drag.rig, drag.move([]).q, link)
    for step in range(1, steps + 1):
        position = start + (goal - start) * step / steps
        found = drag.move([Target(link, position, np.zeros(3))], balance=balance)
    for _ in range(200):
        if found.converged:
            return found
        found = drag.move([Target(link, goal, np.zeros(3))], balance=balance)
    raise AssertionError("the drag does not converge")


def slip(rig: Rig, before: np.ndarray, after: np.ndarray) -> float:
    """[m] Largest displacement of a sole's corner."""
    pairs = zip(contact_corners(rig, before), contact_corners(rig, after), strict=True)
    return max(float(np.linalg.norm(one - other, axis=1).max()) for one, other in pairs)


def test_random_drags_keep_soles_limits_and_balance(body: tuple[Rig, np.ndarray]) -> None:
    """Whatever is dragged wherever: soles within 0.1 mm, no limit exceeded, no farther out of balance than before."""
    rig, q = body
    generator = np.random.default_rng(5)
    size = float(link_poses(rig, q)[1][:, 2].max())
    ends = [link for link in rig.links if "foot" not in link]
    for _ in range(6):
        drag = Drag(rig, q, soles(rig))
        link = ends[generator.integers(len(ends))]
        goal = origin(rig, q, link) + generator.uniform(-0.3, 0.3, 3) * size
        found = pull(drag, link, goal, steps=5)
        assert slip(rig, q, found.q) < 1e-4
        coordinates = joint_coordinates(rig, found.q)
        assert (coordinates <= rig.limits.upper + 1e-9).all()
        assert (coordinates >= rig.limits.lower - 1e-9).all()
        assert found.margin > -3e-4
        assert found.reached or found.obstacles


def test_the_pelvis_goes_down_onto_planted_feet(body: tuple[Rig, np.ndarray]) -> None:
    """Pulled down by a tenth of its height, the root is where it was pulled to, within 1 mm."""
    rig, q = body
    root = rig.links[0]
    goal = origin(rig, q, root) * [1.0, 1.0, 0.9]
    found = pull(Drag(rig, q, soles(rig)), root, goal)
    assert found.reached
    assert np.linalg.norm(origin(rig, found.q, root) - goal) < 1e-3
    assert slip(rig, q, found.q) < 1e-4


def test_one_far_step_ends_as_well_as_many(body: tuple[Rig, np.ndarray]) -> None:
    """A hand that is pulled far forward in one step comes within 5 % of where forty steps bring it."""
    rig, q = body
    hand = "right_hand" if "right_hand" in rig.links else "right_forearm"
    size = float(link_poses(rig, q)[1][:, 2].max())
    goal = origin(rig, q, hand) + np.array([0.4 * size, 0.0, 0.0])
    distances = [pull(Drag(rig, q, soles(rig)), hand, goal, steps=steps).distance for steps in (1, 40)]
    assert distances[0] < distances[1] + 0.05 * 0.4 * size


def test_a_drag_to_where_it_is_changes_nothing(body: tuple[Rig, np.ndarray]) -> None:
    """The posture is returned bit by bit but for the order of rotation vectors."""
    rig, q = body
    drag = Drag(rig, q, soles(rig))
    found = drag.move([Target(rig.links[0], origin(rig, q, rig.links[0]), np.zeros(3))])
    assert found.converged
    np.testing.assert_allclose(found.q, q, atol=1e-12)


def test_mirrored_drags_have_mirrored_results() -> None:
    """The left hand pulled left and the right hand pulled right end at mirrored places."""
    rig, q = BODIES["human, male, 1.75 m"]
    places = []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        goal = origin(rig, q, f"{side}_hand") + np.array([0.2, 0.3 * sign, 0.3])
        found = pull(Drag(rig, q, soles(rig)), f"{side}_hand", goal)
        places.append(origin(rig, found.q, "head"))
    np.testing.assert_allclose(places[0], SIDEWAYS @ places[1], atol=1e-4)


def test_pins_stay() -> None:
    """A pinned point of the left hand stays while the pelvis moves."""
    rig, q = BODIES["human, male, 1.75 m"]
    pin = Pin("left_hand", np.array([0.0, 0.0, -0.05]))
    drag = Drag(rig, q, soles(rig), [pin])
    found = pull(drag, "pelvis", origin(rig, q, "pelvis") + np.array([0.03, 0.0, -0.08]))
    places = []
    for each in (q, found.q):
        rotations, positions = link_poses(rig, each)
        places.append(rotations[rig.index("left_hand")] @ pin.point + positions[rig.index("left_hand")])
    np.testing.assert_allclose(places[0], places[1], atol=1e-4)
    assert found.reached


def test_a_lifted_foot_waits_for_the_weight(body: tuple[Rig, np.ndarray]) -> None:
    """A foot that is pulled up leaves the floor only once the centre of mass is above the other foot."""
    rig, q = body
    drag = Drag(rig, q, soles(rig))
    goal = origin(rig, q, "right_foot") + np.array([0.0, 0.0, 0.05])
    for _ in range(50):
        found = drag.move([Target("right_foot", goal, np.zeros(3))])
        if len(drag.planted) == 1:
            break
        assert slip(rig, q, found.q) < 1e-4
        assert found.obstacles
    assert found.margin > -3e-4  # above the other foot
    found = pull(drag, "right_foot", goal)
    left = next(sole for sole in rig.soles if sole.link == "left_foot")
    assert drag.planted == (left.name,)
    assert found.reached
    corners = contact_corners(rig, found.q)[[sole.link for sole in rig.soles].index("left_foot")]
    rest = np.zeros((1, rig.nv))
    com = com_trajectory(rig, Motion(np.zeros(1), found.q[None], rest, rest), rig.prior)[0]
    assert (com[:2] > corners[:, :2].min(axis=0) - 1e-3).all()
    assert (com[:2] < corners[:, :2].max(axis=0) + 1e-3).all()


def test_a_foot_dragged_far_in_one_event_is_lifted(body: tuple[Rig, np.ndarray]) -> None:
    """The call in which the weight arrives on the other foot does not end the drag."""
    rig, q = body
    drag, start = Drag(rig, q, soles(rig), checks=DANCE_CHECKS), origin(rig, q, "left_foot")
    found = pull(drag, "left_foot", start + 0.4 * rig.leg_length * np.array([-0.4, 0.0, 0.9]), steps=1)
    assert found.reached
    assert found.margin > 0.0
    assert len(drag.planted) == 1


def test_without_balance_the_body_reaches_farther() -> None:
    """The hand comes nearer to a far target, and the centre of mass leaves the support polygon."""
    rig, q = BODIES["HRP-2 (approximate, from published dimensions), 58 kg"]
    goal = origin(rig, q, "right_hand") + np.array([1.0, 0.0, 0.0])
    balanced = pull(Drag(rig, q, soles(rig)), "right_hand", goal)
    free = pull(Drag(rig, q, soles(rig)), "right_hand", goal, balance=False)
    assert free.distance < balanced.distance - 0.02
    assert free.margin < 0.0 <= balanced.margin + 3e-4
    assert any("balance" in obstacle for obstacle in balanced.obstacles)
    assert not any("balance" in obstacle for obstacle in free.obstacles)


def test_a_free_axis_does_not_pull() -> None:
    """A target without a height moves the pelvis sideways by its value, and height is chosen by the body."""
    rig, q = BODIES["HRP-2 (approximate, from published dimensions), 58 kg"]
    before = origin(rig, q, "waist")
    drag = Drag(rig, q, soles(rig))
    for _ in range(20):
        found = drag.move([Target("waist", before + np.array([0.0, 0.06, np.nan]), np.zeros(3))])
    after = origin(rig, found.q, "waist")
    assert abs(after[1] - before[1] - 0.06) < 1e-3
    assert found.distance < 1e-3


def test_orientation_targets_turn_the_link() -> None:
    """A hand keeps its place and takes the orientation that the target states, within half a degree."""
    rig, q = BODIES["human, male, 1.75 m"]
    rotations, positions = link_poses(rig, q)
    hand = rig.index("right_hand")
    wanted = exp(np.array([0.0, 0.0, 0.3])) @ rotations[hand]
    drag = Drag(rig, q, soles(rig))
    goal = positions[hand] + np.array([0.15, 0.0, 0.2])
    for _ in range(40):
        found = drag.move([Target("right_hand", goal, np.zeros(3), wanted)])
    turned = link_poses(rig, found.q)[0][hand]
    assert np.degrees(np.arccos(np.clip((np.trace(wanted.T @ turned) - 1.0) / 2.0, -1.0, 1.0))) < 0.5


def test_unreachable_targets_name_what_holds_the_body_back() -> None:
    """Pulled up on straight legs, the pelvis is held back by the knees."""
    rig, q = BODIES["human, male, 1.75 m"]
    found = pull(Drag(rig, q, soles(rig)), "pelvis", origin(rig, q, "pelvis") + np.array([0.0, 0.0, 0.1]))
    assert not found.reached
    assert any("shank" in obstacle for obstacle in found.obstacles)


def test_links_that_hold_the_body_from_the_start_are_named() -> None:
    """Planted legs that go through each other cannot bend without entering deeper."""
    rig = hoap3()
    crossed = sinusoidal_motion(rig, np.zeros(1), size=0.2).q[0]
    drag = Drag(rig, crossed, soles(rig))
    result = pull(drag, rig.links[0], origin(rig, crossed, rig.links[0]) - [0.0, 0.0, 0.01])
    assert len(result.obstacles) == 1
    assert result.obstacles[0].endswith("would touch")


def test_knees_are_where_legs_bend(body: tuple[Rig, np.ndarray]) -> None:
    """Each leg has one knee; the leg is longest when it is straight, and a bent knee is on the side of its range."""
    rig, _ = body
    knees = find_knees(rig)
    assert len(knees) == 2
    for knee in knees:
        middle = 0.5 * (rig.limits.lower + rig.limits.upper)[knee.coordinate - 6]
        assert (middle - knee.straight) * knee.bends > 0.0
        shank = next(k for k, own in enumerate(rig.v_slices) if own.start == knee.coordinate)
        below = next(link for link in rig.path(knee.foot) if rig.parents[link] == shank)
        lengths = []
        for angle in (knee.straight - 0.2, knee.straight, knee.straight + 0.2):
            q = np.array(rig.neutral)
            q[rig.q_slices[shank].start] = angle
            positions = link_poses(rig, q)[1]
            lengths.append(float(np.linalg.norm(positions[rig.parents[shank]] - positions[below])))
        assert lengths[1] > max(lengths[0], lengths[2])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_fitted_posture_moves_its_legs(body: tuple[Rig, np.ndarray], axis: int) -> None:
    """Soles displaced by a moved root return by the light legs, in part, not by moving the whole body back."""
    rig, q = body
    moved = np.array(q)
    moved[axis] += 0.02 * rig.leg_length
    found = Drag(rig, q, soles(rig)).fit(moved)
    assert found.converged
    assert slip(rig, q, found.q) < 1e-4
    assert found.q[axis] - q[axis] > 0.05 * 0.02 * rig.leg_length


def test_wrong_input_is_one_error() -> None:
    """A posture of another size and a link that does not exist."""
    rig, q = BODIES["human, male, 1.75 m"]
    with pytest.raises(InvalidValue, match="finite numbers"):
        Drag(rig, q[:-1], soles(rig))
    with pytest.raises(UnknownLink):
        Drag(rig, q, soles(rig), [Pin("tail", np.zeros(3))])
    with pytest.raises(UnknownLink):
        Drag(rig, q, soles(rig)).move([Target("tail", np.zeros(3), np.zeros(3))])


def test_poses_of_links_are_those_of_the_configuration(body: tuple[Rig, np.ndarray]) -> None:
    """Axes and origins of the links follow from the posture that was returned."""
    rig, q = body
    drag = Drag(rig, q, soles(rig))
    found = pull(drag, rig.links[0], origin(rig, q, rig.links[0]) + np.array([0.03, 0.02, -0.05]))
    for ours, theirs in zip(drag.link_poses(), link_poses(rig, found.q), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_links_are_kept_apart() -> None:
    """A hand that is dragged into a thigh, which stays, stops at it; the message names what would touch."""
    rig, q = BODIES["HRP-2 (approximate, from published dimensions), 58 kg"]
    pins = [Pin("right_thigh", np.zeros(3))]
    found = pull(Drag(rig, q, soles(rig), pins), "right_hand", origin(rig, q, "right_thigh"))
    detector = CollisionDetector(rig, CheckOptions())
    assert detector.minimum_distances(found.q[None]).min() > CheckOptions().clearance
    assert not found.reached
    assert any("would touch" in obstacle for obstacle in found.obstacles)


def test_the_floor_is_not_entered(body: tuple[Rig, np.ndarray]) -> None:
    """A hand that is dragged below the floor stays above it; without a floor it ends centimetres lower."""
    rig, q = body
    ground = min(float(corner[:, 2].min()) for corner in contact_corners(rig, q))
    hand = "right_hand" if "right_hand" in rig.links else "right_forearm"
    goal = origin(rig, q, hand) - np.array([-0.1, 0.0, 2.0])
    heights = []
    for floor in (ground, None):
        found = pull(Drag(rig, q, soles(rig), ground=floor), hand, goal)
        rotations, positions = (each[None] for each in link_poses(rig, found.q))
        detector = CollisionDetector(rig, CheckOptions())
        heights.append(detector.floor_distances(rotations, positions, ground)[0, rig.index(hand)])
    assert heights[0] > 0.0
    assert heights[1] < -0.04


def test_room_is_left_for_the_motion() -> None:
    """A pelvis that is dragged far ends with the centre of mass well inside the polygon: by a tenth of its width."""
    rig, q = BODIES["HRP-2 (approximate, from published dimensions), 58 kg"]
    found = pull(Drag(rig, q, soles(rig)), "waist", origin(rig, q, "waist") + np.array([0.5, 0.0, 0.0]))
    polygon = support_polygon(rig, anchors_at(rig, q, soles(rig)), CheckOptions().shrink)
    depth = float(np.ptp(polygon.vertices[:, 0]))
    assert 0.1 * depth < found.margin < 0.4 * depth


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Number of quadratic programs that drags have solved, the only entry."""
    count = [0]

    def solve_and_count(*values: Any) -> BoundedSolution:
        count[0] += 1
        return solve_bounded(*values)

    monkeypatch.setattr(drag_module, "solve_bounded", solve_and_count)
    return count


def test_targets_that_move_out_of_reach_cost_little(body: tuple[Rig, np.ndarray], programs: list[int]) -> None:
    """Pulled forward by its height, a body solves at most three programs an event on average; soles stay at each."""
    rig, q = body
    size = float(link_poses(rig, q)[1][:, 2].max())
    drag = Drag(rig, q, soles(rig))
    hand = "right_hand" if "right_hand" in rig.links else "right_forearm"
    start = origin(rig, q, hand)
    for step in range(1, 61):
        found = drag.move([Target(hand, start + step / 60.0 * size * np.array([1.0, 0.1, 0.2]), np.zeros(3))])
        assert slip(rig, q, found.q) < 1e-4
    assert programs[0] <= 180


def test_targets_within_reach_take_one_program_an_event(body: tuple[Rig, np.ndarray], programs: list[int]) -> None:
    """Lowered in steps of 5 mm, a pelvis follows to a fifth of a step with hardly more than one program each,
    and all the way at rest: as a whole it moves by what the soles would have moved."""
    rig, q = body
    drag, start, pelvis = Drag(rig, q, soles(rig)), origin(rig, q, rig.links[0]), rig.links[0]
    down = np.array([0.0, 0.0, -0.005])
    for step in range(1, 9):
        target = Target(pelvis, start + step * down, np.zeros(3))
        found = drag.move([target])
        assert found.distance < 0.2 * 0.005
        assert slip(rig, q, found.q) < 1e-4
    assert programs[0] <= 12
    while not found.converged:
        found = drag.move([target])
    assert found.distance <= REACHED
