"""Vertical axis and unit of length of a file: as stated, as detected, and a check of one against the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError

Warn = Callable[[str], None]
UP_CHOICES = ("auto", "x", "y", "z", "-x", "-y", "-z")
LENGTH_UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "inch": 0.0254, "cmu": 0.0254 / 0.45}
"""Units of length in metres; ``cmu`` is the unit of skeletons in the CMU motion capture database, 1/0.45 inch. By
definition."""
UNIT_NAMES = {"cmu": "the unit of the CMU database (1/0.45 inch)"}
"""Names of units in messages, if the short one of the options is known to few."""
LENGTH_UNIT_PREFIXES = {"met": 1.0, "centi": 1e-2, "milli": 1e-3, "inch": 0.0254}
"""The same by the first letters of words, since C3D truncates them to four. By definition."""

_TO_Z_UP = {
    "z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "y": ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    "x": ((0, 1, 0), (0, 0, 1), (1, 0, 0)),
    "-z": ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
    "-y": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "-x": ((0, 0, 1), (0, 1, 0), (-1, 0, 0)),
}
"""By definition."""


def _landmark_pattern(stems: str, unsided: str = "(?!)") -> re.Pattern[str]:
    """Pattern of whole names of a body landmark, with optional side and number of the marker.

    Those in the middle of the body, as vertebrae, have no side: ``LT2`` and ``R.MT1`` are no thoracic vertebrae.
    """
    side, which = "(?:left|right|[lr])?(?:med|lat|[mlv])?", "(?:med|lat|in|out|inf|sup|ant|post|tip|[lrmfap])?[0-9]?"
    return re.compile(f"{side}(?:{stems}){which}|{unsided}")


_LOW_LANDMARKS = _landmark_pattern(
    "toes?|heel?|cal|calc|calcan(?:eus)?|ank|ankle|mall?|malleol(?:us)?|5meta|d?mt[0-9]|mtp[0-9]?|p[0-9]mt|met[0-9]|"
    "foot|midfoot|hallux"
)
_MIDDLE_LANDMARKS = _landmark_pattern("sac|sacr|sacrum|sacral|[ap]sis?|hips?|hjc|pelv|pelvis|waist|knee?")
_HIGH_LANDMARKS = _landmark_pattern(
    "head|skull|forehead|fhd|bhd|neck|thorax|chest|clav|clavicle|ster|stern|sternum|strn|sho|should|shoulder|acr|acro|"
    "acromi(?:on|um)|ijug",
    unsided="c7|cv7|t1|t2|t8|t10",
)
_BONES_WITH_HEADS = re.compile("fib|tib|rad|uln|hum|fem|mt|mc|meta|toe|hallux|phal", re.IGNORECASE)
"""Bones whose heads are landmarks: in such a name ``head`` is not the person's."""
AXIS_DOMINANCE = 1.3
"""An axis is taken as vertical if the body's extent along it exceeds the next largest extent by this factor. Measured
on 58 recordings (C3D, TRC, MOT, STO, BVH, NPZ and CSV), 20 of them of cases that users met: twice the value reads the
same, half of it takes an axis for vertical in one of a probe."""
FORCE_DOMINANCE = 2.0
"""The same for the mean force, which over a whole recording balances the weight. Measured on the recordings of
`AXIS_DOMINANCE`: half and twice the value read the same, ten times refuses four."""
PLAUSIBLE_EXTENT = (0.1, 6.0)
"""[m] Range of the extent of the middle 80 % of a body's markers; outside it the stated unit is wrong. Measured on the
recordings of `AXIS_DOMINANCE`: half and twice the limits read the same, a tenth refuses nine and ten times four."""
MIN_MARKERS_FOR_EXTENT = 8
"""Fewer markers may belong to a single foot or hand, whose extent does not determine the unit. Measured on the
recordings of `AXIS_DOMINANCE`: a tenth and ten times the value read the same."""
MAX_FRAMES_EXAMINED = 200
"""Frames from which axis and unit are read. Measured on the recordings of `AXIS_DOMINANCE`: a tenth and ten times as
many read the same."""


def to_z_up(up: str) -> np.ndarray:
    """Rotation (3, 3) from axes with ``up`` as vertical axis to z up; for y up, (x, y, z) becomes (x, -z, y)."""
    return np.array(_TO_Z_UP[up], float)


