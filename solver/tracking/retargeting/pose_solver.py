"""Poses all frames of a motion together: Gauss-Newton steps within bounds, one small system per frame.

Links follow orientations, the feet follow their paths exactly, and the hips follow with a small weight, so that they
yield if a leg does not reach. With the axes a_i of the coordinates, orientations give the entry sum_l w_l a_i . a_j
over the links l that both i and j move: the axes' Gram matrix times a constant. So no link's Jacobian is ever built.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.file_arrays import CACHED_FRAMES
from ...base.so3 import exp, log
from ...qp.bounded import Bounds, solve_bounded
from ...skeleton.rig import ROOT_NV, Rig
from ...values.person import SIDES
from ..anatomy import ARM, LEG, find_anatomy, find_joint_centres
from ..bone_mapping import METRES_PER_RADIAN, BoneMapping
from ..joint_chains import ChainFit
from .batch_kinematics import BatchFrames, BatchKinematics
from .separation import SeparationRows

FOOT_WEIGHT = 1e4
"""Weight of the feet over all others: their remaining errors are micrometres."""
FOOT_FREEDOMS = 6
"""By definition."""
HIP_WEIGHT = 2.0
"""Weight of a metre of the hips' position over a metre by which an orientation's error moves a point at
`METRES_PER_RADIAN`."""
POSTURE_WEIGHT = 3e-4
"""Weight of a radian away from the rest posture."""
LEG_WEIGHT, BODY_WEIGHT = 1.0, 100.0
"""Weights of a radian away from a smooth path, for legs and for all other coordinates: only legs give way to the feet,
or corrections of the feet would shake the body. Of the legs' .03, .1, .3 and 1 were tried on six walks and a jump: with
less than 1 legs of the jump swivel from one limit to the other."""
DAMPING = 1e-5
MAX_STEP = 0.4
"""[rad, m] Largest change of a coordinate in a step."""
STEP_TOLERANCE = 2e-4
"""[rad, m] Largest step at which a frame has converged; the remaining error is its square."""
LOST_ANGLE = 0.8
"""[rad] Orientation error of a link that is in a wrong minimum."""
LIMIT_MARGIN = 0.03
"""[rad, m] Margin of first poses to their bounds."""
MIN_KNEE_ANGLE = 0.14
"""[rad] Smallest knee flexion: a straight leg cannot keep its foot in place while the body moves."""


@dataclass(frozen=True, slots=True)
class PoseTargets:
    """Targets of N frames.

    Attributes:
        rotations: (N, O, 3, 3) orientations of the mapping's links, world; those of the feet are their paths'.
        foot_positions: (N, F, 3) [m] of the origins of the foot links.
        hip_positions: (N, 3) [m] of the middle between the hips.
        separation: links that must not touch.
        foot_freedom: (N, F) fraction by which the feet may leave position and orientation; 0 by default.
    """

    rotations: np.ndarray
    foot_positions: np.ndarray
    hip_positions: np.ndarray
    separation: SeparationRows | None = None
    foot_freedom: np.ndarray | None = None

    def select(self, chosen: np.ndarray | slice) -> PoseTargets:
        """Targets of some of the frames."""
        apart = None if self.separation is None else self.separation.select(chosen, len(self.hip_positions))
        free = None if self.foot_freedom is None else self.foot_freedom[chosen]
        return PoseTargets(self.rotations[chosen], self.foot_positions[chosen], self.hip_positions[chosen], apart, free)


@dataclass(frozen=True, slots=True)
class SolvedPoses:
    """A rig's coordinates in N frames.

    Attributes:
        root_rotations: (N, 3, 3) axes of the root, world.
        y: (N, nv) coordinates, see `BatchKinematics.forward`.
    """

    root_rotations: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def select(self, chosen: np.ndarray | slice) -> SolvedPoses:
        """Poses of some of the frames."""
        return SolvedPoses(self.root_rotations[chosen], self.y[chosen])


@dataclass(frozen=True, slots=True)
class PosePrior:
    """Poses to stay near: a radian away costs ``weight``, and so does `METRES_PER_RADIAN` of the root's position.

    The weight is one for all coordinates, or (nv,) of each.
    """

    poses: SolvedPoses
    weight: float | np.ndarray

    def select(self, chosen: np.ndarray | slice) -> PosePrior:
        """Prior of some of the frames."""
        return PosePrior(self.poses.select(chosen), self.weight)


class PoseSolver:
    """Solves poses of a rig whose links follow a mapping."""

    def __init__(self, rig: Rig, mapping: BoneMapping, feet: tuple[int, ...]) -> None:
        self.rig, self.tree = rig, BatchKinematics(rig)
        self.links = np.array([rig.index(link) for link in mapping.links])
        self.feet = feet
        firm = np.isin(self.links, feet)
        weights = METRES_PER_RADIAN**2 * np.where(firm, FOOT_WEIGHT, mapping.weights)
        moved = self.tree.coordinate_moves_link[self.links].astype(float)
        self.foot_rows = [int(np.flatnonzero(self.links == foot)[0]) for foot in feet]
        """Indices of the feet among the links."""
        self._chains = ChainFit(rig, self.links)
        self._weights = weights
        self._shared = (moved * weights[:, None]).T @ moved
        self._moved = weights[:, None] * moved
        self.hip_offset = hip_centre(rig)
        """(3,) [m] middle between the hips, axes of the root."""
        limits = rig.limits
        self.lower = np.concatenate([np.full(ROOT_NV, -np.inf), limits.lower])
        self.upper = np.concatenate([np.full(ROOT_NV, np.inf), limits.upper])
        for column, sign in knee_hinges(rig):
            if sign > 0.0:
                self.lower[column] = max(self.lower[column], MIN_KNEE_ANGLE)
            else:
                self.upper[column] = min(self.upper[column], -MIN_KNEE_ANGLE)
        room = np.minimum(LIMIT_MARGIN, 0.25 * (self.upper - self.lower))
        self.start_bounds = self.lower + room, self.upper - room
        """Bounds (2, nv) of first poses, with a margin for smoothing."""
        self.rest_coordinates = np.clip(0.0, *self.start_bounds)
        bones, twist = np.array(mapping.bone_axes), np.array(mapping.twist_weights)
        for row, foot in zip(self.foot_rows, feet):
            bones[row], twist[row] = self._find_free_axis(foot), mapping.weights[row] / FOOT_WEIGHT
        loose = (twist < 1.0) & (np.abs(bones).sum(axis=1) > 0.0)
        self._twisting_rows = np.flatnonzero(loose)
        """Links that follow with less weight about their bones, and feet about axes that legs do not control."""
        self._bones = bones[loose]
        self._twist_reduction = 1.0 - twist[loose]
        self._twist_rows = np.sqrt(self._twist_reduction * weights[loose])[:, None] * moved[loose]
        self._posture = np.concatenate([np.zeros(ROOT_NV), np.full(rig.nv - ROOT_NV, POSTURE_WEIGHT)])
        self._prior_weights = np.concatenate([np.full(3, METRES_PER_RADIAN**-2), np.ones(rig.nv - 3)])
        in_one_leg = np.logical_xor(*self.tree.coordinate_moves_link[list(feet)])
        self.leg_weights = np.where(in_one_leg, LEG_WEIGHT, BODY_WEIGHT)
        """(nv,) weights of a prior from which only the legs give way."""
        parts = find_anatomy(rig).parts
        arms = [rig.index(parts[part]) for part in (f"{side}_{ARM[0]}" for side in SIDES) if part in parts]
        in_one_arm = self.tree.coordinate_moves_link[arms].sum(axis=0) == 1
        self.limb_weights = np.where(in_one_leg | in_one_arm, LEG_WEIGHT, BODY_WEIGHT)
        """(nv,) weights of a prior from which only legs and arms give way."""

    def _find_free_axis(self, foot: int) -> np.ndarray:
        """Axis (3,), in the foot's link, about which a leg of five joints cannot turn a foot in place; otherwise 0.

        It is the rotation of the wrench that does no work on the leg. If the sole had to be level about it, too, both
        legs would fix the root, and turn it over where the feet are nearer to each other than the hips.
        """
        own = np.flatnonzero(self.tree.coordinate_moves_link[foot])[ROOT_NV:]
        if len(own) != FOOT_FREEDOMS - 1:
            return np.zeros(3)
        placed = self.link_frames(SolvedPoses(np.eye(3)[None], self.rest_coordinates[None]))
        moves = self.tree.jacobian(placed, foot, self.tree.link_origins(placed, foot))[0][:, own]
        way = np.linalg.svd(np.vstack([moves, placed.axes[own, :, 0].T]))[0][3:, -1]
        axes = self.tree.link_rotations(placed, np.array([foot]))[0, 0]
        return np.asarray(axes.T @ way / np.linalg.norm(way))

    def chain_poses(self, targets: PoseTargets, root_rotations: np.ndarray) -> SolvedPoses:
        """Each chain of joints fitted by itself, with given root rotations (N, 3, 3)."""
        y = np.tile(self.rest_coordinates, (len(targets.hip_positions), 1))
        y[:, :3] = targets.hip_positions - root_rotations @ self.hip_offset
        angles, _ = self._chains.fit_angles(targets.rotations)
        own = self._chains.v_indices >= 0
        columns = self._chains.v_indices[own]
        lower, upper = (bound[columns] for bound in self.start_bounds)
        y[:, columns] = np.clip(angles[:, own], lower, upper)
        return SolvedPoses(np.array(root_rotations), y)

    def solve(
        self, targets: PoseTargets, start: SolvedPoses, iterations: int, prior: PosePrior | None = None
    ) -> tuple[SolvedPoses, np.ndarray]:
        """Poses that follow the targets, and which frames (N,) converged; with a margin to the bounds unless there is a
        prior.
        """
        lower, upper = self.start_bounds if prior is None else (self.lower, self.upper)
        root_rotations, y, done = np.array(start.root_rotations), np.array(start.y), np.zeros(len(start), bool)
        for active in np.array_split(np.arange(len(y)), max(1, -(-len(y) // CACHED_FRAMES))):
            for _ in range(iterations):
                if not len(active):
                    break
                own = None if prior is None else prior.select(active)
                step = self._step(
                    targets.select(active), SolvedPoses(root_rotations[active], y[active]), own, (lower, upper)
                )
                longest = np.abs(step).max(axis=1)
                step *= np.minimum(1.0, MAX_STEP / np.maximum(longest, 1e-30))[:, None]
                root_rotations[active] = exp(step[:, 3:ROOT_NV]) @ root_rotations[active]
                step[:, 3:ROOT_NV] = 0.0
                y[active] = np.clip(y[active] + step, lower, upper)
                finished = longest < STEP_TOLERANCE
                done[active[finished]] = True
                active = active[~finished]
        return SolvedPoses(root_rotations, y), done

    def compute_costs(self, targets: PoseTargets, poses: SolvedPoses) -> np.ndarray:
        """(N,) [m^2] weighted squared errors of orientations and positions."""
        placed = self.link_frames(poses)
        off, _ = self._orientation_errors(targets, placed)
        missed = targets.hip_positions - self.tree.link_origins(placed, 0).T - poses.root_rotations @ self.hip_offset
        result = (self._weights * (off**2).sum(axis=2)).sum(axis=1) + HIP_WEIGHT * (missed**2).sum(axis=1)
        for number, link in enumerate(self.feet):
            result += FOOT_WEIGHT * (
                (targets.foot_positions[:, number] - self.tree.link_origins(placed, link).T) ** 2
            ).sum(axis=1)
        return np.asarray(result)

    def is_lost(self, targets: PoseTargets, poses: SolvedPoses) -> np.ndarray:
        """(N,) True where a link's orientation error shows that the frame is in a wrong minimum."""
        off, _ = self._orientation_errors(targets, self.link_frames(poses))
        return np.asarray((np.linalg.norm(off, axis=2) > LOST_ANGLE).any(axis=1))

    def link_frames(self, poses: SolvedPoses) -> BatchFrames:
        """Frames of all links."""
        return self.tree.forward(poses.root_rotations, poses.y)

    def link_rotations(self, poses: SolvedPoses) -> np.ndarray:
        """Axes (N, O, 3, 3) of the mapping's links, world."""
        return self.tree.link_rotations(self.link_frames(poses), self.links)

    def _step(
        self, targets: PoseTargets, poses: SolvedPoses, prior: PosePrior | None, bounds: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Change (n, nv) of the coordinates; the root's rotation is about the world's axes."""
        placed, y = self.link_frames(poses), poses.y
        axes = np.ascontiguousarray(placed.axes.transpose(2, 0, 1))
        errors, bones = self._orientation_errors(targets, placed)
        bound, shares = np.ones((len(y), len(self.feet))), np.ones(errors.shape[:2])
        if targets.foot_freedom is not None:
            bound = shares[:, self.foot_rows] = 1.0 - targets.foot_freedom
            errors[:, self.foot_rows] *= bound[:, :, None]
        torques = errors.swapaxes(1, 2) @ self._moved
        gradient = (axes * torques.swapaxes(1, 2)).sum(axis=2)
        hessian = axes @ axes.swapaxes(1, 2)
        hessian *= self._shared
        twist_rows = (bones @ axes.swapaxes(1, 2)) * self._twist_rows * np.sqrt(shares[:, self._twisting_rows, None])
        hessian -= twist_rows.swapaxes(1, 2) @ twist_rows
        if targets.foot_freedom is not None:
            own = np.sqrt(targets.foot_freedom)[:, :, None] * np.sqrt(self._moved[self.foot_rows])
            free_rows = (own[:, :, None] * axes.swapaxes(1, 2)[:, None]).reshape(len(y), -1, y.shape[1])
            hessian -= free_rows.swapaxes(1, 2) @ free_rows
        rows, residuals = [], []
        for number, link in enumerate(self.feet):
            point, weight = self.tree.link_origins(placed, link), np.sqrt(FOOT_WEIGHT * bound[:, number])
            rows.append(weight[:, None, None] * self.tree.jacobian(placed, link, point))
            residuals.append(weight[:, None] * (targets.foot_positions[:, number] - point.T))
        point = self.tree.link_origins(placed, 0) + (poses.root_rotations @ self.hip_offset).T
        rows.append(np.sqrt(HIP_WEIGHT) * self.tree.jacobian(placed, 0, point))
        residuals.append(np.sqrt(HIP_WEIGHT) * (targets.hip_positions - point.T))
        jacobian, residual = np.concatenate(rows, axis=1), np.concatenate(residuals, axis=1)
        hessian += jacobian.swapaxes(1, 2) @ jacobian
        gradient += (residual[:, None] @ jacobian)[:, 0]
        if targets.separation is not None:
            targets.separation.add(self.tree, placed, hessian, gradient)
        diagonal_terms = self._posture + DAMPING
        gradient += self._posture * (self.rest_coordinates - y)
        if prior is not None:
            weights = prior.weight * self._prior_weights
            diagonal_terms = diagonal_terms + weights
            prior_errors = prior.poses.y - y
            prior_errors[:, 3:ROOT_NV] = log(prior.poses.root_rotations @ poses.root_rotations.swapaxes(1, 2))
            gradient += weights * prior_errors
        diagonal = np.arange(y.shape[1])
        hessian[:, diagonal, diagonal] += diagonal_terms
        return _solve_within_bounds(hessian, gradient, bounds[0] - y, bounds[1] - y)

    def _orientation_errors(self, targets: PoseTargets, frames: BatchFrames) -> tuple[np.ndarray, np.ndarray]:
        """Orientation errors of links (n, O, 3) [rad], world, and bone directions (n, B, 3) of those with reduced twist
        weight.
        """
        rotations = self.tree.link_rotations(frames, self.links)
        off = log(targets.rotations @ rotations.swapaxes(2, 3))
        bones = (rotations[:, self._twisting_rows] @ self._bones[:, :, None])[..., 0]
        off[:, self._twisting_rows] -= (self._twist_reduction * (bones * off[:, self._twisting_rows]).sum(axis=2))[
            :, :, None
        ] * bones
        return off, bones


def _solve_within_bounds(hessian: np.ndarray, gradient: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Steps (n, nv) within bounds."""
    result = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    no_rows = np.zeros((0, gradient.shape[1]))
    for k in np.flatnonzero(((result < low) | (result > high)).any(axis=1)):
        result[k] = solve_bounded(hessian[k], gradient[k], Bounds(low[k], high[k], no_rows)).x
    return np.asarray(result)


def hip_centre(rig: Rig) -> np.ndarray:
    """Middle between the hips (3,) [m], axes of the root link."""
    starts = find_joint_centres(rig, find_anatomy(rig).parts)
    middle = 0.5 * (starts[f"left_{LEG[0]}"] + starts[f"right_{LEG[0]}"])
    return np.asarray(rig.rest[0][0].T @ (middle - rig.rest[1][0]))


def knee_hinges(rig: Rig) -> list[tuple[int, float]]:
    """Column of each knee's flexion, the axis whose range is farthest from symmetric, and the sign of flexion."""
    parts, result = find_anatomy(rig).parts, []
    for side in ("right", "left"):
        link = parts.get(f"{side}_{LEG[1]}")
        if link is None:
            continue
        joint = rig.joints[rig.index(link)]
        limits = rig.limits_of(link)
        middles = limits.lower + limits.upper
        if joint.kind in ("revolute", "spherical") and np.isfinite(middles).all() and middles.any():
            flexion = int(np.abs(middles).argmax())
            first = sum(other.nv for other in rig.joints[: rig.index(link)])
            result.append((first + flexion, float(np.sign(middles[flexion]))))
    return result
