"""A rig follows a person: feet are planted, limits hold, and time is stretched where joints are too slow."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.models import G1, HOW, ICUB, model_file
from solver.base.arrays import true_runs
from solver.base.errors import InvalidValue, UnknownLink, UnknownName
from solver.base.so3 import exp, log, quaternion_exp
from solver.character.rig import build_character_rig
from solver.contacts.contact_detection import belt_speed, contacts_by_motion
from solver.contacts.rolling import TOUCHING_HEIGHT
from solver.dynamics import link_motions
from solver.dynamics.coordinates import coordinate_names, joint_coordinates
from solver.feasibility.checks.planted_feet import slip_distances
from solver.options.authoring import RetargetOptions
from solver.rigs import from_urdf, hoap3, hrp2, human
from solver.skeleton.rig import ROOT_NV, Rig
from solver.tracking.anatomy import Anatomy, find_anatomy, find_joint_centres, infer_from_tree
from solver.tracking.bone_mapping import guess_mapping
from solver.tracking.retargeting.interpolation import ease_ends, even_times, stretch_times
from solver.tracking.retargeting.leg_reach import LegReach
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.pose_solver import PosePrior, PoseSolver, PoseTargets, SolvedPoses, knee_hinges
from solver.tracking.retargeting.retarget import RetargetedMotion, motion_from_configurations, retarget_motion
from solver.tracking.retargeting.retargeter import Retargeter
from solver.values.motion import Motion
from solver.values.person import LINKS
from tests.bipeds import Biped
from tests.character.synthetic import make_character

RATE = 50.0
DEEP = 0.005
"""[m] by which a foot may go into the floor, [m/s] at which a standing one may move."""


@cache
def person() -> Rig:
    """Whoever is followed."""
    return human(1.70, 65.0, "female")


def squat(rig: Rig, seconds: float = 2.0, depth: float = 0.12, steps: float = 0.0) -> Motion:
    """Simulated: a person bends its knees over feet that stand, arms forward; or lifts the left foot by ``steps``."""
    times = np.arange(0.0, seconds + 0.5 / RATE, 1.0 / RATE)
    bend = 0.5 * (1.0 - np.cos(2.0 * np.pi * times / seconds))
    q = np.tile(rig.neutral, (len(times), 1))
    thigh, shank = (
        float(np.linalg.norm(rig.joints[rig.index(f"right_{name}")].position)) for name in ("shank", "foot")
    )
    # the leg as a triangle: the hip comes down by depth * bend over the ankle
    height = thigh + shank - depth * bend
    knee = np.pi - np.arccos(np.clip((thigh**2 + shank**2 - height**2) / (2 * thigh * shank), -1.0, 1.0))
    hip = np.arcsin(np.clip(shank * np.sin(knee) / height, -1.0, 1.0))
    lift = steps * np.clip(np.sin(2.0 * np.pi * times / seconds), 0.0, None) ** 2
    for side in ("right", "left"):
        more = lift if side == "left" else 0.0 * lift
        for name, angle in (("thigh", -hip - more), ("foot", hip - knee - 0.3 * more)):
            q[:, rig.q_slices[rig.index(f"{side}_{name}")]] = quaternion_exp(angle[:, None] * [0.0, 1.0, 0.0])
        q[:, rig.q_slices[rig.index(f"{side}_shank")]] = (knee + 1.3 * more)[:, None]
        q[:, rig.q_slices[rig.index(f"{side}_upper_arm")]] = quaternion_exp(-1.2 * bend[:, None] * [0.0, 1.0, 0.0])
    q[:, 2] = rig.standing_height - depth * bend
    still = np.zeros((len(times), rig.nv))
    return Motion(times, q, still, still)


@cache
def followed(name: str, steps: float = 0.0) -> RetargetedMotion:
    """A robot that follows."""
    rig = hrp2() if name == "hrp2" else hoap3()
    return retarget_motion(Performer.from_motion(person(), squat(person(), steps=steps)), rig)


def corners(found: RetargetedMotion, side: str) -> np.ndarray:
    """Corners of a sole (N, V, 3) [m] by the dynamics library."""
    rig, links = found.rig, link_motions(found.rig, found.motion)
    patch = rig.patch(rig.sides[side])
    link = rig.index(patch.link)
    turned = np.einsum("ijn,vj->nvi", links.rotation[:, :, link], patch.vertices)
    return np.asarray(turned + links.position[:, link].T[:, None])


@pytest.mark.parametrize("steps", [0.0, 0.8])
@pytest.mark.parametrize("name", ["hrp2", "hoap3"])
def test_feet_stand_and_do_not_penetrate_the_floor(name: str, steps: float) -> None:
    """No sole is below the floor, and what touches of planted soles stays in place."""
    found = followed(name, steps)
    assert found.converged.all()
    assert not steps or not found.foot_paths.in_stance.all()
    assert_feet_stand(found)


def assert_feet_stand(found: RetargetedMotion) -> None:
    """Nothing of a sole is below the floor; what touches is where its anchor has it, to what counts as touching."""
    links = link_motions(found.rig, found.motion)
    rotations, origins = links.rotation.transpose(3, 2, 0, 1), links.position.transpose(2, 1, 0)
    for sole, link in zip(found.foot_paths.soles, found.foot_paths.links):
        assert sole.lowest_points(rotations[:, link], origins[:, link])[..., 2].min() > -DEEP
    numbers = found.schedule.index_at(found.motion.times)
    for number, phase in enumerate(found.schedule.phases):
        own = numbers == number
        if phase.anchors and own.any():
            assert slip_distances(found.rig, rotations[own], origins[own], phase.anchors).max() < 1.2 * TOUCHING_HEIGHT


def test_feet_turn_only_where_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turned feet with which a body meets its targets worse than with those as recorded are not used."""
    expected = followed("hrp2").poses.y
    monkeypatch.setattr(Retargeter, "turn_feet", lambda own, _: own.turns + 0.5 * np.sin(20.0 * own.performer.times))
    found = retarget_motion(Performer.from_motion(person(), squat(person())), hrp2())
    np.testing.assert_array_equal(found.poses.y, expected)


