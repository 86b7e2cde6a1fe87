"""Reading text files: lines and cells, numbers with their position, and correction of rounded time stamps."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from pathlib import Path
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, Times
from ..base.errors import InputError
from ..base.file_arrays import FileRows
from ..base.files import first_bytes, unreadable
from ..base.numerals import PLAIN, numeral

Warn = Callable[[str], None]
"""Receives one sentence about an irregularity that did not stop the reader."""
MISSING_CELLS = frozenset(
    ["", "nan", "-nan", "na", "n/a", "none", "null", "-", "*", "1.#qnan", "-1.#ind", "1.#ind", "nan(ind)"]
)
"""Cells that mean a missing sample, in lower case."""
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""First bytes of a text in UTF-16, as spreadsheets save it."""
LATIN_1 = "exciting-dance-latin-1"
"""Handler of bytes that are not UTF-8."""
ROWS_AT_ONCE = 512
"""Rows that are held as Python's numbers. Chosen on 60 markers: they take 4 MB, ten times as much as an array."""
MIN_RATE = 5.0
"""[1/s] Lowest plausible rate of a recording; slower time stamps are not in seconds. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: half and twice the value read the same, ten times refuses one."""
RATE_DIFFERENCE = 0.02
"""Largest relative difference between a stated rate and that of the time stamps. Measured on the recordings of
`axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the same."""
MAX_STEP_ERROR = 1e-6
"""Largest deviation of unrounded time stamps from a multiple of the step, relative to the step."""
MAX_NUMBER_ERROR = 0.8
"""Largest difference between advances of frame number and time, in usual steps; whole milliseconds round at 240 Hz by
.2 of a step. Measured on the recordings of `axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the value read the
same."""
ROUNDING_SLACK = 1.02
"""A rounded time stamp may be off by half its last digit; a little more for the binary representation."""


def ignore_warning(message: str) -> None:
    """Discard warnings."""


def read_lines(path: str | Path) -> Iterator[str]:
    """Read the lines of a text file one by one, without line ends; bytes that are not UTF-8 are read as Latin-1.

    Raises:
        InputError: missing, unreadable, empty, or not text.
    """
    is_utf_16, is_blank = first_bytes(path, 2) in UTF_16_MARKS, True
    encoding, errors = ("utf-16", "strict") if is_utf_16 else ("utf-8-sig", LATIN_1)
    try:
        with Path(path).open(encoding=encoding, errors=errors) as stream:
            for line in stream:
                if "\0" in line:
                    raise InputError(path, "is not a text file", remedy="Check that its suffix matches its format")
                is_blank = is_blank and not line.strip()
                yield line.rstrip("\n")
    except UnicodeDecodeError:
        raise InputError(path, "is not a text file", remedy="Check that its suffix matches its format") from None
    except OSError as error:
        raise unreadable(path, error) from None
    if is_blank:
        raise InputError(path, "the file is empty", remedy="Export or copy it again")


def _decode_as_latin_1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(LATIN_1, _decode_as_latin_1)


