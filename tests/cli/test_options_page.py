"""The page of options lists every option of the two longest verbs, and no option that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from solver.cli import find_verbs, parser
from solver.cli.settings_file import NOT_STORED

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/options.md"
REMOVED = {"--no-synchronisation", "--soft", "--together", "--hold-unshown", "--asymmetric"}


def options(verb: str) -> set[str]:
    """Names of a verb's own options."""
    verbs = parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    actions = verbs[verb]._actions  # type: ignore[index,call-overload]
    return {a.option_strings[-1] for a in actions if a.option_strings and a.dest not in NOT_STORED - {"output"}}


@pytest.mark.parametrize(("verb", "following"), [("identify", "## dance"), ("dance", "In Python")])
def test_every_option_has_a_row(verb: str, following: str) -> None:
    """A new option states who needs it."""
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index(f"\n## {verb}\n") : text.index(following)]
    assert sorted(options(verb) - set(re.findall(r"`(--[a-z-]+)", section))) == []


def test_the_page_names_present_options_only() -> None:
    """An option that is renamed or removed is renamed or removed on the page."""
    known = {"--help", "--help-all"} | REMOVED
    for module in find_verbs():
        known |= options(module.__name__.rsplit(".", 1)[-1].replace("_", "-"))
    named = set(re.findall(r"`(--[a-z-]+)", PAGE.read_text(encoding="utf-8"))) - {"--method"}
    assert named <= known
    assert not REMOVED & options("identify")
