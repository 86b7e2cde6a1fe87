"""Foot contacts of a recording: when and where each sole is planted, from motion and measured forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import true_runs
from ..dynamics.kinematics import motion_pieces
from ..errors import InvalidValue
from ..motion import Motion
from ..rig import Rig
from ..so3 import nearest_rotation, to_matrix
from ..wrenches import Wrenches
from .contact_detection import (
    RELEASE,
    TOUCH,
    belt_speed,
    contacts_by_motion,
    hysteresis,
    remove_short,
    stances_by_force,
)
from .rolling import PARTS
from .schedule import Anchor, Phase, Schedule, flat_on_ground

CHUNK = 2048
"""Frames whose link poses are computed at once."""
FLATTEST = 0.25
"""Fraction of a stance's frames, those with the most level sole, from which its pose is estimated: feet roll."""
ROLLS = 0.05
"""[m] Height difference within a planted sole above which the foot rolls."""
NOT_FLAT = "planted soles are modelled flat, the roll is ignored"
"""Part of the note on a recording whose soles roll."""
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
    - A stance plants the sole level, at its pose in the frames with the most level sole.
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
    rotations, origins = link_poses(rig, motion, [rig.index(rig.patch(name).link) for name in patches])
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
    anchors, ground = _anchors(rig, patches, rotations, origins, soles, stances)
    roll = max(
        (float(np.ptp(sole[own, :, 2], axis=1).max()) for sole, own in zip(soles, stances) if own.any()), default=0.0
    )
    if roll > ROLLS:
        notes.append(f"one end of a planted sole is up to {100.0 * roll:.0f} cm higher than the other: {NOT_FLAT}")
    if others := [patch.name for patch in rig.contacts if not patch.sole]:
        notes.append(f"contacts are found for feet only: key the strips of {', '.join(others)} where they carry load")
    return RecordedContacts(motion, build_schedule(motion.times, stances, anchors, ground), wrenches, tuple(notes))


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


def link_poses(rig: Rig, motion: Motion, links: Sequence[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rotations (N, 3, 3) and origins (N, 3) [m] of links, world."""
    pieces = [
        (part.rotation[:, :, links].transpose(2, 3, 0, 1), part.position[:, links].transpose(1, 2, 0))
        for _, part in motion_pieces(rig, motion, CHUNK)
    ]
    return list(np.concatenate([a for a, _ in pieces], axis=1)), list(np.concatenate([b for _, b in pieces], axis=1))


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
    patches: Sequence[str],
    rotations: Sequence[np.ndarray],
    origins: Sequence[np.ndarray],
    soles: Sequence[np.ndarray],
    stances: np.ndarray,
) -> tuple[list[list[Anchor]], float]:
    """Anchors of each foot's stances, and the height [m] of the floor: the median of stances that are not raised."""
    found: list[list[tuple[Anchor, float]]] = []
    for patch, rotation, origin, sole, own in zip(patches, rotations, origins, soles, stances):
        tilts = np.ptp(sole[:, :, 2], axis=1)
        each = []
        for start, stop in true_runs(own):
            flat = start + np.flatnonzero(tilts[start:stop] <= np.quantile(tilts[start:stop], FLATTEST))
            anchor = Anchor(patch, nearest_rotation(rotation[flat].sum(axis=0)), np.median(origin[flat], axis=0))
            each.append((anchor, float(np.median(sole[flat, :, 2].mean(axis=1)))))
        found.append(each)
    heights = np.array([height for each in found for _, height in each])
    if not len(heights):
        return [[] for _ in patches], min(float(sole[:, :, 2].min()) for sole in soles)
    ground = float(np.median(heights[heights < heights.min() + STILL_LEG]))
    planted = [
        [flat_on_ground(rig, anchor, height if height > ground + STILL_LEG else ground) for anchor, height in each]
        for each in found
    ]
    return planted, ground
