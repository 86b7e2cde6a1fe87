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
from ..dynamics.coordinates import Curves
from ..dynamics.mechanics import Mechanics
from ..feasibility import Checks, check_motion
from ..feasibility.check_input import CheckedBody, CheckInput, PlantedPhase
from ..feasibility.checks.joint_limits import JOINT_TORQUE
from ..feasibility.contact_forces import MIN_LOAD, yaw_margins_by_side, zero_moment_point
from ..options.authoring import RetargetOptions
from ..options.checks import ROBOT_SHRINK, CheckOptions
from ..tracking.anatomy import ARM, find_anatomy
from ..tracking.retargeting.interpolation import (
    WIDENING_TIME,
    required_stretch,
    smooth_maximum,
    stretch_times,
)
from ..tracking.retargeting.leg_reach import LegReach
from ..tracking.retargeting.pose_solver import PosePrior, PoseSolver, SolvedPoses
from ..tracking.retargeting.retarget import MIN_NOTED_SLOWDOWN, SPEED_TOLERANCE, RetargetedMotion
from ..tracking.retargeting.retargeter import SETTLE_ITERATIONS
from ..values.motion import Motion
from ..values.person import SIDES
from .collision_avoidance import separate_links
from .com_sway import LOAD_RANGE, Pendulum, SupportRegions, TrunkTurn, solve_least_sway

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
    given = motion.ease_ends() if options.from_rest else motion
    best, least, first = given, np.inf, given.duration_ratio
    # a flight that lasts longer is not free fall
    slows = not (options.keep_timing or any(phase.airborne for phase in given.schedule.phases))
    for attempt in range(MAX_SLOWDOWNS + 1):
        part = PartialProgress(progress, attempt / (MAX_SLOWDOWNS + 1), 1.0)
        result, poses = _Balancer(given, options.from_rest).solve(part)
        checks = check_motion(result.rig, result.motion, result.schedule, CheckOptions(pairs=()))
        times = result.motion.times
        slower = required_stretch(result.rig, times, poses, result.converged, 1.0)
        # a share of time is added only if joints are too fast or as large a share of the frames no longer fails
        failing = float(np.mean(checks.failed) + (slower.max() > SPEED_TOLERANCE)) + 1.0 - first / result.duration_ratio
        if failing < least:
            best, least = result, failing
        slower = np.maximum(slower, _torque_stretch(times, checks))
        if not slows or slower.max() <= SPEED_TOLERANCE:
            break
        given = given.stretch(stretch_times(times, slower))
    best = best if options.allow_collisions else _separate_and_balance(best, options, check_options)
    lasts = best.duration_ratio / first
    if lasts < MIN_NOTED_SLOWDOWN:
        return best
    note = f"it lasts {lasts:.3g} times as long, because joints would be too fast or too weak"
    return replace(best, notes=(*best.notes, note))


