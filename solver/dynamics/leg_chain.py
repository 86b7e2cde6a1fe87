"""The chain of joints from the root link to a foot: forward kinematics with derivatives, and its knee."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import Exponential, cross, matrix_product, skew, turn_vectors
from ..skeleton.rig import Rig

IDENTITY = np.eye(3)
"""By definition."""
KNEE_BEND = 0.2
"""[rad, m] Bend of the knee at which a leg's mobility is measured; the first guess of Newton's method."""
TRIAL_BEND = 0.5
"""[rad, m] Trial bend that shows which direction brings the foot nearer to the hip."""
EQUAL_SHORTENING = 0.05
"""Relative difference by which one direction must shorten the leg more than the other."""
STRAIGHT_RANGE, STRAIGHT_TRIALS = 0.5, 26
"""[rad, m] Range from rest in which the longest leg is searched, and number of trials."""
LEG_JOINTS = ("revolute", "continuous", "universal", "spherical", "prismatic")


@dataclass(frozen=True, slots=True)
class _Hinge:
    rotation: np.ndarray  # (3, 3) placement in the parent
    offset: np.ndarray  # (3,)
    axes: np.ndarray  # (k, 3): one per coordinate; empty for a spherical joint
    columns: np.ndarray  # indices in the chain's coordinates
    slides: bool  # prismatic


@dataclass(frozen=True, slots=True)
class ChainPose:
    """Poses of a chain in N frames, frames last, root axes.

    Attributes:
        rotation, position: (3, 3, N), (3, N) of the foot.
        origins, axes: (n, 3, N) of the coordinates.
        joint_rotations: (3, 3, N) after each joint.
        exponentials: of the rotation vectors of spherical joints; None for other joints.
        slides: (n,) True for prismatic coordinates.
    """

    rotation: np.ndarray
    position: np.ndarray
    origins: np.ndarray
    axes: np.ndarray
    joint_rotations: list[np.ndarray]
    exponentials: list[Exponential | None]
    slides: np.ndarray

    def jacobian(self) -> np.ndarray:
        """Jacobian (N, 6, n) of the foot."""
        axes = self.axes.swapaxes(0, 1)
        linear = cross(axes, self.position[:, None] - self.origins.swapaxes(0, 1))
        if not self.slides.any():
            return np.concatenate([linear, axes]).transpose(2, 0, 1)
        slides = self.slides[None, :, None]
        return np.concatenate([np.where(slides, axes, linear), np.where(slides, 0.0, axes)]).transpose(2, 0, 1)


class LegChain:
    """A serial chain of joints that begins at the root link.

    Args:
        rig: with the joints.
        links: that the joints move.

    Attributes:
        count: n joint coordinates.
    """

    def __init__(self, rig: Rig, links: list[int]) -> None:
        self._hinges = _build_hinges(rig, links)
        self.count = sum(len(hinge.columns) for hinge in self._hinges)
        self._slides = np.concatenate([np.full(len(hinge.columns), hinge.slides) for hinge in self._hinges])

    @property
    def length(self) -> float:
        """Length [m] from joint to joint."""
        return float(sum(np.linalg.norm(hinge.offset) for hinge in self._hinges[1:]))

    def place(self, x: np.ndarray) -> ChainPose:
        """Poses at coordinates x (N, n), root axes."""
        count = len(x)
        rotation, position = IDENTITY[:, :, None], np.zeros((3, 1))
        origins, axes = np.empty((2, self.count, 3, count))
        rotations: list[np.ndarray] = []
        exponentials: list[Exponential | None] = []
        for hinge in self._hinges:
            position = position + rotate_vector(rotation, hinge.offset)
            rotation = compose(rotation, hinge.rotation)
            origins[hinge.columns] = position
            if hinge.slides:
                axes[hinge.columns] = rotate_vector(rotation, hinge.axes[0])
                position = position + axes[hinge.columns[0]] * x[:, hinge.columns[0]]
                exponentials.append(None)
            elif len(hinge.axes):
                for axis, column in zip(hinge.axes, hinge.columns):
                    axes[column] = rotate_vector(rotation, axis)
                    rotation = rotate_about_axis(rotation, axis, x[:, column])
                exponentials.append(None)
            else:
                exponential = Exponential(x[:, hinge.columns])
                rotation = matrix_product(rotation, exponential.matrix.transpose(1, 2, 0))
                axes[hinge.columns] = matrix_product(rotation, exponential.right_jacobian.transpose(1, 2, 0)).swapaxes(
                    0, 1
                )
                exponentials.append(exponential)
            rotations.append(rotation)
        return ChainPose(rotation, position, origins, axes, rotations, exponentials, self._slides)

    def bias_acceleration(self, pose: ChainPose, dx: np.ndarray) -> np.ndarray:
        """(N, 6) acceleration of the foot at zero ddx."""
        count = len(dx)
        spin, spin_rate, speed_rate = np.zeros((3, 3, count))
        before = np.zeros((3, count))
        for hinge, rotation, exponential in zip(self._hinges, pose.joint_rotations, pose.exponentials):
            lever = pose.origins[hinge.columns[0]] - before
            before = pose.origins[hinge.columns[0]]
            speed_rate = speed_rate + cross(spin_rate, lever) + cross(spin, cross(spin, lever))
            if hinge.slides:  # the next lever includes its displacement, but not the Coriolis term of its speed
                speed_rate = speed_rate + 2.0 * cross(spin, pose.axes[hinge.columns[0]] * dx[:, hinge.columns[0]])
                continue
            if exponential is None:
                for column in hinge.columns:
                    own = pose.axes[column] * dx[:, column]
                    spin_rate = spin_rate + cross(spin, own)
                    spin = spin + own
                continue
            omega, alpha = exponential.rates(dx[:, hinge.columns])
            own = turn_vectors(rotation, omega.T)
            spin_rate = spin_rate + turn_vectors(rotation, alpha.T) + cross(spin, own)
            spin = spin + own
        lever = pose.position - before
        speed_rate = speed_rate + cross(spin_rate, lever) + cross(spin, cross(spin, lever))
        return np.concatenate([speed_rate, spin_rate]).T


def _build_hinges(rig: Rig, links: list[int]) -> list[_Hinge]:
    result, first = [], 0
    for link in links:
        joint = rig.joints[link]
        if joint.kind not in LEG_JOINTS:
            known = ", ".join(LEG_JOINTS)
            raise InvalidValue(f"joint {joint.name!r} of a leg is {joint.kind}: legs are made of {known} joints")
        columns = np.arange(first, first + joint.nv)
        first += joint.nv
        rotation = IDENTITY if np.array_equal(joint.rotation, IDENTITY) else joint.rotation
        result.append(_Hinge(rotation, joint.position, joint.axes, columns, joint.kind == "prismatic"))
    return result


def rotate_vector(rotations: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Rotations (3, 3, N) applied to one vector (3,): (3, N)."""
    some = vector.nonzero()[0]
    if len(some) == 1:
        return np.asarray(rotations[:, some[0]] * vector[some[0]])
    return rotations[:, 0] * vector[0] + rotations[:, 1] * vector[1] + rotations[:, 2] * vector[2]


