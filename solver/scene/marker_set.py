"""A marker set as its file has it, which people read, edit and approve: JSON, no dynamics library needed.

Every marker has one entry: on a landmark, on a link, at a joint centre, or virtual, not tracked. One that was found out
(``markers``) also tells how sure its place is and why, and where it was seen on the links that it could lie on instead;
``use`` is false where it was rejected. What is to change is changed in the file itself, which stays a marker set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..assets import LANDMARKS, MARKER_SETS, marker_sets
from ..errors import InputError, UnknownLandmark, UnknownPreset
from ..files import read_bytes
from ..formats.atomic import write_atomically
from ..formats.codec import json_text
from ..formats.json_tree import parse_json_object
from ..formats.tree_leaves import WrongEntry
from ..formats.value_tree import from_tree
from ..person import LINKS, SIDES
from .labels import display_name

MIDLINE_LANDMARKS = frozenset({"sacrum", "c7", "t7", "t10", "sternal_notch", "xiphoid", "forehead", "head_top"})
"""Landmarks that a body has once."""
REVIEW_CONFIDENCE = 0.5
"""Confidence below which a place is to be looked at before it is believed."""
HOW_TO_WRITE = (
    "Write a marker set: a JSON file with name, about, markers and aliases, each marker one of "
    '{"landmark": "left lateral_malleolus"}, {"link": "left_thigh"}, {"link": "left_thigh", "fraction": 0.5, "offset": '
    '[forwards, outwards, up in shares of stature]}, {"joint_centre": "left_thigh"} or {"virtual": "why it is not '
    'tracked"}; assets/markersets holds examples and landmarks.json the landmarks. Give it as marker_set'
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A marker, or a landmark, as a file has it; ``child`` is its ``from``.

    Attributes:
        landmark, joint_centre, virtual, link: what it is; one of them.
        child, fraction, offset, spread, weight: of its place, see `calibration.markerset.MarkerLocation`; an offset
            that is missing is what was ``seen`` of that link or, without that, the middle of the link, widely spread.
        use: False where it was rejected.
        confidence: share of certainty in the place, 0 to 1.
        because: what tells it.
        seen: (3,) place on each link that it could lie on: forwards, outwards, up, in shares of stature.
    """

    landmark: str | None = None
    joint_centre: str | None = None
    virtual: str | None = None
    link: str | None = None
    child: str | None = None
    fraction: float | None = None
    offset: tuple[float, float, float] | None = None
    spread: tuple[float, float, float] | None = None
    weight: float = 1.0
    use: bool = True
    confidence: float = 1.0
    because: str = ""
    seen: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MarkerRow:
    """One row of a marker set, for approval.

    Attributes:
        marker: its name in the recording.
        location: landmark (``"left asis"``) or link (``"left_thigh"``); empty where it is neither.
        use: whether it is tracked.
        confidence: share of certainty in the place, 0 to 1.
        reason: what tells it, or why it is not used.
        alternatives: links that it could lie on instead, the likeliest first.
    """

    marker: str
    location: str
    use: bool = True
    confidence: float = 1.0
    reason: str = ""
    alternatives: tuple[str, ...] = ()

    @property
    def needs_review(self) -> bool:
        """Whether it is to be looked at before it is believed."""
        return self.use and self.confidence < REVIEW_CONFIDENCE


def known_landmarks() -> dict[str, Any]:
    """What is known of every landmark, by its name without side; the trees are not to be changed."""
    path = MARKER_SETS / f"{LANDMARKS}.json"
    return _landmarks(path, read_bytes(path))


@lru_cache(maxsize=2)
def _landmarks(path: Path, content: bytes) -> dict[str, Any]:
    landmarks: dict[str, Any] = parse_json_object(path, content, "Install the program again")["landmarks"]
    return landmarks


def marker_locations() -> tuple[str, ...]:
    """Every place that a marker may have: landmarks with their sides, then links."""
    sided = [name if name in MIDLINE_LANDMARKS else f"{side} {name}" for name in known_landmarks() for side in SIDES]
    return (*dict.fromkeys(sided), *LINKS)


def parse_location(words: str) -> str:
    """The place that a person means: ``"left thigh"`` or ``"left_thigh"``.

    Raises:
        UnknownPlace: none.
    """
    known = {display_name(place): place for place in marker_locations()}
    plain = display_name(words.strip().lower())
    if plain not in known:
        raise UnknownLandmark(words, tuple(known))
    return known[plain]


