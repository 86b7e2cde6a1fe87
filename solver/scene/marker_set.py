"""The file of a marker set, which users read, edit and approve: JSON, without a dynamics library.

Every marker has one entry: on a landmark, on a link, at a joint centre, or virtual, that is not tracked. A marker that
was recognised (command ``markers``) also has the confidence in its location, the reason, and its locations on other
links where it might be; ``use`` is false if it was rejected. Changes are made in the file itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..base.assets import LANDMARKS, MARKER_SETS, marker_sets
from ..base.errors import InputError, UnknownLandmark, UnknownMarkerSet
from ..base.files import read_bytes
from ..storage.atomic import write_atomically
from ..storage.json_tree import WrongEntry, json_text, parse_json_object
from ..storage.value_tree import from_tree
from ..values.person import LINKS, SIDES
from .labels import display_name

MIDLINE_LANDMARKS = frozenset(
    [
        "sacrum",
        "c7",
        "t7",
        "t10",
        "sternal_notch",
        "xiphoid",
        "forehead",
        "head_top",
        "mid_hips",
        "mid_shoulders",
        "nose",
    ]
)
"""Landmarks in the middle of the body, without sides."""
REVIEW_CONFIDENCE = 0.5
"""Confidence below which a location needs a review."""
HOW_TO_WRITE = (
    "Write a marker set: a JSON file with name, about, markers and aliases, each marker one of "
    '{"landmark": "left lateral_malleolus"}, {"link": "left_thigh"}, {"link": "left_thigh", "fraction": 0.5, "offset": '
    '[forwards, outwards, up in shares of stature]}, {"joint_centre": "left_thigh"} or {"virtual": "why it is not '
    'tracked"}; assets/markersets holds examples and landmarks.json the landmarks. Give it as marker_set'
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A marker or a landmark in a file; ``child`` is its entry ``from``.

    Attributes:
        landmark, joint_centre, virtual, link: kind of location; one of them.
        child, fraction, offset, spread, weight: of its location, see `calibration.marker_set.MarkerLocation`; a missing
            offset is that ``seen`` on the link or, without it, the middle of the link with a wide spread.
        use: False if it was rejected.
        confidence: in the location, 0 to 1.
        because: reason for the location.
        seen: (3,) location on each link where it might be: forwards, outwards, up, as fractions of stature.
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
    """One marker of a set, for approval.

    Attributes:
        marker: its name in the recording.
        location: landmark (``"left asis"``) or link (``"left_thigh"``); empty if neither.
        use: whether it is tracked.
        confidence: in the location, 0 to 1.
        reason: for the location, or why the marker is not used.
        alternatives: other links where it might be, the most probable first.
    """

    marker: str
    location: str
    use: bool = True
    confidence: float = 1.0
    reason: str = ""
    alternatives: tuple[str, ...] = ()

    @property
    def needs_review(self) -> bool:
        """Whether its location needs a review."""
        return self.use and self.confidence < REVIEW_CONFIDENCE


def known_landmarks() -> dict[str, Any]:
    """Entries of all landmarks, by name without side; do not change the trees."""
    path = MARKER_SETS / f"{LANDMARKS}.json"
    return _landmarks(path, read_bytes(path))


@lru_cache(maxsize=2)
def _landmarks(path: Path, content: bytes) -> dict[str, Any]:
    landmarks: dict[str, Any] = parse_json_object(path, content, "Install the program again")["landmarks"]
    return landmarks


def marker_locations() -> tuple[str, ...]:
    """All locations that a marker may have: landmarks with their sides, then links."""
    sided = [name if name in MIDLINE_LANDMARKS else f"{side} {name}" for name in known_landmarks() for side in SIDES]
    return (*dict.fromkeys(sided), *LINKS)


def parse_location(words: str) -> str:
    """The location of a name as users write it: ``"left thigh"`` or ``"left_thigh"``.

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
        InputError: the file is not a marker set.
    """
    path = marker_set_path(source)
    tree = parse_json_object(path, read_bytes(path), HOW_TO_WRITE)
    if not isinstance(tree.get("markers"), dict):
        raise InputError(path, "is not a marker set: it has no markers", remedy=HOW_TO_WRITE)
    return tree


def marker_set_path(source: str | Path) -> Path:
    """The file of a marker set: of a built-in one by its name, or a JSON file.

    Raises:
        UnknownMarkerSet: neither a built-in name nor a file.
    """
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".json":
        return Path(source)
    if str(source) not in marker_sets():
        raise UnknownMarkerSet(str(source), marker_sets())
    return MARKER_SETS / f"{source}.json"


def write_marker_set_tree(path: str | Path, tree: Mapping[str, Any]) -> Path:
    """Write a marker set, completely or not at all.

    Raises:
        InputError: another suffix, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise InputError(path, "is not a file name for a marker set", remedy="Use the suffix .json")
    with write_atomically(path) as stream:
        stream.write(json_text(dict(tree)))
    return path


def parse_entry(tree: Any, place: str) -> Entry:
    """A marker's entry; values that it does not have are those of its landmark.

    Raises:
        WrongEntry: it is none; ``place`` says where it stands.
    """
    if not isinstance(tree, dict):
        raise WrongEntry(place, "is not a JSON object")
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
    """Apply a user's decisions to a marker set.

    Args:
        tree: of the set.
        rows: decisions on its markers and on others. A location that differs from that in the set replaces it; a
            marker that is not used or has no location is rejected.

    Raises:
        UnknownLandmark: an unknown location.
        InputError: ``tree`` is not a marker set.
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
    """An entry at a location that the user chose."""
    kept = {name: entry[name] for name in ("weight", "seen") if name in entry}
    what = {"link": place} if place in LINKS else {"landmark": place}
    return {**what, **kept, "confidence": 1.0, "because": "chosen"}
