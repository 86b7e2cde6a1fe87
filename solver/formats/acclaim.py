"""Acclaim motions (.amc) on their skeletons (.asf), as the CMU motion capture database publishes them.

The skeleton states for each bone its direction and length in the world at zero angles, and the axes in which its angles
are given. A bone's rotation relative to its parent is C M C', with C the rotation of its axes and M that by its angles,
both in the order of the axes, each about a fixed axis. Neither file states the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.so3 import exp
from ..options.reading import ReadOptions
from ..signals.trial import Recording
from ..values.joints import chain_poses
from .skeleton_segments import SegmentSkeleton, SkeletonMotion, build_segments
from .text_files import Warn, parse_numbers, read_lines
from .trial_names import printable_name

SKELETON_SUFFIX = ".asf"
ROOT = "root"
AXES = "XYZ"
ANGLES, PLACES = ("rx", "ry", "rz"), ("tx", "ty", "tz")
MAX_BONES = 1000
USUAL_RATE = 120.0
"""[1/s] Of files that state none. Chosen on the CMU database, most of whose motions have it."""
REMEDY = "Export the AMC and ASF files again"


@dataclass(slots=True)
class _Bone:
    """A bone as written: (3,) from its start to its end at zero angles, its axes, their order, and its channels."""

    name: str
    vector: np.ndarray
    axes: np.ndarray
    order: str
    channels: tuple[str, ...]
    parent: int = -1


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a motion (.amc), whose skeleton (.asf) is beside it; see `file_formats.FileFormat`.

    Raises:
        InputError: no skeleton, naming the line: a bone that is incomplete, occurs twice or has no parent, a frame
            without one of the bones, a cell that is not a number, no frames; see also `build_segments`.
    """
    bones, scale = _parse_skeleton(find_skeleton(path))
    values, in_radians = _parse_motion(path, bones)
    scale = 1.0 if in_radians else scale
    rotations, positions = _forward_kinematics(bones, values, scale)
    vectors = np.array([bone.vector for bone in bones])
    parents = tuple(bone.parent for bone in bones)
    offsets = np.array([vectors[parent] if parent >= 0 else np.zeros(3) for parent in parents])
    known = np.linalg.norm(vectors, axis=1) > 0.0

    def find_tips(heads: np.ndarray, axes: np.ndarray) -> np.ndarray:
        return np.where(known[:, None], heads + np.einsum("bij,bj->bi", axes, vectors), np.nan)

    if options.frame_rate is None:
        warn(
            f"{path.name}: the format has no frame rate: {USUAL_RATE:g} Hz are assumed, as in most of the CMU "
            "database; state another one with --frame-rate"
        )
    times = np.arange(len(values)) / (options.frame_rate or USUAL_RATE)
    motion = SkeletonMotion(times, rotations, positions, find_tips)
    skeleton = SegmentSkeleton(tuple(bone.name for bone in bones), parents, offsets)
    segments, up = build_segments(path, skeleton, motion, options.up, options.units, REMEDY, warn)
    return Recording(printable_name(path.stem), segments=segments), up


def find_skeleton(path: Path) -> Path:
    """The skeleton beside a motion: of the longest name that the motion's begins with, or the only one.

    Raises:
        InputError: none.
    """
    choices = [each for each in path.parent.glob("*") if each.suffix.lower() == SKELETON_SUFFIX]
    fitting = sorted((each for each in choices if path.stem.startswith(each.stem)), key=lambda each: len(each.stem))
    if fitting or len(choices) == 1:
        return (fitting or choices)[-1]
    problem = "its skeleton (.asf) is not beside it"
    if choices:
        problem = f"none of the {len(choices)} skeletons (.asf) beside it has the beginning of its name"
    raise InputError(path, problem, remedy=f"Put it there, named {path.stem}.asf")


