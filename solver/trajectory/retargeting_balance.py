"""Balance of a retargeted motion: the centre of mass is displaced so that the zero-moment point is in its support.

Kinematic retargeting scales the path of the hips and ignores balance. Here the motion starts and ends at rest, the
smallest sway brings the zero-moment point into its support (`solve_least_sway`), and all frames are posed again with
that centre of mass, the given feet and the given orientations of the links. Where forces or joint speeds still exceed
their limits, the motion is slowed down, as long as that helps. Where joint torques are exceeded after that, it is
reduced towards standing upright.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ..contacts.support import SupportPolygon, support_polygon
from ..dynamics.mechanics import Mechanics
from ..feasibility import Checks, Margin, check_motion
from ..feasibility.check_input import PlantedPhase
from ..feasibility.contact_forces import MIN_LOAD, zero_moment_point
from ..options.authoring import RetargetOptions
from ..options.checks import ROBOT_SHRINK, CheckOptions
from ..person import SIDES
from ..progress import PartialProgress, Progress, silent
from ..so3 import exp, log
from ..tracking.anatomy import LEG, find_anatomy, find_joint_centres
from ..tracking.retargeting.performer import Performer
from ..tracking.retargeting.pose_solver import PosePrior, Poses, PoseSolver, PoseTargets, knee_hinges
from ..tracking.retargeting.retarget import MIN_NOTED_SLOWDOWN, retarget_motion
from ..tracking.retargeting.retargeted_motion import POSE_FILTER, RetargetedMotion
from ..tracking.retargeting.retargeter import SMOOTH_PATH_WEIGHT, low_pass_poses
from ..tracking.retargeting.time_scaling import required_stretch, stretch_times
from .collision_avoidance import separate_legs_and_links, separate_links
from .com_sway import Pendulum, SupportRegions, solve_least_sway

MAX_ATTEMPTS = 10
"""Attempts with a reduced or slower motion."""
SLOWDOWN_STEPS = 1.15, 1.6
"""[1] Smallest and largest factor by which an attempt lasts longer around frames in which forces fail. Seven attempts
with them bring a walk on MakeHuman's skeleton from 5.0 to 11.1 s and from 54 to .5 % failing frames; others were not
tried."""
SLOWDOWN_GAIN = 0.9
"""[1] Ratio of failing frames to those of the attempt before above which slowing down does not help. Chosen with the
factors above; others were not tried."""
MAX_SEPARATIONS = 2
"""Repetitions of separating links and balancing."""
SWAY_ITERATIONS = 3
"""Repetitions of the sway with a new zero-moment point."""
POSE_ITERATIONS = 12
KNEE_BEND = 0.3
"""[rad] Bend of the knee at the reach of a leg."""
SMOOTHING_TIME = 0.2
"""[s] before and after a frame in which the hips are lowered, or the motion is reduced."""
MIN_HIP_HEIGHT = 0.92
"""Smallest height of the hips above one foot in double support, as a share of the reach."""
HIP_RATIO = 1.2
"""Displacement of the hips over that of the centre of mass."""
POSTURE_WEIGHT = 1e-2
"""Weight of a radian of deviation from the given posture: small, for what no target determines."""
MIN_CUTOFF = 2.0
"""[Hz] Smallest cut-off frequency of the poses at the motion's speed."""
TORQUE_RESERVE = 0.05
"""Share of the joint torques that is kept in reserve where the motion is reduced."""
SLOWDOWN_TOLERANCE = 1.0 + 1e-6
REDUCTION_POWER = 1.5
"""Exponent of the allowed torque ratio, by which the motion is reduced."""


