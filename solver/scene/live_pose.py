"""A pose of a body that is tracked live, as a scene editor draws it: one line of JSON. SI, world z up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..base.arrays import Array, ArrayValue, frozen
from ..base.errors import InvalidValue

DIGITS = 6
"""Decimals in SI units. Derived: a micrometre."""


@dataclass(frozen=True, slots=True)
class ScenePose(ArrayValue):
    """One instant.

    Attributes:
        time: [s] on the stream's clock.
        arrived: [s] arrival of its sample, by `time.perf_counter`, which all processes of a machine share.
        latency: [s] from the arrival to the pose.
        root: (3,) [m] root link's origin, world.
        rotations: (L, 4) xyzw of each joint from its neutral pose, in joint axes; the root's in the world.
        translations: (L, 3) [m] the same of sliding joints; zero for others.
        com: (3,) [m] centre of mass, world.
        zmp: (2,) [m] zero-moment point on the floor; None if unknown.
        polygon: (V, 2) [m] support polygon; V = 0 in flight.
        margin: [m] of the zero-moment point, or else of the centre of mass, inside it; None without a polygon.
        tracked: False if the previous pose was kept.
        error: [m] root mean square distance of the markers; None without markers.
        measured, modelled: (P, 3) [m] measured markers (NaN: missing) and markers of the body; P may be 0.
    """

    time: float
    arrived: float
    latency: float
    root: Annotated[np.ndarray, Array(3)]
    rotations: Annotated[np.ndarray, Array("L", 4)]
    translations: Annotated[np.ndarray, Array("L", 3)]
    com: Annotated[np.ndarray, Array(3)]
    zmp: Annotated[np.ndarray | None, Array(2)]
    polygon: Annotated[np.ndarray, Array(None, 2)]
    margin: float | None
    tracked: bool = True
    error: float | None = None
    measured: np.ndarray | None = None
    modelled: np.ndarray | None = None

    def require_consistent(self) -> None:
        measured = np.zeros((0, 3)) if self.measured is None else self.measured
        modelled = np.zeros((0, 3)) if self.modelled is None else self.modelled
        object.__setattr__(self, "measured", frozen("markers", measured, (None, 3), finite=False))
        object.__setattr__(self, "modelled", frozen("markers of the body", modelled, (len(measured), 3), finite=False))

    def tree(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "time": round(self.time, DIGITS), "arrived": self.arrived, "latency": round(self.latency, DIGITS),
            "root": _to_list(self.root), "rotations": _to_list(self.rotations),
            "translations": _to_list(self.translations) if self.translations.any() else [],
            "com": _to_list(self.com), "zmp": None if self.zmp is None else _to_list(self.zmp),
            "polygon": _to_list(self.polygon), "margin": _round(self.margin), "tracked": self.tracked,
            "error": _round(self.error), "measured": _to_list(self.measured), "modelled": _to_list(self.modelled),
        }  # fmt: skip


def scene_pose(tree: Mapping[str, Any]) -> ScenePose:
    """The pose of a `ScenePose.tree`.

    Raises:
        InvalidValue: an entry is missing or has another shape.
    """
    try:
        rotations = np.array(tree["rotations"], float)
        slides = np.array(tree["translations"], float) if tree["translations"] else np.zeros((len(rotations), 3))
        return ScenePose(
            float(tree["time"]), float(tree["arrived"]), float(tree["latency"]), np.array(tree["root"], float),
            rotations, slides, np.array(tree["com"], float),
            None if tree["zmp"] is None else np.array(tree["zmp"], float),
            np.array(tree["polygon"], float).reshape(-1, 2), tree["margin"], bool(tree["tracked"]), tree["error"],
            np.array(tree["measured"], float).reshape(-1, 3), np.array(tree["modelled"], float).reshape(-1, 3),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidValue(f"a live pose cannot be read: {error}") from None


def _round(value: float | None) -> float | None:
    return None if value is None or value != value else round(value, DIGITS)


def _to_list(values: np.ndarray | None) -> list[Any]:
    """Nested lists; None where a number is missing."""
    if values is None:
        return []
    rounded = np.round(values, DIGITS)
    if np.isfinite(rounded).all():
        return rounded.tolist()  # type: ignore[no-any-return]
    known = rounded.astype(object)
    known[~np.isfinite(rounded)] = None
    return known.tolist()  # type: ignore[no-any-return]