def _separate_and_balance(
    motion: RetargetedMotion, options: RetargetOptions, check_options: CheckOptions
) -> RetargetedMotion:
    """The motion with separated links, balanced again; the one that fails in the fewest frames."""
    ways = [motion]
    for _ in range(MAX_SEPARATIONS):
        apart = separate_links(ways[-1], options, check_options, keep_com=True)
        if apart is ways[-1]:
            break
        ways += [apart, _Balancer(apart, options.from_rest).solve(silent)[0]]
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
        self.targets = given.targets(self.posing, self.poses)
        self.body = CheckedBody(self.rig, CheckOptions(pairs=()))
        self.phases, reduced = (
            [PlantedPhase.from_phase(self.rig, phase, options) for phase in self.schedule.phases]
            for options in (self.body.options, CheckOptions(shrink=ROBOT_SHRINK))
        )
        self.planes = np.array([phase.support_height(self.schedule.ground) for phase in self.phases])
        """[m] Height of the support in each phase."""
        self.yaw = _find_trunk_yaw(self.posing)
        """Index of the coordinate that turns the trunk; 0: none does."""
        polygons = (tuple(phase.polygon for phase in phases) for phases in (self.phases, reduced))
        self.supports = SupportRegions(self.schedule.index_at(self.times), *polygons)

    def solve(self, progress: Progress) -> tuple[RetargetedMotion, SolvedPoses]:
        """The motion of the iteration with the least moment beyond its supports, and its poses."""
        poses, done = self.poses, self.given.converged
        pendulum = self._build_pendulum(poses)
        best, least = (poses, done), self._excess_moment(pendulum)
        for number in range(SWAY_ITERATIONS):
            progress(number / SWAY_ITERATIONS, "balancing")
            more = solve_least_sway(pendulum, self.supports, self.gravity)
            if more is None or not np.isfinite(more).all() or np.abs(more).max() > MAX_SWAY:
                break
            poses, done = self._move_com(poses, more)
            pendulum = self._build_pendulum(poses)
            if (now := self._excess_moment(pendulum)) < least:
                best, least = (poses, done), now
        return self.given.with_poses(*best), best[0]

    def _move_com(self, poses: SolvedPoses, more: np.ndarray) -> tuple[SolvedPoses, np.ndarray]:
        """Poses whose body is displaced and whose trunk is turned by (N, 3) [m, rad], and whether each converged."""
        y = np.array(poses.y)
        y[:, :2] += more[:, :2]
        y[:, self.yaw] = np.clip(y[:, self.yaw] + more[:, 2], self.posing.lower[self.yaw], self.posing.upper[self.yaw])
        y[:, 2] = self.given.foot_paths.root_heights
        path, paths = SolvedPoses(poses.root_rotations, y), self.given.foot_paths
        y[:, 2] -= self.reach.lower_hips(self.times, path, self.targets, paths.swing_weights)
        targets = replace(self.targets, hip_positions=y[:, :3] + path.root_rotations @ self.posing.hip_offset)
        targets = self.reach.yield_feet(path, targets, paths.swing_weights)
        return self.posing.solve(targets, path, SETTLE_ITERATIONS, PosePrior(path, self.posing.leg_weights))

    def _build_pendulum(self, poses: SolvedPoses) -> Pendulum:
        motion = self.given.with_poses(poses).motion
        com, given = (self.mechanics.compute_coms(way.q) for way in (motion, self.given.motion))
        wrench = self.mechanics.compute_wrenches(motion.q, motion.v, motion.a)
        weight, ground = self.rig.weight, self.planes[self.supports.phase]
        unit_weight = np.maximum(wrench[:, 2], MIN_LOAD * weight) / self.rig.prior.total_mass
        height = com[:, 2] - ground
        zmp = zero_moment_point(wrench, ground, weight)
        lever, load = height / unit_weight, wrench[:, 2] / weight
        turn = self._build_turn(poses, motion, zmp, ground)
        return Pendulum(
            self.times, zmp, lever, (com - given)[:, :2], load, float(np.median(height)), self.from_rest, turn
        )

    def _build_turn(self, poses: SolvedPoses, motion: Motion, zmp: np.ndarray, ground: np.ndarray) -> TrunkTurn:
        """Turn of the trunk, which needs none where it cannot turn; zero-moment points (N, 2), ground (N,) [m]."""
        still, turning, weight = np.zeros_like(motion.v), np.zeros_like(motion.v), self.rig.weight
        turning[:, self.yaw] = 1.0
        push = self.mechanics.compute_wrenches(motion.q, still, turning)
        push = (push - self.mechanics.compute_wrenches(motion.q, still, still)) / weight
        tilt = np.stack([ground * push[:, 0] - push[:, 4], ground * push[:, 1] + push[:, 3]]) - zmp.T * push[:, 2]
        moments = np.stack([*tilt, push[:, 5] - zmp[:, 0] * push[:, 1] + zmp[:, 1] * push[:, 0]], axis=1)
        margins = np.full((len(poses), 2), np.inf)
        for number, planted in enumerate(self.phases):
            own = np.flatnonzero(self.supports.phase == number)
            if planted.polygon is not None and len(own) and self.yaw:
                curves = Curves(motion.q[own], motion.v[own], motion.a[own])
                loads = CheckInput.from_motion(self.body, planted, self.schedule.ground, curves).loads
                both = yaw_margins_by_side(
                    loads, planted.centres, planted.axes, planted.half_lengths, self.body.options.friction, weight
                )
                margins[own] = (both.reshape(len(own), 2, -1) * planted.half_lengths.sum(axis=1)).min(axis=2)
        return TrunkTurn(poses.y[:, self.yaw] - self.poses.y[:, self.yaw], moments, margins)

    def _excess_moment(self, pendulum: Pendulum) -> float:
        """[m] Mean over all frames of the moment that the supports cannot give, over the weight."""
        outside = np.zeros(len(self.times))
        for number, polygon in enumerate(self.supports.polygons):
            own = self.supports.phase == number
            if polygon is not None and own.any():
                outside[own] = np.maximum(-polygon.margin(pendulum.zmp[own]), 0.0)
        assert pendulum.turn is not None
        twisted = np.maximum(-pendulum.turn.margins.min(axis=1), 0.0)
        return float(np.mean(outside.clip(0.0, 1.0) * np.clip(pendulum.load, *LOAD_RANGE) + twisted.clip(0.0, 1.0)))


def _find_trunk_yaw(posing: PoseSolver) -> int:
    """Index of the coordinate that turns both arms but no foot about the most upright axis; 0: there is none."""
    parts, moves = find_anatomy(posing.rig).parts, posing.tree.coordinate_moves_link
    arms = [posing.rig.index(parts[part]) for part in (f"{side}_{ARM[0]}" for side in SIDES) if part in parts]
    able = moves[arms].all(axis=0) & ~moves[list(posing.feet)].any(axis=0) & bool(arms)
    upright = np.abs(posing.link_frames(SolvedPoses(np.eye(3)[None], np.zeros((1, posing.rig.nv)))).axes[:, 2, 0])
    return int(np.argmax(upright * (able & (upright > np.sqrt(0.5)))))
