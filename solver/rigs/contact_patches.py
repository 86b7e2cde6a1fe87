"""Contact patches besides the soles: user-specified ones on any link, and a person's palms, knees and shins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.assets import read_asset
from ..base.errors import InvalidValue, UnknownPreset
from ..base.so3 import Exponential
from ..skeleton.rig import Rig
from ..values.person import SIDES
from ..values.shape import ContactPolygon, Shape
from .solids import bottom_points

HANDS, KNEES, SHINS = BODY_PARTS = ("hands", "knees", "shins")
"""Parts of a person that can carry load besides the feet."""
DIRECTIONS = {
    f"{sign}{letter}": f * np.eye(3)[k] for k, letter in enumerate("xyz") for sign, f in (("+", 1.0), ("-", -1.0))
}
"""Directions (3,) in a link's frame by their names. By definition."""
ROUND_CORNERS = 8
"""Number of corners of a round patch; they are on its circle, so that the patch is not larger than specified."""
MAX_SHIN_ANGLE = np.radians(60.0)
"""[rad] Largest angle between a shin and the floor in kneeling."""
KNEE_BENDS, BISECTIONS = 4, 60
"""Number of knee angles that are examined, and of bisection steps for the angle of the shin."""


@dataclass(frozen=True, slots=True)
class PatchSpecification:
    """A flat contact patch on a link.

    Attributes:
        link: of the rig, or a body of the rig's file.
        centre: (x, y, z) [m] in the link's frame.
        size: (radius,) of a round patch or (length, width) of a rectangle [m], along the link's axes in their order.
        towards: direction that it faces, such as ``"-x"``; by default that of the nearest side of the link's box.
    """

    link: str
    centre: tuple[float, float, float]
    size: tuple[float, ...]
    towards: str = ""


def with_patches(rig: Rig, patches: Sequence[PatchSpecification | str]) -> Rig:
    """The rig with further contact patches; a patch replaces one of the same name.

    Args:
        rig: without the patches.
        patches: specifications, or names of a person's parts (`BODY_PARTS`), whose patches follow from their shapes.

    Raises:
        UnknownName: neither a link nor a body.
        UnknownPreset: not a part of a person, or not a direction.
        InvalidValue: a size that is not positive, a centre that is not finite, or a part that the rig does not have.
    """
    fresh: dict[str, ContactPolygon] = {}
    description = []
    for patch in patches:
        found, words = _person_patches(rig, patch) if isinstance(patch, str) else _build_patch(rig, patch, list(fresh))
        fresh |= {each.name: each for each in found}
        description.append(words)
    if not fresh:
        return rig
    kept = tuple(patch for patch in rig.contacts if patch.name not in fresh)
    return replace(
        rig, contacts=(*kept, *fresh.values()), notes=(*rig.notes, f"contact patches: {'; '.join(description)}")
    )


def _build_patch(rig: Rig, patch: PatchSpecification, others: Sequence[str]) -> tuple[list[ContactPolygon], str]:
    link, centre = rig.carrier_of(patch.link), np.array(patch.centre, float)
    if patch.towards and patch.towards not in DIRECTIONS:
        raise UnknownPreset(patch.towards, tuple(DIRECTIONS))
    if len(patch.size) not in (1, 2) or not (np.isfinite(centre).all() and 0.0 < min(patch.size) <= max(patch.size)):
        raise InvalidValue(
            f"the patch on {patch.link} needs a finite centre and a positive radius, or length and width"
        )
    if not np.isfinite(patch.size).all():
        raise InvalidValue(f"the patch on {patch.link} has an infinite size")
    towards = patch.towards or _nearest_side(rig, link, centre)
    normal = DIRECTIONS[towards]
    first, second = (axis for axis in np.eye(3) if not normal @ axis)
    corners = _patch_outline(patch.size)[::-1] if np.cross(first, second) @ normal < 0.0 else _patch_outline(patch.size)
    taken = {*others, *(sole.name for sole in rig.soles)}
    numbers = (f"{link}_patch{'' if k == 1 else f'_{k}'}" for k in range(1, len(taken) + 2))
    name = next(name for name in numbers if name not in taken)
    size = "x".join(f"{side:g}" for side in patch.size)
    description = f"{name} as specified, {size} m, facing {towards}"
    return [ContactPolygon(name, link, centre + corners @ np.array([first, second]), sole=False)], description


def _nearest_side(rig: Rig, link: str, centre: np.ndarray) -> str:
    low, high = rig.boxes[rig.index(link)]
    away = {f"-{letter}": abs(centre[k] - low[k]) for k, letter in enumerate("xyz")}
    away |= {f"+{letter}": abs(high[k] - centre[k]) for k, letter in enumerate("xyz")}
    return min(away, key=away.__getitem__)


def _patch_outline(size: Sequence[float]) -> np.ndarray:
    """(V, 2) [m] corners, counter-clockwise."""
    if len(size) == 1:
        angles = 2.0 * np.pi * np.arange(ROUND_CORNERS) / ROUND_CORNERS
        return size[0] * np.column_stack([np.cos(angles), np.sin(angles)])
    return 0.5 * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]) * size


