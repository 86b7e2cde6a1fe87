"""Least squares over joint centres, marker places and the poses of all frames at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from ..dynamics import integrate
from ..rig import ROOT_NV, Rig
from ..so3 import skew
from ..tracking.kinematics import Kinematics, row_sums
from ..tracking.options import TrackingOptions
from ..tracking.posture import Posture

POSTURE = 0.25
"""[1/rad^2] Pull of the joints towards neutral in every frame: a standard deviation of 2 rad."""
RANGE = 400.0
"""[1/rad^2] Pull of a hinge back into its range in every frame: a standard deviation of 3 degrees. With the markers of
one side of an elbow alone an arm turned about its length with the elbow bent backwards fits nearly as well."""
HUBER = 3.0
"""Residuals beyond this many standard deviations pull no harder."""
CONVERGED = 1e-5
"""Relative decrease of the cost at which the fit ends."""
EXACT_FROM = 0.2
"""Relative decrease of the cost below which the exact Hessian takes over from Gauss-Newton's."""
SMALLEST_DAMPING, FIRST_DAMPING, LARGEST_DAMPING = 1e-9, 1e-4, 1e8
MAX_ITERATIONS = 40


@dataclass
class Sample:
    """One frame that takes part in a calibration.

    Attributes:
        positions: (M, 3) [m] world; NaN where not seen.
        spread: [m] standard deviation of a marker about its place on the link in this frame.
        q: (nq,) pose, improved by the fit.
        recording: name of the recording it comes from.
    """

    positions: np.ndarray
    spread: float
    q: np.ndarray
    recording: str = ""


class HingeRanges:
    """Pull of hinges that are beyond their range back to its end: half of a parabola."""

    def __init__(self, rig: Rig) -> None:
        own = [(k, joint) for k, joint in enumerate(rig.joints) if joint.kind == "revolute"]
        joints = [rig.model.joints[k + 1] for k, _ in own]
        self._angles = np.array([joint.idx_q for joint in joints], int)
        self._rates = np.array([joint.idx_v for joint in joints], int)
        self._lower = rig.limits.lower[self._rates - ROOT_NV]
        self._upper = rig.limits.upper[self._rates - ROOT_NV]

    def beyond(self, q: np.ndarray) -> np.ndarray:
        """Signed angles (H,) [rad] by which the hinges are above (> 0) or below (< 0) their ranges."""
        angles = q[self._angles]
        return np.asarray(angles - np.clip(angles, self._lower, self._upper))

    def cost(self, q: np.ndarray) -> float:
        """Sum of squares [rad^2]."""
        return float((self.beyond(q) ** 2).sum())

    def add(self, q: np.ndarray, weight: float, hessian: np.ndarray, gradient: np.ndarray) -> None:
        """Add the pull's terms to the normal equations (nv, nv) and (nv,) in place."""
        beyond = self.beyond(q)
        hessian[self._rates, self._rates] += weight * (beyond != 0.0)
        gradient[self._rates] -= weight * beyond


