"""Where the feet of a recorded body stand, and when: found from its motion, and from measured forces."""

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
    USUAL,
    ContactRules,
    belt_speed,
    contacts_by_motion,
    hysteresis,
    remove_short,
)
from .plate_contacts import stances_by_force
from .schedule import Anchor, Phase, Schedule, flat_on_ground

CHUNK = 2048
"""Frames whose links are placed at once."""
FLATTEST = 0.25
"""Share of a stance's frames, those with the sole nearest to level, that say where the foot stands: it rolls."""
ROLLS = 0.05
"""[m] Difference of heights within a standing sole from which it rolls."""
NOT_FLAT = "contacts are flat and do not know that it rolls"
"""Words of what is told of a recording whose soles roll."""
STILL_LEG = 0.05
"""[m] Height of a stance over the lowest one from which it is one on something raised."""


@dataclass(frozen=True, slots=True, repr=False)
class RecordedContacts:
    """A recording with the contacts that were found in it.

    Attributes:
        motion: N frames, as if the floor stood still.
        schedule: when which sole stands where.
        wrenches: that were measured, as if the floor stood still; None where none were.
        notes: what was assumed or done.
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
    rules: ContactRules = USUAL,
) -> RecordedContacts:
    """Find where a recorded body stands.

    A foot stands while its sole is low and slow, and where plates felt it, as long as they did. Where forces are
    complete nothing stands while nothing is carried, and while something is, the lower foot does. A stance plants the
    sole level, where it was flattest. Who walks on a belt is taken off it.

    Args:
        rig: with a left and a right sole.
        motion: N frames of it.
        wrenches: measured at the same times.
        counted: (N,) True where they are all that push; everywhere by default.
        rules: when a foot stands by its motion.

    Raises:
        InvalidValue: a rig without two soles, or wrenches at other times.
    """
    if wrenches is not None and not np.array_equal(wrenches.times, motion.times):
        raise InvalidValue("motion and wrenches must share their times")
    if len(motion) < 2:
        raise InvalidValue("one frame does not tell which foot stands")
    patches = tuple(rig.sides.values())
    turns, places = link_poses(rig, motion, [rig.index(rig.patch(name).link) for name in patches])
    soles = [place[:, None] + rig.patch(p).vertices @ t.swapaxes(1, 2) for p, t, place in zip(patches, turns, places)]
    told = []
    belt = belt_speed(motion.times, np.concatenate(soles, axis=1), rules)
    if belt.any():
        way = -(motion.times - motion.times[0])[:, None] * belt
        motion = _in_moving_frame(motion, -belt)
        places, soles = [place + way for place in places], [sole + way[:, None] for sole in soles]
        wrenches = None if wrenches is None else _displaced_wrenches(wrenches, way)
        told.append(f"feet stand on a belt of {np.linalg.norm(belt):.2f} m/s, whose way is added")
    stands = np.array([contacts_by_motion(motion.times, sole, rules) for sole in soles])
    if wrenches is not None:
        felt, _ = stances_by_force(motion.times, dict(zip(patches, soles)), dict(zip(patches, stands)), wrenches, rules)
        load = wrenches.total[:, 2]
        known = np.isfinite(load) & (True if counted is None else counted)
        carried = hysteresis(load >= TOUCH, load < RELEASE)
        stands = _by_force(motion.times, np.array(list(felt.values())), soles, carried, known, rules)
    anchors, ground = _anchors(rig, patches, turns, places, soles, stands)
    rolled = max(
        (float(np.ptp(sole[own, :, 2], axis=1).max()) for sole, own in zip(soles, stands) if own.any()), default=0.0
    )
    if rolled > ROLLS:
        told.append(f"one end of a sole that stands is up to {100.0 * rolled:.0f} cm higher than the other: {NOT_FLAT}")
    if others := [patch.name for patch in rig.contacts if not patch.sole]:
        told.append(f"only feet are looked for: {', '.join(others)} stand nowhere; key their strips where they carried")
    return RecordedContacts(motion, build_schedule(motion.times, stands, anchors, ground), wrenches, tuple(told))


def build_schedule(
    times: np.ndarray, stands: np.ndarray, anchors: Sequence[Sequence[Anchor]], ground: float = 0.0
) -> Schedule:
    """The phases of stances.

    Args:
        times: (N,) [s].
        stands: (F, N) True where each foot stands.
        anchors: of each foot's stances in their order.
        ground: [m].
    """
    count = len(times)
    runs = [true_runs(own) for own in stands]
    edges = sorted({0, count - 1, *(k for own in runs for a, b in own for k in (a, min(b, count - 1)))})
    phases = []
    for start, stop in pairwise(edges):
        planted = [
            anchors[foot][number]
            for foot, own in enumerate(runs)
            for number, (a, b) in enumerate(own)
            if a <= start and stop <= min(b, count - 1)
        ]
        phases.append(Phase(float(times[start]), float(times[stop]), tuple(planted)))
    return Schedule(tuple(phases), ground)


def link_poses(rig: Rig, motion: Motion, links: Sequence[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Axes (N, 3, 3) and origins (N, 3) [m] of links, world."""
    pieces = [
        (part.rotation[:, :, links].transpose(2, 3, 0, 1), part.position[:, links].transpose(1, 2, 0))
        for _, part in motion_pieces(rig, motion, CHUNK)
    ]
    return list(np.concatenate([a for a, _ in pieces], axis=1)), list(np.concatenate([b for _, b in pieces], axis=1))


