"""Balance of a retargeted motion: the body is displaced so that contacts and joints can give the forces it needs.

Kinematic retargeting scales the path of the hips and ignores forces. Here the least displacement (`solve_least_sway`)
meets every limit that checks put on forces: torques, zero-moment point, friction, yaw moment, no pull. All frames are
posed again on that path: the body keeps its posture and the legs reach the given feet. The motion keeps its pace unless
balanced joints are too fast or too weak: it is then slowed down once, as much as they need, and balanced again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ..base.progress import PartialProgress, Progress, silent
from ..dynamics.coordinates import Curves
from ..feasibility import Check, Checks, check_motion
from ..feasibility.check_input import CheckInput, PlantedPhase
from ..feasibility.check_table import CHECKS
from ..feasibility.checker import FrameChecker
from ..feasibility.checks.balance import ZMP
from ..feasibility.checks.joint_limits import JOINT_TORQUE
from ..feasibility.load_derivatives import WRENCH, derivatives_by_loads
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
from ..tracking.retargeting.retarget import (
    MAX_SLOWDOWN,
    MIN_NOTED_SLOWDOWN,
    SPEED_TOLERANCE,
    RetargetedMotion,
    motion_from_configurations,
)
from ..tracking.retargeting.retargeter import SETTLE_ITERATIONS
from ..values.person import SIDES
from .collision_avoidance import separate_links
from .com_sway import LIMIT_PENALTY, RESERVE_PENALTY, SwayingBody, WrenchLimits, solve_least_sway

MAX_FAILING_RATIO = 0.5
"""Ratio of failing frames below which a motion is slowed down for weak joints.
Chosen on a person of 1.6 m in cmu_walk, .06 before and .02 after, and on a squat of weak joints, .38 and .14."""
SWAY_ITERATIONS, SHARES = 12, (1.0, 0.5, 0.25)
"""Most displacements, and the shares of each that are tried: without an improvement it is the last."""
FAR = 5.0
"""Units of violation: a limit that is farther away is left out, and a larger violation counts as so many."""
RESPONSE_STEPS = 0.002, 0.002, 0.002, 0.005
"""[m, m, m, rad] Displacements with which responses are measured: far above rounding, and small beside any sway."""
REACH_UNIT = 0.01
"""[m] Unit of violation of a leg's reach."""
STENCIL = 5
"""Frames whose configurations determine the acceleration of the middle one."""
FORCE_CHECKS = tuple(check for check in CHECKS if check.eases_when_slower and check.smooth_limit is not None)
"""Checks of what contacts and joints can give."""
MAX_SWAY = 0.5
"""[m] Largest displacement that is tried at once.
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
    free = check_options.changed(pairs=())
    best = _Balancer(given, free, from_rest=options.from_rest).solve(PartialProgress(progress, 0.0, 0.5))
    # a flight that lasts longer is not free fall
    if not (options.keep_timing or any(phase.airborne for phase in given.schedule.phases)):
        part = PartialProgress(progress, 0.5, 1.0)
        best = _slow_and_balance(given, best, free, part, from_rest=options.from_rest)
    best = best if options.allow_collisions else _separate_and_balance(best, options, check_options)
    lasts = best.duration_ratio / given.duration_ratio
    if lasts < MIN_NOTED_SLOWDOWN:
        return best
    note = f"it lasts {lasts:.3g} times as long, because joints would be too fast or too weak"
    return replace(best, notes=(*best.notes, note))


def _slow_and_balance(
    given: RetargetedMotion, balanced: RetargetedMotion, free: CheckOptions, progress: Progress, *, from_rest: bool
) -> RetargetedMotion:
    """The motion slowed down where balanced joints are too fast or too weak, and balanced again.

    Where no joint is too fast, a slower motion must fail in less than `MAX_FAILING_RATIO` of the frames.
    """
    times, checks = balanced.motion.times, check_motion(given.rig, balanced.motion, balanced.schedule, free)
    slower = required_stretch(given.rig, times, balanced.poses, balanced.converged, 1.0)
    too_fast = slower.max() > SPEED_TOLERANCE
    slower = np.minimum(np.maximum(slower, _torque_stretch(times, checks)), MAX_SLOWDOWN)
    if slower.max() <= SPEED_TOLERANCE:
        return balanced
    slow = _Balancer(given.stretch(stretch_times(times, slower)), free, from_rest=from_rest).solve(progress)
    failing = check_motion(slow.rig, slow.motion, slow.schedule, free).failing
    return slow if too_fast or failing < MAX_FAILING_RATIO * checks.failing else balanced


def _separate_and_balance(
    motion: RetargetedMotion, options: RetargetOptions, check_options: CheckOptions
) -> RetargetedMotion:
    """The motion with separated links, balanced again; the one that fails the fewest checks."""
    apart = separate_links(motion, options, check_options)
    if apart is motion:
        return motion
    ways = [motion, apart, _Balancer(apart, check_options.changed(pairs=()), from_rest=options.from_rest).solve(silent)]
    failing = [check_motion(way.rig, way.motion, way.schedule, check_options).failing for way in ways]
    return ways[int(np.argmin(failing))]


def _torque_stretch(times: np.ndarray, checks: Checks) -> np.ndarray:
    """Factors (N - 1,), smooth, by which each step must last longer so that joint torques hold, to first order."""
    beyond = np.maximum(-checks.get_margin(JOINT_TORQUE.name).smallest, 0.0)
    needed = np.sqrt(1.0 + np.where(np.isfinite(beyond), beyond, 0.0))
    factors = 1.0 + smooth_maximum(times, needed - 1.0, WIDENING_TIME, WIDENING_TIME)
    return np.asarray(np.maximum(factors[1:], factors[:-1]))


class _Balancer:
    """Balances a motion."""

    def __init__(self, given: RetargetedMotion, options: CheckOptions, *, from_rest: bool) -> None:
        self.given, self.rig, self.times, self.from_rest = given, given.rig, given.motion.times, from_rest
        self.posing = PoseSolver(given.rig, given.mapping, given.foot_paths.links)
        self.reach = LegReach.of(self.posing)
        self.schedule, self.poses = given.schedule, given.poses
        self.targets = given.targets(self.posing, self.poses)
        self.phase_of_frame = self.schedule.index_at(self.times)
        self.checker = FrameChecker(given.rig, self.schedule, options)
        self.body = self.checker.body
        self.phases, self.reserves = (
            [PlantedPhase.from_phase(self.rig, phase, how) for phase in self.schedule.phases]
            for how in (options, options.changed(shrink=ROBOT_SHRINK))
        )
        self.yaw = _find_trunk_yaw(self.posing)
        """Index of the coordinate that turns the trunk; 0: none does."""

    def solve(self, progress: Progress) -> RetargetedMotion:
        """The motion with the least violation of limits that was found."""
        best, converged, far = self.poses, self.given.converged, np.zeros((len(self.times), 4))
        least = self._violation(best)
        for number in range(SWAY_ITERATIONS):
            progress(number / SWAY_ITERATIONS, "balancing")
            if not least:
                break
            more = solve_least_sway(*self._linearise(best, far), self.rig.weight / self.rig.prior.total_mass)
            if more is None or not np.isfinite(more).all():
                break
            more = more * (MAX_SWAY / max(float(np.abs(more).max()), MAX_SWAY))
            trials = (far + share * more for share in SHARES)
            found = ((trial, *self._displace(trial, SETTLE_ITERATIONS)) for trial in trials)
            better = next(((*each, now) for each in found if (now := self._violation(each[1])) < least), None)
            if better is None:
                break
            far, best, converged, least = better
        return self.given.with_poses(best, converged)

    def _violation(self, poses: SolvedPoses) -> float:
        """Violation of all checks by poses, in units of their limits' violation, of all frames."""
        motion, total = self.given.with_poses(poses).motion, 0.0
        for margin in self.checker.check_frames(motion).margins:
            if (limit := margin.check.smooth_limit) is not None:
                total += float(np.clip(-(margin.smallest + margin.tolerance) / limit.scale, 0.0, FAR).sum())
        return total

    def _displace(
        self, more: np.ndarray, iterations: int, start: SolvedPoses | None = None
    ) -> tuple[SolvedPoses, np.ndarray]:
        """Poses whose body is displaced and whose trunk is turned by (N, 4) [m, rad] from the given ones, and whether
        each converged; from a start.
        """
        y = np.array(self.poses.y)
        y[:, :3] += more[:, :3]
        y[:, self.yaw] = np.clip(y[:, self.yaw] + more[:, 3], self.posing.lower[self.yaw], self.posing.upper[self.yaw])
        path = SolvedPoses(self.poses.root_rotations, y)
        targets = replace(self.targets, hip_positions=y[:, :3] + path.root_rotations @ self.posing.hip_offset)
        targets = self.reach.yield_feet(path, targets, self.given.foot_paths.swing_weights)
        prior = PosePrior(path, self.posing.leg_weights)
        return self.posing.solve(targets, path if start is None else start, iterations, prior)

    def _responses(self, far: np.ndarray, poses: SolvedPoses) -> tuple[sparse.csr_array, ...]:
        """Responses of the wrench over the weight, see `SwayingBody`, to displacements of poses displaced by (N, 4).

        One step of the pose solver is the derivative of its solution. A frame's wrench depends on the frames around
        it, so every `STENCIL`-th frame is displaced at once.
        """
        motion = self.given.with_poses(self._displace(far, 1, poses)[0]).motion
        frames, count = np.arange(len(motion)), 6 * len(motion)
        compute, result = self.body.mechanics.compute_wrenches, []
        given = compute(motion.q, motion.v, motion.a)
        for step in np.diag(RESPONSE_STEPS)[: 3 + (self.yaw > 0)]:
            moved = self.given.with_poses(self._displace(far + step, 1, poses)[0]).motion.q
            changes, columns = [], []
            for first in range(STENCIL):
                own = np.where((frames % STENCIL == first)[:, None], moved, motion.q)
                changed = motion_from_configurations(self.rig, self.times, own)
                changes.append(compute(changed.q, changed.v, changed.a) - given)
                columns.append((frames - first + STENCIL // 2) // STENCIL * STENCIL + first)
            change, column = np.concatenate(changes), np.concatenate(columns)
            inside = np.repeat((column >= 0) & (column < len(frames)), 6)
            rows = np.tile(np.arange(count), STENCIL)[inside]
            entries = change.ravel()[inside] / (step.sum() * self.body.weight)
            result.append(sparse.csr_array((entries, (rows, np.repeat(column, 6)[inside])), shape=(count, len(frames))))
        return (*result, *[sparse.csr_array(result[0].shape)] * (4 - len(result)))

    def _linearise(self, poses: SolvedPoses, far: np.ndarray) -> tuple[SwayingBody, WrenchLimits]:
        """The body that is displaced by (N, 4), and the limits of what its contacts and joints can give."""
        motion, weight = self.given.with_poses(poses).motion, self.body.weight
        state = self.body.mechanics.compute_state(motion.q, motion.v, motion.a)
        body = SwayingBody(
            self.times, far, self._responses(far, poses),
            float(np.median(state.com[:, 2])) - self.schedule.ground, self.from_rest,
        )  # fmt: skip
        away = self.reach.ways(poses, self.reach.yield_feet(poses, self.targets, self.given.foot_paths.swing_weights))
        distance = np.linalg.norm(away, axis=2)
        reached = (self.reach.reach - distance) / REACH_UNIT
        frame, foot = np.nonzero(reached < FAR)
        none = np.zeros((len(frame), 6))
        ways = (away / distance[:, :, None])[frame, foot] / REACH_UNIT
        found = [(frame, reached[frame, foot], none, ways @ np.eye(3, 4), len(FORCE_CHECKS) + 1 + foot)]
        for number, planted in enumerate(self.phases):
            own = np.flatnonzero(self.phase_of_frame == number)
            if planted.polygon is None or not len(own):
                continue
            curves = Curves(motion.q[own], motion.v[own], motion.a[own])
            inputs = CheckInput.from_state(self.body, planted, self.schedule.ground, curves, state.at_frames(own))
            kinds: list[int] = []

            def margins(shifted: CheckInput, number: int = number, kinds: list[int] = kinds) -> np.ndarray:
                both = [_smooth_margins(check, shifted) for check in FORCE_CHECKS]
                both.append(_smooth_margins(ZMP, replace(shifted, planted=self.reserves[number])))
                kinds[:] = np.repeat(np.arange(len(both)), [each.shape[1] for each in both])
                return np.concatenate(both, axis=1)

            values = margins(inputs)
            slopes = derivatives_by_loads(inputs, margins, WRENCH.stop) * weight
            frame, column = np.nonzero(values < FAR)
            kind = np.array(kinds)[column]
            found.append((own[frame], values[frame, column], slopes[frame, column], np.zeros((len(frame), 4)), kind))
        frames, values, slopes, own_slopes, kind = (np.concatenate(part) for part in zip(*found))
        price = np.where(kind == len(FORCE_CHECKS), RESERVE_PENALTY, LIMIT_PENALTY)
        return body, WrenchLimits(frames, values, slopes, own_slopes, kind, price)


def _smooth_margins(check: Check, inputs: CheckInput) -> np.ndarray:
    """Margins (N, k) of a check less its sampling margin, in its units of violation, at most `FAR`."""
    limit = check.smooth_limit
    assert limit is not None
    values = (limit.smooth_margins or check.margins)(inputs)
    assert isinstance(values, np.ndarray)
    return np.minimum((values - check.sampling_margin) / limit.scale, FAR)


def _find_trunk_yaw(posing: PoseSolver) -> int:
    """Index of the coordinate that turns both arms but no foot about the most upright axis; 0: there is none."""
    parts, moves = find_anatomy(posing.rig).parts, posing.tree.coordinate_moves_link
    arms = [posing.rig.index(parts[part]) for part in (f"{side}_{ARM[0]}" for side in SIDES) if part in parts]
    able = moves[arms].all(axis=0) & ~moves[list(posing.feet)].any(axis=0) & bool(arms)
    upright = np.abs(posing.link_frames(SolvedPoses(np.eye(3)[None], np.zeros((1, posing.rig.nv)))).axes[:, 2, 0])
    return int(np.argmax(upright * (able & (upright > np.sqrt(0.5)))))
