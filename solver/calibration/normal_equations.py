"""Normal equations of joint centres, marker locations and poses over several frames at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..tracking.kinematics import Kinematics

MIN_STIFFNESS = 1e-6
"""[1/m^2, 1/rad^2] Added to the diagonal of a pose's Hessian: an unobserved coordinate keeps its value."""


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

    def right_hand_sides(self, unknowns: Unknowns) -> tuple[np.ndarray, np.ndarray]:
        """Right-hand sides of the normal equations alone: the poses' (F, nv) and theta's (T,)."""
        pulls = self.weights[:, :, None] * self.residuals
        return self._pose_right_hand_side(self.marker_jacobians(unknowns), pulls), self._theta_right_hand_side(
            unknowns, pulls
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
