"""Overlapping links of a retargeted motion are separated, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from solver.base.so3 import exp, log, quaternion_exp, to_quaternion
from solver.dance.workflows.retarget import CHECKS, SEPARATED, RetargetLimits, retarget
from solver.dynamics.coordinates import joint_coordinates
from solver.feasibility import check_motion
from solver.feasibility.link_pairs import SOCKET_DISTANCE
from solver.options.authoring import RetargetOptions
from solver.options.checks import CheckOptions
from solver.rigs import hoap3, hrp2
from solver.scene.labels import format_length
from solver.skeleton.rig import ROOT_NV
from solver.tracking.retargeting.interpolation import smooth_maximum
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.retarget import RetargetedMotion, retarget_motion
from solver.trajectory.collision_avoidance import (
    SEPARATION,
    SEPARATION_REACH,
    OverlapFinder,
    separate_around,
    separate_legs_and_links,
    separate_links,
)
from solver.values.motion import Motion
from tests.tracking.test_retargeting import RATE, assert_feet_stand, person, squat

OPTIONS, HASTY = RetargetOptions(), RetargetOptions(keep_timing=True)


def performing(times: np.ndarray, height: np.ndarray, turns: dict[str, np.ndarray]) -> Performer:
    """Simulated: a person whose root is at heights (N,) [m] and whose joints have coordinates (N, n)."""
    rig = person()
    q, still = np.tile(rig.neutral, (len(times), 1)), np.zeros((len(times), rig.nv))
    q[:, 2] = height
    for link, own in turns.items():
        q[:, rig.q_slices[rig.index(link)]] = own
    return Performer.from_motion(rig, Motion(times, q, still, still))


@cache
def armed(turn: float, steps: float = 0.0) -> Performer:
    """Simulated: a person who squats and turns the upper arms inwards and back by an angle [rad]."""
    motion, rig = squat(person(), steps=steps), person()
    q = np.array(motion.q)
    bend = turn * 0.5 * (1.0 - np.cos(2.0 * np.pi * motion.times / motion.times[-1]))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        q[:, rig.q_slices[rig.index(f"{side}_upper_arm")]] = quaternion_exp(sign * bend[:, None] * [1.0, 0.0, 0.0])
    return Performer.from_motion(rig, Motion(motion.times, q, motion.v, motion.a))


@cache
def inside() -> RetargetedMotion:
    """HRP-2 with its hands in its thighs and waist."""
    return retarget_motion(armed(0.45), hrp2())


def leaping(turn: float) -> Performer:
    """Simulated: a person who leaps upwards, turning its straight legs out by an angle [rad] in the air."""
    times = np.arange(0.0, 2.0 + 0.5 / RATE, 1.0 / RATE)
    up = np.where(np.abs(times - 1.0) < 0.5, np.sin(np.pi * (times - 0.5)), 0.0)
    out = turn * (up**2)[:, None] * [0.0, 0.0, 1.0]
    turns = {"left_thigh": quaternion_exp(out), "right_thigh": quaternion_exp(-out)}
    return performing(times, person().standing_height + 0.2 * up, turns)


def crossing(swing: float) -> Performer:
    """Simulated: a person who brings its hands together before it, one rising and one falling by an angle [rad]."""
    times, turns = np.arange(0.0, 2.0 + 0.5 / RATE, 1.0 / RATE), {}
    near, wave = np.sin(0.5 * np.pi * times) ** 2, np.sin(np.pi * times)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        forward = exp(-near[:, None] * (1.2 + sign * swing * wave)[:, None] * [0.0, 1.0, 0.0])
        turns[f"{side}_upper_arm"] = to_quaternion(exp(-sign * 0.8 * near[:, None] * [0.0, 0.0, 1.0]) @ forward)
    return performing(times, np.full(len(times), person().standing_height), turns)


def on_the_floor(pitch: float, hips: float, bend: float) -> Performer:
    """Simulated: a person with a trunk at an angle, and hips and knees bent by angles [rad], whose arms swing."""
    times, axis = np.arange(0.0, 1.0 + 0.5 / RATE, 1.0 / RATE), np.array([0.0, 1.0, 0.0])
    turns = {person().links[0]: np.concatenate([[0.0, 0.0, 0.45 * (bend > 0.0) + 0.1], quaternion_exp(pitch * axis)])}
    for side in ("left", "right"):
        turns |= {f"{side}_thigh": quaternion_exp(-hips * axis), f"{side}_shank": np.array(bend)}
        turns[f"{side}_upper_arm"] = quaternion_exp((0.2 * np.sin(6.0 * times) - hips)[:, None] * axis)
    return performing(times, times, turns)


def deepest(found: RetargetedMotion) -> float:
    return -float(OverlapFinder(found, CHECKS).find_overlaps(found.poses).distances.min(initial=0.0))


def added_acceleration(options: RetargetOptions) -> float:
    """[rad/s^2] Root mean square of the acceleration that keeping links apart adds to the joints."""
    given = retarget_motion(armed(0.45), hrp2(), None, options)
    found = separate_links(given, options, CHECKS)
    assert deepest(given) > 0.01 > deepest(found)
    return float(np.sqrt(np.mean((found.motion.a - given.motion.a)[:, ROOT_NV:] ** 2)))


def test_a_slower_motion_gives_way_as_much_slower() -> None:
    """Twice as slow, links that give way accelerate a quarter as much, or nearly.

    Both motions are slow enough to give way by the same path; a fast one passes on another side.
    """
    slow, slower = (added_acceleration(replace(HASTY, slower=ratio)) for ratio in (2.0, 4.0))
    assert slower < slow / 3.5


def test_what_is_spread_over_time_is_never_below_zero() -> None:
    """Shares of feet that give way have roots taken of them."""
    shares = np.zeros((400, 2))
    shares[7:10] = 1.0
    spread = smooth_maximum(0.0095 * np.arange(400), shares, 0.5, 0.25)
    assert spread.min() == 0.0
    assert spread.max() == pytest.approx(1.0)


def test_overlapping_links_are_separated() -> None:
    """By the check's own judgement nothing overlaps any more; feet stand, limits and speeds hold."""
    given = inside()
    assert deepest(given) > 0.01
    found = separate_links(given, OPTIONS, CHECKS)
    checks = check_motion(found.rig, found.motion, found.schedule, CHECKS)
    margin = next(m for m in checks.margins if m.name == "self-collision")
    assert not margin.failed.any()
    assert any("nothing overlaps now" in said for said in found.notes)
    limits, joints = found.rig.limits, joint_coordinates(found.rig, found.motion.q)
    assert (joints >= limits.lower - 1e-9).all()
    assert (joints <= limits.upper + 1e-9).all()
    assert (np.abs(found.motion.v[:, ROOT_NV:]) <= limits.speed * (1.0 + 1e-6)).all()
    assert_feet_stand(found)
    rough, smooth = (np.abs(np.diff(m.motion.q[:, 7:], 2, axis=0)).max() * RATE**2 for m in (given, found))
    assert smooth < 2.0 * rough + 10.0


