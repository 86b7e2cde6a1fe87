"""Where the data files lie: the tables of the built-in rigs and the marker sets."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "assets"
ASSETS = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent / "assets"
"""Inside the package where pip installed it, beside it in a clone and in Blender's extension."""
MARKER_SETS = ASSETS / "markersets"
LANDMARKS = "landmarks"
"""Stem of the file beside the marker sets that they stand on."""


def marker_sets() -> tuple[str, ...]:
    """Names of the built-in sets, as `load_marker_set` takes them."""
    return tuple(sorted(path.stem for path in MARKER_SETS.glob("*.json") if path.stem != LANDMARKS))
