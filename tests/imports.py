"""The imports of a file, read from its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Import:
    """One import statement's target."""

    path: Path
    line: int
    target: tuple[str, ...]
    """Dotted parts; of a relative import: from the repository's root."""
    relative: bool

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} imports {'.'.join(self.target)}"


def imports(path: Path, *, top_level_only: bool = False) -> Iterator[Import]:
    """Every import of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = path.relative_to(ROOT).parts[:-1]
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(path, node.lineno, tuple(alias.name.split(".")), False)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield Import(path, node.lineno, (*stem, alias.name), bool(node.level))
