"""Contact schedules from contact strips: a strip gives the time interval of a contact, the motion its location."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...contacts.schedule import SAME_TIME, Anchor, Phase, Schedule, flat_on_ground
from ...dynamics import link_motions
from ...errors import InvalidValue
from ...rig import Rig
from ...trajectory.curve import FlatCurve


@dataclass(frozen=True, slots=True)
class ContactStrip:
    """A contact patch is on the floor from start to stop [s].

    Attributes:
        patch: name of the rig's contact polygon.
    """

    patch: str
    start: float
    stop: float


def schedule_from_strips(
    rig: Rig, curve: FlatCurve, strips: Sequence[ContactStrip], ground: float = 0.0, fixed_times: Sequence[float] = ()
) -> Schedule:
    """The contact schedule of a dance from its strips; outside all strips of a patch it does not touch the floor.

    Each strip plants its patch once: where the dance has it at the strip's first fixed key, otherwise in the middle of
    the strip, rotated and shifted vertically until the sole is flat on the floor.

    Args:
        rig: that dances.
        curve: of the dance.
        strips: of all patches, in any order.
        ground: [m] height of the floor.
        fixed_times: times [s] of fixed keys.

    Raises:
        InvalidValue: strips of one patch overlap, end before they start, or lie outside the dance.
    """
    ordered = sorted(strips, key=lambda s: (s.patch, s.start))
    for before, strip in zip([None, *ordered], ordered):
        _require_valid_strip(strip, before, curve)
    anchors = list(zip(ordered, _plant_feet(rig, curve, ordered, ground, fixed_times)))
    edges = {curve.start, curve.stop, *(t for s, _ in anchors for t in (s.start, s.stop))}
    times = sorted(edges)
    times = [times[0], *(b for a, b in pairwise(times) if b - a > SAME_TIME)]
    phases = []
    for start, stop in pairwise(times):
        middle = 0.5 * (start + stop)
        phases.append(Phase(start, stop, tuple(a for s, a in anchors if s.start < middle < s.stop)))
    return Schedule(tuple(phases), ground)


def _plant_feet(
    rig: Rig, curve: FlatCurve, strips: Sequence[ContactStrip], ground: float, fixed: Sequence[float]
) -> list[Anchor]:
    """Where each strip plants its patch, from one evaluation of the dance: a scene may have hundreds of strips."""
    if not strips:
        return []
    kept = [[t for t in fixed if s.start - SAME_TIME <= t <= s.stop + SAME_TIME] for s in strips]
    times = np.array([k[0] if k else 0.5 * (s.start + s.stop) for s, k in zip(strips, kept)])
    moments, frames = np.unique(times, return_inverse=True)
    links = link_motions(rig, curve.motion(rig, moments))
    anchors = []
    for strip, frame in zip(strips, frames.reshape(-1)):
        link = rig.index(rig.patch(strip.patch).link)
        anchor = Anchor(strip.patch, links.rotation[:, :, link, frame], links.position[:, link, frame])
        anchors.append(flat_on_ground(rig, anchor, ground))
    return anchors


def _require_valid_strip(strip: ContactStrip, before: ContactStrip | None, curve: FlatCurve) -> None:
    if not strip.stop > strip.start:
        raise InvalidValue(f"the strip of {strip.patch!r} at {strip.start:g} s ends before it starts: swap its ends")
    if strip.start < curve.start - SAME_TIME or strip.stop > curve.stop + SAME_TIME:
        raise InvalidValue(
            f"the strip of {strip.patch!r} from {strip.start:g} to {strip.stop:g} s extends beyond the dance, "
            f"{curve.start:g} to {curve.stop:g} s: shorten it"
        )
    if before is not None and before.patch == strip.patch and strip.start < before.stop - SAME_TIME:
        raise InvalidValue(
            f"strips of {strip.patch!r} overlap from {strip.start:g} to {before.stop:g} s: shorten or join them"
        )
