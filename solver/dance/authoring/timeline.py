"""Authored dances from a scene's timeline: poses become configurations, contact strips a contact schedule.

A scene's poses have single precision, so quaternions are normalised. Joint limits are not enforced, because a scene's
motion is checked and not corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...base.errors import InvalidValue, UnknownName
from ...base.so3 import continuous_signs
from ...contacts.rolling import PARTS, SOLE
from ...contacts.rolling_stances import plant
from ...contacts.schedule import SAME_TIME, Anchor, Phase, Schedule
from ...dynamics import link_motions
from ...dynamics.coordinates import joint_slices
from ...scene.timeline import SceneStrip, SceneTimeline, flights_between_strips
from ...skeleton.rig import ROOT_NV, Rig
from ...trajectory.curve import FlatCurve
from .authored_dance import AuthoredDance, Keyframe, Samples

CONTACT_TRIM = 5e-7
"""[s] by which strips of a scene are shortened where a flight begins or ends. The contact force vanishes there, and the
error of poses in single precision would exceed it."""
SAME_FRAME = 1e-6
"""[s] Times that differ by less are one frame."""


class UnknownPatch(UnknownName):
    """No contact patch of that name on the rig."""

    kind = "contact patch"


def configurations_from_poses(
    rig: Rig, root: np.ndarray, rotations: np.ndarray, translations: np.ndarray
) -> np.ndarray:
    """Configurations (N, nq) of poses: the inverse of `scene.motion.scene_motion`.

    A hinge's angle is the rotation about its axis: in the first frame the full turn nearest to the joint's range, then
    continuous in time. Rotations about other axes, and translations of joints that do not slide, are ignored.

    Args:
        rig: L links.
        root: (N, 3) [m] root link's origin, world.
        rotations: (N, L, 4) rotation of each joint, xyzw; that of the root in the world.
        translations: (N, L, 3) [m] of sliding joints.

    Raises:
        InvalidValue: poses of another number of links, or a joint type that cannot be read.
    """
    root, rotations, translations = (np.asarray(part, float) for part in (root, rotations, translations))
    frames, links = len(root), len(rig.links)
    if rotations.shape != (frames, links, 4) or translations.shape != (frames, links, 3):
        raise InvalidValue(
            f"poses of {rotations.shape[1] if rotations.ndim == 3 else 0} links cannot be read as poses of rig "
            f"{rig.name!r}, which has {links}"
        )
    turns = continuous_signs(rotations / np.linalg.norm(rotations, axis=2, keepdims=True)) if frames else rotations
    q = np.empty((frames, rig.nq))
    q[:, :3], q[:, 3:7] = root, turns[:, 0]
    hinges, axes, places = [], [], []
    for number, (joint, into, moves) in enumerate(joint_slices(rig)):
        if joint.kind == "spherical":
            q[:, into] = turns[:, number]
        elif joint.kind == "prismatic":
            q[:, into] = translations[:, number] @ joint.axes.T
        elif joint.kind == "revolute":
            hinges.append(number)
            axes.append(joint.axes[0])
            places.append((into.start, moves.start - ROOT_NV))
        elif joint.kind == "continuous":  # represented by the cosine and sine of its angle
            angle = _hinge_angles(turns[:, [number]], joint.axes)[:, 0]
            q[:, into] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        elif number:
            raise InvalidValue(f"joint {joint.name!r} is {joint.kind} and cannot be read from a scene")
    if hinges and frames:
        angles = _hinge_angles(turns[:, hinges], np.array(axes))
        into_q, place = np.array(places).T
        start = _wrap_to_range(angles[0], rig.limits.lower[place], rig.limits.upper[place])
        q[:, into_q] = (np.unwrap(angles, axis=0) if frames > 1 else angles) + (start - angles[0])
    return q


def timeline_configurations(timeline: SceneTimeline, rig: Rig, count: int | None = None) -> np.ndarray:
    """Configurations (N, nq) of a timeline's poses, or of its first ``count``.

    Raises:
        InvalidValue: no pose, or links that differ from those of the rig.
    """
    if not len(timeline):
        raise InvalidValue(f"timeline {timeline.name!r} holds no pose: give it at least one frame")
    if set(timeline.links) != set(rig.links):
        odd = sorted(set(timeline.links) ^ set(rig.links))
        raise InvalidValue(
            f"timeline {timeline.name!r} shows another rig than {rig.name!r}, they differ in "
            f"{', '.join(odd[:3])}{', ...' if len(odd) > 3 else ''}: choose the armature of this rig"
        )
    order = [timeline.links.index(link) for link in rig.links]
    return configurations_from_poses(
        rig, timeline.root[:count], timeline.rotations[:count, order], timeline.translations[:count, order]
    )


def dance_from_timeline(timeline: SceneTimeline, rig: Rig | None = None) -> AuthoredDance:
    """The authored dance of a timeline.

    Each key has the pose of the sample at its time. A patch without a strip never touches the floor.

    Args:
        timeline: poses, keys and strips.
        rig: that dances; by default the timeline's rig.

    Raises:
        InvalidValue: no pose or too few, a key between or outside the samples, strips that overlap or lie outside.
        UnknownName: a strip of a patch that the rig does not have.
    """
    rig = timeline.rig if rig is None else rig
    q = timeline_configurations(timeline, rig)
    if len(timeline) < 2:
        raise InvalidValue(f"timeline {timeline.name!r} holds one pose only: a dance needs at least two frames")
    keys = _keys(timeline, q)
    samples = Samples(timeline.times, q)
    flights = flights_between_strips((strip.start, strip.stop) for strip in timeline.strips)
    curve = FlatCurve.through_samples(rig, timeline.times, q, [end for flight in flights for end in flight])
    fixed = [key.time for key in keys if key.role == "fixed"]
    strips = _trim_at_flights(timeline_strips(timeline, rig, curve.start, curve.stop))
    schedule = schedule_from_strips(rig, curve, strips, timeline.ground, fixed)
    return AuthoredDance(rig, keys, schedule, samples, name=timeline.name, checks=timeline.checks)


def timeline_strips(timeline: SceneTimeline, rig: Rig, start: float, stop: float) -> tuple[SceneStrip, ...]:
    """The timeline's strips between start and stop [s].

    Ends outside the samples by less than one frame are moved to the nearest sample, because the last whole frame can be
    that much too early.

    Raises:
        UnknownName: a strip of a patch that the rig does not have.
        InvalidValue: a strip ends before it starts, or lies outside the timeline.
    """
    first, last, spare = float(timeline.times[0]), float(timeline.times[-1]), 2.0 * _half_step(timeline)
    known = rig.patches
    result = []
    for strip in timeline.strips:
        if strip.patch not in known:
            raise UnknownPatch(strip.patch, known)
        if strip.part not in PARTS or (strip.part != SOLE and not rig.patch(strip.patch).sole):
            raise InvalidValue(
                _describe_strip(strip, f"is of part {strip.part!r}: soles alone have {', '.join(PARTS)}")
            )
        if not strip.stop > strip.start:
            raise InvalidValue(_describe_strip(strip, "ends before it starts: swap its ends or remove it"))
        if strip.start < first - spare or strip.stop > last + spare:
            raise InvalidValue(
                _describe_strip(strip, f"lies outside the timeline, {first:g} to {last:g} s: shorten it")
            )
        begin, end = max(strip.start, start), min(strip.stop, stop)
        if end > begin:
            result.append(replace(strip, start=begin, stop=end))
    return tuple(result)


def _trim_at_flights(strips: Sequence[SceneStrip]) -> list[SceneStrip]:
    """Strips shortened by `CONTACT_TRIM` where a flight begins or ends."""
    flights = flights_between_strips((strip.start, strip.stop) for strip in strips)
    take_offs, landings = {start for start, _ in flights}, {stop for _, stop in flights}
    return [
        replace(
            strip,
            start=strip.start + CONTACT_TRIM * (strip.start in landings),
            stop=strip.stop - CONTACT_TRIM * (strip.stop in take_offs),
        )
        for strip in strips
    ]


def patches_on_floor(timeline: SceneTimeline, rig: Rig, time: float) -> dict[str, str]:
    """Parts of the patches whose strips include a time [s], in the rig's order; strips of zero duration count.

    Raises:
        UnknownName: a strip of a patch that the rig does not have.
    """
    for strip in timeline.strips:
        if strip.patch not in rig.patches:
            raise UnknownPatch(strip.patch, rig.patches)
    planted = {s.patch: s.part for s in timeline.strips if s.start - SAME_FRAME <= time <= s.stop + SAME_FRAME}
    return {patch: planted[patch] for patch in rig.patches if patch in planted}


def _keys(timeline: SceneTimeline, q: np.ndarray) -> tuple[Keyframe, ...]:
    spare = _half_step(timeline)
    found: list[Keyframe] = []
    taken: dict[int, float] = {}
    for key in sorted(timeline.keys, key=lambda k: k.time):
        frame = int(np.argmin(np.abs(timeline.times - key.time)))
        time = float(timeline.times[frame])
        called = f"the key {key.name!r}" if key.name else "the key"
        if abs(key.time - time) > spare:
            raise InvalidValue(
                f"{called} at {key.time:g} s lies outside the samples, {timeline.times[0]:g} to "
                f"{timeline.times[-1]:g} s: widen the frame range or remove it"
            )
        if frame in taken:
            raise InvalidValue(
                f"the keys at {taken[frame]:g} and {key.time:g} s fall on one frame: move one of them to another"
            )
        taken[frame] = key.time
        found.append(Keyframe(time, q[frame], key.role, key.name))
    return tuple(found)


def _half_step(timeline: SceneTimeline) -> float:
    return 0.5 * float(np.diff(timeline.times).max()) + SAME_FRAME if len(timeline) > 1 else SAME_FRAME


def _describe_strip(strip: SceneStrip, what: str) -> str:
    return f"the strip of {strip.patch!r} from {strip.start:g} to {strip.stop:g} s {what}"


def _hinge_angles(turns: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Rotation (N, H) [rad] of quaternions (N, H, 4) about axes (H, 3)."""
    # frames n, hinges h, components i
    return 2.0 * np.arctan2(np.einsum("nhi,hi->nh", turns[:, :, :3], axes), turns[:, :, 3])


