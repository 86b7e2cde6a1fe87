"""Robots described by a data file: links with their joints, shapes and soles, link frames parallel to the base."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..values.shape import ContactPolygon, Shape
from .assembly import MovingBody
from .solids import box, capsule, ellipsoid

SHAPES: Mapping[str, Callable[..., Shape]] = {"box": box, "capsule": capsule, "ellipsoid": ellipsoid}
"""By their names in a file: from two corners, two ball centres and a radius, or centre and semi-axes."""


def build_bodies(
    records: Sequence[Mapping[str, Any]], speed: float | None = None, torque_column: int = 0
) -> list[MovingBody]:
    """Bodies of the links' records; ``speed`` [rad/s] replaces theirs; ``torque_column`` selects among torques."""
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


def build_shapes(entries: Sequence[Sequence[Any]]) -> tuple[Shape, ...]:
    """Shapes from link, kind and the numbers of `SHAPES`."""
    return tuple(SHAPES[kind](link, *numbers) for link, kind, *numbers in entries)


def build_soles(soles: Mapping[str, Sequence[Sequence[float]]]) -> tuple[ContactPolygon, ...]:
    """Soles of the feet from their corners, counter-clockwise seen from below."""
    return tuple(ContactPolygon(f"{foot.split('_')[0]}_sole", foot, np.array(own)) for foot, own in soles.items())


def left_right_pairs(links: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(left, right) link names."""
    return tuple((f"left_{link.removeprefix('right_')}", link) for link in links if link.startswith("right_"))