def balance_motion(
    performer: Performer,
    motion: RetargetedMotion,
    options: RetargetOptions,
    check_options: CheckOptions,
    progress: Progress = silent,
) -> RetargetedMotion:
    """The motion with balanced centre of mass, from rest to rest.

    Args:
        performer: source of the motion.
        motion: retargeted.
        options: of the retargeting.
        check_options: pairs of links that must not touch.
        progress: is notified, and may cancel.
    """
    stride, notes = _reachable_stride(motion), []
    if stride < 1.0:
        shorter = replace(options, stride_ratio=stride * options.stride_ratio)
        motion = retarget_motion(performer, motion.rig, motion.mapping, shorter, PartialProgress(progress, 0.0, 0.3))
        motion = (
            separate_legs_and_links(performer, motion, shorter, check_options).motion
            if not options.allow_collisions
            else motion
        )
        notes.append(f"strides are {stride:.2f} times as long, because legs reach no farther with both feet flat")
    given = motion.ease_ends()
    first = float(given.motion.times[-1] - given.motion.times[0])
    share = np.zeros(len(given.motion))
    best, least = given, np.inf
    # a flight that lasts longer is not free fall
    slows = not (options.keep_timing or any(phase.airborne for phase in given.schedule.phases))
    before = np.inf
    for attempt in range(MAX_ATTEMPTS):
        result, poses = _Balancer(given, share).solve(
            PartialProgress(progress, 0.3 + 0.7 * attempt / MAX_ATTEMPTS, 1.0)
        )
        checks = check_motion(result.rig, result.motion, result.schedule, CheckOptions(pairs=()))
        failing = float(np.mean(checks.failed))
        if failing < least:
            best, least = result, failing
        times = result.motion.times
        slower = required_stretch(result.rig, times, poses, result.converged, 1.0)
        slows = slows and failing < SLOWDOWN_GAIN * before
        before = failing
        if slows:
            slower = np.maximum(slower, _force_stretch(times, checks))
        else:
            share = _reduce_motion(times, share, checks)
        if slower.max() > SLOWDOWN_TOLERANCE:
            ends = stretch_times(times, slower)
            given = given.stretch(ends)
            share = np.interp(given.motion.times, ends, share)
        elif not _joint_strength(checks).failed.any():
            break
    best = _separate_and_balance(best, options, check_options) if not options.allow_collisions else best
    lasts = float(best.motion.times[-1] - best.motion.times[0])
    if lasts > first * MIN_NOTED_SLOWDOWN:
        notes.append(f"it lasts {lasts / first:.3g} times as long, because forces or joint speeds would be too large")
    notes.append(f"the centre of mass is balanced over the feet, from rest to rest, in {lasts:.1f} s")
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
        again, _ = _Balancer(apart, np.zeros(len(apart.motion))).solve(silent)
        ways += [apart, again]
    return min(
        ways, key=lambda way: float(check_motion(way.rig, way.motion, way.schedule, check_options).failed.mean())
    )


def _reachable_stride(motion: RetargetedMotion) -> float:
    """Ratio, at most 1, by which strides are shortened so that weight can shift while both soles are flat.

    A person's feet roll while walking. With flat soles the rear leg has to reach its foot.
    """
    if motion.foot_paths.in_stance.all():
        return 1.0
    hips, reach = _hips_and_reach(PoseSolver(motion.rig, motion.mapping, motion.foot_paths.links))
    most = float(reach.min()) * np.sqrt(1.0 - MIN_HIP_HEIGHT**2)
    apart, longest = float(np.linalg.norm((hips[0] - hips[1])[:2])), 0.0
    for phase in motion.schedule.phases:
        if len(phase.anchors) == len(SIDES):
            one, other = (anchor.points(motion.rig)[:, :2].mean(axis=0) for anchor in phase.anchors)
            longest = max(longest, float(np.sqrt(max(((one - other) ** 2).sum() - apart**2, 0.0))))
    return 1.0 if longest <= most else most / longest


def _force_stretch(times: np.ndarray, checks: Checks) -> np.ndarray:
    """Factors (N - 1,), smooth, by which each step must last longer so that forces and moments come nearer to those at
    rest: more where joint torques are exceeded.
    """
    failed = np.any([m.failed for m in checks.margins if m.check.depends_on == "force"], axis=0)
    beyond = np.maximum(-_joint_strength(checks).smallest, 0.0)
    needed = np.clip(np.sqrt(1.0 + np.where(np.isfinite(beyond), beyond, 0.0)), *SLOWDOWN_STEPS)
    factors = 1.0 + _smooth_maximum(times, np.where(failed, needed - 1.0, 0.0))
    return np.asarray(np.maximum(factors[1:], factors[:-1]))


