"""Extensions of the command line: packages that it finds by their folder and that no other package imports."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType


def find_extensions() -> tuple[ModuleType, ...]:
    """The sub-package ``verbs`` of every package that has one, in alphabetical order.

    It holds ``VERBS``, modules with a function `add` like those of `cli`, and ``compare(options)``, which prints the
    comparison of a result of its own kind, or returns False.
    """
    names = sorted(path.parent.parent.name for path in Path(__file__).parent.parent.glob("*/verbs/__init__.py"))
    return tuple(import_module(f"..{name}.verbs", __package__) for name in names)