def compose(rotations: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Rotations (3, 3, N) times one constant rotation (3, 3)."""
    if rotation is IDENTITY or (rotation == IDENTITY).all():
        return rotations
    # axes i after both, axes j between them, axes k before, frames n
    return np.einsum("ijn,jk->ikn", rotations, rotation)


def rotate_about_axis(rotations: np.ndarray, axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Rotations (3, 3, N), or one (3, 3, 1), times rotations about a local axis (3,) by angles (N,)."""
    sine, cosine = np.sin(angles), np.cos(angles)
    along = axis.nonzero()[0]
    if len(along) == 1:  # rotation about a coordinate axis: it mixes two columns
        sine = sine * axis[along[0]]
        first, second = (along[0] + 1) % 3, (along[0] + 2) % 3
        result = np.empty((3, 3, len(angles)))
        result[:, along[0]] = rotations[:, along[0]]
        result[:, first] = cosine * rotations[:, first] + sine * rotations[:, second]
        result[:, second] = cosine * rotations[:, second] - sine * rotations[:, first]
        return result
    around = skew(axis)
    return rotations + sine * compose(rotations, around) + (1.0 - cosine) * compose(rotations, around @ around)


def bent_posture(chain: LegChain, lower: np.ndarray, upper: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """Coordinates (n,) with the knee slightly bent.

    It bends in the direction that brings the foot nearer to the hip; if both do, in that with the wider range; if the
    range is symmetric, so that the foot moves backwards. Some legs are bent the other way at zero, as far as their
    range allows: they bend from the straight posture.

    Args:
        chain: of n joint coordinates.
        lower, upper: (n,) their limits.
        forward: (3,) direction in which the rig faces, root axes.
    """
    rest = np.clip(0.0, lower, upper)
    knee = _find_knee(chain, rest)
    trials = np.tile(rest, (3, 1))
    trials[1:, knee] = np.clip(rest[knee] + np.array([-TRIAL_BEND, TRIAL_BEND]), lower[knee], upper[knee])
    origins = chain.place(trials).origins
    ways = (origins[-1] - origins[0]).T
    nearer = np.linalg.norm(ways[0]) - np.linalg.norm(ways[1:], axis=1)
    room = np.abs(np.array([lower[knee], upper[knee]]) - rest[knee])
    if room.min() < KNEE_BEND <= room.max():
        way = int(np.argmax(room))
    elif np.abs(np.subtract(*nearer)) > EQUAL_SHORTENING * np.abs(nearer).max():
        way = int(np.argmax(nearer))
    elif room[0] != room[1]:
        way = int(np.argmax(room))
    else:
        way = int(np.argmin((ways[1:] - ways[0]) @ forward))
    rest[knee] = np.clip(
        _straightest_angle(chain, rest, knee, (-1.0, 1.0)[way]) + (-KNEE_BEND, KNEE_BEND)[way], lower[knee], upper[knee]
    )
    return rest


def _straightest_angle(chain: LegChain, rest: np.ndarray, knee: int, way: float) -> float:
    """[rad, m] Coordinate of the knee at which the leg is longest, from rest in one direction."""
    trials = np.tile(rest, (STRAIGHT_TRIALS, 1))
    trials[:, knee] += way * np.linspace(0.0, STRAIGHT_RANGE, STRAIGHT_TRIALS)
    placed = chain.place(trials)
    if placed.slides[knee]:
        return float(rest[knee])
    lengths = np.linalg.norm(placed.origins[-1] - placed.origins[0], axis=0)
    return float(trials[int(np.argmax(lengths)), knee])


def _find_knee(chain: LegChain, rest: np.ndarray) -> int:
    """Index of the joint whose axis is farthest from both ends of the leg, or of a prismatic one along the leg."""
    placed = chain.place(rest[None])
    origins, axes = placed.origins[:, :, 0], placed.axes[:, :, 0]
    levers = [np.linalg.norm(np.cross(end - origins, axes), axis=1) for end in (origins[0], origins[-1])]
    whole = origins[-1] - origins[0]
    along = 0.5 * np.abs(axes @ whole)  # a prismatic joint shortens the leg by its component along the leg
    return int(np.argmax(np.where(placed.slides, along, np.minimum(*levers))))
