"""Geometry of a person's segments: boxes, collision shapes, soles.

Widths are fractions of the stature at a mass over stature cubed of 14 kg/m^3 and grow with the square root of that
ratio, so that the volume is proportional to the mass.
"""

from __future__ import annotations

import numpy as np

from ..patch import ContactPolygon
from ..shape import Shape
from .assets import read_asset
from .human_skeleton import Skeleton
from .solids import box, capsule, ellipsoid


def width_unit(height: float, mass: float) -> float:
    """[m] Unit of widths: the stature, scaled with the square root of mass over stature cubed."""
    build = mass / height**3 / read_asset("human_body")["reference_mass_over_stature_cubed"]
    return float(height * np.sqrt(build))


def segment_box(skeleton: Skeleton, link: str, unit: float) -> np.ndarray:
    """(2, 3) [m] segment-aligned bounding box of a link; ``unit`` from `girth`."""
    name = skeleton.segment(link)
    around = read_asset("human_body")["boxes"][name]
    margin_low = unit * np.array([around["back"], around["side"], around["below"]])
    margin_high = unit * np.array([around["front"], around["side"], around["above"]])
    near, far = np.zeros(3), skeleton.ends[link]
    if name == "foot":
        near = np.array([-skeleton.heel(link), 0.0, 0.0])
        far = np.array([skeleton.toe(link), 0.0, -skeleton.lengths[f"{skeleton.side(link)}_ankle_height"]])
    return np.array([np.minimum(near, far) - margin_low, np.maximum(near, far) + margin_high])


def build_soles(skeleton: Skeleton) -> tuple[ContactPolygon, ...]:
    """Contact polygons of both feet: heel, ball and toes."""
    return tuple(_build_sole(skeleton, side) for side in ("right", "left"))


def _build_sole(skeleton: Skeleton, side: str) -> ContactPolygon:
    link = f"{side}_foot"
    heel, toe = skeleton.heel(link), skeleton.toe(link)
    foot, down = heel + toe, -skeleton.lengths[f"{side}_ankle_height"]
    outwards = -1.0 if side == "right" else 1.0
    outline = np.array(
        [
            [-heel, -0.11 * foot],
            [-heel, 0.11 * foot],
            [0.62 * toe, 0.20 * foot],
            [0.95 * toe, 0.10 * foot],
            [toe, -0.10 * foot],
            [0.75 * toe, -0.18 * foot],
        ]
    )
    outline[:, 1] *= outwards
    if side == "left":  # reflection reversed the order of the corners
        outline = outline[::-1]
    vertices = np.column_stack([outline, np.full(len(outline), down)])
    normal = np.cross(vertices[1] - vertices[0], vertices[2] - vertices[1])
    if normal[2] > 0:
        vertices = vertices[::-1]
    return ContactPolygon(f"{side}_sole", link, vertices)


def segment_shapes(skeleton: Skeleton, link: str, unit: float) -> tuple[Shape, ...]:
    """Collision and display shapes of a link."""
    name, end = skeleton.segment(link), skeleton.ends[link]
    if name == "pelvis":
        out = np.array([0.0, 0.4 * skeleton.lengths["pelvis_width"], 0.0])
        middle = end * 0.6
        return (
            capsule(link, end - out, end + out, 0.046 * unit),
            ellipsoid(link, middle, unit * np.array([0.062, 0.080, 0.050])),
        )
    if name == "torso":
        long, ahead = float(np.linalg.norm(end)), np.array([0.005 * unit, 0.0, 0.0])
        neck, out = 0.97 * end - [0.0, 0.0, 0.02 * unit], np.array([0.0, 0.045 * unit, 0.0])
        if skeleton.parent(link) != "pelvis":
            return (
                ellipsoid(link, 0.42 * end + ahead, [0.066 * unit, 0.086 * unit, 0.58 * long]),
                capsule(link, neck - out, neck + out, 0.024 * unit),
            )
        return (
            ellipsoid(link, 0.64 * end + ahead, [0.066 * unit, 0.086 * unit, 0.36 * long]),
            ellipsoid(link, 0.20 * end + ahead, [0.058 * unit, 0.074 * unit, 0.26 * long]),
            capsule(link, neck - out, neck + out, 0.024 * unit),
        )
    if name == "abdomen":
        ahead = np.array([0.005 * unit, 0.0, 0.0])
        return (ellipsoid(link, 0.45 * end + ahead, [0.058 * unit, 0.074 * unit, 0.58 * float(np.linalg.norm(end))]),)
    if name == "head":
        skull = float(np.linalg.norm(end))
        return (
            ellipsoid(link, 0.64 * end + [0.008 * unit, 0.0, 0.0], [0.056 * unit, 0.044 * unit, 0.36 * skull]),
            capsule(link, 0.0 * end, 0.35 * end, 0.030 * unit),
        )
    if name == "foot":
        side = skeleton.side(link)
        heel, toe, height = skeleton.heel(link), skeleton.toe(link), skeleton.lengths[f"{side}_ankle_height"]
        half = 0.20 * (heel + toe)
        return (
            box(link, [-heel, -half, -height], [toe, half, -0.55 * height]),
            capsule(link, np.zeros(3), [0.35 * toe, 0.0, -0.45 * height], 0.40 * height),
        )
    if name == "clavicle":
        return (capsule(link, 0.05 * end, 0.95 * end, 0.006 * unit),)
    if name == "scapula":
        inwards = unit * np.array([-0.022, 0.022 if skeleton.side(link) == "right" else -0.022, -0.030])
        return (ellipsoid(link, inwards, unit * np.array([0.016, 0.030, 0.044])),)
    if name == "hand":
        return (ellipsoid(link, 0.5 * end, [0.014 * unit, 0.021 * unit, 0.5 * float(np.linalg.norm(end))]),)
    first, last, radius = LIMB_CAPSULES[name]
    return (capsule(link, first * end, last * end, radius * unit),)


LIMB_CAPSULES = {
    "upper_arm": (0.05, 0.95, 0.0265),
    "forearm": (0.05, 0.95, 0.0205),
    "thigh": (0.08, 0.95, 0.0425),
    "shank": (0.04, 0.94, 0.0300),
}
"""Capsules of the limbs: positions of the end spheres as fractions of the segment, radius as fraction of the
stature."""
