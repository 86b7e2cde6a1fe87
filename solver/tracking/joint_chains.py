"""The chains of joints between two orientations, and their angles when each chain is fitted by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.so3 import skew, vee
from ..dynamics.coordinates import joint_slices
from ..skeleton.rig import ROOT_NV, Rig

SWEEPS = 2
"""Iterations over the joints of a chain; the result is a start for steps of the whole body."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The joints between a link with an orientation and the nearest one above it.

    Attributes:
        upper, lower: indices of the two orientations.
        links: links that the joints move, from above; the last is the lower one.
    """

    upper: int
    lower: int
    links: tuple[int, ...]


def find_chains(rig: Rig, links: np.ndarray) -> list[Chain]:
    """Chains of all links with an orientation that are below another one; ``links`` (O,) are those with one."""
    owner = {int(link): place for place, link in enumerate(links)}
    found = []
    for link, lower in owner.items():
        between = []
        above = link
        while above > 0 and (above == link or above not in owner):
            between.append(above)
            above = rig.joints[above].parent
        if between and above in owner:
            found.append(Chain(owner[above], lower, tuple(reversed(between))))
    return found


class ChainFit:
    """Chains of hinges fitted to their relative orientations, each by itself and all at once."""

    def __init__(self, rig: Rig, links: np.ndarray) -> None:
        joints, slices = rig.joints, joint_slices(rig)
        found = [c for c in find_chains(rig, links) if all(joints[k].hinge and joints[k].nq == 1 for k in c.links)]
        self._upper = np.array([chain.upper for chain in found], int)
        self._lower = np.array([chain.lower for chain in found], int)
        shape = (len(found), max((len(chain.links) for chain in found), default=0))
        self._rest, self._axes = np.tile(np.eye(3), (*shape, 1, 1)), np.zeros((*shape, 3))
        self._low, self._high = np.zeros(shape), np.zeros(shape)
        self.q_indices, self.v_indices = np.full((2, *shape), -1)
        """(C, K) Index of each joint of the chains in q and in v; -1 beyond the last."""
        for row, chain in enumerate(found):
            for column, link in enumerate(chain.links):
                _, into, free = slices[link]
                self._rest[row, column], self._axes[row, column] = joints[link].rotation, joints[link].axes[0]
                self._low[row, column] = rig.limits.lower[free.start - ROOT_NV]
                self._high[row, column] = rig.limits.upper[free.start - ROOT_NV]
                self.q_indices[row, column], self.v_indices[row, column] = into.start, free.start
        bounded = np.isfinite(self._low) & np.isfinite(self._high)
        self._middle = np.zeros(shape)
        self._middle[bounded] = 0.5 * (self._low[bounded] + self._high[bounded])
        spins = skew(self._axes.reshape(-1, 3)).reshape(*shape, 3, 3)
        self._sines, self._cosines = self._rest @ spins, self._rest @ spins @ spins

    def __len__(self) -> int:
        return len(self._upper)

    def fit_pose(self, q: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """A copy of a configuration (nq,) with its chains fitted to measured orientations (O, 3, 3) within their
        limits.
        """
        result = np.array(q)
        angles, seen = self.fit_angles(rotations)
        chosen = seen[:, None] & (self.q_indices >= 0)
        result[self.q_indices[chosen]] = angles[chosen]
        return result

    def fit_angles(self, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Angles (..., C, K) [rad] of the chains' joints for measured orientations (..., O, 3, 3), and which chains
        (..., C) were measured.

        The joints are optimised one after the other: the residual of a relative orientation is a sine of each angle
        alone.
        """
        desired = rotations[..., self._upper, :, :].swapaxes(-1, -2) @ rotations[..., self._lower, :, :]
        seen = np.isfinite(desired).all(axis=(-2, -1))
        desired = np.where(seen[..., None, None], desired, np.eye(3)).swapaxes(-1, -2)
        count = self.q_indices.shape[1]
        angles = np.tile(np.clip(0.0, self._low, self._high), (*seen.shape[:-1], 1, 1))
        rotations_of_joints = [self._joint_rotations(column, angles[..., column]) for column in range(count)]
        for _ in range(SWEEPS):
            after = [np.eye(3)]
            for rotation in reversed(rotations_of_joints[1:]):
                after.append(rotation @ after[-1])
            before = np.eye(3)
            for column in range(count):
                residual = after[count - 1 - column] @ desired @ before @ self._rest[:, column]
                angles[..., column] = self._best_angles(column, residual)
                rotations_of_joints[column] = self._joint_rotations(column, angles[..., column])
                before = before @ rotations_of_joints[column]
        return angles, seen

    def _joint_rotations(self, column: int, angles: np.ndarray) -> np.ndarray:
        """Rodrigues' formula (..., C, 3, 3) for one joint of all chains, at angles (..., C)."""
        half = np.sin(0.5 * angles)[..., None, None]
        return np.asarray(
            self._rest[:, column]
            + np.sin(angles)[..., None, None] * self._sines[:, column]
            + 2.0 * half * half * self._cosines[:, column]
        )

    def _best_angles(self, column: int, residual: np.ndarray) -> np.ndarray:
        """Angles (..., C) within limits that maximise the traces of ``residual`` (..., C, 3, 3) times the joint
        rotations.
        """
        axes, middle = self._axes[:, column], self._middle[:, column]
        along = (axes * (residual @ axes[:, :, None])[..., 0]).sum(axis=-1)
        cosine = np.trace(residual, axis1=-2, axis2=-1) - along
        sine = -2.0 * (axes * vee(residual)).sum(axis=-1)
        best = np.arctan2(sine, cosine) - middle
        best = middle + best - 2.0 * np.pi * np.round(best / (2.0 * np.pi))
        return np.clip(best, self._low[:, column], self._high[:, column])
