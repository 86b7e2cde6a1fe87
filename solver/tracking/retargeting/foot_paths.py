"""Paths of a rig's feet: standing without slipping while the followed foot is in stance, swinging in between.

A stance plants the foot once, at the followed foot's position, scaled, and further out by the difference of the hips'
widths; the foot rolls there with the recorded pitch, made level where it is flat. A swing is the followed foot's own
path with an offset that leads from one stance to the next, raised above the floor. Rigid soles lie flat instead of
rolling, unless asked to roll: half of a swing leads from there to the path of the rolling foot. They cannot push off
with the toes, so they leave the floor in the middle of the time for which heels are up and both feet stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from ...base.arrays import true_runs
from ...base.so3 import exp, log
from ...contacts.recorded_contacts import STILL_LEG, build_schedule
from ...contacts.rolling import PARTS, SOLE, RollingSole
from ...contacts.rolling_stances import (
    RollingStance,
    axes_pitch,
    find_stance,
    flatten_pitch,
    level_axes,
    roll_on_anchor,
    stance_heading,
)
from ...contacts.schedule import Anchor, Schedule
from ...options.authoring import RetargetOptions
from ...skeleton.rig import Rig
from ...values.person import SIDES
from ..anatomy import LEG
from ..bone_mapping import BoneMapping
from .batch_kinematics import UP
from .interpolation import (
    holds_around,
    interpolate_positions,
    interpolate_rotations,
    low_pass_positions,
    low_pass_rotations,
    smooth_between,
    smooth_step,
)
from .performer import Performer

EASE_FRACTION, EASE_TIME = 0.3, 0.12
"""Fraction of a swing in which its foot becomes free to give way, and is bound again, and [s] at most: a swing that the
recording cuts off is no shorter. Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`; no others were tried."""
HOLD_TIME = 0.3
"""[s] in which the offset of a swing that the recording cuts off leaves that of the stance. Chosen on the walks of
`contacts.rolling.TOUCHING_HEIGHT` among 0.15 and 0.3 s."""
SWING_CLEARANCE = 0.003
"""[m] Height above the floor of a swinging foot: it misses its path by up to 2.3 mm, as the walks of
`contacts.rolling.TOUCHING_HEIGHT` show."""
STANCE_TOLERANCE, MAX_RAISE_ACCELERATION = 1e-4, 20.0
"""[m] By how much the smooth path by which swinging feet are raised may differ from none in stances, and [m/s^2] its
acceleration next to them."""


@dataclass(frozen=True, slots=True)
class FootPaths:
    """Both feet of a rig over time.

    Attributes:
        times: (N,) [s].
        links: foot links, right then left.
        soles: geometry of the soles of both.
        rotations: (2, N, 3, 3) axes of the foot links, world.
        positions: (2, N, 3) [m] their origins, world.
        in_stance: (2, N) True where they stand.
        anchors: flat, of each foot's stances, in order.
        root_heights: (N,) [m] of a root that need not come down for the legs to reach.
    """

    times: np.ndarray
    links: tuple[int, int]
    soles: tuple[RollingSole, RollingSole]
    rotations: np.ndarray
    positions: np.ndarray
    in_stance: np.ndarray
    anchors: tuple[tuple[Anchor, ...], tuple[Anchor, ...]]
    root_heights: np.ndarray

    @property
    def stance_height_range(self) -> float:
        """[m] Height of the highest stance above the lowest."""
        heights = [a.position[2] for anchors in self.anchors for a in anchors]
        return float(max(heights) - min(heights)) if heights else 0.0

    def resample(self, clock: np.ndarray, pace: np.ndarray) -> FootPaths:
        """The paths at times (M,) [s] of a clock that corresponds to times (M,) ``pace`` of these paths."""
        return replace(
            self,
            times=clock,
            rotations=np.array([interpolate_rotations(self.times, own, pace) for own in self.rotations]),
            positions=np.array([interpolate_positions(self.times, own, pace) for own in self.positions]),
            in_stance=np.array([holds_around(self.times, own, pace) for own in self.in_stance]),
            root_heights=interpolate_positions(self.times, self.root_heights, pace),
        )

    @property
    def swing_weights(self) -> np.ndarray:
        """(N, 2) 0 in stance, 1 in the middle of swings, smooth in between."""
        return np.column_stack([swing_freedom(self.times, own) for own in self.in_stance])

    def schedule(self) -> Schedule:
        """Contact schedule."""
        parts = np.array([sole.parts(sole.pitch(own)) for sole, own in zip(self.soles, self.rotations)])
        return build_schedule(self.times, self.in_stance, self.anchors, parts=parts)


def plan_foot_paths(
    performer: Performer,
    rig: Rig,
    mapping: BoneMapping,
    stances: Mapping[str, np.ndarray],
    options: RetargetOptions,
    turns: np.ndarray,
) -> FootPaths:
    """Plans the paths of a rig's feet.

    Args:
        performer: on a floor at rest.
        rig: that follows.
        mapping: segment that each link follows.
        stances: (N,) True where each side's foot stands.
        options: how far the feet are apart, and whether rigid soles roll.
        turns: (2, N) [rad] of the right and the left foot from their recorded headings.
    """
    sides, scale = rig.sides, mapping.scale
    outwards = max(mapping.foot_widening, 0.0) + 0.5 * options.stance_widening
    lowest = {side: performer.sole_points(side)[:, :, 2].min(axis=1) for side in SIDES}
    floor = performer.floor
    heights = {
        side: [scale * float(np.median(lowest[side][a:b] - floor)) for a, b in true_runs(stances[side])]
        for side in SIDES
    }
    least = {side: min(own) for side, own in heights.items() if own}
    base = min(least.values(), default=0.0)
    soles = {side: RollingSole.of(rig, sides[side]) for side in SIDES}
    planned = []
    for (side, sole), turn in zip(soles.items(), turns):
        rotation = performer.part_rotations(f"{side}_{LEG[-1]}") @ _foot_rotation(performer, side, sole)
        place = scale * (performer.part_positions(f"{side}_{LEG[-1]}") - [0.0, 0.0, floor])
        place = place + _left_directions(performer) * (outwards if side == "left" else -outwards)
        # soles determine a foot's floor only to centimetres; a foot that never leaves a box has the other's floor
        level = least.get(side, base) if least.get(side, base) - base < STILL_LEG else base
        supports = [height - level if height - level > STILL_LEG else 0.0 for height in heights[side]]
        times, rotation = performer.times, exp(turn[:, None] * UP) @ rotation
        recorded = low_pass_rotations(times, rotation), low_pass_positions(times, place)
        beside = None if sole.bends or options.roll else stances["left" if side == "right" else "right"]
        planned.append(_plan_foot(sole, times, recorded, stances[side], supports, beside))
    right, left = planned
    return FootPaths(
        performer.times,
        (rig.index(rig.patch(sides[SIDES[0]]).link), rig.index(rig.patch(sides[SIDES[1]]).link)),
        (soles[SIDES[0]], soles[SIDES[1]]),
        np.array([right[0], left[0]]),
        np.array([right[1], left[1]]),
        np.array([right[3], left[3]]),
        (right[2], left[2]),
        np.zeros(len(performer.times)),
    )


def _foot_rotation(performer: Performer, side: str, sole: RollingSole) -> np.ndarray:
    """Axes (3, 3) of a foot link in the followed segment's: in both rest poses soles are level, and toes point the same
    way from the heels, however the bones of the feet point.
    """
    rest, names = performer.recording.rest, performer.recording.names
    assert rest is not None
    right, left = (rest.heads[names.index(performer.parts[f"{each}_{LEG[0]}"])] for each in SIDES)
    still = performer.rest_rotation(side)
    points = (performer.soles[side] @ still.T)[:, :2]
    ahead = points @ np.cross(left - right, UP)[:2]
    front = ahead > 0.5 * (ahead.min() + ahead.max())
    forward = np.append(points[front].mean(axis=0) - points[~front].mean(axis=0), 0.0)
    forward /= np.linalg.norm(forward)
    level = np.column_stack([forward, np.cross(UP, forward), UP])
    return np.asarray(still.T @ level @ sole.axes.T)


def _left_directions(performer: Performer) -> np.ndarray:
    """Horizontal direction (N, 3) to the left of the pelvis."""
    hips = [performer.part_positions(f"{side}_{LEG[0]}") for side in ("left", "right")]
    across = (hips[0] - hips[1]) * [1.0, 1.0, 0.0]
    return across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)


def _plan_foot(
    sole: RollingSole,
    times: np.ndarray,
    recorded: tuple[np.ndarray, np.ndarray],
    in_stance: np.ndarray,
    supports: Sequence[float],
    beside: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, tuple[Anchor, ...], np.ndarray]:
    """Rotations (N, 3, 3) and positions (N, 3) [m] of a foot link, anchors of its stances, and where (N,) it stands.

    It rolls without slipping or lies flat in its stances, and follows the recorded path between them.

    Args:
        sole: of the foot.
        times: (N,) [s].
        recorded: rotations (N, 3, 3) and positions (N, 3) [m] of the link, as followed.
        in_stance: (N,).
        supports: [m] height of what each stance stands on.
        beside: (N,) True where the other foot stands, if this one lies flat; None: it rolls.
    """
    axes, place, runs = level_axes(times, recorded[0] @ sole.axes, in_stance), recorded[1], true_runs(in_stance)
    offset, floors = np.zeros((len(times), 6)), np.zeros(len(times))
    anchors: list[Anchor] = []
    flats = []
    for (start, stop), height in zip(runs, supports):
        own = slice(start, stop)
        stance = find_stance(sole, axes[own], place[own], flatten_pitch(axes_pitch(axes[own])), height)
        offset[own, :3] = stance.positions - place[own]
        offset[own, 3:] = log(stance.axes @ axes[own].swapaxes(1, 2))
        anchors.append(stance.anchor)
        flats.append(roll_on_anchor(sole, stance.anchor, np.zeros(stop - start), stance_heading(axes[own])[0]))
        floors[own] = height
    for start, stop in true_runs(~in_stance) if runs else []:
        offset[start:stop] = _swing_offsets(times, offset, in_stance, start, stop)
        ends = [floors[k] for k in (start - 1, min(stop, len(times) - 1)) if k >= 0 and in_stance[k]]
        floors[start:stop] = np.linspace(ends[0], ends[-1], stop - start)
    axes, position = exp(offset[:, 3:]) @ axes, place + offset[:, :3]
    if beside is not None:
        rises = sole.parts(axes_pitch(axes)) != PARTS.index(SOLE)
        for number, (start, stop) in enumerate(runs[:-1] if in_stance[-1] else runs):
            runs[number] = start, stop - min(_count_last(rises[start:stop]), _count_last(beside[start:stop]) // 2)
        axes, position = _lie_flat(times, axes, position, runs, flats)
        in_stance = np.isin(np.arange(len(times)), np.concatenate([np.arange(*run) for run in runs]) if runs else [])
    rotation = axes @ sole.axes.T
    clear = sole.lowest_points(rotation, position)[..., 2].min(axis=1) - floors
    position[:, 2] += _raise_above_floor(times, clear, in_stance)
    return rotation, position, tuple(anchors), in_stance


def _count_last(holds: np.ndarray) -> int:
    """For how many frames a condition (N,) holds at the end."""
    return len(holds) - 1 - int(np.flatnonzero(~holds).max(initial=-1))


def _lie_flat(
    times: np.ndarray,
    axes: np.ndarray,
    positions: np.ndarray,
    runs: Sequence[tuple[int, int]],
    flats: Sequence[RollingStance],
) -> tuple[np.ndarray, np.ndarray]:
    """Foot axes (N, 3, 3) and positions (N, 3) [m] of a foot that lies flat in its stances instead of rolling."""
    ends = np.hstack([-np.inf, *(times[[start, stop - 1]] for start, stop in runs), np.inf])
    halves = np.minimum(0.5 * np.diff(ends)[::2], HOLD_TIME)
    for number, ((start, stop), flat) in enumerate(zip(runs, flats)):
        before, after = (times[start] - times) / halves[number], (times - times[stop - 1]) / halves[number + 1]
        share = 1.0 - smooth_step(np.maximum(before, after))
        frames = np.arange(len(times)).clip(start, stop - 1) - start
        positions = positions + share[:, None] * (flat.positions[frames] - positions)
        axes = exp(share[:, None] * log(flat.axes[frames] @ axes.swapaxes(1, 2))) @ axes
    return axes, positions


def _swing_offsets(times: np.ndarray, offset: np.ndarray, in_stance: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Offsets (n, 6) of a swing from the recorded path, from those of the stance before to those of the one after."""
    knots, values, slopes = [], [], []
    for end, inwards in ((start - 1, start - 2), (stop, stop + 1)):
        if not 0 <= end < len(times):
            continue
        known = 0 <= inwards < len(times) and in_stance[inwards]
        knots.append(times[end])
        values.append(offset[end])
        slopes.append((offset[end] - offset[inwards]) / (times[end] - times[inwards]) if known else np.zeros(6))
    if len(knots) == 1:  # the recording begins or ends in the swing
        away = np.abs(times[start:stop] - knots[0])[:, None].clip(0.0, HOLD_TIME)
        return np.asarray(values[0] + np.sign(times[start] - knots[0]) * slopes[0] * (away - 0.5 * away**2 / HOLD_TIME))
    return np.asarray(CubicHermiteSpline(knots, values, slopes)(times[start:stop]))


def swing_freedom(times: np.ndarray, in_stance: np.ndarray) -> np.ndarray:
    """(N,) 0 in stance, 1 in the middle of swings, smooth in between."""
    result = np.zeros(len(in_stance))
    for start, stop in true_runs(~in_stance):
        before, after = (
            times[start:stop] - times[max(start - 1, 0)],
            times[min(stop, len(times) - 1)] - times[start:stop],
        )
        whole = start > 0 and stop < len(times)
        ease = min(EASE_TIME, EASE_FRACTION * (before[-1] + after[-1])) if whole else EASE_TIME
        result[start:stop] = (smooth_step(before / ease) if start else 1.0) * (
            smooth_step(after / ease) if stop < len(times) else 1.0
        )
    return result


def _raise_above_floor(times: np.ndarray, clear: np.ndarray, in_stance: np.ndarray) -> np.ndarray:
    """Heights (N,) [m], as smooth as possible, by which swinging feet with heights (N,) above the floor are raised so
    that none is below it.
    """
    still = times[in_stance] if in_stance.any() else times[:0]
    away = np.abs(times[:, None] - still).min(axis=1, initial=np.inf)  # [s] from the nearest stance
    wanted = SWING_CLEARANCE * swing_freedom(times, in_stance) - clear
    low = np.where(in_stance, -STANCE_TOLERANCE, np.minimum(wanted, 0.5 * MAX_RAISE_ACCELERATION * away**2))
    smooth = smooth_between(times, low, np.where(in_stance, STANCE_TOLERANCE, np.inf))
    return np.where(in_stance, 0.0, np.maximum(smooth, -clear))
