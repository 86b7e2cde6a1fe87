"""The dance of a rehearsal video: reads it, finds its stops and contacts, and interpolates it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np

from ..authoring import timeline
from ..base import convert
from ..base.solver_api import (
    MOTION,
    SUMMARY,
    Rig,
    SceneKey,
    SceneMotion,
    SceneTimeline,
    dance_folder,
    errors,
    stored_file,
)
from ..scene.action import frame_rate
from ..scene.dance_moves import find_moves
from .plan import TIME_TOLERANCE, Stop

REST_TOLERANCE = 2e-3
"""[m, or of quaternion components] Largest motion between two keys that counts as rest."""
SHORTEST_STOP = 0.15
"""[s] Shortest rest that counts as a stop in a dance without keys."""
CONTACT_OFFSET = 0.05
"""[s] Contacts are read this long after they change."""
REMEDY = "Choose the results folder of `dance`"


@dataclass(frozen=True, slots=True)
class RehearsedDance:
    """A dance to rehearse.

    Attributes:
        timeline: the rig, its motion, keys and contact strips.
        stops: the stops of the dance, in order.
    """

    timeline: SceneTimeline
    stops: tuple[Stop, ...]

    def __post_init__(self) -> None:
        patches = set(self.rig.patches)
        for strip in self.timeline.strips:
            if strip.patch not in patches:
                raise errors.InvalidValue(f"the dance has a contact {strip.patch!r}, which the rig does not have")
        if len(self.timeline) < 2:
            raise errors.InvalidValue("a dance with a single pose cannot be rehearsed")

    @property
    def rig(self) -> Rig:
        """Rig of the dance."""
        return self.timeline.rig

    @property
    def interval(self) -> tuple[float, float]:
        """First and last time [s]."""
        return float(self.timeline.times[0]), float(self.timeline.times[-1])

    def motion(self, times: np.ndarray, clock: np.ndarray) -> SceneMotion:
        """The motion at times (F,) of the dance, with the times (F,) [s] of the video."""
        line = self.timeline
        after = np.clip(np.searchsorted(line.times, times, side="right"), 1, len(line) - 1)
        fraction = np.clip((times - line.times[after - 1]) / (line.times[after] - line.times[after - 1]), 0.0, 1.0)
        fraction = np.where(fraction < TIME_TOLERANCE, 0.0, fraction)[:, None]
        root = _interpolate(line.root, after, fraction)
        translations = _interpolate(line.translations, after, fraction[:, :, None])
        return SceneMotion(
            times=clock,
            links=line.links,
            root=root,
            rotations=_interpolate_rotations(line.rotations, after, fraction[:, :, None]),
            translations=translations,
            com=np.zeros((len(times), 3)),
            momentum=np.zeros((len(times), 6)),
            standing=np.zeros((len(times), 0, 3)),
        )

    def links_at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Axes (F, L, 3, 3) and origins (F, L, 3) [m] of the links in the world."""
        motion = self.motion(np.asarray(times, float), np.arange(len(times), dtype=float))
        translations = np.array(motion.translations)
        translations[:, 0] = motion.root
        return convert.link_poses(self.rig, motion.rotations, translations)

    def standing_patches(self, time: float) -> tuple[str, ...]:
        """Patches in contact at a time, in the rig's order; at the end, those just before it."""
        time = min(time, self.interval[1] - 2.0 * TIME_TOLERANCE)
        on = {strip.patch for strip in self.timeline.strips if strip.start - TIME_TOLERANCE <= time < strip.stop}
        return tuple(name for name in self.rig.patches if name in on)

    def standing_patches_in(self, stop: Stop) -> tuple[str, ...]:
        """Patches in contact during a stop; for a stop without duration, just after it."""
        return self.standing_patches(
            min(
                0.5 * (stop.start + stop.stop) + CONTACT_OFFSET * (stop.stop == stop.start),
                self.interval[1] - TIME_TOLERANCE,
            )
        )

    def patch_sides(self) -> dict[str, str]:
        """Side of every contact patch: ``"left"``, ``"right"`` or ``""``; also ``""`` for hands and knees."""
        found = {left: "left" for left, _ in self.rig.pairs} | {right: "right" for _, right in self.rig.pairs}
        return {patch.name: found.get(patch.link, "") * patch.sole for patch in self.rig.contacts}