def check_up(up: str, path: str | Path) -> None:
    """Check that an axis is one of `UP_CHOICES`.

    Raises:
        InputError: naming the choices.
    """
    if up not in UP_CHOICES:
        raise InputError(path, f"up axis {up!r} is unknown", remedy=f"Choose one of {', '.join(UP_CHOICES)}")


def length_in_metres(unit: str, path: str | Path) -> float:
    """Length of a unit in metres.

    Raises:
        InputError: an unknown unit.
    """
    plain = unit.strip(" ()[]").lower()
    for stem, metres in LENGTH_UNIT_PREFIXES.items():
        if plain.startswith(stem):
            return metres
    try:
        return LENGTH_UNITS[plain]
    except KeyError:
        remedy = f"State the unit: {', '.join(LENGTH_UNITS)}"
        raise InputError(path, f"unit of length {unit!r} is unknown", remedy=remedy) from None


def up_from_markers(names: Sequence[str], positions: np.ndarray) -> str | None:
    """The vertical axis from markers, ``"y"``, ``"-z"`` ...; None if they do not determine it.

    Args:
        names: M marker names.
        positions: (N, M, 3), any axes, any unit, NaN where unseen.
    """
    return up_from_names(names, positions) or up_from_extent(positions)


def up_from_names(names: Sequence[str], positions: np.ndarray) -> str | None:
    """The vertical axis from names: feet are below head and shoulders or below knees and pelvis, these below a head."""
    return up_from_landmarks(find_landmarks(names), positions)


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Indices of markers or joints of a body that are low (feet), middle (hips, knees) and high (head, neck)."""

    low: tuple[int, ...]
    middle: tuple[int, ...]
    high: tuple[int, ...]


def find_landmarks(names: Sequence[str]) -> Landmarks:
    """Landmarks by the names of markers or joints."""
    return Landmarks(
        *(
            tuple(i for i, name in enumerate(names) if _name_matches(name, words))
            for words in (_LOW_LANDMARKS, _MIDDLE_LANDMARKS, _HIGH_LANDMARKS)
        )
    )


def up_from_landmarks(landmarks: Landmarks, positions: np.ndarray) -> str | None:
    """The vertical axis, from low to high landmarks in most frames; None if they do not determine it.

    Args:
        landmarks: of M markers or joints.
        positions: (N, M, 3), any axes, any unit, NaN where unseen.
    """
    sample = positions[spread_frames(len(positions))]
    pairs = ((landmarks.low, landmarks.high), (landmarks.low, landmarks.middle), (landmarks.middle, landmarks.high))
    for low, high in pairs:
        if not low or not high:
            continue
        body = _median_visible(sample[:, high]) - _median_visible(sample[:, low])
        body = body[np.isfinite(body).all(axis=1)]
        if len(body):
            return _dominant_axis(np.median(body, axis=0), AXIS_DOMINANCE)
    return None


def _name_matches(name: str, words: re.Pattern[str]) -> bool:
    """Whether a word of a marker's name matches: ``R.Heel``, ``RHEE``, ``RightHeel``, but not ``Wheelchair``."""
    pieces = re.split(r"[^A-Za-z0-9]+", name)
    if words is _HIGH_LANDMARKS and "head" in name.lower() and _BONES_WITH_HEADS.search(name):
        return False
    capitals = [word for piece in pieces for word in re.findall(r"[A-Z]?[a-z]+[0-9]*", piece)]
    return any(words.fullmatch(word.lower()) for word in (*pieces, "".join(pieces), *capitals) if word)


def up_from_extent(positions: np.ndarray) -> str | None:
    """The vertical axis from shape alone: the axis with by far the largest extent, positive side up.

    Args:
        positions: (N, M, 3), any axes, any unit, NaN where unseen.
    """
    sample = positions[spread_frames(len(positions))]
    if (extent := _median_extent(sample)) is None:
        return None
    if (axis := _dominant_axis(extent, AXIS_DOMINANCE)) is None:
        return None
    level = np.nanmedian(sample[:, :, "xyz".index(axis)])
    return axis if level > 0.0 else f"-{axis}"


def up_from_forces(forces: np.ndarray) -> str | None:
    """The axis of the mean force with its sign, None if no axis dominates; on a body at rest it points up.

    Args:
        forces: (N, 3) total force, any axes, NaN allowed.
    """
    finite = forces[np.isfinite(forces).all(axis=1)]
    return _dominant_axis(finite.mean(axis=0), FORCE_DOMINANCE) if len(finite) else None


