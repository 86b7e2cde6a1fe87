"""What a repair costs and leaves: one changed posture of a long dance, and keyed extremes; simulated."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from solver.contacts.schedule import Anchor, Schedule
from solver.coordinates import joint_coordinates
from solver.dance.authoring.keys import Keyed, Keyframe
from solver.dance.authoring.repair import Repair, repair
from solver.dynamics import integrate
from solver.feasibility import check_motion
from solver.motion import Motion
from solver.rig import ROOT_NV, Rig
from solver.rigs import human
from solver.trajectory.legged_rig import LeggedRig

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


def figures(quick: bool) -> list[Figure]:
    """Rows of the changed posture and of the extremes; ``quick``: a short dance with the changed posture."""
    rig = human(1.75, 65.0, "female")
    changed = _changed(rig, QUICK_BEATS if quick else BEATS)
    began = time.process_time()
    found = repair(changed)
    seconds = time.process_time() - began
    lasts = changed.stop - changed.start
    left = "" if found.feasible else f"; STILL FAILS: {found.after.worst_failures[0]}"
    result = [
        Figure("one changed posture, repaired and verified at 500 Hz, processor", f"simulated, person, {lasts:.0f} s",
               seconds, "s", None if quick else at_most(2.0), None if quick else at_most(0.8),
               note=f"{found.iterations} programmes, {found.status}{left}"),
    ]  # fmt: skip
    if quick:
        return result
    keyed = _keyed(rig, EXTREMES, HASTE)
    return result + _extremes(keyed, repair(keyed))


def _extremes(keyed: Keyed, found: Repair) -> list[Figure]:
    """How smooth and how deep."""
    rate, data = found.motion.rate, "simulated, person, three postures"
    rms, peak = (np.array(_jerk(keyed.rig, m)) for m in (found.motion, keyed.motion(rate)))
    deep = [max(-float(c.margin("self-collision").smallest.min()), 0.0) for c in (found.before, found.after)]
    return [
        Figure("repaired keyed extremes: jerk over the given", data, float((rms / peak).max()), "", at_most(3.0),
               note=f"rms and largest: {rms[0] / peak[0]:.2f}, {rms[1] / peak[1]:.2f}; {found.status}"),
        Figure("repaired keyed extremes: overlap over the given", data, 1e3 * (deep[1] - deep[0]), "mm", at_most(0.0),
               note=f"{1e3 * deep[0]:.1f} mm given, {1e3 * deep[1]:.1f} mm repaired"),
    ]  # fmt: skip


def _jerk(rig: Rig, motion: Motion) -> tuple[float, float]:
    """Root mean square and largest third derivative of joint coordinates [rad/s^3]."""
    third = np.diff(joint_coordinates(rig, motion.q), 3, axis=0) * motion.rate**3
    return float(np.sqrt((third**2).mean())), float(np.abs(third).max())


def _changed(rig: Rig, beats: int) -> Keyed:
    """A feasible dance of arms and trunk, of which one posture now has an arm in the trunk."""
    rng = np.random.default_rng(0)
    gentle: list[Mapping[str, tuple[int, float]]] = [
        {side: (axis, float(rng.uniform(-0.3, 0.3))) for side, axis in (("right_upper_arm", 1), ("left_upper_arm", 1),
                                                                        ("torso", 0))}
        for _ in range(beats)
    ]  # fmt: skip
    keyed = _keyed(rig, gentle, BEAT)
    if not check_motion(rig, keyed.motion(50.0), keyed.schedule, keyed.checks).feasible:
        raise RuntimeError("the dance before the change is to be feasible")
    return _keyed(rig, [*gentle[: beats // 2], EXTREMES[1], *gentle[beats // 2 + 1 :]], BEAT)


def _keyed(rig: Rig, postures: Sequence[Mapping[str, tuple[int, float]]], beat: float) -> Keyed:
    """Postures about one with bent knees, on beats [s], from rest to rest."""
    q, anchors = _home(rig)
    keys = [Keyframe(0.0, q, "fixed")]
    for number, angles in enumerate(postures, start=1):
        step = np.zeros(rig.nv)
        for link, (axis, angle) in angles.items():
            step[_column(rig, link) + axis] = angle
        keys.append(Keyframe(number * beat, integrate(rig, q, step)))
    stop = len(keys) * beat
    return Keyed(rig, (*keys, Keyframe(stop, q, "fixed")), Schedule.constant(anchors, 0.0, stop))


def _column(rig: Rig, link: str) -> int:
    """First of the coordinates of a link's joint."""
    column = sum(joint.nv for joint in rig.joints[: rig.index(link)])
    assert column >= ROOT_NV
    return column


def _home(rig: Rig) -> tuple[np.ndarray, tuple[Anchor, ...]]:
    """A balanced posture with bent knees, and where its feet stand."""
    legged = LeggedRig(rig, shrink=0.0)
    footing = legged.footing("both")
    _, curves, _ = legged.still(legged.home(footing)[None], footing.solved)
    return curves.q[0], footing.anchors
