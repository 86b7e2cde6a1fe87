"""Distances of shapes: known by hand, measured by coal, bounded by capsules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import UnknownLink
from solver.base.so3 import exp as exp_so3
from solver.feasibility import CapsulePairs, CheckOptions, CollisionDetector, Mechanics, check_motion, collision_pairs
from solver.feasibility.capsules import segment_distance
from solver.feasibility.collision_shapes import bounding_capsules, fit_shape
from solver.feasibility.link_pairs import SOCKET_DISTANCE
from solver.rigs import from_urdf, hoap3, hrp2, human
from solver.skeleton.rig import Rig
from solver.values.joints import Limits
from solver.values.shape import Shape
from tests.dance.static_motions import random_posture, sinusoidal_motion, standing_schedule, static_motion
from tests.pinocchio import data_of, pin

RIGS = [hoap3(), hrp2(), human(1.75, 70.0, "male")]
EVERY_RIG = pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
PERSON = RIGS[2]
HANDS = (("right_hand", "left_hand"),)


def _poses(rig: Rig, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    still = np.zeros((len(q), rig.nv))
    state = Mechanics(rig).compute_state(q, still, still)
    return state.rotation, state.position


def _with_hands(kind: str, size: tuple[float, ...]) -> Rig:
    """A person of whom only the hands have a shape, along the world's axes in the neutral posture."""
    shapes = tuple(Shape(link, kind, size, np.eye(3), np.zeros(3)) for link in HANDS[0])
    return replace(PERSON, shapes=shapes, boxes=np.zeros_like(PERSON.boxes))


@pytest.mark.parametrize(("kind", "size"), [("capsule", (0.05, 0.2)), ("box", (0.02, 0.05, 0.3)), ("sphere", (0.05,))])
def test_two_hands_at_a_known_distance(kind: str, size: tuple[float, ...]) -> None:
    """Two upright capsules, boxes or spheres 5 cm thick are as far apart as their axes less 10 cm."""
    rig = _with_hands(kind, size)
    rotation, position = _poses(rig, rig.neutral[None])
    right, left = (position[0, rig.index(hand)] for hand in HANDS[0])
    detector = CollisionDetector(rig, CheckOptions(pairs=HANDS, reach=5.0))
    near = detector.find_near_pairs(rig.neutral[None], rotation, position)
    assert near.distances == pytest.approx([np.linalg.norm(left - right) - 0.1], abs=1e-6)


def test_segments_at_known_distances() -> None:
    """Crossing, parallel, end to end, and degenerate segments: distances known by hand."""
    x, y, z = np.eye(3)
    cases = [
        (-x, 2 * x, z - y, 2 * y, 1.0),  # crossing above each other
        (0 * x, x, 3 * y, x, 3.0),  # parallel, side by side
        (0 * x, x, 3 * x, x, 2.0),  # on one line, end to end
        (0 * x, 0 * x, 4 * z, 0 * x, 4.0),  # two points
        (0 * x, x, 2 * x + y, 0 * x, np.sqrt(2.0)),  # a point beyond the end
    ]
    first, along, second, across, expected = (np.array(column) for column in zip(*cases))
    np.testing.assert_allclose(segment_distance(first, along, second, across), expected, atol=1e-12)
    np.testing.assert_allclose(segment_distance(second, across, first, along), expected, atol=1e-12)


@EVERY_RIG
def test_prefilter_hides_no_near_pair(rig: Rig) -> None:
    """Every pair that the engine finds within the reach is reported, with the engine's distance."""
    detector = CollisionDetector(rig, CheckOptions(reach=0.04))
    q = sinusoidal_motion(rig, np.linspace(0.0, 4.0, 6), size=0.8).q
    near = detector.find_near_pairs(q, *_poses(rig, q))
    found = 0
    columns = np.arange(len(detector._pair_index))
    for frame in range(len(q)):
        every = detector._distances.distances(q, np.full(len(columns), frame), columns)
        least: dict[int, float] = {}
        for owner, distance in zip(detector._pair_index, every):
            least[int(owner)] = min(distance, least.get(int(owner), np.inf))
        for owner, distance in least.items():
            distance += detector.allowances[owner]
            if distance < 0.0399:
                found += 1
                own = near.distances[(near.frames == frame) & (near.pairs == owner)].min()
                assert own == pytest.approx(distance, abs=1e-5)
    assert found > 5


