"""The baselines of rapetti2020 section 5.1: instantaneous optimisation of the whole body, or pair by pair.

`WholeBodyTracker` minimises the pose error of each frame, from the pose before it, without using its velocity.
`PairwiseTracker` splits the body into chains of joints between two measured orientations. The relative orientation of
each chain is fitted by itself, within its joints' limits, so no chain can make up for what another cannot reach.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solver.base.errors import InvalidValue
from solver.base.so3 import skew, to_quaternion, vee
from solver.dynamics.coordinates import joint_slices
from solver.skeleton.rig import ROOT_NV, Rig
from solver.tracking import Tracker, TrackingOptions
from solver.tracking.joint_chains import find_chains
from solver.tracking.tasks import TargetSample, Tasks

DYNAMICAL, WHOLE_BODY, PAIRWISE = METHODS = ("dynamical", "whole_body", "pairwise")
"""The method of rapetti2020, and its two baselines."""
STEP_PRICE = 1e-6
"""Price of a step over that of a radian of error: joints of a chain that do the same share the work."""
MAX_STEP = 0.6
"""[rad] Largest change of a joint in one step."""
LEAST_CURVATURE = 0.2
"""Of the cost of a remaining rotation about its axis, where it is negative beyond a right angle."""
UNLIMITED_SPEED = 1e4
"""[rad/s] A speed limit that never binds: successive poses of a baseline need not be near each other."""


def make_tracker(method: str, rig: Rig, tasks: Tasks, options: TrackingOptions) -> Tracker:
    """A tracker by one of `METHODS`.

    Raises:
        InvalidValue: an unknown method, a baseline without iterations, or tasks that pairs cannot follow.
    """
    if method not in METHODS:
        raise InvalidValue(f"method {method!r} is none of {', '.join(METHODS)}")
    if method == DYNAMICAL:
        return Tracker(rig, tasks, options)
    if not options.iterations:
        raise InvalidValue(f"method {method!r} optimises every frame and needs iterations")
    kind = WholeBodyTracker if method == WHOLE_BODY else PairwiseTracker
    return kind(_without_speed_limits(rig), tasks, options)


def _without_speed_limits(rig: Rig) -> Rig:
    limits = replace(rig.limits, speed=np.full(rig.nv - ROOT_NV, UNLIMITED_SPEED))
    return replace(rig, limits=limits)


class WholeBodyTracker(Tracker):
    """Instantaneous optimisation of the whole body."""

    def _advance(
        self, q: np.ndarray, previous: TargetSample, sample: TargetSample, dt: float
    ) -> tuple[np.ndarray, bool]:
        return self.solver.refine(q, sample, dt)


class PairwiseTracker(Tracker):
    """Instantaneous optimisation of each chain by itself."""

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions | None = None) -> None:
        super().__init__(rig, tasks, options)
        self._pairs = Pairs(rig, tasks, self.options)

    def _settle(self, q: np.ndarray, sample: TargetSample, step: float) -> tuple[np.ndarray, bool]:
        return self._pairs.fit_pose(q, sample)

    def _advance(
        self, q: np.ndarray, previous: TargetSample, sample: TargetSample, dt: float
    ) -> tuple[np.ndarray, bool]:
        return self._pairs.fit_pose(q, sample)

    def _try_restart(
        self, sample: TargetSample, dt: float, error: float, orientation_error: float
    ) -> tuple[np.ndarray, bool, float, float] | None:
        return None


class Pairs:
    """The chains of a rig, and the pose that all of them together give for a sample.

    The chains are independent problems and are solved side by side, as the paper solves them in parallel: by
    Newton steps in which a joint at its limit that would leave it is fixed.
    """

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions) -> None:
        """Split the rig into chains.

        Raises:
            InvalidValue: no orientation of the root, a point elsewhere than on the root, or a joint that is no hinge.
        """
        orientations = tasks.orientations
        if orientations is None or 0 not in orientations.links:
            raise InvalidValue("pair-wise tracking needs orientations, the root's among them; markers have none")
        if tasks.positions is not None and tasks.positions.links.any():
            raise InvalidValue("pair-wise tracking takes points of the root alone; use 'dynamical' or 'whole_body'")
        self.rig, self.options, self._points = rig, options, tasks.positions
        self._root = int(np.flatnonzero(orientations.links == 0)[0])
        slices = joint_slices(rig)
        chains = find_chains(rig, orientations.links)
        self._upper, self._lower = (np.array([getattr(c, end) for c in chains], int) for end in ("upper", "lower"))
        shape = (len(chains), max((len(chain.links) for chain in chains), default=0))
        self._used, self._indices = np.zeros(shape, bool), np.zeros(shape, int)
        """(C, K) Which joints of a chain there are, and their index in q."""
        self._low, self._high = np.zeros((2, *shape))
        self._rest, self._axes = np.tile(np.eye(3), (*shape, 1, 1)), np.zeros((*shape, 3))
        for row, chain in enumerate(chains):
            for column, link in enumerate(chain.links):
                joint, into, free = slices[link]
                if not joint.hinge or joint.nq != 1:
                    raise InvalidValue(f"pair-wise tracking takes hinges; {joint.name!r} is none")
                place = row, column
                self._used[place], self._indices[place] = True, into.start
                self._low[place] = rig.limits.lower[free.start - ROOT_NV]
                self._high[place] = rig.limits.upper[free.start - ROOT_NV]
                self._rest[place], self._axes[place] = joint.rotation, joint.axes[0]
        spins = skew(self._axes.reshape(-1, 3)).reshape(*shape, 3, 3)
        self._sines, self._cosines = self._rest @ spins, self._rest @ spins @ spins
        self._price = STEP_PRICE * np.eye(shape[1])

    def fit_pose(self, q: np.ndarray, sample: TargetSample) -> tuple[np.ndarray, bool]:
        """Configuration (nq,) for a sample, from a configuration (nq,), and whether every chain converged."""
        assert sample.rotations is not None
        result = np.array(q)
        rotations = sample.rotations
        if np.isfinite(rotations[self._root]).all():
            result[3:7] = to_quaternion(rotations[self._root])
            if self._points is not None and sample.positions is not None and np.isfinite(sample.positions[0]).all():
                result[:3] = sample.positions[0] - rotations[self._root] @ self._points.offsets[0]
        desired = rotations[self._upper].swapaxes(1, 2) @ rotations[self._lower]
        seen = np.flatnonzero(np.isfinite(desired).all(axis=(1, 2)))
        angles, converged = self._fit_chains(seen, np.where(self._used, result[self._indices], 0.0), desired)
        chosen = self._used[seen]
        result[self._indices[seen][chosen]] = angles[seen][chosen]
        return result, converged

    def _fit_chains(self, open_ones: np.ndarray, angles: np.ndarray, desired: np.ndarray) -> tuple[np.ndarray, bool]:
        """Angles (C, K) with which the chains ``open_ones`` (n,) rotate by ``desired`` (C, 3, 3), and whether all
        converged.
        """
        for _ in range(self.options.iterations):
            here, low, high = angles[open_ones], self._low[open_ones], self._high[open_ones]
            rotation, axes = self._forward(open_ones, here)
            missing = desired[open_ones] @ rotation.swapaxes(1, 2)
            error = vee(missing)
            curvature = _curvature(missing, error)
            matrix = axes @ curvature @ axes.swapaxes(1, 2) + self._price
            gradient = (axes @ error[:, :, None])[:, :, 0]
            fixed = ((here <= low) & (gradient <= 0.0)) | ((here >= high) & (gradient >= 0.0))
            step = np.linalg.solve(
                np.where(fixed[:, :, None] | fixed[:, None, :], self._price, matrix),
                np.where(fixed, 0.0, gradient)[:, :, None],
            )[:, :, 0]
            after = np.clip(here + np.clip(step, -MAX_STEP, MAX_STEP), low, high)
            angles[open_ones] = after
            open_ones = open_ones[np.abs(after - here).max(axis=1) >= self.options.tolerance]
            if not len(open_ones):
                return angles, True
        return angles, False

    def _forward(self, chosen: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (n, 3, 3) of chains from end to end and the axes (n, K, 3) of their joints at angles (n, K)."""
        sine, cosine = np.sin(angles)[:, :, None, None], np.cos(angles)[:, :, None, None]
        rotations = self._rest[chosen] + sine * self._sines[chosen] + (1.0 - cosine) * self._cosines[chosen]
        for k in range(1, angles.shape[1]):
            rotations[:, k] = rotations[:, k - 1] @ rotations[:, k]
        return rotations[:, -1], (rotations @ self._axes[chosen, :, :, None])[:, :, :, 0]


def _curvature(missing: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Second derivative (n, 3, 3) of (3 - trace) / 2 of remaining rotations (n, 3, 3), kept positive.

    About the axis of the rotation it is the cosine of its angle, across it half of one plus that.
    """
    cosine = 0.5 * (np.trace(missing, axis1=1, axis2=2) - 1.0)[:, None, None]
    axis = error / np.maximum(np.sqrt((error**2).sum(axis=1, keepdims=True)), np.finfo(float).tiny)
    along = axis[:, :, None] * axis[:, None, :]
    return np.asarray(np.maximum(cosine, LEAST_CURVATURE) * along + 0.5 * (1.0 + cosine) * (np.eye(3) - along))
