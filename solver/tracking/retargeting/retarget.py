"""Retargets a motion of a person or a rig: links follow orientations, feet are planted, limits hold."""

from __future__ import annotations

import numpy as np

from ...arrays import true_runs
from ...coordinates import coordinate_names
from ...errors import InvalidValue
from ...options.authoring import RetargetOptions
from ...person import SIDES
from ...progress import Progress, silent
from ...rig import ROOT_NV, Rig
from ...signals import require_rate
from ..anatomy import LEG
from ..bone_mapping import BoneMapping, guess_mapping, mapping_notes
from .complete_steps import complete_steps
from .interpolation import POSE_FILTER
from .performer import Performer
from .pose_solver import Poses
from .retargeted_motion import RetargetedMotion, motion_from_poses
from .retargeter import SPEED_TOLERANCE, Retargeter, TimedPoses

MIN_RAISED_HEIGHT = 0.05
"""[m] Height of a stance above which it is reported."""
MIN_NOTED_SLOWDOWN = 1.005
"""Ratio of the durations above which it is reported."""


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
    performer = performer.leave_out_first_pose().remove_belt_motion()
    mapping = guess_mapping(performer.recording, rig, performer.parts) if mapping is None else mapping
    require_mapped_parts(performer, rig, mapping)
    retargeter, poses, done = _solve(performer, rig, mapping, options, progress)
    progress(0.7, "adjusting the timing")
    timed = retargeter.adjust_timing(retargeter.performer.times, poses, done, options)
    notes = (*retargeter.performer.notes, *mapping_notes(mapping, rig), *_collect_notes(retargeter, timed, options))
    progress(1.0, f"{len(timed.times)} frames")
    motion = motion_from_poses(rig, timed.times, timed.poses)
    return RetargetedMotion(rig, motion, timed.foot_paths, mapping, timed.recording_times, timed.converged, notes)


def _solve(
    performer: Performer, rig: Rig, mapping: BoneMapping, options: RetargetOptions, progress: Progress
) -> tuple[Retargeter, Poses, np.ndarray]:
    """Poses of every frame, and which converged (N,); steps that the legs do not reach are not completed."""
    unreachable: set[str] = set()
    while True:
        whole, added = complete_steps(performer, unreachable) if options.from_rest else (performer, {})
        retargeter = Retargeter(whole, rig, mapping, options)
        progress(0.1, "posing")
        poses = retargeter.solve_poses(whole.times)
        progress(0.5, "smoothing")
        poses, done = retargeter.smooth_poses(whole.times, poses)
        is_reached = retargeter.is_within_reach(poses)
        unreached = {where for where, frames in added.items() if not is_reached[frames].all()}
        if not unreached:
            return retargeter, poses, done
        unreachable |= unreached


def require_mapped_parts(performer: Performer, rig: Rig, mapping: BoneMapping) -> None:
    """Raises an error if the mapping lacks the root or a foot.

    Raises:
        InvalidValue: the root, a foot, or a part of the legs is not mapped.
        UnknownName, UnknownLink: it belongs to another recording or rig.
    """
    mapping.require(performer.recording, rig)
    needed = [rig.links[0], *(rig.patch(patch).link for patch in rig.sides.values())]
    if free := [link for link in needed if link not in mapping.links]:
        raise InvalidValue(f"the mapping has no segment for {', '.join(free)} of {rig.name!r}: add one")
    parts = [f"{side}_{name}" for side in SIDES for name in LEG]
    if missing := [part for part in parts if part not in performer.parts]:
        raise InvalidValue(f"no segment of the recording is known to be the {', '.join(missing)}")


def _collect_notes(retargeter: Retargeter, timed: TimedPoses, options: RetargetOptions) -> list[str]:
    """Notes about changes of the motion, and about requirements that are not met."""
    notes = []
    slowdown = float(timed.times[-1] - timed.times[0]) / float(timed.recording_times[-1] - timed.recording_times[0])
    rig = retargeter.rig
    speeds = np.abs(np.diff(timed.poses.y[:, ROOT_NV:], axis=0)) / np.diff(timed.times)[:, None]
    with np.errstate(invalid="ignore"):
        share = (speeds / rig.limits.speed).max(axis=0, initial=0.0)
    if slowdown > options.slower * MIN_NOTED_SLOWDOWN:
        notes.append(
            f"it lasts {slowdown:.3g} times as long as recorded, because joints would exceed their speed limits"
        )
    if share.max(initial=0.0) > SPEED_TOLERANCE:
        worst = int(np.argmax(share))
        notes.append(f"{coordinate_names(rig)[worst]} exceeds its speed limit by a factor of {share[worst]:.2f}")
    if not timed.converged.all():
        first = float(timed.times[int(np.argmin(timed.converged))])
        notes.append(f"{int((~timed.converged).sum())} frames did not converge (first at {first:.2f} s)")
    in_stance = timed.foot_paths.in_stance.any(axis=0)
    if not in_stance.all():
        flights = [(a, b) for a, b in true_runs(~in_stance)]
        longest = max(float(timed.times[min(b, len(in_stance) - 1)] - timed.times[a]) for a, b in flights)
        notes.append(
            f"{len(flights)} flight(s) of up to {longest:.2f} s, as long as the recorded ones at this pace: a body "
            f"scaled by {retargeter.mapping.scale:.2f} would fly a shorter time"
        )
    if timed.foot_paths.stance_height_range > MIN_RAISED_HEIGHT:
        notes.append(
            f"a foot stands {timed.foot_paths.stance_height_range:.2f} m above the floor, on an unrecorded object"
        )
    return notes
