"""Marker sets: which marker sits where on a person, read from data files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import frozen
from ..assets import ASSETS
from ..errors import InputError, InvalidValue, UnknownPreset

FOLDER = ASSETS / "markersets"
LANDMARKS = "landmarks"
SIDES = ("left", "right")
LATERAL = {"left": 1.0, "right": -1.0}
FREE_SPREAD = 0.12
"""[m] Standard deviation of the place of a marker that marks no landmark: its place is found, not believed."""
CENTRE_SPREAD = 0.008
"""[m] Standard deviation of a joint centre given as a virtual marker."""
FEWEST_MATCHES = 8
"""Fewer recognised markers than this are no recording of that set."""
COVERAGE = 0.6
"""A recording with more unknown than known names still counts as one of the set if it shows this share of the set."""
HOW_TO_WRITE = (
    "Write a marker set: a JSON file with name, about, markers and aliases, each marker one of "
    '{"landmark": "left lateral_malleolus"}, {"link": "left_thigh", "fraction": 0.5, "offset": [forwards, outwards, up '
    'in shares of stature]}, {"joint_centre": "left_thigh"} or {"virtual": "why it is not tracked"}; '
    "assets/markersets holds examples and landmarks.json the landmarks. Give it as marker_set"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a marker is expected: a point on a link, relative to joint centres so that it scales with the subject.

    Attributes:
        link: that carries the marker.
        child: link whose joint centre (in ``link``) the place is measured from, or None for the link's own origin.
        fraction: share of the way from the link's origin to that joint centre.
        offset: (3,) shares of stature, link axes.
        spread: (3,) [m] standard deviation of the place.
        anatomical: True on a bony landmark, False where the place is free.
        weight: in tracking.
    """

    link: str
    child: str | None
    fraction: float
    offset: np.ndarray
    spread: np.ndarray
    anatomical: bool
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", frozen("place offset", self.offset, (3,)))
        object.__setattr__(self, "spread", frozen("place spread", self.spread, (3,)))

    def position(self, joints: Mapping[str, np.ndarray], stature: float) -> np.ndarray:
        """Expected place (3,) [m] in the link frame, for joint centres (3,) [m] in their parents' frames."""
        start = np.zeros(3) if self.child is None else self.fraction * np.asarray(joints[self.child])
        return start + stature * self.offset


@dataclass(frozen=True, slots=True)
class MarkerSet:
    """A marker set.

    Attributes:
        name: for people.
        about: one sentence.
        places: where each real marker is expected.
        joint_centres: virtual markers that give the joint centre of a link; used to calibrate, never tracked.
        landmarks: landmark of each anatomical marker (``"left asis"``).
        virtual: virtual markers that are not used, and why.
        aliases: other names of the same markers.
        ignored: patterns of names (computed angles, forces, ...) that are no markers.
    """

    name: str
    about: str
    places: Mapping[str, Place]
    joint_centres: Mapping[str, str]
    landmarks: Mapping[str, str]
    virtual: Mapping[str, str]
    aliases: Mapping[str, str]
    ignored: tuple[str, ...] = ()

    def canonical(self, name: str) -> str | None:
        """The set's own name of a recorded marker (without a subject's prefix ``name:``), None if it has none."""
        for candidate in (name, name.rsplit(":", 1)[-1]):
            candidate = self.aliases.get(candidate, candidate)
            if candidate in self.places or candidate in self.joint_centres or candidate in self.virtual:
                return candidate
        return None

    def is_ignored(self, name: str) -> bool:
        """True for a recorded name that is known not to be a real marker."""
        return any(fnmatchcase(name.rsplit(":", 1)[-1], pattern) for pattern in self.ignored)

    def matches(self, names: Sequence[str]) -> int:
        """How many recorded names are real markers of this set."""
        return sum(self.canonical(name) in self.places for name in names)

    def unknown(self, names: Sequence[str]) -> tuple[str, ...]:
        """Recorded names the set does not know."""
        return tuple(n for n in names if self.canonical(n) is None and not self.is_ignored(n))

    def place_of(self, name: str) -> Place | None:
        """Expected place of a recorded marker; None for virtual and unknown ones."""
        return self.places.get(self.canonical(name) or "")

    def centre_of(self, name: str) -> str | None:
        """Link whose joint centre a recorded virtual marker gives, or None."""
        return self.joint_centres.get(self.canonical(name) or "")

    def landmark_of(self, name: str) -> str | None:
        """Landmark of a recorded marker, or None."""
        return self.landmarks.get(self.canonical(name) or "")


