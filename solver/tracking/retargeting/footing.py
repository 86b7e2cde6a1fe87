"""Where the feet of a rig go while it follows somebody: planted flat while the followed foot stands, swung in between.

A stance plants the foot once, where the followed one stood, scaled and as much farther out as the rig's hips are. A
swing is the followed foot's own path, bent so that it begins and ends at rest in the stances around it, and lifted so
that no corner of the sole goes deeper than the followed sole's lowest point, scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import BSpline

from ...arrays import stretches
from ...contacts.recorded import STILL_LEG, schedule_of
from ...contacts.schedule import Anchor, Schedule, flat_on_ground
from ...person import SIDES
from ...rig import Rig
from ...so3 import exp, log, nearest
from ..anatomy import LEG, anatomy_of, centres
from ..bone_mapping import BoneMapping
from .between import both_around, places_at, smooth_step, turns_at
from .performer import Performer

EASE, TURNING = 0.3, 0.5
"""Shares of a swing in which it leaves rest, and comes back to it; the foot's turn takes longer, as it is farthest from
flat where a person's foot leaves the floor."""
DEGREE, PIECES, REST = 5, 8, 3
"""Of the splines of swings' heights; so many equal control values are rest without acceleration."""


@dataclass(frozen=True, slots=True)
class Ways:
    """How far feet go.

    Attributes:
        stride: ratio of horizontal ways to the followed ones, scaled; feet stay as far apart sideways.
        wider: [m] by which they are farther apart sideways.
    """

    stride: float = 1.0
    wider: float = 0.0


@dataclass(frozen=True, slots=True)
class Footing:
    """Both feet of a rig over time.

    Attributes:
        times: (N,) [s].
        links: of the feet, right then left.
        rotations: (2, N, 3, 3) axes of the foot links, world.
        positions: (2, N, 3) [m] their origins, world.
        stands: (2, N) True where they stand.
        anchors: of each foot's stances in their order.
    """

    times: np.ndarray
    links: tuple[int, int]
    rotations: np.ndarray
    positions: np.ndarray
    stands: np.ndarray
    anchors: tuple[tuple[Anchor, ...], tuple[Anchor, ...]]

    @property
    def raised(self) -> float:
        """[m] Height of the highest stance over the floor."""
        heights = [a.position[2] for anchors in self.anchors for a in anchors]
        return float(max(heights) - min(heights)) if heights else 0.0

    def paced(self, clock: np.ndarray, pace: np.ndarray) -> Footing:
        """The same at times (M,) [s] of a clock that shows these times (M,) of it."""
        times, stands = self.times, self.stands
        return replace(
            self,
            times=clock,
            rotations=np.array([turns_at(times, turns, pace, own) for turns, own in zip(self.rotations, stands)]),
            positions=np.array([places_at(times, places, pace, own) for places, own in zip(self.positions, stands)]),
            stands=np.array([both_around(times, own, pace) for own in stands]),
        )

    @property
    def free(self) -> np.ndarray:
        """(N, 2) 0 where a foot stands, 1 in the middle of its swings, smooth in between."""
        result = np.zeros(self.stands.T.shape)
        for number, stands in enumerate(self.stands):
            for start, stop in stretches(~stands):
                share = np.linspace(0.0, 1.0, stop - start)
                own = np.ones(stop - start)
                if start:
                    own *= smooth_step(share / EASE)
                if stop < len(stands):
                    own *= smooth_step((1.0 - share) / EASE)
                result[start:stop, number] = own
        return result

    def turned(self, angles: np.ndarray) -> Footing:
        """The same with feet turned about the vertical by angles (2, N) [rad]."""
        return replace(self, rotations=exp(angles[..., None] * [0.0, 0.0, 1.0]) @ self.rotations)

    def schedule(self, times: np.ndarray | None = None) -> Schedule:
        """When which patch stands where; ``times`` (N,) [s] where the pace has changed."""
        return schedule_of(self.times if times is None else times, self.stands, self.anchors)


def footing(
    performer: Performer, rig: Rig, mapping: BoneMapping, stances: Mapping[str, np.ndarray], ways: Ways
) -> Footing:
    """Where a rig's feet go.

    Args:
        performer: who is followed, on a floor that stands still.
        rig: that follows.
        mapping: which segment leads what.
        stances: (N,) True where each side's foot stands.
        ways: how far they go.
    """
    stride, sides, scale = ways.stride, rig.sides, mapping.scale
    starts = centres(rig, anatomy_of(rig).parts)
    apart = 0.5 * float(np.linalg.norm(np.subtract(*(starts[f"{side}_{LEG[-1]}"][:2] for side in SIDES))))
    outwards = stride * mapping.spread + (1.0 - stride) * apart + 0.5 * ways.wider
    floor = min(float(np.quantile(performer.sole(side)[:, :, 2].min(axis=1), 0.05)) for side in SIDES)
    lowest = {
        side: scale * np.maximum(performer.sole(side)[:, :, 2].min(axis=1) - floor, 0.0) for side in SIDES
    }  # fmt: skip
    floors = {
        side: min(float(np.median(lowest[side][a:b])) for a, b in stretches(stances[side]))
        for side in SIDES
        if stances[side].any()
    }
    base = min(floors.values(), default=0.0)
    links, turns, places, planted = [], [], [], []
    for side in SIDES:
        patch = rig.patch(sides[side])
        link = rig.index(patch.link)
        column = mapping.links.index(patch.link)
        turn = performer.turn(f"{side}_{LEG[-1]}") @ mapping.turns[column]
        place = scale * performer.place(f"{side}_{LEG[-1]}") * [stride, stride, 1.0]
        out = _left(performer) * (outwards if side == "left" else -outwards)
        place = place + out
        # a foot's own floor is told by its soles only to centimetres; one that never leaves a box has the other's
        level = floors.get(side, base) if floors.get(side, base) - base < STILL_LEG else base
        own, path, anchors = _path(rig, patch.name, turn, place, lowest[side] - level, stances[side])
        links.append(link)
        turns.append(own)
        places.append(path)
        planted.append(anchors)
    stands = np.array([stances[side] for side in SIDES])
    return Footing(
        performer.times, (links[0], links[1]), np.array(turns), np.array(places), stands, (planted[0], planted[1])
    )