def read_csv_rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a CSV file with their line numbers, without empty lines and those that start with ``#``.

    A quoted cell must end on its line, because otherwise one stray quote would consume the rest of the file.

    Raises:
        InputError: see `read_lines`; or a quote that is not closed on its line.
    """
    for number, line in enumerate(read_lines(path), 1):
        if line.startswith("#"):
            continue
        cells = line.split(",") if '"' not in line else _parse_quoted(line, path, number)
        if any(cell.strip() for cell in cells):
            yield number, [cell.strip() for cell in cells]


def require_cells(
    path: str | Path, rows: Iterable[tuple[int, list[str]]], count: int, other: str = "the header"
) -> Iterator[tuple[int, list[str]]]:
    """The rows with their line numbers and as many cells as the other line; more cells must be empty.

    Raises:
        InputError: another number of cells.
    """
    for line, cells in rows:
        if len(cells) < count or any(cell.lower() not in MISSING_CELLS for cell in cells[count:]):
            problem = f"the row has {len(cells)} cells, {other} {count}"
            raise InputError(path, problem, place=f"line {line}", remedy="Keep a missing sample as an empty cell")
        yield line, cells[:count]


def _parse_quoted(line: str, path: str | Path, number: int) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        remedy = "Close every quote on its line, or remove it"
        raise InputError(path, f"has a stray quote ({error})", place=f"line {number}", remedy=remedy) from None


def split_cells(line: str, separator: str | None = "\t") -> list[str]:
    """Stripped cells of a line; separated by white space if the separator does not occur."""
    parts = line.split(separator) if separator is not None and separator in line else line.split()
    return [part.strip() for part in parts]


def read_rows(
    path: str | Path, start: int = 0, split: Callable[[str], list[str]] = split_cells
) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of the lines from index ``start`` on that are not empty."""
    lines = islice(enumerate(read_lines(path), 1), start, None)
    return ((number, split(line)) for number, line in lines if line.strip())


def split_at_tabs(line: str) -> list[str]:
    """Stripped cells of a line whose cells may be empty, but for those of a leading tab."""
    return [cell.strip() for cell in line.split("\t")]


def parse_numbers(cells: Sequence[str], path: str | Path, line: int, columns: Sequence[str]) -> list[float]:
    """Parse cells as numbers, NaN where missing.

    Raises:
        InputError: a cell is neither a number nor a mark of a missing one; names line and column.
    """
    if PLAIN.issuperset("".join(cells)):
        try:
            values = [float(cell) for cell in cells]
        except ValueError:
            values = [inf]
        if inf not in values and -inf not in values:
            return values
    return [_parse_number(cell, path, line, column) for cell, column in zip(cells, columns)]


def _parse_number(cell: str, path: str | Path, line: int, column: str) -> float:
    if cell.lower() in MISSING_CELLS:
        return float("nan")
    try:
        return numeral(cell)
    except ValueError:
        pass
    place = f"line {line}, column {column!r}"
    remedy = "Leave missing samples empty"
    if re.fullmatch(r"[-+]?\d+,\d+([eE][-+]?\d+)?", cell):
        remedy = "Export with decimal points instead of commas"
    raise InputError(path, f"{cell!r} is not a number", place=place, remedy=remedy)


@dataclass(frozen=True, slots=True)
class ParsedRows:
    """The numbers of a table.

    Attributes:
        leading: (N, L) first columns: time, or frame number and time.
        values: (N, C) the other columns, NaN where missing; in a file if they are long.
        lines: (N,) line number of each row.
        decimals: most decimals of a time stamp, in the last leading column.
    """

    leading: np.ndarray
    values: np.ndarray
    lines: np.ndarray
    decimals: int


def parse_rows(
    path: str | Path, rows: Iterable[tuple[int, Sequence[str]]], titles: Sequence[str], leading: int = 1
) -> ParsedRows:
    """Parse the rows of a table, with their line numbers and a cell for each title, a few at a time.

    Raises:
        InputError: a cell that is not a number, see `parse_numbers`; or no rows.
    """
    first, values, lines, decimals = FileRows(), FileRows(), FileRows(int), 0
    rows = iter(rows)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        table = np.array([parse_numbers(cells, path, line, titles) for line, cells in some])
        first.add(table[:, :leading])
        values.add(table[:, leading:])
        lines.add(np.array([line for line, _ in some]))
        decimals = max([decimals, *(_decimals(cells[leading - 1]) for _, cells in some if leading)])
    if not (places := lines.finish()).size:
        raise InputError(path, "holds no rows", remedy="Export the trial again")
    return ParsedRows(first.finish(), values.finish(), places, decimals)


