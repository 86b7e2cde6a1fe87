"""The shoulder girdle: a clavicle on the sternum and a scapula on the clavicle, between torso and upper arm.

Seth et al. (2016, 2019) let the scapula glide on an ellipsoid of the thorax (abduction, elevation, upward rotation,
internal rotation) and close a loop through the clavicle, which leaves three free ways to move. A tree has no loops.
Here the clavicle turns about two axes in the sternoclavicular joint, and the scapula turns on it about the ellipsoid's
normal through the acromioclavicular joint: as many ways to move, the clavicle's length kept exactly. At rest the
scapula lies on the ellipsoid, and upward rotation keeps it there to first order; what `gap` tells of other postures is
what was simplified.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..person import GIRDLE
from .anthropometry import SegmentInertia, nearest_consistent
from .assets import read_asset

CLAVICLE, SCAPULA = GIRDLE
TO_LINK_AXES = {"right": np.array([1.0, -1.0, 1.0]), "left": np.array([1.0, 1.0, 1.0])}
"""From forwards, outwards, up to link axes."""


def girdle_joints(stature: float, side: str, shoulder: np.ndarray) -> dict[str, np.ndarray]:
    """Joint centres (3,) [m] of clavicle, scapula and upper arm, each in its parent's frame.

    Args:
        stature: [m]
        side: ``"right"`` or ``"left"``.
        shoulder: (3,) [m] centre of the shoulder in the torso's frame, where it stays.
    """
    scale = _reference_scale(stature, shoulder)
    clavicle, scapula = (TO_LINK_AXES[side] * scale * _reference_point(name) for name in ("clavicle_end", "shoulder"))
    return {CLAVICLE: shoulder - scapula - clavicle, SCAPULA: clavicle, "upper_arm": scapula}


def girdle_axes(segment: str, side: str) -> tuple[tuple[float, float, float], ...]:
    """Axes of a clavicle's (protraction, elevation) or scapula's (upward rotation) joint, alike on both sides."""
    right = (
        ((0.0, 0.0, 1.0), (-1.0, 0.0, 0.0))
        if segment == CLAVICLE
        else (tuple(_scapula_normal() * TO_LINK_AXES["right"]),)
    )
    if side == "right":
        return right
    return tuple((-x, y, -z) for x, y, z in right)  # an axis of rotation in the mirror


def split_girdle(
    torso: SegmentInertia,
    stature: float,
    shoulders: Mapping[str, np.ndarray],
    joints: Mapping[str, Mapping[str, np.ndarray]],
) -> dict[str, SegmentInertia]:
    """A torso without its girdle, under the name ``torso``, and the girdle's four bones.

    Together they have mass and centre of mass of the torso that was given, and its inertia where what is left without
    the girdle is a body that can exist; else the nearest is taken.

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
            if segment == CLAVICLE:  # on the way to its end, wherever that was found
                com = joints[side][SCAPULA] * (np.array(row["com"])[1] / _reference_point("clavicle_end")[1])
            mass = row["mass"] / asset["mass"]
            inertia = np.diag(row["inertia"]).astype(float)
            inertia[[0, 0, 1], [1, 2, 2]] = inertia[[1, 2, 2], [0, 0, 1]] = row["products"]
            inertia = turn @ inertia @ turn * (stature / asset["stature"]) ** 2 / asset["mass"]
            bone = SegmentInertia(mass, com, inertia)
            result[f"{side}_{segment}"] = bone
            rest = rest.combine(SegmentInertia(-mass, com, -inertia), place)
    inertia, projected = nearest_consistent(rest.inertia)
    return {"torso": SegmentInertia(rest.mass, rest.com, inertia, torso.projected or projected), **result}


def scapula_gap(
    stature: float, side: str, scapula: np.ndarray, shoulder: np.ndarray, joints: Mapping[str, np.ndarray]
) -> float:
    """Signed distance [m] of the scapula's contact from the ellipsoid of the thorax, outside positive, to first order.

    Args:
        stature: [m]
        side: ``"right"`` or ``"left"``.
        scapula: (4, 4) pose of the scapula in the torso's frame.
        shoulder, joints: of the rig at rest, as in `girdle_joints`.
    """
    scale = _reference_scale(stature, shoulder)
    radii = scale * np.array(read_asset("human_girdle")["ellipsoid"])
    contact = TO_LINK_AXES[side] * scale * _reference_point("contact")
    normal = TO_LINK_AXES[side] * _scapula_normal()
    rest = joints[CLAVICLE] + joints[SCAPULA] + contact
    centre = rest - radii**2 * normal / np.sqrt((radii * normal) @ (radii * normal))
    here = scapula[:3, :3] @ contact + scapula[:3, 3] - centre
    level = float(np.sqrt(((here / radii) ** 2).sum()))
    return (level - 1.0) * level / float(np.linalg.norm(here / radii**2))


def _reference_scale(stature: float, shoulder: np.ndarray) -> np.ndarray:
    """(3,) of the reference's places, forwards, outwards, up."""
    asset = read_asset("human_girdle")
    tall, wide = stature / asset["stature"], abs(float(shoulder[1])) / asset["shoulder_half_width"]
    return np.array([tall, wide, tall])


def _reference_point(name: str) -> np.ndarray:
    return np.array(read_asset("human_girdle")[name], float)


def _scapula_normal() -> np.ndarray:
    """(3,) of the ellipsoid where the scapula touches it: backwards and outwards."""
    plane = np.radians(read_asset("human_girdle")["scapular_plane"])
    return np.array([-np.cos(plane), np.sin(plane), 0.0])
