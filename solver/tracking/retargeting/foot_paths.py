"""Paths of a rig's feet: planted flat while the followed foot is in stance, swinging in between.

A stance plants the foot once, at the followed foot's position, scaled, and further out by the difference of the hips'
widths. A swing is the followed foot's own path, bent so that it begins and ends at rest in the stances around it, and
raised so that no corner of the sole is lower than the followed sole's lowest point, scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.interpolate import BSpline

from ...arrays import true_runs
from ...contacts.recorded_contacts import STILL_LEG, build_schedule
from ...contacts.schedule import Anchor, Schedule, flat_on_ground
from ...person import SIDES
from ...rig import Rig
from ...shape import ContactPolygon
from ...so3 import exp, log, nearest_rotation
from ..anatomy import LEG, find_anatomy, find_joint_centres
from ..bone_mapping import BoneMapping
from .interpolation import holds_around, interpolate_positions, interpolate_rotations, smooth_step
from .performer import Performer

EASE_FRACTION, TURN_FRACTION = 0.3, 0.5
"""Fractions of a swing in which it leaves rest, and returns to it: position, and rotation, which takes longer because a
person's foot is far from flat where it leaves the floor."""
DEGREE, SPLINE_PIECES, REST_VALUES = 5, 8, 3
"""Of the splines of swings' heights; so many equal control values give rest without acceleration."""
FLOOR_TOLERANCE, MAX_RAISES = 1e-5, 50
"""[m] Depth of a sole below the floor that needs no correction, and most corrections of a swing's spline."""


@dataclass(frozen=True, slots=True)
class StepScale:
    """Scale of the steps.

    Attributes:
        stride_ratio: ratio of horizontal distances to the followed ones, scaled; the width between feet is unchanged.
        stance_widening: [m] by which the feet are further apart sideways.
    """

    stride_ratio: float = 1.0
    stance_widening: float = 0.0


@dataclass(frozen=True, slots=True)
class FootPaths:
    """Both feet of a rig over time.

    Attributes:
        times: (N,) [s].
        links: foot links, right then left.
        rotations: (2, N, 3, 3) axes of the foot links, world.
        positions: (2, N, 3) [m] their origins, world.
        in_stance: (2, N) True where they stand.
        anchors: of each foot's stances, in order.
    """

    times: np.ndarray
    links: tuple[int, int]
    rotations: np.ndarray
    positions: np.ndarray
    in_stance: np.ndarray
    anchors: tuple[tuple[Anchor, ...], tuple[Anchor, ...]]

    @property
    def stance_height_range(self) -> float:
        """[m] Height of the highest stance above the lowest."""
        heights = [a.position[2] for anchors in self.anchors for a in anchors]
        return float(max(heights) - min(heights)) if heights else 0.0

    def resample(self, clock: np.ndarray, pace: np.ndarray) -> FootPaths:
        """The paths at times (M,) [s] of a clock that corresponds to times (M,) ``pace`` of these paths."""
        times, in_stance = self.times, self.in_stance
        return replace(
            self,
            times=clock,
            rotations=np.array(
                [
                    interpolate_rotations(times, rotations, pace, own)
                    for rotations, own in zip(self.rotations, in_stance)
                ]
            ),
            positions=np.array(
                [
                    interpolate_positions(times, positions, pace, own)
                    for positions, own in zip(self.positions, in_stance)
                ]
            ),
            in_stance=np.array([holds_around(times, own, pace) for own in in_stance]),
        )

    @property
    def swing_weights(self) -> np.ndarray:
        """(N, 2) 0 in stance, 1 in the middle of swings, smooth in between."""
        result = np.zeros(self.in_stance.T.shape)
        for number, in_stance in enumerate(self.in_stance):
            for start, stop in true_runs(~in_stance):
                share = np.linspace(0.0, 1.0, stop - start)
                own = np.ones(stop - start)
                if start:
                    own *= smooth_step(share / EASE_FRACTION)
                if stop < len(in_stance):
                    own *= smooth_step((1.0 - share) / EASE_FRACTION)
                result[start:stop, number] = own
        return result

    def rotate_feet(self, angles: np.ndarray) -> FootPaths:
        """The paths with feet rotated about the vertical by angles (2, N) [rad]."""
        return replace(self, rotations=exp(angles[..., None] * [0.0, 0.0, 1.0]) @ self.rotations)

    def schedule(self, times: np.ndarray | None = None) -> Schedule:
        """Contact schedule; at ``times`` (N,) [s] if the timing has changed."""
        return build_schedule(self.times if times is None else times, self.in_stance, self.anchors)


