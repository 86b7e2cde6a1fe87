"""Marker sets: which marker sits where on a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from ..arrays import frozen
from ..errors import InvalidValue
from ..marker_names import normalise


@dataclass(frozen=True, slots=True)
class MarkerLocation:
    """Where a marker is expected: a point on a link, relative to joint centres so that it scales with the subject.

    Attributes:
        link: that carries the marker.
        reference_joint: link whose joint centre (in ``link``) the place is measured from, or None for the link's own
            origin.
        fraction: share of the way from the link's origin to that joint centre.
        offset: (3,) shares of stature, link axes.
        std: (3,) [m] standard deviation of the place.
        anatomical: True on a bony landmark, False where the place is free.
        weight: in tracking.
    """

    link: str
    reference_joint: str | None
    fraction: float
    offset: np.ndarray
    std: np.ndarray
    anatomical: bool
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", frozen("place offset", self.offset, (3,)))
        object.__setattr__(self, "std", frozen("place spread", self.std, (3,)))
        if not (self.std > 0.0).all():
            raise InvalidValue(f"a spread must be positive, got {self.std.min():g} m")
        if not (np.isfinite(self.fraction) and 0.0 <= self.weight < np.inf):
            raise InvalidValue(
                f"fraction {self.fraction:g} and weight {self.weight:g} must be finite, no weight negative"
            )

    def position(self, joints: Mapping[str, np.ndarray], stature: float) -> np.ndarray:
        """Expected place (3,) [m] in the link frame, for joint centres (3,) [m] in their parents' frames."""
        start = (
            np.zeros(3) if self.reference_joint is None else self.fraction * np.asarray(joints[self.reference_joint])
        )
        return start + stature * self.offset


@dataclass(frozen=True, slots=True)
class MarkerSet:
    """A marker set.

    Attributes:
        name: for people.
        about: one sentence.
        locations: where each real marker is expected.
        joint_centres: virtual markers that give the joint centre of a link; used to calibrate, never tracked.
        landmarks: landmark of each anatomical marker (``"left asis"``).
        virtual: virtual markers that are not used, and why.
        aliases: other names of the same markers.
        ignored: patterns of names (computed angles, forces, ...) that are no markers.
    """

    name: str
    about: str
    locations: Mapping[str, MarkerLocation]
    joint_centres: Mapping[str, str]
    landmarks: Mapping[str, str]
    virtual: Mapping[str, str]
    aliases: Mapping[str, str]
    ignored: tuple[str, ...] = ()

    def canonical_name(self, name: str) -> str | None:
        """The set's own name of a recorded marker, None if it has none.

        Neither a subject's prefix ``name:`` nor capitals matter, as long as one name of the set alone is meant.
        """
        for candidate in (name, name.rsplit(":", 1)[-1]):
            candidate = self.aliases.get(candidate, candidate)
            if candidate in self.locations or candidate in self.joint_centres or candidate in self.virtual:
                return candidate
        known = (*self.locations, *self.joint_centres, *self.virtual, *self.aliases)
        meant = {self.aliases.get(own, own) for own in known if normalise(own) == normalise(name)}
        return meant.pop() if len(meant) == 1 else None

    def is_ignored(self, name: str) -> bool:
        """True for a recorded name that is known not to be a real marker."""
        return any(fnmatchcase(name.rsplit(":", 1)[-1], pattern) for pattern in self.ignored)

    def count_matches(self, names: Sequence[str]) -> int:
        """How many recorded names are real markers of this set."""
        return sum(self.canonical_name(name) in self.locations for name in names)

    def unknown_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Recorded names the set does not know."""
        return tuple(n for n in names if self.canonical_name(n) is None and not self.is_ignored(n))

    def find_location(self, name: str) -> MarkerLocation | None:
        """Expected place of a recorded marker; None for virtual and unknown ones."""
        return self.locations.get(self.canonical_name(name) or "")

    def find_joint_centre(self, name: str) -> str | None:
        """Link whose joint centre a recorded virtual marker gives, or None."""
        return self.joint_centres.get(self.canonical_name(name) or "")

    def find_landmark(self, name: str) -> str | None:
        """Landmark of a recorded marker, or None."""
        return self.landmarks.get(self.canonical_name(name) or "")
