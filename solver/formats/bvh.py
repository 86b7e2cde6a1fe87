"""Biovision Hierarchy files (.bvh): a skeleton in its rest pose, and the rotation of each joint over time.

``HIERARCHY`` nests ``ROOT`` and ``JOINT`` blocks with an ``OFFSET`` from the parent and ``CHANNELS``; an ``End Site``
is the end of the last bone. ``MOTION`` holds ``Frames:``, ``Frame Time:`` and one row of channel values per frame,
angles in degrees. The rotation channels of a joint are intrinsic rotations in their order in the file; position
channels replace the offset; a rotation without a channel is zero. In the rest pose all channels are zero and every
joint has the file's axes. If that pose is not upright standing (in LAFAN1 all bones then lie along one axis), the frame
in which the body stands tallest is the rest pose. The format has no unit of length; it is found from the height of the
skeleton.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.so3 import exp
from ..options.reading import ReadOptions
from ..signals.trial import Recording
from ..values.joints import chain_poses
from .skeleton_segments import SegmentSkeleton, SkeletonMotion, build_segments
from .text_files import Warn, parse_numbers, parse_rows, read_lines, require_cells
from .trial_names import printable_name

AXES = "XYZ"
ROTATIONS = tuple(f"{axis}rotation" for axis in AXES)
POSITIONS = tuple(f"{axis}position" for axis in AXES)
MAX_JOINTS, MAX_DEPTH = 2000, 200
MAX_FRAME_TIME = 1.0
"""[s] Longest accepted frame; that of a single one has no meaning."""
MIN_BONE_LENGTH = 1e-9
BRACES = re.compile(r"([{}])")
"""Lines are split at braces: some programs open a block on the line that names it."""
REMEDY = "Export the BVH file again"


@dataclass(slots=True)
class _Joint:
    """A block of the hierarchy as written in the file."""

    name: str
    line: int
    parent: int
    offset: np.ndarray | None = None
    channels: tuple[str, ...] | None = None
    first_channel: int = 0
    end_sites: list[np.ndarray] = field(default_factory=list)


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read the segment poses of a skeleton; see `file_formats.FileFormat`.

    Raises:
        InputError: naming the line: blocks that do not nest, a joint without offset or with unknown
            channels, a bone without length, a row of a wrong length or with a cell that is not a number, no frames, or
            a skeleton whose unit, vertical axis or rest pose cannot be determined.
    """
    lines = list(read_lines(path))
    motion = next((k for k, line in enumerate(lines) if line.strip().upper() == "MOTION"), None)
    if motion is None:
        raise InputError(path, "has no line MOTION", remedy=REMEDY)
    joints = _parse_hierarchy(path, lines[:motion])
    parents = [joint.parent for joint in joints]
    offsets = np.array([joint.offset for joint in joints])
    times, values = _parse_motion(path, lines, motion + 1, sum(len(joint.channels or ()) for joint in joints), warn)
    rotations, positions = _forward_kinematics(joints, offsets, values)
    skeleton = SegmentSkeleton(tuple(joint.name for joint in joints), tuple(parents), offsets)

    def find_tips(heads: np.ndarray, axes: np.ndarray) -> np.ndarray:
        return _bone_ends(path, joints, heads, axes, warn)

    motion_of_bones = SkeletonMotion(times, rotations, positions, find_tips)
    segments, up = build_segments(path, skeleton, motion_of_bones, options.up, options.units, REMEDY, warn)
    return Recording(printable_name(path.stem), segments=segments), up


