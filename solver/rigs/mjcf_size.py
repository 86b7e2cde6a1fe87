"""Size of what an MJCF file makes MuJoCo build, found before it is built: a few words of it can mean gigabytes."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree.ElementTree import Element

from ..errors import InputError
from .safe_xml import read_xml

MAX_BODIES = 5_000
"""Bodies and points of flexible ones: MuJoCo's time grows with the square of their number, and 5,000 take about ten
seconds. Robots have some hundred."""
MAX_GRID_POINTS = 4_000_000
"""Points of a height field, or of an image that is computed."""
MAX_RESERVED = 10_000
"""Numbers that a file may reserve for every body, joint and so on, and keyframes that it may reserve."""
GRIDS = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}
REPLICATING_TAGS = ("replicate", "flexcomp", "composite")
"""Elements with a count of what they make."""


def check_size(path: Path, root: Element) -> None:
    """See that a file, with those that it includes or attaches, stays within the limits of this module.

    Args:
        path: of the file.
        root: its outermost element.

    Raises:
        InputError: it does not, a file that it includes is no XML, or files include each other in a circle.
    """
    count = _SizeCounter(path).count_file(root, path, ())
    if count > MAX_BODIES:
        problem = f"makes {count} bodies and points, up to {MAX_BODIES} are read"
        raise InputError(path, problem, remedy="Remove what is no part of the robot, as by <replicate> or <flexcomp>")


class _SizeCounter:
    def __init__(self, main: Path) -> None:
        self.main = main
        self.known: dict[Path, int] = {}
        self.models: dict[str, Path] = {}

    def count_file(self, root: Element, file: Path, within: tuple[Path, ...]) -> int:
        """Parts that a whole file becomes."""
        for model in root.iter("model"):
            if (found := self._resolve_file(model.get("file"), file)) is not None:
                self.models[model.get("name", found.stem)] = found
        return self._count_element(root, file, (*within, file.resolve()))

    def _count_element(self, element: Element, file: Path, within: tuple[Path, ...]) -> int:
        """Bodies and points that an element and all below it become."""
        tag = str(element.tag)
        if tag in GRIDS:
            self._check_grid(element, file)
        elif tag == "size":
            for key, value in element.items():
                if key.startswith(("nuser_", "nkey")) and _parse_count(value) > MAX_RESERVED:
                    problem = f"reserves {value} numbers, up to {MAX_RESERVED} are read"
                    raise InputError(file, problem, place=f"<size {key}>", remedy="Lower it")
        elif tag == "include":
            return self._count_included(element.get("file"), file, within)
        elif tag == "attach":
            attached = self.models.get(element.get("model", ""))
            return 0 if attached is None else self._count_included(str(attached), file, within)
        own = sum(self._count_element(inner, file, within) for inner in element)
        if tag in REPLICATING_TAGS:
            copies = 1
            for number in element.get("count", "1").split():
                copies *= max(_parse_count(number), 1)
            return copies * max(own, 1)
        return own + (tag == "body")

    def _check_grid(self, element: Element, file: Path) -> None:
        sides = [_parse_count(element.get(key, "0")) for key in GRIDS[str(element.tag)]]
        if sides[0] * sides[1] > MAX_GRID_POINTS:
            problem = f"holds {sides[0]} x {sides[1]} points, up to {MAX_GRID_POINTS} are read"
            name = element.get("name", "")
            raise InputError(file, problem, place=f"<{element.tag} {name!r}>", remedy="Remove it: no robot needs it")

    def _count_included(self, name: str | None, file: Path, within: tuple[Path, ...]) -> int:
        """Parts of another file; none of one that is not there, which MuJoCo refuses."""
        found = self._resolve_file(name, file)
        if found is None:
            return 0
        if found in within:
            raise InputError(file, f"includes {name!r}, which includes it", remedy="Remove the circle")
        if found not in self.known:
            self.known[found] = self.count_file(read_xml(found), found, within)
        return self.known[found]

    def _resolve_file(self, name: str | None, file: Path) -> Path | None:
        """The file of a name, beside the main file or beside the one that names it."""
        places = [folder / name for folder in (self.main.parent, file.parent)] if name else []
        return next((place.resolve() for place in places if os.path.isfile(place)), None)


def _parse_count(text: str) -> int:
    """A whole number; 0 for what is none, which MuJoCo refuses."""
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        return 0
