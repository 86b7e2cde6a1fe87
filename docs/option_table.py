"""The table of options: one row for each option of the command line, from the parsers that read them."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator

from solver.cli import parser
from solver.cli.settings_file import NOT_STORED, show_all
from solver.options.declared import Declaration


def format_options() -> str:
    """One row per option in Markdown; verbs whose option has the same words share a row."""
    verbs: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for verb, *row in _find_options():
        verbs[tuple(row)].append(verb)  # type: ignore[index]
    rows = [" | ".join(("", *row, ", ".join(names), "")).strip() for row, names in sorted(verbs.items())]
    return "\n".join(["| option | meaning | takes | verbs |", "|---|---|---|---|", *rows, ""])


def _find_options() -> Iterator[tuple[str, str, str, str]]:
    """Verb, option, meaning and accepted values."""
    (verbs,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    for verb, own in verbs.choices.items():
        show_all(own)
        words = own._get_formatter()
        for action in own._actions:
            if action.option_strings and action.dest not in NOT_STORED - {"output"}:
                declared: Declaration | None = getattr(action, "declared", None)
                text = words._expand_help(action) + (declared.remark if declared else "")
                takes = words._format_args(action, action.dest.upper()) if action.nargs != 0 else ""
                if declared and declared.is_number:
                    takes = declared.words + (declared.unit and f" [{declared.unit}]")
                yield verb, f"`{action.option_strings[-1]}`", _cell(text), _cell(takes)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("``", "`")
