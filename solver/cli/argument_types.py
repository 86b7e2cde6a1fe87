"""Command-line arguments: their types (numbers with bounds, paths, names), and the options of a class of `options`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..base.assets import marker_sets
from ..base.errors import InvalidValue
from ..options.declared import (
    ANY,
    COUNT,
    JOBS,
    NATURAL,
    NOT_NEGATIVE,
    PART,
    POSITIVE,
    SEED,
    SHARE,
    Declaration,
    Range,
    declarations,
)
from ..values.person import STATURES

MAX_RATE = 1e5
"""[1/s] No dance is sampled faster."""
MAX_EFFORT = 10.0
METAVARS = {"1/s": "HZ"}
"""Placeholders of units that are none themselves."""


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
rate = argument(Range(0.0, MAX_RATE, above=True).parse)
effort = argument(Range(0.0, MAX_EFFORT, above=True).parse)
stature = argument(Range(*STATURES).parse)


def by_name(
    words: Sequence[str], option: str, form: str = "NAME=NUMBER", read: Callable[[str], Any] = number
) -> dict[str, Any]:
    """Values by name, numbers from NAME=NUMBER each by default.

    Raises:
        InvalidValue: no name, or no value; names the option.
    """
    result = {}
    for word in words:
        name, equals, value = word.partition("=")
        try:
            result[name] = read(value)
        except argparse.ArgumentTypeError:
            equals = ""
        if not equals or not name:
            raise InvalidValue(f"{option} takes {form}, not {word!r}")
    return result


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


def add_options(
    group: argparse._ActionsContainer, kind: type, *names: str, without: tuple[str, ...] = (), usual: bool = True
) -> None:
    """Add the options of a class, or the named ones; nothing given means the default of the class.

    Args:
        group: receives them.
        kind: of `Options`.
        names: of fields; none: all.
        without: fields that the verb does not take.
        usual: the help names the defaults of the class.
    """
    for declared in _selected(kind, names):
        if declared.name in without:
            continue
        words = declared.meaning + (f" (default: {declared.usual})" if usual and declared.usual else "")
        if declared.kind is bool:
            action = group.add_argument(declared.flag, action="store_true", default=None, help=words)
        else:
            action = group.add_argument(
                declared.flag,
                type=argument(declared.parse),
                nargs="+" if declared.many else None,
                metavar=_metavar(declared),
                help=words,
            )
        action.declared = declared  # type: ignore[attr-defined]


def given(options: argparse.Namespace, kind: type, *names: str) -> dict[str, Any]:
    """Values that were given for the options of a class, by field."""
    found = {each.name: getattr(options, each.name, None) for each in _selected(kind, names)}
    return {n: tuple(value) if isinstance(value, list) else value for n, value in found.items() if value is not None}


def _selected(kind: type, names: tuple[str, ...]) -> list[Declaration]:
    return [
        each for each in declarations(kind).values() if (each.name in names if names else not each.option.in_code_only)
    ]


def _metavar(declared: Declaration) -> str:
    if declared.choices:
        return f"{{{','.join(declared.choices)}}}"
    if declared.unit:
        return METAVARS.get(declared.unit, declared.unit.upper())
    return "NAME" if declared.kind is str else "N" if declared.option.range.whole else "X"
