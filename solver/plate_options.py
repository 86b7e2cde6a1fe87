"""What is to be done about force plates that are suspected: plain choices, for the command line and Blender too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .errors import UnknownName

FREE_MOMENT, PLACE, BELONGING, STANDSTILL, MASS = "free-moment", "place", "belonging", "standstill", "mass"
FINDINGS: Mapping[str, str] = {
    FREE_MOMENT: "sign of the free moment",
    PLACE: "place of the plates in the plane",
    BELONGING: "forces and motion that do not belong together",
    STANDSTILL: "forces or markers that stand still",
    MASS: "body mass, offset and unit of force",
}
"""What is looked at, by the word that overrules it."""
AS_SHOWN, AS_IS, REVERSED, IGNORE = "auto", "as-is", "reversed", "ignore"
FREE_MOMENTS = (AS_SHOWN, AS_IS, REVERSED, IGNORE)
"""What is done with the free moment: what the motion shows, nothing, reversed, or not used."""


@dataclass(frozen=True, slots=True)
class PlateOptions:
    """How the plates are judged.

    Attributes:
        free_moment: one of `FREE_MOMENTS`.
        overruled: findings, keys of `FINDINGS`, after which nothing is changed; they are still told.
    """

    free_moment: str = AS_SHOWN
    overruled: tuple[str, ...] = ()

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
