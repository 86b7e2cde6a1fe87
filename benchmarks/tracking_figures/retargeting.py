"""Recorded people followed by robots: feet, limits, speed of the computation, balance and torque, and MuJoCo."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from solver.calibration import fit_calibration
from solver.coordinates import joint_coordinates
from solver.dance.workflows.retarget import CHECKS, RetargetedDance, RetargetLimits, retarget
from solver.dynamics import link_motions
from solver.feasibility import check_motion
from solver.formats.recording import read_recording
from solver.options.authoring import RepairOptions, RetargetOptions
from solver.options.reading import ReadOptions
from solver.rig import ROOT_NV, Rig
from solver.rigs import from_urdf, hoap3, hrp2, human
from solver.signals import preset_of, smooth_motion
from solver.tracking import track_markers
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.retarget import RetargetedMotion, retarget_motion
from solver.trajectory.collision_avoidance import OverlapFinder, separate_legs_and_links
from solver.trajectory.retargeting_balance import balance_motion

from ..figures.figure import Figure, at_least, at_most, missing
from ..models import G1, ICUB, model_file
from ..reference import to_ordinary

FILTER = preset_of("jovic_human")
DEEP, FAST, TOUCHES = 0.005, 0.02, 0.004
"""[m] below the floor and [m/s] of what touches beyond which it counts, and [m] height below which it touches."""
SLACK = 1e-6
ROUNDS = 1
"""Of a repair."""
CLIPS: dict[str, tuple[str, str, float, str]] = {
    "squats a": ("subject_a/markers/static1.trc", "subject_a/markers/squats1.trc", 63.5, "female"),
    "jump a": ("subject_a/markers/static1.trc", "subject_a/markers/DJ1.trc", 63.5, "female"),
    "walk a": ("subject_a/markers/static1.trc", "subject_a/markers/walking1.trc", 63.5, "female"),
    "walk a, toes in": ("subject_a/markers/static1.trc", "subject_a/markers/walkingTI1.trc", 63.5, "female"),
    "walk b": ("subject_b/markers/static_walk.trc", "subject_b/markers/walk.trc", 75.0, "male"),
    "walk c": ("subject_c/subject01_static.trc", "subject_c/subject01_walk1.trc", 72.6, "male"),
}
QUICK, ROBOTS_FOLLOW = ("squats a", "walk b"), ("squats a", "jump a", "walk a", "walk b", "walk c")
PACED = ("squats a", "walk a", "walk b", "walk c")
"""Clips that are balanced, at the recorded pace."""


def retargeting_figures(data: Path, quick: bool) -> list[Figure]:
    """Rows by rig and clip."""
    rows = []
    for clip in QUICK if quick else ROBOTS_FOLLOW:
        source = performer(data, clip)
        for name, make in robots().items():
            what = f"retargeted, {name}"
            if source is None:
                rows += missing(_kinematic(what, clip, None, 0.0, 0), "no recording")
                continue
            rig = make()
            if rig is None:
                rows += missing(_kinematic(what, clip, None, 0.0, 0), "the robot's model is not installed")
                continue
            began = time.process_time()
            found = retarget_motion(source, rig)
            seconds = time.process_time() - began
            rows += _kinematic(what, clip, found, seconds, len(source.times))
            rows += _overlaps(what, clip, source, found, seconds)
            if clip in PACED and not quick:
                rows += _dynamic(what, clip, source, rig)
    return rows


WALKS = {
    "cmu_walk": "clips/cmu_walk.bvh",
    "xia_strutting": "clips/xia_strutting.bvh",
    "xia_catwalk": "clips/xia_catwalk.bvh",
    "walking1 of a": "walk a",
    "walkingTI1 of a": "walk a, toes in",
    "walk of c": "walk c",
}
"""Walks that a person follows at the recorded pace: files of segments, or recorded people (`CLIPS`)."""
ENDS = 0.1
"""[s] at both ends in which accelerations are computed from one side."""


def walking_figures(data: Path, quick: bool) -> list[Figure]:
    """A built-in person follows walks: pace, balance, friction, torque and yaw moment, sway, and time of computing."""
    rows, rig = [], human(1.75, 70.0, sex="male")
    for clip, source in WALKS.items():
        if source.endswith(".bvh"):
            path = data / source
            found = read_recording(path, ReadOptions()).segments if path.exists() else None
            walker = None if found is None else Performer.from_segments(found, clip)
        else:
            walker = performer(data, source)
        rows += _walk(clip, walker, rig)
    return rows


def _walk(clip: str, walker: Performer | None, rig: Rig) -> list[Figure]:
    """Rows of one walk; without it the rows alone."""
    values, seconds = dict.fromkeys(("zmp", "friction", "joint torque", "twist"), float("nan")), float("nan")
    ratio = moved = slid = float("nan")
    if walker is not None:
        recorded, began = float(walker.times[-1] - walker.times[0]), time.process_time()
        options = RetargetOptions()
        kept, options = separate_legs_and_links(walker, retarget_motion(walker, rig, None, options), options, CHECKS)
        balanced = balance_motion(kept, options, CHECKS)
        checks = check_motion(rig, balanced.motion, balanced.schedule, CHECKS)
        seconds, ratio = to_ordinary((time.process_time() - began) / recorded), balanced.duration_ratio
        inner = (checks.times > checks.times[0] + ENDS) & (checks.times < checks.times[-1] - ENDS)
        for name in values:
            margins = checks.get_margin(name)
            values[name] = 100.0 * float(1.0 - margins.failed[inner].mean())
        slid = 100.0 * float((sole_depths_and_speeds(balanced)[1] > FAST).mean())
        paced = balance_motion(kept, replace(options, keep_timing=True, allow_collisions=True), CHECKS)
        com = [OverlapFinder(way, CHECKS).com_positions(way.poses) for way in (kept, paced)]
        moved = 1e3 * float(np.sqrt(((com[1] - com[0])[12:-12] ** 2).sum(axis=1).mean()))
    what, real = "person walks, recorded pace", f"real, {clip}"
    rows = [
        Figure(f"{what}: duration over recorded", real, ratio, "", at_most(1.05), at_most(1.0)),
        Figure(f"{what}: zero-moment point inside what touches", real, values["zmp"], "%", at_least(95.0),
               at_least(99.0)),
        Figure(f"{what}: friction holds", real, values["friction"], "%", at_least(97.0), at_least(99.0)),
        Figure(f"{what}: torques hold", real, values["joint torque"], "%", at_least(97.0), at_least(99.0)),
        Figure(f"{what}: yaw moment holds", real, values["twist"], "%", at_least(85.0), at_least(97.0)),
        Figure(f"{what}: centre of mass moved, rms", real, moved, "mm", at_most(35.0), at_most(25.0)),
        Figure(f"{what}: points that touch faster than 2 cm/s", real, slid, "%", at_most(1.5), at_most(0.5)),
        Figure(f"{what}: time of computing per recorded second", real, seconds, "s", at_most(4.0), at_most(1.5)),
    ]  # fmt: skip
    return missing(rows, "no recording") if walker is None else rows


def robots() -> dict[str, Callable[[], Rig | None]]:
    """Who follows."""
    return {"HRP-2": hrp2, "HOAP-3": hoap3, "G1": g1, "iCub": icub}


@cache
def g1() -> Rig | None:
    """Unitree's G1, or None where example-robot-data is not installed."""
    return None if (path := model_file(G1)) is None else from_urdf(path)


