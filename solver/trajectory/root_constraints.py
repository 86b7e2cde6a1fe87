"""Where the root of a rig may go while both soles stand flat: six ways, or fewer for legs of five joints.

A leg without a yaw joint at its hip ties the root's yaw to its foot, one without a roll joint at its ankle ties where
its hip is sideways. What two such legs leave is no linear space, but holds linear ones: coordinates of the root that
may change in any combination, the others as at home, with both legs reaching their feet exactly. They are found by
trying.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.interpolate import BSpline, PPoly

from ..contacts.schedule import SAME_PLACE, Anchor, Schedule, stance
from ..coordinates import to_flat
from ..dynamics.legs import FOOT_SIZE, Leg, build_legs
from ..errors import InvalidValue
from ..rig import ROOT_NV, Rig
from ..so3 import Exponential, log
from .curve import FlatCurve, sample_times

SIDEWAYS_STEP, DOWN_STEP, ROTATION_STEP = 0.03, 0.1, 0.1
"""Shares of the legs' length by which the root is moved sideways and down, and angle [rad] by which it is turned."""
HOME_BEND = 0.06
"""How much lower than with straight legs the root is at home, as a share of the legs' length."""
TRIALS = 24
SAMPLE_RATE = 20.0
"""[1/s] at which a curve is looked at."""
HOME_TOLERANCE = 1e-6
"""[m, rad] Feet that stand so much otherwise than at home still let legs reach them, to what checks allow."""
PRIORITIES = (1, 0, 2, 4, 3, 5)
"""Coordinates of the root, those that dances need most first: sideways, where weight is shifted."""


@lru_cache(maxsize=16)
def free_root_coordinates(rig: Rig) -> tuple[bool, ...]:
    """Which of the root's six coordinates (place, rotation vector) dances may change.

    Args:
        rig: with two legs.

    Raises:
        InvalidValue: the legs do not reach flat feet even at home, or let the root go nowhere.
    """
    both = build_legs(rig)
    if all(len(leg.solved) == FOOT_SIZE for leg in both):
        return (True,) * ROOT_NV
    home, feet = _home_stance(rig, both)
    size, generator = rig.leg_length, np.random.default_rng(0)
    moves = generator.uniform(-1.0, 1.0, (TRIALS, ROOT_NV))
    moves *= [SIDEWAYS_STEP * size, SIDEWAYS_STEP * size, DOWN_STEP * size, ROTATION_STEP, ROTATION_STEP, ROTATION_STEP]
    moves[:, 2] = -np.abs(moves[:, 2])
    if not _can_reach(both, home[None], feet):
        raise InvalidValue(f"rig {rig.name!r} cannot stand on flat feet: legs of five joints do not reach both of them")
    for count in range(ROOT_NV, 0, -1):
        for some in combinations(PRIORITIES, count):
            free = np.isin(np.arange(ROOT_NV), some)
            if _can_reach(both, home + moves * free, feet):
                return tuple(free.tolist())
    raise InvalidValue(f"rig {rig.name!r} cannot dance: its legs of five joints let the root go nowhere over flat feet")


def constrain_root(
    rig: Rig, curve: FlatCurve, schedule: Schedule, fixed: Sequence[tuple[float, np.ndarray]]
) -> FlatCurve:
    """A curve whose root keeps where legs of five joints tie it to its feet; as given where nothing is tied.

    Where postures to be kept, (time, q), are elsewhere the curve stays as it is, and checks say what they find.

    Raises:
        InvalidValue: feet that are turned, or apart otherwise than at home, and that the legs do not reach as given.
    """
    held = np.flatnonzero(~np.array(free_root_coordinates(rig)))
    standing = [phase.anchors for phase in schedule.phases]
    if not len(held) or not all(standing):
        return curve
    values = np.zeros((0, ROOT_NV))
    for anchor in {id(anchor): anchor for anchors in standing for anchor in anchors}.values():
        if rig.patch(anchor.patch).sole:
            values = np.vstack([values, _offset_from_home(rig, anchor)])
    if not len(values):
        return curve
    if np.ptp(values[:, held], axis=0).max() > HOME_TOLERANCE or np.abs(values[:, 3:]).max() > HOME_TOLERANCE:
        if _is_reachable(rig, curve, schedule):
            return curve
        raise InvalidValue(
            f"legs of five joints tie the root of rig {rig.name!r} to its feet, and do not reach them where they are "
            "turned or stand wider or closer than at home: let all feet point ahead, as far apart as there"
        )
    if any(np.abs(to_flat(rig, q)[held] - values[0, held]).max() > SAME_PLACE for _, q in fixed):
        return curve
    place = values[:, held].mean(axis=0)
    coefficients = np.array(curve.spline.c)
    if isinstance(curve.spline, PPoly):
        coefficients[:, :, held] = 0.0
        coefficients[-1][:, held] = place
        return FlatCurve(PPoly(coefficients, curve.spline.x), curve.start, curve.stop)
    coefficients[:, held] = place
    return FlatCurve(BSpline(curve.spline.t, coefficients, curve.spline.k), curve.start, curve.stop)


def _is_reachable(rig: Rig, curve: FlatCurve, schedule: Schedule) -> bool:
    """Whether the legs reach their feet all along the curve as given."""
    both = build_legs(rig)
    for phase in schedule.phases:
        y = curve.at(sample_times(phase.start, phase.stop, SAMPLE_RATE))[0]
        for leg in both:
            feet = [np.r_[own.position, log(own.rotation)] for own in phase.anchors if own.patch == leg.patch]
            guess = y[:, ROOT_NV + leg.columns]
            if feet and not _can_reach((leg,), y[:, :ROOT_NV], {leg.side: feet[0]}, guess):
                return False
    return True


def _offset_from_home(rig: Rig, anchor: Anchor) -> np.ndarray:
    """(6,) by how much a foot stands elsewhere than side by side at home, and how it is turned."""
    home = next(own for own in stance(rig, "both") if own.patch == anchor.patch)
    return np.r_[anchor.position - home.position, log(anchor.rotation @ home.rotation.T)]


def _home_stance(rig: Rig, both: tuple[Leg, Leg]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The root (6,) between the feet with knees bent, and by side where its flat feet (6,) are."""
    anchors = {anchor.patch: anchor for anchor in stance(rig, "both")}
    feet = {leg.side: np.r_[anchors[leg.patch].position, log(anchors[leg.patch].rotation)] for leg in both}
    heights = [feet[leg.side][2] - leg.forward_kinematics(np.zeros((1, len(leg.columns))))[1][0, 2] for leg in both]
    home = np.zeros(ROOT_NV)
    home[2] = min(heights) - HOME_BEND * rig.leg_length
    return home, feet


def _can_reach(
    some: tuple[Leg, ...], roots: np.ndarray, feet: dict[str, np.ndarray], guess: np.ndarray | None = None
) -> bool:
    """Whether legs reach their feet (6,) from every place of the root (N, 6), sought from coordinates (N, n)."""
    back = Exponential(roots[:, 3:]).matrix.swapaxes(1, 2)
    for leg in some:
        foot = feet[leg.side]
        # n places, i axes of the root, j axes of the world
        position = np.einsum("nij,nj->ni", back, foot[:3] - roots[:, :3])
        rotation = back @ Exponential(foot[None, 3:]).matrix
        first = np.tile(leg.bent_posture, (len(roots), 1)) if guess is None else guess
        if not leg.solve(rotation, position, first)[1].all():
            return False
    return True
