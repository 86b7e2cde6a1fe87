"""Poses, velocities and accelerations of every link over many frames, computed by Pinocchio.

Reading results link by link through the bindings costs far more than Pinocchio's own work (31 links: 3 us a frame for
the forward kinematics, 170 us to fetch them), so the results are read through views on Pinocchio's contiguous memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..errors import InvalidValue
from ..model import data_of
from ..motion import Motion
from ..pinocchio_loader import pin
from ..rig import Rig
from ..so3 import cross

POSE_SIZE = 12
"""Numbers of one pose in Pinocchio's memory: rotation by columns (9), then translation (3)."""
TWIST_SIZE = 6
"""Numbers of one spatial velocity or acceleration: linear (3), then angular (3)."""
DOUBLE_BYTES = 8
"""Size of a double."""
CHUNK_FRAMES = 1024
"""Frames evaluated at once if only a few numbers of each are kept, since all links of an hour would fill the memory."""


@dataclass(frozen=True, slots=True)
class LinkMotions:
    """Motion of every link, frames last, so that array arithmetic runs along contiguous memory.

    Attributes:
        rotation: (3, 3, L, N) link axes to world axes.
        position: (3, L, N) [m] link origins, world.
        velocity: (3, L, N) [m/s] of the link origin, link axes.
        omega: (3, L, N) [rad/s] angular velocity, link axes.
        acceleration: (3, L, N) [m/s^2] of the link origin (classical, without gravity), link axes.
        alpha: (3, L, N) [rad/s^2] angular acceleration, link axes.
    """

    rotation: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    omega: np.ndarray
    acceleration: np.ndarray
    alpha: np.ndarray

    def to_world(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors (3, L, N) of link axes in world axes."""
        return product(self.rotation, vectors[:, None])[:, 0]


def link_motions(rig: Rig, motion: Motion) -> LinkMotions:
    """Motion of every link of a rig in every frame of a trajectory.

    Raises:
        InvalidValue: the motion has another number of coordinates than the rig.
    """
    require_matching_motion(rig, motion)
    return _evaluate_piece(rig, *_workspace(rig), motion)


def motion_pieces(rig: Rig, motion: Motion, chunk: int) -> Iterator[tuple[int, LinkMotions]]:
    """First frame and motion of the links for ``chunk`` frames at a time; the last piece may be shorter."""
    require_matching_motion(rig, motion)
    data, views = _workspace(rig)
    for start in range(0, len(motion), chunk):
        yield start, _evaluate_piece(rig, data, views, motion.part(start, start + chunk))


def _evaluate_piece(rig: Rig, data: pin.Data, views: _KinematicsViews, motion: Motion) -> LinkMotions:
    q, v, a = motion.q, motion.v, motion.a
    frames, links = len(q), len(rig.links)
    poses = np.empty((frames, links, POSE_SIZE))
    twists = np.empty((frames, links, TWIST_SIZE))
    rates = np.empty((frames, links, TWIST_SIZE))
    forward, model = pin.forwardKinematics, rig.model
    for frame in range(frames):
        forward(model, data, q[frame], v[frame], a[frame])
        if not views.live:
            views.refresh()
        poses[frame] = views.poses
        twists[frame] = views.twists
        rates[frame] = views.rates
    pose, twist, rate = (np.ascontiguousarray(x.transpose(2, 1, 0)) for x in (poses, twists, rates))
    columns = pose[:9].reshape(3, 3, links, frames)  # (column, row, ...): Pinocchio stores columns one after the other
    velocity, omega = twist[:3], twist[3:]
    acceleration = rate[:3]
    acceleration += cross(omega, velocity)  # spatial to classical acceleration of the origin
    rotation, position = columns.swapaxes(0, 1), pose[9:]
    return LinkMotions(rotation, position, velocity, omega, acceleration, rate[3:])


def _workspace(rig: Rig) -> tuple[pin.Data, _KinematicsViews]:
    data = data_of(rig.model)
    return data, link_views(data, rig.model.njoints)


def require_matching_motion(rig: Rig, motion: Motion) -> None:
    """Raise `InvalidValue` if a motion does not belong to a rig."""
    got, want = (motion.q.shape[1], motion.v.shape[1]), (rig.model.nq, rig.model.nv)
    if got != want:
        raise InvalidValue(f"the motion has (nq, nv) = {got} coordinates, rig {rig.name!r} has {want}")


class _KinematicsViews(Protocol):
    poses: np.ndarray  # (L, 12)
    twists: np.ndarray  # (L, 6)
    rates: np.ndarray  # (L, 6)
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


def link_views(data: pin.Data, joints: int) -> _KinematicsViews:
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


def product(left: np.ndarray, right: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Matrix products (3, n, ...) of left (3, 3, ...) and right (3, n, ...), entry by entry over the trailing axes."""
    if out is None:
        out = np.empty((3, *np.broadcast_shapes(left.shape[2:], right.shape[1:])))
    term = np.empty_like(out[0])
    for row in range(3):
        np.multiply(left[row, 0], right[0], out=out[row])
        out[row] += np.multiply(left[row, 1], right[1], out=term)
        out[row] += np.multiply(left[row, 2], right[2], out=term)
    return out
