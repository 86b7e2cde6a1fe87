"""The baselines of rapetti2020 section 5.1: instantaneous optimisation of the whole body, or pair by pair.

`WholeBodyTracker` minimises the pose error of each frame, from the pose before it, without using its velocity.
`PairwiseTracker` splits the body into chains of joints between two measured orientations. The relative orientation of
each chain is fitted by itself, within its joints' limits, so no chain can make up for what another cannot reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solver.coordinates import joint_slices
from solver.errors import InvalidValue
from solver.qp.principal_pivoting import Box, solve_box
from solver.rig import ROOT_NV, Rig
from solver.so3 import exp, to_quaternion, vee
from solver.tracking import Tracker, TrackingOptions
from solver.tracking.joint_chains import find_chains
from solver.tracking.tasks import TargetSample, Tasks

DYNAMICAL, WHOLE_BODY, PAIRWISE = METHODS = ("dynamical", "whole_body", "pairwise")
"""The method of rapetti2020, and its two baselines."""
STEP_PRICE = 1e-6
"""Price of a step over that of a radian of error: joints of a chain that do the same share the work."""
MAX_STEP = 0.6
"""[rad] Largest change of a joint in one step."""
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


@dataclass(frozen=True, slots=True)
class Pair:
    """A chain of joints between two orientations.

    Attributes:
        upper, lower: indices of the two among the tasks' orientations.
        joints: (J,) links that its hinges move, from the upper one on.
        q_indices: (J,) of their angles in q.
        low, high: (J,) [rad] their ranges.
    """

    upper: int
    lower: int
    joints: np.ndarray
    q_indices: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Pairs:
    """The chains of a rig, and the pose that all of them together give for a sample."""

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
        q_slices = [q for _, q, _ in joint_slices(rig)]
        v_slices = [v for _, _, v in joint_slices(rig)]
        self.pairs: list[Pair] = []
        for chain in find_chains(rig, orientations.links):
            for link in chain.links:
                if not rig.joints[link].hinge or rig.joints[link].nq != 1:
                    raise InvalidValue(f"pair-wise tracking takes hinges; {rig.joints[link].name!r} is none")
            columns = np.array([v_slices[k].start - ROOT_NV for k in chain.links])
            indices = np.array([q_slices[k].start for k in chain.links])
            low, high = rig.limits.lower[columns], rig.limits.upper[columns]
            self.pairs.append(Pair(chain.upper, chain.lower, np.array(chain.links), indices, low, high))

    def fit_pose(self, q: np.ndarray, sample: TargetSample) -> tuple[np.ndarray, bool]:
        """Configuration (nq,) for a sample, from a configuration (nq,), and whether every chain converged."""
        assert sample.rotations is not None
        result, converged = np.array(q), True
        rotations = sample.rotations
        if np.isfinite(rotations[self._root]).all():
            result[3:7] = to_quaternion(rotations[self._root])
            if self._points is not None and sample.positions is not None and np.isfinite(sample.positions[0]).all():
                result[:3] = sample.positions[0] - rotations[self._root] @ self._points.offsets[0]
        for pair in self.pairs:
            desired = rotations[pair.upper].T @ rotations[pair.lower]
            if np.isfinite(desired).all():
                result[pair.q_indices], settled = self._fit_pair(pair, result[pair.q_indices], desired)
                converged &= settled
        return result, converged

    def _fit_pair(self, pair: Pair, angles: np.ndarray, desired: np.ndarray) -> tuple[np.ndarray, bool]:
        """Angles (J,) whose chain rotates by ``desired`` (3, 3), and whether the steps converged."""
        joints = [self.rig.joints[k] for k in pair.joints]
        no_rows = np.zeros((0, len(angles)))
        for _ in range(self.options.iterations):
            rotation, axes = np.eye(3), np.empty((3, len(angles)))
            for k, (joint, angle) in enumerate(zip(joints, angles)):
                rotation = rotation @ joint.rotation
                axes[:, k] = rotation @ joint.axes[0]
                rotation = rotation @ exp(angle * joint.axes[0])
            error = vee(desired @ rotation.T)
            matrix = axes.T @ axes + STEP_PRICE * np.eye(len(angles))
            low, high = np.maximum(pair.low - angles, -MAX_STEP), np.minimum(pair.high - angles, MAX_STEP)
            box = Box(np.minimum(low, high), np.maximum(low, high), no_rows, np.zeros(0))
            step = solve_box(matrix, axes.T @ error, box).x
            angles = angles + step
            if np.abs(step).max() < self.options.tolerance:
                return angles, True
        return angles, False
