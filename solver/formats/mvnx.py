"""Segment poses in the .mvnx files (XML) of Xsens MVN.

``segments`` names the segments and landmarks on them, ``joints`` connects them. Each ``frame`` holds the orientations
(w, x, y, z) and positions [m] of all segments, x forward and z up. The frame of type ``tpose``, or else ``npose``, is
the rest pose; those of type ``normal`` are the recording.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..base.numerals import numeral
from ..base.so3 import to_matrix
from ..options.reading import ReadOptions
from ..rigs.safe_xml import read_xml
from ..signals.trial import Recording
from ..values.motion import UNIT_QUATERNION, RestPose, SegmentPoses
from .text_files import Warn, check_frame_numbers
from .trial_names import printable_name

MAX_BYTES = 2 << 30
"""[bytes] Largest file. Chosen on a minute at 240 Hz with all quantities, which has some 200 million."""
RECORDED, CALIBRATION_POSES = "normal", ("tpose", "npose")
"""Types of frames."""
SCALAR_FIRST = [1, 2, 3, 0]
"""Indices of x, y, z and w. By the MVNX format."""
AXES = 3
"""Numbers of a position. By definition."""
REMEDY = "Export it again from MVN, with orientations and positions"


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read the segment poses of an MVNX file; see `file_formats.FileFormat`. The format states that z is up.

    Raises:
        InputError: another axis is stated to be up; no or malformed XML, no segments or no recorded frames, no frame
            rate, a frame with another number of values than segments, or quaternions whose length is not 1.
    """
    if options.up not in ("auto", "z"):
        raise InputError(path, f"states that z is up, not {options.up}", remedy="Leave out --up for files of MVN")
    root = read_xml(path, MAX_BYTES)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    subject = root.find("subject")
    if root.tag != "mvnx" or subject is None:
        raise InputError(path, "is no recording of MVN: it has no element mvnx/subject", remedy=REMEDY)
    names = tuple(segment.get("label", "") for segment in subject.iterfind("segments/segment"))
    if not all(names) or not names:
        problem = "a segment has no label" if names else "names no segments"
        raise InputError(path, problem, place="segments", remedy=REMEDY)
    frames = list(subject.iterfind("frames/frame"))
    if not (recorded := [frame for frame in frames if frame.get("type") == RECORDED]):
        raise InputError(path, f"holds no frame of type {RECORDED!r}", place="frames", remedy=REMEDY)
    rotations, positions = _read_poses(path, recorded, len(names))
    rest = None
    standing = next((frame for kind in CALIBRATION_POSES for frame in frames if frame.get("type") == kind), None)
    if standing is not None and standing.find("position") is not None:
        axes, heads = _read_poses(path, [standing], len(names))
        rest = RestPose(axes[0], heads[0], _find_tips(path, subject, names, axes[0], heads[0]))
    times = _read_times(path, subject, recorded)
    try:
        segments = SegmentPoses(times, names, rotations, positions if np.isfinite(positions).any() else None, rest)
    except InvalidValue as error:
        raise InputError(path, str(error), remedy=REMEDY) from error
    return Recording(printable_name(path.stem), segments=segments), "z"


def _read_poses(path: str | Path, frames: Sequence[Element], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (N, B, 3, 3) and positions (N, B, 3) [m]; positions are NaN if the frames have none."""
    quaternions = _read_values(path, frames, "orientation", 4 * count).reshape(len(frames), count, 4)
    has_positions = any(frame.find("position") is not None for frame in frames)
    positions = (
        _read_values(path, frames, "position", 3 * count)
        if has_positions
        else np.full((len(frames), 3 * count), np.nan)
    )
    length = np.linalg.norm(quaternions, axis=2)
    wrong = ~(np.abs(length - 1.0) <= UNIT_QUATERNION)
    if wrong.any():
        frame, segment = map(int, np.argwhere(wrong)[0])
        problem = f"the quaternion of segment {segment + 1} has length {length[frame, segment]:.4g}, not 1"
        raise InputError(path, problem, place=_place(frames[frame], frame), remedy=REMEDY)
    rotations = to_matrix((quaternions / length[:, :, None])[:, :, SCALAR_FIRST])
    return rotations, positions.reshape(len(frames), count, 3)


def _read_values(path: str | Path, frames: Sequence[Element], name: str, count: int) -> np.ndarray:
    """Numbers (N, count) of an element that each frame has."""
    values = np.empty((len(frames), count))
    for number, frame in enumerate(frames):
        cells = (frame.findtext(name) or "").split()
        if len(cells) != count:
            problem = f"{name} has {len(cells)} numbers, the segments need {count}"
            raise InputError(path, problem, place=_place(frame, number), remedy=REMEDY)
        values[number] = _parse_vector(path, cells, f"{_place(frame, number)}, {name}")
    return values


def _parse_vector(path: str | Path, cells: Sequence[str], place: str) -> list[float]:
    try:
        return [numeral(cell) for cell in cells]
    except ValueError as error:
        raise InputError(path, str(error), place=place, remedy=REMEDY) from None


def _place(frame: Element, number: int) -> str:
    """What an error calls a frame."""
    return f"frame {frame.get('index') or number} of type {frame.get('type')}"


def _read_times(path: str | Path, subject: Element, frames: Sequence[Element]) -> np.ndarray:
    """Times (N,) [s] by frame number and rate; whole milliseconds in the file are too coarse."""
    text = subject.get("frameRate", "")
    try:
        rate = numeral(text)
    except ValueError:
        rate = 0.0
    if not rate > 0.0:
        problem = f"the frame rate {text!r} is not a number above 0"
        raise InputError(path, problem, place="subject, frameRate", remedy="State it in Hz")
    numbers, stamps = (_read_counters(frames, name) for name in ("index", "time"))
    check_frame_numbers(numbers, stamps, path)
    return (numbers - numbers[0] if (np.diff(numbers) > 0).all() else np.arange(len(frames))) / rate


def _read_counters(frames: Sequence[Element], name: str) -> np.ndarray:
    """Whole numbers (N,) of an attribute; zeros if not every frame has one."""
    stated = [frame.get(name) or "" for frame in frames]
    is_counted = all(text.isascii() and text.isdigit() for text in stated)
    return np.array([int(text) if is_counted else 0 for text in stated])


def _find_tips(
    path: str | Path, subject: Element, names: Sequence[str], axes: np.ndarray, heads: np.ndarray
) -> np.ndarray:
    """Ends (B, 3) [m] of segments: the mean of the next ones' starts or, of the last ones, the farthest landmark."""
    children: dict[str, list[int]] = {}
    for joint in subject.iterfind("joints/joint"):
        ends = [(joint.findtext(f"connector{k}") or "").strip().partition("/")[0] for k in (1, 2)]
        if ends[0] in names and ends[1] in names:
            children.setdefault(ends[0], []).append(names.index(ends[1]))
    tips = np.full((len(names), 3), np.nan)
    for place, segment in enumerate(subject.iterfind("segments/segment")):
        if next_ones := children.get(names[place]):
            tips[place] = heads[next_ones].mean(axis=0)
            continue
        texts = [(point.findtext("pos_b") or point.findtext("pos_s") or "").split() for point in segment.iter("point")]
        where = f"landmarks of {names[place]}"
        points = [_parse_vector(path, text, where) for text in texts if len(text) == AXES]
        if points and (far := max(points, key=lambda point: float(np.linalg.norm(point)))) and any(far):
            tips[place] = heads[place] + axes[place] @ np.array(far)
    return tips
