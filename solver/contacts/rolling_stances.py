"""Stances of a foot that rolls, from its motion: where the sole lies while it is flat, and its pitch over time.

Recordings are not level: the pitch that counts as flat is that of each stance's still frames, and a small pitch is
flattened smoothly. While the pitch changes, what touches does not move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import true_runs
from ..base.so3 import exp
from ..skeleton.rig import Rig
from .rolling import SOLE, RollingSole, pitch_rotations
from .schedule import Anchor, Schedule, anchors_at, flat_on_ground

UP = np.array([0.0, 0.0, 1.0])
"""By definition."""
FLAT_PITCH = np.radians(5.0)
"""[rad] Pitch that counts as flat: recorded soles of standing people are level to about this. Chosen on the walks of
`contacts.rolling.TOUCHING_HEIGHT` among 3, 5 and 7 degrees."""
STILL_PITCH_RATE, STILL_TIME = 0.4, 0.08
"""[rad/s] Rate of pitch below which a sole rests, and [s] least time of that in a stance that has a flat part.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`; no other value was tried."""
FLATTEST = 0.25
"""Fraction of all stances of a foot, those with the slowest pitch, in which it is flat if a stance has no flat part.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`; no other value was tried."""
MAX_PITCH_BIAS = np.radians(15.0)
"""[rad] Largest pitch of a foot that is flat, by errors of the recording; above it the person stands on the toes.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`; no other value was tried."""
MAX_TURN = np.radians(45.0)
"""[rad] Change of heading above which a foot pivots in its stance. Chosen on the walks of
`contacts.rolling.TOUCHING_HEIGHT`, whose feet turn by up to 33 degrees, and on public clips of a dance, a kick, a jump,
a run and of getting up: feet that pivot turn by 114 to 326."""


@dataclass(frozen=True, slots=True)
class RollingStance:
    """A stance of n frames.

    Attributes:
        anchor: with the sole flat.
        axes: (n, 3, 3) foot axes, world.
        positions: (n, 3) [m] origin of the foot's link, world.
    """

    anchor: Anchor
    axes: np.ndarray
    positions: np.ndarray


def level_axes(times: np.ndarray, axes: np.ndarray, in_stance: np.ndarray) -> np.ndarray:
    """Foot axes (N, 3, 3), world, whose pitch is zero where the foot, recorded with axes (N, 3, 3), lies flat."""
    return np.asarray(axes @ pitch_rotations(-_pitch_bias(times, axes_pitch(axes), in_stance)))


def axes_pitch(axes: np.ndarray) -> np.ndarray:
    """Pitch (N,) [rad] of foot axes (N, 3, 3), toes up."""
    return np.asarray(np.arcsin(np.clip(axes[:, 2, 0], -1.0, 1.0)))


def flatten_pitch(pitch: np.ndarray, flat: float = FLAT_PITCH) -> np.ndarray:
    """Pitch (N,) [rad] without what counts as flat."""
    return np.asarray(pitch - flat * np.tanh(pitch / flat)) if flat else pitch


def find_stance(
    sole: RollingSole, axes: np.ndarray, positions: np.ndarray, pitch: np.ndarray, height: float | None = None
) -> RollingStance:
    """The stance in which a sole rolls with a pitch (n,) [rad], nearest to foot axes (n, 3, 3) and positions (n, 3).

    Args:
        sole: that rolls.
        axes: of the foot, world.
        positions: [m] origin of the foot's link, world.
        pitch: with which it rolls.
        height: [m] of what it stands on; by default that of the flat sole.
    """
    turns, heading = stance_heading(axes)
    there = Anchor(sole.patch, exp(heading * UP) @ sole.axes.T, np.zeros(3))
    rolled = roll_on_anchor(sole, there, pitch, turns)
    flat = np.median(positions - rolled.positions, axis=0)
    flat[2] = flat[2] if height is None else height - float(sole.corners[:, 2].mean())
    return RollingStance(replace(there, position=flat), rolled.axes, flat + rolled.positions)


def roll_on_anchor(sole: RollingSole, anchor: Anchor, pitch: np.ndarray, turns: np.ndarray) -> RollingStance:
    """The stance on an anchor of a sole with pitch (n,) [rad] and turned by (n,) [rad] about the vertical."""
    turned, moved = sole.roll(pitch)
    facing = exp(turns[:, None] * UP) @ (anchor.rotation @ sole.axes)
    return RollingStance(anchor, facing @ turned, anchor.position + (facing @ moved[:, :, None])[..., 0])


def plant(rig: Rig, anchor: Anchor, ground: float, part: str = SOLE) -> Anchor:
    """Flat anchor of a patch that touches the ground [m] with a part of it, in the pose of an anchor."""
    if part == SOLE:
        return flat_on_ground(rig, anchor, ground)
    sole = RollingSole.of(rig, anchor.patch)
    axes = (anchor.rotation @ sole.axes)[None]
    return replace(find_stance(sole, axes, anchor.position[None], axes_pitch(axes), ground).anchor, part=part)


def posture_schedule(rig: Rig, q: np.ndarray, parts: Mapping[str, str], ground: float, time: float) -> Schedule:
    """Schedule of a second from a time [s] on: parts of patches on the ground [m] where a posture (nq,) has them."""
    anchors = [plant(rig, anchor, ground, parts[anchor.patch]) for anchor in anchors_at(rig, q, tuple(parts))]
    return Schedule.constant(anchors, time, time + 1.0, ground)


def _pitch_bias(times: np.ndarray, pitch: np.ndarray, in_stance: np.ndarray) -> np.ndarray:
    """Pitch (N,) [rad] that counts as flat: of each stance's still frames, if it is small; interpolated in swings."""
    if not in_stance.any():
        return np.zeros_like(pitch)
    rate, own = np.abs(np.gradient(pitch, times)), np.flatnonzero(in_stance)
    usual = float(np.median(pitch[own[rate[own] <= np.quantile(rate[own], FLATTEST)]]))
    usual = usual if abs(usual) < MAX_PITCH_BIAS else 0.0  # a foot on its toes is not flat
    frames, values = [], []
    for start, stop in true_runs(in_stance):
        still = start + np.flatnonzero(rate[start:stop] < STILL_PITCH_RATE)
        level = float(np.median(pitch[still])) if len(still) * np.median(np.diff(times)) > STILL_TIME else usual
        frames += [start, stop - 1]
        values += 2 * [level if min(abs(level), abs(level - usual)) < MAX_PITCH_BIAS else usual]
    return np.interp(np.arange(len(pitch)), frames, values)


def stance_heading(axes: np.ndarray) -> tuple[np.ndarray, float]:
    """Turns (n,) [rad] of a foot from its anchor, zero unless it pivots, and the anchor's heading."""
    heading = np.unwrap(np.arctan2(-axes[:, 0, 1], axes[:, 1, 1]))  # a steep foot's left axis still has a direction
    middle = float(np.median(heading))
    return heading - middle if np.ptp(heading) > MAX_TURN else np.zeros(len(heading)), middle
