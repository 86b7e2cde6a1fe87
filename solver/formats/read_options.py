"""Options of reading recordings, and the contents that readers return."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Protocol

from ..errors import InvalidValue
from ..trial import Recording
from .read_choices import ANGLE_UNITS, FORCE_UNITS, LENGTH_UNITS, MISSING, UP_AXES
from .text_files import Warn

CHOICES = {
    "up": UP_AXES,
    "force_up": UP_AXES,
    "units": LENGTH_UNITS,
    "force_units": FORCE_UNITS,
    "sign": (1, -1),
    "missing": MISSING,
    "angles": ANGLE_UNITS,
}
"""Values of each option; None is allowed where it is the default."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read; the defaults detect everything and refuse files that contradict themselves.

    Attributes:
        up: vertical axis of the files, ``"x" "y" "z" "-x" "-y" "-z"``, or ``"auto"``.
        force_up: vertical axis of the force files, if it differs from the markers'; None requires the same.
        units: of the markers' lengths, to override headers.
        force_units: of the centres of pressure in storage files.
        sign: 1 if forces act on the body, -1 if they act on the plates, None for the format's own convention.
        missing: ``"error"`` refuses missing force samples, ``"keep"`` leaves them out.
        ragged: accept rows of markers that end early.
        angles: ``"deg"`` or ``"rad"``, of joint coordinates in .mot, .sto and .npz files, to override the files.
        frame_rate: [1/s] of Acclaim motions, and of tables of a humanoid whose name does not state it, or a wrong one.
    """

    up: str = "auto"
    force_up: str | None = None
    units: str | None = None
    force_units: str = "m"
    sign: int | None = None
    missing: str = "error"
    ragged: bool = False
    angles: str | None = None
    frame_rate: float | None = None

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise InvalidValue(f"{name} is one of {', '.join(map(repr, choices))}, not {value!r}")
        if self.frame_rate is not None and not 0.0 < self.frame_rate < inf:
            raise InvalidValue(f"frame_rate is a number of frames a second above 0, not {self.frame_rate!r}")

    @property
    def force_sign(self) -> int:
        """The sign, 1 by default."""
        return 1 if self.sign is None else self.sign


DEFAULT_OPTIONS = ReadOptions()


class Reader(Protocol):
    """Reads a file of one format; see `FileFormat.reader`."""

    def __call__(self, path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
        """The content of a file and its vertical axis.

        Args:
            path: of the file.
            options: how it is read.
            motion_up: vertical axis of the file with the same trial's motion; None without one.
            warn: receives messages about irregularities.

        Raises:
            InputError: the file cannot be read.
        """