def read_marker_set_tree(source: str | Path) -> dict[str, Any]:
    """The tree of a built-in marker set by its name, or of one in a JSON file.

    Raises:
        UnknownPreset: neither a built-in name nor a file.
        InputError: the file is no marker set.
    """
    path = marker_set_path(source)
    tree = parse_json_object(path, read_bytes(path), HOW_TO_WRITE)
    if not isinstance(tree.get("markers"), dict):
        raise InputError(path, "is no marker set: it has no markers", remedy=HOW_TO_WRITE)
    return tree


def marker_set_path(source: str | Path) -> Path:
    """Where a marker set is written: a built-in one by its name, or a JSON file.

    Raises:
        UnknownPreset: neither a built-in name nor a file.
    """
    path = Path(source)
    if path.suffix.lower() == ".json":
        return path
    if str(source) not in marker_sets():
        raise UnknownPreset(str(source), marker_sets())
    return MARKER_SETS / f"{source}.json"


def write_marker_set_tree(path: str | Path, tree: Mapping[str, Any]) -> Path:
    """Write a marker set, whole or not at all.

    Raises:
        InputError: another suffix, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise InputError(path, "is no name for a marker set", remedy="End it on .json")
    with write_atomically(path) as stream:
        stream.write(json_text(dict(tree)))
    return path


def parse_entry(tree: Any, place: str) -> Entry:
    """A marker's entry; one on a landmark has what the landmark says, unless it says otherwise itself.

    Raises:
        WrongEntry: it is none; ``place`` says where it stands.
    """
    if not isinstance(tree, dict):
        raise WrongEntry(place, "is no JSON object")
    if isinstance(words := tree.get("landmark"), str):
        key = words.split()[-1] if words.split() else ""
        landmarks = known_landmarks()
        if key not in landmarks:
            raise WrongEntry(place, f"unknown landmark {key!r}; known: {', '.join(landmarks)}")
        tree = {**landmarks[key], **tree}
    renamed = {"child" if name == "from" else name: value for name, value in tree.items()}
    if isinstance(spread := renamed.get("spread"), float | int):
        renamed["spread"] = [spread] * 3
    entry: Entry = from_tree(Entry, renamed, place=place)
    return entry


def marker_rows(tree: Mapping[str, Any]) -> tuple[MarkerRow, ...]:
    """The rows of a marker set.

    Raises:
        InputError: an entry is none.
    """
    try:
        return tuple(
            _marker_row(marker, parse_entry(entry, f"marker {marker!r}")) for marker, entry in tree["markers"].items()
        )
    except WrongEntry as error:
        name = str(tree.get("name", "marker set"))
        raise InputError(name, error.problem, place=error.place or None, remedy=HOW_TO_WRITE) from error


def _marker_row(marker: str, entry: Entry) -> MarkerRow:
    place = entry.landmark or entry.link or ""
    others = tuple(link for link in entry.seen if link != place)
    because = entry.because or entry.virtual or (f"joint centre of {entry.joint_centre}" if entry.joint_centre else "")
    return MarkerRow(marker, place, entry.use and bool(place), entry.confidence, because, others)


def apply_decisions(tree: Mapping[str, Any], rows: Iterable[MarkerRow]) -> dict[str, Any]:
    """A marker set as somebody decided.

    Args:
        tree: of the set.
        rows: decisions, on its markers and on others; a place that differs from the set's stands, without a place or
            not used a marker is rejected.

    Raises:
        UnknownPlace: a place that is none.
        InputError: ``tree`` is no marker set.
    """
    markers, aliases = dict(tree["markers"]), dict(tree.get("aliases", {}))
    before = {row.marker: row.location for row in marker_rows(tree)}
    for row in rows:
        old, entry = before.get(row.marker, ""), dict(markers.get(row.marker, {"virtual": "rejected"}))
        place = parse_location(row.location) if row.location else ""
        if place and place != old:
            entry = _move_entry(entry, place)
            aliases.pop(row.marker, None)
        if old or place:
            entry.pop("use", None)
            entry |= {} if row.use and place else {"use": False}
        markers[row.marker] = entry
    return {**tree, "markers": markers, "aliases": aliases}


def _move_entry(entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    """An entry at a place that somebody chose."""
    kept = {name: entry[name] for name in ("weight", "seen") if name in entry}
    what = {"link": place} if place in LINKS else {"landmark": place}
    return {**what, **kept, "confidence": 1.0, "because": "chosen"}
