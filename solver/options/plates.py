"""Choices for findings on the force plates, shared by the command line and Blender."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from .declared import Option, Options

FREE_MOMENT, POSITION, MISMATCH, FROZEN = "free-moment", "position", "mismatch", "frozen"
MASS, LAG, CROSSTALK = "mass", "lag", "crosstalk"
FINDINGS: Mapping[str, str] = {
    FREE_MOMENT: "sign of the free moment",
    CROSSTALK: "crosstalk, level and sign of the forces",
    POSITION: "position of the plates in the floor plane",
    MISMATCH: "mismatch of forces and motion",
    FROZEN: "frozen forces or markers",
    MASS: "body mass, offset, drift, gain and unit of force",
    LAG: "time offset and clock of the plates",
}
"""Titles of the checks by the name of their finding."""
AS_SHOWN, AS_IS, REVERSED, IGNORE = "auto", "as-is", "reversed", "ignore"
FREE_MOMENTS = (AS_SHOWN, AS_IS, REVERSED, IGNORE)
"""Sign of the free moment: as the motion shows, as in the file, reversed, or not used."""


@dataclass(frozen=True, slots=True)
class KnownLayout:
    """Plates that one recording used together, and their calibration.

    Attributes:
        plates: their names.
        errors: of each plate, see `signals.plate_errors.PlateErrors`; without offset and drift.
        has_vertical_moment: False: the vertical moment is not used.
    """

    plates: tuple[str, ...]
    errors: tuple[tuple[float, ...], ...]
    has_vertical_moment: bool = True


@dataclass(frozen=True, slots=True)
class KnownPlates:
    """Calibrations that an identification found, for further trials on the same plates.

    Attributes:
        layouts: of plates.
    """

    layouts: tuple[KnownLayout, ...] = ()

    def layout(self, plates: tuple[str, ...]) -> KnownLayout | None:
        """The layout of plates with these names; None if unknown."""
        return next((layout for layout in self.layouts if layout.plates == plates), None)


@dataclass(frozen=True, slots=True)
class PlateOptions(Options):
    """How findings on the plates are handled.

    Attributes:
        free_moment: sign of the free moment; as the motion shows (auto), as in the file, reversed, or not used. A trial
            as short as a second of walking may not show it; otherwise 8 of 8 wrong files are found and no right one is
            changed.
        report_only: findings to report without correcting them; only certain ones are corrected.
        known: found before on the same plates, used where nothing is specified; None: nothing is known.
    """

    free_moment: Annotated[str, Option(choices=FREE_MOMENTS, common=True)] = AS_SHOWN
    report_only: Annotated[tuple[str, ...], Option(choices=FINDINGS)] = ()
    known: KnownPlates | None = None

    def require_consistent(self) -> None:
        """A free moment that is only reported is taken as it is in the file."""
        if FREE_MOMENT in self.report_only and self.free_moment == AS_SHOWN:
            object.__setattr__(self, "free_moment", AS_IS)

    def only_reports(self, finding: str) -> bool:
        """Whether a finding is reported but not corrected."""
        return finding in self.report_only
