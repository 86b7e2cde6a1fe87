"""Wrench about the world origin from the channels of a force plate, C3D types 1 to 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue
from ..base.errors import InputError, InvalidValue

CHANNEL_COUNTS = {1: 6, 2: 6, 3: 8, 4: 6}
"""Number of channels by plate type: 1 force, centre of pressure, free moment; 2 force and moment at the sensor; 3
eight channels of four three-component corner sensors; 4 as 2, through a calibration matrix. By the C3D format."""


SAME_HEIGHT = 0.05
"""[m] Stairs and boxes carry plates above plates, by convention at other heights. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the same."""


@dataclass(frozen=True, slots=True)
class ForcePlate(ArrayValue):
    """Geometry of a force plate.

    Attributes:
        name: of the plate.
        kind: C3D type, 1 to 4.
        corners: (4, 3) [m] in the recording's axes, in the order of the plate's quadrants (+x +y), (-x +y), (-x -y),
            (+x -y).
        origin: (3,) [m] ORIGIN as written, plate axes: for types 2 and 4 the offset between sensor and centre of the
            surface; for type 3 half the distances between the corner sensors along x and y, and their depth.
        calibration: (6, 6) of type 4, from channels to N and N m.
    """

    name: str
    kind: int
    corners: Annotated[np.ndarray, Array(4, 3)]
    origin: Annotated[np.ndarray, Array(3)]
    calibration: Annotated[np.ndarray | None, Array(6, 6)] = None

    def require_consistent(self) -> None:
        if self.kind not in CHANNEL_COUNTS:
            raise InvalidValue(f"force plate {self.name!r} has type {self.kind}; types 1 to 4 are known")
        if self.kind == 4 and self.calibration is None:
            raise InvalidValue(f"force plate {self.name!r} is of type 4 and needs a calibration matrix")

    @property
    def centre(self) -> np.ndarray:
        """Centre of the surface (3,) [m], recording's axes."""
        return self.corners.mean(axis=0)

    @property
    def rotation(self) -> np.ndarray:
        """Plate axes in the recording's axes (3, 3); the order of the corners defines z, usually down.

        Raises:
            InvalidValue: the corners do not span a surface.
        """
        a, b, c, d = self.corners
        x, y = (a + d) - (b + c), (a + b) - (c + d)
        z = np.cross(x, y)
        if not np.linalg.norm(z) > 1e-6 * np.linalg.norm(x) * np.linalg.norm(y) > 0.0:
            raise InvalidValue(f"the corners of force plate {self.name!r} do not span a surface")
        x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
        return np.column_stack([x, np.cross(z, x), z])

    def covers(self, point: np.ndarray) -> bool:
        """Whether a point (3,) [m], recording's axes, lies on the surface."""
        corners, local = (self.corners - self.centre) @ self.rotation, (point - self.centre) @ self.rotation
        return bool((np.abs(local) < [*np.ptp(corners, axis=0)[:2] / 2.0, SAME_HEIGHT]).all())

    @property
    def has_moments(self) -> bool:
        """Whether the geometry determines moments: type 3 needs the distances of its corner sensors."""
        return self.kind != 3 or bool(np.all(self.origin[:2] != 0.0))

    def wrench(self, channels: np.ndarray, up: np.ndarray) -> np.ndarray:
        """Wrench about the origin of the recording, in its axes, with the channels' own sign.

        Args:
            channels: (N, 6 or 8) force-like in N, moment-like in N m, centres of pressure in m (type 4: as recorded).
            up: (3,) unit vector of the vertical, recording's axes; the sensors lie below the surface.

        Returns:
            (N, 6) force then moment [N, N m]; the moment is NaN if the geometry does not determine it.
        """
        rotation = self.rotation
        force, moment = self._wrench_at_surface(
            np.asarray(channels, float), float(np.sign(rotation[:, 2] @ up)) or -1.0
        )
        force, moment = force @ rotation.T, moment @ rotation.T
        return np.concatenate([force, moment + np.cross(self.centre, force)], axis=1)

    def _wrench_at_surface(self, channels: np.ndarray, upward: float) -> tuple[np.ndarray, np.ndarray]:
        """Force (N, 3) and moment about the centre of the surface (N, 3), plate axes; ``upward`` 1 if z points up."""
        if self.kind == 1:
            force, pressure, free = channels[:, :3], channels[:, 3:5], channels[:, 5]
            point = np.column_stack([pressure, np.zeros(len(pressure))])
            moment = np.cross(point, force)
            moment[:, 2] += free
            return force, moment
        if self.kind == 3:
            return self._wrench_of_corner_sensors(channels, upward)
        if self.kind == 4:
            assert self.calibration is not None
            channels = channels @ self.calibration.T
        force, moment = channels[:, :3], channels[:, 3:]
        # Files disagree on the sign of ORIGIN; the sensor is below the surface.
        lever = self.origin if self.origin[2] * upward < 0.0 else -self.origin
        return force, moment + np.cross(lever, force)

    def _wrench_of_corner_sensors(self, channels: np.ndarray, upward: float) -> tuple[np.ndarray, np.ndarray]:
        """Type 3: Fx12, Fx34, Fy14, Fy23, Fz1 ... Fz4 of sensors at (a, b), (-a, b), (-a, -b), (a, -b)."""
        fx12, fx34, fy14, fy23, fz1, fz2, fz3, fz4 = channels.T
        force = np.column_stack([fx12 + fx34, fy14 + fy23, fz1 + fz2 + fz3 + fz4])
        if not self.has_moments:
            return force, np.full_like(force, np.nan)
        a, b, depth = np.abs(self.origin)
        moment = np.column_stack(
            [b * (fz1 + fz2 - fz3 - fz4), a * (fz2 + fz3 - fz1 - fz4), a * (fy14 - fy23) + b * (fx34 - fx12)]
        )
        return force, moment + np.cross([0.0, 0.0, -upward * depth], force)


def check_apart(path: str | Path, plates: Sequence[ForcePlate]) -> None:
    """Check that no loaded plate covers the centre of another one.

    Raises:
        InputError: two plates lie at one place, so that the centre of pressure of one of them is wrong.
    """
    for one, other in permutations(plates, 2):
        if one.covers(other.centre):
            names = " and ".join(sorted((one.name, other.name)))
            apart = np.linalg.norm(one.centre - other.centre)
            remedy = "Correct the corners of the plates in the recording system, or export each plate once"
            raise InputError(
                path, f"{names} cover the same place: their centres lie {apart:.2g} m apart", remedy=remedy
            )