def check_times(times: np.ndarray, lines: np.ndarray, path: str | Path) -> None:
    """Check that time stamps are finite and increase.

    Raises:
        InputError: naming the first wrong line.
    """
    if not np.isfinite(times).all():
        line = lines[int(np.argmin(np.isfinite(times)))]
        raise InputError(path, "the time is missing", place=f"line {line}", remedy="Give every row a time")
    backwards = np.diff(times) <= 0.0
    if backwards.any():
        row = int(np.argmax(backwards)) + 1
        problem = f"time {times[row]:g} s does not come after {times[row - 1]:g} s"
        raise InputError(path, problem, place=f"line {lines[row]}", remedy="Rows must be in order of time, each once")


def check_rate(times: np.ndarray, lines: np.ndarray, path: str | Path, rate: float | None = None) -> None:
    """Check that time stamps of a recording are in seconds and agree with the rate in its header.

    Args:
        times: (N,) [s], increasing, with rounding corrected.
        lines: (N,) line number of each.
        path: the file they came from.
        rate: [1/s] that the header states.

    Raises:
        InputError: another rate than stated, or times in milliseconds.
    """
    if len(times) < 3:
        return
    step = float(np.median(np.diff(times)))
    found = 1.0 / step
    if rate and abs(found - rate) > RATE_DIFFERENCE * rate:
        problem = f"the header states {rate:g} Hz, but the times in the file advance at {found:.6g} Hz"
        thousandth = abs(1e3 * found - rate) < RATE_DIFFERENCE * rate
        remedy = "Times must be in seconds, not milliseconds" if thousandth else "Correct one of them"
        raise InputError(path, problem, place=f"lines {lines[0]} to {lines[-1]}", remedy=remedy)
    if found < MIN_RATE:
        problem = f"the times advance by {step:g} s, which is slower than any recording"
        raise InputError(path, problem, place=f"line {lines[1]}", remedy="Times must be in seconds, not milliseconds")


def _check_uniform(times: np.ndarray, lines: np.ndarray, path: str | Path) -> None:
    """Check that time stamps (N,) [s] are uniform, as a rate in the header implies.

    Raises:
        InputError: naming the first line after a step of another length.
    """
    if len(times) < 3:
        return
    steps = np.diff(times)
    step = float(np.median(steps))
    odd = np.abs(steps - step) > 0.5 * step
    if odd.any():
        row = int(np.argmax(odd)) + 1
        problem = f"the time step before this row is {steps[row - 1]:g} s, others are {step:g} s"
        remedy = "Export every frame at a uniform rate; a missing sample is an empty cell"
        raise InputError(path, problem, place=f"line {lines[row]}", remedy=remedy)


@dataclass(frozen=True, slots=True)
class TimeTable(ArrayValue):
    """A table over time.

    Attributes:
        names: C column names, time left out.
        times: (N,) [s].
        values: (N, C), NaN where missing.
        lines: (N,) line number of each row in the file, for messages.
        units: C units as written; empty where the file states none.
        header: the ``key=value`` lines before the table, keys in lower case.
    """

    names: Annotated[tuple[str, ...], Names("C")]
    times: Annotated[np.ndarray, Times()]
    values: Annotated[np.ndarray, Array("N", "C", finite=False)]
    lines: np.ndarray
    units: tuple[str, ...] = ()
    header: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_degrees(self) -> bool:
        """Whether the header states that rotations are in degrees."""
        return self.header.get("indegrees", "no").lower() == "yes"

    def column(self, name: str) -> np.ndarray:
        """One column (N,)."""
        return self.values[:, self.names.index(name)]

    def columns(self, names: Sequence[str]) -> np.ndarray:
        """Some columns (N, len(names))."""
        return self.values[:, [self.names.index(name) for name in names]]


