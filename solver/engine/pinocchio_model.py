"""Pinocchio's model of a rig's description."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..base.errors import InvalidValue
from ..values.inertials import INERTIA, MASS, PER_LINK, InertialParameters, symmetric_matrix
from ..values.joints import Joint, Limits
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
WITHOUT_AXIS = {"free": pin.JointModelFreeFlyer, "spherical": pin.JointModelSpherical}
LARGEST = 256
"""Largest number of degrees of freedom: Pinocchio's data grow with its cube, to 0.8 GB, and exist several times."""
POSE_SIZE = 12
"""Numbers of one pose in Pinocchio's memory: rotation by columns (9), then translation (3). By definition."""
TWIST_SIZE = 6
"""Numbers of one spatial velocity, acceleration or force: linear (3), then angular (3). By definition."""
DOUBLE_BYTES = 8
"""Size of a double. By definition."""


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


class SharedViews:
    """Poses (L, 12), twists (L, 6) and their rates (L, 6) of the last forward kinematics: views on Pinocchio's memory.

    Reading results link by link through the bindings costs far more than Pinocchio's own work (31 links: 3 us a frame
    for the forward kinematics, 170 us to fetch them), so the results are read through views on Pinocchio's contiguous
    memory.
    """

    def __init__(self, data: pin.Data, joints: int) -> None:
        self.data = data  # keeps the memory alive
        self.poses = _view_of_rows(data.oMi[0].rotation, joints, POSE_SIZE)
        self.twists = _view_of_rows(data.v[0].linear, joints, TWIST_SIZE)
        self.rates = _view_of_rows(data.a[0].linear, joints, TWIST_SIZE)

    def refresh(self) -> None:
        """Update the arrays after a forward kinematics; views are always current."""


class CopiedViews(SharedViews):
    """The same arrays copied joint by joint: slower, but independent of the memory layout."""

    def __init__(self, data: pin.Data, joints: int) -> None:
        self.data, self.joints = data, range(1, joints)
        self.poses = np.empty((joints - 1, POSE_SIZE))
        self.twists = np.empty((joints - 1, TWIST_SIZE))
        self.rates = np.empty((joints - 1, TWIST_SIZE))
        self.refresh()

    def refresh(self) -> None:
        """Read the results of the last forward kinematics."""
        for row, joint in enumerate(self.joints):
            pose = self.data.oMi[joint]
            self.poses[row] = np.concatenate([pose.rotation.ravel(order="F"), pose.translation])
            self.twists[row] = self.data.v[joint].vector
            self.rates[row] = self.data.a[joint].vector


def link_views(data: pin.Data, joints: int) -> SharedViews:
    """The results of Pinocchio's kinematics as arrays; as views if its memory layout allows it."""
    return shared_views(data, joints) or CopiedViews(data, joints)


def shared_views(data: pin.Data, joints: int) -> SharedViews | None:
    """Views on the results in Pinocchio's memory; None if the layout is not the expected one."""
    start = address_of(data.oMi[0].rotation)
    expected = (
        all(address_of(data.oMi[k].rotation) == start + DOUBLE_BYTES * POSE_SIZE * k for k in range(joints))
        and all(
            address_of(data.oMi[k].translation) == start + DOUBLE_BYTES * (POSE_SIZE * k + 9) for k in range(joints)
        )
        and all(_is_contiguous(twists, joints) for twists in (data.v, data.a))
    )
    return SharedViews(data, joints) if expected else None


def _is_contiguous(twists: object, joints: int) -> bool:
    start = address_of(twists[0].linear)  # type: ignore[index]
    return all(
        address_of(twists[k].linear) == start + DOUBLE_BYTES * TWIST_SIZE * k  # type: ignore[index]
        and address_of(twists[k].angular) == start + DOUBLE_BYTES * (TWIST_SIZE * k + 3)  # type: ignore[index]
        for k in range(joints)
    )


def address_of(array: np.ndarray) -> int:
    """Address of the first number of an array."""
    return int(array.__array_interface__["data"][0])


def _view_of_rows(first: np.ndarray, joints: int, width: int) -> np.ndarray:
    """(joints - 1, width) view of consecutive doubles, without the universe's entry."""
    everything = as_strided(first, (joints, width), (DOUBLE_BYTES * width, DOUBLE_BYTES), writeable=False)
    return everything[1:]


def shared_forces(vector: pin.StdVec_Force, joints: int) -> np.ndarray | None:
    """(L, 6) view of forces in Pinocchio's memory, without the universe's; None if the layout is different."""
    starts = [address_of(vector[joint].linear) for joint in range(joints)]
    if any(place != starts[0] + DOUBLE_BYTES * TWIST_SIZE * k for k, place in enumerate(starts)):
        return None
    if any(address_of(vector[joint].angular) != place + 3 * DOUBLE_BYTES for joint, place in enumerate(starts)):
        return None
    return as_strided(vector[0].linear, (joints, TWIST_SIZE), (DOUBLE_BYTES * TWIST_SIZE, DOUBLE_BYTES))[1:]


def shared_inertias(model: pin.Model) -> np.ndarray | None:
    """(joints, 10) view of inertias: mass, centre, xx xy yy xz yz zz; None if the memory layout is different."""
    starts = [address_of(model.inertias[joint].lever) - DOUBLE_BYTES for joint in range(model.njoints)]
    if any(place != starts[0] + DOUBLE_BYTES * PER_LINK * k for k, place in enumerate(starts)):
        return None
    block = (ctypes.c_double * (PER_LINK * model.njoints)).from_address(starts[0])
    view = np.frombuffer(block).reshape(model.njoints, PER_LINK)
    trial = pin.Inertia(2.0, np.array([0.1, 0.2, 0.3]), np.diag([3.0, 4.0, 5.0]) + 0.5)
    model.inertias[0] = trial
    about = np.asarray(trial.inertia)
    expected = [2.0, 0.1, 0.2, 0.3, *(about[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))]
    agrees = np.array_equal(view[0], expected)
    model.inertias[0] = pin.Inertia.Zero()
    return view if agrees else None
