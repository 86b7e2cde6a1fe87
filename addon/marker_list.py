"""Where each recorded marker sits, as a list that is approved: kept with the scene, saved as a marker set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bpy

from . import typed
from .values import spoken

CHOSEN = "chosen"
"""Why a marker sits where somebody put it, as `solver.scene.marker_set` says it."""
STANDS = (CHOSEN, "given")
"""What tells a place that is not to be looked for again."""


def _places(row: MarkerRow, context: bpy.types.Context, text: str) -> Iterator[str]:
    """The places whose words hold what is typed."""
    from .values import marker_set

    return (said for place in marker_set.places() if text.lower() in (said := spoken(place)))


def _placed(row: MarkerRow, context: bpy.types.Context) -> None:
    row.because, row.confidence, row.use = CHOSEN, 1.0, bool(row.place)


def _picked(markers: MarkerList, context: bpy.types.Context) -> None:
    """Select the marker of the active row where it is shown, and no other one."""
    from .recording import RECORDING_KEY, recordings_in

    if not 0 <= markers.index < len(markers.rows):
        return
    name = markers.rows[markers.index].name
    for child in recordings_in(typed.scene(context)):
        for item in child.objects:
            if item.get(RECORDING_KEY) and item.visible_get():
                stem, dot, number = item.name.rpartition(".")
                item.select_set(item.name == name or (bool(dot) and stem == name and number.isdigit()))


class MarkerRow(bpy.types.PropertyGroup):
    """Where one recorded marker sits; its name is the marker's."""

    place: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Place",
        description="Landmark or link on which it sits",
        search=_places,
        search_options=set(),
        update=_placed,
    )
    use: bpy.props.BoolProperty(name="Use", description="Track by it; unticked it is rejected")  # type: ignore[valid-type]
    confidence: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Sure", description="Share of certainty in the place", min=0.0, max=1.0, subtype="FACTOR"
    )
    because: bpy.props.StringProperty(description="What tells its place")  # type: ignore[valid-type]
    others: bpy.props.StringProperty(description="Links it could lie on instead, a line each")  # type: ignore[valid-type]


class MarkerList(bpy.types.PropertyGroup):
    """A marker set to be approved."""

    rows: bpy.props.CollectionProperty(type=MarkerRow)  # type: ignore[valid-type]
    index: bpy.props.IntProperty(update=_picked)  # type: ignore[valid-type]
    tree: bpy.props.StringProperty(description="The set as it was found, JSON")  # type: ignore[valid-type]


def markers_of(scene: bpy.types.Scene) -> MarkerList:
    """The scene's list."""
    return scene.exciting_dance_markers  # type: ignore[attr-defined]


def row_of(scene: bpy.types.Scene) -> MarkerRow | None:
    """The active row; None without one."""
    markers = markers_of(scene)
    return markers.rows[markers.index] if 0 <= markers.index < len(markers.rows) else None


def doubtful(row: MarkerRow) -> bool:
    """Whether a row is to be looked at before it is believed."""
    from .values import marker_set

    return bool(row.use) and row.confidence < marker_set.LOWEST


def fill(scene: bpy.types.Scene, tree: dict[str, Any]) -> None:
    """Show a marker set, instead of what was shown; the first row to be looked at becomes the active one.

    Raises:
        InputError: it is none.
    """
    from .values import marker_set

    found, markers = marker_set.placed_markers(tree), markers_of(scene)
    markers.rows.clear()
    for placed in found:
        row = markers.rows.add()
        row.name, row.place = placed.marker, spoken(placed.place)
        row.use, row.confidence, row.because = placed.use, placed.confidence, placed.because
        row.others = "\n".join(map(spoken, placed.others))
    markers.tree = json.dumps(tree)
    markers.index = next((k for k, row in enumerate(markers.rows) if doubtful(row)), 0)


def decided(scene: bpy.types.Scene, *, alone: bool = False) -> dict[str, Any]:
    """The marker set as it is approved now.

    Args:
        scene: whose list.
        alone: only with the markers that somebody decided: the others are to be looked for again.

    Raises:
        UnknownPlace: something stands in a row that is no place.
    """
    from .values import marker_set

    markers = markers_of(scene)
    tree = json.loads(markers.tree)
    rows = [marker_set.PlacedMarker(row.name, row.place, row.use, row.confidence, row.because) for row in markers.rows]
    whole = marker_set.approved(tree, rows)
    if not alone:
        return whole
    before = {placed.marker: placed.use for placed in marker_set.placed_markers(tree)}
    told = {row.marker for row in rows if row.because in STANDS or row.use != before[row.marker]}
    return {
        **whole,
        "markers": {name: entry for name, entry in whole["markers"].items() if name in told},
        "aliases": {},
    }


CLASSES = (MarkerRow, MarkerList)