@cache
def icub() -> Rig | None:
    """IIT's iCub with its own meshes, or None where icub-models is not installed."""
    return None if (path := model_file(ICUB)) is None else from_urdf(path)


@cache
def performer(data: Path, clip: str) -> Performer | None:
    """A recorded person, tracked and filtered; None without the recording."""
    static, trial, mass, sex = CLIPS[clip]
    paths = [data / static, data / trial]
    if not all(path.exists() for path in paths):
        return None
    recordings = [read_recording(path, ReadOptions(ragged=True)) for path in paths]
    found = fit_calibration(recordings, mass=mass, sex=sex)
    markers = recordings[-1].markers
    assert markers is not None
    tracked = track_markers(found.rig, found.attachments, markers)
    return Performer.from_motion(found.rig, smooth_motion(found.rig, tracked.times, tracked.q, FILTER), clip)


def sole_depths_and_speeds(found: RetargetedMotion) -> tuple[np.ndarray, np.ndarray]:
    """Depths (N,) [m] of the lowest point of the soles below the floor, and speeds (M,) [m/s] of points that touch."""
    links, depths, speeds = link_motions(found.rig, found.motion), [], []
    steps = np.diff(found.motion.times)[:, None]
    for number, (sole, link) in enumerate(zip(found.foot_paths.soles, found.foot_paths.links)):
        rotations, origins = links.rotation[:, :, link].transpose(2, 0, 1), links.position[:, link].T
        points = sole.lowest_points(rotations, origins)
        heights = points[..., 2] - found.schedule.ground
        own = found.foot_paths.in_stance[number]
        touches = (np.maximum(heights[1:], heights[:-1]) < TOUCHES) & (own[1:] & own[:-1])[:, None]
        depths.append(-heights.min(axis=1))
        speeds.append((np.linalg.norm(np.diff(points[..., :2], axis=0), axis=2) / steps)[touches])
    return np.max(depths, axis=0), np.concatenate(speeds)


