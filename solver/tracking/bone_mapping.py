"""Which recorded segment turns which link, and how its axes lie in the link's: from names and the pose at rest.

A link's target is R_WL(t) = R_WS(t) R_SL: the segment's recorded axes, and the link's within them, which stay. Where
the recording has a pose at rest, R_SL makes the link's bone point as the segment's does in it, the body turned to where
the segments face; where it has none (inertial units), the person is taken to stand in the rig's neutral posture first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import frozen
from ..assets import ASSETS
from ..errors import InvalidValue, UnknownLink, UnknownName
from ..files import read_bytes
from ..formats.codec import FileKind
from ..formats.json_tree import json_object
from ..motion import RestPose, SegmentPoses
from ..person import LINKS, sides_and_words
from ..rig import Rig
from ..so3 import between, nearest
from .kinematics import Kinematics
from .targets import OrientationTargets, PositionTargets, Targets
from .tasks import OrientationTask, PositionTask

NAMES = ASSETS / "bone_names.json"
FEWEST = 4
"""Segments that must be known for a motion to be one of the rig."""
RADIAN = 0.2
"""[m] A radian of an orientation's error counts as so much of a point's."""
STANDING = 0.5
"""[s] For so long the neutral posture is held first where no pose at rest is recorded."""
LONGER = 1e-3
"""[m] A bone that is shorter does not tell where it points."""
LEG = ("thigh", "shank", "foot")


@dataclass(frozen=True, slots=True)
class BoneMapping:
    """How recorded segments turn a rig's links.

    Attributes:
        links: K links of the rig.
        segments: K recorded segments that turn them.
        turns: (K, 3, 3) link axes in the segment's.
        root: segment whose place the rig's root follows; None for none.
        scale: by which recorded places are multiplied, a ratio; that of the legs' lengths, where both are known.
        told: what was assumed.
    """

    links: tuple[str, ...]
    segments: tuple[str, ...]
    turns: np.ndarray
    root: str | None = None
    scale: float = 1.0
    told: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("links", "segments", "told"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        turns = frozen("link axes in the segments'", self.turns, (len(self.links), 3, 3))
        if len(turns) and np.abs(turns @ np.swapaxes(turns, 1, 2) - np.eye(3)).max() > 1e-3:
            raise InvalidValue("the link axes of a mapping are no rotations")
        object.__setattr__(self, "turns", turns)
        if len(self.segments) != len(self.links) or len(set(self.links)) != len(self.links):
            raise InvalidValue(f"a mapping names {len(self.segments)} segments for {len(set(self.links))} links")
        if not (np.isfinite(self.scale) and self.scale > 0.0):
            raise InvalidValue(f"a mapping's scale {self.scale:g} is not positive")


MAPPING = FileKind(BoneMapping, "exciting dance bone mapping", remedy="Write it again with --save-mapping")


def guessed(recording: SegmentPoses, rig: Rig) -> BoneMapping:
    """The mapping that names and the pose at rest tell.

    Raises:
        InvalidValue: too few segments whose names tell a link of the rig, or nobody stands still at first.
    """
    found = by_name(recording.names, rig.links)
    if len(found) < FEWEST:
        raise InvalidValue(
            f"only {len(found)} of the segments {', '.join(recording.names[:12])} are known as links of {rig.name}; "
            "name a mapping file"
        )
    links = tuple(link for link in rig.links if link in found)
    segments = tuple(found[link] for link in links)
    places = [recording.names.index(name) for name in segments]
    told = []
    scale = 1.0
    if recording.rest is not None:
        turns, scale = _at_rest(recording.rest, rig, links, places)
    else:
        turns = _standing(recording, places)
        told.append(f"the first {STANDING:g} s are taken for standing upright in the rig's neutral posture")
    free = [link for link in rig.links if link not in links]
    if free:
        told.append(f"no segment turns {', '.join(free)}: left as near to neutral as the others allow")
    root = found.get(rig.links[0])
    if root is not None and (recording.positions is None or not _is_placed(recording, root)):
        root = None
    return BoneMapping(links, segments, turns, root, scale, tuple(told))


def by_name(names: Sequence[str], links: Sequence[str]) -> dict[str, str]:
    """The segment that turns each link (link: segment), of those that names tell; equal names first."""
    known = _vocabulary()
    found: dict[str, tuple[int, str]] = {}
    for name in names:
        for link, rank in _readings(name, known):
            if link in links and rank < found.get(link, (10**6, ""))[0]:
                found[link] = (rank, name)
    result = {link: name for link, (_, name) in found.items()}
    return {**result, **{link: link for link in links if link in names}}


def targets_of(recording: SegmentPoses, rig: Rig, mapping: BoneMapping) -> Targets:
    """What the rig's links are to follow; a sample that is missing is none.

    Raises:
        UnknownLink: the mapping names a link that the rig lacks.
        UnknownName: it names a segment that was not recorded.
        InvalidValue: it names none at all.
    """
    if not mapping.links:
        raise InvalidValue("the mapping turns no link")
    for link in mapping.links:
        if link not in rig.links:
            raise UnknownLink(link, rig.links)
    for segment in (*mapping.segments, *filter(None, [mapping.root])):
        if segment not in recording.names:
            raise UnknownName(segment, recording.names)
    columns = [recording.names.index(segment) for segment in mapping.segments]
    indices = np.array([rig.index(link) for link in mapping.links])
    task = OrientationTask(mapping.links, indices, np.full(len(indices), RADIAN**2))
    turns = OrientationTargets(task, recording.rotations[:, columns] @ mapping.turns)
    start = np.zeros((1, 3))
    root = PositionTask((rig.links[0],), np.zeros(1, int), start, np.ones(1))
    if mapping.root is None or recording.positions is None:
        places = np.tile(_stand(rig), (len(recording), 1, 1))
    else:
        places = mapping.scale * recording.positions[:, [recording.names.index(mapping.root)]]
    return Targets(recording.times, PositionTargets(root, places), turns)


def _stand(rig: Rig) -> np.ndarray:
    """Where the root stands (3,) [m] when the lowest point of the neutral posture is on the floor."""
    kinematics = Kinematics(rig)
    kinematics.update(rig.neutral)
    tips = kinematics.points(np.arange(len(rig.links)), rig.tips)
    return np.asarray(rig.neutral[:3]) - [0.0, 0.0, float(tips[:, 2].min())]


def _at_rest(rest: RestPose, rig: Rig, links: Sequence[str], places: Sequence[int]) -> tuple[np.ndarray, float]:
    """Link axes (K, 3, 3) in the segments', and the ratio of the legs' lengths."""
    kinematics = Kinematics(rig)
    kinematics.update(rig.neutral)
    rotations = kinematics.rotations.copy()
    column = dict(zip(links, places))
    facing = _facing(rest, column)
    turns = np.empty((len(links), 3, 3))
    lengths: list[tuple[float, float]] = []
    for row, (link, place) in enumerate(zip(links, places)):
        index = rig.index(link)
        following = [k for k, parent in enumerate(rig.parents) if parent == index and rig.links[k] in column]
        end = rest.tips[place]
        bone = rig.tips[index]
        if len(following) == 1 and index:
            end, bone = rest.heads[column[rig.links[following[0]]]], rig.joints[following[0]].position
            if link.endswith(LEG[:2]):
                lengths.append((float(np.linalg.norm(bone)), float(np.linalg.norm(end - rest.heads[place]))))
        pointing = facing.T @ (end - rest.heads[place])
        own = rotations[index] @ bone
        turn = np.eye(3)
        if index and np.isfinite(pointing).all() and min(np.linalg.norm(pointing), np.linalg.norm(own)) > LONGER:
            turn = between(own, pointing)
        turns[row] = rest.rotations[place].T @ facing @ turn @ rotations[index]
    known = [(ours, theirs) for ours, theirs in lengths if theirs > LONGER]
    scale = sum(ours for ours, _ in known) / sum(theirs for _, theirs in known) if known else 1.0
    return nearest(turns), scale


def _facing(rest: RestPose, column: Mapping[str, int]) -> np.ndarray:
    """Rotation (3, 3) about the vertical from the rig's axes at neutral to the body at rest, by what lies left."""
    for limb in (*LEG, "upper_arm"):
        left, right = column.get(f"left_{limb}"), column.get(f"right_{limb}")
        if left is not None and right is not None:
            across = (rest.heads[left] - rest.heads[right])[:2]
            if np.linalg.norm(across) > LONGER:
                y = np.array([*across / np.linalg.norm(across), 0.0])
                return np.column_stack([np.cross(y, [0.0, 0.0, 1.0]), y, [0.0, 0.0, 1.0]])
    return np.eye(3)


