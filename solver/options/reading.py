"""Options of reading recordings."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from ..base.errors import InputError
from .declared import POSITIVE, Option, Options, declarations

UP_AXES = ("auto", "x", "y", "z", "-x", "-y", "-z")
FORCE_UNITS = ("m", "mm", "cm")
LENGTH_UNITS = (*FORCE_UNITS, "inch", "cmu")
ANGLE_UNITS = ("deg", "rad")


@dataclass(frozen=True, slots=True)
class ReadOptions(Options):
    """How files are read; the defaults detect everything and refuse files that contradict themselves.

    Attributes:
        up: vertical axis of the files; for files that contradict each other, or that do not show it.
        force_up: vertical axis of the force files, if it differs from the markers'; None requires the same.
        units: unit of markers or skeleton; overrides headers.
        force_units: unit of centres of pressure; in storage files.
        forces_on_plates: forces in the file act on the plates, not on the body; a file does not state it.
        keep_missing: leave out missing force samples instead of refusing the file; gaps are often an export error.
        ragged: accept rows of markers that end early; a cut file looks the same.
        angle_units: unit of joint coordinates; in .mot, .sto and .npz files and tables without titles,
            overrides the files.
        frame_rate: [1/s] frame rate of Acclaim motions and of joint tables; where the name does not state it, or
            states a wrong one.
    """

    up: Annotated[str, Option(choices=UP_AXES, usual="detected", common=True)] = "auto"
    force_up: Annotated[str | None, Option(choices=UP_AXES)] = None
    units: Annotated[str | None, Option(choices=LENGTH_UNITS, usual="from the file", common=True)] = None
    force_units: Annotated[str | None, Option(choices=FORCE_UNITS, usual="m, or mm where m is impossible")] = None
    forces_on_plates: Annotated[bool, Option()] = False
    keep_missing: Annotated[bool, Option()] = False
    ragged: Annotated[bool, Option()] = False
    angle_units: Annotated[str | None, Option(choices=ANGLE_UNITS, usual="from the file")] = None
    frame_rate: Annotated[float | None, Option(POSITIVE, usual="from the file's name, as in walk_30hz.csv")] = None

    @property
    def stated(self) -> dict[str, Any]:
        """Values that differ from the defaults, by field."""
        values = {each.name: (getattr(self, each.name), each.default) for each in declarations(ReadOptions).values()}
        return {name: value for name, (value, default) in values.items() if value != default}

    @property
    def sign(self) -> int | None:
        """-1 if forces act on the plates; None for the format's own convention."""
        return -1 if self.forces_on_plates else None

    @property
    def missing(self) -> str:
        """What to do with missing force samples: ``"error"`` or ``"keep"``."""
        return "keep" if self.keep_missing else "error"


DEFAULT_OPTIONS = ReadOptions()


@contextmanager
def watched(options: ReadOptions, files: Iterable[object]) -> Iterator[ReadOptions]:
    """Options that the readers of files are given; what is stated and read by none of them is refused at the end.

    Options that are watched already are judged where that began, so that files read one after the other are judged
    together.

    Raises:
        InputError: names the files and the options.
    """
    if isinstance(options, _WatchedOptions):
        yield options
        return
    found = _WatchedOptions(options)
    yield found
    if unused := ", ".join(
        declarations(ReadOptions)[name].flag for name in options.stated if name not in found.requested
    ):
        problem = f"{unused} would change nothing: no reader of what is held here uses it"
        raise InputError(", ".join(map(str, files)), problem, remedy=f"Leave out {unused}")


class _WatchedOptions(ReadOptions):
    """Options that remember which of them were read."""

    __slots__ = ("requested", "stated")
    requested: set[str]

    def __init__(self, options: ReadOptions) -> None:
        for name in declarations(ReadOptions):
            object.__setattr__(self, name, getattr(options, name))
        object.__setattr__(self, "stated", options.stated)
        object.__setattr__(self, "requested", set())

    def __getattribute__(self, name: str) -> Any:
        if name in declarations(ReadOptions):
            object.__getattribute__(self, "requested").add(name)
        return object.__getattribute__(self, name)
