"""Hypotheses about errors in recorded forces, and how much better each explains the motion than the file as it is.

Level axes that are rotated or reflected in place are checked in `plate_axes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...wrenches import LEAST_LOAD, Wrenches


@dataclass(frozen=True, slots=True)
class PlateForces:
    """Wrenches as plates deliver them: force, centre of pressure and free moment.

    Attributes:
        force: (N, K, 3) [N].
        centre_of_pressure: (N, K, 3) [m] on the floor; the origin where the plate carries nothing.
        free_moment: (N, K) [N m].
    """

    force: np.ndarray
    centre_of_pressure: np.ndarray
    free_moment: np.ndarray

    @staticmethod
    def from_wrenches(wrenches: Wrenches) -> PlateForces:
        """From wrenches without missing samples."""
        return PlateForces(
            wrenches.values[:, :, :3], np.nan_to_num(wrenches.centres_of_pressure()), wrenches.free_moments
        )

    def total(self) -> np.ndarray:
        """Their sum (N, 6), world axes, about the world origin."""
        moment = np.cross(self.centre_of_pressure, self.force)
        moment[:, :, 2] += self.free_moment
        return np.concatenate([self.force, moment], axis=2).sum(axis=1)


def _scale_level_axes(x: float, y: float) -> Callable[[PlateForces], PlateForces]:
    """Multiply the level components of forces and centres of pressure by these factors."""
    factors = np.array([x, y, 1.0])
    return lambda p: PlateForces(p.force * factors, p.centre_of_pressure * factors, x * y * p.free_moment)


def _halve_lever(p: PlateForces) -> PlateForces:
    return PlateForces(p.force, 0.5 * p.centre_of_pressure, p.free_moment)


def _exchange_plates(one: int, two: int) -> Callable[[PlateForces], PlateForces]:
    """Exchange the mean centres of pressure of two plates."""

    def exchange(p: PlateForces) -> PlateForces:
        carries = (p.force[:, :, 2] > LEAST_LOAD)[:, :, None]
        middle = (p.centre_of_pressure * carries).sum(axis=0) / np.maximum(carries.sum(axis=0), 1)
        point = p.centre_of_pressure.copy()
        point[:, one] += middle[two] - middle[one]
        point[:, two] += middle[one] - middle[two]
        return PlateForces(p.force, point, p.free_moment)

    return exchange


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """An alternative explanation of recorded forces.

    Attributes:
        cause: the error, in words.
        remedy: what the user can do about it.
        transform: changes the recorded forces to what they would be without the error.
    """

    cause: str
    remedy: str
    transform: Callable[[PlateForces], PlateForces]


HYPOTHESES: tuple[Hypothesis, ...] = (
    Hypothesis(
        "the plates' axes are rotated by 180 degrees about the origin from the markers' axes (forces and locations)",
        "export both in the same axes",
        _scale_level_axes(-1.0, -1.0),
    ),
    Hypothesis(
        "the plates' axes are mirrored against the markers' axes",
        "export both in the same axes",
        _scale_level_axes(1.0, -1.0),
    ),
    Hypothesis(
        "the moments are about the origin, and the moment of the centre of pressure was added once more",
        "export either moments about the origin or centres of pressure with free moments",
        _halve_lever,
    ),
)


def list_hypotheses(plates: Sequence[str]) -> tuple[Hypothesis, ...]:
    """The hypotheses for forces of these plates: those for every recording, and each pair of plates exchanged."""
    pairs = [(one, two) for one in range(len(plates)) for two in range(one + 1, len(plates))]
    return HYPOTHESES + tuple(
        Hypothesis(
            f"the locations of {plates[one]} and {plates[two]} are exchanged",
            "give each plate's force its own centre of pressure",
            _exchange_plates(one, two),
        )
        for one, two in pairs
    )