def _wrap_to_range(angles: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Angles (H,) [rad], changed by full turns, that lie in their ranges or nearest to them; smallest if several."""
    turns = np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi + 2.0 * np.pi * np.array([[0.0], [1.0], [-1.0]])
    beyond = np.maximum(np.maximum(lower - turns, turns - upper), 0.0)
    return np.take_along_axis(turns, beyond.argmin(axis=0)[None], axis=0)[0]


def schedule_from_strips(
    rig: Rig, curve: FlatCurve, strips: Sequence[SceneStrip], ground: float = 0.0, fixed_times: Sequence[float] = ()
) -> Schedule:
    """The contact schedule of a dance from its strips; outside all strips of a patch it does not touch the floor.

    Each stance plants its patch once: where the dance has it at the first fixed key, otherwise in the middle of its
    longest strip, if possible a flat one, rotated and shifted vertically until the sole is flat on the floor. Strips of
    several parts of a sole that follow at once are one stance, in which it rolls.

    Args:
        rig: that dances.
        curve: of the dance.
        strips: of all patches, in any order.
        ground: [m] height of the floor.
        fixed_times: times [s] of fixed keys.

    Raises:
        InvalidValue: strips of one patch overlap, end before they start, or lie outside the dance.
    """
    ordered = sorted(strips, key=lambda s: (s.patch, s.start))
    for before, strip in zip([None, *ordered], ordered):
        _require_valid_strip(strip, before, curve)
    stances: list[list[SceneStrip]] = []
    for strip in ordered:
        last = stances[-1][-1] if stances else None
        rolls = last is not None and last.patch == strip.patch and last.part != strip.part
        if last is not None and rolls and strip.start - last.stop <= SAME_TIME:
            stances[-1].append(strip)
        else:
            stances.append([strip])
    places = _plant_feet(rig, curve, stances, ground, fixed_times)
    anchors = [(s, replace(place, part=s.part)) for own, place in zip(stances, places) for s in own]
    edges = {curve.start, curve.stop, *(t for s, _ in anchors for t in (s.start, s.stop))}
    times = sorted(edges)
    times = [times[0], *(b for a, b in pairwise(times) if b - a > SAME_TIME)]
    phases = []
    for start, stop in pairwise(times):
        middle = 0.5 * (start + stop)
        phases.append(Phase(start, stop, tuple(a for s, a in anchors if s.start < middle < s.stop)))
    return Schedule(tuple(phases), ground)


def _plant_feet(
    rig: Rig, curve: FlatCurve, stances: Sequence[Sequence[SceneStrip]], ground: float, fixed: Sequence[float]
) -> list[Anchor]:
    """Where each stance plants its patch, from one evaluation of the dance: a scene may have hundreds of strips."""
    if not stances:
        return []
    chosen: list[tuple[SceneStrip, float]] = []
    for own in stances:
        longest = max(own, key=lambda s: (s.part == SOLE, s.stop - s.start))
        kept = [(s, t) for s in own for t in fixed if s.start - SAME_TIME <= t <= s.stop + SAME_TIME]
        chosen.append(kept[0] if kept else (longest, 0.5 * (longest.start + longest.stop)))
    moments, frames = np.unique([time for _, time in chosen], return_inverse=True)
    links = link_motions(rig, curve.motion(rig, moments))
    anchors = []
    for (strip, _), frame in zip(chosen, frames.reshape(-1)):
        link = rig.index(rig.patch(strip.patch).link)
        anchor = Anchor(strip.patch, links.rotation[:, :, link, frame], links.position[:, link, frame])
        anchors.append(plant(rig, anchor, ground, strip.part))
    return anchors


def _require_valid_strip(strip: SceneStrip, before: SceneStrip | None, curve: FlatCurve) -> None:
    if not strip.stop > strip.start:
        raise InvalidValue(f"the strip of {strip.patch!r} at {strip.start:g} s ends before it starts: swap its ends")
    if strip.start < curve.start - SAME_TIME or strip.stop > curve.stop + SAME_TIME:
        raise InvalidValue(
            f"the strip of {strip.patch!r} from {strip.start:g} to {strip.stop:g} s extends beyond the dance, "
            f"{curve.start:g} to {curve.stop:g} s: shorten it"
        )
    if before is not None and before.patch == strip.patch and strip.start < before.stop - SAME_TIME:
        raise InvalidValue(
            f"strips of {strip.patch!r} overlap from {strip.start:g} to {before.stop:g} s: shorten or join them"
        )
