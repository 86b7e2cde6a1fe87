"""The chain of joints from the root link to a foot: where it brings the foot, and how that changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidValue
from ..rig import Rig
from ..so3 import Exponential, cross
from .batch_rotations import IDENTITY, compose, rotate_about_axis, rotate_vector
from .kinematics import product

LEG_JOINTS = ("revolute", "continuous", "universal", "spherical", "prismatic")


@dataclass(frozen=True, slots=True)
class _Hinge:
    rotation: np.ndarray  # (3, 3) placement in the parent
    offset: np.ndarray  # (3,)
    axes: np.ndarray  # (k, 3): one per turn or slide, or empty for a spherical joint
    columns: np.ndarray  # places in the chain's coordinates
    slides: bool  # along its axis, instead of turning about it


@dataclass(frozen=True, slots=True)
class ChainPose:
    """A chain in N frames, frames last, root axes.

    Attributes:
        rotation, position: (3, 3, N), (3, N) of the foot.
        origins, axes: (n, 3, N) of each coordinate's turn, or slide.
        joint_rotations: (3, 3, N) after each joint.
        exponentials: of each spherical joint's rotation vectors; None where a joint turns about fixed axes.
        slides: (n,) True for coordinates along which the leg grows.
    """

    rotation: np.ndarray
    position: np.ndarray
    origins: np.ndarray
    axes: np.ndarray
    joint_rotations: list[np.ndarray]
    exponentials: list[Exponential | None]
    slides: np.ndarray

    def jacobian(self) -> np.ndarray:
        """(N, 6, n) of the foot."""
        axes = self.axes.swapaxes(0, 1)
        linear = cross(axes, self.position[:, None] - self.origins.swapaxes(0, 1))
        if not self.slides.any():
            return np.concatenate([linear, axes]).transpose(2, 0, 1)
        slides = self.slides[None, :, None]
        return np.concatenate([np.where(slides, axes, linear), np.where(slides, 0.0, axes)]).transpose(2, 0, 1)


class LegChain:
    """Joints one after the other, the first one's parent being the root link.

    Args:
        rig: whose.
        links: those that the joints carry.

    Attributes:
        count: n joint coordinates.
    """

    def __init__(self, rig: Rig, links: list[int]) -> None:
        self._hinges = _build_hinges(rig, links)
        self.count = sum(len(hinge.columns) for hinge in self._hinges)
        self._slides = np.concatenate([np.full(len(hinge.columns), hinge.slides) for hinge in self._hinges])

    @property
    def length(self) -> float:
        """[m] from joint to joint."""
        return float(sum(np.linalg.norm(hinge.offset) for hinge in self._hinges[1:]))

    def place(self, x: np.ndarray) -> ChainPose:
        """The chain at coordinates x (N, n), root axes."""
        count = len(x)
        turn, place = IDENTITY[:, :, None], np.zeros((3, 1))
        origins, axes = np.empty((2, self.count, 3, count))
        turns: list[np.ndarray] = []
        exponentials: list[Exponential | None] = []
        for hinge in self._hinges:
            place = place + rotate_vector(turn, hinge.offset)
            turn = compose(turn, hinge.rotation)
            origins[hinge.columns] = place
            if hinge.slides:
                axes[hinge.columns] = rotate_vector(turn, hinge.axes[0])
                place = place + axes[hinge.columns[0]] * x[:, hinge.columns[0]]
                exponentials.append(None)
            elif len(hinge.axes):
                for axis, column in zip(hinge.axes, hinge.columns):
                    axes[column] = rotate_vector(turn, axis)
                    turn = rotate_about_axis(turn, axis, x[:, column])
                exponentials.append(None)
            else:
                exponential = Exponential(x[:, hinge.columns])
                turn = product(turn, exponential.matrix.transpose(1, 2, 0))
                axes[hinge.columns] = product(turn, exponential.right_jacobian.transpose(1, 2, 0)).swapaxes(0, 1)
                exponentials.append(exponential)
            turns.append(turn)
        return ChainPose(turn, place, origins, axes, turns, exponentials, self._slides)

    def bias_acceleration(self, pose: ChainPose, dx: np.ndarray) -> np.ndarray:
        """(N, 6) the foot's acceleration at zero ddx."""
        count = len(dx)
        spin, spin_rate, speed_rate = np.zeros((3, 3, count))
        before = np.zeros((3, count))
        for hinge, turn, exponential in zip(self._hinges, pose.joint_rotations, pose.exponentials):
            lever = pose.origins[hinge.columns[0]] - before
            before = pose.origins[hinge.columns[0]]
            speed_rate = speed_rate + cross(spin_rate, lever) + cross(spin, cross(spin, lever))
            if hinge.slides:  # its own way is part of the next lever; its speed, seen from a turning link, is not
                speed_rate = speed_rate + 2.0 * cross(spin, pose.axes[hinge.columns[0]] * dx[:, hinge.columns[0]])
                continue
            if exponential is None:
                for column in hinge.columns:
                    own = pose.axes[column] * dx[:, column]
                    spin_rate = spin_rate + cross(spin, own)
                    spin = spin + own
                continue
            omega, alpha = exponential.rates(dx[:, hinge.columns])
            own = product(turn, omega.T[:, None])[:, 0]
            spin_rate = spin_rate + product(turn, alpha.T[:, None])[:, 0] + cross(spin, own)
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
