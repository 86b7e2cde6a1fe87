"""Balance of a retargeted motion: the centre of mass is displaced so that the zero-moment point is in its support.

Kinematic retargeting scales the path of the hips and ignores balance. Here the smallest sway brings the zero-moment
point into the part of the soles that touches (`solve_least_sway`), and all frames are posed again on that path: the
body keeps its posture and the legs reach the given feet. The motion keeps its pace unless joints would be too fast or
too weak.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.progress import PartialProgress, Progress, silent
from ..contacts.support import SupportPolygon, support_polygon
from ..dynamics.mechanics import Mechanics
from ..feasibility import Checks, check_motion
from ..feasibility.check_input import PlantedPhase
from ..feasibility.checks.joint_limits import JOINT_TORQUE
from ..feasibility.contact_forces import MIN_LOAD, zero_moment_point
from ..options.authoring import RetargetOptions
from ..options.checks import ROBOT_SHRINK, CheckOptions
from ..tracking.retargeting.interpolation import (
    WIDENING_TIME,
    required_stretch,
    smooth_maximum,
    stretch_times,
)
from ..tracking.retargeting.leg_reach import LegReach
from ..tracking.retargeting.pose_solver import PosePrior, PoseSolver, PoseTargets, SolvedPoses
from ..tracking.retargeting.retarget import MIN_NOTED_SLOWDOWN, RetargetedMotion
from ..tracking.retargeting.retargeter import SETTLE_ITERATIONS, SPEED_TOLERANCE
from .collision_avoidance import separate_links
from .com_sway import LOAD_RANGE, Pendulum, SupportRegions, solve_least_sway

MAX_SLOWDOWNS = 4
"""Times that the motion is slowed down where joints are too fast or too weak.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`; no other value was tried."""
MAX_STEP_SLOWDOWN = 1.6
"""Largest factor of one of them.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`; no other value was tried."""
MAX_SEPARATIONS = 2
"""Repetitions of separating links and balancing."""
SWAY_ITERATIONS = 6
"""Repetitions of the sway with a new zero-moment point."""
MAX_SWAY = 0.5
"""[m] Displacement above which the sway has diverged.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`; no other value was tried."""


def balance_motion(
    motion: RetargetedMotion, options: RetargetOptions, check_options: CheckOptions, progress: Progress = silent
) -> RetargetedMotion:
    """The motion with balanced centre of mass.

    Args:
        motion: retargeted.
        options: of the retargeting.
        check_options: pairs of links that must not touch.
        progress: is notified, and may cancel.
    """
    given, notes = (motion.ease_ends() if options.from_rest else motion), []
    first = float(given.motion.times[-1] - given.motion.times[0])
    best, least = given, np.inf
    # a flight that lasts longer is not free fall
    slows = not (options.keep_timing or any(phase.airborne for phase in given.schedule.phases))
    for attempt in range(MAX_SLOWDOWNS + 1):
        part = PartialProgress(progress, attempt / (MAX_SLOWDOWNS + 1), 1.0)
        result, poses = _Balancer(given, options.from_rest).solve(part)
        checks = check_motion(result.rig, result.motion, result.schedule, CheckOptions(pairs=()))
        failing = float(np.mean(checks.failed))
        if failing < least:
            best, least = result, failing
        times = result.motion.times
        slower = required_stretch(result.rig, times, poses, result.converged, 1.0)
        slower = np.maximum(slower, _torque_stretch(times, checks))
        if not slows or slower.max() <= SPEED_TOLERANCE:
            break
        given = given.stretch(stretch_times(times, slower))
    best = best if options.allow_collisions else _separate_and_balance(best, options, check_options)
    lasts = float(best.motion.times[-1] - best.motion.times[0])
    if lasts > first * MIN_NOTED_SLOWDOWN:
        notes.append(f"it lasts {lasts / first:.3g} times as long, because joints would be too fast or too weak")
    if given.foot_paths.in_stance.any():
        notes.append("the centre of mass is balanced over what touches of the feet")
    return replace(best, notes=(*best.notes, *notes))


def _separate_and_balance(
    motion: RetargetedMotion, options: RetargetOptions, check_options: CheckOptions
) -> RetargetedMotion:
    """The motion with separated links, balanced again; the one that fails in the fewest frames."""
    ways = [motion]
    for _ in range(MAX_SEPARATIONS):
        apart = separate_links(ways[-1], options, check_options, keep_com=True)
        if apart is ways[-1]:
            break
        balanced, _ = _Balancer(apart, options.from_rest).solve(silent)
        ways += [apart, balanced]
    failing = [check_motion(way.rig, way.motion, way.schedule, check_options).failed.mean() for way in ways]
    return ways[int(np.argmin(failing))]


def _torque_stretch(times: np.ndarray, checks: Checks) -> np.ndarray:
    """Factors (N - 1,), smooth, by which each step must last longer so that joint torques hold, to first order."""
    beyond = np.maximum(-checks.get_margin(JOINT_TORQUE.name).smallest, 0.0)
    needed = np.sqrt(1.0 + np.where(np.isfinite(beyond), beyond, 0.0)).clip(1.0, MAX_STEP_SLOWDOWN)
    factors = 1.0 + smooth_maximum(times, needed - 1.0, WIDENING_TIME, WIDENING_TIME)
    return np.asarray(np.maximum(factors[1:], factors[:-1]))


class _Balancer:
    """Balances a motion."""

    def __init__(self, given: RetargetedMotion, from_rest: bool) -> None:
        self.given, self.rig, self.times, self.from_rest = given, given.rig, given.motion.times, from_rest
        self.posing = PoseSolver(given.rig, given.mapping, given.foot_paths.links)
        self.reach = LegReach.of(self.posing)
        self.mechanics, self.schedule = Mechanics(given.rig), given.schedule
        self.gravity = given.rig.weight / given.rig.prior.total_mass
        self.poses = given.poses
        self.targets = self._build_targets()
        phases = [PlantedPhase.from_phase(self.rig, phase, CheckOptions(pairs=())) for phase in self.schedule.phases]
        self.planes = np.array([phase.support_height(self.schedule.ground) for phase in phases])
        """[m] Height of the support in each phase."""
        self.supports = SupportRegions(
            self.schedule.index_at(self.times), self._polygons(0.0), self._polygons(ROBOT_SHRINK)
        )

    def solve(self, progress: Progress) -> tuple[RetargetedMotion, SolvedPoses]:
        """The motion of the iteration with the least moment beyond its supports, and its poses."""
        poses, done = self.poses, self.given.converged
        start, pendulum = self._com(poses), self._build_pendulum(poses, np.zeros((len(poses), 2)))
        best, least = (poses, done), self._excess_moment(pendulum)
        for number in range(SWAY_ITERATIONS):
            progress(number / SWAY_ITERATIONS, "balancing")
            more = solve_least_sway(pendulum, self.supports, self.gravity)
            if more is None or not np.isfinite(more).all() or np.abs(more).max() > MAX_SWAY:
                break
            poses, done = self._move_com(poses, more)
            pendulum = self._build_pendulum(poses, (self._com(poses) - start)[:, :2])
            if (now := self._excess_moment(pendulum)) < least:
                best, least = (poses, done), now
        return self.given.with_poses(*best), best[0]

    def _polygons(self, shrink: float) -> tuple[SupportPolygon | None, ...]:
        """Support polygon of each phase."""
        return tuple(support_polygon(self.rig, p.anchors, shrink) if p.anchors else None for p in self.schedule.phases)

    def _build_targets(self) -> PoseTargets:
        """Targets: orientations of links as given, and the feet on their paths."""
        placed, posing = self.posing.link_frames(self.poses), self.posing
        turns = posing.tree.link_rotations(placed, posing.links)
        for number, link in enumerate(self.given.foot_paths.links):
            turns[:, np.flatnonzero(posing.links == link)[0]] = self.given.foot_paths.rotations[number]
        return PoseTargets(turns, self.given.foot_paths.positions.swapaxes(0, 1), self.poses.y[:, :3])

    def _move_com(self, poses: SolvedPoses, more: np.ndarray) -> tuple[SolvedPoses, np.ndarray]:
        """Poses whose body is displaced by (N, 2) [m], and whether each converged."""
        y = np.array(poses.y)
        y[:, :2] += more
        y[:, 2] = self.poses.y[:, 2]
        path, paths = SolvedPoses(poses.root_rotations, y), self.given.foot_paths
        y[:, 2] -= self.reach.lower_hips(self.times, path, self.targets, paths.swing_weights)
        targets = replace(self.targets, hip_positions=y[:, :3] + path.root_rotations @ self.posing.hip_offset)
        targets = self.reach.yield_feet(path, targets, paths.swing_weights)
        return self.posing.solve(targets, path, SETTLE_ITERATIONS, PosePrior(path, self.posing.leg_weights))

    def _com(self, poses: SolvedPoses) -> np.ndarray:
        return self.posing.tree.centre_of_mass(self.posing.link_frames(poses))[0]

    def _build_pendulum(self, poses: SolvedPoses, swayed: np.ndarray) -> Pendulum:
        motion, com = self.given.with_poses(poses).motion, self._com(poses)
        wrench = self.mechanics.compute_wrenches(motion.q, motion.v, motion.a)
        weight, ground = self.rig.weight, self.planes[self.supports.phase]
        unit_weight = np.maximum(wrench[:, 2], MIN_LOAD * weight) / self.rig.prior.total_mass
        height = com[:, 2] - ground
        zmp = zero_moment_point(wrench, ground, weight)
        lever, load = height / unit_weight, wrench[:, 2] / weight
        return Pendulum(self.times, zmp, lever, swayed, load, float(np.median(height)), self.from_rest)

    def _excess_moment(self, pendulum: Pendulum) -> float:
        """[m] Mean over all frames of the moment that the supports cannot give, over the weight."""
        outside = np.zeros(len(self.times))
        for number, polygon in enumerate(self.supports.polygons):
            own = self.supports.phase == number
            if polygon is not None and own.any():
                outside[own] = np.maximum(-polygon.margin(pendulum.zmp[own]), 0.0)
        return float(np.mean(outside.clip(0.0, 1.0) * np.clip(pendulum.load, *LOAD_RANGE)))