class SubjectFit:
    """Gauss-Newton over theta = (joint centres, marker places) with every frame's pose eliminated (Schur complement).

    Minimises sum_frames sum_markers huber(|p_measured - p(q, theta)| / spread) + beliefs(theta) + posture(q)
    + ranges(q).
    """

    def __init__(
        self, rig: Rig, links: np.ndarray, information: np.ndarray, vector: np.ndarray, constant: float
    ) -> None:
        self.rig = rig
        self.links = links
        self.information, self.vector, self.constant = information, vector, constant
        self.joints = len(rig.links) - 1
        self.kinematics = Kinematics(rig, movable=True)
        self.posture = Posture(rig, TrackingOptions().free_twist)
        self.hinges = HingeRanges(rig)
        self.parents = np.array(rig.parents)[1:]
        self._selector = np.zeros((len(rig.links), len(links)))
        self._selector[links, np.arange(len(links))] = 1.0
        self.moved = self.kinematics.below[1:][:, links]
        """(J, M): True where a joint centre moves a marker."""

    def theta(self, offsets: np.ndarray) -> np.ndarray:
        """Stacked unknowns of the model as it is and marker places (M, 3)."""
        return np.concatenate([self.joint_positions[1:].reshape(-1), offsets.reshape(-1)])

    @property
    def joint_positions(self) -> np.ndarray:
        """(L, 3) [m] joint centres of the model as it is, in the parent links' frames."""
        return self.kinematics.joint_positions

    def place(self, theta: np.ndarray) -> np.ndarray:
        """Set the model's joint centres; returns marker places (M, 3)."""
        root = self.rig.joints[0].position
        self.kinematics.move_joints(np.vstack([root, theta[: 3 * self.joints].reshape(-1, 3)]))
        return theta[3 * self.joints :].reshape(-1, 3)

    def solve(self, theta: np.ndarray, samples: list[Sample]) -> tuple[np.ndarray, float]:
        """Improved unknowns and their cost; the samples' poses are improved in place."""
        cost = self.cost(theta, samples)
        damping, exact = SMALLEST_DAMPING, False
        for _ in range(MAX_ITERATIONS):
            poses = [sample.q for sample in samples]
            while True:
                found = self._step(theta, samples, damping, exact=exact)
                trial = np.inf
                if found is not None:
                    step, turns = found
                    for sample, q, turn in zip(samples, poses, turns):
                        sample.q = integrate(self.rig, q, turn)
                    trial = self.cost(theta + step, samples)
                if trial <= cost or damping > LARGEST_DAMPING:
                    break
                exact, damping = False, damping if exact else max(10.0 * damping, FIRST_DAMPING)
                for sample, q in zip(samples, poses):
                    sample.q = q
            if not trial <= cost:
                for sample, q in zip(samples, poses):
                    sample.q = q
                break
            decrease = cost - trial
            theta, cost = theta + step, trial
            damping, exact = max(0.1 * damping, SMALLEST_DAMPING), decrease < EXACT_FROM * cost
            if decrease < CONVERGED * cost:
                break
        self.place(theta)
        return theta, cost

    def cost(self, theta: np.ndarray, samples: list[Sample]) -> float:
        """The robust cost; moves the model to ``theta``."""
        offsets = self.place(theta)
        total = float(theta @ self.information @ theta - 2.0 * self.vector @ theta) + self.constant
        for sample in samples:
            self.kinematics.update(sample.q)
            residuals = sample.positions - self.kinematics.points(self.links, offsets)
            sizes = np.linalg.norm(residuals, axis=1) / sample.spread
            sizes = sizes[np.isfinite(sizes)]
            total += float(np.where(sizes > HUBER, 2.0 * HUBER * sizes - HUBER**2, sizes**2).sum())
            total += POSTURE * self.posture.cost(sample.q) + RANGE * self.hinges.cost(sample.q)
        return total

    def _step(
        self, theta: np.ndarray, samples: list[Sample], damping: float, *, exact: bool
    ) -> tuple[np.ndarray, list[np.ndarray]] | None:
        """Steps of the unknowns and of every pose; None where the (exact) Hessian is not positive definite."""
        offsets = self.place(theta)
        reduced = self.information.copy()
        right = self.vector - self.information @ theta
        eliminated = []
        for sample in samples:
            hessian, cross, own, gradient, pull = self._frame(sample, offsets, exact=exact)
            hessian[np.diag_indices_from(hessian)] *= 1.0 + damping
            _, solved, failed = dposv(hessian, np.column_stack([cross, gradient]))
            if failed:
                return None
            reduced += own - cross.T @ solved[:, :-1]
            right += pull - cross.T @ solved[:, -1]
            eliminated.append(solved)
        reduced[np.diag_indices_from(reduced)] *= 1.0 + damping
        _, step, failed = dposv(reduced, right)
        if failed:
            return None
        return step, [solved[:, -1] - solved[:, :-1] @ step for solved in eliminated]

    def _frame(
        self, sample: Sample, offsets: np.ndarray, *, exact: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Blocks of one frame's normal equations: pose-pose, pose-theta, theta-theta and both right-hand sides."""
        kinematics, links = self.kinematics, self.links
        kinematics.update(sample.q)
        points = kinematics.points(links, offsets)
        residuals = sample.positions - points
        seen = np.isfinite(residuals[:, 0])
        residuals = np.where(seen[:, None], residuals, 0.0)
        sizes = np.linalg.norm(residuals, axis=1) / sample.spread
        weights = np.where(seen, np.minimum(1.0, HUBER / np.maximum(sizes, 1e-12)), 0.0) / sample.spread**2
        pose = kinematics.point_jacobians(links, points)
        weighted = weights[:, None, None] * pose
        flat = pose.reshape(3 * len(links), -1)
        hessian = flat.T @ weighted.reshape(flat.shape)
        pulls = weights[:, None] * residuals
        gradient = flat.T @ pulls.reshape(-1)
        own, pull = self._shared(weights, pulls)
        cross = np.empty((len(gradient), len(pull)))
        count = 3 * self.joints
        moved = (self.moved.astype(float) @ weighted.reshape(len(links), -1)).reshape(self.joints, 3, -1)
        centres = moved.transpose(0, 2, 1) @ kinematics.rotations[self.parents]
        cross[:, :count] = centres.transpose(1, 0, 2).reshape(len(gradient), count)
        places = weighted.transpose(0, 2, 1) @ kinematics.rotations[links]
        cross[:, count:] = places.transpose(1, 0, 2).reshape(len(gradient), -1)
        if exact:
            self._curve(points, weights, residuals, hessian, cross)
        self.posture.add(sample.q, POSTURE, hessian, gradient)
        self.hinges.add(sample.q, RANGE, hessian, gradient)
        hessian[np.diag_indices_from(hessian)] += 1e-6
        return hessian, cross, own, gradient, pull

    def _curve(
        self, points: np.ndarray, weights: np.ndarray, residuals: np.ndarray, hessian: np.ndarray, cross: np.ndarray
    ) -> None:
        """Add the second-order terms of the exact Hessian to the pose-pose and pose-theta blocks in place."""
        kinematics, links, count = self.kinematics, self.links, 3 * self.joints
        pulls = weights[:, None] * residuals
        sums = row_sums(self._selector, points, weights, residuals)
        outer = (weights[:, None] * points)[:, :, None] * residuals[:, None, :]
        moments = (self._selector @ outer.reshape(len(points), 9)).reshape(-1, 3, 3)
        hessian += kinematics.curvature(moments, sums)
        angular = kinematics.jacobian[3:].T
        turned = skew(pulls) @ kinematics.rotations[links]
        places = kinematics.moved_by[links][:, :, None] * (angular @ turned)
        cross[:, count:] += places.transpose(1, 0, 2).reshape(len(hessian), -1)
        turned = skew(self.moved.astype(float) @ pulls) @ kinematics.rotations[self.parents]
        centres = kinematics.moved_by[self.parents][:, :, None] * (angular @ turned)
        cross[:, :count] += centres.transpose(1, 0, 2).reshape(len(hessian), -1)

    def _shared(self, weights: np.ndarray, pulls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Theta-theta block (T, T) and right-hand side (T,): d p / d centre = R_parent, d p / d place = R_link."""
        markers, count = len(self.links), 3 * self.joints
        bases, own = self.kinematics.rotations[self.parents], self.kinematics.rotations[self.links]
        moved = self.moved.astype(float)
        matrix = np.zeros((count + 3 * markers, count + 3 * markers))
        both = (moved * weights) @ moved.T
        centres = both[:, :, None, None] * (bases.transpose(0, 2, 1)[:, None] @ bases[None])
        matrix[:count, :count] = centres.transpose(0, 2, 1, 3).reshape(count, count)
        mixed = (moved * weights)[:, :, None, None] * (bases.transpose(0, 2, 1)[:, None] @ own[None])
        matrix[:count, count:] = mixed.transpose(0, 2, 1, 3).reshape(count, -1)
        matrix[count:, :count] = matrix[:count, count:].T
        places = count + np.arange(3 * markers)
        matrix[places, places] = np.repeat(weights, 3)
        right_centres = (bases.transpose(0, 2, 1) @ (moved @ pulls)[:, :, None])[:, :, 0]
        right_places = (own.transpose(0, 2, 1) @ pulls[:, :, None])[:, :, 0]
        return matrix, np.concatenate([right_centres.reshape(-1), right_places.reshape(-1)])
