"""Joints and limits of a rig from a list of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..values.joints import Joint, Limits

ROOT_JOINT = "root_joint"
"""Name of the free-flyer joint."""
KIND_BY_AXES = ("free", "revolute", "universal", "spherical")
"""Kind of joint by its number of axes."""


@dataclass(frozen=True, slots=True)
class MovingBody:
    """One moving body and the joint that carries it.

    Attributes:
        name: of the link, and of the joint unless ``joint_name`` is given.
        parent: name of the parent link, None for the root link.
        axes: joint axes in the link frame at zero: () for the free flyer, one (3,) axis for a revolute joint, two for
            a universal joint (first axis fixed in the parent), three for a spherical joint.
        position: (3,) [m] of the joint in the parent link's frame.
        rotation: (3, 3) link axes in the parent's axes at zero.
        lower, upper: joint limits [rad], one per axis.
        speed: [rad/s], one per axis.
        torque: [N m], one per axis.
    """

    name: str
    parent: str | None
    axes: tuple[tuple[float, float, float], ...] = ()
    position: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    lower: Sequence[float] | np.ndarray = ()
    upper: Sequence[float] | np.ndarray = ()
    speed: Sequence[float] | np.ndarray = ()
    torque: Sequence[float] | np.ndarray = ()
    joint_name: str | None = None


def assemble(bodies: Sequence[MovingBody]) -> tuple[tuple[Joint, ...], Limits]:
    """Joints and limits of bodies, with parents first; joint k moves body k.

    Bodies must be in depth-first order, which Pinocchio's subtree algorithms need.
    """
    names = [body.name for body in bodies]
    joints = tuple(
        Joint(
            ROOT_JOINT if body.parent is None else body.joint_name or body.name,
            KIND_BY_AXES[len(body.axes)],
            -1 if body.parent is None else names.index(body.parent),
            np.array(body.position, float),
            np.array(body.rotation, float),
            _unit_axes(body),
        )
        for body in bodies
    )
    return joints, Limits(*(_stack(bodies, part) for part in ("lower", "upper", "speed", "torque")))


def _unit_axes(body: MovingBody) -> np.ndarray:
    """(K, 3) unit axes; none for a spherical joint, which rotates about all."""
    axes = np.array(body.axes[: 0 if len(body.axes) == 3 else None], float).reshape(-1, 3)
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)


def _stack(bodies: Sequence[MovingBody], part: str) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(np.asarray(getattr(b, part), float) for b in bodies if b.parent is not None)])
