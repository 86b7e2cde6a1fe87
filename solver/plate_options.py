"""What is to be done about force plates that are suspected: plain choices, for the command line and Blender too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .errors import UnknownName

FREE_MOMENT, PLACE, BELONGING, STANDSTILL = "free-moment", "place", "belonging", "standstill"
MASS, LAG, COUPLE = "mass", "lag", "couple"
FINDINGS: Mapping[str, str] = {
    FREE_MOMENT: "sign of the free moment",
    COUPLE: "vertical moment that the load alone makes",
    PLACE: "place of the plates in the plane",
    BELONGING: "forces and motion that do not belong together",
    STANDSTILL: "forces or markers that stand still",
    MASS: "body mass, offset, gain and unit of force",
    LAG: "time by which the plates trail the motion",
}
"""What is looked at, by the word that overrules it."""
AS_SHOWN, AS_IS, REVERSED, IGNORE = "auto", "as-is", "reversed", "ignore"
FREE_MOMENTS = (AS_SHOWN, AS_IS, REVERSED, IGNORE)
"""What is done with the free moment: what the motion shows, nothing, reversed, or not used."""


@dataclass(frozen=True, slots=True)
class KnownLayout:
    """What was found of plates that stand together.

    Attributes:
        plates: their names.
        free_moment: factor of the free moments; None: the vertical moment is not used.
        shift: (3,) [m] by which they stand elsewhere than the file says, world.
        shifts: (3,) [m] of each plate, beyond that; none where no plate does.
        gains: factors of what each plate reads; none where all are right.
        couple: [m] vertical moment that they read for every newton of load, though nothing twists them.
    """

    plates: tuple[str, ...]
    free_moment: float | None
    shift: tuple[float, ...]
    shifts: tuple[tuple[float, ...], ...] = ()
    gains: tuple[float, ...] = ()
    couple: float = 0.0


@dataclass(frozen=True, slots=True)
class KnownOffset:
    """What was found of plates that read alike.

    Attributes:
        reading: [kg] what they read of the body.
        bias: (6,) constant wrench in their readings [N, N m], world axes, about the world origin.
    """

    reading: float
    bias: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class KnownPlates:
    """What an identification found of its plates, for further trials on them.

    Attributes:
        layouts: signs and places.
        offsets: by what the plates read.
    """

    layouts: tuple[KnownLayout, ...] = ()
    offsets: tuple[KnownOffset, ...] = ()

    def layout(self, plates: tuple[str, ...]) -> KnownLayout | None:
        """What is known of plates of these names."""
        return next((layout for layout in self.layouts if layout.plates == plates), None)


@dataclass(frozen=True, slots=True)
class PlateOptions:
    """How the plates are judged.

    Attributes:
        free_moment: one of `FREE_MOMENTS`.
        overruled: findings, keys of `FINDINGS`, after which nothing is changed; they are still told.
        known: found before on the same plates, which holds where nothing is stated; None: nothing is.
    """

    free_moment: str = AS_SHOWN
    overruled: tuple[str, ...] = ()
    known: KnownPlates | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "overruled", tuple(self.overruled))
        for word, choices in ((self.free_moment, FREE_MOMENTS), *((kind, FINDINGS) for kind in self.overruled)):
            if word not in choices:
                raise UnknownName(word, choices)
        if FREE_MOMENT in self.overruled and self.free_moment == AS_SHOWN:
            object.__setattr__(self, "free_moment", AS_IS)

    def overrules(self, finding: str) -> bool:
        """Whether nothing is to be changed after a finding."""
        return finding in self.overruled
