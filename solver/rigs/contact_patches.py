"""Contact patches besides the soles: stated ones on any link, and a person's palms, knees and shins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InvalidValue, UnknownName, UnknownPreset
from ..patch import ContactPolygon
from ..rig import Rig
from ..shape import Shape
from ..so3 import Exponential
from .assets import read_asset
from .soles import bottom_points

HANDS, KNEES, SHINS = BODY_PARTS = ("hands", "knees", "shins")
"""Of a person, what can carry besides the feet."""
SIDES = ("right", "left")
DIRECTIONS = {
    f"{sign}{letter}": f * np.eye(3)[k] for k, letter in enumerate("xyz") for sign, f in (("+", 1.0), ("-", -1.0))
}
"""Directions (3,) in a link's frame by their names."""
ROUND_CORNERS = 8
"""Corners of a round patch; they lie on its circle, so the patch is no larger than stated."""
MAX_SHIN_ANGLE = np.radians(60.0)
"""Between a shin and the floor it kneels on."""
KNEE_BENDS, BISECTIONS = 4, 60
"""Bends of the knee that are looked at; steps of the search for how a shin leans, each halves what is left."""


@dataclass(frozen=True, slots=True)
class PatchSpecification:
    """A flat patch somewhere on a link.

    Attributes:
        link: of the rig, or a body of the file the rig came from.
        centre: (x, y, z) [m] in the link's frame.
        size: (radius,) of a round patch or (length, width) of a rectangle [m], along the link's axes in their order.
        towards: ``"-x"``, where it faces; without one the side of the link's box that it is nearest to.
    """

    link: str
    centre: tuple[float, float, float]
    size: tuple[float, ...]
    towards: str = ""


def with_patches(rig: Rig, patches: Sequence[PatchSpecification | str]) -> Rig:
    """The rig with patches besides its soles; one of a name that it has already takes that one's place.

    Args:
        rig: that is told about.
        patches: stated ones, or names of a person's parts (`PARTS`), whose patches follow from the segments' shapes.

    Raises:
        UnknownName: neither a link nor a body.
        UnknownPreset: no part of a person, or no direction.
        InvalidValue: a size or place that is no number above zero, or parts of a body that does not have them.
    """
    fresh: dict[str, ContactPolygon] = {}
    told = []
    for patch in patches:
        found, words = _person_patches(rig, patch) if isinstance(patch, str) else _build_patch(rig, patch, list(fresh))
        fresh |= {each.name: each for each in found}
        told.append(words)
    if not fresh:
        return rig
    kept = tuple(patch for patch in rig.contacts if patch.name not in fresh)
    return replace(rig, contacts=(*kept, *fresh.values()), notes=(*rig.notes, f"contact patches: {'; '.join(told)}"))


def _build_patch(rig: Rig, patch: PatchSpecification, others: Sequence[str]) -> tuple[list[ContactPolygon], str]:
    bodies = dict(rig.provenance.get("bodies", {}))  # type: ignore[call-overload]
    carrier = {body: link for link, own in bodies.items() for body in own} | {link: link for link in rig.links}
    if patch.link not in carrier:
        raise UnknownName(patch.link, tuple(carrier))
    if patch.towards and patch.towards not in DIRECTIONS:
        raise UnknownPreset(patch.towards, tuple(DIRECTIONS))
    link, centre = carrier[patch.link], np.array(patch.centre, float)
    if len(patch.size) not in (1, 2) or not (np.isfinite(centre).all() and 0.0 < min(patch.size) <= max(patch.size)):
        raise InvalidValue(f"the patch on {patch.link} takes a place and a radius, or a length and a width, above zero")
    if not np.isfinite(patch.size).all():
        raise InvalidValue(f"the patch on {patch.link} is without end")
    towards = patch.towards or _nearest_side(rig, link, centre)
    normal = DIRECTIONS[towards]
    first, second = (axis for axis in np.eye(3) if not normal @ axis)
    corners = _patch_outline(patch.size)[::-1] if np.cross(first, second) @ normal < 0.0 else _patch_outline(patch.size)
    taken = {*others, *(sole.name for sole in rig.soles)}
    numbers = (f"{link}_patch{'' if k == 1 else f'_{k}'}" for k in range(1, len(taken) + 2))
    name = next(name for name in numbers if name not in taken)
    size = "x".join(f"{side:g}" for side in patch.size)
    told = f"{name} as stated, {size} m, facing {towards}"
    return [ContactPolygon(name, link, centre + corners @ np.array([first, second]), sole=False)], told