def _left(performer: Performer) -> np.ndarray:
    """Horizontal direction (N, 3) to the left of the pelvis."""
    hips = [performer.place(f"{side}_{LEG[0]}") for side in ("left", "right")]
    across = (hips[0] - hips[1]) * [1.0, 1.0, 0.0]
    return across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)


def _path(
    rig: Rig, patch: str, turn: np.ndarray, place: np.ndarray, lowest: np.ndarray, stands: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[Anchor, ...]]:
    """Rotations and places of one foot, and its anchors."""
    turn, place = np.array(turn), np.array(place)
    corners = rig.patch(patch).vertices
    anchors: list[Anchor] = []
    runs = stretches(stands)
    for start, stop in runs:
        height = float(np.median(lowest[start:stop]))
        raised = height if height > STILL_LEG else 0.0
        middle = Anchor(patch, nearest(turn[start:stop].sum(axis=0)), np.median(place[start:stop], axis=0))
        anchors.append(flat_on_ground(rig, middle, raised))
    for start, stop in stretches(~stands):
        before = next((a for a, (_, b) in zip(anchors, runs) if b == start), None)
        after = next((a for a, (b, _) in zip(anchors, runs) if b == stop), None)
        span = slice(start, stop)
        share = np.linspace(0.0, 1.0, stop - start)  # at rest where it begins and ends, so that stances are at rest
        turn[span], place[span], ease = _bent(turn[span], place[span], share, before, after)
        base = [0.0 if own is None else own.points(rig)[:, 2].min() for own in (before, after)]
        rest = np.interp(share, [0.0, 1.0], base if before and after else [max(base)] * 2)
        clear = rest * (1.0 - ease) + ease * np.maximum(lowest[span], 0.0)
        low = (turn[span, 2] @ corners.T).min(axis=1)
        place[span, 2] = _even(clear - low, before is not None, after is not None)
    for anchor, (start, stop) in zip(anchors, runs):
        turn[start:stop], place[start:stop] = anchor.rotation, anchor.position
    return turn, place, tuple(anchors)


def _bent(
    turn: np.ndarray, place: np.ndarray, share: np.ndarray, before: Anchor | None, after: Anchor | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A swing between anchors: its own deviation from its chord, eased, on the smooth way from one to the other."""
    ease, turning = np.ones((2, len(share)))
    for end, left in ((before, share), (after, 1.0 - share)):
        if end is not None:
            ease, turning = ease * smooth_step(left / EASE), turning * smooth_step(left / TURNING)
    first = (turn[0], place[0]) if before is None else (before.rotation, before.position)
    last = (turn[-1], place[-1]) if after is None else (after.rotation, after.position)
    along = smooth_step(share)[:, None]
    chord = place[0] + along * (place[-1] - place[0])
    way = first[1] + along * (last[1] - first[1])
    turned = first[0] @ exp(along * log(first[0].T @ last[0]))
    own = log(np.swapaxes(turned, 1, 2) @ turn)
    return turned @ exp(turning[:, None] * own), way + ease[:, None] * (place - chord), ease


def _even(heights: np.ndarray, rests: bool, comes_to_rest: bool) -> np.ndarray:
    """A swing's heights (n,) without the corners that they have where another corner of the sole becomes the lowest.

    A spline of few pieces, at rest at the ends where the foot stands before or after.
    """
    pieces = min(PIECES, (len(heights) - 1) // 3)
    if pieces < 2:
        return heights
    share = np.linspace(0.0, 1.0, len(heights))
    knots = np.concatenate([np.zeros(DEGREE), np.linspace(0.0, 1.0, pieces + 1), np.ones(DEGREE)])
    basis = BSpline.design_matrix(share, knots, DEGREE).toarray()
    count = basis.shape[1]
    first, last = (REST if own else 0 for own in (rests, comes_to_rest))
    fixed = np.concatenate([np.full(first, heights[0]), np.zeros(count - first - last), np.full(last, heights[-1])])
    free = slice(first, count - last)
    fixed[free] = np.linalg.lstsq(basis[:, free], heights - basis @ fixed, rcond=None)[0]
    return np.asarray(basis @ fixed)
