"""All frames of a motion posed together: Gauss and Newton's steps within bounds, one small system a frame.

Links follow orientations, the feet exactly as they are led, the root softly: where a leg does not reach, the root gives
way. With the axes a_i of the coordinates, orientations give the entry sum_l w_l a_i . a_j over the links l that both i
and j move, which is the axes' Gram matrix times a constant; so no link's Jacobian is ever built.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...rig import ROOT_NV, Rig
from ...so3 import exp, log
from ..anatomy import LEG, ROOT, find_anatomy, find_joint_centres
from ..bone_mapping import METRES_PER_RADIAN, BoneMapping
from ..joint_chains import ChainFit
from .batch_kinematics import BatchFrames, BatchKinematics
from .foot_paths import FootPaths
from .separation import SeparationRows

FRAMES_PER_BATCH = 256
"""Frames posed together: their numbers stay near the processor."""
FOOT_WEIGHT = 1e4
"""Weight of the feet over everything else: what is left of their errors is micrometres."""
HIP_WEIGHT = 2.0
"""Weight of a metre of the root's place over a metre by which an "
            "orientation's error moves a point at `METRES_PER_RADIAN`."""
HIP_HEIGHT_WEIGHT = 200.0
"""The same of its height, where the centre of mass is led: it is as low as the legs ask."""
POSTURE_WEIGHT = 3e-4
"""Weight of a radian away from the posture at rest."""
DAMPING = 1e-5
MAX_STEP = 0.4
"""[rad, m] Most that a coordinate changes in a step."""
STEP_TOLERANCE = 2e-4
"""[rad, m] Largest step after which a frame is done; what is left is its square."""
BOUND_TOLERANCE = 1e-9
MAX_BOUND_PASSES = 6
"""Times that more coordinates may come to their bounds within a step."""
LOST_ANGLE = 0.8
"""[rad]"""
LIMIT_MARGIN = 0.03
"""[rad, m] Room that first poses leave within bounds."""
MIN_KNEE_ANGLE = 0.14
"""[rad] Least bend of a knee: a stretched leg cannot keep its foot while the body moves."""


@dataclass(frozen=True, slots=True)
class PoseTargets:
    """What is followed in N frames.

    Attributes:
        rotations: (N, O, 3, 3) orientations of the mapping's links, world; the feet's among them as they are led.
        foot_positions: (N, F, 3) [m] where the origins of the feet's links go.
        hip_positions: (N, 3) [m] where the middle between the hips goes.
        com: (N, 2) [m] over where the centre of mass goes; the middle between the hips then only keeps its height.
        separation: links that are not to touch.
        foot_yaw_freedom: (N, F) share by which the feet may turn about the vertical; none by default.
    """

    rotations: np.ndarray
    foot_positions: np.ndarray
    hip_positions: np.ndarray
    com: np.ndarray | None = None
    separation: SeparationRows | None = None
    foot_yaw_freedom: np.ndarray | None = None

    def select(self, chosen: np.ndarray | slice) -> PoseTargets:
        """Some of the frames."""
        com = None if self.com is None else self.com[chosen]
        apart = None if self.separation is None else self.separation.select(chosen, len(self.hip_positions))
        free = None if self.foot_yaw_freedom is None else self.foot_yaw_freedom[chosen]
        return PoseTargets(
            self.rotations[chosen], self.foot_positions[chosen], self.hip_positions[chosen], com, apart, free
        )


@dataclass(frozen=True, slots=True)
class Poses:
    """A rig's coordinates in N frames.

    Attributes:
        root_rotations: (N, 3, 3) axes of the root, world.
        y: (N, nv) as `WholeMotion.forward` takes them.
    """

    root_rotations: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def select(self, chosen: np.ndarray | slice) -> Poses:
        """Some of the frames."""
        return Poses(self.root_rotations[chosen], self.y[chosen])


@dataclass(frozen=True, slots=True)
class PosePrior:
    """Poses to stay near: a radian (or metre) away costs ``weight``."""

    poses: Poses
    weight: float

    def select(self, chosen: np.ndarray | slice) -> PosePrior:
        """Of some of the frames."""
        return PosePrior(self.poses.select(chosen), self.weight)


