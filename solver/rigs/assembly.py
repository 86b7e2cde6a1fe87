"""From a list of bodies to a Pinocchio model with a free-flyer root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..inertials import InertialParameters
from ..pinocchio_loader import pin
from ..rig import ROOT_NV, Limits

ROOT = "root_joint"
"""Name of the free-flyer joint."""


@dataclass(frozen=True, slots=True)
class Body:
    """One moving body and the joint that carries it.

    Attributes:
        name: of the link; the joint is called the same unless ``joint_name`` is given.
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


def assemble(name: str, bodies: Sequence[Body], prior: InertialParameters) -> tuple[pin.Model, Limits]:
    """Model and limits of bodies given parents first; link k of ``bodies`` moves with joint k + 1.

    Pinocchio's subtree algorithms need each body right after its parent's earlier branches (depth first).
    """
    model = pin.Model()
    model.name = name
    joints: dict[str, int] = {}
    for body in bodies:
        parent = 0 if body.parent is None else joints[body.parent]
        placement = pin.SE3(np.array(body.rotation, float), np.array(body.position, float))
        joint_name = ROOT if body.parent is None else body.joint_name or body.name
        joint = model.addJoint(parent, _joint_model(body.axes), placement, joint_name)
        joints[body.name] = joint
        frame = model.addJointFrame(joint)
        model.addBodyFrame(body.name, joint, pin.SE3.Identity(), frame)
    limits = Limits(*(_stacked(bodies, part) for part in ("lower", "upper", "speed", "torque")))
    model = prior.applied_to(model)
    write_limits(model, limits)
    return model, limits


def write_limits(model: pin.Model, limits: Limits) -> None:
    """Copy limits into a model under construction, wherever its configuration has the coordinate itself."""
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    speed, torque = model.velocityLimit, model.effortLimit
    for joint in list(model.joints)[2:]:
        tangent = slice(joint.idx_v - ROOT_NV, joint.idx_v - ROOT_NV + joint.nv)
        if joint.nq == joint.nv:
            lower[joint.idx_q : joint.idx_q + joint.nq] = limits.lower[tangent]
            upper[joint.idx_q : joint.idx_q + joint.nq] = limits.upper[tangent]
        else:
            lower[joint.idx_q : joint.idx_q + joint.nq] = -1.0
            upper[joint.idx_q : joint.idx_q + joint.nq] = 1.0
        speed[joint.idx_v : joint.idx_v + joint.nv] = limits.speed[tangent]
        torque[joint.idx_v : joint.idx_v + joint.nv] = limits.torque[tangent]
    model.lowerPositionLimit, model.upperPositionLimit = lower, upper
    model.velocityLimit, model.effortLimit = speed, torque


def _stacked(bodies: Sequence[Body], part: str) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(np.asarray(getattr(b, part), float) for b in bodies if b.parent is not None)])


def _joint_model(axes: tuple[tuple[float, float, float], ...]) -> pin.JointModel:
    if not axes:
        return pin.JointModelFreeFlyer()
    if len(axes) == 1:
        return _revolute(np.array(axes[0], float))
    if len(axes) == 2:
        return pin.JointModelUniversal(np.array(axes[0], float), np.array(axes[1], float))
    return pin.JointModelSpherical()


def _revolute(axis: np.ndarray) -> pin.JointModel:
    aligned = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    for unit, kind in zip(np.eye(3), aligned):
        if np.array_equal(axis, unit):
            return kind()
    return pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
