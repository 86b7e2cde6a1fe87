"""Locations of the data files: tables of the built-in rigs, and marker sets."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent.parent
_INSTALLED = _PACKAGE / "assets"
ASSETS = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent / "assets"
"""Inside an installed package; next to the package in a clone and in Blender's extension."""
MARKER_SETS = ASSETS / "markersets"
LANDMARKS = "landmarks"
"""Stem of the file of anatomical landmarks that the marker sets refer to."""


def marker_sets() -> tuple[str, ...]:
    """Names of the built-in marker sets, for `load_marker_set`."""
    return tuple(sorted(path.stem for path in MARKER_SETS.glob("*.json") if path.stem != LANDMARKS))


@cache
def read_asset(name: str) -> dict[str, Any]:
    """The JSON file ``assets/rigs/<name>.json``; callers must not change it."""
    data: dict[str, Any] = json.loads((ASSETS / "rigs" / f"{name}.json").read_text(encoding="utf-8"))
    return data