def _parse_skeleton(path: Path) -> tuple[list[_Bone], float]:
    """Bones, the root first and parents before children, and the angle's unit in rad."""
    sections: dict[str, list[tuple[int, list[str]]]] = {}
    current = ""
    for number, line in enumerate(read_lines(path), 1):
        words = line.partition("#")[0].split()
        if words and words[0].startswith(":"):
            current = words[0][1:].lower()
            sections.setdefault(current, [])
        elif words and current:
            sections[current].append((number, words))
    for name in (ROOT, "bonedata", "hierarchy"):
        if name not in sections:
            raise InputError(path, f"has no section :{name}", remedy=REMEDY)
    units = {words[0].lower(): words[1].lower() for _, words in sections.get("units", ()) if len(words) > 1}
    degree = 1.0 if units.get("angle", "deg").startswith("rad") else np.pi / 180.0
    bones = [_build_bone(path, 1, dict(_entries(sections[ROOT])) | {"name": (0, [ROOT])}, degree)]
    block: list[tuple[int, list[str]]] = []
    for number, words in sections["bonedata"]:
        if words[0].lower() == "begin":
            block = []
        elif words[0].lower() == "end":
            bones.append(_build_bone(path, number, dict(_entries(block)), degree))
        else:
            block.append((number, words))
    if len(bones) > MAX_BONES:
        raise InputError(path, f"holds more than {MAX_BONES} bones", remedy=REMEDY)
    return _connect(path, bones, sections["hierarchy"]), degree


def _entries(lines: Sequence[tuple[int, list[str]]]) -> list[tuple[str, tuple[int, list[str]]]]:
    return [(words[0].lower(), (number, words[1:])) for number, words in lines]


def _build_bone(path: Path, line: int, entries: dict[str, tuple[int, list[str]]], degree: float) -> _Bone:
    def words(key: str, count: int) -> list[str]:
        number, found = entries.get(key, (line, []))
        if len(found) < count:
            raise _line_error(path, number, f"a bone needs {count} value(s) after {key!r}")
        return found

    def numbers(key: str, count: int) -> np.ndarray:
        number = entries.get(key, (line, []))[0]
        values = np.array(parse_numbers(words(key, count)[:count], path, number, [key] * count))
        if not np.isfinite(values).all():
            raise _line_error(path, number, f"{key!r} is not a finite number")
        return values

    name = words("name", 1)[0]
    if name == ROOT and "direction" not in entries:
        vector, angles, order = np.zeros(3), numbers("orientation", 3), words("axis", 1)[0]
        channels = words("order", 6)
    else:
        direction, length = numbers("direction", 3), numbers("length", 1)[0]
        size = float(np.linalg.norm(direction))
        if size == 0.0 and length != 0.0:
            raise _line_error(path, line, f"bone {name!r} has a length and no direction")
        vector, angles = (direction * length / size if size else np.zeros(3)), numbers("axis", 3)
        order, channels = words("axis", 4)[3], entries.get("dof", (line, []))[1]
    order = order.upper()
    if sorted(order) != sorted(AXES):
        raise _line_error(path, line, f"bone {name!r} has the order of axes {order[:20]!r}")
    channels = [channel.lower() for channel in channels]
    allowed = (*ANGLES, *PLACES) if name == ROOT else ANGLES
    if strange := [channel for channel in channels if channel not in allowed]:
        raise _line_error(path, line, f"bone {name!r} has the channel {strange[0][:20]!r}, which is not read")
    return _Bone(name, vector, _turn(degree * angles[None], order)[0], order, tuple(channels))


