"""Command-line options of a class of `solver.options`."""

from __future__ import annotations

import argparse
from typing import Any

from ..options.declared import Declaration, declarations
from .argument_types import argument

METAVARS = {"1/s": "HZ"}
"""Placeholders of units that are none themselves."""


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