def marker_sets() -> tuple[str, ...]:
    """Names of the built-in sets, as `load_marker_set` takes them."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != LANDMARKS))


def load_marker_set(source: str | Path) -> MarkerSet:
    """A built-in set by name, or one from a JSON file.

    Raises:
        UnknownPreset: neither a built-in name nor a file.
        InputError: the file is not a marker set.
    """
    path = Path(source)
    if path.suffix.lower() == ".json":
        return _read(path)
    if str(source) not in marker_sets():
        raise UnknownPreset(str(source), marker_sets())
    return _read(FOLDER / f"{source}.json")


def detect_marker_set(names: Sequence[str], path: str | Path = "markers") -> MarkerSet:
    """The built-in set that recognises most of the recorded names.

    Args:
        names: recorded marker names.
        path: of the recording, for the error.

    Raises:
        InputError: no set recognises enough of them; lists the unmatched names and how to write a set.
    """
    sets = [load_marker_set(name) for name in marker_sets()]
    best = max(sets, key=lambda candidate: candidate.matches(names))
    matched = best.matches(names)
    unknown = best.unknown(names)
    if matched < FEWEST_MATCHES or (matched < len(unknown) and matched < COVERAGE * len(best.places)):
        listed = ", ".join(unknown)
        problem = (
            f"no marker set fits: the nearest, {best.name!r}, knows {matched} of {len(names)} markers and not {listed}"
        )
        raise InputError(path, problem, remedy=HOW_TO_WRITE)
    return best


def _read(path: Path) -> MarkerSet:
    return _parsed(path, _content(path), _content(FOLDER / f"{LANDMARKS}.json"))


@lru_cache(maxsize=32)
def _parsed(path: Path, content: str, known: str) -> MarkerSet:
    """A set from the content of its file: an edited file is another set, the same one is not read twice."""
    data = _json(path, content)
    try:
        landmarks = _json(FOLDER / f"{LANDMARKS}.json", known)["landmarks"]
        places, centres, marked, virtual = {}, {}, {}, {}
        for marker, entry in data["markers"].items():
            if "virtual" in entry:
                virtual[marker] = str(entry["virtual"])
            elif "joint_centre" in entry:
                centres[marker] = str(entry["joint_centre"])
            else:
                places[marker] = _place(path, marker, entry, landmarks)
                if "landmark" in entry:
                    marked[marker] = str(entry["landmark"])
        return MarkerSet(
            str(data["name"]), str(data.get("about", "")), places, centres, marked, virtual,
            dict(data.get("aliases", {})), tuple(data.get("ignored", ())),
        )  # fmt: skip
    except (KeyError, TypeError, AttributeError, InvalidValue) as error:
        raise InputError(path, f"is no marker set ({error})", remedy=HOW_TO_WRITE) from error


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(path, "cannot be read", remedy="Check the path of the marker set") from error
    except UnicodeDecodeError as error:
        raise InputError(path, f"is not text: {error}", remedy=HOW_TO_WRITE) from error


def _json(path: Path, content: str) -> dict[str, Any]:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"is not JSON: {error}", remedy=HOW_TO_WRITE) from error
    if not isinstance(data, dict):
        raise InputError(path, "is no marker set: it is not one JSON object", remedy=HOW_TO_WRITE)
    return data


def _place(path: Path, marker: str, entry: Mapping[str, Any], landmarks: Mapping[str, Any]) -> Place:
    side, base, anatomical = "", dict(entry), False
    if "landmark" in entry:
        words = str(entry["landmark"]).split()
        side, key = (words[0], words[-1]) if words[0] in SIDES else ("", words[-1])
        if key not in landmarks:
            remedy = f"Known landmarks: {', '.join(landmarks)}"
            raise InputError(path, f"unknown landmark {key!r}", place=f"marker {marker!r}", remedy=remedy)
        base, anatomical = {**landmarks[key], **entry}, True
    elif str(base["link"]).startswith(SIDES):
        side = str(base["link"]).split("_")[0]
    link, child = str(base["link"]), base.get("from")
    if anatomical:
        sided = {"thigh", "shank", "foot", "upper_arm", "forearm", "hand"}
        link = f"{side}_{link}" if link in sided else link
        child = f"{side}_{child}" if child in sided else child
    elif child is None and base.get("fraction"):
        child = _next(link)
    offset = np.array(base["offset"], float)
    if side:
        offset = offset * [1.0, LATERAL[side], 1.0]
    spread = np.broadcast_to(np.asarray(base.get("spread", FREE_SPREAD), float), (3,))
    fraction = float(base.get("fraction", 1.0))
    return Place(link, child, fraction, offset, spread, anatomical, float(base.get("weight", 1.0)))


def _next(link: str) -> str:
    """The link beyond, towards which `fraction` of a free marker is counted."""
    following = {"torso": "head", "thigh": "shank", "shank": "foot", "upper_arm": "forearm", "forearm": "hand"}
    side, _, name = link.partition("_")
    return f"{side}_{following[name]}" if side in SIDES else following[link]
