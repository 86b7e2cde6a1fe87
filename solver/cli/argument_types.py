"""Types of command-line arguments: numbers with bounds, paths, names."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..assets import marker_sets
from ..errors import InvalidValue
from ..options.declared import ANY, COUNT, JOBS, NATURAL, NOT_NEGATIVE, PART, POSITIVE, SEED, SHARE, Range
from ..person import STATURES

FASTEST = 1e5
"""[1/s] No dance is sampled faster."""
MOST_EFFORT = 10.0


def argument(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader of texts as the type of a command-line argument: what it refuses is reported with the option's name."""

    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except InvalidValue as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


number, positive, not_negative = argument(ANY.parse), argument(POSITIVE.parse), argument(NOT_NEGATIVE.parse)
share, part = argument(SHARE.parse), argument(PART.parse)
count, natural, seed = argument(COUNT.parse), argument(NATURAL.parse), argument(SEED.parse)
jobs = argument(JOBS.parse)
rate = argument(Range(0.0, FASTEST, above=True).parse)
effort = argument(Range(0.0, MOST_EFFORT, above=True).parse)


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


def stature(text: str) -> float:
    """Height of a person."""
    low, high = STATURES
    if not low <= (value := number(text)) <= high:
        raise argparse.ArgumentTypeError(f"must lie between {low:g} and {high:g} m, as people's do, not {value:g}")
    return float(value)


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
