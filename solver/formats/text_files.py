"""Reading text files: lines and cells, numbers with their position, and correction of rounded time stamps."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from math import inf
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.files import read_bytes
from ..base.numerals import PLAIN, numeral

Warn = Callable[[str], None]
"""Receives one sentence about an irregularity that did not stop the reader."""
MISSING_CELLS = frozenset(
    ["", "nan", "-nan", "na", "n/a", "none", "null", "-", "*", "1.#qnan", "-1.#ind", "1.#ind", "nan(ind)"]
)
"""Cells that mean a missing sample, in lower case."""
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""First bytes of a text in UTF-16, as spreadsheets save it."""
MIN_RATE = 5.0
"""[1/s] Lowest plausible rate of a recording; slower time stamps are not in seconds."""
RATE_DIFFERENCE = 0.02
"""Largest relative difference between a stated rate and that of the time stamps."""
MAX_STEP_ERROR = 1e-6
"""Largest deviation of unrounded time stamps from a multiple of the step, relative to the step."""
MAX_NUMBER_ERROR = 0.8
"""Largest difference between advances of frame number and time, in usual steps; whole milliseconds round at 240 Hz by
.2 of a step."""
MAX_SHOWN = 3
"""Placeholders that a warning lists."""
ROUNDING_SLACK = 1.02
"""A rounded time stamp may be off by half its last digit; a little more for the binary representation."""


def ignore_warning(message: str) -> None:
    """Discard warnings."""


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a text file, without line ends.

    Raises:
        InputError: missing, unreadable, empty, or not text.
    """
    content = read_bytes(path)
    try:
        text = content.decode("utf-16" if content.startswith(UTF_16_MARKS) else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    if "\0" in text:
        raise InputError(path, "is not a text file", remedy="Check that its suffix matches its format")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


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
            yield number, cells


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


def find_placeholders(positions: np.ndarray) -> np.ndarray:
    """Samples (N, M) of positions (N, M, 3) with one number in all three coordinates.

    Programs write 0 0 0, 9999999 9999999 9999999 or -9999 -9999 -9999 for a marker that was not seen.
    """
    return np.asarray((positions[:, :, 0] == positions[:, :, 1]) & (positions[:, :, 1] == positions[:, :, 2]))


def remove_placeholders(positions: np.ndarray, path: str | Path, warn: Warn) -> None:
    """Set such samples of positions (N, M, 3) to NaN, with a warning."""
    lost = find_placeholders(positions)
    if lost.any():
        shown = ", ".join(f"({n:.9g}, {n:.9g}, {n:.9g})" for n in np.unique(positions[lost][:, 0])[:MAX_SHOWN])
        warn(f"{Path(path).name}: {int(lost.sum())} marker samples at exactly {shown} are treated as missing")
        positions[lost] = np.nan


def check_times(times: np.ndarray, lines: Sequence[int], path: str | Path) -> None:
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


def check_rate(times: np.ndarray, lines: Sequence[int], path: str | Path, rate: float | None = None) -> None:
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


def check_uniform(times: np.ndarray, lines: Sequence[int], path: str | Path) -> None:
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


def undo_rounding(times: np.ndarray, cells: Sequence[str], rate: float | None = None) -> np.ndarray:
    """Replace time stamps that were rounded when written by uniform ones.

    They are unchanged if they are uniform already, or if uniform times do not agree with all of them to within the
    rounding.

    Args:
        times: (N,) [s]; equal ones if they were rounded to less than the step.
        cells: the N time stamps as written, which determine the number of decimals.
        rate: [1/s]; None: the roundest mean rate that agrees.
    """
    steps = np.diff(times)
    if len(times) < 3 or not (np.isfinite(times).all() and steps.min() >= 0.0 and times[-1] > times[0]):
        return times
    steps = steps * (rate or 1.0 / max(float(np.median(steps)), 1e-9))
    whole = bool(steps.min() > 0.5 and np.abs(steps - np.round(steps)).max() < MAX_STEP_ERROR)
    if rate and whole:
        return times  # not rounded: a double step is a missing row
    rounding = 0.5 * 10.0 ** -max(_decimals(cell) for cell in cells) * ROUNDING_SLACK
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