def _reduce_motion(times: np.ndarray, share: np.ndarray, checks: Checks) -> np.ndarray:
    """Reduction (N,) towards standing upright, 0 to 1: more where joint torques are exceeded."""
    strength = _joint_strength(checks)
    beyond = np.maximum(TORQUE_RESERVE - strength.smallest, 0.0)
    beyond = np.where(np.isfinite(beyond) & strength.failed, np.minimum(beyond, 1.0), 0.0)
    return np.asarray(np.maximum(share, 1.0 - (1.0 - share) * _smooth_maximum(times, beyond, -REDUCTION_POWER)))


def _joint_strength(checks: Checks) -> Margin:
    """Margin of the joint torques."""
    return next(m for m in checks.margins if m.check.category == "joints" and m.check.depends_on == "force")


def _smooth_maximum(times: np.ndarray, values: np.ndarray, power: float = 1.0) -> np.ndarray:
    """Smoothed moving maximum of values (N,) within `SMOOTHING_TIME`; with a negative power, of (1 + values)^power."""
    width = 2 * int(np.ceil(SMOOTHING_TIME / float(np.median(np.diff(times))))) + 1
    values = maximum_filter1d(values, width, mode="nearest")
    if power < 0.0:
        values = (1.0 + values) ** power
    for _ in range(3):
        values = uniform_filter1d(values, max(width // 3, 1), mode="nearest")
    return np.asarray(values)


class _Balancer:
    """Balances a motion that is reduced towards standing upright by a share (N,)."""

    def __init__(self, given: RetargetedMotion, share: np.ndarray) -> None:
        self.given, self.rig, self.times = given, given.rig, given.motion.times
        self.posing = PoseSolver(given.rig, given.mapping, given.foot_paths.links)
        self.mechanics, self.schedule = Mechanics(given.rig), given.schedule
        self.gravity = given.rig.weight / given.rig.prior.total_mass
        self.poses = given.poses
        self.preset = replace(POSE_FILTER, cutoff=max(POSE_FILTER.cutoff / given.duration_ratio, MIN_CUTOFF))
        self.hips, self.reach = _hips_and_reach(self.posing)
        self.targets = self._build_targets(share)
        check_options = CheckOptions(pairs=())
        ground = self.schedule.ground
        phases = [PlantedPhase.from_phase(self.rig, phase, check_options) for phase in self.schedule.phases]
        self.planes = np.array([phase.support_height(ground) for phase in phases])
        """[m] Height of the support in each phase."""
        self.supports = SupportRegions(
            self.schedule.index_at(self.times), self._polygons(0.0), self._polygons(ROBOT_SHRINK)
        )

    def solve(self, progress: Progress) -> tuple[RetargetedMotion, Poses]:
        """The motion after all iterations, and its poses."""
        poses, done = self.poses, self.given.converged
        start = self._com(poses)
        for number in range(SWAY_ITERATIONS):
            progress(number / SWAY_ITERATIONS, "balancing")
            com = self._com(poses)
            more = solve_least_sway(
                self._build_pendulum(poses, com, com[:, :2] - start[:, :2]), self.supports, self.gravity
            )
            if more is None:
                break
            poses, done = self._move_com(poses, com[:, :2] + more, more)
        return self.given.with_poses(poses, done), poses

    def _polygons(self, shrink: float) -> tuple[SupportPolygon | None, ...]:
        """Support polygon of each phase."""
        phases = self.schedule.phases
        return tuple(support_polygon(self.rig, p.anchors, shrink) if p.anchors else None for p in phases)

    def _build_targets(self, share: np.ndarray) -> PoseTargets:
        """Targets: orientations of links and positions of the hips as given, or reduced towards standing upright."""
        placed, posing = self.posing.link_frames(self.poses), self.posing
        turns = posing.tree.link_rotations(placed, posing.links)
        base = posing.tree.link_origins(placed, 0).T + self.poses.root_rotations @ posing.hip_offset
        if share.any():
            rest = np.array(posing.rest_coordinates)
            rest[:3] = 0.0
            upright = posing.link_rotations(Poses(np.eye(3)[None], rest[None]))[0]
            ahead = self.poses.root_rotations[:, :, 0]
            heading = exp(np.arctan2(ahead[:, 1], ahead[:, 0])[:, None] * [0.0, 0.0, 1.0])
            way = log(turns.swapaxes(2, 3) @ (heading[:, None] @ upright))
            turns = turns @ exp(share[:, None, None] * way)
            stands = self.given.foot_paths.positions[:, :, 2].min(axis=0) + float(self.reach.min())
            base[:, 2] += share * (stands - base[:, 2]).clip(0.0)
        for number, link in enumerate(self.given.foot_paths.links):
            turns[:, np.flatnonzero(posing.links == link)[0]] = self.given.foot_paths.rotations[number]
        return PoseTargets(turns, self.given.foot_paths.positions.swapaxes(0, 1), base)

    def _move_com(self, poses: Poses, com: np.ndarray, more: np.ndarray) -> tuple[Poses, np.ndarray]:
        """Poses with the centre of mass at positions (N, 2) [m], and whether each converged."""
        base = np.array(self.targets.hip_positions)
        base[:, 2] -= self._hip_lowering(poses, more)
        targets = replace(self.targets, com=com, hip_positions=base)
        path = Poses(poses.root_rotations, np.array(poses.y))
        path.y[:, :2] += more
        path.y[:, 2] += base[:, 2] - (poses.y[:, :3] + poses.root_rotations @ self.posing.hip_offset)[:, 2]
        found, _ = self.posing.solve(targets, path, POSE_ITERATIONS, PosePrior(self.poses, POSTURE_WEIGHT))
        smooth = low_pass_poses(self.posing, self.times, found, self.preset)
        return self.posing.solve(targets, smooth, POSE_ITERATIONS, PosePrior(smooth, SMOOTH_PATH_WEIGHT))

    def _hip_lowering(self, poses: Poses, more: np.ndarray) -> np.ndarray:
        """(N,) [m] by which the hips are lowered, smoothly, so that the legs reach with bent knees."""
        hips = poses.y[:, None, :3] + (poses.root_rotations[:, None] @ self.hips[:, :, None])[..., 0]
        hips[:, :, :2] += HIP_RATIO * more[:, None]
        hips[:, :, 2] += (self.targets.hip_positions - poses.y[:, :3] - poses.root_rotations @ self.posing.hip_offset)[
            :, None, 2
        ]
        away = self.targets.foot_positions - hips
        reach = np.sqrt(np.maximum(self.reach**2 - (away[:, :, :2] ** 2).sum(axis=2), 0.0))
        return _smooth_maximum(self.times, np.maximum(-away[:, :, 2] - reach, 0.0).max(axis=1))

    def _com(self, poses: Poses) -> np.ndarray:
        return self.posing.tree.centre_of_mass(self.posing.link_frames(poses))[0]

    def _build_pendulum(self, poses: Poses, com: np.ndarray, swayed: np.ndarray) -> Pendulum:
        motion = self.given.with_poses(poses).motion
        wrench = self.mechanics.compute_wrenches(motion.q, motion.v, motion.a)
        weight, ground = self.rig.weight, self.planes[self.supports.phase]
        unit_weight = np.maximum(wrench[:, 2], MIN_LOAD * weight) / self.rig.prior.total_mass
        height = com[:, 2] - ground
        zmp = zero_moment_point(wrench, ground, weight)
        return Pendulum(self.times, zmp, height / unit_weight, swayed, float(np.median(height)))


def _hips_and_reach(posing: PoseSolver) -> tuple[np.ndarray, np.ndarray]:
    """Hips (2, 3) [m], right and left, root axes, and reach (2,) [m] from hip to foot link with bent knees."""
    rig, y = posing.rig, np.array(posing.rest_coordinates)
    for column, sign in knee_hinges(rig):
        y[column] = sign * KNEE_BEND
    starts, (turn, place) = find_joint_centres(rig, find_anatomy(rig).parts), (part[0] for part in rig.rest)
    hips = np.array([turn.T @ (starts[f"{side}_{LEG[0]}"] - place) for side in SIDES])
    y[:3] = 0.0
    placed = posing.link_frames(Poses(np.eye(3)[None], y[None]))
    feet = np.array([posing.tree.link_origins(placed, link)[:, 0] for link in posing.feet])
    return hips, np.linalg.norm(feet - hips, axis=1)
