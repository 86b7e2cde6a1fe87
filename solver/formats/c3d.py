"""C3D files: markers, force plates and metadata of the subject."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..base.arrays import find_repeated
from ..base.errors import InputError
from ..options.reading import DEFAULT_OPTIONS, ReadOptions
from ..signals.trial import Recording
from .axes_and_units import (
    length_in_metres,
    reconcile_up,
    resolve_up,
    up_from_extent,
    up_from_names,
)
from .c3d_format import C3dData, Parameters, read_c3d_data
from .c3d_plates import plate_wrenches, read_platforms
from .force_plates import ForcePlate
from .marker_positions import MarkerSource
from .text_files import Warn, ignore_warning
from .trial_names import number_repeated, printable_name

MODEL_OUTPUTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")
"""POINT parameters that list points which are not positions but outputs of the recording software's model."""
SEGMENT_AXIS_SUFFIXES = "OALP"
"""Plug-in Gait writes the axes of a segment as four points: origin, anterior, lateral and proximal."""
SCREEN_UP_PARAMETER = "Y_SCREEN"
"""Parameter with the axis that points upwards on the screen."""
MILLIMETRES = 1e-3
"""By definition."""
EMPTY_REMEDY = "Export the markers or the force plates of the trial"


def read_c3d(path: str | Path, options: ReadOptions = DEFAULT_OPTIONS, *, warn: Warn = ignore_warning) -> Recording:
    """Read markers and plate forces of a C3D file.

    Points that are outputs of the recording software's model (angles, moments, segment axes) are left out.

    Args:
        path: the file.
        options: vertical axis (``"auto"``: from marker names, the plates, the markers' extent or the header), unit of
            length to override POINT:UNITS, and how forces are read.
        warn: receives messages about irregularities.

    Raises:
        InputError: not a C3D file, a damaged one, an unknown unit, an axis, unit or sign that contradicts the data, or
            no usable data.
    """
    content = read_c3d_data(path)
    for oddity in content.frames.warnings:
        warn(f"{Path(path).name}: {oddity}")
    parameters = content.parameters
    metre = length_in_metres(options.units or _read_string(parameters, "POINT", "UNITS") or "mm", path)
    source = _find_markers(path, content, metre, warn)
    sample = source.sample() if source.names else np.zeros((0, 0, 3))
    platforms = read_platforms(path, parameters, metre)
    plates = platforms.plates
    if not source.names and not plates and not platforms.unreadable:
        poses = ", only poses of segments (ROTATION)" if "ROTATION" in parameters else ""
        raise InputError(path, f"holds neither markers nor plate forces{poses}", remedy=EMPTY_REMEDY)
    axis = _resolve_up(path, options.up, (source.names, sample), parameters, plates, warn)
    markers = source.rotate(axis, ignore_warning) if source.names else None
    messages: list[str] = []
    start = float(source.times[0]) if len(source.times) else 0.0
    wrenches = plate_wrenches(content, platforms, axis, start, options, messages.append)
    if markers is None and wrenches is None:
        why = "; ".join(message.removeprefix(f"{Path(path).name}: ") for message in messages)
        raise InputError(path, f"holds no markers, and no forces can be read from it: {why}", remedy=EMPTY_REMEDY)
    for message in messages:
        warn(message)
    metadata = _read_metadata(parameters)
    return Recording(printable_name(Path(path).stem), markers, wrenches, metadata=metadata, up=axis)


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read a C3D file; see `file_formats.FileFormat`."""
    found = read_c3d(path, options, warn=warn)
    return found, found.up


def _find_markers(path: str | Path, content: C3dData, unit_in_metres: float, warn: Warn) -> MarkerSource:
    """The points of a file that are markers."""
    parameters, count = content.parameters, content.layout.points
    rate = _read_number(parameters, "POINT", "RATE")
    if count and not rate > 0.0:
        raise InputError(path, f"the frame rate is {rate:g}", place="POINT:RATE", remedy="Export the trial again")
    times = np.zeros(0)
    if rate > 0.0:
        times = (content.frames.first - 1) / rate + np.arange(content.frames.count) / rate
    labels = _read_series(parameters, "LABELS")[:count]
    labels = [labels[i] if labels[i:] and labels[i] else f"unnamed_{i + 1}" for i in range(count)]
    outputs = {label for kind in MODEL_OUTPUTS for label in _read_strings(parameters, "POINT", kind)}
    outputs |= {label for label in labels if _is_segment_axis(label, labels)}
    kept = [i for i, label in enumerate(labels) if label not in outputs]
    if len(kept) < count:
        warn(f"{Path(path).name}: {count - len(kept)} points are outputs of a model, not markers; left out")
    names = _strip_subject([labels[i] for i in kept])
    if twice := find_repeated(names):
        own, descriptions = names, _read_series(parameters, "DESCRIPTIONS")
        names = number_repeated(
            _name_by_description(names, [descriptions[i] if descriptions[i:] else "" for i in kept])
        )
        shown = ", ".join(dict.fromkeys(name for label, name in zip(own, names) if label in twice))
        problem = f"several points are labelled {', '.join(sorted(twice))}"
        warn(f"{Path(path).name}: {problem}; by their descriptions and order they are now {shown}")
    unit = f"{1.0 / unit_in_metres:g} a metre"
    return MarkerSource(path, times, names, lambda own: content.points(own)[:, kept], unit_in_metres, unit)


def _read_series(parameters: Parameters, name: str) -> list[str]:
    """Texts of all points, such as ``LABELS``; those beyond 255 are in LABELS2, LABELS3 ..."""
    texts, number = _read_strings(parameters, "POINT", name), 2
    while more := _read_strings(parameters, "POINT", f"{name}{number}"):
        texts, number = texts + more, number + 1
    return [text.strip() for text in texts]


def _name_by_description(names: Sequence[str], descriptions: Sequence[str]) -> list[str]:
    """Names of which those that occur twice are replaced by the points' descriptions, where these all differ.

    One whose description begins all the others' keeps its name: ``RKNE`` for ``R.Knee`` beside ``R.Knee.Medial``.
    """
    result = list(names)
    for name in find_repeated(names):
        places = [i for i, other in enumerate(names) if other == name]
        own = [descriptions[i] for i in places]
        if all(own) and len(set(own)) == len(own) and not set(own) & set(names):
            for i in places:
                is_plain = all(text.startswith(descriptions[i]) for text in own)
                result[i] = name if is_plain else descriptions[i]
    return result


def _is_segment_axis(label: str, labels: Sequence[str]) -> bool:
    """Whether a point is one of the four of a segment's axes."""
    stem = label[:-1]
    return (
        len(stem) >= 3
        and label[-1] in SEGMENT_AXIS_SUFFIXES
        and all(stem + suffix in labels for suffix in SEGMENT_AXIS_SUFFIXES)
    )