def _nearest_side(rig: Rig, link: str, centre: np.ndarray) -> str:
    low, high = rig.boxes[rig.index(link)]
    away = {f"-{letter}": abs(centre[k] - low[k]) for k, letter in enumerate("xyz")}
    away |= {f"+{letter}": abs(high[k] - centre[k]) for k, letter in enumerate("xyz")}
    return min(away, key=away.__getitem__)


def _patch_outline(size: Sequence[float]) -> np.ndarray:
    """(V, 2) [m] corners against the clock."""
    if len(size) == 1:
        angles = 2.0 * np.pi * np.arange(ROUND_CORNERS) / ROUND_CORNERS
        return size[0] * np.column_stack([np.cos(angles), np.sin(angles)])
    return 0.5 * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]) * size


def _person_patches(rig: Rig, part: str) -> tuple[list[ContactPolygon], str]:
    if part not in BODY_PARTS:
        raise UnknownPreset(part, BODY_PARTS)
    if rig.provenance.get("kind") != "human":
        raise InvalidValue(
            f"rig {rig.name!r} is no person, whose {part} are known: state a patch as LINK=X,Y,Z,RADIUS or "
            "LINK=X,Y,Z,LENGTHxWIDTH, in metres in the link's frame"
        )
    if part == HANDS:
        if "right_hand" not in rig.links:
            raise InvalidValue(f"rig {rig.name!r} has no hands of their own: build it with --variant 34dof")
        told = "palms on the front of the hands' shapes, from the wrist to the roots of the fingers"
        return [_build_palm(rig, side) for side in SIDES], told
    told = f"{part} on the front of the shanks' shapes, touched together with a foot that points back"
    return [_build_shin(rig, side, part) for side in SIDES], told


def _build_palm(rig: Rig, side: str) -> ContactPolygon:
    """As wide as the hand's shape, facing ahead as palms do in the standing posture."""
    shape = _find_shape(rig, f"{side}_hand")
    depth, half = shape.size[0], shape.size[1]
    tip = rig.tips[rig.index(shape.link)]
    long = read_asset("human_body")["patches"]["palm_share_of_hand"] * tip
    aside, ahead = np.array([0.0, half, 0.0]), np.array([shape.centre[0] + depth, 0.0, 0.0])
    corners = [aside, long + aside, long - aside, -aside]
    return _oriented_patch(f"{side}_palm", shape.link, ahead + np.array(corners), np.array([1.0, 0.0, 0.0]))


def _build_shin(rig: Rig, side: str, part: str) -> ContactPolygon:
    """The strip along which a shank lies on the floor, which its knee and its foot, pointed, touch too."""
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
    """What points down (3,), in the shank's frame, where knee and pointed foot lie on one floor, and its depth [m]."""
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

    low, high = MAX_SHIN_ANGLE, -MAX_SHIN_ANGLE  # leaning one way the foot is the deeper, the other way the knee
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
    raise InvalidValue(
        f"{link} of rig {rig.name!r} has no shape that a patch could lie on: state it as LINK=X,Y,Z,RADIUS"
    )


def _oriented_patch(name: str, link: str, corners: np.ndarray, normal: np.ndarray) -> ContactPolygon:
    patch = ContactPolygon(name, link, corners, sole=False)
    return patch if patch.outward @ normal > 0.0 else ContactPolygon(name, link, corners[::-1], sole=False)
