"""Pinocchio's model of a rig's description."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InvalidValue
from ..inertials import INERTIA, MASS, InertialParameters, symmetric_matrix
from ..joints import Joint, Limits
from . import numpy_model
from .pinocchio_loader import pin

ALIGNED = {
    "revolute": (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
    "continuous": (pin.JointModelRUBX, pin.JointModelRUBY, pin.JointModelRUBZ),
    "prismatic": (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ),
}
"""Pinocchio's faster joint models for coordinate axes."""
ALONG = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
"""Joint models for any axis."""
ENDLESS = """<robot name="hinge"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="a"/><child link="b"/><axis xyz="{}"/></joint></robot>"""
"""URDF text of a continuous joint: Pinocchio's Python API has no other way to set its axis."""
WITHOUT_AXIS = {
    "free": pin.JointModelFreeFlyer,
    "spherical": pin.JointModelSpherical,
    "planar": pin.JointModelPlanar,
}
LARGEST = 256
"""Largest number of degrees of freedom: Pinocchio's data grow with its cube, to 0.8 GB, and exist several times."""


class Model(pin.Model):
    """Pinocchio's model of a rig: joint k + 1 moves link k.

    Attributes:
        is_depth_first: whether each link is listed with its descendants right behind it. Pinocchio's mass matrix,
            Jacobian of the centre of mass and derivatives of the inverse dynamics are wrong where it is not.
        substitute: the NumPy engine's model where Pinocchio's derivatives are wrong, which they also are for universal
            joints, whose axes turn with their own coordinates; else None.
    """

    is_depth_first: bool
    substitute: numpy_model.Model | None


def build_model(name: str, joints: Sequence[Joint], prior: InertialParameters, limits: Limits) -> Model:
    """The model of a rig; inertia and body frame are in the link's frame."""
    model = Model()
    model.name = name
    model.is_depth_first = _is_depth_first([joint.parent for joint in joints])
    exact = model.is_depth_first and all(joint.kind != "universal" for joint in joints)
    model.substitute = None if exact else numpy_model.build_model(name, joints, prior, limits)
    for link, joint in zip(prior.links, joints, strict=True):
        placement = pin.SE3(np.array(joint.rotation), np.array(joint.position))
        index = model.addJoint(joint.parent + 1, _joint_model(joint), placement, joint.name)
        model.addBodyFrame(link, index, pin.SE3.Identity(), model.addJointFrame(index))
    for index, row in enumerate(prior.values, start=1):
        if row[MASS] > 0.0:
            model.inertias[index] = pin.Inertia.FromDynamicParameters(np.array(row))
        else:  # a massless intermediate axis of a joint, which may have a small inertia
            model.inertias[index] = pin.Inertia(0.0, np.zeros(3), symmetric_matrix(row[INERTIA]))
    _write_limits(model, limits)
    return model


def data_of(model: Model) -> pin.Data:
    """Pinocchio's data (working memory) for a model.

    Raises:
        InvalidValue: the model has more than `LARGEST` degrees of freedom.
    """
    if model.nv > LARGEST:
        problem = f"{model.name!r} has {model.nv} degrees of freedom: its dynamics would need gigabytes of memory"
        raise InvalidValue(f"{problem}; fix joints that hardly move until at most {LARGEST} degrees of freedom remain")
    return model.createData()


def _is_depth_first(parents: Sequence[int]) -> bool:
    """Whether the parent of each joint is the joint before it or one that carries that."""
    path: list[int] = []
    for number, parent in enumerate(parents):
        while path and path[-1] != parent:
            path.pop()
        if parent >= 0 and not path:
            return False
        path.append(number)
    return True


def _joint_model(joint: Joint) -> pin.JointModel:
    if joint.kind in WITHOUT_AXIS:
        return WITHOUT_AXIS[joint.kind]()
    if joint.kind == "universal":
        return pin.JointModelUniversal(*(np.array(axis) for axis in joint.axes))
    for unit, kind in zip(np.eye(3), ALIGNED[joint.kind]):
        if np.array_equal(joint.axes[0], unit):
            return kind()
    if joint.kind == "continuous":
        return pin.buildModelFromXML(ENDLESS.format(" ".join(f"{x:.17g}" for x in joint.axes[0]))).joints[1]
    return ALONG[joint.kind](np.array(joint.axes[0]))


def _write_limits(model: Model, limits: Limits) -> None:
    """Copy limits to a model under construction, for joints whose coordinates are entries of q."""
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    root = model.joints[1].nv
    for joint in list(model.joints)[2:]:
        tangent = slice(joint.idx_v - root, joint.idx_v - root + joint.nv)
        into = slice(joint.idx_q, joint.idx_q + joint.nq)
        own = joint.nq == joint.nv
        lower[into], upper[into] = (limits.lower[tangent], limits.upper[tangent]) if own else (-1.0, 1.0)
    model.lowerPositionLimit, model.upperPositionLimit = lower, upper
    for name, values in (("velocityLimit", limits.speed), ("effortLimit", limits.torque)):
        setattr(model, name, np.concatenate([getattr(model, name)[:root], values]))