def _in_moving_frame(motion: Motion, velocity: np.ndarray) -> Motion:
    """A motion on something that itself moves with a constant velocity (3,) [m/s], world."""
    q, v, a = (np.array(part) for part in (motion.q, motion.v, motion.a))
    q[:, :3] += (motion.times - motion.times[0])[:, None] * velocity
    own = velocity @ to_matrix(q[:, 3:7])  # in the root's axes, which turn
    v[:, :3] += own
    a[:, :3] -= np.cross(v[:, 3:6], own)
    return replace(motion, q=q, v=v, a=a)


def _displaced_wrenches(wrenches: Wrenches, way: np.ndarray) -> Wrenches:
    """What was measured on something that has moved by (N, 3) [m], world."""
    values = np.array(wrenches.values)
    values[:, :, 3:] += np.cross(way[:, None], values[:, :, :3])
    return replace(wrenches, values=values)


def _by_force(
    times: np.ndarray,
    stands: np.ndarray,
    soles: Sequence[np.ndarray],
    carried: np.ndarray,
    known: np.ndarray,
    rules: ContactRules,
) -> np.ndarray:
    """Stances (F, N) that agree with whether anything is carried (N,), where that is known (N,)."""
    found = stands & ~(known & ~carried)
    lower = np.argmin([sole[:, :, 2].min(axis=1) for sole in soles], axis=0)
    nobody = known & carried & ~found.any(axis=0)
    for foot, own in enumerate(found):
        own |= nobody & (lower == foot)
    return np.array([remove_short(times, own, rules.shortest) for own in found])


def _anchors(
    rig: Rig,
    patches: Sequence[str],
    turns: Sequence[np.ndarray],
    places: Sequence[np.ndarray],
    soles: Sequence[np.ndarray],
    stands: np.ndarray,
) -> tuple[list[list[Anchor]], float]:
    """Anchors of each foot's stances, and the height [m] of the floor: the median of those that are not raised."""
    found: list[list[tuple[Anchor, float]]] = []
    for patch, turn, place, sole, own in zip(patches, turns, places, soles, stands):
        leans = np.ptp(sole[:, :, 2], axis=1)
        each = []
        for start, stop in true_runs(own):
            flat = start + np.flatnonzero(leans[start:stop] <= np.quantile(leans[start:stop], FLATTEST))
            anchor = Anchor(patch, nearest_rotation(turn[flat].sum(axis=0)), np.median(place[flat], axis=0))
            each.append((anchor, float(np.median(sole[flat, :, 2].mean(axis=1)))))
        found.append(each)
    heights = np.array([height for each in found for _, height in each])
    if not len(heights):
        lowest = min(float(sole[:, :, 2].min()) for sole in soles)
        return [[] for _ in patches], lowest
    ground = float(np.median(heights[heights < heights.min() + STILL_LEG]))
    planted = [
        [flat_on_ground(rig, anchor, height if height > ground + STILL_LEG else ground) for anchor, height in each]
        for each in found
    ]
    return planted, ground
