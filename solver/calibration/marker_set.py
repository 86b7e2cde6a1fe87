"""Marker sets: which marker is where on a person; from files, built-in and user-defined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ..base.arrays import Array, ArrayValue
from ..base.assets import LANDMARKS, MARKER_SETS, marker_sets
from ..base.errors import InputError, InvalidValue
from ..base.files import read_bytes
from ..rigs.human_skeleton import LATERAL_SIGN
from ..scene.marker_set import HOW_TO_WRITE, Entry, marker_set_path, parse_entry
from ..skeleton.rig import Rig
from ..storage.json_tree import WrongEntry, parse_json_object
from ..storage.value_tree import from_tree
from ..values.marker_names import normalise
from ..values.person import LINKS, SIDES
from .name_recognition import LANDMARK, read_names

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
ESTIMATED_POINT_STD = 0.005
"""[m] A point with this noise weighs as much as a marker: beside it the tracker's posture task, of 2.5e-5 m^2, has a
standard deviation of one radian. Chosen on simulated key points, with `fit.ESTIMATED_POSTURE_STIFFNESS`: with half a
radian the elbows of an arm that stays bent come out 0.26 rad straighter."""
NO_LINK, UNSEEN = "moves with no link", "never seen with enough others"
"""Why a recorded marker could not be placed."""
MIN_MATCHES = 8
"""Fewest recognised markers of a recording that uses the set."""
MIN_COVERAGE = 0.6
"""A recording with more unknown than known names still matches a set if it contains this fraction of the set."""
NEXT_LINK = {"torso": "head", "thigh": "shank", "shank": "foot", "upper_arm": "forearm", "forearm": "hand"}
"""Link towards which the fraction of a free marker is measured."""


@dataclass(frozen=True, slots=True)
class MarkerLocation(ArrayValue):
    """Expected location of a marker on a link, relative to joint centres so that it scales with the subject.

    Attributes:
        link: link that carries the marker.
        reference_joint: link whose joint centre (in ``link``) the location is measured from, or None for the link's own
            origin.
        fraction: fraction of the way from the link's origin to that joint centre.
        offset: (3,) in units of stature, link axes.
        std: (3,) [m] standard deviation of the location.
        anatomical: True on a bony landmark, False if the location is free.
        weight: in tracking.
    """

    link: str
    reference_joint: str | None
    fraction: float
    offset: Annotated[np.ndarray, Array(3)]
    std: Annotated[np.ndarray, Array(3)]
    anatomical: bool
    weight: float = 1.0

    def require_consistent(self) -> None:
        if not (self.std > 0.0).all():
            raise InvalidValue(f"a spread must be positive, got {self.std.min():g} m")
        if not (np.isfinite(self.fraction) and 0.0 <= self.weight < np.inf):
            raise InvalidValue(
                f"fraction {self.fraction:g} and weight {self.weight:g} must be finite, no weight negative"
            )

    def position(self, joints: Mapping[str, np.ndarray], stature: float) -> np.ndarray:
        """Expected location (3,) [m] in the link frame, for joint centres (3,) [m] in their parents' frames."""
        return (
            np.zeros(3) if self.reference_joint is None else self.fraction * np.asarray(joints[self.reference_joint])
        ) + stature * self.offset

    def on_carrying_link(self, rig: Rig) -> MarkerLocation:
        """The location on the link of the rig that carries its reference joint: an acromion is on the scapula if there
        is one.
        """
        if self.reference_joint is None:
            return self
        return replace(self, link=rig.links[rig.parents[rig.index(self.reference_joint)]])


