"""Regressor of the six free-flyer rows, piece by piece: jovic2016 (3), bonnet2016 (4).

Pinocchio computes the kinematics; the Newton-Euler equations of the bodies, linear in their parameters, are then one
block of array arithmetic over all links and frames. 31 links take about 14 us a frame in all; Pinocchio's joint torque
regressor takes 73 us, its body regressors called one by one 10 us before any is moved to the base link.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..base.errors import InvalidValue
from ..base.file_arrays import CACHED_FRAMES
from ..base.so3 import cross, matrix_product, turn_vectors
from ..skeleton.rig import Rig
from ..values.inertials import FIRST_MOMENT, GRAVITY_VECTOR, MASS, PER_LINK
from ..values.motion import Motion
from .kinematics import LinkMotions, motion_pieces

Axes = Literal["link", "world"]
STATIC_PARAMETERS = 4
"""Mass and first moment: the only parameters a force depends on. Derived from the Newton-Euler equations."""


@dataclass(frozen=True, slots=True)
class RegressorPiece:
    """The regressor of a few consecutive frames, frames last, and the frame of its wrenches.

    Attributes:
        frames: n frames of the motion.
        force: (3, 4, L, n) force rows by parameter and link; a force depends on mass and first moment only.
        moment: (3, 10, L, n) moment rows, parameters as `PARAMETERS`.
        origin: (3, n) [m] base link's origin, world.
        rotation: (3, 3, n) the wrench's axes to world axes; None for world axes.
    """

    frames: slice
    force: np.ndarray
    moment: np.ndarray
    origin: np.ndarray
    rotation: np.ndarray | None

    def express_wrenches(self, world: np.ndarray) -> np.ndarray:
        """Wrenches (n, 6) in world axes about the world origin, as (6, n) in the piece's axes about its origin."""
        force, moment = world[:, :3].T, world[:, 3:].T - cross(self.origin, world[:, :3].T)
        if self.rotation is None:
            return np.concatenate([force, moment])
        inverse = self.rotation.swapaxes(0, 1)
        return np.concatenate([turn_vectors(inverse, force), turn_vectors(inverse, moment)])


def regressor_pieces(
    rig: Rig, motion: Motion, base: int | str = 0, axes: Axes = "link", rows: int = CACHED_FRAMES
) -> Iterator[RegressorPiece]:
    """The regressor piece by piece, in memory that does not depend on the motion's length; see `wrench_regressor`."""
    index = base_index(rig, base)
    if axes not in ("link", "world"):
        raise InvalidValue(f"axes must be 'link' or 'world', not {axes!r}")
    for frames, motions in motion_pieces(rig, motion, rows):
        found = newton_euler_columns(motions, GRAVITY_VECTOR, index, axes)
        rotation = motions.rotation[:, :, index] if axes == "link" else None
        yield RegressorPiece(frames, found.force, found.moment, motions.position[:, index], rotation)


def base_index(rig: Rig, base: int | str) -> int:
    """Index of the base link given by name or index.

    Raises:
        UnknownLink: no such name.
        InvalidValue: index out of range.
    """
    if isinstance(base, str):
        return rig.index(base)
    if not 0 <= base < len(rig.links):
        raise InvalidValue(f"base link {base} is out of range: rig {rig.name!r} has {len(rig.links)} links")
    return int(base)


@dataclass(frozen=True, slots=True)
class NewtonEulerColumns:
    """Newton-Euler equations of every link, linear in its ten parameters, about the origin of the base link.

    Attributes:
        force: (3, 4, L, n); moment: (3, 10, L, n), as in `RegressorPiece`.
        rotation: (3, 3, L, n) of the links to the wrench's axes.
        position: (3, L, n) [m] of the links from its origin.
        acceleration: (3, L, n) [m/s^2] of the links' origins less gravity, link axes.
    """

    force: np.ndarray
    moment: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    acceleration: np.ndarray


def newton_euler_columns(motions: LinkMotions, gravity: np.ndarray, base: int, axes: Axes) -> NewtonEulerColumns:
    """The equations for a motion of the links."""
    rotation, position = _relative_poses(motions, base, axes)
    a = motions.acceleration - matrix_product(motions.rotation.swapaxes(0, 1), gravity.reshape(3, 1, 1, 1))[:, 0]
    shape = a.shape[1:]
    (wx, wy, wz), (ax, ay, az) = motions.omega, motions.alpha
    xx, yy, zz, xy, xz, yz = wx * wx, wy * wy, wz * wz, wx * wy, wx * wz, wy * wz

    local = np.empty((3, STATIC_PARAMETERS, *shape))  # force: m a + ([alpha] + [omega]^2) h
    local[:, MASS] = a
    _fill_entries(
        local[:, FIRST_MOMENT],
        [[-yy - zz, xy - az, xz + ay], [xy + az, -xx - zz, yz - ax], [xz - ay, yz + ax, -xx - yy]],
    )
    force = matrix_product(rotation, local)

    local = np.zeros((3, PER_LINK - 1, *shape))  # moment about the link's origin: h x a + I alpha + omega x I omega
    local[1, 0], local[2, 1], local[0, 2] = -a[2], -a[0], -a[1]
    local[2, 0], local[0, 1], local[1, 2] = a[1], a[2], a[0]
    _fill_entries(
        local[:, 3:],
        [
            [ax, ay - xz, -yz, az + xy, yy - zz, yz],
            [xz, ax + yz, ay, zz - xx, az - xy, -xz],
            [-xy, xx - yy, xy, ax - yz, ay + xz, az],
        ],
    )
    moment = np.empty((3, PER_LINK, *shape))
    moment[:, MASS] = 0.0
    matrix_product(rotation, local, out=moment[:, MASS + 1 :])
    moment[:, :STATIC_PARAMETERS] += cross(position[:, None], force)
    return NewtonEulerColumns(force, moment, rotation, position, a)


def _fill_entries(target: np.ndarray, rows: list[list[np.ndarray]]) -> None:
    for row, entries in enumerate(rows):
        for column, entry in enumerate(entries):
            target[row, column] = entry


def _relative_poses(motions: LinkMotions, base: int, axes: Axes) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (3, 3, L, n) of the links to the wrench's axes and their positions (3, L, n) from its origin."""
    position = motions.position - motions.position[:, base : base + 1]
    if axes == "world":
        return motions.rotation, position
    inverse = motions.rotation[:, :, base : base + 1].swapaxes(0, 1)
    return matrix_product(inverse, motions.rotation), turn_vectors(inverse, position)