def test_poses_do_not_jump_where_the_pushed_part_ends() -> None:
    """Links near each other far beyond the overlap: pushes fade towards the last frames that are posed again."""
    given = inside()
    overlaps = OverlapFinder(given, CHECKS)
    found = overlaps.find_overlaps(given.poses)
    first = found.frames == found.frames.min()
    one = found.select(first)
    pushed, around = separate_around(overlaps, given, one, 1.0)
    last = int(around.max())
    assert last < len(given.motion) - 2  # the part ends within the motion, where links still are inside each other
    assert last in found.frames
    change = np.abs(pushed.poses.y - given.poses.y)[:, ROOT_NV:].max(axis=1)
    assert change.max() > 0.02
    assert change[last] < 1e-3  # what posing again changes by itself is a few 1e-4


@pytest.mark.parametrize("allowance", [0.0, 0.02])
def test_links_are_pushed_by_the_missing_distance(allowance: float) -> None:
    """Also links with an allowed overlap: a push never takes them out of their socket."""
    given = inside()
    overlaps = OverlapFinder(given, CHECKS)
    overlaps.detector.allowances[:] = allowance
    rows = overlaps.separation_rows(given.poses, overlaps.find(given.poses, SEPARATION_REACH), 1.0 / RATE)
    placed, tree = overlaps.posing.link_frames(given.poses), overlaps.posing.tree
    turns, places = tree.link_poses(placed, rows.links, rows.frames[:, None])
    points = places + (turns @ rows.points[..., None])[..., 0]
    distances = ((points[:, 1] - points[:, 0]) * rows.normals).sum(axis=1)
    missing = rows.min_distances - distances
    assert missing == pytest.approx((SOCKET_DISTANCE if allowance else SEPARATION) - allowance - distances)
    assert missing[rows.too_near].min() > -1e-4
    assert missing[~rows.too_near].max() < 1e-4


@pytest.mark.parametrize("swing", [0.1, 0.2])
def test_links_pass_each_other_on_one_side(swing: float) -> None:
    """Hands so deep in each other that the shortest way out leaps from over to under: they do not go through."""
    given = retarget_motion(crossing(swing), hrp2(), None, HASTY)
    assert deepest(given) > 0.05
    overlaps = OverlapFinder(given, CHECKS)
    touches = overlaps.find_overlaps(given.poses)
    hands = touches.select(touches.pairs == touches.pairs[touches.distances.argmin()])
    assert ((hands.normals[1:] * hands.normals[:-1]).sum(axis=1) < 0.0).any()
    assert not deepest(separate_links(given, HASTY, CHECKS))


