"""Types of command-line arguments: numbers with bounds, paths, names."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..assets import marker_sets
from ..errors import InvalidValue
from ..numerals import numeral
from ..person import STATURES

Number = TypeVar("Number", int, float)
WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
FASTEST = 1e5
"""[1/s] No dance is sampled faster."""
LARGEST_SEED = 2**32 - 1
MOST_SAMPLES = 10**6
MOST_EFFORT = 10.0


def number(text: str) -> float:
    """A finite number, in the digits of this program's files."""
    try:
        return numeral(text.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def by_name(words: Sequence[str], option: str) -> dict[str, float]:
    """Numbers by name, from NAME=NUMBER each.

    Raises:
        InvalidValue: no name, or no number; names the option.
    """
    result = {}
    for word in words:
        name, equals, value = word.partition("=")
        try:
            result[name] = number(value)
        except argparse.ArgumentTypeError:
            equals = ""
        if not equals or not name:
            raise InvalidValue(f"{option} takes NAME=NUMBER, not {word!r}")
    return result


def whole(text: str) -> int:
    """A whole number."""
    if not WHOLE.fullmatch(text.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def positive(text: str) -> float:
    """A number above 0."""
    return _bounded(number(text), number(text) > 0.0, "be above 0")


def not_negative(text: str) -> float:
    """A number from 0."""
    return _bounded(number(text), number(text) >= 0.0, "not be negative")


def stature(text: str) -> float:
    """Height of a person."""
    low, high = STATURES
    return _bounded(number(text), low <= number(text) <= high, f"lie between {low:g} and {high:g} m, as people's do")


def share(text: str) -> float:
    """A number above 0 and up to 1."""
    return _bounded(number(text), 0.0 < number(text) <= 1.0, "lie above 0 and up to 1")


def part(text: str) -> float:
    """A number from 0 and below 1."""
    return _bounded(number(text), 0.0 <= number(text) < 1.0, "lie from 0 to below 1")


def rate(text: str) -> float:
    """Samples a second."""
    return _bounded(number(text), 0.0 < number(text) <= FASTEST, f"lie above 0 and up to {FASTEST:g}")


def effort(text: str) -> float:
    """How much of the usual search."""
    return _bounded(number(text), 0.0 < number(text) <= MOST_EFFORT, f"lie above 0 and up to {MOST_EFFORT:g}")


def count(text: str) -> int:
    """A whole number from 1."""
    return _bounded(whole(text), 1 <= whole(text) <= MOST_SAMPLES, f"be a whole number from 1 to {MOST_SAMPLES}")


def natural(text: str) -> int:
    """A whole number from 0."""
    return _bounded(whole(text), 0 <= whole(text) <= MOST_SAMPLES, f"be a whole number from 0 to {MOST_SAMPLES}")


def seed(text: str) -> int:
    """Seed of random choices."""
    return _bounded(whole(text), 0 <= whole(text) <= LARGEST_SEED, f"be a whole number from 0 to {LARGEST_SEED}")


def jobs(text: str) -> int:
    """Processes at once; -1 for all processors."""
    return _bounded(whole(text), whole(text) == -1 or whole(text) >= 1, "be a whole number from 1, or -1 for all")


def path(text: str) -> Path:
    """A path that names something."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a path is needed, this one is empty")
    return Path(text)


def marker_set(text: str) -> str:
    """A built-in marker set, or a file of one."""
    if Path(text).suffix.lower() != ".json" and text not in marker_sets():
        raise argparse.ArgumentTypeError(f"{text!r} is no .json file, and none of {', '.join(marker_sets())}")
    return text


def path_ending(*endings: str) -> Callable[[str], Path]:
    """A path whose suffix says how to write the file."""

    def checked(text: str) -> Path:
        if (found := path(text)).suffix.lower() not in endings:
            raise argparse.ArgumentTypeError(f"{text!r} has no known suffix: end it with {' or '.join(endings)}")
        return found

    return checked


def _bounded(value: Number, holds: bool, words: str) -> Number:
    if not holds:
        raise argparse.ArgumentTypeError(f"must {words}, not {value:g}")
    return value