def _parse_hierarchy(path: str | Path, lines: Sequence[str]) -> list[_Joint]:
    """Joints, parents before children."""
    joints: list[_Joint] = []
    stack: list[int | None] = []  # None within an end site
    waiting: tuple[str, int] | None = None
    started = False
    for number, line in ((number, piece) for number, whole in enumerate(lines, 1) for piece in BRACES.split(whole)):
        if not (words := line.split()):
            continue
        word = words[0].upper()
        if not started:
            if word != "HIERARCHY":
                raise _line_error(path, number, f"begins with {line.strip()[:40]!r}, not HIERARCHY")
            started = True
        elif word in ("ROOT", "JOINT", "END"):
            if waiting is not None or (word == "ROOT") != (not stack) or (stack and stack[-1] is None):
                raise _line_error(path, number, f"{words[0]} is not allowed here")
            if word == "ROOT" and joints:
                raise _line_error(path, number, "a second ROOT: files with one skeleton can be read")
            waiting = (" ".join(words[1:]) if word != "END" else "", number)
            if word != "END" and not waiting[0].isprintable():
                raise _line_error(path, number, "the joint's name has unprintable characters")
            if word != "END" and not waiting[0]:
                raise _line_error(path, number, "a joint without a name")
        elif word == "{":
            if waiting is None:
                raise _line_error(path, number, "an opening brace without a block")
            if waiting[0]:
                if len(joints) >= MAX_JOINTS or len(stack) >= MAX_DEPTH:
                    raise _line_error(path, number, f"more than {MAX_JOINTS} joints, or {MAX_DEPTH} within each other")
                joints.append(_Joint(*waiting, -1 if not stack else stack[-1]))  # type: ignore[arg-type]
                stack.append(len(joints) - 1)
            else:
                stack.append(None)
            waiting = None
        elif word == "}":
            if not stack:
                raise _line_error(path, number, "a closing brace without an opening one")
            stack.pop()
        elif word == "OFFSET" and stack and waiting is None:
            offset = _parse_offset(path, number, words[1:])
            if stack[-1] is None:
                joints[stack[-2]].end_sites.append(offset)  # type: ignore[index]
            else:
                joints[stack[-1]].offset = offset
        elif word == "CHANNELS" and stack and stack[-1] is not None and waiting is None:
            joints[stack[-1]].channels = _parse_channels(path, number, joints[stack[-1]].name, words[1:])
        else:
            raise _line_error(path, number, f"{line.strip()[:40]!r} is not understood")
    if stack or waiting is not None:
        raise _line_error(path, len(lines), f"{len(stack)} braces are not closed before MOTION")
    if not joints:
        raise InputError(path, "holds no joint", remedy=REMEDY)
    first = 0
    for joint in joints:
        if joint.offset is None:
            raise _line_error(path, joint.line, f"joint {joint.name!r} has no OFFSET")
        joint.channels = joint.channels or ()
        joint.first_channel, first = first, first + len(joint.channels)
    names = [joint.name for joint in joints]
    for place, joint in enumerate(joints):
        if joint.name in names[:place]:
            raise _line_error(path, joint.line, f"joint {joint.name!r} occurs twice")
    return joints


def _parse_offset(path: str | Path, number: int, words: Sequence[str]) -> np.ndarray:
    if len(words) != 3:
        raise _line_error(path, number, f"an OFFSET has three numbers, not {len(words)}")
    vector = np.array(parse_numbers(words, path, number, ("x", "y", "z")))
    if not np.isfinite(vector).all() or np.abs(vector).max() > 1e6:
        raise _line_error(path, number, "an OFFSET that is missing or too large for a body")
    return vector


def _parse_channels(path: str | Path, number: int, name: str, words: Sequence[str]) -> tuple[str, ...]:
    """Channels of a joint: any rotations, and all three positions or none."""
    channels = tuple(next((c for c in ROTATIONS + POSITIONS if c.lower() == word.lower()), word) for word in words[1:])
    if not words or not words[0].isascii() or not words[0].isdigit() or int(words[0][:4]) != len(channels):
        raise _line_error(
            path, number, f"joint {name!r} states {words[0] if words else 'no'} channels and names {len(channels)}"
        )
    for channel in channels:
        if channel not in ROTATIONS + POSITIONS:
            raise _line_error(path, number, f"joint {name!r} has the unknown channel {channel[:40]!r}")
    lacking = [c for c in POSITIONS if c not in channels] if any(c in channels for c in POSITIONS) else []
    if lacking or len(set(channels)) != len(channels):
        what = f"lacks {', '.join(lacking)}" if lacking else "names a channel twice"
        raise _line_error(path, number, f"joint {name!r} {what}")
    return channels


