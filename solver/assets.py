"""Locations of the data files: tables of the built-in rigs, and marker sets."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "assets"
ASSETS = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent / "assets"
"""Inside an installed package; next to the package in a clone and in Blender's extension."""
MARKER_SETS = ASSETS / "markersets"
LANDMARKS = "landmarks"
"""Stem of the file of anatomical landmarks that the marker sets refer to."""


def marker_sets() -> tuple[str, ...]:
    """Names of the built-in marker sets, for `load_marker_set`."""
    return tuple(sorted(path.stem for path in MARKER_SETS.glob("*.json") if path.stem != LANDMARKS))