@pytest.mark.parametrize("name", ["hrp2", "hoap3"])
def test_limits_hold_and_fast_motions_are_slowed(name: str) -> None:
    """Angles and speeds stay within the joints' limits; a motion that is too fast takes longer, with a note."""
    found = followed(name)
    limits, joints = found.rig.limits, joint_coordinates(found.rig, found.motion.q)
    assert (joints >= limits.lower - 1e-9).all()
    assert (joints <= limits.upper + 1e-9).all()
    assert (np.abs(found.motion.v[:, ROOT_NV:]) <= limits.speed * (1.0 + 1e-6)).all()
    assert (found.duration_ratio > 1.05) == any("times as long as recorded" in said for said in found.notes)
    assert found.duration_ratio > 1.05 or name == "hrp2"


def test_links_follow_the_performer() -> None:
    """HRP-2's thighs, trunk and arms follow a person's squat to a fraction of a radian, knees bending forwards."""
    found = followed("hrp2")
    source, rig = squat(person()), found.rig
    theirs, own = link_motions(person(), source), link_motions(rig, found.motion)
    frame = len(source) // 2
    at = int(np.argmin(np.abs(found.recording_times - source.times[frame])))
    for link, other, most in (("chest", "torso", 0.3), ("right_upper_arm", "right_upper_arm", 0.35)):
        turn = theirs.rotation[:, :, person().index(other), frame].T @ own.rotation[:, :, rig.index(link), at]
        assert np.linalg.norm(log(turn)) < most
    knee = found.motion.q[:, 7 + found.rig.links.index("right_shank") - 1]
    assert knee.max() > 0.8
    assert knee.min() > 0.1


