"""Former names of verbs and options: scripts and settings files may use them, the help does not show them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

FORMER_VERBS = {"identify-bench": "identify-fixed-base"}
"""The verb's name by its former name."""


def replace_former_verb(words: Sequence[str]) -> list[str]:
    """A command line whose verb has its present name."""
    return [FORMER_VERBS.get(word, word) if place == 0 else word for place, word in enumerate(words)]


def add_former_name(parser: argparse._ActionsContainer, option: str, former: str) -> None:
    """Accept the former name of an option that the parser already has."""
    parser._option_string_actions[former] = parser._option_string_actions[option]
