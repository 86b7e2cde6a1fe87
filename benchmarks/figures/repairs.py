"""Time of a repair and remaining violations: one changed posture of a long dance, and keyed extremes; simulated."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from solver.contacts.schedule import Anchor, Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.authoring.repair import RepairedDance, repair_dance
from solver.dynamics import integrate
from solver.dynamics.coordinates import joint_coordinates
from solver.feasibility import check_motion
from solver.rigs import hrp2, human
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.legged_rig import LeggedRig
from solver.values.motion import Motion

from .figure import Figure, at_most

BEAT, BEATS, QUICK_BEATS = 2.0, 47, 7
"""[s] between keyed postures of the long dance, and how many there are."""
HASTE = 0.8
"""[s] between keyed extremes."""
EXTREMES: tuple[Mapping[str, tuple[int, float]], ...] = (
    {"right_upper_arm": (1, -1.2), "left_upper_arm": (0, 0.9), "torso": (1, 0.5)},
    {"right_upper_arm": (0, 0.5), "right_forearm": (0, -1.0), "torso": (0, 0.4)},
    {"torso": (1, -0.45), "left_upper_arm": (1, 1.0), "right_upper_arm": (1, 1.0)},
)
"""Joint (axis, angle [rad]) of each: a bow, an arm in the trunk, a bend backwards."""
SEEDS = range(12)
"""Seeds of motions keyed at random: nothing was tuned on the odd ones."""
KEYED, JOINTS, LARGEST = 3, 12, 1.7
"""Postures of each, and joint coordinates of trunk and arms that each posture turns, by so much [rad] at most."""
FULL = (0.5, 1.05)
"""Shares of a joint's range that they are turned by: some are keyed beyond it."""


def figures(quick: bool) -> list[Figure]:
    """Rows of the changed posture and of the extremes; ``quick``: a short dance with the changed posture."""
    rig = human(1.75, 65.0, "female")
    changed = changed_dance(rig, QUICK_BEATS if quick else BEATS)
    began = time.process_time()
    found = repair_dance(changed)
    seconds = time.process_time() - began
    lasts = changed.stop - changed.start
    left = "" if found.feasible else f"; STILL FAILS: {found.after.worst_failures[0]}"
    result = [
        Figure("one changed posture, repaired and verified at 500 Hz, processor", f"simulated, person, {lasts:.0f} s",
               seconds, "s", None if quick else at_most(2.0), None if quick else at_most(0.8), timed=True,
               note=f"{found.iterations} programs, {found.status}{left}"),
    ]  # fmt: skip
    if quick:
        return result
    keyed = keyed_postures(rig, EXTREMES, HASTE)
    result += _extremes(keyed, repair_dance(keyed))
    for body in (rig, human(1.9, 90.0, "male"), hrp2()):
        result += _random_figures(body)
    return result


def _extremes(keyed: AuthoredDance, found: RepairedDance) -> list[Figure]:
    """How smooth and how deep."""
    rate, data = found.motion.rate, "simulated, person, three postures"
    rms, peak = (np.array(_jerk(keyed.rig, m)) for m in (found.motion, keyed.motion(rate)))
    deep = _depths(found)
    left = 100.0 * float(found.after.failed.mean())
    return [
        Figure("repaired keyed extremes: frames that fail any check", data, left, "%", at_most(0.0),
               note=f"{100.0 * float(found.before.failed.mean()):.0f} % as keyed; {found.iterations} programs"),
        Figure("repaired keyed extremes: jerk over the given", data, float((rms / peak).max()), "", at_most(3.0),
               note=f"rms and largest: {rms[0] / peak[0]:.2f}, {rms[1] / peak[1]:.2f}; {found.status}"),
        Figure("repaired keyed extremes: overlap over the given", data, 1e3 * (deep[1] - deep[0]), "mm", at_most(0.0),
               note=f"{1e3 * deep[0]:.1f} mm given, {1e3 * deep[1]:.1f} mm repaired"),
    ]  # fmt: skip


def _depths(found: RepairedDance) -> tuple[float, float]:
    """[m] by which links overlap each other as given and as repaired."""
    before, after = (
        max(-float(c.get_margin("self-collision").smallest.min()), 0.0) for c in (found.before, found.after)
    )
    return before, after