def _bone_ends(
    path: str | Path, joints: Sequence[_Joint], heads: np.ndarray, axes: np.ndarray, warn: Warn
) -> np.ndarray:
    """End (B, 3) of each bone at rest: the mean of its child joints and end sites; NaN where unknown.

    A bone without length is an error, except that of a root at the position of its only child. End sites without
    length are ignored.
    """
    tips = np.full((len(joints), 3), np.nan)
    for k, joint in enumerate(joints):
        children = [c for c, other in enumerate(joints) if other.parent == k]
        ends = [heads[c] for c in children]
        ends += [heads[k] + axes[k] @ end for end in joint.end_sites if np.linalg.norm(end) >= MIN_BONE_LENGTH]
        if not ends:
            continue
        tips[k] = np.mean(ends, axis=0)
        short = [np.linalg.norm(end - heads[k]) < MIN_BONE_LENGTH for end in ends]
        if len(ends) == 1 and short[0] and joint.parent < 0:
            tips[k] = np.nan  # it only positions the skeleton and has no direction
        elif len(ends) == 1 and short[0]:
            raise _line_error(path, joints[children[0]].line, f"the bone of joint {joint.name!r} has no length")
        elif any(short):
            warn(f"{Path(path).name}: some child joints coincide with {joint.name!r}; its bone points to the others")
    return tips


def _parse_motion(
    path: str | Path, lines: Sequence[str], start: int, channels: int, warn: Warn
) -> tuple[np.ndarray, np.ndarray]:
    """Times (N,) [s] and channel values (N, C)."""
    stated: dict[str, float] = {}
    row = start
    while row < len(lines) and len(stated) < 2:
        key, colon, value = lines[row].partition(":")
        key = " ".join(key.lower().split())
        if lines[row].strip():
            if not colon or key not in ("frames", "frame time") or key in stated:
                raise _line_error(path, row + 1, "'Frames: N' and 'Frame Time: seconds' must follow MOTION")
            stated[key] = parse_numbers([value.strip()], path, row + 1, (key,))[0]
        row += 1
    if len(stated) < 2:
        raise _line_error(path, start, "'Frames: N' and 'Frame Time: seconds' must follow MOTION")
    step = stated["frame time"]
    if not (kept := [(k + 1, line.split()) for k, line in enumerate(lines[row:], row) if line.strip()]):
        raise _line_error(path, len(lines), "holds no frames")
    if stated["frames"] != len(kept):
        warn(f"{Path(path).name}: {stated['frames']:g} frames are stated, but there are {len(kept)} rows; all are used")
    if len(kept) > 1 and not 0.0 < step < MAX_FRAME_TIME:
        raise _line_error(path, row, f"a frame of {step:g} s")
    titles = [f"channel {k + 1}" for k in range(channels)]
    values = parse_rows(path, require_cells(path, kept, channels, "the channels of the joints need"), titles, 0).values
    times = np.arange(len(kept)) * (step if len(kept) > 1 else 1.0)
    return times, np.where(np.abs(values) < 1e9, values, np.nan)


def _forward_kinematics(
    joints: Sequence[_Joint], offsets: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (N, B, 3, 3) and positions (N, B, 3) of the joints, in the file's axes and unit."""
    turns, places = np.tile(np.eye(3), (len(values), len(joints), 1, 1)), np.tile(offsets, (len(values), 1, 1))
    for k, joint in enumerate(joints):
        for column, channel in enumerate(joint.channels or ()):
            series, axis = values[:, joint.first_channel + column], AXES.index(channel[0])
            if channel in POSITIONS:
                places[:, k, axis] = series
            else:
                turns[:, k] = turns[:, k] @ exp(np.radians(series)[:, None] * np.eye(3)[axis])
    return chain_poses([joint.parent for joint in joints], turns, places)


def _line_error(path: str | Path, line: int, problem: str) -> InputError:
    return InputError(path, problem, place=f"line {line}", remedy=REMEDY)
