"""Results of Pinocchio's kinematics as arrays.

Reading results link by link through the bindings costs far more than Pinocchio's own work (31 links: 3 us a frame for
the forward kinematics, 170 us to fetch them), so the results are read through views on Pinocchio's contiguous memory.
"""

from __future__ import annotations

import ctypes
from typing import Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..inertials import PER_LINK
from .pinocchio_loader import pin

POSE_SIZE = 12
"""Numbers of one pose in Pinocchio's memory: rotation by columns (9), then translation (3)."""
TWIST_SIZE = 6
"""Numbers of one spatial velocity, acceleration or force: linear (3), then angular (3)."""
DOUBLE_BYTES = 8
"""Size of a double."""


class KinematicsViews(Protocol):
    """Poses (L, 12), twists (L, 6) and their rates (L, 6) of the last forward kinematics."""

    poses: np.ndarray
    twists: np.ndarray
    rates: np.ndarray
    live: bool  # current without a refresh

    def refresh(self) -> None:
        """Update the arrays after a forward kinematics."""


class SharedViews:
    """Views on Pinocchio's memory: always current."""

    live = True

    def __init__(self, data: pin.Data, joints: int) -> None:
        self.data = data  # keeps the memory alive
        self.poses = _view_of_rows(data.oMi[0].rotation, joints, POSE_SIZE)
        self.twists = _view_of_rows(data.v[0].linear, joints, TWIST_SIZE)
        self.rates = _view_of_rows(data.a[0].linear, joints, TWIST_SIZE)

    def refresh(self) -> None:
        """Nothing to do."""


class CopiedViews:
    """The same arrays copied joint by joint: slower, but independent of the memory layout."""

    live = False

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


def link_views(data: pin.Data, joints: int) -> KinematicsViews:
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