def test_feet_in_the_air_give_way_where_legs_are_in_each_other() -> None:
    """Straight legs turned out have no other way; feet that stand stay."""
    given = retarget_motion(leaping(0.6), hrp2(), None, HASTY)
    assert deepest(given) > 0.02
    found, options = separate_legs_and_links(leaping(0.6), given, HASTY, CHECKS)
    assert not deepest(found)
    assert options == HASTY  # a wider stance is for feet that stand
    moved = log(given.foot_paths.rotations.swapaxes(-1, -2) @ found.foot_paths.rotations)
    assert np.abs(moved).max() > 0.05
    assert np.abs(moved[found.foot_paths.in_stance]).max() == 0.0
    assert_feet_stand(found)


@pytest.mark.parametrize(("pitch", "hips", "bend", "part"), [(1.6, 1.6, 1.6, "hand"), (-1.6, 0.0, 0.0, "waist")])
def test_what_is_on_the_floor_is_named_and_kept_above_it(pitch: float, hips: float, bend: float, part: str) -> None:
    """Who crawls or lies stands on no foot; no link is below the floor, and a note names those that were."""
    source = on_the_floor(pitch, hips, bend)
    given = retarget_motion(source, hrp2())
    found, _ = separate_legs_and_links(source, given, OPTIONS, CHECKS)
    assert not found.foot_paths.in_stance.any()
    heights = [OverlapFinder(way, CHECKS).floor_distances(way.poses, 0.0) for way in (given, found)]
    assert heights[0].min() < -0.05
    assert heights[1].min() > 0.0
    assert any(part in said and "touched the floor" in said for said in found.notes)
    assert any("no foot stands in 100 % of the recording though the body does not fall" in note for note in found.notes)


def test_what_does_not_overlap_stays_itself() -> None:
    """Nothing to do, nothing done: the very same motion."""
    free = retarget_motion(armed(-0.7), hoap3())
    assert not deepest(free)
    assert separate_links(free, OPTIONS, CHECKS) is free
    assert separate_legs_and_links(armed(-0.7), free, OPTIONS, CHECKS)[0] is free


def test_overlaps_count_as_in_the_check() -> None:
    """Within the check's tolerance they stay; a tenth of a millimetre beyond it they are separated."""
    given = inside()
    deep = -float(OverlapFinder(given, CHECKS).find_overlaps(given.poses).distances.min())
    assert separate_links(given, HASTY, replace(CHECKS, tolerance=deep + 1e-6)) is given
    stricter = replace(CHECKS, tolerance=deep - 1e-4)
    found = separate_links(given, HASTY, stricter)
    assert found is not given
    assert not len(OverlapFinder(found, stricter).find_overlaps(found.poses).frames)


def test_overlapping_feet_widen_the_stance() -> None:
    """Steps on one line, too narrow for HRP-2's soles: its stance becomes wider, with a note."""
    narrow = RetargetOptions(stance_widening=-0.12)
    source = armed(-0.7, steps=0.8)
    given = retarget_motion(source, hrp2(), None, narrow)
    assert deepest(given) > 0.01
    kept, options = separate_legs_and_links(source, given, narrow, CHECKS)
    assert options.stance_widening > narrow.stance_widening + 0.01
    assert not deepest(kept)
    apart = [np.subtract(*(feet[0].position[:2] for feet in way.foot_paths.anchors)) for way in (given, kept)]
    wider = float(np.linalg.norm(apart[1]) - np.linalg.norm(apart[0]))
    assert wider == pytest.approx(options.stance_widening - narrow.stance_widening, abs=1e-3)
    assert any(f"feet are {format_length(wider)} farther apart" in said for said in kept.notes)


def test_crossed_legs_widen_no_stance() -> None:
    """A wider stance that does not separate the legs is not taken."""
    source = armed(-0.7)
    crossed = replace(source, contacts=dict.fromkeys(source.soles, np.ones(len(source.times), bool)))
    narrow = RetargetOptions(stance_widening=-0.5)
    given = retarget_motion(crossed, hrp2(), None, narrow)
    assert deepest(given) > 0.01
    assert separate_legs_and_links(crossed, given, narrow, CHECKS)[1] is narrow


def test_checks_are_reported_before_and_after() -> None:
    """Also without a repair: before with the depth, and after with separated links; unchanged if not requested."""
    followed = retarget(armed(0.45), hrp2(), None, None, RetargetLimits(repair=None))
    assert followed.steps[-1].label == SEPARATED
    assert followed.report.index("as followed") < followed.report.index(f"\n{SEPARATED}\n")
    assert followed.after.failed.mean() < followed.before.failed.mean()
    left = retarget(armed(0.45), hrp2(), None, RetargetOptions(allow_collisions=True), RetargetLimits(repair=None))
    assert len(left.steps) == 1
    assert deepest(left.unrepaired) > 0.01


def test_excluded_pairs_may_overlap() -> None:
    """What may touch is not pushed."""
    given = inside()
    touching = OverlapFinder(given, CHECKS)
    found = touching.find_overlaps(given.poses)
    pairs = tuple({touching.detector.pairs[k] for k in found.pairs.tolist()})
    assert separate_links(given, OPTIONS, CheckOptions(excluded=pairs)) is given