def _person_patches(rig: Rig, part: str) -> tuple[list[ContactPolygon], str]:
    if part not in BODY_PARTS:
        raise UnknownPreset(part, BODY_PARTS)
    if rig.provenance.get("kind") != "human":
        raise InvalidValue(
            f"rig {rig.name!r} is not a person, and its {part} are unknown: specify a patch as LINK=X,Y,Z,RADIUS or "
            "LINK=X,Y,Z,LENGTHxWIDTH, in metres in the link's frame"
        )
    if part == HANDS:
        if "right_hand" not in rig.links:
            raise InvalidValue(f"the hands of rig {rig.name!r} are not separate links: build it with --variant 34dof")
        description = "palms on the front of the hands' shapes, from the wrist to the roots of the fingers"
        return [_build_palm(rig, side) for side in SIDES], description
    description = f"{part} on the front of the shanks' shapes, touched together with a foot that points back"
    return [_build_shin(rig, side, part) for side in SIDES], description


def _build_palm(rig: Rig, side: str) -> ContactPolygon:
    """A palm as wide as the hand's shape, facing forward as in the standing posture."""
    shape = _find_shape(rig, f"{side}_hand")
    depth, half = shape.size[0], shape.size[1]
    long = read_asset("human_body")["patches"]["palm_share_of_hand"] * rig.tips[rig.index(shape.link)]
    sideways, ahead = np.array([0.0, half, 0.0]), np.array([shape.centre[0] + depth, 0.0, 0.0])
    corners = [sideways, long + sideways, long - sideways, -sideways]
    return _oriented_patch(f"{side}_palm", shape.link, ahead + np.array(corners), np.array([1.0, 0.0, 0.0]))


def _build_shin(rig: Rig, side: str, part: str) -> ContactPolygon:
    """The strip of a shank that lies on the floor when its knee and its pointed foot touch the floor too."""
    numbers = read_asset("human_body")["patches"]
    shape = _find_shape(rig, f"{side}_shank")
    radius, half = shape.size[0], shape.size[1]
    axis = shape.rotation[:, 2] * np.sign(shape.rotation[:, 2] @ rig.tips[rig.index(shape.link)])
    down, depth = _kneeling_plane(rig, side, numbers)
    along = axis - (axis @ down) * down
    along, wide = along / np.linalg.norm(along), numbers["shin_width_share_of_girth"] * radius
    knee = shape.centre - half * axis
    start, long = knee + (depth - knee @ down) * down, 2.0 * half * float(axis @ along)
    stop = start + (numbers["knee_share_of_shin"] if part == KNEES else 1.0) * long * along
    across = wide * np.cross(down, along)
    corners = np.array([start + across, start - across, stop - across, stop + across])
    return _oriented_patch(f"{side}_{part.removesuffix('s')}", shape.link, corners, down)


def _kneeling_plane(rig: Rig, side: str, numbers: Mapping[str, Any]) -> tuple[np.ndarray, float]:
    """Direction down (3,), shank frame, of a floor that knee and pointed foot touch, and its distance [m]."""
    shank, foot = f"{side}_shank", f"{side}_foot"
    joint, shape = rig.joints[rig.index(foot)], _find_shape(rig, shank)
    pitch = rig.limits_of(foot).upper[joint.nv - 2]  # of roll, pitch, yaw, or of pitch, roll
    pointed = Exponential(np.array([0.0, numbers["pointed_share_of_range"] * pitch, 0.0])).matrix
    bent = np.radians(np.linspace(numbers["kneeling_bend"][0], numbers["kneeling_bend"][1], KNEE_BENDS))
    thighs = Exponential(np.outer(-bent, [0.0, 1.0, 0.0])).matrix
    knee = rig.joints[rig.index(shank)].position

    def depth(link: str, turn: np.ndarray, place: np.ndarray, down: np.ndarray) -> float:
        shapes = [each for each in rig.shapes if each.link == link]
        return max(
            (float((bottom_points(each, turn.T @ down) @ turn.T @ down).max()) for each in shapes), default=-1.0
        ) + float(place @ down)

    def depths(lean: float) -> tuple[np.ndarray, float, float]:
        down = np.array([np.cos(lean), 0.0, -np.sin(lean)])
        top = (
            shape.centre
            - np.sign(shape.rotation[:, 2] @ rig.tips[rig.index(shank)]) * shape.size[1] * shape.rotation[:, 2]
        ) @ down
        of_knee = max(
            float(top) + shape.size[0], *(depth(f"{side}_thigh", turn, -turn @ knee, down) for turn in thighs)
        )
        return down, of_knee, depth(foot, pointed, joint.position, down)

    low, high = MAX_SHIN_ANGLE, -MAX_SHIN_ANGLE  # the foot is lower at one end, the knee at the other
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        _, of_knee, of_foot = depths(middle)
        low, high = (middle, high) if of_foot > of_knee else (low, middle)
    down, of_knee, _ = depths(high)
    return down, of_knee


def _find_shape(rig: Rig, link: str) -> Shape:
    for shape in rig.shapes:
        if shape.link == link:
            return shape
    raise InvalidValue(f"{link} of rig {rig.name!r} has no shape to place a patch on: specify it as LINK=X,Y,Z,RADIUS")


def _oriented_patch(name: str, link: str, corners: np.ndarray, normal: np.ndarray) -> ContactPolygon:
    patch = ContactPolygon(name, link, corners, sole=False)
    return patch if patch.outward @ normal > 0.0 else ContactPolygon(name, link, corners[::-1], sole=False)
