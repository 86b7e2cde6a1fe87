"""Robots described by a data file, which has the right-hand links; the left-hand ones are their mirror images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..values.shape import ContactPolygon, Shape
from .assembly import MovingBody
from .solids import box, capsule, ellipsoid

RIGHT, LEFT = "right_", "left_"
MIRROR = np.array([1.0, -1.0, 1.0])
"""Reflection in the x-z plane. By definition."""


def mirror_name(name: str) -> str:
    """``"left_thigh"`` for ``"right_thigh"``; a central name is unchanged."""
    return LEFT + name.removeprefix(RIGHT) if name.startswith(RIGHT) else name


def add_left_side(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Records in depth-first order, each right-hand chain followed by its mirror image.

    Link frames are parallel to the base at zero, so that a rotation about x or z changes its sign and one about y does
    not.
    """
    result: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for record in records:
        starts_chain = not str(record.get("parent", "")).startswith(RIGHT)
        if starts_chain:
            result += waiting
            waiting = []
        result.append(dict(record))
        if record["name"].startswith(RIGHT):
            waiting.append(_mirror_record(record))
    return result + waiting


def build_bodies(
    records: Sequence[Mapping[str, Any]], speed: float | None = None, torque_column: int = 0
) -> list[MovingBody]:
    """Bodies of complete records; ``speed`` [rad/s] replaces theirs; ``torque_column`` selects among torques."""
    result = []
    for record in records:
        if "parent" not in record:
            result.append(MovingBody(record["name"], None))
            continue
        low, high = np.radians(record["range"])
        torque = record["torque"]
        result.append(
            MovingBody(
                record["name"],
                record["parent"],
                (tuple(record["axis"]),),
                record["position"],
                lower=[low],
                upper=[high],
                speed=[record["speed"] if speed is None else speed],
                torque=[torque[torque_column] if isinstance(torque, list) else torque],
                joint_name=record.get("joint"),
            )
        )
    return result


def find_tips(records: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """(L, 3) [m] ends of links: as recorded, else the first child's joint, else the far end of the link's box."""
    result = []
    for record in records:
        children = [np.array(r["position"], float) for r in records if r.get("parent") == record["name"]]
        away = [c for c in children if np.linalg.norm(c) > 1e-6]
        if "tip" in record:
            result.append(np.array(record["tip"], float))
        elif away:
            result.append(away[0])
        else:
            corners = np.array(record["box"], float)
            centre = corners.mean(axis=0)
            axis = int(np.argmax(np.abs(centre)))
            result.append(np.where(np.arange(3) == axis, np.where(centre > 0, corners[1], corners[0]), 0.0))
    return np.array(result)


def build_shapes(entries: Sequence[Sequence[Any]]) -> tuple[Shape, ...]:
    """Shapes from ``[link, kind, first, second, radius]`` of the right-hand side, with their mirror images.

    A box has its two corners, an ellipsoid centre and semi-axes, a capsule two ball centres and the radius.
    """
    result = []
    for link, kind, first, second, *radius in entries:
        result.append(_build_shape(link, kind, first, second, radius))
        if link.startswith(RIGHT):
            ends = np.array([first, second]) * (MIRROR if kind != "ellipsoid" else np.array([MIRROR, np.ones(3)]))
            if kind == "box":
                ends = np.array([ends.min(axis=0), ends.max(axis=0)])
            result.append(_build_shape(mirror_name(link), kind, ends[0], ends[1], radius))
    return tuple(result)


def build_soles(sole: Mapping[str, Any]) -> tuple[ContactPolygon, ...]:
    """Rectangular soles on ``right_foot`` and ``left_foot``, counter-clockwise seen from below."""
    result = []
    for side, sign in (("right", 1.0), ("left", -1.0)):
        inner, outer = sorted(sign * y for y in sole["y"])
        back, front = sole["x"]
        corners = [(back, inner), (back, outer), (front, outer), (front, inner)]
        vertices = np.array([[x, y, sole["z"]] for x, y in corners])
        result.append(ContactPolygon(f"{side}_sole", f"{side}_foot", vertices))
    return tuple(result)


def left_right_pairs(links: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(left, right) link names."""
    return tuple((mirror_name(link), link) for link in links if link.startswith(RIGHT))


def _mirror_record(record: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(record)
    for key in ("name", "parent", "joint"):
        if key in record:
            result[key] = mirror_name(record[key])
    result["position"] = list(MIRROR * record["position"])
    corners = np.array(record["box"], float) * MIRROR
    result["box"] = [corners.min(axis=0).tolist(), corners.max(axis=0).tolist()]
    if "tip" in record:
        result["tip"] = list(MIRROR * record["tip"])
    if record["axis"][1] == 0:
        low, high = record["range"]
        result["range"] = [-high, -low]
    return result


def _build_shape(link: str, kind: str, first: Any, second: Any, radius: Sequence[float]) -> Shape:
    if kind == "box":
        return box(link, first, second)
    if kind == "ellipsoid":
        return ellipsoid(link, first, second)
    return capsule(link, first, second, radius[0])
