"""Performers from recordings of rotations and the root's position, without lengths (AMASS, SMPL-X without a body
model).

Lengths are those of a person of a given stature. The vertical position is shifted so that the feet touch the floor,
because the root's height depends on the unknown legs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...rigs import human
from ...scene.labels import format_length
from ...skeleton.match import match_recording
from ...values.motion import SegmentPoses
from ...values.person import LINKS, MASS_GUESS, SIDES
from ..anatomy import LEG, ROOT, TRUNK, find_anatomy, find_joint_centres
from ..bone_mapping import facing_rotation
from .performer import DEFAULT_SEX, DEFAULT_STATURE, PARENT_PART, Performer, known_parts


def lacks_lengths(recording: SegmentPoses) -> bool:
    """Whether a recording has a rest pose and the root's positions, but none of the legs."""
    if recording.positions is None or recording.rest is None:
        return False
    parts = match_recording(recording)
    legs = [
        recording.names.index(parts[f"{side}_{part}"]) for side in SIDES for part in LEG if f"{side}_{part}" in parts
    ]
    root = recording.names.index(parts[ROOT]) if ROOT in parts else None
    seen = np.isfinite(recording.positions).all(axis=2)
    return root is not None and bool(seen[:, root].any()) and not bool(seen[:, legs].any())


def performer_of_stature(recording: SegmentPoses, height: float = DEFAULT_STATURE, name: str = "followed") -> Performer:
    """Segments of known rotation, with the lengths of a person of a stature.

    Args:
        recording: see `lacks_lengths`.
        height: [m] the person's stature.
        name: of the motion.

    Raises:
        InvalidValue: the rest pose, the root or a leg is missing, or samples are.
    """
    needed = (ROOT, *(f"{side}_{part}" for side in SIDES for part in LEG))
    parts, rest = known_parts(recording, None, needed, (ROOT,))
    assert recording.positions is not None
    columns = {part: recording.names.index(parts[part]) for part in LINKS if part in parts}
    root = recording.positions[:, columns[ROOT]]
    body = human(height, MASS_GUESS, DEFAULT_SEX)
    starts = find_joint_centres(body, find_anatomy(body).parts)
    facing = facing_rotation({part: rest.heads[column] for part, column in columns.items()}) @ facing_rotation(starts).T
    heads, positions = np.array(rest.heads), np.full_like(recording.positions, np.nan)
    positions[:, columns[ROOT]] = root
    for part, column in columns.items():
        if part == ROOT:
            continue
        above = PARENT_PART[part]
        while above not in columns:
            above = PARENT_PART[above]
        at, offset = columns[above], facing @ (starts[part] - starts[above])
        if above == PARENT_PART[part] and above not in (
            ROOT,
            TRUNK,
        ):  # limbs may have another rest pose than the person's
            way = rest.heads[column] - rest.heads[at]
            offset = way * np.linalg.norm(offset) / np.linalg.norm(way)
        heads[column] = heads[at] + offset
        own = rest.rotations[at].T @ offset
        positions[:, column] = positions[:, at] + recording.rotations[:, at] @ own
    soles = {}
    for side, patch in body.sides.items():
        foot, sole = f"{side}_{LEG[-1]}", body.patch(patch)
        rotations, origins = (values[body.index(sole.link)] for values in body.rest)
        under = origins + sole.vertices @ rotations.T - starts[foot]
        soles[side] = under @ facing.T @ rest.rotations[columns[foot]]
    tips = heads + rest.tips - rest.heads
    placed = replace(recording, positions=positions, rest=replace(rest, heads=heads, tips=tips))
    performer = Performer(placed, parts, soles, name)
    floor = performer.floor
    note = (
        f"the recording has no lengths: they are those of a person of {height:g} m (--height), and its root is moved "
    )
    note += f"{format_length(abs(floor))} {'down' if floor > 0.0 else 'up'}, so that the feet touch the floor"
    placed = replace(placed, positions=positions - [0.0, 0.0, floor])
    return Performer(placed, parts, soles, name, (note,))
