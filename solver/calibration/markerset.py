"""Marker sets: which marker sits where on a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from ..arrays import frozen
from ..errors import InvalidValue
from ..marker_names import bare


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
        if not (self.spread > 0.0).all():
            raise InvalidValue(f"a spread must be positive, got {self.spread.min():g} m")
        if not (np.isfinite(self.fraction) and 0.0 <= self.weight < np.inf):
            raise InvalidValue(
                f"fraction {self.fraction:g} and weight {self.weight:g} must be finite, no weight negative"
            )

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
        """The set's own name of a recorded marker, None if it has none.

        Neither a subject's prefix ``name:`` nor capitals matter, as long as one name of the set alone is meant.
        """
        for candidate in (name, name.rsplit(":", 1)[-1]):
            candidate = self.aliases.get(candidate, candidate)
            if candidate in self.places or candidate in self.joint_centres or candidate in self.virtual:
                return candidate
        known = (*self.places, *self.joint_centres, *self.virtual, *self.aliases)
        meant = {self.aliases.get(own, own) for own in known if bare(own) == bare(name)}
        return meant.pop() if len(meant) == 1 else None

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
