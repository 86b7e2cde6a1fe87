"""Least squares over joint centres, marker locations and the poses of all frames at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv, dpotrf, dtrtrs

from ..dynamics import integrate
from ..skeleton.rig import ROOT_NV, Rig
from ..tracking.kinematics import Kinematics
from ..tracking.posture import Posture

MIN_STIFFNESS = 1e-6
"""[1/m^2, 1/rad^2] Added to the diagonal of a pose's Hessian: an unobserved coordinate keeps its value."""
POSTURE_STIFFNESS = 0.25
"""[1/rad^2] Weight of the joints' distance from neutral in every frame: a standard deviation of 2 rad. Derived: 1 / (2
rad)^2."""
ESTIMATED_POSTURE_STIFFNESS = 1.0
"""[1/rad^2] The same for points that were estimated, as from video: one radian. Joint centres with noise observe no
rotation about a straight limb; on simulated standing 2 rad let shanks turn by a right angle."""
RANGE_STIFFNESS = 400.0
"""[1/rad^2] Weight of a hinge's distance from its range in every frame: a standard deviation of 3 degrees. With
markers on one side of an elbow alone, an arm rotated about its length with the elbow bent backwards fits nearly as
well. Derived: 1 / (.05 rad)^2."""
HUBER_STDS = 3.0
"""Residuals beyond this many standard deviations count linearly."""
COST_TOLERANCE = 1e-5
"""Relative decrease of the cost at which the fit ends. Measured on a simulated dance of 3 s, whose joint centres are
8.6 mm off: half and twice the value end within 0.1 mm."""
EXACT_HESSIAN_FROM = 0.2
"""Relative decrease of the cost below which the exact Hessian takes over from Gauss-Newton's. Measured on a simulated
dance of 3 s, whose joint centres are 8.6 mm off: half and twice the value end within 0.1 mm."""
STEPS_WITHOUT_EXACT_HESSIAN = 2
"""Steps without the exact Hessian after a step that failed with it."""
SMALLEST_DAMPING, FIRST_DAMPING, LARGEST_DAMPING = 1e-9, 1e-4, 1e8
MAX_ITERATIONS = 40
"""Measured on a simulated dance of 3 s, whose joint centres are 8.6 mm off: half and twice the value end within 0.1
mm."""
FRAMES_PER_BATCH = 16
"""Frames linearised together: their arrays stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Unknowns:
    """Which joint centre and which coordinate of the pose moves which marker.

    Attributes:
        links: (M,) link of each marker.
        parents: (J,) link in whose frame each joint centre is given.
        centre_moves_marker: (J, M) 1 where a joint centre moves a marker.
        coordinate_moves_marker: (nv, M) 1 where a coordinate of the pose does.
        coordinate_moves_centre: (nv, J) 1 where it moves a joint centre.
    """

    links: np.ndarray
    parents: np.ndarray
    centre_moves_marker: np.ndarray
    coordinate_moves_marker: np.ndarray
    coordinate_moves_centre: np.ndarray

    @staticmethod
    def from_kinematics(kinematics: Kinematics, links: np.ndarray) -> Unknowns:
        """Of a rig's joints and markers on these links."""
        parents, moves = kinematics.parents[1:], kinematics.moved_by.astype(float).T
        return Unknowns(
            links, parents, kinematics.descendants[1:][:, links].astype(float), moves[:, links], moves[:, parents]
        )


@dataclass(frozen=True, slots=True)
class NormalEquations:
    """Parts of the normal equations, theta = (joint centres, marker locations), T numbers.

    Attributes:
        pose_hessian: (F, nv, nv) pose-pose, frame by frame.
        cross: (F, nv, T + 1) pose-theta; the last column is the pose's right-hand side.
        theta_hessian: (T, T) theta-theta, over all frames.
        theta_gradient: (T,) theta's right-hand side.
    """

    pose_hessian: np.ndarray
    cross: np.ndarray
    theta_hessian: np.ndarray
    theta_gradient: np.ndarray


