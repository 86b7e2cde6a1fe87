"""A person's or another rig's motion danced by a rig: its links turn alike, its feet stand, its limits are kept."""

from __future__ import annotations

import numpy as np

from ...arrays import true_runs
from ...coordinates import coordinate_names
from ...errors import InvalidValue
from ...person import SIDES
from ...progress import Progress, silent
from ...rig import ROOT_NV, Rig
from ...signals import require_rate
from ..anatomy import LEG
from ..bone_mapping import BoneMapping, guess_mapping, mapping_notes
from .complete_steps import complete_steps
from .performer import Performer
from .pose_solver import Poses
from .retargeted_motion import RetargetedMotion, RetargetOptions, motion_from_poses
from .retargeter import SPEED_TOLERANCE, Retargeter, TimedPoses

MIN_RAISED_HEIGHT = 0.05
"""[m]"""
MIN_NOTED_SLOWDOWN = 1.005
"""Share of the duration beyond which it is told."""


def retarget_motion(
    performer: Performer,
    rig: Rig,
    mapping: BoneMapping | None = None,
    options: RetargetOptions | None = None,
    progress: Progress = silent,
) -> RetargetedMotion:
    """Let a rig follow somebody.

    Args:
        performer: who is followed.
        rig: that follows; it has two feet.
        mapping: which segment leads which link; guessed by default.
        options: see there.
        progress: told how far it is; may cancel.

    Raises:
        InvalidValue: a rig without feet, a mapping without the feet or the root, or too few samples a second.
        UnknownName: the mapping is of another recording or rig.
    """
    options = RetargetOptions() if options is None else options
    require_rate(options.pose_filter, performer.recording.rate)
    performer = performer.remove_belt_motion()
    mapping = guess_mapping(performer.recording, rig, performer.parts) if mapping is None else mapping
    require_mapped_parts(performer, rig, mapping)
    follower, poses, done = _solve(performer, rig, mapping, options, progress)
    progress(0.7, "pacing")
    found = follower.adjust_timing(follower.performer.times, poses, done, options)
    told = (*follower.performer.notes, *mapping_notes(mapping, rig), *_collect_notes(follower, found, options))
    progress(1.0, f"{len(found.times)} frames")
    motion = motion_from_poses(rig, found.times, found.poses)
    return RetargetedMotion(rig, motion, found.foot_paths, mapping, found.recording_times, found.converged, told)


def _solve(
    performer: Performer, rig: Rig, mapping: BoneMapping, options: RetargetOptions, progress: Progress
) -> tuple[Retargeter, Poses, np.ndarray]:
    """Poses of every frame, and which converged (N,); steps that the legs do not reach are left as they are."""
    leave: set[str] = set()
    while True:
        whole, added = complete_steps(performer, leave) if options.complete_steps else (performer, {})
        follower = Retargeter(whole, rig, mapping, options)
        progress(0.1, "posing")
        poses = follower.solve_poses(whole.times)
        progress(0.5, "quieting")
        poses, done = follower.smooth_poses(whole.times, poses, options.pose_filter)
        reached = follower.is_within_reach(poses)
        missed = {where for where, frames in added.items() if not reached[frames].all()}
        if not missed:
            return follower, poses, done
        leave |= missed


def require_mapped_parts(performer: Performer, rig: Rig, mapping: BoneMapping) -> None:
    """Refuse a mapping that leaves the root or a foot to itself.

    Raises:
        InvalidValue: it does.
        UnknownName, UnknownLink: it is of another recording or rig.
    """
    mapping.require(performer.recording, rig)
    needed = [rig.links[0], *(rig.patch(patch).link for patch in rig.sides.values())]
    if free := [link for link in needed if link not in mapping.links]:
        raise InvalidValue(f"the mapping leaves {', '.join(free)} of {rig.name!r} free: name the segment that leads it")
    parts = [f"{side}_{name}" for side in SIDES for name in LEG]
    if missing := [part for part in parts if part not in performer.parts]:
        raise InvalidValue(f"nobody knows which segment is the {', '.join(missing)} of the recording")


def _collect_notes(retargeter: Retargeter, found: TimedPoses, options: RetargetOptions) -> list[str]:
    """What was done that nobody asked for, and what could not be."""
    told = []
    lasts = float(found.times[-1] - found.times[0]) / float(found.recording_times[-1] - found.recording_times[0])
    rig = retargeter.rig
    speeds = np.abs(np.diff(found.poses.y[:, ROOT_NV:], axis=0)) / np.diff(found.times)[:, None]
    with np.errstate(invalid="ignore"):
        share = (speeds / rig.limits.speed).max(axis=0, initial=0.0)
    if lasts > options.duration_ratio * MIN_NOTED_SLOWDOWN:
        told.append(f"it lasts {lasts:.3g} times as long as recorded: joints would have been too fast")
    if share.max(initial=0.0) > SPEED_TOLERANCE:
        worst = int(np.argmax(share))
        told.append(f"{coordinate_names(rig)[worst]} is {share[worst]:.2f} times as fast as its limit")
    if not found.converged.all():
        first = float(found.times[int(np.argmin(found.converged))])
        told.append(f"{int((~found.converged).sum())} frames did not converge (first at {first:.2f} s)")
    stands = found.foot_paths.in_stance.any(axis=0)
    if not stands.all():
        flights = [(a, b) for a, b in true_runs(~stands)]
        longest = max(float(found.times[min(b, len(stands) - 1)] - found.times[a]) for a, b in flights)
        told.append(
            f"{len(flights)} flight(s) of up to {longest:.2f} s, as long as the recorded ones at this pace: a body "
            f"scaled by {retargeter.mapping.scale:.2f} would fly a shorter time"
        )
    if found.foot_paths.stance_height_range > MIN_RAISED_HEIGHT:
        told.append(
            f"a foot stands {found.foot_paths.stance_height_range:.2f} m over the floor, on something that nobody "
            f"recorded"
        )
    return told
