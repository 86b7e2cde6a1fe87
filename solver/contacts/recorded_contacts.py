"""Foot contacts of a recording: when and where each sole is planted, from motion and measured forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..base.arrays import true_runs
from ..base.errors import InvalidValue
from ..base.so3 import to_matrix
from ..dynamics.kinematics import link_paths
from ..skeleton.rig import Rig
from ..values.motion import Motion
from ..values.wrenches import Wrenches
from .contact_detection import (
    RELEASE,
    TOUCH,
    belt_speed,
    contacts_by_motion,
    hysteresis,
    remove_short,
    stances_by_force,
)
from .rolling import PARTS, RollingSole
from .rolling_stances import axes_pitch, find_stance, flatten_pitch, level_axes
from .schedule import Anchor, Phase, Schedule

STILL_LEG = 0.05
"""[m] Height above the lowest stance from which a stance is on a raised support."""


@dataclass(frozen=True, slots=True, repr=False)
class RecordedContacts:
    """A recording and its contacts.

    Attributes:
        motion: N frames, relative to the support (a treadmill's belt velocity is removed).
        schedule: when and where each sole is planted.
        wrenches: measured wrenches relative to the support; None without force data.
        notes: assumptions and corrections.
    """

    motion: Motion
    schedule: Schedule
    wrenches: Wrenches | None
    notes: tuple[str, ...]


def find_recorded_contacts(
    rig: Rig,
    motion: Motion,
    wrenches: Wrenches | None = None,
    counted: np.ndarray | None = None,
) -> RecordedContacts:
    """Find the foot contacts of a recording.

    - A foot is in stance while its sole is low and slow, or, where plates measure it, while a plate is loaded.
    - Where forces are complete, no foot is in stance without load, and at least the lower foot is with load.
    - A stance plants the sole once, level; with the recorded pitch it rolls there on heel, ball or toes.
    - On a treadmill the belt's velocity is removed from motion and wrenches.

    Args:
        rig: with a left and a right sole.
        motion: N frames of it.
        wrenches: measured at the same times.
        counted: (N,) True where all external forces are measured; everywhere by default.

    Raises:
        InvalidValue: a rig without two soles, or wrenches at other times.
    """
    if wrenches is not None and not np.array_equal(wrenches.times, motion.times):
        raise InvalidValue("motion and wrenches must share their times")
    if len(motion) < 2:
        raise InvalidValue("contacts cannot be found in a single frame: give at least two")
    patches = tuple(rig.sides.values())
    rotations, origins = link_paths(rig, motion, [rig.index(rig.patch(name).link) for name in patches])
    soles = [
        origin[:, None] + rig.patch(patch).vertices @ rotation.swapaxes(1, 2)
        for patch, rotation, origin in zip(patches, rotations, origins)
    ]
    notes = []
    belt = belt_speed(motion.times, np.concatenate(soles, axis=1))
    if belt.any():
        displacement = -(motion.times - motion.times[0])[:, None] * belt
        motion = _in_moving_frame(motion, -belt)
        origins = [origin + displacement for origin in origins]
        soles = [sole + displacement[:, None] for sole in soles]
        wrenches = None if wrenches is None else _displaced_wrenches(wrenches, displacement)
        notes.append(f"the feet are on a belt that moves at {np.linalg.norm(belt):.2f} m/s: its motion is removed")
    stances = np.array([contacts_by_motion(motion.times, sole) for sole in soles])
    if wrenches is not None:
        by_side, _ = stances_by_force(motion.times, dict(zip(patches, soles)), dict(zip(patches, stances)), wrenches)
        load = wrenches.total[:, 2]
        known = np.isfinite(load) & (True if counted is None else counted)
        loaded = hysteresis(load >= TOUCH, load < RELEASE)
        stances = _by_force(motion.times, np.array(list(by_side.values())), soles, loaded, known)
    anchors, parts, ground = _anchors(rig, motion.times, patches, rotations, origins, stances)
    if others := [patch.name for patch in rig.contacts if not patch.sole]:
        notes.append(f"contacts are found for feet only: key the strips of {', '.join(others)} where they carry load")
    schedule = build_schedule(motion.times, stances, anchors, ground, parts)
    return RecordedContacts(motion, schedule, wrenches, tuple(notes))


def build_schedule(
    times: np.ndarray,
    stances: np.ndarray,
    anchors: Sequence[Sequence[Anchor]],
    ground: float = 0.0,
    parts: np.ndarray | None = None,
) -> Schedule:
    """Contact phases of stances.

    Args:
        times: (N,) [s].
        stances: (F, N) True where each foot is in stance.
        anchors: of each foot's stances in their order.
        ground: [m] height of the floor.
        parts: (F, N) indices in `rolling.PARTS` of the part of each sole that touches; whole soles by default.
    """
    count = len(times)
    parts = np.zeros(stances.shape, int) if parts is None else parts
    runs = [true_runs(own) for own in stances]
    edges = {0, count - 1, *(k for own in runs for a, b in own for k in (a, min(b, count - 1)))}
    for own, part in zip(stances, parts):
        edges |= {int(k) for k in np.flatnonzero(own[1:] & own[:-1] & (part[1:] != part[:-1])) + 1}
    phases = []
    for start, stop in pairwise(sorted(edges)):
        planted = [
            replace(anchors[foot][number], part=PARTS[parts[foot, start]])
            for foot, own in enumerate(runs)
            for number, (a, b) in enumerate(own)
            if a <= start and stop <= min(b, count - 1)
        ]
        phases.append(Phase(float(times[start]), float(times[stop]), tuple(planted)))
    return Schedule(tuple(phases), ground)


def _in_moving_frame(motion: Motion, velocity: np.ndarray) -> Motion:
    """A motion plus a constant velocity (3,) [m/s], world."""
    q, v, a = (np.array(values) for values in (motion.q, motion.v, motion.a))
    q[:, :3] += (motion.times - motion.times[0])[:, None] * velocity
    own = velocity @ to_matrix(q[:, 3:7])  # in the root's rotating axes
    v[:, :3] += own
    a[:, :3] -= np.cross(v[:, 3:6], own)
    return replace(motion, q=q, v=v, a=a)


def _displaced_wrenches(wrenches: Wrenches, displacement: np.ndarray) -> Wrenches:
    """Wrenches whose points of application are displaced by (N, 3) [m], world."""
    values = np.array(wrenches.values)
    values[:, :, 3:] += np.cross(displacement[:, None], values[:, :, :3])
    return replace(wrenches, values=values)


def _by_force(
    times: np.ndarray,
    stances: np.ndarray,
    soles: Sequence[np.ndarray],
    loaded: np.ndarray,
    known: np.ndarray,
) -> np.ndarray:
    """Stances (F, N) that agree with the total load: present or not (N,), where it is known (N,)."""
    found = stances & ~(known & ~loaded)
    lower = np.argmin([sole[:, :, 2].min(axis=1) for sole in soles], axis=0)
    unassigned = known & loaded & ~found.any(axis=0)
    for foot, own in enumerate(found):
        own |= unassigned & (lower == foot)
    return np.array([remove_short(times, own) for own in found])


def _anchors(
    rig: Rig,
    times: np.ndarray,
    patches: Sequence[str],
    rotations: Sequence[np.ndarray],
    origins: Sequence[np.ndarray],
    stances: np.ndarray,
) -> tuple[list[list[Anchor]], np.ndarray, float]:
    """Anchors of each foot's stances, the parts (F, N) of the soles that touch, and the height [m] of the floor.

    The floor is at the median of stances that are not raised, or below the lowest corner without stances.
    """
    parts, found, soles = np.zeros(stances.shape, int), [], [RollingSole.of(rig, patch) for patch in patches]
    for foot, (sole, rotation, origin, in_stance) in enumerate(zip(soles, rotations, origins, stances)):
        axes = level_axes(times, rotation @ sole.axes, in_stance)
        pitch = flatten_pitch(axes_pitch(axes))
        parts[foot] = sole.parts(pitch)
        own = [slice(*run) for run in true_runs(in_stance)]
        found.append([find_stance(sole, axes[run], origin[run], pitch[run]).anchor for run in own])
    heights = np.array([anchor.points(rig)[0, 2] for each in found for anchor in each])
    if not len(heights):
        lowest = [sole.lowest_points(*pose) for sole, *pose in zip(soles, rotations, origins)]
        return found, parts, float(np.min(lowest))
    ground = float(np.median(heights[heights < heights.min() + STILL_LEG]))
    return [[_lower(anchor, rig, ground) for anchor in each] for each in found], parts, ground


def _lower(anchor: Anchor, rig: Rig, ground: float) -> Anchor:
    """The anchor with its sole on the ground, unless it is on a raised support."""
    height = float(anchor.points(rig)[0, 2])
    return (
        anchor if height > ground + STILL_LEG else replace(anchor, position=anchor.position - [0, 0, height - ground])
    )
