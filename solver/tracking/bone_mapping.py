"""Maps recorded segments to links, and their axes to the links' axes, from names and the rest pose.

A link's target is R_WL(t) = R_WS(t) R_SL: the segment's recorded axes times the constant rotation between both. With a
rest pose in the recording, R_SL makes the link's bone point as the segment's bone does in it, with the body rotated to
face as the segments do. Without one (inertial units), the person is assumed to stand in the rig's neutral posture
first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import frozen
from ..base.errors import InvalidValue, UnknownLink, UnknownName, checked
from ..base.so3 import nearest_rotation, rotation_between
from ..skeleton.match import find_gaps, match_recording
from ..skeleton.rig import Rig
from ..storage.codec import FileKind
from ..values.motion import RestPose, SegmentPoses
from ..values.person import CHAINS, LINKS, SIDES
from .anatomy import ARM, LEG, Anatomy, find_anatomy, find_joint_centres
from .kinematics import Kinematics
from .tasks import OrientationTargets, OrientationTask, PositionTargets, PositionTask, Targets

MIN_SEGMENTS = 4
"""Fewest segments that must be known for a motion of the rig."""
METRES_PER_RADIAN = 0.2
"""[m] Distance error of a point that counts as much as an orientation error of one radian."""
NEUTRAL_TIME = 0.5
"""[s] Time at the beginning in which the neutral posture is assumed if the recording has no rest pose."""
MIN_BONE_LENGTH = 1e-3
"""[m] The direction of a shorter bone is not used."""
TWIST_WEIGHTS = {"upper_arm": 0.1, "forearm": 0.1, "hand": 0.3}
"""Weight of the rotation about the bone relative to the other axes, for parts whose axial rotation is measured badly or
belongs to another joint (elbow flexion determines it)."""
MAX_LEG_TILT = 0.25
"""[rad] A robot's leg that leans by less at rest counts as upright, because its joints lie beside the bone."""
MAX_FOOT_SPREAD = 0.2
"""[m] If the feet at rest are further apart than the hips by more (each leg leaning by some seven degrees), the legs
are drawn spread and the feet are placed below the hips; otherwise they stay as they stand."""