def plan_foot_paths(
    performer: Performer, rig: Rig, mapping: BoneMapping, stances: Mapping[str, np.ndarray], step_scale: StepScale
) -> FootPaths:
    """Plans the paths of a rig's feet.

    Args:
        performer: on a floor at rest.
        rig: that follows.
        mapping: segment that each link follows.
        stances: (N,) True where each side's foot stands.
        step_scale: scale of the steps.
    """
    stride, sides, scale = step_scale.stride_ratio, rig.sides, mapping.scale
    starts = find_joint_centres(rig, find_anatomy(rig).parts)
    apart = 0.5 * float(np.linalg.norm(np.subtract(*(starts[f"{side}_{LEG[-1]}"][:2] for side in SIDES))))
    outwards = stride * mapping.foot_widening + (1.0 - stride) * apart + 0.5 * step_scale.stance_widening
    floor = min(float(np.quantile(performer.sole_points(side)[:, :, 2].min(axis=1), 0.05)) for side in SIDES)
    lowest = {
        side: scale * np.maximum(performer.sole_points(side)[:, :, 2].min(axis=1) - floor, 0.0) for side in SIDES
    }  # fmt: skip
    floors = {
        side: min(float(np.median(lowest[side][a:b])) for a, b in true_runs(stances[side]))
        for side in SIDES
        if stances[side].any()
    }
    base = min(floors.values(), default=0.0)
    links, rotations, positions, planted = [], [], [], []
    for side in SIDES:
        patch = rig.patch(sides[side])
        link = rig.index(patch.link)
        column = mapping.links.index(patch.link)
        rotation = performer.part_rotations(f"{side}_{LEG[-1]}") @ mapping.rotations[column]
        place = scale * performer.part_positions(f"{side}_{LEG[-1]}") * [stride, stride, 1.0]
        out = _left_directions(performer) * (outwards if side == "left" else -outwards)
        place = place + out
        # soles determine a foot's floor only to centimetres; a foot that never leaves a box has the other's floor
        level = floors.get(side, base) if floors.get(side, base) - base < STILL_LEG else base
        own, path, anchors = _plan_foot(rig, patch.name, rotation, place, lowest[side] - level, stances[side])
        links.append(link)
        rotations.append(own)
        positions.append(path)
        planted.append(anchors)
    in_stance = np.array([stances[side] for side in SIDES])
    return FootPaths(
        performer.times,
        (links[0], links[1]),
        np.array(rotations),
        np.array(positions),
        in_stance,
        (planted[0], planted[1]),
    )


def _left_directions(performer: Performer) -> np.ndarray:
    """Horizontal direction (N, 3) to the left of the pelvis."""
    hips = [performer.part_positions(f"{side}_{LEG[0]}") for side in ("left", "right")]
    across = (hips[0] - hips[1]) * [1.0, 1.0, 0.0]
    return across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)


