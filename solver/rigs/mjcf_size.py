"""Size of the model that MuJoCo would build from an MJCF file, checked first: a few words can mean gigabytes."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree.ElementTree import Element

from ..errors import InputError
from .safe_xml import read_xml

MAX_BODIES = 5_000
"""Largest number of bodies and points of flexible bodies. MuJoCo's time grows with its square, and 5,000 take about ten
seconds; robots have some hundred."""
MAX_GRID_POINTS = 4_000_000
"""Largest number of points of a height field or computed texture."""
MAX_RESERVED = 10_000
"""Largest number of values that a file may reserve per body, joint and so on, and of keyframes."""
GRIDS = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}
REPLICATING_TAGS = ("replicate", "flexcomp", "composite")
"""Elements that create as many copies as their count."""


def check_size(path: Path, root: Element) -> None:
    """Check that a file, with all files that it includes or attaches, is within the limits of this module.

    Args:
        path: of the file.
        root: its outermost element.

    Raises:
        InputError: it is too large, an included file is not XML, or files include each other in a circle.
    """
    count = _SizeCounter(path).count_file(root, path, ())
    if count > MAX_BODIES:
        problem = f"creates {count} bodies and points, the limit is {MAX_BODIES}"
        remedy = "Remove what is not part of the robot, for example <replicate> or <flexcomp>"
        raise InputError(path, problem, remedy=remedy)


class _SizeCounter:
    def __init__(self, main: Path) -> None:
        self.main = main
        self.known: dict[Path, int] = {}
        self.models: dict[str, Path] = {}

    def count_file(self, root: Element, file: Path, within: tuple[Path, ...]) -> int:
        """Bodies and points that a file creates."""
        for model in root.iter("model"):
            if (found := self._resolve_file(model.get("file"), file)) is not None:
                self.models[model.get("name", found.stem)] = found
        return self._count_element(root, file, (*within, file.resolve()))

    def _count_element(self, element: Element, file: Path, within: tuple[Path, ...]) -> int:
        """Bodies and points that an element and its children create."""
        tag = str(element.tag)
        if tag in GRIDS:
            self._check_grid(element, file)
        elif tag == "size":
            for key, value in element.items():
                if key.startswith(("nuser_", "nkey")) and _parse_count(value) > MAX_RESERVED:
                    problem = f"reserves {value} numbers, the limit is {MAX_RESERVED}"
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
            problem = f"has {sides[0]} x {sides[1]} points, the limit is {MAX_GRID_POINTS}"
            name = element.get("name", "")
            raise InputError(file, problem, place=f"<{element.tag} {name!r}>", remedy="Remove it: no robot needs it")

    def _count_included(self, name: str | None, file: Path, within: tuple[Path, ...]) -> int:
        """Bodies and points of another file; 0 for a missing one, which MuJoCo refuses."""
        found = self._resolve_file(name, file)
        if found is None:
            return 0
        if found in within:
            raise InputError(file, f"includes {name!r}, which includes this file", remedy="Remove the circular include")
        if found not in self.known:
            self.known[found] = self.count_file(read_xml(found), found, within)
        return self.known[found]

    def _resolve_file(self, name: str | None, file: Path) -> Path | None:
        """The path of a file, relative to the main file or to the file that names it; None if it is missing."""
        places = [folder / name for folder in (self.main.parent, file.parent)] if name else []
        return next((place.resolve() for place in places if os.path.isfile(place)), None)


def _parse_count(text: str) -> int:
    """Parse a whole number; 0 for anything else, which MuJoCo refuses."""
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        return 0