@EVERY_RIG
def test_capsules_never_exceed_the_truth(rig: Rig) -> None:
    """The capsule distance of a pair is a lower bound of its true distance."""
    detector = CollisionDetector(rig, CheckOptions(reach=0.1))
    q = sinusoidal_motion(rig, np.linspace(0.0, 4.0, 5), size=0.8).q
    rotation, position = _poses(rig, q)
    near = detector.find_near_pairs(q, rotation, position)
    bounds = CapsulePairs(rig, detector.pairs).distances(rotation, position)
    assert len(near.distances) > 20
    assert np.all(bounds[near.frames, near.pairs] <= near.distances + 1e-5)


@pytest.mark.parametrize("kind", ["box", "ellipsoid", "capsule", "sphere", "mesh"])
def test_bounding_capsules_contain_their_shape(kind: str) -> None:
    """No point of a shape lies outside its bounding capsule."""
    generator = np.random.default_rng(1)
    direction = generator.standard_normal((400, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    turn = exp_so3(generator.standard_normal(3))
    centre = generator.standard_normal(3)
    for _ in range(10):
        size = generator.uniform(0.1, 1.0, 3)
        if kind == "box":
            local = np.sign(direction) * size
        elif kind in ("ellipsoid", "mesh"):
            local = direction * size
        elif kind == "capsule":
            local = direction * size[0] + np.sign(direction[:, 2:]) * [0.0, 0.0, size[1]]
        else:
            local = direction * size[0]
        points = local @ turn.T + centre
        count = {"capsule": 2, "sphere": 1}.get(kind, 3)
        mesh = Shape("pelvis", "mesh", (1.0,) * 3, np.eye(3), np.zeros(3), points, np.zeros((1, 3), int))
        shape = mesh if kind == "mesh" else Shape("pelvis", kind, tuple(size[:count]), turn, centre)
        capsule = bounding_capsules(PERSON, (shape,))
        axis = np.repeat(capsule.end - capsule.start, len(points), axis=0)
        start = np.repeat(capsule.start, len(points), axis=0)
        outside = segment_distance(points, np.zeros_like(points), start, axis) - capsule.radius[0]
        assert outside.max() <= 1e-9
        assert outside.max() > -0.5 * capsule.radius[0]


@EVERY_RIG
def test_height_above_the_floor_is_coals(rig: Rig) -> None:
    """A link's distance to the floor is coal's distance of its lowest shape to a half-space."""
    detector = CollisionDetector(rig, CheckOptions())
    q = random_posture(rig, 5, 0.6)[None]
    rotation, position = _poses(rig, q)
    floor = pin.coal.Halfspace(np.array([0.0, 0.0, 1.0]), -2.0)
    heights = detector.floor_distances(rotation, position, -2.0)[0]
    shapes, placed = detector._distances._shapes, detector._distances._placed
    pin.updateGeometryPlacements(rig.model, data_of(rig), shapes, placed, q[0])
    lowest = np.full(len(rig.links), np.inf)
    for item, pose in zip(shapes.geometryObjects, placed.oMg):
        place = pin.coal.Transform3s(pose.rotation, pose.translation)
        result, request = pin.coal.DistanceResult(), pin.coal.DistanceRequest()
        height = pin.coal.distance(item.geometry, place, floor, pin.coal.Transform3s(), request, result)
        lowest[item.parentJoint - 1] = min(lowest[item.parentJoint - 1], height)
    np.testing.assert_allclose(heights, lowest, atol=1e-6)


@EVERY_RIG
def test_all_pairs_leave_neighbours_out(rig: Rig) -> None:
    """No two links that a joint connects are watched, but both feet are."""
    pairs = set(collision_pairs(rig))
    for link, parent in enumerate(rig.parents):
        assert (rig.links[parent], rig.links[link]) not in pairs
    assert ("right_foot", "left_foot") in pairs


def test_unknown_names_of_pairs() -> None:
    """A pair with a wrong name is refused by name."""
    with pytest.raises(UnknownLink, match="right_hand"):
        collision_pairs(PERSON, (("right_hnd", "torso"),))


def test_rigs_without_shapes_get_fitted_ones() -> None:
    """A rig without shapes is checked with shapes fitted to its bounding boxes, and the notes say so."""
    bare = replace(PERSON, shapes=())
    checks = check_motion(bare, static_motion(bare, bare.neutral), standing_schedule(bare))
    assert any("fitted" in note for note in checks.notes)
    assert np.isfinite(checks.get_margin("self-collision").values).all()
    half = np.array([0.1, 0.1, 0.5])
    sizes = (half, np.ones(3), np.zeros(3), np.array([0.1, 0.5, 0.0]))  # the last one is flat
    kinds = [getattr(fit_shape("a", -size, size), "kind", None) for size in sizes]
    assert kinds == ["capsule", "box", None, None]
    limb = fit_shape("a", -half, half)
    assert limb.size == pytest.approx((0.1, 0.4))


def test_contact_at_neutral_is_contact() -> None:
    """Links that overlap in the neutral posture and come free in others collide there, by the whole depth."""
    rig = _with_hands("sphere", (0.4,))
    detector = CollisionDetector(rig, CheckOptions(pairs=HANDS))
    rotation, position = _poses(rig, rig.neutral[None])
    gap = float(np.linalg.norm(position[0, rig.index("right_hand")] - position[0, rig.index("left_hand")]))
    found = detector.find_near_pairs(rig.neutral[None], rotation, position)
    assert found.distances == pytest.approx([gap - 0.8], abs=1e-6)


def test_what_touches_by_construction_is_left_out() -> None:
    """Two links of one compound joint that no posture parts are not watched, and the notes name them."""
    big = replace(PERSON, shapes=tuple(replace(s, size=(0.5,)) if s.kind == "sphere" else s for s in PERSON.shapes))
    ball = Shape("head", "sphere", (0.3,), np.eye(3), np.zeros(3))
    rig = replace(big, shapes=(*PERSON.shapes, ball, Shape("pelvis", "sphere", (0.6,), np.eye(3), np.zeros(3))))
    detector = CollisionDetector(rig, CheckOptions(pairs=(("pelvis", "head"),)))
    assert detector.pairs == ()
    assert any("by construction" in note and "head" in note for note in detector.notes)


def _link(name: str, *solids: tuple[str, str]) -> str:
    shapes = "".join(
        f'<collision><origin xyz="{place}"/><geometry><{solid}/></geometry></collision>' for solid, place in solids
    )
    inertia = '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial>{shapes}</link>'


def _hinge(name: str, parent: str, child: str, place: str, axis: str, end: float) -> str:
    limit = f'<limit lower="{-end}" upper="{end}" effort="9" velocity="9"/>'
    joint = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{place}"/><axis xyz="{axis}"/>{limit}'
    return f'<joint name="{name}" type="revolute">{joint}</joint>'


def _write_robot(folder: Path, *parts: str) -> Path:
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="robot">{"".join(parts)}</robot>')
    return path


def _wrist(folder: Path) -> Path:
    """A hand in the socket of a forearm, on two hinges, and over it a plate of the forearm that it can be bent into."""
    return _write_robot(
        folder,
        _link("forearm", ('box size="0.19 0.06 0.06"', "0.095 0 0"), ('box size="0.06 0.06 0.02"', "0.23 0 0.065")),
        _link("wrist"),
        _link("hand", ('sphere radius="0.03"', "0 0 0"), ('box size="0.08 0.04 0.04"', "0.085 0 0")),
        _hinge("yaw", "forearm", "wrist", "0.2 0 0", "0 0 1", 0.1),
        _hinge("pitch", "wrist", "hand", "0 0 0", "0 -1 0", 1.0),
    )


def _knee(folder: Path, end: float) -> Path:
    """Two cylinders, end to end at a knee of two hinges."""
    cylinder = 'cylinder radius="0.05" length="0.4"'
    return _write_robot(
        folder,
        _link("thigh", (cylinder, "0 0 -0.2")),
        _link("axis"),
        _link("shank", (cylinder, "0 0 -0.2")),
        _hinge("yaw", "thigh", "axis", "0 0 -0.4", "0 0 1", end),
        _hinge("pitch", "axis", "shank", "0 0 0", "0 1 0", end),
    )


def test_a_hand_that_enters_its_forearm_is_seen(tmp_path: Path) -> None:
    """Links that overlap by 2 cm in their socket wherever the wrist is: a hand bent into the forearm hits it."""
    rig = from_urdf(_wrist(tmp_path))
    pair = ("forearm", "hand")
    detector = CollisionDetector(rig, CheckOptions(pairs=(pair,)))
    assert detector.pairs == (pair,)
    assert any("allowed to overlap" in note and "forearm and hand" in note for note in detector.notes)
    q = np.tile(rig.neutral, (3, 1))
    q[:, 7:] = [[0.0, 0.0], [0.1, -1.0], [0.0, 1.0]]
    straight, down, up = detector.minimum_distances(q)[:, 0]
    assert straight == pytest.approx(SOCKET_DISTANCE, abs=1e-4)
    assert down == pytest.approx(SOCKET_DISTANCE, abs=1e-3)
    assert up < -0.005


def test_a_knee_without_limits_bends_as_one_with_limits(tmp_path: Path) -> None:
    """Cylinders end to end at a knee of two hinges overlap the more, the more it bends. Without limits they may overlap
    at least as deep as with limits.
    """
    known = from_urdf(_knee(tmp_path, 2.4))
    pair = ("thigh", "shank")
    q = np.tile(known.neutral, (3, 1))
    q[:, 8] = [0.0, 0.8, 1.2]
    allowances = []
    for rig in (known, replace(known, limits=Limits.none(2))):
        detector = CollisionDetector(rig, CheckOptions(pairs=(pair,)))
        assert detector.pairs == (pair,)
        assert detector.minimum_distances(q).min() >= 0.0
        allowances += detector.allowances.tolist()
    assert allowances[1] > allowances[0] > SOCKET_DISTANCE


def test_meshes_of_a_compound_joint_are_watched() -> None:
    """Of a shoulder of three joints with meshes, the upper arm may not enter the chest; with rough solids it may."""
    rig = hrp2()
    pair = ("chest", "right_upper_arm")
    assert pair not in collision_pairs(rig)
    corners = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    meshes = [Shape(link, "mesh", (1.0, 1.0, 1.0), np.eye(3), np.zeros(3), corners, faces) for link in pair]
    assert pair in collision_pairs(replace(rig, shapes=tuple(meshes)))


def test_listed_pairs_may_touch() -> None:
    """A pair that the rig's maker excludes is not watched."""
    rig = _with_hands("sphere", (0.4,))
    assert len(CollisionDetector(rig, CheckOptions(pairs=HANDS)).pairs) == 1
    assert CollisionDetector(replace(rig, excluded=HANDS), CheckOptions(pairs=HANDS)).pairs == ()


def test_distances_do_not_depend_on_earlier_calls() -> None:
    """The same postures have the same distances, to the last digit, at every call."""
    rig = RIGS[0]
    detector = CollisionDetector(rig, CheckOptions(reach=0.3))
    q = sinusoidal_motion(rig, np.linspace(0.0, 4.0, 5), size=0.8).q
    first = detector.find_near_pairs(q, *_poses(rig, q))
    detector.find_near_pairs(q[::-1], *_poses(rig, q[::-1]))
    np.testing.assert_array_equal(detector.find_near_pairs(q, *_poses(rig, q)).distances, first.distances)


def test_least_distances_are_those_of_each_posture() -> None:
    """Many postures at once have the distances that each has alone."""
    rig = RIGS[2]
    detector = CollisionDetector(rig, CheckOptions())
    q = sinusoidal_motion(rig, np.linspace(0.0, 4.0, 6), size=0.8).q
    alone = np.concatenate([detector.minimum_distances(row[None]) for row in q])
    assert (alone < 0.02).any()
    np.testing.assert_allclose(detector.minimum_distances(q), alone, rtol=0.0, atol=1e-15)  # sums in other orders


def test_a_forearm_that_hangs_at_the_trunk_is_watched() -> None:
    """Shapes that touch at rest and part in most postures are no joint's build: a hand on a wide hip is contact."""
    person = human(1.68, 63.5, "male")
    wide = [
        replace(shape, size=tuple(1.8 * side for side in shape.size)) if shape.link == "torso" else shape
        for shape in person.shapes
    ]
    detector = CollisionDetector(replace(person, shapes=tuple(wide)), CheckOptions())
    assert {("torso", "right_forearm"), ("torso", "left_forearm")} <= set(detector.pairs)
    assert not any("forearm" in note for note in detector.notes)