def _plan_foot(
    rig: Rig, patch: str, rotation: np.ndarray, position: np.ndarray, lowest: np.ndarray, in_stance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[Anchor, ...]]:
    """Rotations and positions of one foot, and its anchors."""
    rotation, position = np.array(rotation), np.array(position)
    corners = _bounding_corners(rig.patch(patch))
    anchors: list[Anchor] = []
    runs = true_runs(in_stance)
    for start, stop in runs:
        height = float(np.median(lowest[start:stop]))
        raised = height if height > STILL_LEG else 0.0
        middle = Anchor(
            patch, nearest_rotation(rotation[start:stop].sum(axis=0)), np.median(position[start:stop], axis=0)
        )
        anchors.append(flat_on_ground(rig, middle, raised))
    for start, stop in true_runs(~in_stance):
        before = next((a for a, (_, b) in zip(anchors, runs) if b == start), None)
        after = next((a for a, (b, _) in zip(anchors, runs) if b == stop), None)
        span = slice(start, stop)
        share = np.linspace(0.0, 1.0, stop - start)  # at rest where it begins and ends, so that stances are at rest
        rotation[span], position[span], ease = _bend_swing(rotation[span], position[span], share, before, after)
        base = [0.0 if own is None else own.points(rig)[:, 2].min() for own in (before, after)]
        rest = np.interp(share, [0.0, 1.0], base if before and after else [max(base)] * 2)
        clear = rest * (1.0 - ease) + ease * np.maximum(lowest[span], 0.0)
        low = (rotation[span, 2] @ corners.T).min(axis=1)
        position[span, 2] = _smooth_heights(clear - low, min(base) - low, before is not None, after is not None)
    for anchor, (start, stop) in zip(anchors, runs):
        rotation[start:stop], position[start:stop] = anchor.rotation, anchor.position
    return rotation, position, tuple(anchors)


def _bounding_corners(patch: ContactPolygon) -> np.ndarray:
    """Corners (8, 3) [m] of the box around a sole, link frame, in the sole's plane: feet have boxes as shapes."""
    box, normal = np.array([patch.vertices.min(axis=0), patch.vertices.max(axis=0)]), patch.outward
    corners = np.array(list(product(*box.T)))
    return np.asarray(corners - np.outer((corners - patch.centroid) @ normal, normal))


def _bend_swing(
    rotation: np.ndarray, position: np.ndarray, share: np.ndarray, before: Anchor | None, after: Anchor | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A swing between anchors: its own deviation from its chord, eased, on the smooth path from one to the other."""
    ease, turning = np.ones((2, len(share)))
    for end, left in ((before, share), (after, 1.0 - share)):
        if end is not None:
            ease, turning = ease * smooth_step(left / EASE_FRACTION), turning * smooth_step(left / TURN_FRACTION)
    first = (rotation[0], position[0]) if before is None else (before.rotation, before.position)
    last = (rotation[-1], position[-1]) if after is None else (after.rotation, after.position)
    along = smooth_step(share)[:, None]
    chord = position[0] + along * (position[-1] - position[0])
    way = first[1] + along * (last[1] - first[1])
    turned = first[0] @ exp(along * log(first[0].T @ last[0]))
    own = log(np.swapaxes(turned, 1, 2) @ rotation)
    return turned @ exp(turning[:, None] * own), way + ease[:, None] * (position - chord), ease


def _smooth_heights(heights: np.ndarray, least: np.ndarray, starts_at_rest: bool, ends_at_rest: bool) -> np.ndarray:
    """A swing's heights (n,) without the kinks where another corner of the sole becomes the lowest.

    A spline of few pieces, at rest at the ends that begin or end in stance, and raised where it is below the least
    heights (n,), at which the sole touches the floor.
    """
    pieces = min(SPLINE_PIECES, (len(heights) - 1) // 3)
    if pieces < 2:
        return heights
    share = np.linspace(0.0, 1.0, len(heights))
    knots = np.concatenate([np.zeros(DEGREE), np.linspace(0.0, 1.0, pieces + 1), np.ones(DEGREE)])
    basis = BSpline.design_matrix(share, knots, DEGREE).toarray()
    count = basis.shape[1]
    first, last = (REST_VALUES if own else 0 for own in (starts_at_rest, ends_at_rest))
    fixed = np.concatenate([np.full(first, heights[0]), np.zeros(count - first - last), np.full(last, heights[-1])])
    free = slice(first, count - last)
    fixed[free] = np.linalg.lstsq(basis[:, free], heights - basis @ fixed, rcond=None)[0]
    nearest = first + basis[:, free].argmax(axis=1)
    shares = np.maximum(basis[np.arange(len(heights)), nearest], 1e-12)
    for _ in range(MAX_RAISES):
        missing = np.maximum(least - basis @ fixed, 0.0)
        if missing.max() < FLOOR_TOLERANCE:
            break
        raises = np.zeros(count)
        np.maximum.at(raises, nearest, np.minimum(missing / shares, missing.max()))
        fixed += raises
    return np.asarray(basis @ fixed)
