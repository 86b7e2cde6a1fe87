"""Retargets one recording: targets of every frame, and poses that follow them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...base.arrays import true_runs
from ...options.authoring import RetargetOptions
from ...skeleton.rig import ROOT_NV, Rig
from ...values.filter_presets import FilterPreset
from ...values.person import SIDES
from ..anatomy import LEG
from ..bone_mapping import BoneMapping
from .batch_kinematics import UP
from .foot_paths import plan_foot_paths
from .interpolation import (
    POSE_FILTER,
    interpolate_poses,
    low_pass_positions,
    low_pass_rotations,
    select_frames,
)
from .leg_reach import LegReach
from .performer import Performer
from .pose_solver import PosePrior, PoseSolver, PoseTargets, SolvedPoses

SPARSE_INTERVAL, DENSE_INTERVAL = 0.1, 0.03
"""[s] between frames that are posed from an initial fit, and between those that start from interpolated poses."""
START_ITERATIONS, CONTINUE_ITERATIONS, SETTLE_ITERATIONS = 16, 12, 20
"""Most iterations of a frame from an initial fit, from an interpolated pose, and of legs that follow the feet."""
MAX_SWEEPS, DIRECTIONS = 60, 2
"""Most sweeps in which a frame is tried from its neighbours, from the one before and the one after in turn."""
MIN_IMPROVEMENT = 0.99
"""Ratio of costs below which another pose is better."""
MAX_FRAME_CHANGE = 1.0
"""[rad] Difference between neighbouring sparse frames that are in different minima."""
SMOOTH_PATH_WEIGHT = 1.0
"""Weight of a radian away from the smoothed path, far above the weights of links: only the feet are corrected, and
changes by bounds or by single frames stay smooth."""
MIN_SPARSE_FRAMES = 4
"""Sparse frames needed to interpolate others."""


class Retargeter:
    """A performer, the rig that follows it, and the mapping between both."""

    def __init__(
        self, performer: Performer, rig: Rig, mapping: BoneMapping, options: RetargetOptions, turns: np.ndarray
    ) -> None:
        self.performer, self.rig, self.mapping = performer, rig, mapping
        self.foot_paths = plan_foot_paths(performer, rig, mapping, performer.stances(), options, turns)
        self.turns = turns
        """(2, N) [rad] of the right and the left foot from their recorded headings."""
        self.solver = PoseSolver(rig, mapping, self.foot_paths.links)
        self.reach = LegReach.of(self.solver)
        columns = [performer.recording.names.index(segment) for segment in mapping.segments]
        self.rotations = performer.recording.rotations[:, columns] @ mapping.rotations
        self.root = mapping.links.index(rig.links[0])
        self.foot_columns = [mapping.links.index(rig.links[link]) for link in self.foot_paths.links]
        hips = [performer.part_positions(f"{side}_{LEG[0]}") for side in SIDES]
        self.hip_path = 0.5 * mapping.scale * (hips[0] + hips[1])
        # the soles' lowest height is the floor of the rig, whatever the recording's zero
        self.hip_path[:, 2] -= mapping.scale * performer.floor
        self.hip_path[:, 2] += self._ankle_height_difference()

    def _ankle_height_difference(self) -> float:
        """[m] Height of the rig's foot links over their soles minus that of the followed ankles, scaled."""
        performer, own = self.performer, -np.mean([sole.corners[:, 2].mean() for sole in self.foot_paths.soles])
        ankles = [-(performer.soles[side] @ performer.rest_rotation(side).T)[:, 2].min() for side in SIDES]
        return float(own - self.mapping.scale * np.mean(ankles))

    def pose_targets(self, chosen: np.ndarray | slice = slice(None)) -> PoseTargets:
        """Targets of frames of the recording."""
        rotations = np.array(self.rotations[chosen])
        for foot, column in enumerate(self.foot_columns):
            rotations[:, column] = self.foot_paths.rotations[foot][chosen]
        return PoseTargets(rotations, self.foot_paths.positions[:, chosen].swapaxes(0, 1), self.hip_path[chosen])

    def solve_poses(self, times: np.ndarray) -> SolvedPoses:
        """Poses of every frame of the recording: those of some frames, interpolated."""
        sparse, dense = (select_frames(times, apart) for apart in (SPARSE_INTERVAL, DENSE_INTERVAL))
        targets = self.pose_targets(dense if len(sparse) <= MIN_SPARSE_FRAMES else sparse)
        poses, _ = self.solver.solve(
            targets, self.solver.chain_poses(targets, targets.rotations[:, self.root]), START_ITERATIONS
        )
        poses = self._repair_poses(targets, poses)
        if len(sparse) > MIN_SPARSE_FRAMES:
            start = interpolate_poses(times[sparse], poses, times[dense])
            poses, _ = self.solver.solve(self.pose_targets(dense), start, CONTINUE_ITERATIONS)
        return interpolate_poses(times[dense], poses, times) if len(dense) < len(times) else poses

    def _repair_poses(self, targets: PoseTargets, poses: SolvedPoses) -> SolvedPoses:
        """Poses frames in a wrong minimum again, from the frame before and the one after in turn."""
        rotation, y, unchanged = np.array(poses.root_rotations), np.array(poses.y), 0
        for number in range(MAX_SWEEPS):
            on = 1 - 2 * (number % DIRECTIONS)
            lost = self.solver.is_lost(targets, SolvedPoses(rotation, y))
            leaps = np.abs(np.diff(y[:, ROOT_NV:], axis=0)).max(axis=1) > MAX_FRAME_CHANGE
            wrong = np.append(False, leaps) if on > 0 else np.append(leaps, False)
            wrong |= lost & ~np.roll(lost, on)
            wrong[0 if on > 0 else -1] = False
            frames = np.flatnonzero(wrong)
            own = targets.select(frames)
            found, _ = self.solver.solve(own, SolvedPoses(rotation[frames - on], y[frames - on]), CONTINUE_ITERATIONS)
            better = self.solver.compute_costs(own, found) < MIN_IMPROVEMENT * self.solver.compute_costs(
                own, SolvedPoses(rotation[frames], y[frames])
            )
            rotation[frames[better]], y[frames[better]] = found.root_rotations[better], found.y[better]
            unchanged = 0 if better.any() else unchanged + 1
            if unchanged == DIRECTIONS:
                break
        return SolvedPoses(rotation, y)

    def smooth_poses(self, times: np.ndarray, poses: SolvedPoses) -> tuple[SolvedPoses, np.ndarray]:
        """Poses near their own low-passed path that keep feet and limits, and which converged.

        The hips keep the recorded path, as low as the legs need; only the legs give way to the feet.
        """
        path, targets = low_pass_poses(self.solver, times, poses), self.pose_targets()
        offset = path.root_rotations @ self.solver.hip_offset
        hips = low_pass_positions(times, targets.hip_positions)
        hips[:, 2] += np.median(path.y[:, 2] + offset[:, 2] - hips[:, 2])
        path.y[:, :3] = hips - offset
        self.foot_paths = replace(self.foot_paths, root_heights=np.array(path.y[:, 2]))
        path.y[:, 2] -= self.reach.lower_hips(times, path, targets, self.foot_paths.swing_weights)
        targets = replace(targets, hip_positions=path.y[:, :3] + path.root_rotations @ self.solver.hip_offset)
        targets = self.reach.yield_feet(path, targets, self.foot_paths.swing_weights)
        return self.solver.solve(targets, path, SETTLE_ITERATIONS, PosePrior(path, self.solver.leg_weights))

    def turn_feet(self, poses: SolvedPoses) -> np.ndarray:
        """Turns (2, N) [rad] of the feet, half the way to the pelvis' heading where joints meet limits in a stance.

        A foot that points outwards behind the body needs an ankle that rolls far; its limit would pull the body. Joints
        that only bend the leg do not count.
        """
        solver, feet = self.solver, self.foot_paths
        rest = solver.link_frames(SolvedPoses(np.eye(3)[None], np.zeros((1, self.rig.nv)))).axes[:, :, 0]
        left = np.cross(UP, self.rig.forward)
        lower, upper = solver.start_bounds
        meets = ((poses.y < lower) | (poses.y > upper)) & (np.abs(rest @ left) < np.sqrt(0.5))
        ahead = poses.root_rotations @ self.rig.rest[0][0].T @ self.rig.forward
        turns = np.array(self.turns)
        for number, (link, sole, in_stance) in enumerate(zip(feet.links, feet.soles, feet.in_stance)):
            own = meets[:, solver.tree.coordinate_moves_link[link]].any(axis=1)
            front = (feet.rotations[number] @ sole.axes)[:, :, 0]
            off = np.arctan2(np.cross(front[:, :2], ahead[:, :2]), (front * ahead)[:, :2].sum(axis=1))
            for start, stop in true_runs(in_stance):
                if own[start:stop].any():
                    turns[number, start:stop] += 0.5 * np.median(off[start:stop])
            if in_stance.any():
                turns[number] = np.interp(np.arange(len(own)), np.flatnonzero(in_stance), turns[number, in_stance])
        return turns


def low_pass_poses(
    solver: PoseSolver, times: np.ndarray, poses: SolvedPoses, preset: FilterPreset = POSE_FILTER
) -> SolvedPoses:
    """The low-passed path of poses, within bounds."""
    smooth = low_pass_positions(times, poses.y, preset)
    return SolvedPoses(
        low_pass_rotations(times, poses.root_rotations, preset), np.clip(smooth, solver.lower, solver.upper)
    )