@checked
@dataclass(frozen=True, slots=True)
class BoneMapping:
    """Which recorded segment each link of a rig follows, and how.

    Attributes:
        links: K links of the rig.
        segments: K recorded segments that the links follow.
        rotations: (K, 3, 3) link axes in the segment's.
        root_segment: segment whose position the rig's root follows; None for none.
        scale: factor on recorded positions: the ratio of the legs' lengths, if both are known.
        weights: (K,) how strictly each link follows, relative to 1.
        bone_axes: (K, 3) unit vectors along the links, link axes; zero for a link without bone.
        twist_weights: (K,) fraction of its weight with which a link follows about its own bone.
        foot_segments: segment that the foot of each contact patch follows, by the patch's name.
        foot_widening: [m] by which each foot is further out than the recorded one, scaled.
        notes: what was assumed.
    """

    links: tuple[str, ...]
    segments: tuple[str, ...]
    rotations: np.ndarray
    root_segment: str | None = None
    scale: float = 1.0
    weights: np.ndarray = field(default_factory=lambda: np.ones(0))
    bone_axes: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    twist_weights: np.ndarray = field(default_factory=lambda: np.ones(0))
    foot_segments: Mapping[str, str] = field(default_factory=dict)
    foot_widening: float = 0.0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("links", "segments", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        rotations = frozen("link axes in the segments'", self.rotations, (len(self.links), 3, 3))
        if len(rotations) and np.abs(rotations @ np.swapaxes(rotations, 1, 2) - np.eye(3)).max() > 1e-3:
            raise InvalidValue("the link axes of a mapping are not rotations")
        object.__setattr__(self, "rotations", rotations)
        if len(self.segments) != len(self.links) or len(set(self.links)) != len(self.links):
            raise InvalidValue(f"a mapping names {len(self.segments)} segments for {len(set(self.links))} links")
        if not (np.isfinite(self.scale) and self.scale > 0.0):
            raise InvalidValue(f"a mapping's scale {self.scale:g} is not positive")
        if not np.isfinite(self.foot_widening):
            raise InvalidValue("a mapping's foot_widening is not finite")
        count = len(self.links)
        for name, default in (
            ("weights", np.ones(count)),
            ("twist_weights", np.ones(count)),
            ("bone_axes", np.zeros((count, 3))),
        ):
            given = getattr(self, name)
            value = frozen(f"{name} of a mapping", given if len(given) else default, default.shape)
            object.__setattr__(self, name, value)
        if np.any(self.weights < 0.0) or np.any(self.twist_weights < 0.0) or np.any(self.twist_weights > 1.0):
            raise InvalidValue(
                "a mapping's weights must not be negative, and its twist_weights must be between 0 and 1"
            )
        object.__setattr__(self, "foot_segments", dict(self.foot_segments))

    def require(self, recording: SegmentPoses, rig: Rig) -> None:
        """Raises an error if the mapping belongs to another recording or rig.

        Raises:
            UnknownLink: it names a link that the rig lacks.
            UnknownName: it names a segment that was not recorded, or a patch that the rig lacks.
            InvalidValue: it maps no link.
        """
        if not self.links:
            raise InvalidValue("the mapping contains no link")
        for link in self.links:
            if link not in rig.links:
                raise UnknownLink(link, rig.links)
        for segment in (*self.segments, *filter(None, [self.root_segment]), *self.foot_segments.values()):
            if segment not in recording.names:
                raise UnknownName(segment, recording.names)
        for patch in self.foot_segments:
            if patch not in rig.patches:
                raise UnknownName(patch, rig.patches)


MAPPING = FileKind(BoneMapping, "exciting dance bone mapping", remedy="Write it again with --save-mapping")


def guess_mapping(recording: SegmentPoses, rig: Rig, parts: Mapping[str, str] | None = None) -> BoneMapping:
    """The mapping inferred from names and the rest pose.

    Args:
        recording: of segments.
        rig: whose links follow them.
        parts: segment of each known part of a person; by default from the segments' names.

    Raises:
        InvalidValue: too few segments have names of links of the rig, or a segment is never seen.
    """
    anatomy = _known_anatomy(rig)
    known = match_recording(recording) if parts is None else parts
    same = {link: link for link in rig.links if link in recording.names and parts is None}
    segment_by_link = {anatomy.parts[part]: segment for part, segment in known.items() if part in anatomy.parts} | same
    if len(segment_by_link) < MIN_SEGMENTS:
        raise InvalidValue(
            f"only {len(segment_by_link)} of the segments {', '.join(recording.names[:12])} "
            f"are known as links of {rig.name}; "
            "give a mapping file"
        )
    for part, (above, below) in find_gaps(known).items():
        if anatomy.parts.get(part, part) in rig.links and anatomy.parts.get(part, part) not in segment_by_link:
            between = f"{above} ({known[above]}) and {below} ({known[below]})"
            text = f"no segment was found for {part}, which lies between {between}; rename its bone as in "
            raise InvalidValue(f"{text}Mixamo or Rigify, or give a mapping file")
    links = tuple(link for link in rig.links if link in segment_by_link)
    segments = tuple(segment_by_link[link] for link in links)
    columns = [recording.names.index(name) for name in segments]
    notes = [anatomy.note] * anatomy.guessed
    scale = 1.0
    if recording.rest is not None:
        rotations, bone_axes, scale = _align_rest_poses(recording.rest, rig, anatomy, dict(zip(links, columns)))
    else:
        rotations, bone_axes = _rotations_from_standing(recording, columns), np.zeros((len(links), 3))
        notes.append(
            f"the person is assumed to stand upright in the rig's neutral posture for the first {NEUTRAL_TIME:g} s"
        )
    notes += _note_free_links(rig, links)
    root = segment_by_link.get(rig.links[0])
    if root is not None and (recording.positions is None or not _has_positions(recording, root)):
        root = None
    roles = {link: part for part, link in anatomy.parts.items()}
    weights = np.array([1.0 if link == roles.get(link, link) else anatomy.weight(roles[link]) for link in links])
    twist_weights = np.array([TWIST_WEIGHTS.get(roles.get(link, link).split("_", 1)[-1], 1.0) for link in links])
    foot_segments = {patch.name: segment_by_link[patch.link] for patch in rig.soles if patch.link in segment_by_link}
    foot_widening = 0.0
    if recording.rest is not None:
        column_by_part = {part: recording.names.index(segment) for part, segment in known.items()}
        foot_widening = _foot_widening(recording.rest, rig, anatomy, column_by_part, scale)
    return BoneMapping(
        links,
        segments,
        rotations,
        root,
        scale,
        weights,
        bone_axes,
        twist_weights,
        foot_segments,
        foot_widening,
        tuple(notes),
    )


def _known_anatomy(rig: Rig) -> Anatomy:
    """The parts of a rig; for one without legs, the links with names of parts."""
    try:
        return find_anatomy(rig)
    except InvalidValue:
        return Anatomy(rig.name, {link: link for link in rig.links if link in LINKS})


def mapping_notes(mapping: BoneMapping, rig: Rig) -> tuple[str, ...]:
    """What was assumed for a mapping, and which links of a rig it leaves free."""
    return tuple(dict.fromkeys((*mapping.notes, *_note_free_links(rig, mapping.links))))


def _note_free_links(rig: Rig, links: Sequence[str]) -> list[str]:
    free = _find_free_links(rig, links)
    return [f"no segment maps to {', '.join(free)}: kept as near to neutral as the others allow"] if free else []


def _find_free_links(rig: Rig, links: Sequence[str]) -> list[str]:
    """Links that follow nothing and are not between links that follow a segment."""
    led = {rig.index(link) for link in links}
    passed: set[int] = set()
    for link in led:
        above = rig.parents[link]
        while above >= 0 and above not in led:
            passed.add(above)
            above = rig.parents[above]
    return [link for k, link in enumerate(rig.links) if k not in led and k not in passed]


def targets_from_segments(recording: SegmentPoses, rig: Rig, mapping: BoneMapping) -> Targets:
    """Targets of the rig's links; missing samples have none.

    Raises:
        UnknownLink: the mapping names a link that the rig lacks.
        UnknownName: it names a segment that was not recorded, or a patch that the rig lacks.
        InvalidValue: it maps no link.
    """
    mapping.require(recording, rig)
    columns = [recording.names.index(segment) for segment in mapping.segments]
    indices = np.array([rig.index(link) for link in mapping.links])
    task = OrientationTask(mapping.links, indices, METRES_PER_RADIAN**2 * mapping.weights)
    rotations = OrientationTargets(task, recording.rotations[:, columns] @ mapping.rotations)
    root = PositionTask((rig.links[0],), np.zeros(1, int), np.zeros((1, 3)), np.ones(1))
    if mapping.root_segment is None or recording.positions is None:
        positions = np.tile(_standing_root(rig), (len(recording), 1, 1))
    else:
        positions = mapping.scale * recording.positions[:, [recording.names.index(mapping.root_segment)]]
    return Targets(recording.times, PositionTargets(root, positions), rotations)


def _standing_root(rig: Rig) -> np.ndarray:
    """Position of the root (3,) [m] with the lowest point of the neutral posture on the floor."""
    kinematics = Kinematics(rig)
    kinematics.update_kinematics(rig.neutral)
    tips = kinematics.points(np.arange(len(rig.links)), rig.tips)
    return np.asarray(rig.neutral[:3]) - [0.0, 0.0, float(tips[:, 2].min())]


def _align_rest_poses(
    rest: RestPose, rig: Rig, anatomy: Anatomy, column: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray, float]:
    """Link axes (K, 3, 3) in the segments', the links' bones (K, 3), and the ratio of the legs' lengths."""
    rotations = rig.rest[0]
    starts = find_joint_centres(rig, anatomy.parts)
    roles = {link: part for part, link in anatomy.parts.items()}
    heads = {roles[link]: rest.heads[place] for link, place in column.items() if link in roles}
    facing, forward = facing_rotation(heads), facing_rotation(starts)
    turns, bones = np.empty((len(column), 3, 3)), np.zeros((len(column), 3))
    lengths: list[tuple[float, float]] = []
    for row, (link, place) in enumerate(column.items()):
        index, part = rig.index(link), roles.get(link, link)
        following = _next_link(rig, column, link, part, roles)
        end, own = rest.tips[place], rotations[index] @ rig.tips[index]
        if following is not None and index:
            end, own = rest.heads[column[following]], _bone_vector(rig, link, following, roles, starts)
            if part.endswith(LEG[:2]):
                lengths.append((float(np.linalg.norm(own)), float(np.linalg.norm(end - rest.heads[place]))))
        elif part.endswith(ARM[-1]):  # tips of robots' hands, and of hands that Blender imports, are made up
            forearm = part.replace(ARM[2], ARM[1])
            own = starts[part] - starts.get(forearm, starts[part])
            end = 2.0 * rest.heads[place] - heads.get(forearm, rest.heads[place])
        if np.linalg.norm(own) > MIN_BONE_LENGTH:
            bones[row] = rotations[index].T @ own / np.linalg.norm(own)
        pointing, own = facing.T @ (end - rest.heads[place]), forward.T @ own
        rotation = np.eye(3)
        if (
            index
            and np.isfinite(pointing).all()
            and min(np.linalg.norm(pointing), np.linalg.norm(own)) > MIN_BONE_LENGTH
        ):
            rotation = rotation_between(own, pointing)
            if part != link and not part.endswith(ARM) and (_is_tilted_little(rotation) or not part.endswith(LEG[:2])):
                rotation = np.eye(3)
        turns[row] = rest.rotations[place].T @ facing @ rotation @ forward.T @ rotations[index]
    known = [(ours, theirs) for ours, theirs in lengths if theirs > MIN_BONE_LENGTH]
    scale = sum(ours for ours, _ in known) / sum(theirs for _, theirs in known) if known else 1.0
    return nearest_rotation(turns), bones, scale


def _next_link(rig: Rig, column: Mapping[str, int], link: str, part: str, roles: Mapping[str, str]) -> str | None:
    """The link of the next part of a limb; for other links the only mapped child."""
    side, _, name = part.partition("_")
    for chain in CHAINS:
        if name in chain[:-1]:
            following = f"{side}_{chain[chain.index(name) + 1]}"
            found = next((own for own in column if roles.get(own, own) == following), None)
            if found is not None:
                return found
    index = rig.index(link)
    below = [rig.links[k] for k, parent in enumerate(rig.parents) if parent == index and rig.links[k] in column]
    return below[0] if len(below) == 1 else None


def _bone_vector(
    rig: Rig, link: str, following: str, roles: Mapping[str, str], starts: Mapping[str, np.ndarray]
) -> np.ndarray:
    """From a link's beginning to that of the next one (3,) [m], every joint at zero, world."""
    positions = [starts[roles[own]] if own in roles else rig.rest[1][rig.index(own)] for own in (link, following)]
    return np.asarray(positions[1] - positions[0])


def _is_tilted_little(turn: np.ndarray) -> bool:
    """Whether a rotation is by less than `MAX_LEG_TILT`."""
    return bool(np.trace(turn) > 1.0 + 2.0 * np.cos(MAX_LEG_TILT))


def facing_rotation(heads: Mapping[str, np.ndarray]) -> np.ndarray:
    """Rotation (3, 3) about the vertical from axes x ahead and y left to a body's, from its left and right parts."""
    for limb in (*LEG, ARM[0]):
        left, right = heads.get(f"left_{limb}"), heads.get(f"right_{limb}")
        if left is not None and right is not None:
            across = (left - right)[:2]
            if np.linalg.norm(across) > MIN_BONE_LENGTH:
                y = np.array([*across / np.linalg.norm(across), 0.0])
                return np.column_stack([np.cross(y, [0.0, 0.0, 1.0]), y, [0.0, 0.0, 1.0]])
    return np.eye(3)


def _foot_widening(rest: RestPose, rig: Rig, anatomy: Anatomy, places: Mapping[str, int], scale: float) -> float:
    """By how much each of the rig's feet is further out than the recorded one, scaled, both at rest [m]."""
    feet = [f"{side}_{LEG[-1]}" for side in SIDES]
    if not all(foot in anatomy.parts and foot in places for foot in feet):
        return 0.0
    own = np.subtract(*(rig.rest[1][rig.index(anatomy.parts[foot])][:2] for foot in feet))
    theirs = float(np.linalg.norm(np.subtract(*(rest.heads[places[foot]][:2] for foot in feet))))
    hips = [f"{side}_{LEG[0]}" for side in SIDES]
    if all(hip in places for hip in hips):
        wide = float(np.linalg.norm(np.subtract(*(rest.heads[places[hip]][:2] for hip in hips))))
        theirs = wide if theirs > wide + MAX_FOOT_SPREAD else theirs
    return 0.5 * (float(np.linalg.norm(own)) - scale * theirs)


def _rotations_from_standing(recording: SegmentPoses, places: Sequence[int]) -> np.ndarray:
    """Link axes (K, 3, 3) in the segments', from the mean at the beginning, when link axes are the world's."""
    rotations = np.empty((len(places), 3, 3))
    for row, place in enumerate(places):
        seen = np.isfinite(recording.rotations[:, place, 0, 0])
        first = np.flatnonzero(seen)
        if not len(first):
            raise InvalidValue(f"segment {recording.names[place]!r} is never seen")
        until = recording.times[first[0]] + NEUTRAL_TIME
        held = recording.rotations[seen & (recording.times <= until), place]
        rotations[row] = nearest_rotation(held.sum(axis=0)).T
    return rotations


def _has_positions(recording: SegmentPoses, name: str) -> bool:
    assert recording.positions is not None
    return bool(np.isfinite(recording.positions[:, recording.names.index(name), 0]).any())
