"""From contact strips to a schedule: a strip says when a foot stands, the motion says where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import InvalidValue
from ..pinocchio_loader import pin
from ..rig import Rig
from .keys import FlatCurve
from .schedule import SAME_TIME, Anchor, Phase, Schedule, anchors_at, contact_patch


@dataclass(frozen=True, slots=True)
class Strip:
    """A foot stands from start to stop [s].

    Attributes:
        patch: name of the rig's contact polygon.
    """

    patch: str
    start: float
    stop: float


def schedule_of(
    rig: Rig, curve: FlatCurve, strips: Sequence[Strip], ground: float = 0.0, fixed: Sequence[float] = ()
) -> Schedule:
    """The schedule of a dance whose feet stand during strips; without a strip nothing touches the ground.

    Each strip plants its foot once: where the dance has it at the strip's first fixed key, else in the strip's middle,
    turned and lowered (or lifted) until the sole lies flat on the ground.

    Args:
        rig: that dances.
        curve: of the dance.
        strips: of all patches, in any order.
        ground: [m] height of the floor.
        fixed: times [s] of fixed keys.

    Raises:
        InvalidValue: strips of one patch overlap, end before they start, or lie outside the dance.
    """
    anchors: list[tuple[Strip, Anchor]] = []
    for strip in sorted(strips, key=lambda s: (s.patch, s.start)):
        _require_sound(strip, anchors[-1][0] if anchors else None, curve)
        kept = [time for time in fixed if strip.start - SAME_TIME <= time <= strip.stop + SAME_TIME]
        time = kept[0] if kept else 0.5 * (strip.start + strip.stop)
        q = curve.motion(rig, np.array([time])).q[0]
        anchors.append((strip, flat_on_ground(rig, anchors_at(rig, q, (strip.patch,))[0], ground)))
    edges = {curve.start, curve.stop, *(t for s, _ in anchors for t in (s.start, s.stop))}
    times = sorted(edges)
    times = [times[0], *(b for a, b in pairwise(times) if b - a > SAME_TIME)]
    phases = []
    for start, stop in pairwise(times):
        middle = 0.5 * (start + stop)
        phases.append(Phase(start, stop, tuple(a for s, a in anchors if s.start < middle < s.stop)))
    return Schedule(tuple(phases), ground)


def flat_on_ground(rig: Rig, anchor: Anchor, ground: float) -> Anchor:
    """The anchor turned the shortest way until its sole is level, and moved vertically onto the ground."""
    corners = contact_patch(rig, anchor.patch).vertices
    normal = np.linalg.svd(corners - corners.mean(axis=0))[2][2]
    up = anchor.rotation @ normal
    up = up * np.sign(up[2]) if up[2] else up
    turn = pin.Quaternion.FromTwoVectors(up, np.array([0.0, 0.0, 1.0])).matrix() @ anchor.rotation
    centre = anchor.rotation @ corners.mean(axis=0) + anchor.position
    position = centre - turn @ corners.mean(axis=0)
    position[2] += ground - (turn @ corners.mean(axis=0) + position)[2]
    return Anchor(anchor.patch, turn, position)


def _require_sound(strip: Strip, before: Strip | None, curve: FlatCurve) -> None:
    if not strip.stop > strip.start:
        raise InvalidValue(f"the strip of {strip.patch!r} at {strip.start:g} s ends before it starts")
    if strip.start < curve.start - SAME_TIME or strip.stop > curve.stop + SAME_TIME:
        raise InvalidValue(
            f"the strip of {strip.patch!r} from {strip.start:g} to {strip.stop:g} s leaves the dance, "
            f"{curve.start:g} to {curve.stop:g} s"
        )
    if before is not None and before.patch == strip.patch and strip.start < before.stop - SAME_TIME:
        raise InvalidValue(
            f"strips of {strip.patch!r} overlap from {strip.start:g} to {before.stop:g} s: shorten or join them"
        )