def parse_rate(path: str | Path, text: str, place: str) -> float | None:
    """[1/s] A frame rate as written; None if it is missing, not positive, or ``EXT`` for an external clock.

    Raises:
        InputError: not a number.
    """
    try:
        rate = 0.0 if text.lower() in (*MISSING_CELLS, "ext") else numeral(text)
    except ValueError:
        remedy = "State the frame rate in Hz, or 0 to use the times"
        raise InputError(path, f"{text!r} is not a number", place=place, remedy=remedy) from None
    return rate if rate > 0.0 else None


def resolve_times(path: str | Path, rows: ParsedRows, rate: float | None) -> np.ndarray:
    """Times (N,) [s] of rows that lead with frame number and time, checked against each other and a stated rate [1/s].

    Raises:
        InputError: see `check_times`, `check_rate`; steps of another length, or frames that were lost.
    """
    times = undo_rounding(rows.leading[:, 1], rows.decimals, rate)
    check_times(times, rows.lines, path)
    check_rate(times, rows.lines, path, rate)
    _check_uniform(times, rows.lines, path)
    check_frame_numbers(rows.leading[:, 0], times, path)
    return times


def check_frame_numbers(numbers: np.ndarray, times: np.ndarray, path: str | Path) -> None:
    """Check that frame numbers (N,) advance as the time stamps (N,) [s] do, unless they are no increasing numbers.

    Raises:
        InputError: frames were lost and either numbers or times closed up.
    """
    steps, waits = np.diff(numbers), np.diff(times)
    if len(steps) < 2 or not ((steps > 0.0).all() and (waits > 0.0).all()):
        return
    disagree = np.abs(steps / np.median(steps) - waits / np.median(waits)) > MAX_NUMBER_ERROR
    if disagree.any():
        row = int(np.argmax(disagree))
        problem = (
            f"frame {numbers[row]:.0f} is followed by frame {numbers[row + 1]:.0f}, but {waits[row]:.4g} s later, "
        )
        problem += f"others by the next after {np.median(waits):.4g} s: frames were lost, and the gap was closed up"
        remedy = "Export every frame, with empty cells where nothing was recorded, or correct the numbers or times"
        raise InputError(path, problem, place=f"row {row + 2}", remedy=remedy)


def undo_rounding(times: np.ndarray, decimals: int, rate: float | None = None) -> np.ndarray:
    """Replace time stamps that were rounded when written by uniform ones.

    They are unchanged if they are uniform already, or if uniform times do not agree with all of them to within the
    rounding.

    Args:
        times: (N,) [s]; equal ones if they were rounded to less than the step.
        decimals: of the stamp as written that has most.
        rate: [1/s]; None: the roundest mean rate that agrees.
    """
    steps = np.diff(times)
    if len(times) < 3 or not (np.isfinite(times).all() and steps.min() >= 0.0 and times[-1] > times[0]):
        return times
    steps = steps * (rate or 1.0 / max(float(np.median(steps)), 1e-9))
    whole = bool(steps.min() > 0.5 and np.abs(steps - np.round(steps)).max() < MAX_STEP_ERROR)
    if rate and whole:
        return times  # not rounded: a double step is a missing row
    rounding = 0.5 * 10.0**-decimals * ROUNDING_SLACK
    mean = (len(times) - 1) / (times[-1] - times[0])
    rounder = [float(round(mean, -digits)) for digits in range(len(str(int(mean))) - 1, -1, -1)]
    for candidate in [rate] if rate else [*(rounder[-1:] if whole else rounder), *([] if whole else [mean])]:
        if not candidate or not candidate > 0.0:
            continue
        starts = times - np.arange(len(times)) / candidate
        if starts.max() - starts.min() <= 2.0 * rounding:
            return round(0.5 * (starts.max() + starts.min()), 9) + np.arange(len(times)) / candidate
    return times


def _decimals(cell: str) -> int:
    """Digits after the decimal point without trailing zeros, corrected by the exponent."""
    mantissa, _, exponent = cell.lower().partition("e")
    digits = len(mantissa.partition(".")[2].rstrip("0"))
    return digits - int(exponent) if exponent else digits