def _kinematic(what: str, clip: str, found: RetargetedMotion | None, seconds: float, recorded: int) -> list[Figure]:
    """Feet, limits and cost; without a motion the rows alone."""
    data = f"real, {clip}"
    deep = fast = beyond = rate = slowed = float("nan")
    if found is not None:
        rig, motion = found.rig, found.motion
        sunk, speeds = sole_depths_and_speeds(found)
        deep, fast = float((sunk > DEEP).sum()), 100.0 * float((speeds > FAST).mean())
        joints, limits = joint_coordinates(rig, motion.q), rig.limits
        with np.errstate(invalid="ignore"):
            outside = (joints < limits.lower - SLACK) | (joints > limits.upper + SLACK)
            outside |= np.abs(motion.v[:, ROOT_NV:]) > limits.speed * (1.0 + SLACK)
        beyond, slowed = float(outside.any(axis=1).sum()), found.duration_ratio
        rate = len(motion) / to_ordinary(seconds)
    return [
        Figure(f"{what}: frames with a foot deeper than 5 mm", data, deep, "", at_most(0.0), at_most(0.0)),
        Figure(f"{what}: points that touch faster than 2 cm/s", data, fast, "%", at_most(1.0), at_most(0.0)),
        Figure(f"{what}: frames beyond a joint or speed limit", data, beyond, "", at_most(0.0), at_most(0.0)),
        Figure(f"{what}: frames/s retargeted on an ordinary core, limits, contacts and pace included", data, rate,
            "1/s",
               at_least(1000.0), at_least(3000.0),
               note="" if found is None else f"of processor time; {len(motion) / seconds:.0f} made and "
               f"{recorded / seconds:.0f} recorded frames/s on this machine; lasts "
               f"{slowed:.2f} times as long as recorded; {100.0 * float(found.converged.mean()):.1f} % converged"),
    ]  # fmt: skip


def _overlaps(what: str, clip: str, source: Performer, found: RetargetedMotion, seconds: float) -> list[Figure]:
    """Overlapping links, as retargeted and separated, and the time of separation."""
    began = time.process_time()
    kept, _ = separate_legs_and_links(source, found, RetargetOptions(), CHECKS)
    seconds += time.process_time() - began
    shapes = OverlapFinder(found, CHECKS)
    before, after = (shapes.find_overlaps(way.poses) for way in (found, kept))
    row = Figure(f"{what}: frames with links inside each other", f"real, {clip}", None, "", at_most(0.0), at_most(0.0))
    if shapes.has_unusable_shapes(before):
        return missing([row], "generated shapes overlap everywhere and show nothing")
    deep = [1e3 * max(0.0, -float(touches.distances.min(initial=0.0))) for touches in (before, after)]
    note = f"{len(np.unique(before.frames))} as retargeted; deepest {deep[0]:.0f} mm, separated {deep[1]:.0f} mm; "
    note += f"{len(kept.motion) / seconds:.0f} frames/s retargeted, separation included"
    return [Figure(row.what, row.data, float(len(np.unique(after.frames))), "", row.must, row.aim, note=note)]


def _dynamic(what: str, clip: str, source: Performer, rig: Rig) -> list[Figure]:
    """Frames that pass balance and torque, as retargeted and repaired, and falls in MuJoCo."""
    followed = retarget(source, rig, limits=RetargetLimits(repair=RepairOptions(passes=ROUNDS)))
    data = f"simulated, retargeted from {clip}"
    shares = [_passing(followed, which) for which in ("before", "after")]
    feasible = 100.0 * float(1.0 - followed.before.failed.mean())
    rows = [
        Figure(f"{what}, repaired: frames that pass ZMP and torque", data, shares[1], "%", at_least(95.0),
               at_least(100.0), note=f"{shares[0]:.1f} % as retargeted, where {feasible:.1f} % pass all checks; "
               f"{followed.message}"),
    ]  # fmt: skip
    fall = Figure(f"{what}, repaired: falls in MuJoCo", data, None, "", at_most(0.0), at_most(0.0))
    try:
        from ..engine.performance import plan
        from ..engine.simulate import play
    except ImportError as error:
        return [*rows, *missing([fall], f"{error}; it is in the benchmarks extra")]
    schedule = followed.record().schedule
    assert schedule is not None
    played = play(rig, plan(rig, followed.motion, schedule))
    note = "" if played.fell is None else f"fell after {played.fell:.1f} of {followed.motion.times[-1]:.1f} s"
    return [*rows, Figure(fall.what, data, float(played.fell is not None), "", fall.must, fall.aim, note)]


def _passing(followed: RetargetedDance, which: str) -> float:
    """Share [%] of frames that pass balance and torque."""
    checks = getattr(followed, which)
    failed = np.any([m.failed for m in checks.margins if m.name in ("zmp", "joint torque")], axis=0)
    return 100.0 * float(1.0 - np.mean(failed))