def _connect(path: Path, bones: Sequence[_Bone], lines: Sequence[tuple[int, list[str]]]) -> list[_Bone]:
    """Bones with their parents, in the order of the hierarchy."""
    by_name = {bone.name: bone for bone in bones}
    if len(by_name) < len(bones):
        twice = next(bone.name for bone in bones if sum(other.name == bone.name for other in bones) > 1)
        raise InputError(path, f"bone {twice!r} occurs twice", remedy=REMEDY)
    result, places = [by_name[ROOT]], {ROOT: 0}
    for number, words in lines:
        if words[0].lower() in ("begin", "end"):
            continue
        if words[0] not in places:
            raise _line_error(path, number, f"bone {words[0]!r} has children before it is a child")
        for child in words[1:]:
            if child not in by_name or child in places:
                problem = "is no bone" if child not in by_name else "has two parents"
                raise _line_error(path, number, f"{child!r} {problem}")
            by_name[child].parent, places[child] = places[words[0]], len(result)
            result.append(by_name[child])
    if len(result) < len(bones):
        lost = next(bone.name for bone in bones if bone.name not in places)
        raise InputError(path, f"bone {lost!r} has no parent", place=":hierarchy", remedy=REMEDY)
    return result


def _parse_motion(path: Path, bones: Sequence[_Bone]) -> tuple[list[dict[str, list[float]]], bool]:
    """Values of each frame by bone, and whether angles are in radians."""
    wanted = {bone.name: bone.channels for bone in bones if bone.channels}
    frames: list[dict[str, list[float]]] = []
    in_radians = False
    number = 0
    for number, line in enumerate(read_lines(path), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0].startswith(":"):
            in_radians |= words[0].lower() == ":radians"
        elif len(words) == 1 and words[0].isdigit():
            _check_frame(path, number, frames, wanted)
            frames.append({})
        elif not frames:
            raise _line_error(path, number, f"{words[0][:40]!r} comes before the number of a frame")
        else:
            name, cells = words[0], words[1:]
            if name not in wanted or len(cells) != len(wanted[name]):
                known = f"has {len(cells)} values, not {len(wanted.get(name, ()))}"
                raise _line_error(
                    path, number, f"bone {name[:40]!r} {known if name in wanted else 'is not in the ASF'}"
                )
            frames[-1][name] = parse_numbers(cells, path, number, wanted[name])
    if not frames:
        raise InputError(path, "holds no frames", remedy=REMEDY)
    _check_frame(path, number, frames, wanted)
    return frames, in_radians


def _check_frame(
    path: Path, line: int, frames: Sequence[dict[str, list[float]]], wanted: dict[str, tuple[str, ...]]
) -> None:
    if frames and (lacking := [name for name in wanted if name not in frames[-1]]):
        raise _line_error(path, line, f"the frame before it lacks bone {lacking[0]!r}")


def _forward_kinematics(
    bones: Sequence[_Bone], frames: Sequence[dict[str, list[float]]], degree: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (N, B, 3, 3) and starts (N, B, 3) of the bones, in the file's axes and unit."""
    count = len(frames)
    turns, places = np.empty((count, len(bones), 3, 3)), np.empty((count, len(bones), 3))
    for k, bone in enumerate(bones):
        columns = dict(zip(bone.channels, np.array([frame.get(bone.name, ()) for frame in frames]).T))
        zero = np.zeros(count)
        angles = np.column_stack([columns.get(channel, zero) for channel in ANGLES])
        turns[:, k] = bone.axes @ _turn(degree * angles, bone.order) @ bone.axes.T
        root = np.column_stack([columns.get(channel, zero) for channel in PLACES])
        places[:, k] = root if bone.parent < 0 else bones[bone.parent].vector
    return chain_poses([bone.parent for bone in bones], turns, places)


def _turn(angles: np.ndarray, order: str) -> np.ndarray:
    """Rotations (N, 3, 3) by angles (N, 3) [rad] about the fixed x, y and z axes, in an order such as ``"XYZ"``."""
    turn = np.tile(np.eye(3), (len(angles), 1, 1))
    for letter in order:
        axis = AXES.index(letter)
        turn = exp(angles[:, axis, None] * np.eye(3)[axis]) @ turn
    return turn


def _line_error(path: Path, line: int, problem: str) -> InputError:
    return InputError(path, problem, place=f"line {line}", remedy=REMEDY)