def from_folder(folder: str | Path) -> RehearsedDance:
    """Read the dance that ``python -m solver dance`` (or repair, complete, slow, retarget) wrote to a folder.

    Raises:
        InputError: the folder or a file is missing or damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise errors.InputError(folder, "is not a folder", remedy=REMEDY)
    record = MOTION.read(stored_file(folder, dance_folder.MOTION_FILE))
    summary = SUMMARY.read(stored_file(folder, dance_folder.SUMMARY_FILE))
    rig, motion, last = record.rig, record.scene, float(record.scene.times[-1])
    hard = [(move.stop, move.difficulty) for move in summary.moves]
    line = SceneTimeline(
        name=f"Dance: {rig.name}",
        rig=rig,
        times=motion.times,
        root=motion.root,
        rotations=motion.rotations,
        translations=motion.translations,
        keys=tuple(replace(key, time=min(key.time, last)) for key in summary.keys),  # the last sample can be earlier
        strips=summary.strips,
    )
    return RehearsedDance(line, add_difficulties(find_stops(line), hard, TIME_TOLERANCE))


def from_scene(scene: bpy.types.Scene, armature: bpy.types.Object) -> RehearsedDance:
    """Read the dance on the timeline of a scene, over the scene's (preview) range."""
    line, moves = timeline.sample_timeline(scene, armature), find_moves(armature)
    rows = [] if moves is None else moves.rows
    ends = timeline.times_at_frames(scene, np.array([row.last for row in rows]))
    hard = [(float(end), row.difficulty) for end, row in zip(ends, rows)]
    return RehearsedDance(line, add_difficulties(find_stops(line), hard, 1.0 / frame_rate(scene)))


def add_difficulties(
    stops: Sequence[Stop], difficulties: Sequence[tuple[float, str]], tolerance: float
) -> tuple[Stop, ...]:
    """Stops with the difficulty of the moves to them.

    Args:
        stops: stops of a dance.
        difficulties: end time [s] and difficulty of each move.
        tolerance: [s] largest difference between the end of a move and the start of its stop.
    """
    found = {
        stop: difficulty for stop in stops for end, difficulty in difficulties if abs(stop.start - end) < tolerance
    }
    return tuple(replace(stop, difficulty=found.get(stop, "")) for stop in stops)


def find_stops(line: SceneTimeline) -> tuple[Stop, ...]:
    """Stops of a dance: between keys with equal poses, at all other keys without duration, or at rests if not keyed.

    Where nothing moves before the first key or after the last one, it belongs to their stops.
    """
    keys = line.keys
    if not keys:
        return _find_rests(line)
    first, last = float(line.times[0]), float(line.times[-1])
    begin = first if first < keys[0].time and _is_still(line, first, keys[0].time) else keys[0].time
    stops = [Stop(begin, keys[0].time, _stop_name(keys[0], 0))]
    for number, (one, other) in enumerate(pairwise(keys), start=1):
        if _is_still(line, one.time, other.time):
            stops[-1] = Stop(stops[-1].start, other.time, stops[-1].name)
        else:
            stops.append(Stop(other.time, other.time, _stop_name(other, number)))
    if stops[-1].stop < last and _is_still(line, stops[-1].stop, last):
        stops[-1] = replace(stops[-1], stop=last)
    return tuple(stops)


def _find_rests(line: SceneTimeline) -> tuple[Stop, ...]:
    """Intervals in which the pose does not change, as stops."""
    poses = np.concatenate([part.reshape(len(line), -1) for part in (line.root, line.rotations, line.translations)], 1)
    stops: list[Stop] = []
    start = 0
    for frame in range(1, len(line) + 1):
        if frame < len(line) and np.abs(poses[frame] - poses[start]).max() < REST_TOLERANCE:
            continue
        if line.times[frame - 1] - line.times[start] >= SHORTEST_STOP:
            stops.append(Stop(float(line.times[start]), float(line.times[frame - 1]), f"posture {len(stops) + 1}"))
        start = frame
    return tuple(stops)


def _is_still(line: SceneTimeline, start: float, stop: float) -> bool:
    """Whether the pose does not change between two times."""
    inside = (line.times >= start - TIME_TOLERANCE) & (line.times <= stop + TIME_TOLERANCE)
    return all(
        not inside.any() or float(np.ptp(part[inside], axis=0).max(initial=0.0)) < REST_TOLERANCE
        for part in (line.root, line.rotations, line.translations)
    )


def _stop_name(key: SceneKey, number: int) -> str:
    return key.name or f"posture {number + 1}"


def _interpolate(values: np.ndarray, after: np.ndarray, fraction: np.ndarray) -> np.ndarray:
    return (1.0 - fraction) * values[after - 1] + fraction * values[after]


def _interpolate_rotations(rotations: np.ndarray, after: np.ndarray, fraction: np.ndarray) -> np.ndarray:
    """Interpolate rotations linearly with normalisation, along the shorter arc; accurate because samples are dense."""
    before, behind = rotations[after - 1], rotations[after]
    behind = np.where((before * behind).sum(axis=-1, keepdims=True) < 0.0, -behind, behind)
    mixed = (1.0 - fraction) * before + fraction * behind
    return mixed / np.linalg.norm(mixed, axis=-1, keepdims=True)
