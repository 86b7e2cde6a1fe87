"""Reads marker sets from files, built-in and user-defined, and detects which one a recording uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..assets import LANDMARKS, MARKER_SETS, marker_sets
from ..errors import InputError, InvalidValue
from ..files import read_bytes
from ..person import LINKS, SIDES
from ..rigs.human_skeleton import LATERAL_SIGN
from ..scene.marker_set import HOW_TO_WRITE, Entry, marker_set_path, parse_entry
from ..storage.json_tree import parse_json_object
from ..storage.tree_leaves import WrongEntry
from ..storage.value_tree import from_tree
from .marker_set import MarkerLocation, MarkerSet

FREE_STD = (0.12, 0.12, 0.12)
"""[m] Standard deviation of the location of a marker that is on no landmark: it is estimated from the data."""
SEEN_STD = (0.03, 0.03, 0.03)
"""[m] Standard deviation of the location of a marker that was seen there moving with its link."""
FREE_OFFSETS = {
    "pelvis": (0.0, 0.0, 0.02),
    "torso": (-0.05, 0.0, 0.2),
    "head": (0.0, 0.0, 0.09),
    "thigh": (0.0, 0.04, 0.0),
    "shank": (0.0, 0.03, 0.0),
    "foot": (0.04, 0.0, -0.02),
    "upper_arm": (0.0, 0.03, 0.0),
    "forearm": (0.0, 0.02, 0.0),
    "hand": (0.0, 0.0, -0.04),
}
"""Initial location of a free marker on its link, in units of stature: forwards, outwards, up."""
MEASURED_FROM_MIDDLE = ("thigh", "shank", "upper_arm", "forearm")
"""Links on which it is measured from their middle."""
MIN_MATCHES = 8
"""Fewest recognised markers of a recording that uses the set."""
MIN_COVERAGE = 0.6
"""A recording with more unknown than known names still matches a set if it contains this fraction of the set."""
NEXT_LINK = {"torso": "head", "thigh": "shank", "shank": "foot", "upper_arm": "forearm", "forearm": "hand"}
"""Link towards which the fraction of a free marker is measured."""


def load_marker_set(source: str | Path) -> MarkerSet:
    """A built-in set by name, or one from a JSON file.

    Raises:
        UnknownMarkerSet: neither a built-in name nor a file.
        InputError: the file is not a marker set.
    """
    return _read(marker_set_path(source))


def detect_marker_set(names: Sequence[str], path: str | Path = "markers") -> MarkerSet:
    """The built-in set that recognises most of the recorded names.

    Args:
        names: recorded marker names.
        path: of the recording, for the error.

    Raises:
        InputError: no set recognises enough of them; lists the unmatched names and how to write a set.
    """
    sets = [load_marker_set(name) for name in marker_sets()]
    best = max(sets, key=lambda candidate: candidate.count_matches(names))
    matched = best.count_matches(names)
    unknown = best.unknown_names(names)
    if matched < MIN_MATCHES or (matched < len(unknown) and matched < MIN_COVERAGE * len(best.locations)):
        listed = ", ".join(unknown)
        contained = f"{best.name!r}, contains {matched} of {len(names)} markers"
        problem = f"no marker set fits: the nearest, {contained}, but not {listed}"
        raise InputError(path, problem, remedy=HOW_TO_WRITE)
    return best


@dataclass(frozen=True, slots=True)
class MarkerSetFile:
    """A marker set as stored in a file; the markers' entries are still trees."""

    name: str
    markers: Mapping[str, Any]
    about: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def _read(path: Path) -> MarkerSet:
    return _parse(path, read_bytes(path), read_bytes(MARKER_SETS / f"{LANDMARKS}.json"))


@lru_cache(maxsize=32)
def _parse(path: Path, content: bytes, landmarks: bytes) -> MarkerSet:
    """A set from the content of its file, cached by content: an edited file is read again."""
    return _build(path, parse_json_object(path, content, HOW_TO_WRITE))


def marker_set_from_tree(tree: Mapping[str, Any]) -> MarkerSet:
    """The marker set that a tree describes.

    Raises:
        InputError: it is not a marker set.
    """
    return _build(Path(str(tree.get("name", "marker set"))), tree)


def _build(path: Path, tree: Mapping[str, Any]) -> MarkerSet:
    try:
        written = from_tree(MarkerSetFile, tree)
        locations, centres, marked, virtual = {}, {}, {}, {}
        for marker, tree in written.markers.items():
            place = f"marker {marker!r}"
            entry = parse_entry(tree, place)
            if entry.virtual is not None or not entry.use:
                virtual[marker] = entry.virtual or "rejected"
            elif entry.joint_centre is not None:
                centres[marker] = _require_link(entry.joint_centre, place)
            else:
                locations[marker] = _build_location(entry, place)
                if entry.landmark is not None:
                    marked[marker] = entry.landmark
        for alias, marker in written.aliases.items():
            if marker not in written.markers:
                raise WrongEntry(f"alias {alias!r}", f"means {marker!r}, which is no marker of the set")
    except WrongEntry as error:
        raise InputError(path, error.problem, place=error.place or None, remedy=HOW_TO_WRITE) from error
    return MarkerSet(
        written.name, written.about, locations, centres, marked, virtual, dict(written.aliases), written.ignored
    )


def _build_location(entry: Entry, place: str) -> MarkerLocation:
    if entry.link is None:
        raise WrongEntry(place, "is on no landmark and no link, at no joint centre and not virtual")
    anatomical, link, child = entry.landmark is not None, entry.link, entry.child
    side = next((side for side in SIDES if (entry.landmark or link).startswith((f"{side} ", f"{side}_"))), "")
    bare = link.removeprefix(f"{side}_")
    offset, fraction, std = entry.offset, entry.fraction, entry.spread or FREE_STD
    if offset is None and link in entry.seen:
        offset, fraction, std = entry.seen[link], 0.0, entry.spread or SEEN_STD
    elif offset is None:
        offset, fraction = FREE_OFFSETS.get(bare, (0.0, 0.0, 0.0)), 0.5 if bare in MEASURED_FROM_MIDDLE else 0.0
    if anatomical:
        link, child = _add_side(link, side), None if child is None else _add_side(child, side)
    elif child is None and fraction:
        beyond = NEXT_LINK.get(bare)
        if beyond is None:
            raise WrongEntry(place, f"has a fraction, but no link follows {link!r}")
        child = _add_side(beyond, side)
    share = 1.0 if fraction is None else fraction
    outwards = np.array(offset) * [1.0, LATERAL_SIGN.get(side, 1.0), 1.0]
    link, child = _require_link(link, place), None if child is None else _require_link(child, place)
    try:
        return MarkerLocation(link, child, share, outwards, np.array(std), anatomical, entry.weight)
    except InvalidValue as error:
        raise WrongEntry(place, str(error)) from error


def _add_side(link: str, side: str) -> str:
    """The link on a side, if a person has it on both."""
    return f"{side}_{link}" if f"{side}_{link}" in LINKS else link


def _require_link(name: str, place: str) -> str:
    if name not in LINKS:
        raise WrongEntry(place, f"unknown link {name!r}; known: {', '.join(LINKS)}")
    return name
