"""Directions in which the root of a rig can move while both soles are flat on the floor: six, or fewer with 5-DoF legs.

A leg without a yaw joint at its hip fixes the root's yaw relative to its foot. One without a roll joint at its ankle
fixes the sideways position of its hip. The possible root poses of two such legs are no linear space, but contain linear
ones: coordinates of the root that can change in any combination, with the others as in the home posture, while both
legs reach their feet exactly. They are found by trials. A curve
then keeps the others constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import Exponential, log
from ..contacts.schedule import SAME_PLACE, Anchor, Schedule, stance
from ..dynamics.coordinates import to_flat
from ..dynamics.legs import FOOT_SIZE, Leg, build_legs
from ..skeleton.rig import ROOT_NV, Rig

if TYPE_CHECKING:
    from .curve import FlatCurve

SIDEWAYS_STEP, DOWN_STEP, ROTATION_STEP = 0.03, 0.1, 0.1
"""Displacements in the trials: sideways and down as shares of the leg length, and rotation [rad]."""
HOME_BEND = 0.06
"""Height of the root in the home posture below that with straight legs, as a share of the leg length."""
TRIALS = 24
PRIORITIES = (1, 0, 2, 4, 3, 5)
"""Coordinates of the root by their importance for a dance: first sideways, for weight shifts."""
SAMPLE_RATE = 20.0
"""[1/s] of the samples of a curve."""
HOME_TOLERANCE = 1e-6
"""[m, rad] Difference of the feet from the home stance at which legs still reach them within the checks' tolerance."""


@lru_cache(maxsize=16)
def free_root_coordinates(rig: Rig) -> tuple[bool, ...]:
    """Which of the root's six coordinates (position, rotation vector) can change.

    Args:
        rig: with two legs.

    Raises:
        InvalidValue: the legs do not reach flat feet in the home posture, or fix the root completely.
    """
    both = build_legs(rig)
    if all(len(leg.solved) == FOOT_SIZE for leg in both):
        return (True,) * ROOT_NV
    home, feet = _home_stance(rig, both)
    size, generator = rig.leg_length, np.random.default_rng(0)
    moves = generator.uniform(-1.0, 1.0, (TRIALS, ROOT_NV))
    moves *= [SIDEWAYS_STEP * size, SIDEWAYS_STEP * size, DOWN_STEP * size, ROTATION_STEP, ROTATION_STEP, ROTATION_STEP]
    moves[:, 2] = -np.abs(moves[:, 2])
    if not can_reach(both, home[None], feet):
        raise InvalidValue(f"rig {rig.name!r} cannot stand on flat feet: its legs of five joints do not reach both")
    for count in range(ROOT_NV, 0, -1):
        for some in combinations(PRIORITIES, count):
            free = np.isin(np.arange(ROOT_NV), some)
            if can_reach(both, home + moves * free, feet):
                return tuple(free.tolist())
    raise InvalidValue(f"rig {rig.name!r} cannot dance: its legs of five joints fix the root over flat feet")


def _home_stance(rig: Rig, both: tuple[Leg, Leg]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The root (6,) between the feet with bent knees, and the flat feet (6,) by side."""
    anchors = {anchor.patch: anchor for anchor in stance(rig, "both")}
    feet = {leg.side: np.r_[anchors[leg.patch].position, log(anchors[leg.patch].rotation)] for leg in both}
    heights = [feet[leg.side][2] - leg.forward_kinematics(np.zeros((1, len(leg.columns))))[1][0, 2] for leg in both]
    home = np.zeros(ROOT_NV)
    home[2] = min(heights) - HOME_BEND * rig.leg_length
    return home, feet


def can_reach(
    some: tuple[Leg, ...], roots: np.ndarray, feet: dict[str, np.ndarray], guess: np.ndarray | None = None
) -> bool:
    """Whether legs reach their feet (6,) from all root poses (N, 6), with first guesses (N, n)."""
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


def constrain_root(
    rig: Rig, curve: FlatCurve, schedule: Schedule, fixed: Sequence[tuple[float, np.ndarray]]
) -> FlatCurve:
    """The curve with those root coordinates constant that legs of five joints fix; unchanged for legs of six joints.

    If fixed postures (time, q) have other values of these coordinates, the curve is unchanged and checks report errors.

    Raises:
        InvalidValue: the feet are turned, or have another distance than in the home stance, and the legs do not reach.
    """
    # SciPy would double the time after which an added person appears, which needs no curve
    from scipy.interpolate import BSpline, PPoly

    from .curve import FlatCurve

    fixed_columns = np.flatnonzero(~np.array(free_root_coordinates(rig)))
    standing = [phase.anchors for phase in schedule.phases]
    if not len(fixed_columns) or not all(standing):
        return curve
    values = np.zeros((0, ROOT_NV))
    for anchor in {id(anchor): anchor for anchors in standing for anchor in anchors}.values():
        if rig.patch(anchor.patch).sole:
            values = np.vstack([values, _offset_from_home(rig, anchor)])
    if not len(values):
        return curve
    if np.ptp(values[:, fixed_columns], axis=0).max() > HOME_TOLERANCE or np.abs(values[:, 3:]).max() > HOME_TOLERANCE:
        if _is_reachable(rig, curve, schedule):
            return curve
        raise InvalidValue(
            f"legs of five joints fix the root of rig {rig.name!r} over its feet. They do not reach feet that are "
            "turned, or closer or farther than in the home stance: let all feet point ahead, with that distance"
        )
    if any(np.abs(to_flat(rig, q)[fixed_columns] - values[0, fixed_columns]).max() > SAME_PLACE for _, q in fixed):
        return curve
    constant = values[:, fixed_columns].mean(axis=0)
    coefficients = np.array(curve.spline.c)
    if isinstance(curve.spline, PPoly):
        coefficients[:, :, fixed_columns] = 0.0
        coefficients[-1][:, fixed_columns] = constant
        return FlatCurve(PPoly(coefficients, curve.spline.x), curve.start, curve.stop)
    coefficients[:, fixed_columns] = constant
    return FlatCurve(BSpline(curve.spline.t, coefficients, curve.spline.k), curve.start, curve.stop)


def _is_reachable(rig: Rig, curve: FlatCurve, schedule: Schedule) -> bool:
    """Whether the legs reach their feet along the whole curve."""
    from .curve import sample_times

    both = build_legs(rig)
    for phase in schedule.phases:
        y = curve.at(sample_times(phase.start, phase.stop, SAMPLE_RATE))[0]
        for leg in both:
            feet = [np.r_[own.position, log(own.rotation)] for own in phase.anchors if own.patch == leg.patch]
            if feet and not can_reach((leg,), y[:, :ROOT_NV], {leg.side: feet[0]}, y[:, ROOT_NV + leg.columns]):
                return False
    return True


def _offset_from_home(rig: Rig, anchor: Anchor) -> np.ndarray:
    """(6,) offset [m] and rotation vector [rad] of a foot relative to the home stance."""
    home = next(own for own in stance(rig, "both") if own.patch == anchor.patch)
    return np.r_[anchor.position - home.position, log(anchor.rotation @ home.rotation.T)]