class PoseSolver:
    """A rig and what of it follows."""

    def __init__(self, rig: Rig, mapping: BoneMapping, feet: tuple[int, ...]) -> None:
        self.rig, self.tree = rig, BatchKinematics(rig)
        self.links = np.array([rig.index(link) for link in mapping.links])
        self.feet = feet
        firm = np.isin(self.links, feet)
        weights = METRES_PER_RADIAN**2 * np.where(firm, FOOT_WEIGHT, mapping.weights)
        moved = self.tree.coordinate_moves_link[self.links].astype(float)
        self._foot_rows = [int(np.flatnonzero(self.links == foot)[0]) for foot in feet]
        """Places of the feet among the links."""
        self._chains = ChainFit(rig, self.links)
        self._weights = weights
        self._shared = (moved * weights[:, None]).T @ moved
        self._moved = weights[:, None] * moved
        loose = (mapping.twist_weights < 1.0) & ~firm & (np.abs(mapping.bone_axes).sum(axis=1) > 0.0)
        self._twisting_rows = np.flatnonzero(loose)
        """Links that follow less about their bones."""
        self._bones = mapping.bone_axes[loose]
        self._twist_reduction = 1.0 - mapping.twist_weights[loose]
        self._twist_rows = np.sqrt(self._twist_reduction * weights[loose])[:, None] * moved[loose]
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
        """Bounds (2, nv) of first poses, which leave room for their path to be smoothed."""
        self.rest_coordinates = np.clip(0.0, *self.start_bounds)
        self._posture = np.concatenate([np.zeros(ROOT_NV), np.full(rig.nv - ROOT_NV, POSTURE_WEIGHT)])

    def chain_poses(self, targets: PoseTargets, root_rotations: np.ndarray) -> Poses:
        """Every chain of joints as its own ends ask, under roots (N, 3, 3) in their places."""
        poses = self.rest_poses(targets, root_rotations)
        angles, _ = self._chains.fit_angles(targets.rotations)
        own = self._chains.v_indices >= 0
        columns = self._chains.v_indices[own]
        lower, upper = (bound[columns] for bound in self.start_bounds)
        poses.y[:, columns] = np.clip(angles[:, own], lower, upper)
        return poses

    def rest_poses(self, targets: PoseTargets, root_rotations: np.ndarray) -> Poses:
        """At rest under roots (N, 3, 3) in their places."""
        y = np.tile(self.rest_coordinates, (len(targets.hip_positions), 1))
        y[:, :3] = targets.hip_positions - root_rotations @ self.hip_offset
        return Poses(np.array(root_rotations), y)

    def solve(
        self, targets: PoseTargets, start: Poses, iterations: int, prior: PosePrior | None = None
    ) -> tuple[Poses, np.ndarray]:
        """Poses that follow, and which frames (N,) came to rest; with room within bounds unless some are likely."""
        lower, upper = self.start_bounds if prior is None else (self.lower, self.upper)
        turn, y, done = np.array(start.root_rotations), np.array(start.y), np.zeros(len(start), bool)
        for active in np.array_split(np.arange(len(y)), max(1, -(-len(y) // FRAMES_PER_BATCH))):
            for _ in range(iterations):
                if not len(active):
                    break
                own = None if prior is None else prior.select(active)
                step = self._step(targets.select(active), Poses(turn[active], y[active]), own, (lower, upper))
                longest = np.abs(step).max(axis=1)
                step *= np.minimum(1.0, MAX_STEP / np.maximum(longest, 1e-30))[:, None]
                turn[active] = exp(step[:, 3:ROOT_NV]) @ turn[active]
                step[:, 3:ROOT_NV] = 0.0
                y[active] = np.clip(y[active] + step, lower, upper)
                finished = longest < STEP_TOLERANCE
                done[active[finished]] = True
                active = active[~finished]
        return Poses(turn, y), done

    def compute_costs(self, targets: PoseTargets, poses: Poses) -> np.ndarray:
        """(N,) [m^2] weighted squares of what orientations and places miss."""
        placed = self.link_frames(poses)
        off, _ = self._orientation_errors(targets, placed)
        missed = targets.hip_positions - self.tree.link_origins(placed, 0).T - poses.root_rotations @ self.hip_offset
        result = (self._weights * (off**2).sum(axis=2)).sum(axis=1) + HIP_WEIGHT * (missed**2).sum(axis=1)
        for number, link in enumerate(self.feet):
            result += FOOT_WEIGHT * (
                (targets.foot_positions[:, number] - self.tree.link_origins(placed, link).T) ** 2
            ).sum(axis=1)
        return np.asarray(result)

    def foot_errors(self, targets: PoseTargets, poses: Poses) -> np.ndarray:
        """(N,) [m] by how much the foot that is farther from its place misses it."""
        placed = self.link_frames(poses)
        away = [
            targets.foot_positions[:, number] - self.tree.link_origins(placed, link).T
            for number, link in enumerate(self.feet)
        ]
        return np.asarray(np.linalg.norm(away, axis=2).max(axis=0))

    def is_lost(self, targets: PoseTargets, poses: Poses) -> np.ndarray:
        """(N,) True where a link is so far from its orientation that it has gone the wrong way round."""
        off, _ = self._orientation_errors(targets, self.link_frames(poses))
        return np.asarray((np.linalg.norm(off, axis=2) > LOST_ANGLE).any(axis=1))

    def link_frames(self, poses: Poses) -> BatchFrames:
        """Where the links are."""
        return self.tree.forward(poses.root_rotations, poses.y)

    def link_rotations(self, poses: Poses) -> np.ndarray:
        """Axes (N, O, 3, 3) of the mapping's links, world."""
        return self.tree.link_rotations(self.link_frames(poses), self.links)

    def _step(
        self, targets: PoseTargets, poses: Poses, prior: PosePrior | None, bounds: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Change (n, nv) of the coordinates; of the root's turn: about the world's axes."""
        placed, y = self.link_frames(poses), poses.y
        axes = np.ascontiguousarray(placed.axes.transpose(2, 0, 1))
        off, bones = self._orientation_errors(targets, placed)
        if targets.foot_yaw_freedom is not None:
            off[:, self._foot_rows, 2] *= 1.0 - targets.foot_yaw_freedom
        pulls = off.swapaxes(1, 2) @ self._moved
        gradient = (axes * pulls.swapaxes(1, 2)).sum(axis=2)
        hessian = axes @ axes.swapaxes(1, 2)
        hessian *= self._shared
        spared = (bones @ axes.swapaxes(1, 2)) * self._twist_rows
        hessian -= spared.swapaxes(1, 2) @ spared
        if targets.foot_yaw_freedom is not None:
            about = (
                np.sqrt(targets.foot_yaw_freedom)[:, :, None]
                * axes[:, None, :, 2]
                * np.sqrt(self._moved[self._foot_rows])
            )
            hessian -= about.swapaxes(1, 2) @ about
        rows, rests = [], []
        for number, link in enumerate(self.feet):
            point = self.tree.link_origins(placed, link)
            rows.append(np.sqrt(FOOT_WEIGHT) * self.tree.jacobian(placed, link, point))
            rests.append(np.sqrt(FOOT_WEIGHT) * (targets.foot_positions[:, number] - point.T))
        point = self.tree.link_origins(placed, 0) + (poses.root_rotations @ self.hip_offset).T
        led, weight = (slice(None), HIP_WEIGHT) if targets.com is None else (slice(2, 3), HIP_HEIGHT_WEIGHT)
        rows.append(np.sqrt(weight) * self.tree.jacobian(placed, 0, point)[:, led])
        rests.append(np.sqrt(weight) * (targets.hip_positions - point.T)[:, led])
        if targets.com is not None:
            place, slopes = self.tree.centre_of_mass(placed)
            rows.append(np.sqrt(FOOT_WEIGHT) * slopes[:, :2])
            rests.append(np.sqrt(FOOT_WEIGHT) * (targets.com - place[:, :2]))
        jacobian, rest = np.concatenate(rows, axis=1), np.concatenate(rests, axis=1)
        hessian += jacobian.swapaxes(1, 2) @ jacobian
        gradient += (rest[:, None] @ jacobian)[:, 0]
        if targets.separation is not None:
            targets.separation.add(self.tree, placed, hessian, gradient)
        price = self._posture + DAMPING
        gradient += self._posture * (self.rest_coordinates - y)
        if prior is not None:
            price = price + prior.weight
            away = prior.poses.y - y
            away[:, 3:ROOT_NV] = log(prior.poses.root_rotations @ poses.root_rotations.swapaxes(1, 2))
            gradient += prior.weight * away
        diagonal = np.arange(y.shape[1])
        hessian[:, diagonal, diagonal] += price
        return _solve_within_bounds(hessian, gradient, bounds[0] - y, bounds[1] - y)

    def _orientation_errors(self, targets: PoseTargets, frames: BatchFrames) -> tuple[np.ndarray, np.ndarray]:
        """By what links miss their orientations (n, O, 3) [rad], world, and bones (n, B, 3) of the loose ones."""
        turns = self.tree.link_rotations(frames, self.links)
        off = log(targets.rotations @ turns.swapaxes(2, 3))
        bones = (turns[:, self._twisting_rows] @ self._bones[:, :, None])[..., 0]
        off[:, self._twisting_rows] -= (self._twist_reduction * (bones * off[:, self._twisting_rows]).sum(axis=2))[
            :, :, None
        ] * bones
        return off, bones


def _solve_within_bounds(hessian: np.ndarray, gradient: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Steps (n, nv) within bounds: of coordinates that would pass theirs, which end there, the others take account."""
    held = ((low > -BOUND_TOLERANCE) & (gradient < 0.0)) | ((high < BOUND_TOLERANCE) & (gradient > 0.0))
    ends = np.where(held, 0.0, np.nan)
    result = _solve_with_fixed(hessian, gradient, ends)
    active = np.arange(len(gradient))
    for _ in range(MAX_BOUND_PASSES):
        own = result[active]
        passed = (own < low[active] - BOUND_TOLERANCE) | (own > high[active] + BOUND_TOLERANCE)
        some = passed.any(axis=1)
        active, passed, own = active[some], passed[some], own[some]
        if not len(active):
            break
        ends[active] = np.where(passed, np.clip(own, low[active], high[active]), ends[active])
        result[active] = _solve_with_fixed(hessian[active], gradient[active], ends[active])
    return np.clip(result, low, high)


def _solve_with_fixed(hessian: np.ndarray, gradient: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Solutions (n, nv) of the systems in which coordinates that are not NaN in ``ends`` (n, nv) are those."""
    frames, columns = np.nonzero(np.isfinite(ends))
    if len(frames):
        known = np.nan_to_num(ends)
        gradient = gradient - (hessian @ known[:, :, None])[:, :, 0]
        hessian = hessian.copy()
        hessian[frames, columns] = 0.0
        hessian[frames, :, columns] = 0.0
        hessian[frames, columns, columns] = 1.0
        gradient[frames, columns] = ends[frames, columns]
    return np.asarray(np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0])


def hip_centre(rig: Rig) -> np.ndarray:
    """Middle between the hips (3,) [m], axes of the root link."""
    starts = find_joint_centres(rig, find_anatomy(rig).parts)
    middle = 0.5 * (starts[f"left_{LEG[0]}"] + starts[f"right_{LEG[0]}"])
    return np.asarray(rig.rest[0][0].T @ (middle - rig.rest[1][0]))


def knee_hinges(rig: Rig) -> list[tuple[int, float]]:
    """Column of each knee that is a hinge, and towards which sign it bends."""
    parts, result = find_anatomy(rig).parts, []
    for side in ("right", "left"):
        link = parts.get(f"{side}_{LEG[1]}")
        if link is None:
            continue
        joint = rig.joints[rig.index(link)]
        column = sum(other.nv for other in rig.joints[: rig.index(link)])
        limits = rig.limits_of(link)
        middle = float(limits.lower[0] + limits.upper[0]) if joint.kind == "revolute" else 0.0
        if np.isfinite(middle) and middle:
            result.append((column, float(np.sign(middle))))
    return result


__all__ = ["ROOT", "FootPaths", "PosePrior", "PoseSolver", "PoseTargets", "Poses", "hip_centre", "knee_hinges"]