def _strip_subject(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels without the prefix ``subject:`` if all have the same one."""
    prefixes = {label.rpartition(":")[0] for label in labels}
    return tuple(label.rpartition(":")[2] for label in labels) if len(prefixes) == 1 else tuple(labels)


def _resolve_up(
    path: str | Path,
    up: str,
    markers: tuple[Sequence[str], np.ndarray],
    parameters: Parameters,
    plates: Sequence[ForcePlate],
    warn: Warn,
) -> str:
    """The file's vertical axis, from names and a sample of positions (n, M, 3) of the markers, plates and header."""
    names, positions = markers
    by_name = up_from_names(names, positions) if names else None
    screen = _read_string(parameters, "POINT", SCREEN_UP_PARAMETER).lower().lstrip("+")
    evidence = {
        "the body": by_name,
        "the plates": _up_from_plates(plates),
        "the markers' extent": up_from_extent(positions) if names else None,
        "the header": screen if screen.lstrip("-") in ("x", "y", "z") and screen else None,
    }
    return resolve_up(up, reconcile_up(evidence, path, warn) if up == "auto" else by_name, path)


def _up_from_plates(plates: Sequence[ForcePlate]) -> str | None:
    """The vertical axis of level plates, whose z axis points down; None if they are not level."""
    if not (normals := [-plate.rotation[:, 2] for plate in plates]):
        return None
    mean = np.mean(normals, axis=0)
    axis = int(np.argmax(np.abs(mean)))
    return ("" if mean[axis] > 0.0 else "-") + "xyz"[axis] if abs(mean[axis]) > np.cos(np.radians(30.0)) else None


def _read_metadata(parameters: Parameters) -> dict[str, object]:
    """Metadata of the subject."""
    found: dict[str, object] = {}
    mass = _read_number(parameters, "PROCESSING", "BODYMASS")
    height = _read_number(parameters, "PROCESSING", "HEIGHT") * MILLIMETRES
    for key, value in (("mass", mass), ("height", height), ("subject", _read_string(parameters, "SUBJECTS", "NAMES"))):
        if value:
            found[key] = value
    return found


def _read_strings(parameters: Parameters, group: str, name: str) -> list[str]:
    """A parameter of strings, empty where absent."""
    value = parameters.get(group, {}).get(name, ())
    return list(value) if isinstance(value, tuple) else []


def _read_string(parameters: Parameters, group: str, name: str) -> str:
    """The first string of a parameter, empty where absent."""
    values = _read_strings(parameters, group, name)
    return values[0].strip() if values else ""


def _read_number(parameters: Parameters, group: str, name: str) -> float:
    """The first number of a parameter, 0 where absent or no number."""
    value = parameters.get(group, {}).get(name)
    number = float(np.ravel(value)[0]) if isinstance(value, np.ndarray) and value.size else 0.0
    return number if np.isfinite(number) else 0.0