def test_a_rig_follows_itself() -> None:
    """A person that follows itself repeats its motion, except for a bend that keeps its knees from locking."""
    source = squat(person())
    found = retarget_motion(Performer.from_motion(person(), source), person(), None, RetargetOptions(keep_timing=True))
    links, own = link_motions(person(), source), link_motions(person(), found.motion)
    bent = slice(len(source) // 4, 3 * len(source) // 4)
    assert np.abs(own.position - links.position)[:, :, bent].max() < 0.02
    assert found.mapping.scale == pytest.approx(1.0, abs=1e-6)
    assert found.mapping.foot_widening == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("make", [hrp2, hoap3, person], ids=["hrp2", "hoap3", "person"])
def test_parts_are_inferred_from_the_tree(make: object) -> None:
    """Parts inferred from the shape of a rig are those of its preset, or of its own names."""
    rig = make()  # type: ignore[operator]
    known, shaped = find_anatomy(rig), infer_from_tree(rig)
    assert shaped.guessed
    assert {part: link for part, link in shaped.parts.items() if part in known.parts} == dict(known.parts)
    beside = find_joint_centres(rig, known.parts)
    assert beside["left_thigh"][1] == pytest.approx(-beside["right_thigh"][1])


def test_presets_of_other_robots_fit_them() -> None:
    """G1's and iCub's presets name links that the robots have, and agree with the parts inferred from the tree."""
    found = [path for parts in (G1, ICUB) if (path := model_file(parts)) is not None]
    if not found:
        pytest.skip(f"neither is installed: {HOW}")
    for path in found:
        rig = from_urdf(path, meshes="none")
        assert not find_anatomy(rig).guessed
        assert dict(find_anatomy(rig).parts) == dict(infer_from_tree(rig).parts)


def test_a_mapping_that_leaves_a_foot_free_is_refused() -> None:
    """The error names the link without a segment."""
    source = Performer.from_motion(person(), squat(person()))
    mapping = guess_mapping(source.recording, hrp2(), source.parts)
    keep = [k for k, link in enumerate(mapping.links) if link != "left_foot"]
    rows = {name: getattr(mapping, name)[keep] for name in ("rotations", "weights", "bone_axes", "twist_weights")}
    links, segments = (tuple(names[k] for k in keep) for names in (mapping.links, mapping.segments))
    less = replace(mapping, links=links, segments=segments, **rows)
    with pytest.raises(InvalidValue, match="no segment for left_foot of"):
        retarget_motion(source, hrp2(), less)
    with pytest.raises(UnknownName):
        retarget_motion(source, hrp2(), replace(mapping, segments=("tail", *mapping.segments[1:])))
    with pytest.raises(UnknownLink):
        retarget_motion(source, hoap3(), mapping)


def test_legs_without_ankle_roll_keep_the_body_upright(tmp_path: Path) -> None:
    """Feet nearer to each other than hips tilt soles that legs of five joints cannot keep level; a note says so."""
    rig = from_urdf(Biped(ankle=(("pitch", "0 1 0"),)).write(tmp_path))
    given = Performer.from_motion(person(), squat(person()))
    sides = [link.startswith("right") - link.startswith("left") for link in given.recording.names]
    inwards = 0.06 * np.array([side * name.endswith("foot") for side, name in zip(sides, given.recording.names)])
    positions = np.asarray(given.recording.positions) + inwards[:, None] * [0.0, 1.0, 0.0]
    found = retarget_motion(replace(given, recording=replace(given.recording, positions=positions)), rig)
    assert np.abs(link_motions(rig, found.motion).rotation[2, 1, 0]).max() < 0.05
    assert any("cannot keep standing soles level: they are turned by up to" in note for note in found.notes)
    assert found.converged.all()


def test_free_links_of_a_mapping_are_noted_once() -> None:
    """The result says once which links follow no segment, also for a mapping from a file."""
    source = Performer.from_motion(person(), squat(person()))
    mapping = guess_mapping(source.recording, hrp2(), source.parts)
    keep = [k for k, link in enumerate(mapping.links) if link != "left_hand"]
    rows = {name: getattr(mapping, name)[keep] for name in ("rotations", "weights", "bone_axes", "twist_weights")}
    links, segments = (tuple(names[k] for k in keep) for names in (mapping.links, mapping.segments))
    written = replace(mapping, links=links, segments=segments, notes=(), **rows)
    (said,) = [said for said in retarget_motion(source, hrp2(), written).notes if "no segment maps to" in said]
    assert "left_hand" in said
    assert sum("no segment maps to" in said for said in retarget_motion(source, hrp2(), mapping).notes) <= 1


def test_parts_have_names_of_people() -> None:
    """A preset with an unknown part of a person, or with one link twice, is refused."""
    with pytest.raises(InvalidValue, match="tail"):
        Anatomy("cat", {"tail": "tail"})
    with pytest.raises(InvalidValue, match="two parts"):
        Anatomy("snake", {"head": "end", "pelvis": "end"})
    assert set(find_anatomy(person()).parts) == set(LINKS)


def test_feet_on_a_belt_stand() -> None:
    """Feet that all move backwards alike when they are low are on a belt, whose speed is found."""
    times = np.arange(0.0, 4.0, 0.01)
    phase = (times[:, None] + [0.0, 0.5]) % 1.0
    stance = phase < 0.6
    x = np.where(stance, 0.36 - 1.2 * phase, -0.36 + 1.8 * (phase - 0.6))
    z = np.where(stance, 0.0, 0.1 * np.sin(np.pi * (phase - 0.6) / 0.4))
    feet = np.stack([x, np.zeros_like(x), z], axis=2)
    belt = belt_speed(times, feet)
    assert belt == pytest.approx([-1.2, 0.0, 0.0], abs=0.05)
    assert not belt_speed(times, feet - times[:, None, None] * belt).any()
    still = feet - times[:, None, None] * belt
    found = contacts_by_motion(times, still[:, :1])
    assert np.mean(found == stance[:, 0]) > 0.9
    assert len(true_runs(found)) == 4


def test_a_correction_of_a_foot_moves_the_leg_rather_than_the_body() -> None:
    """A foot that must move by 2 cm from given poses is moved there; the body yields by less than 7 mm."""
    found = retarget_motion(Performer.from_motion(person(), squat(person())), person())
    solver = PoseSolver(found.rig, found.mapping, found.foot_paths.links)
    poses = found.poses
    hips = solver.tree.link_origins(solver.link_frames(poses), 0).T + poses.root_rotations @ solver.hip_offset
    feet = np.array(found.foot_paths.positions.swapaxes(0, 1))
    feet[:, 1] += [0.02, 0.0, 0.01]
    targets = PoseTargets(solver.link_rotations(poses), feet, hips)
    result, converged = solver.solve(targets, poses, 12, PosePrior(poses, 1.0))
    assert converged.all()
    reached = [solver.tree.link_origins(solver.link_frames(result), link).T for link in solver.feet]
    assert np.linalg.norm(np.swapaxes(reached, 0, 1) - feet, axis=2).max() < 2e-4
    assert np.linalg.norm(result.y[:, :3] - poses.y[:, :3], axis=1).max() < 0.007


def test_knees_of_a_character_keep_bent() -> None:
    """A knee is bent by the axis whose range is farthest from symmetric, whether it is a hinge or a ball."""
    rig = build_character_rig(make_character()).rig
    for body, names in ((person(), ("right_shank", "left_shank")), (rig, ("shin.R y", "shin.L y"))):
        assert [(coordinate_names(body)[k - ROOT_NV], sign) for k, sign in knee_hinges(body)] == [
            (name, 1.0) for name in names
        ]


def test_legs_reach_as_far_as_they_are_long() -> None:
    """By Pythagoras: hips come down until legs reach feet that stand; feet that are free come as near as legs reach."""
    count, times = 40, np.arange(40) / RATE
    y, free = np.zeros((count, ROOT_NV)), np.zeros((count, 2))
    y[:, 2] = 1.0
    poses = SolvedPoses(np.tile(exp(np.array([0.0, 0.0, 0.5 * np.pi])), (count, 1, 1)), y)
    legs = LegReach(np.array([[0.0, -0.1, 0.0], [0.0, 0.1, -0.1]]), np.array([0.8, 0.9]))
    feet = np.tile([[0.4, 0.0, 0.1], [-0.1, 0.3, 0.0]], (count, 1, 1))  # .3 m beside each hip
    targets = PoseTargets(np.zeros((count, 0, 3, 3)), feet, y[:, :3])
    needed = max(0.9 - np.sqrt(0.8**2 - 0.3**2), 0.9 - np.sqrt(0.9**2 - 0.3**2))
    np.testing.assert_allclose(legs.lower_hips(times, poses, targets, free), needed, atol=1e-5)
    free[:, 0] = 1.0
    found = legs.yield_feet(poses, targets, free)
    np.testing.assert_allclose(np.linalg.norm(legs.ways(poses, found)[:, 0], axis=1), 0.8, atol=1e-6)
    np.testing.assert_array_equal(found.foot_positions[:, 1], feet[:, 1])


def test_a_motion_at_a_steady_change_of_speed_has_it_at_its_ends_too() -> None:
    """Velocity and acceleration of a parabola are exact in every frame."""
    times, rig = np.arange(8) / RATE, hoap3()
    q = np.tile(rig.neutral, (8, 1))
    q[:, 7] = 0.5 * times**2
    found = motion_from_configurations(rig, times, q)
    np.testing.assert_allclose(found.v[:, 6], times, atol=1e-12)
    np.testing.assert_allclose(found.a[:, 6], 1.0, atol=1e-9)


def test_times_are_even_stretched_and_eased_at_both_ends() -> None:
    """By hand; eased a motion keeps its length, and its rate is none at both ends and the clock's in between."""
    np.testing.assert_allclose(even_times(np.array([1.0, 2.0]), 0.25), [1.0, 1.25, 1.5, 1.75, 2.0])
    np.testing.assert_allclose(even_times(np.array([1.0, 1.99]), 0.25), [1.0, 1.25, 1.5, 1.75])
    np.testing.assert_allclose(stretch_times(np.array([1.0, 2.0, 4.0]), np.array([2.0, 1.5])), [1.0, 3.0, 6.0])
    clock = np.linspace(0.0, 3.5, 3501)
    eased = ease_ends(clock, 3.0, 3.5)
    rate = np.gradient(eased, clock)
    np.testing.assert_allclose(eased + eased[::-1], 3.0, atol=1e-12)
    np.testing.assert_allclose(rate[500:-500], 1.0, atol=1e-3)
    assert (eased[0], rate[0], rate.min() >= 0.0) == (0.0, pytest.approx(0.0, abs=1e-5), True)