@dataclass(frozen=True, slots=True)
class MarkerSet:
    """A marker set.

    Attributes:
        name: as shown to users.
        about: one sentence.
        locations: expected location of each real marker.
        joint_centres: virtual markers at the joint centre of a link; used for calibration, never tracked.
        landmarks: landmark of each anatomical marker (``"left asis"``).
        virtual: virtual markers that are not used, and the reason.
        aliases: other names of the same markers.
        ignored: patterns of names (computed angles, forces, ...) that are not markers.
        tree: the set as stored in a file.
        noise: [m] standard deviation of a point that was estimated, as from video, each axis; 0 for markers.
    """

    name: str
    about: str
    locations: Mapping[str, MarkerLocation]
    joint_centres: Mapping[str, str]
    landmarks: Mapping[str, str]
    virtual: Mapping[str, str]
    aliases: Mapping[str, str]
    ignored: tuple[str, ...] = ()
    tree: Mapping[str, Any] = field(default_factory=dict, repr=False)
    noise: float = 0.0

    def canonical_name(self, name: str) -> str | None:
        """The set's own name of a recorded marker, None if it has none.

        A subject's prefix ``name:`` and capitals are ignored if the name is still unambiguous.
        """
        for candidate in (name, name.rsplit(":", 1)[-1]):
            candidate = self.aliases.get(candidate, candidate)
            if candidate in self.locations or candidate in self.joint_centres or candidate in self.virtual:
                return candidate
        known = (*self.locations, *self.joint_centres, *self.virtual, *self.aliases)
        plain = normalise(name)
        meant = {self.aliases.get(own, own) for own in known if normalise(own) == plain}
        return meant.pop() if len(meant) == 1 else None

    def ignored_names(self, names: Sequence[str]) -> set[str]:
        """Recorded names that are known not to be real markers.

        A pattern that ends with letters in brackets, the axes and origin of a segment, applies where all of them are
        recorded: ``LFOO`` alone is a marker.
        """
        plain = {name.rsplit(":", 1)[-1]: name for name in names}
        result = set()
        for pattern in self.ignored:
            found = {own for own in plain if fnmatchcase(own, pattern)}
            letters = pattern.partition("[OALP]")[1].strip("[]")
            result |= {plain[own] for own in found if all(own[:-1] + letter in found for letter in letters)}
        return result

    def count_matches(self, names: Sequence[str]) -> int:
        """Number of recorded names that are real markers of this set."""
        return sum(self.canonical_name(name) in self.locations for name in names)

    def unknown_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Recorded names that are not in the set."""
        ignored = self.ignored_names(names)
        return tuple(name for name in names if self.canonical_name(name) is None and name not in ignored)

    def require_links(self, links: Sequence[str], names: Sequence[str], recording: str, spare: int = 0) -> None:
        """Raises an error if more than ``spare`` links carry none of the recorded markers, nor one at their centre.

        Raises:
            InputError: names these links, and the markers that are not in the set.
        """
        places = [place for name in names if (place := self.find_location(name)) is not None]
        marked = {place.link for place in places} | {each.reference_joint for each in places if not each.offset.any()}
        if len(unmarked := [link for link in links if link not in marked]) <= spare:
            return
        unknown = self.unknown_names(sorted(names))
        problem = f"no marker is known on {', '.join(unmarked)} (marker set {self.name!r}"
        problem += f"; not in it: {', '.join(unknown)})" if unknown else ")"
        remedy = "Name the markers on these links, with --place or in a marker set given by --marker-set"
        remedy = remedy if len(unknown) >= len(unmarked) else "Record every link of the trunk and the legs"
        raise InputError(recording, problem, remedy=remedy)

    def find_location(self, name: str) -> MarkerLocation | None:
        """Expected location of a recorded marker; None for virtual and unknown ones."""
        return self.locations.get(self.canonical_name(name) or "")

    def find_joint_centre(self, name: str) -> str | None:
        """Link at whose joint centre a recorded virtual marker is, or None."""
        return self.joint_centres.get(self.canonical_name(name) or "")

    def find_landmark(self, name: str) -> str | None:
        """Landmark of a recorded marker, or None."""
        return self.landmarks.get(self.canonical_name(name) or "")


def load_marker_set(source: str | Path) -> MarkerSet:
    """A built-in set by name, or one from a JSON file.

    Raises:
        UnknownMarkerSet: neither a built-in name nor a file.
        InputError: the file is not a marker set.
    """
    return _read(marker_set_path(source))


def detect_marker_set(names: Sequence[str], path: str | Path = "markers") -> MarkerSet:
    """The built-in set that recognises most of the recorded names.

    A set of key points does not fit a recording with bony landmarks that it lacks: there the same names mean markers.

    Args:
        names: recorded marker names.
        path: of the recording, for the error.

    Raises:
        InputError: no set recognises enough of them; lists the unmatched names and how to write a set.
    """
    sets = [load_marker_set(name) for name in marker_sets()]
    fitting = [candidate for candidate in sets if not (candidate.noise and _has_landmarks(candidate, names))]
    best = max(fitting, key=lambda candidate: (candidate.count_matches(names), -len(candidate.locations)))
    matched = best.count_matches(names)
    unknown = best.unknown_names(names)
    if matched < MIN_MATCHES or (matched < len(unknown) and matched < MIN_COVERAGE * len(best.locations)):
        listed = ", ".join(unknown)
        contained = f"{best.name!r}, contains {matched} of {len(names)} markers"
        raise InputError(path, f"no marker set fits: the nearest, {contained}, but not {listed}", remedy=HOW_TO_WRITE)
    return best


def _has_landmarks(marker_set: MarkerSet, names: Sequence[str]) -> bool:
    """Whether names that are not in the set are those of bony landmarks."""
    return any(reading.kind == LANDMARK for reading in read_names(marker_set.unknown_names(names)).values())


@dataclass(frozen=True, slots=True)
class MarkerSetFile:
    """A marker set as stored in a file; the markers' entries are still trees."""

    name: str
    markers: Mapping[str, Any]
    about: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    noise: float = 0.0


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


def _build(path: Path, whole_tree: Mapping[str, Any]) -> MarkerSet:
    try:
        written = from_tree(MarkerSetFile, whole_tree)
        locations, centres, marked, virtual = {}, {}, {}, {}
        for marker, tree in written.markers.items():
            place = f"marker {marker!r}"
            entry = parse_entry(tree, place)
            if entry.virtual is not None or not entry.use:
                virtual[marker] = entry.virtual or "rejected"
            elif entry.joint_centre is not None:
                centres[marker] = _require_link(entry.joint_centre, place)
            else:
                location = _build_location(entry, place)
                factor = (ESTIMATED_POINT_STD / written.noise) ** 2 if written.noise else 1.0
                locations[marker] = replace(location, weight=factor * location.weight)
                if entry.landmark is not None:
                    marked[marker] = entry.landmark
        for alias, marker in written.aliases.items():
            if marker not in written.markers:
                raise WrongEntry(f"alias {alias!r}", f"means {marker!r}, which is no marker of the set")
    except WrongEntry as error:
        raise InputError(path, error.problem, place=error.place or None, remedy=HOW_TO_WRITE) from error
    return MarkerSet(
        written.name,
        written.about,
        locations,
        centres,
        marked,
        virtual,
        dict(written.aliases),
        written.ignored,
        whole_tree,
        written.noise,
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
        if (beyond := NEXT_LINK.get(bare)) is None:
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
