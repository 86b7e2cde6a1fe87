"""Motion to dragged postures, for `benchmarks.extension`.

Each rig is dragged at random with the checks of Blender's scenes, from the posture in which its scene starts; every
third drag starts where the last one ended. Measured is the share of drags that end in a collision, and of drags to
whose end the motion from their start in 1.5 or 3 s passes every check. The motion is that of two keys in Blender
(automatic handles, level at both ends), with the soles fitted in between. Simulated; drags whose start fails a check
are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from solver.contacts.schedule import Schedule, anchors_at
from solver.dance.workflows.standing_posture import find_standing_posture
from solver.dynamics import contact_corners, link_poses
from solver.dynamics.coordinates import static_motion, to_flat
from solver.feasibility import FrameChecker
from solver.options.checks import DANCE_CHECKS
from solver.posing import Drag, Target
from solver.posing.inbetweens import inbetween_postures
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig
from solver.trajectory.curve import FlatCurve

from .figures.figure import Figure

DRAGS, EVENTS_PER_DRAG, DRAGS_IN_A_ROW = 60, 30, 3
REACH = 0.25
"""Largest component of a drag, as a fraction of the body's height."""
RATE, DURATIONS = 24, (1.5, 3.0)
"""[1/s] frames of a motion; [s] its durations."""
HANDLE = 1.0 / 2.5614
"""Length of Blender's automatic handles, as a fraction of the time between two keys."""
COLLISIONS = {"self-collision", "floor"}
"""Checks that a posture fails if it touches something."""


def find_failures(checker: FrameChecker, start: np.ndarray, end: np.ndarray, seconds: float) -> set[str]:
    """Checks that the motion from a posture (nq,) to another fails, all soles planted and at rest at both ends.

    Args:
        checker: of the rig.
        start, end: postures.
        seconds: duration; 0 checks the end at rest.
    """
    rig = checker.rig
    soles = [sole.name for sole in rig.soles]
    anchors = anchors_at(rig, start, soles)
    ground = min(float(anchor.points(rig)[:, 2].min()) for anchor in anchors)
    checker.with_schedule(Schedule.constant(anchors, 0.0, seconds + 1.0, ground))
    if not seconds:
        rest = np.zeros(rig.nv)
        checks = checker.check(end, rest, rest, 0.0)
    else:
        times = np.arange(round(RATE * seconds) + 1) / RATE
        share = eased(times / times[-1])[:, None]
        y = (1.0 - share) * to_flat(rig, start) + share * to_flat(rig, end)
        q = np.array(static_motion(rig, y).q)
        for number, (found, _) in enumerate(inbetween_postures(rig, q.copy(), soles, checks=DANCE_CHECKS), 1):
            q[number] = found.q
        checks = checker.check_frames(FlatCurve.through_samples(rig, times, q).motion(rig, times))
    return {margin.name for margin in checks.margins if margin.failed.any()}


def eased(times: np.ndarray) -> np.ndarray:
    """Values (N,) at times (N,) from 0 to 1 of a Bezier curve from 0 to 1 with level automatic handles."""
    low, high = np.zeros_like(times), np.ones_like(times)
    for _ in range(50):
        u = 0.5 * (low + high)
        is_before = 3.0 * u * (1.0 - u) ** 2 * HANDLE + 3.0 * u * u * (1.0 - u) * (1.0 - HANDLE) + u**3 < times
        low, high = np.where(is_before, u, low), np.where(is_before, high, u)
    return np.asarray(u * u * (3.0 - 2.0 * u))


def random_drags(rig: Rig, q: np.ndarray, drags: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Start and end postures (nq,) of drags, and distances [m] from their targets at the end."""
    generator = np.random.default_rng(seed)
    soles, feet = [sole.name for sole in rig.soles], {sole.link for sole in rig.soles}
    links = [link for link in rig.links if link not in feet]
    ground = min(float(corner[:, 2].min()) for corner in contact_corners(rig, q))
    size = float(link_poses(rig, q)[1][:, 2].max() - ground)
    start = q
    for number in range(drags):
        start = q if number % DRAGS_IN_A_ROW == 0 else start
        drag = Drag(rig, start, soles, checks=DANCE_CHECKS, ground=ground)
        link = links[generator.integers(len(links))]
        place = link_poses(rig, start)[1][rig.index(link)]
        way = generator.uniform(-REACH, REACH, 3) * size
        for step in range(1, EVENTS_PER_DRAG + 1):
            target = Target(link, place + way * step / EVENTS_PER_DRAG, np.zeros(3))
            found = drag.move([target])
        while not found.converged:
            found = drag.move([target])
        yield start, found.q, found.distance
        start = found.q


def motion_rows(drags: int, seed: int) -> Iterator[Figure]:
    """Collisions at the end of a drag, and motions there that pass, of three rigs."""
    for rig in (human(1.75, 70.0, "male"), hrp2(), hoap3()):
        yield from rig_rows(rig, drags, seed)


def rig_rows(rig: Rig, drags: int, seed: int) -> Iterator[Figure]:
    """Figures of one rig."""
    data = f"{rig.name[:16]}, simulated, {drags} drags"
    collision = "drags that end in a collision"
    record = find_standing_posture(rig)
    if record is None:
        yield Figure(collision, data, None, "%", note="no standing posture")
        return
    soles = [sole.name for sole in rig.soles]
    checker = FrameChecker(rig, Schedule.constant(anchors_at(rig, rig.neutral, soles), 0.0, 1.0), DANCE_CHECKS)
    found: dict[float, list[set[str]]] = {seconds: [] for seconds in (0.0, *DURATIONS)}
    for start, end, _ in random_drags(rig, record.motion.q[0], drags, seed):
        if not find_failures(checker, start, start, 0.0):
            for seconds, failures in found.items():
                failures.append(find_failures(checker, start, end, seconds))
    yield Figure(collision, data, 100.0 * float(np.mean([bool(each & COLLISIONS) for each in found[0.0]])), "%")
    for seconds in DURATIONS:
        names = Counter(name for each in found[seconds] for name in each)
        reasons = ", ".join(f"{name} {count}" for name, count in names.most_common())
        passed = 100.0 * float(np.mean([not each for each in found[seconds]]))
        what = f"motions in {seconds:g} s to the end of a drag that pass every check"
        yield Figure(what, data, passed, "%", note=f"checks that fail: {reasons}" if reasons else "")
