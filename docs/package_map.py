"""The map of packages, drawn from the imports: ``./dance python docs/package_map.py`` prints it as text.

Each package stands one row above the highest of those that it imports. An arrow that follows from others is left out.
"""

from __future__ import annotations

import ast
import html
from dataclasses import dataclass
from pathlib import Path

from tests.imports import ROOT, imports

WIDTH, HEIGHT, GAP, RISE = 112, 30, 14, 74
"""[px] Size of a box, room between two boxes of a row, and from one row to the next."""


@dataclass(frozen=True)
class Package:
    """A package or a module directly below ``solver`` or ``addon``."""

    name: str
    is_folder: bool
    summary: str
    """First line of its docstring."""
    files: int
    lines: int
    imports: frozenset[str]
    """Packages and modules of the same level that any of its files imports."""


def read_packages(house: Path) -> dict[str, Package]:
    """Everything directly below a folder, by name."""
    names = {path.name: path for path in house.iterdir() if (path / "__init__.py").exists()}
    names |= {path.stem: path for path in house.glob("*.py") if path.name != "__init__.py"}
    return {name: _read(name, path, frozenset(names)) for name, path in sorted(names.items())}


def _read(name: str, path: Path, names: frozenset[str]) -> Package:
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    face = path / "__init__.py" if path.is_dir() else path
    house = path.parent.relative_to(ROOT).parts
    targets = (one.target for file in files for one in imports(file) if one.relative)
    used = {target[len(house)] for target in targets if target[: len(house)] == house and len(target) > len(house)}
    texts = [file.read_text(encoding="utf-8") for file in files]
    summary = ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) or ""
    lines = sum(len(text.splitlines()) for text in texts)
    return Package(name, path.is_dir(), summary.partition("\n")[0], len(files), lines, frozenset(used & names - {name}))


def reachable(packages: dict[str, Package]) -> dict[str, set[str]]:
    """All that each package imports, directly or not.

    Raises:
        ValueError: packages import each other in a circle.
    """
    found: dict[str, set[str]] = {}

    def visit(name: str, path: tuple[str, ...]) -> set[str]:
        if name in path:
            raise ValueError(f"packages import each other: {' -> '.join((*path[path.index(name) :], name))}")
        if name not in found:
            direct = packages[name].imports
            found[name] = set(direct).union(*(visit(one, (*path, name)) for one in direct))
        return found[name]

    for name in packages:
        visit(name, ())
    return found


def find_rows(packages: dict[str, Package]) -> list[list[str]]:
    """Names of folders by row, the lowest first: each one row above the highest that it imports.

    Within a row they follow the places of those that they import, so that few arrows cross.
    """
    below = folders_below(packages)
    row: dict[str, int] = {}
    for name in sorted(below, key=lambda name: (len(below[name]), name)):
        row[name] = 1 + max((row[one] for one in below[name]), default=-1)
    place: dict[str, float] = {}
    rows = []
    for level in range(max(row.values(), default=-1) + 1):
        members = [name for name in row if row[name] == level]
        members.sort(key=lambda name: sum(place[one] for one in below[name]) / max(len(below[name]), 1))
        place |= {name: column - len(members) / 2 for column, name in enumerate(members)}
        rows.append(members)
    return rows


def folders_below(packages: dict[str, Package]) -> dict[str, set[str]]:
    """The folders that each folder imports, directly or not."""
    folders = {name for name, package in packages.items() if package.is_folder}
    return {name: below & folders for name, below in reachable(packages).items() if name in folders}


def find_arrows(packages: dict[str, Package]) -> list[tuple[str, str]]:
    """Pairs of folders of which the first imports the second, without those that follow from others."""
    below = folders_below(packages)
    return [
        (name, one) for name in below for one in sorted(below[name]) if not any(one in below[w] for w in below[name])
    ]


def draw(packages: dict[str, Package]) -> str:
    """The map as SVG, in the colours of the page."""
    rows = find_rows(packages)
    width = max(len(row) for row in rows) * (WIDTH + GAP) + GAP
    height = len(rows) * RISE
    corner = {
        name: ((width - len(row) * (WIDTH + GAP) + GAP) / 2 + column * (WIDTH + GAP), height - (level + 1) * RISE + GAP)
        for level, row in enumerate(rows)
        for column, name in enumerate(row)
    }
    parts = [
        f'<svg viewBox="0 0 {width} {height}" style="max-width: {width}px; width: 100%" role="img" '
        'aria-label="Packages and what they import" font-size="13" text-anchor="middle">'
    ]
    for name, one in find_arrows(packages):
        (x, y), (to_x, to_y) = corner[name], corner[one]
        start, end = (x + WIDTH / 2, y + HEIGHT), (to_x + WIDTH / 2, to_y)
        middle = (start[1] + end[1]) / 2
        curve = f"M {start[0]:.0f} {start[1]:.0f} C {start[0]:.0f} {middle:.0f} {end[0]:.0f} {middle:.0f}"
        parts.append(
            f'<path d="{curve} {end[0]:.0f} {end[1]:.0f}" fill="none" stroke="currentColor" stroke-opacity=".45"/>'
        )
    for name, (x, y) in corner.items():
        title = html.escape(packages[name].summary)
        box = 'fill="var(--color-background-secondary, #eee)" stroke="currentColor"'
        parts.append(
            f'<g><title>{title}</title><rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="5" {box}/>'
            f'<text x="{x + WIDTH / 2:.0f}" y="{y + 20:.0f}" fill="currentColor">{html.escape(name)}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def format_table(packages: dict[str, Package]) -> str:
    """Packages, then modules, in Markdown: each below what imports it."""
    below = reachable(packages)
    order = sorted(packages.values(), key=lambda one: (not one.is_folder, -len(below[one.name]), one.name))
    rows = ["| name | what it is | files | lines | imports |", "|---|---|--:|--:|---|"]
    for one in order:
        summary = one.summary.replace("|", "\\|").replace("<", "&lt;")
        used = ", ".join(f"`{name}`" for name in sorted(one.imports))
        rows.append(f"| `{one.name}` | {summary} | {one.files} | {one.lines:,} | {used} |")
    return "\n".join(rows)


def format_map() -> str:
    """Map and table of the library and of the add-on, in Markdown."""
    parts = []
    for house in ("solver", "addon"):
        packages = read_packages(ROOT / house)
        parts += [f"## `{house}`", "```{raw} html", draw(packages), "```", format_table(packages)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    for house in ("solver", "addon"):
        print(f"{house}\n{format_table(read_packages(ROOT / house))}\n")