@dataclass(frozen=True, slots=True)
class LinearisedFrames:
    """F frames at their poses, M markers on L links.

    Attributes:
        rotations: (F, L, 3, 3) link axes to world axes.
        jacobian: (F, 6, nv) as `Workspace.jacobian`.
        points: (F, M, 3) [m] modelled marker positions, world.
        residuals: (F, M, 3) [m] measured minus modelled; 0 where not seen.
        weights: (F, M) [1/m^2]; 0 where not seen.
        hessian, gradient: (F, nv, nv), (F, nv) terms of the pose that do not depend on markers.
    """

    rotations: np.ndarray
    jacobian: np.ndarray
    points: np.ndarray
    residuals: np.ndarray
    weights: np.ndarray
    hessian: np.ndarray
    gradient: np.ndarray

    def build_equations(self, unknowns: Unknowns, *, exact: bool) -> NormalEquations:
        """The normal equations; with the second-order terms of the exact Hessian if ``exact``."""
        frames, markers, joints = *self.weights.shape, len(unknowns.parents)
        freedoms, centres = self.jacobian.shape[2], 3 * joints
        pulls = self.weights[:, :, None] * self.residuals
        own, bases = self.rotations[:, unknowns.links], self.rotations[:, unknowns.parents]
        cross = np.empty((frames, freedoms, centres + 3 * markers + 1))
        hessian, poses = self.hessian.copy(), self.marker_jacobians(unknowns)
        weighted = [self.weights[:, None, :] * pose for pose in poses]
        for part, pose in zip(weighted, poses):
            hessian += part @ pose.swapaxes(1, 2)
        at_centres = [part @ unknowns.centre_moves_marker.T for part in weighted]
        angular = self.jacobian[:, 3:].swapaxes(1, 2)
        for axis in range(3):
            places = sum(part * own[:, None, :, row, axis] for row, part in enumerate(weighted))
            moved = sum(part * bases[:, None, :, row, axis] for row, part in enumerate(at_centres))
            if exact:
                lever = np.cross(pulls, own[:, :, :, axis])
                places = places + unknowns.coordinate_moves_marker * (angular @ lever.swapaxes(1, 2))
                lever = np.cross(unknowns.centre_moves_marker @ pulls, bases[:, :, :, axis])
                moved = moved + unknowns.coordinate_moves_centre * (angular @ lever.swapaxes(1, 2))
            cross[:, :, axis:centres:3] = moved
            cross[:, :, centres + axis : -1 : 3] = places
        cross[:, :, -1] = self._pose_right_hand_side(poses, pulls)
        diagonal = np.arange(freedoms)
        hessian[:, diagonal, diagonal] += MIN_STIFFNESS
        return NormalEquations(
            hessian, cross, self._theta_hessian(unknowns), self._theta_right_hand_side(unknowns, pulls)
        )

    def marker_jacobians(self, unknowns: Unknowns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of the markers' x, y and z with respect to the pose: (F, nv, M) each."""
        (lx, ly, lz), (wx, wy, wz) = self.jacobian.transpose(1, 0, 2).reshape(2, 3, len(self.weights), -1, 1)
        x, y, z = self.points.transpose(2, 0, 1)[:, :, None]
        mask = unknowns.coordinate_moves_marker
        return (lx + wy * z - wz * y) * mask, (ly + wz * x - wx * z) * mask, (lz + wx * y - wy * x) * mask

    def _theta_hessian(self, unknowns: Unknowns) -> np.ndarray:
        """Theta-theta block (T, T): d p / d centre = R_parent, d p / d location = R_link."""
        markers, joints, moved = len(unknowns.links), len(unknowns.parents), unknowns.centre_moves_marker
        count = 3 * joints
        inverse = self.rotations[:, unknowns.parents].swapaxes(2, 3)
        matrix = np.zeros((count + 3 * markers, count + 3 * markers))
        # frames f, joint centres j and k, markers m, axes x and y
        both = (moved[None] * self.weights[:, None, :]) @ moved.T
        between = (inverse[:, :, None] @ self.rotations[:, None]).transpose(1, 2, 3, 4, 0)  # (J, L, 3, 3, F)
        centres = (between[:, unknowns.parents] * both.transpose(1, 2, 0)[:, :, None, None]).sum(axis=4)
        matrix[:count, :count] = centres.transpose(0, 2, 1, 3).reshape(count, count)
        for link in np.unique(unknowns.links):
            own = np.flatnonzero(unknowns.links == link)
            sums = between[:, link].reshape(9 * joints, -1) @ self.weights[:, own]
            mixed = sums.reshape(joints, 3, 3, len(own)) * moved[:, None, None, own]
            columns = (count + 3 * own + np.arange(3)[:, None]).reshape(-1)
            matrix[:count, columns] = mixed.reshape(count, -1)
        matrix[count:, :count] = matrix[:count, count:].T
        places = count + np.arange(3 * markers)
        matrix[places, places] = np.repeat(self.weights.sum(axis=0), 3)
        return matrix

    def _pose_right_hand_side(self, jacobians: Sequence[np.ndarray], pulls: np.ndarray) -> np.ndarray:
        """Right-hand side (F, nv) of the poses from the weighted residuals (F, M, 3)."""
        return self.gradient + sum((pose @ pulls[:, :, axis, None])[:, :, 0] for axis, pose in enumerate(jacobians))

    def _theta_right_hand_side(self, unknowns: Unknowns, pulls: np.ndarray) -> np.ndarray:
        """Right-hand side (T,) of theta from the weighted residuals (F, M, 3)."""
        inverse = self.rotations[:, unknowns.parents].swapaxes(2, 3)
        right_centres = (inverse @ (unknowns.centre_moves_marker @ pulls)[:, :, :, None])[..., 0].sum(axis=0)
        right_places = (self.rotations[:, unknowns.links].swapaxes(2, 3) @ pulls[..., None])[..., 0].sum(axis=0)
        return np.concatenate([right_centres.reshape(-1), right_places.reshape(-1)])


@dataclass
class CalibrationFrame:
    """One frame used in a calibration.

    Attributes:
        positions: (M, 3) [m] world; NaN where not seen.
        std: [m] standard deviation of a marker about its location on the link in this frame.
        q: (nq,) pose, improved by the fit.
        recording: name of its recording.
    """

    positions: np.ndarray
    std: float
    q: np.ndarray
    recording: str = ""


class HingeRanges:
    """Penalty on hinges outside their range: the square of the violation."""

    def __init__(self, rig: Rig) -> None:
        own = [k for k, joint in enumerate(rig.joints) if joint.kind == "revolute"]
        self._angle_indices = np.array([rig.q_slices[k].start for k in own], int)
        self._velocity_indices = np.array([rig.v_slices[k].start for k in own], int)
        self._lower = rig.limits.lower[self._velocity_indices - ROOT_NV]
        self._upper = rig.limits.upper[self._velocity_indices - ROOT_NV]

    def violation(self, q: np.ndarray) -> np.ndarray:
        """Signed angles (H,) [rad] by which the hinges are above (> 0) or below (< 0) their ranges."""
        angles = q[self._angle_indices]
        return np.asarray(angles - np.clip(angles, self._lower, self._upper))

    def cost(self, q: np.ndarray) -> float:
        """Sum of squared violations [rad^2]."""
        return float((self.violation(q) ** 2).sum())

    def add(self, q: np.ndarray, weight: float, hessian: np.ndarray, gradient: np.ndarray) -> None:
        """Adds the penalty's terms to the normal equations (nv, nv) and (nv,) in place."""
        violation = self.violation(q)
        hessian[self._velocity_indices, self._velocity_indices] += weight * (violation != 0.0)
        gradient[self._velocity_indices] -= weight * violation


class SubjectFit:
    """Gauss-Newton over theta = (joint centres, marker locations) with every frame's pose eliminated (Schur
    complement).

    Minimises sum_frames sum_markers huber(|p_measured - p(q, theta)| / std) + prior(theta) + posture(q) + ranges(q).
    """

    def __init__(
        self, rig: Rig, links: np.ndarray, information: np.ndarray, information_vector: np.ndarray, constant: float
    ) -> None:
        self.rig, self.posture_stiffness = rig, POSTURE_STIFFNESS
        self.links = links
        self.information, self.information_vector, self.constant = information, information_vector, constant
        self.joints = len(rig.links) - 1
        self.kinematics = Kinematics(rig)
        self.posture = Posture(rig)
        self.hinges = HingeRanges(rig)
        self.unknowns = Unknowns.from_kinematics(self.kinematics, links)
        self._selector = np.zeros((len(rig.links), len(links)))
        self._selector[links, np.arange(len(links))] = 1.0

    def stack_unknowns(self, offsets: np.ndarray) -> np.ndarray:
        """Unknowns (T,) of the current joint centres and marker locations (M, 3)."""
        return np.concatenate([self.joint_positions[1:].reshape(-1), offsets.reshape(-1)])

    @property
    def joint_positions(self) -> np.ndarray:
        """(L, 3) [m] current joint centres, in the parent links' frames."""
        return self.kinematics.joint_positions

    def set_joint_centres(self, theta: np.ndarray) -> np.ndarray:
        """Sets the model's joint centres; returns the marker locations (M, 3)."""
        root = self.rig.joints[0].position
        self.kinematics.move_joints(np.vstack([root, theta[: 3 * self.joints].reshape(-1, 3)]))
        return theta[3 * self.joints :].reshape(-1, 3)

    def solve(self, theta: np.ndarray, samples: list[CalibrationFrame]) -> tuple[np.ndarray, float]:
        """Improved unknowns and their cost; updates the samples' poses in place."""
        cost = self.cost(theta, samples)
        damping, exact, steps_to_wait = SMALLEST_DAMPING, False, 0
        for _ in range(MAX_ITERATIONS):
            poses, rejected = [sample.q for sample in samples], False
            while True:
                found = self._step(theta, samples, damping, exact=exact)
                trial = np.inf
                if found is not None:
                    step, rotations = found
                    for sample, q, rotation in zip(samples, poses, rotations):
                        sample.q = integrate(self.rig, q, rotation)
                    trial = self.cost(theta + step, samples)
                if trial <= cost or damping > LARGEST_DAMPING:
                    break
                steps_to_wait = STEPS_WITHOUT_EXACT_HESSIAN if exact else steps_to_wait
                exact, damping = False, damping if exact else max(10.0 * damping, FIRST_DAMPING)
                rejected = True
                for sample, q in zip(samples, poses):
                    sample.q = q
            if not trial <= cost:
                for sample, q in zip(samples, poses):
                    sample.q = q
                break
            decrease = cost - trial
            theta, cost = theta + step, trial
            if not rejected:
                damping = max(0.1 * damping, SMALLEST_DAMPING)
            exact = decrease < EXACT_HESSIAN_FROM * cost and steps_to_wait == 0
            steps_to_wait = max(steps_to_wait - 1, 0)
            if decrease < COST_TOLERANCE * cost:
                break
        self.set_joint_centres(theta)
        return theta, cost

    def cost(self, theta: np.ndarray, samples: list[CalibrationFrame]) -> float:
        """The robust cost; sets the model's joint centres to ``theta``."""
        offsets = self.set_joint_centres(theta)
        total = float(theta @ self.information @ theta - 2.0 * self.information_vector @ theta) + self.constant
        for sample in samples:
            self.kinematics.update_kinematics(sample.q)
            residuals = sample.positions - self.kinematics.points(self.links, offsets)
            sizes = np.linalg.norm(residuals, axis=1) / sample.std
            sizes = sizes[np.isfinite(sizes)]
            total += float(np.where(sizes > HUBER_STDS, 2.0 * HUBER_STDS * sizes - HUBER_STDS**2, sizes**2).sum())
            total += self.posture_stiffness * self.posture.cost(sample.q) + RANGE_STIFFNESS * self.hinges.cost(sample.q)
        return total

    def _step(
        self, theta: np.ndarray, samples: list[CalibrationFrame], damping: float, *, exact: bool
    ) -> tuple[np.ndarray, list[np.ndarray]] | None:
        """Steps of the unknowns and of every pose; None if the (exact) Hessian is not positive definite."""
        offsets = self.set_joint_centres(theta)
        size = len(theta)
        reduced = self.information.copy()
        right = self.information_vector - self.information @ theta
        roots, eliminated = [], []
        for first in range(0, len(samples), FRAMES_PER_BATCH):
            frames = self.linearise(samples[first : first + FRAMES_PER_BATCH], offsets, exact=exact)
            blocks = frames.build_equations(self.unknowns, exact=exact)
            reduced += blocks.theta_hessian
            right += blocks.theta_gradient
            solved = np.empty_like(blocks.cross)
            for hessian, cross, target in zip(blocks.pose_hessian, blocks.cross, solved):
                hessian[np.diag_indices_from(hessian)] *= 1.0 + damping
                root, failed = dpotrf(hessian, lower=1)
                if failed:
                    return None
                target[:] = dtrtrs(root, cross, lower=1)[0]
                roots.append(root)
            flat = solved.reshape(-1, size + 1)
            squares = flat.T @ flat
            reduced -= squares[:size, :size]
            right -= squares[:size, size]
            eliminated.append(solved)
        reduced[np.diag_indices_from(reduced)] *= 1.0 + damping
        _, step, failed = dposv(reduced, right)
        if failed:
            return None
        right_sides = [
            right_side for solved in eliminated for right_side in solved[:, :, size] - solved[:, :, :size] @ step
        ]
        return step, [dtrtrs(root, right_side, lower=1, trans=1)[0] for root, right_side in zip(roots, right_sides)]

    def covariance(self, theta: np.ndarray, samples: list[CalibrationFrame]) -> np.ndarray:
        """Covariance (T, T) [m^2] of finished unknowns: what the markers, with the samples' deviations, and the prior
        leave."""
        frames = self.linearise(samples, self.set_joint_centres(theta), exact=False)
        blocks = frames.build_equations(self.unknowns, exact=False)
        cross = blocks.cross[:, :, :-1]
        poses = np.tensordot(cross, np.linalg.solve(blocks.pose_hessian, cross), axes=((0, 1), (0, 1)))
        return np.asarray(np.linalg.inv(self.information + blocks.theta_hessian - poses))

    def linearise(self, samples: list[CalibrationFrame], offsets: np.ndarray, *, exact: bool) -> LinearisedFrames:
        """The samples linearised at their poses."""
        kinematics, links, count = self.kinematics, self.links, len(samples)
        rotations = np.empty((count, *kinematics.rotations.shape))
        jacobian = np.empty((count, *kinematics.jacobian.shape))
        points, residuals = np.empty((2, count, len(links), 3))
        weights = np.empty((count, len(links)))
        hessian = np.zeros((count, jacobian.shape[2], jacobian.shape[2]))
        gradient = np.zeros((count, jacobian.shape[2]))
        for k, sample in enumerate(samples):
            kinematics.update_kinematics(sample.q)
            rotations[k], jacobian[k] = kinematics.rotations, kinematics.jacobian
            points[k] = kinematics.points(links, offsets)
            residual = sample.positions - points[k]
            seen = np.isfinite(residual[:, 0])
            residuals[k] = np.where(seen[:, None], residual, 0.0)
            sizes = np.linalg.norm(residuals[k], axis=1) / sample.std
            weights[k] = np.where(seen, np.minimum(1.0, HUBER_STDS / np.maximum(sizes, 1e-12)), 0.0) / sample.std**2
            if exact:
                pulls = weights[k][:, None] * residuals[k]
                outer = points[k][:, :, None] * pulls[:, None, :]
                moments = (self._selector @ outer.reshape(len(links), 9)).reshape(-1, 3, 3)
                hessian[k] = kinematics.curvature(moments, self._selector @ pulls)
            self.posture.add(sample.q, self.posture_stiffness, hessian[k], gradient[k])
            self.hinges.add(sample.q, RANGE_STIFFNESS, hessian[k], gradient[k])
        return LinearisedFrames(rotations, jacobian, points, residuals, weights, hessian, gradient)
