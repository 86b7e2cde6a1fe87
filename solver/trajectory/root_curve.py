"""Curves whose root moves only where legs of five joints let it, see `root_constraints`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import BSpline, PPoly

from ..contacts.schedule import SAME_PLACE, Anchor, Schedule, stance
from ..coordinates import to_flat
from ..dynamics.legs import build_legs
from ..errors import InvalidValue
from ..rig import ROOT_NV, Rig
from ..so3 import log
from .curve import FlatCurve, sample_times
from .root_constraints import can_reach, free_root_coordinates

SAMPLE_RATE = 20.0
"""[1/s] of the samples of a curve."""
HOME_TOLERANCE = 1e-6
"""[m, rad] Difference of the feet from the home stance at which legs still reach them within the checks' tolerance."""


def constrain_root(
    rig: Rig, curve: FlatCurve, schedule: Schedule, fixed: Sequence[tuple[float, np.ndarray]]
) -> FlatCurve:
    """The curve with those root coordinates constant that legs of five joints fix; unchanged for legs of six joints.

    If fixed postures (time, q) have other values of these coordinates, the curve is unchanged and checks report errors.

    Raises:
        InvalidValue: the feet are turned, or have another distance than in the home stance, and the legs do not reach.
    """
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