def _standing(recording: SegmentPoses, places: Sequence[int]) -> np.ndarray:
    """Link axes (K, 3, 3) in the segments', by the mean of the first moments, in which links lie as the world does."""
    turns = np.empty((len(places), 3, 3))
    for row, place in enumerate(places):
        seen = np.isfinite(recording.rotations[:, place, 0, 0])
        first = np.flatnonzero(seen)
        if not len(first):
            raise InvalidValue(f"segment {recording.names[place]!r} was never seen")
        until = recording.times[first[0]] + STANDING
        held = recording.rotations[seen & (recording.times <= until), place]
        turns[row] = nearest(held.sum(axis=0)).T
    return turns


def _is_placed(recording: SegmentPoses, name: str) -> bool:
    assert recording.positions is not None
    return bool(np.isfinite(recording.positions[:, recording.names.index(name), 0]).any())


def _readings(name: str, known: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Links that a segment's name may mean, each with its rank: 0 the likeliest."""
    own = name.rpartition(":")[2]
    found = []
    for side, words in sides_and_words(own):
        words = [word for word in words if word not in known["prefixes"]]
        stem = "".join(words)
        for prefix in known["prefixes"]:
            stem = stem.removeprefix(prefix)
        for link, stems in known["links"].items():
            sided = f"{side}_{link}"
            if stem in stems and (sided in LINKS if side else link in LINKS):
                found.append((sided if side else link, stems.index(stem)))
    return found


@lru_cache(maxsize=1)
def _vocabulary() -> Mapping[str, Any]:
    return json_object(NAMES, read_bytes(NAMES), "Install the program again")
