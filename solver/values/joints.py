"""Joints of a rig: kinds, axes and placements, and limits of position, velocity and torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, frozen, require_lengths
from ..base.errors import InvalidValue, checked

ROOT_NV = 6
"""Tangent dimension of the free flyer. By definition."""
KINDS: dict[str, tuple[int, int, int]] = {
    "free": (7, 6, 0),
    "revolute": (1, 1, 1),
    "continuous": (2, 1, 1),
    "prismatic": (1, 1, 1),
    "universal": (2, 2, 2),
    "spherical": (4, 3, 0),
}
"""Kinds of joints: entries in q, entries in v, axes.

A continuous joint is a hinge without limits, with cosine and sine of its angle in q. A universal joint rotates about
its first axis, fixed in the parent, then about its second. By definition."""
NEUTRAL = {
    "free": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    "continuous": (1.0, 0.0),
    "spherical": (0.0, 0.0, 0.0, 1.0),
}
"""q of joints whose coordinates at zero are not all zero. By definition."""
UNIT = 1e-9
"""Largest error of an axis' length."""
ORTHONORMAL = 1e-6
"""Largest entry of R' R - 1 that a rotation may have: files often write angles with few digits."""


@dataclass(frozen=True, slots=True)
class Mimic:
    """angle = multiplier * angle of ``source`` + offset."""

    source: str
    multiplier: float
    offset: float


@checked
@dataclass(frozen=True, slots=True)
class Joint:
    """What carries a link.

    Attributes:
        name: of the joint.
        kind: one of `KINDS`.
        parent: index of the link that carries it; -1 in the world.
        position: (3,) [m] origin of the link it moves, in the parent link's frame.
        rotation: (3, 3) axes of that link in the parent's, at zero.
        axes: (K, 3) unit axes in the link's frame at zero, as many as the kind has.
        mimic: how the file it came from couples it to another; it moves independently here.
    """

    name: str
    kind: str
    parent: int
    position: np.ndarray
    rotation: np.ndarray
    axes: np.ndarray
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidValue(f"joint {self.name!r} is of kind {self.kind!r}, none of {', '.join(KINDS)}")
        axes = np.reshape(np.asarray(self.axes, float), (-1, 3))
        for name, value, shape in (
            ("position", self.position, (3,)),
            ("rotation", self.rotation, (3, 3)),
            ("axes", axes, (KINDS[self.kind][2], 3)),
        ):
            object.__setattr__(self, name, frozen(f"{name} of joint {self.name!r}", value, shape))
        require_lengths(f"joint {self.name!r}", self.position)
        if np.abs(self.rotation.T @ self.rotation - np.eye(3)).max() > ORTHONORMAL:
            raise InvalidValue(f"joint {self.name!r}: its link's axes are not a rotation")
        if np.any(np.abs(np.linalg.norm(self.axes, axis=1) - 1.0) > UNIT):
            raise InvalidValue(f"joint {self.name!r}: an axis is not of length one")

    @property
    def nq(self) -> int:
        """Entries of the joint in a configuration q."""
        return KINDS[self.kind][0]

    @property
    def nv(self) -> int:
        """Entries of the joint in a velocity v."""
        return KINDS[self.kind][1]

    @property
    def hinge(self) -> bool:
        """Whether the joint rotates about one axis."""
        return self.kind in ("revolute", "continuous")

    @property
    def slides(self) -> bool:
        """Whether the link's origin moves relative to its parent."""
        return self.kind in ("free", "prismatic")

    @property
    def neutral(self) -> tuple[float, ...]:
        """(nq,) entries of q at zero."""
        return NEUTRAL.get(self.kind, (0.0,) * self.nq)


def rest_poses(joints: Sequence[Joint]) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (L, 3, 3) and origins (L, 3) [m] of the links in the world, every joint at zero.

    Args:
        joints: each after its parent.
    """
    turns, offsets = np.array([joint.rotation for joint in joints]), np.array([joint.position for joint in joints])
    return chain_poses([joint.parent for joint in joints], turns, offsets)


def chain_poses(parents: Sequence[int], turns: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (..., B, 3, 3) and origins (..., B, 3) of bodies, by the poses of each in the one that carries it.

    Args:
        parents: B indices of the carrying bodies, each before those that it carries; -1 in the world.
        turns: (..., B, 3, 3) axes of a body in the carrying one's.
        offsets: (..., B, 3) its origin there.
    """
    rotations, origins = np.empty(turns.shape), np.empty(turns.shape[:-1])
    for k, parent in enumerate(parents):
        base = np.eye(3) if parent < 0 else rotations[..., parent, :, :]
        rotations[..., k, :, :] = base @ turns[..., k, :, :]
        moved = (base @ offsets[..., k, :, None])[..., 0]
        origins[..., k, :] = moved if parent < 0 else origins[..., parent, :] + moved
    return rotations, origins


@dataclass(frozen=True, slots=True)
class Limits(ArrayValue):
    """Limits of the joints, root excluded, in the tangent order of the model (nv - 6 entries).

    A position is the joint's coordinate from the neutral configuration, see `coordinates.joint_coordinates`:
    the angle of a revolute joint, the rotation vector of a spherical one.

    Attributes:
        lower, upper: [rad] (or [m]); infinite where free.
        speed: [rad/s]; infinite where unknown.
        torque: [N m]; infinite where unknown.
    """

    lower: Annotated[np.ndarray, Array("nv", finite=False)]
    upper: Annotated[np.ndarray, Array("nv", finite=False)]
    speed: Annotated[np.ndarray, Array("nv", finite=False)]
    torque: Annotated[np.ndarray, Array("nv", finite=False)]

    def require_consistent(self) -> None:
        if np.any(self.lower > self.upper):
            raise InvalidValue(f"joint coordinate {int(np.argmax(self.lower > self.upper))} has lower > upper limit")

    @staticmethod
    def none(count: int) -> Limits:
        """No limits on ``count`` joint coordinates."""
        free = np.full(count, np.inf)
        return Limits(-free, free, free, free)