def reconcile_up(evidence: Mapping[str, str | None], path: str | Path, warn: Warn) -> str | None:
    """The vertical axis that the evidence supports, with a warning about contradicting evidence; None without evidence.

    The first source counts most: the names of markers, then the plates, which are level. If neither decides, or if all
    other sources contradict the plates, contradicting evidence is an error.

    Args:
        evidence: axis by a description of its source, None if the source does not determine it; most reliable first.
        path: the file.
        warn: receives a message about each source that was overridden.

    Raises:
        InputError: the evidence contradicts itself.
    """
    if not (found_axes := {source: axis for source, axis in evidence.items() if axis is not None}):
        return None
    surest, axis = next(iter(found_axes.items()))
    against = {source: other for source, other in found_axes.items() if other != axis}
    alone = len(against) == len(found_axes) - 1 and len(set(against.values())) == 1
    if surest != next(iter(evidence)) and alone and (len(against) > 1 or surest not in list(evidence)[:2]):
        listed = ", ".join(f"{source} {other}" for source, other in found_axes.items())
        problem = f"the sources of the vertical axis contradict each other ({listed})"
        raise InputError(path, problem, remedy="State it: up = x, y, z, -x, -y or -z (--up)")
    for source, other in against.items():
        warn(f"{Path(path).name}: {other} is up by {source}, {axis} by {surest}; the latter is used")
    return axis


def resolve_up(specified: str, detected: str | None, path: str | Path) -> str:
    """The vertical axis to use: the specified one, or the detected one if ``"auto"`` is specified.

    Raises:
        InputError: unknown axis, neither specified nor detected, or the data contradict the specified one.
    """
    check_up(specified, path)
    if specified == "auto":
        if detected is None:
            problem = "neither marker names nor shape determine the vertical axis"
            raise InputError(path, problem, remedy="State it: up = x, y, z, -x, -y or -z (--up)")
        return detected
    if detected is not None and detected != specified:
        problem = f"{specified} is stated to be up, but the body stands along {detected}"
        raise InputError(path, problem, remedy=f"State up = {detected}, or let it be detected (auto)")
    return specified


def check_extent(positions: np.ndarray, path: str | Path, unit: str) -> None:
    """Check that the extent of a body's markers fits the unit: neither millimetres nor a kilometre.

    Args:
        positions: (N, M, 3) [m] if the unit is right.
        path: the file they came from.
        unit: the unit they were read in.

    Raises:
        InputError: the unit must be another one.
    """
    if positions.shape[1] < MIN_MARKERS_FOR_EXTENT:
        return
    if (extent := _median_extent(positions[spread_frames(len(positions))])) is None:
        return
    size, (low, high) = float(extent.max()), PLAUSIBLE_EXTENT
    if not low <= size <= high:
        problem = f"in the unit {unit} the markers of one frame extend over {size:.3g} m"
        raise InputError(path, problem, remedy="Correct the unit in the file or state units = m, cm or mm")


def spread_frames(count: int, most: int = MAX_FRAMES_EXAMINED) -> slice:
    """Frames of so many, evenly spread: ``most`` of them to twice as many, or all."""
    return slice(None, None, max(1, count // most))


def _median_visible(positions: np.ndarray) -> np.ndarray:
    """Median over the visible markers (N, 3), so that one with a misleading name changes little; NaN without any."""
    result = np.full((len(positions), 3), np.nan)
    seen = np.isfinite(positions).all(axis=2).any(axis=1)
    result[seen] = np.nanmedian(positions[seen], axis=1)
    return result


def _median_extent(positions: np.ndarray) -> np.ndarray | None:
    """Median over frames of the 10 to 90 % extent of the markers along each axis (3,); None without markers."""
    seen = np.isfinite(positions).all(axis=2).sum(axis=1) >= 2
    if not seen.any():
        return None
    low, high = np.nanpercentile(positions[seen], (10, 90), axis=1)
    return np.median(high - low, axis=0)


def _dominant_axis(vector: np.ndarray, ratio: float) -> str | None:
    """Name, with its sign, of the axis whose component is more than ``ratio`` times the next; None without one."""
    order = np.argsort(-np.abs(vector))
    first, second = np.abs(vector[order[:2]])
    if not first > ratio * second:
        return None
    return ("" if vector[order[0]] > 0.0 else "-") + "xyz"[order[0]]
