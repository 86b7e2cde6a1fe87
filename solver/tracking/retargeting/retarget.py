"""Retargets a motion of a person or a rig: links follow orientations, feet are planted, limits hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...base.arrays import true_runs
from ...base.errors import InvalidValue
from ...base.progress import Progress, silent
from ...base.so3 import continuous_signs, log, to_matrix, to_quaternion
from ...contacts.rolling_stances import MAX_PITCH_BIAS
from ...contacts.schedule import Schedule
from ...dynamics.coordinates import coordinate_names, joint_coordinates
from ...options.authoring import RetargetOptions
from ...scene.labels import format_length
from ...signals import require_rate
from ...skeleton.rig import ROOT_NV, Rig
from ...values.motion import Motion
from ...values.person import SIDES
from ..bone_mapping import BoneMapping, guess_mapping, mapping_notes
from ..track import manifold_velocities
from .batch_kinematics import UP, to_configurations
from .complete_steps import complete_steps
from .foot_paths import FootPaths
from .interpolation import (
    POSE_FILTER,
    SPEED_FRACTION,
    ease_ends,
    even_times,
    holds_around,
    interpolate_poses,
    interpolate_recording_times,
    required_stretch,
    stretch_times,
)
from .leg_reach import LegReach
from .performer import Performer
from .pose_solver import PosePrior, PoseSolver, PoseTargets, SolvedPoses
from .retargeter import SETTLE_ITERATIONS, Retargeter

EASE_TIME = 0.6
"""[s] of a motion in which it starts from rest, and comes to rest; each takes as long again."""
MIN_RAISED_HEIGHT = 0.05
"""[m] Height of a stance above which it is reported."""
MAX_SOLE_SHARE = 0.45
"""Length of a sole over that of a leg above which it is reported: people's are about .3."""
MAX_ROBOT_SOLE_SHARE = 0.6
"""The same of robots: HOAP-3's are .51, those of HRP-2 and H1 .40 and .35."""
MIN_SOLE_TILT = np.radians(4.5)
"""[rad] Tilt of standing soles above which it is reported, so that a floor of 5 degrees is. On the level floors of nine
public clips it is 1 to 9 degrees: soles at rest are not known better, and none is turned level for it."""
MIN_NOTED_SLOWDOWN = 1.005
"""Ratio of the durations above which it is reported."""
MAX_TURNS = 2
"""Times that feet are turned, because joints of their legs meet limits; the turns with the least cost are used."""
MAX_SLOWDOWN = 5.0
"""Largest factor on the duration of a moment; a faster one is a jump in the motion, which is reported."""
SPEED_TOLERANCE = 1.0 + 1e-6
"""Ratio to a limit above which a joint is too fast."""


