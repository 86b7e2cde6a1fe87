"""The shoulder girdle: a clavicle on the sternum and a scapula on the clavicle, between torso and upper arm.

In Seth et al. (2016, 2019) the scapula glides on an ellipsoid of the thorax (abduction, elevation, upward rotation,
internal rotation), and a loop through the clavicle leaves three degrees of freedom. A tree has no loops. Here the
clavicle rotates about two axes in the sternoclavicular joint, and the scapula rotates on it about the ellipsoid's
normal through the acromioclavicular joint, which also gives three degrees of freedom and keeps the clavicle's length
exactly. At rest the scapula touches the ellipsoid, and upward rotation keeps it there to first order.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..base.assets import read_asset
from ..values.person import GIRDLE
from .anthropometry import SegmentInertia, nearest_consistent

CLAVICLE, SCAPULA = GIRDLE
TO_LINK_AXES = {"right": np.array([1.0, -1.0, 1.0]), "left": np.array([1.0, 1.0, 1.0])}
"""Signs from the axes forward, outward, up to link axes. By definition."""


def girdle_joints(stature: float, side: str, shoulder: np.ndarray) -> dict[str, np.ndarray]:
    """Joint centres (3,) [m] of clavicle, scapula and upper arm, each in its parent's frame.

    Args:
        stature: [m]
        side: ``"right"`` or ``"left"``.
        shoulder: (3,) [m] centre of the shoulder in the torso's frame at rest.
    """
    scale = _reference_scale(stature, shoulder)
    clavicle, scapula = (TO_LINK_AXES[side] * scale * _reference_point(name) for name in ("clavicle_end", "shoulder"))
    return {CLAVICLE: shoulder - scapula - clavicle, SCAPULA: clavicle, "upper_arm": scapula}


def girdle_axes(segment: str, side: str) -> tuple[tuple[float, float, float], ...]:
    """Axes of the joint of a clavicle (protraction, elevation) or scapula (upward rotation), mirrored between sides."""
    right = (
        ((0.0, 0.0, 1.0), (-1.0, 0.0, 0.0))
        if segment == CLAVICLE
        else (tuple(_scapula_normal() * TO_LINK_AXES["right"]),)
    )
    if side == "right":
        return right
    return tuple((-x, y, -z) for x, y, z in right)  # reflection of a rotation axis


def split_girdle(
    torso: SegmentInertia,
    stature: float,
    shoulders: Mapping[str, np.ndarray],
    joints: Mapping[str, Mapping[str, np.ndarray]],
) -> dict[str, SegmentInertia]:
    """Split a torso into a torso without girdle, named ``torso``, and the girdle's four bones.

    Together they have the mass and centre of mass of the given torso, and its inertia if the rest without girdle is
    physically consistent; otherwise the nearest consistent inertia is used.

    Args:
        torso: mass as a fraction of the body's, about the torso's joint centre.
        stature: [m]
        shoulders: centres of both shoulders (3,) [m] in the torso's frame, by side.
        joints: `girdle_joints` of both sides.
    """
    asset = read_asset("human_girdle")
    result, rest = {}, torso
    for side, shoulder in shoulders.items():
        scale = _reference_scale(stature, shoulder)
        place = np.zeros(3)
        for segment in GIRDLE:
            place = place + joints[side][segment]
            row = asset[segment]
            turn = np.diag(TO_LINK_AXES[side])
            com = turn @ (scale * np.array(row["com"]))
            if segment == CLAVICLE:  # on the line to its end, wherever that was measured
                com = joints[side][SCAPULA] * (np.array(row["com"])[1] / _reference_point("clavicle_end")[1])
            mass = row["mass"] / asset["mass"]
            inertia = np.diag(row["inertia"]).astype(float)
            inertia[[0, 0, 1], [1, 2, 2]] = inertia[[1, 2, 2], [0, 0, 1]] = row["products"]
            inertia = turn @ inertia @ turn * (stature / asset["stature"]) ** 2 / asset["mass"]
            result[f"{side}_{segment}"] = SegmentInertia(mass, com, inertia)
            rest = rest.combine(SegmentInertia(-mass, com, -inertia), place)
    inertia, projected = nearest_consistent(rest.inertia)
    return {"torso": SegmentInertia(rest.mass, rest.com, inertia, torso.projected or projected), **result}


def _reference_scale(stature: float, shoulder: np.ndarray) -> np.ndarray:
    """(3,) scale of the reference's points, forward, outward, up."""
    asset = read_asset("human_girdle")
    tall, wide = stature / asset["stature"], abs(float(shoulder[1])) / asset["shoulder_half_width"]
    return np.array([tall, wide, tall])


def _reference_point(name: str) -> np.ndarray:
    return np.array(read_asset("human_girdle")[name], float)


def _scapula_normal() -> np.ndarray:
    """(3,) normal of the ellipsoid at the contact of the scapula: backward and outward."""
    plane = np.radians(read_asset("human_girdle")["scapular_plane"])
    return np.array([-np.cos(plane), np.sin(plane), 0.0])