def _random_figures(rig: Rig) -> list[Figure]:
    """Postures of arms and trunk keyed at random, repaired: how many are feasible, how smooth, how deep, how quick."""
    feasible, jerks, deeper, seconds = [], [], [], []
    for seed in SEEDS:
        keyed = _random_postures(rig, seed)
        began = time.process_time()
        found = repair_dance(keyed)
        if found.before.feasible:
            continue
        seconds.append(time.process_time() - began)
        own, given = (np.array(_jerk(rig, m)) for m in (found.motion, keyed.motion(found.motion.rate)))
        before, after = _depths(found)
        feasible.append(found.feasible)
        jerks.append(own / given)
        deeper.append(1e3 * (after - before))
    data = f"simulated, {rig.name}, {len(feasible)} motions"
    left = 100.0 * (1.0 - float(np.mean(feasible)))
    rms, peak = np.array(jerks).T
    took = f"{np.median(seconds):.1f} s of processor in the middle, {max(seconds):.1f} s at most"
    return [
        Figure("keyed at random: not feasible after the repair", data, left, "%", at_most(0.0), note=took),
        Figure("  jerk over the given, root mean square, the worst of them", data, float(rms.max()), "", at_most(3.0),
               note=f"in the middle {np.median(rms):.2f}; of the largest jerk {peak.max():.1f}, in the middle "
               f"{np.median(peak):.2f}"),
        Figure("  overlap over the given, the worst of them", data, max(deeper), "mm", at_most(0.0)),
    ]  # fmt: skip


def _random_postures(rig: Rig, seed: int) -> AuthoredDance:
    """Postures of arms and trunk at random, on beats [s], from rest to rest; some inside out."""
    rng = np.random.default_rng(seed)
    legged, moves = LeggedRig(rig, shrink=0.0), []
    q, anchors = _home(rig)
    free = legged.trunk
    lower, upper = np.maximum(legged.lower, -LARGEST), np.minimum(legged.upper, LARGEST)
    for _ in range(KEYED):
        step = np.zeros(rig.nv)
        for column in rng.choice(free, min(JOINTS, len(free)), replace=False):
            step[column] = rng.uniform(lower[column], upper[column]) * rng.uniform(*FULL)
        moves.append(step)
    keys = [Keyframe((k + 1) * HASTE, integrate(rig, q, step)) for k, step in enumerate(moves)]
    stop = (len(keys) + 1) * HASTE
    ends = Keyframe(0.0, q, "fixed"), Keyframe(stop, q, "fixed")
    return AuthoredDance(rig, (ends[0], *keys, ends[1]), Schedule.constant(anchors, 0.0, stop))


def _jerk(rig: Rig, motion: Motion) -> tuple[float, float]:
    """Root mean square and largest third derivative of joint coordinates [rad/s^3]."""
    third = np.diff(joint_coordinates(rig, motion.q), 3, axis=0) * motion.rate**3
    return float(np.sqrt((third**2).mean())), float(np.abs(third).max())


def changed_dance(rig: Rig, beats: int) -> AuthoredDance:
    """A feasible dance of arms and trunk, of which one posture now has an arm in the trunk."""
    rng = np.random.default_rng(0)
    gentle: list[Mapping[str, tuple[int, float]]] = [
        {side: (axis, float(rng.uniform(-0.3, 0.3))) for side, axis in (("right_upper_arm", 1), ("left_upper_arm", 1),
                                                                        ("torso", 0))}
        for _ in range(beats)
    ]  # fmt: skip
    keyed = keyed_postures(rig, gentle, BEAT)
    if not check_motion(rig, keyed.motion(50.0), keyed.schedule, keyed.checks).feasible:
        raise RuntimeError("the dance before the change is to be feasible")
    return keyed_postures(rig, [*gentle[: beats // 2], EXTREMES[1], *gentle[beats // 2 + 1 :]], BEAT)


def keyed_postures(rig: Rig, postures: Sequence[Mapping[str, tuple[int, float]]], beat: float) -> AuthoredDance:
    """Postures about one with bent knees, on beats [s], from rest to rest."""
    q, anchors = _home(rig)
    keys = [Keyframe(0.0, q, "fixed")]
    for number, angles in enumerate(postures, start=1):
        step = np.zeros(rig.nv)
        for link, (axis, angle) in angles.items():
            step[_column(rig, link) + axis] = angle
        keys.append(Keyframe(number * beat, integrate(rig, q, step)))
    stop = len(keys) * beat
    return AuthoredDance(rig, (*keys, Keyframe(stop, q, "fixed")), Schedule.constant(anchors, 0.0, stop))


def _column(rig: Rig, link: str) -> int:
    """First of the coordinates of a link's joint."""
    column = sum(joint.nv for joint in rig.joints[: rig.index(link)])
    assert column >= ROOT_NV
    return column


def _home(rig: Rig) -> tuple[np.ndarray, tuple[Anchor, ...]]:
    """A balanced posture with bent knees, and where its feet stand."""
    legged = LeggedRig(rig, shrink=0.0)
    footing = legged.get_footing("both")
    _, curves, _ = legged.solve_static(legged.home_posture(footing)[None], footing.solved)
    return curves.q[0], footing.anchors
