"""Marker sets: which marker is where on a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from ..arrays import frozen
from ..errors import InvalidValue
from ..marker_names import normalise
from ..rig import Rig


@dataclass(frozen=True, slots=True)
class MarkerLocation:
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
    offset: np.ndarray
    std: np.ndarray
    anatomical: bool
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", frozen("location offset", self.offset, (3,)))
        object.__setattr__(self, "std", frozen("location spread", self.std, (3,)))
        if not (self.std > 0.0).all():
            raise InvalidValue(f"a spread must be positive, got {self.std.min():g} m")
        if not (np.isfinite(self.fraction) and 0.0 <= self.weight < np.inf):
            raise InvalidValue(
                f"fraction {self.fraction:g} and weight {self.weight:g} must be finite, no weight negative"
            )

    def position(self, joints: Mapping[str, np.ndarray], stature: float) -> np.ndarray:
        """Expected location (3,) [m] in the link frame, for joint centres (3,) [m] in their parents' frames."""
        start = (
            np.zeros(3) if self.reference_joint is None else self.fraction * np.asarray(joints[self.reference_joint])
        )
        return start + stature * self.offset

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

    def is_ignored(self, name: str) -> bool:
        """True for a recorded name that is known not to be a real marker."""
        return any(fnmatchcase(name.rsplit(":", 1)[-1], pattern) for pattern in self.ignored)

    def count_matches(self, names: Sequence[str]) -> int:
        """Number of recorded names that are real markers of this set."""
        return sum(self.canonical_name(name) in self.locations for name in names)

    def unknown_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Recorded names that are not in the set."""
        return tuple(n for n in names if self.canonical_name(n) is None and not self.is_ignored(n))

    def find_location(self, name: str) -> MarkerLocation | None:
        """Expected location of a recorded marker; None for virtual and unknown ones."""
        return self.locations.get(self.canonical_name(name) or "")

    def find_joint_centre(self, name: str) -> str | None:
        """Link at whose joint centre a recorded virtual marker is, or None."""
        return self.joint_centres.get(self.canonical_name(name) or "")

    def find_landmark(self, name: str) -> str | None:
        """Landmark of a recorded marker, or None."""
        return self.landmarks.get(self.canonical_name(name) or "")