@dataclass(frozen=True, slots=True, repr=False)
class RetargetedMotion:
    """The motion of a rig that follows a performer.

    Attributes:
        rig: the rig.
        motion: at the recording's rate.
        foot_paths: paths and stances of its feet, at the motion's times.
        mapping: that was used.
        recording_times: (N,) [s] time in the recording of each frame; outside it where a step is completed.
        converged: (N,) True if the frame converged.
        notes: what was assumed or changed, or is not met.
    """

    rig: Rig
    motion: Motion
    foot_paths: FootPaths
    mapping: BoneMapping
    recording_times: np.ndarray
    converged: np.ndarray
    notes: tuple[str, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """Schedule of its contacts."""
        return self.foot_paths.schedule()

    @property
    def poses(self) -> SolvedPoses:
        """Poses of its frames."""
        q, y = self.motion.q, np.zeros((len(self.motion), self.rig.nv))
        y[:, :3], y[:, ROOT_NV:] = q[:, :3], joint_coordinates(self.rig, q)
        return SolvedPoses(to_matrix(q[:, 3:7]), y)

    def with_poses(self, poses: SolvedPoses, converged: np.ndarray | None = None) -> RetargetedMotion:
        """The motion with other poses at its times."""
        motion = motion_from_poses(self.rig, self.motion.times, poses)
        return replace(self, motion=motion, converged=self.converged if converged is None else converged)

    def resample(self, clock: np.ndarray, pace: np.ndarray) -> RetargetedMotion:
        """The motion at times (M,) [s] of a clock that corresponds to times (M,) ``pace`` of this motion."""
        times, limits = self.motion.times, self.rig.limits
        poses = interpolate_poses(times, self.poses, pace)
        joints = np.clip(poses.y[:, ROOT_NV:], limits.lower, limits.upper)
        poses = SolvedPoses(poses.root_rotations, np.concatenate([poses.y[:, :ROOT_NV], joints], axis=1))
        return replace(
            self,
            motion=motion_from_poses(self.rig, clock, poses),
            foot_paths=self.foot_paths.resample(clock, pace),
            recording_times=np.interp(pace, times, self.recording_times),
            converged=holds_around(times, self.converged, pace),
        )

    def stretch(self, ends: np.ndarray) -> RetargetedMotion:
        """The motion with its frames at times (N,) [s] instead of its own, at the same sample interval."""
        clock = even_times(ends, float(np.median(np.diff(self.motion.times))))
        return self.resample(clock, interpolate_recording_times(ends, self.motion.times, clock))

    def slow_to_speed_limits(self, posing: PoseSolver, reach: LegReach) -> RetargetedMotion:
        """The motion, slowed down where joints are too fast."""
        times, longest = self.motion.times, MAX_SLOWDOWN * self.duration_ratio
        speeds = [required_stretch(self.rig, times, self.poses, self.converged, part) for part in (1.0, SPEED_FRACTION)]
        if speeds[0].max() <= SPEED_TOLERANCE:
            return self
        most = np.maximum(longest * np.diff(self.recording_times) / np.diff(times), 1.0)
        return self.stretch(stretch_times(times, np.minimum(speeds[1], most))).keep_feet(posing, reach)

    def keep_feet(self, posing: PoseSolver, reach: LegReach) -> RetargetedMotion:
        """The motion with legs that reach the feet."""
        poses = self.poses
        targets = reach.yield_feet(poses, self.targets(posing, poses), self.foot_paths.swing_weights)
        return self.with_poses(*posing.solve(targets, poses, SETTLE_ITERATIONS, PosePrior(poses, posing.leg_weights)))

    def targets(self, posing: PoseSolver, poses: SolvedPoses, frames: np.ndarray | slice = slice(None)) -> PoseTargets:
        """Targets that reproduce poses of selected frames, with the feet of the motion."""
        turns = posing.link_rotations(poses)
        for number, link in enumerate(self.foot_paths.links):
            turns[:, np.flatnonzero(posing.links == link)[0]] = self.foot_paths.rotations[number][frames]
        hips = poses.y[:, :3] + poses.root_rotations @ posing.hip_offset
        return PoseTargets(turns, self.foot_paths.positions[:, frames].swapaxes(0, 1), hips)

    def ease_ends(self) -> RetargetedMotion:
        """The motion starting from rest and coming to rest."""
        times = self.motion.times
        length, step = float(times[-1] - times[0]), float(np.median(np.diff(times)))
        clock = times[0] + step * np.arange(int(np.ceil((length + 2.0 * min(EASE_TIME, 0.5 * length)) / step)) + 1)
        return self.resample(clock, times[0] + ease_ends(clock - times[0], length, float(clock[-1] - times[0])))

    @property
    def duration_ratio(self) -> float:
        """Ratio of its duration to the recorded one."""
        recorded = float(self.recording_times[-1] - self.recording_times[0])
        return float(self.motion.times[-1] - self.motion.times[0]) / recorded


def motion_from_poses(rig: Rig, times: np.ndarray, poses: SolvedPoses) -> Motion:
    """The motion through poses at times (N,) [s]."""
    return motion_from_configurations(
        rig, times, to_configurations(rig, continuous_signs(to_quaternion(poses.root_rotations)), poses.y)
    )


def motion_from_configurations(rig: Rig, times: np.ndarray, q: np.ndarray) -> Motion:
    """The motion through configurations (N, nq) at times (N,) [s]; velocities go on linearly at both ends.

    One-sided differences would halve the first and the last acceleration.
    """
    v = np.array(manifold_velocities(rig, times, q))
    v[[0, -1]] = 2.0 * v[[0, -1]] - v[[1, -2]]
    return Motion(times, q, v, np.gradient(v, times, axis=0))


def retarget_motion(
    performer: Performer,
    rig: Rig,
    mapping: BoneMapping | None = None,
    options: RetargetOptions | None = None,
    progress: Progress = silent,
) -> RetargetedMotion:
    """The motion of a rig that follows a performer.

    Args:
        performer: body that is followed.
        rig: a rig with two feet.
        mapping: segment that each link follows; inferred by default.
        options: see `RetargetOptions`.
        progress: receives the progress; may cancel.

    Raises:
        InvalidValue: the rig has no feet, the mapping lacks a foot or the root, or the sample rate is too low.
        UnknownName: the mapping belongs to another recording or rig.
    """
    options = RetargetOptions() if options is None else options
    require_rate(POSE_FILTER, performer.recording.rate)
    performer = performer.leave_out_first_pose().remove_belt_motion().level_floor()
    mapping = guess_mapping(performer.recording, rig, performer.parts) if mapping is None else mapping
    require_mapped_parts(performer, rig, mapping)
    performer = complete_steps(performer) if options.from_rest else performer
    times, turns, least = performer.times, np.zeros((2, len(performer.times))), np.inf
    for number in range(MAX_TURNS + 1):
        progress(0.7 * number / (MAX_TURNS + 1), "posing")
        turned = Retargeter(performer, rig, mapping, options, turns)
        found_poses, converged = turned.smooth_poses(times, turned.solve_poses(times))
        cost = float(turned.solver.compute_costs(turned.pose_targets(), found_poses).sum())
        if number == 0 or cost < least:
            least, retargeter, poses, done = cost, turned, found_poses, converged
        turns = turned.turn_feet(found_poses)
        if (turns == turned.turns).all():
            break
    progress(0.7, "adjusting the timing")
    how = retargeter.solver, retargeter.reach
    found = RetargetedMotion(rig, motion_from_poses(rig, times, poses), retargeter.foot_paths, mapping, times, done)
    if options.slower != 1.0:
        found = found.stretch(times[0] + options.slower * (times - times[0])).keep_feet(*how)
    found = found if options.keep_timing else found.slow_to_speed_limits(*how)
    notes = (*retargeter.performer.notes, *mapping_notes(mapping, rig), *_collect_notes(retargeter, found, options))
    progress(1.0, f"{len(times)} frames")
    return replace(found, notes=notes)


def require_mapped_parts(performer: Performer, rig: Rig, mapping: BoneMapping) -> None:
    """Raises an error if the mapping lacks the root or a foot.

    Raises:
        InvalidValue: the root or a foot is not mapped.
        UnknownName, UnknownLink: it belongs to another recording or rig.
    """
    mapping.require(performer.recording, rig)
    needed = [rig.links[0], *(rig.patch(patch).link for patch in rig.sides.values())]
    if free := [link for link in needed if link not in mapping.links]:
        raise InvalidValue(f"the mapping has no segment for {', '.join(free)} of {rig.name!r}: add one")


def _collect_notes(retargeter: Retargeter, found: RetargetedMotion, options: RetargetOptions) -> list[str]:
    """Notes about changes of the motion, and about requirements that are not met."""
    notes, rig = [], retargeter.rig
    slowdown, times = found.duration_ratio, found.motion.times
    speeds = np.abs(np.diff(found.poses.y[:, ROOT_NV:], axis=0)) / np.diff(times)[:, None]
    with np.errstate(invalid="ignore"):
        share = (speeds / rig.limits.speed).max(axis=0, initial=0.0)
    if slowdown > options.slower * MIN_NOTED_SLOWDOWN:
        notes.append(
            f"it lasts {slowdown:.3g} times as long as recorded, because joints would exceed their speed limits"
        )
    if share.max(initial=0.0) > SPEED_TOLERANCE:
        worst = int(np.argmax(share))
        notes.append(f"{coordinate_names(rig)[worst]} exceeds its speed limit by a factor of {share[worst]:.2f}")
    if not found.converged.all():
        first = float(times[int(np.argmin(found.converged))])
        notes.append(f"{int((~found.converged).sum())} frames did not converge (first at {first:.2f} s)")
    turned = retargeter.solver.link_rotations(found.poses)[:, retargeter.solver.foot_rows].swapaxes(0, 1)
    off = np.linalg.norm(log(found.foot_paths.rotations.swapaxes(-1, -2) @ turned), axis=-1)
    if (tilt := float(off[found.foot_paths.in_stance].max(initial=0.0))) > MIN_SOLE_TILT:
        notes.append(
            f"the legs cannot keep standing soles level: they are turned by up to {np.degrees(tilt):.0f} degrees"
        )
    performer, feet = retargeter.performer, retargeter.foot_paths
    recorded, others = performer.times, performer.rests_on_other_parts()
    if others.any():
        notes.append(
            f"no foot stands in {100.0 * others.mean():.0f} % of the recording though the body does not fall (first at "
            f"{recorded[others][0]:.2f} s): feet slide, or other parts carry it, which is not checked"
        )
    soles = (
        ("the performer", performer.sole_length(SIDES[0]), performer.leg_length, MAX_SOLE_SHARE),
        (rig.name, feet.soles[0].length, float(retargeter.reach.reach[0]), MAX_ROBOT_SOLE_SHARE),
    )
    notes += [
        f"soles of {whose} are {sole:.2f} m long for legs of {leg:.2f} m: check the unit, and the tips of the feet"
        for whose, sole, leg, most in soles
        if sole > most * leg
    ]
    flights = true_runs(~(feet.in_stance.any(axis=0) | others))
    if len(flights):
        longest = max(float(recorded[min(stop, len(recorded) - 1)] - recorded[start]) for start, stop in flights)
        notes.append(
            f"{len(flights)} flight(s) of up to {longest:.2f} s in the recording"
            f"{'' if flights[0][0] else ', which begins in the air (--from-rest leaves that out)'}: a body scaled by "
            f"{retargeter.mapping.scale:.2f} would fly a shorter time"
        )
    return [*notes, *_support_notes(performer, feet)]


def _support_notes(performer: Performer, feet: FootPaths) -> list[str]:
    """Notes about what the feet stand on, unless it is a level floor at the recording's zero: that is assumed."""
    floor, notes = performer.floor, []
    if abs(floor) > MIN_RAISED_HEIGHT:
        where = f"{format_length(abs(floor))} {'above' if floor > 0.0 else 'below'} the recording's zero"
        notes.append(f"the feet stand {where}, which counts as the floor, whatever is beneath them")
    standing = [performer.sole_normals(side)[own] for side, own in zip(SIDES, feet.in_stance) if own.any()]
    normal = np.sum([np.median(own, axis=0) for own in standing], axis=0) if standing else UP
    tilt = float(np.arctan2(np.linalg.norm(normal[:2]), normal[2]))
    if MIN_SOLE_TILT < tilt < MAX_PITCH_BIAS:
        notes.append(f"standing soles are tilted by {np.degrees(tilt):.0f} degrees: they and the floor count as level")
    if feet.stance_height_range > MIN_RAISED_HEIGHT:
        notes.append(
            f"a foot stands {feet.stance_height_range:.2f} m above the floor, on an object, a stair or a slope that is "
            "not recorded: it counts as level and rigid"
        )
    return notes
