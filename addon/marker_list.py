"""Where each recorded marker sits, as a list that is approved: kept with the scene, saved as a marker set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bpy

from . import bpy_access as typed
from .solver_api import display_name

CHOSEN_BY_USER = "chosen"
"""Why a marker sits where somebody put it, as `solver.scene.marker_set` says it."""
DECIDED_REASONS = (CHOSEN_BY_USER, "given")
"""What tells a place that is not to be looked for again."""


def _search_places(row: MarkerRow, context: bpy.types.Context, text: str) -> Iterator[str]:
    """The places whose words hold what is typed."""
    from .solver_api import marker_set

    return (said for place in marker_set.marker_locations() if text.lower() in (said := display_name(place)))


def _on_place_changed(row: MarkerRow, context: bpy.types.Context) -> None:
    row.because, row.confidence, row.use = CHOSEN_BY_USER, 1.0, bool(row.place)


def _on_row_selected(markers: MarkerList, context: bpy.types.Context) -> None:
    """Select the marker of the active row where it is shown, and no other one."""
    from .recording import RECORDING_KEY, find_recordings

    if not 0 <= markers.index < len(markers.rows):
        return
    name = markers.rows[markers.index].name
    for child in find_recordings(typed.scene(context)):
        for item in child.objects:
            if item.get(RECORDING_KEY) and item.visible_get():
                stem, dot, number = item.name.rpartition(".")
                item.select_set(item.name == name or (bool(dot) and stem == name and number.isdigit()))


class MarkerRow(bpy.types.PropertyGroup):
    """Where one recorded marker sits; its name is the marker's."""

    place: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Place",
        description="Landmark or link on which it sits",
        search=_search_places,
        search_options=set(),
        update=_on_place_changed,
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
    index: bpy.props.IntProperty(update=_on_row_selected)  # type: ignore[valid-type]
    tree: bpy.props.StringProperty(description="The set as it was found, JSON")  # type: ignore[valid-type]


def marker_list(scene: bpy.types.Scene) -> MarkerList:
    """The scene's list."""
    return scene.exciting_dance_markers  # type: ignore[attr-defined]


def active_row(scene: bpy.types.Scene) -> MarkerRow | None:
    """The active row; None without one."""
    markers = marker_list(scene)
    return markers.rows[markers.index] if 0 <= markers.index < len(markers.rows) else None


def is_uncertain(row: MarkerRow) -> bool:
    """Whether a row is to be looked at before it is believed."""
    from .solver_api import marker_set

    return bool(row.use) and row.confidence < marker_set.REVIEW_CONFIDENCE


def fill_list(scene: bpy.types.Scene, tree: dict[str, Any]) -> None:
    """Show a marker set, instead of what was shown; the first row to be looked at becomes the active one.

    Raises:
        InputError: it is none.
    """
    from .solver_api import marker_set

    found, markers = marker_set.marker_rows(tree), marker_list(scene)
    markers.rows.clear()
    for placed in found:
        row = markers.rows.add()
        row.name, row.place = placed.marker, display_name(placed.location)
        row.use, row.confidence, row.because = placed.use, placed.confidence, placed.reason
        row.others = "\n".join(map(display_name, placed.alternatives))
    markers.tree = json.dumps(tree)
    markers.index = next((k for k, row in enumerate(markers.rows) if is_uncertain(row)), 0)


def build_marker_set(scene: bpy.types.Scene, *, only_decided: bool = False) -> dict[str, Any]:
    """The marker set as it is approved now.

    Args:
        scene: whose list.
        only_decided: only with the markers that somebody decided: the others are to be looked for again.

    Raises:
        UnknownPlace: something stands in a row that is no place.
    """
    from .solver_api import marker_set

    markers = marker_list(scene)
    tree = json.loads(markers.tree)
    rows = [marker_set.MarkerRow(row.name, row.place, row.use, row.confidence, row.because) for row in markers.rows]
    whole = marker_set.apply_decisions(tree, rows)
    if not only_decided:
        return whole
    before = {placed.marker: placed.use for placed in marker_set.marker_rows(tree)}
    told = {row.marker for row in rows if row.reason in DECIDED_REASONS or row.use != before[row.marker]}
    return {
        **whole,
        "markers": {name: entry for name, entry in whole["markers"].items() if name in told},
        "aliases": {},
    }


CLASSES = (MarkerRow, MarkerList)
