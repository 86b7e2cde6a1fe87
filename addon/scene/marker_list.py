"""A list of markers with their locations, which the user approves; stored with the scene, saved as a marker set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bpy

from ..base import bpy_access
from ..base.solver_api import display_name

CHOSEN_BY_USER = "chosen"
"""Reason for a location that the user chose, as in `solver.scene.marker_set`."""
DECIDED_REASONS = (CHOSEN_BY_USER, "given")
"""Reasons for locations that recognition must not change."""


def _search_places(row: MarkerListRow, context: bpy.types.Context, text: str) -> Iterator[str]:
    """Locations whose name contains the typed text."""
    from ..base.solver_api import marker_set

    return (name for place in marker_set.marker_locations() if text.lower() in (name := display_name(place)))


def _on_place_changed(row: MarkerListRow, context: bpy.types.Context) -> None:
    row.because, row.confidence, row.use = CHOSEN_BY_USER, 1.0, bool(row.place)


def _on_row_selected(markers: MarkerList, context: bpy.types.Context) -> None:
    """Select the marker of the active row, if it is visible, and no other."""
    from .recording import RECORDING_KEY, find_recordings

    if not 0 <= markers.index < len(markers.rows):
        return
    name = markers.rows[markers.index].name
    for child in find_recordings(bpy_access.scene(context)):
        for item in child.objects:
            if item.get(RECORDING_KEY) and item.visible_get():
                stem, dot, number = item.name.rpartition(".")
                item.select_set(item.name == name or (bool(dot) and stem == name and number.isdigit()))


class MarkerListRow(bpy.types.PropertyGroup):
    """Location of one recorded marker; the group's name is the marker's."""

    place: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Location",
        description="Landmark or link to which the marker is attached",
        search=_search_places,
        search_options=set(),
        update=_on_place_changed,
    )
    use: bpy.props.BoolProperty(name="Use", description="Use this marker for tracking")  # type: ignore[valid-type]
    confidence: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Confidence", description="Confidence in the location", min=0.0, max=1.0, subtype="FACTOR"
    )
    because: bpy.props.StringProperty(description="Reason for the location")  # type: ignore[valid-type]
    others: bpy.props.StringProperty(description="Alternative links, one per line")  # type: ignore[valid-type]


class MarkerList(bpy.types.PropertyGroup):
    """A marker set for approval."""

    rows: bpy.props.CollectionProperty(type=MarkerListRow)  # type: ignore[valid-type]
    index: bpy.props.IntProperty(update=_on_row_selected)  # type: ignore[valid-type]
    tree: bpy.props.StringProperty(description="The recognised marker set as JSON")  # type: ignore[valid-type]


def marker_list(scene: bpy.types.Scene) -> MarkerList:
    """The scene's marker list."""
    return scene.exciting_dance_markers  # type: ignore[attr-defined]


def active_row(scene: bpy.types.Scene) -> MarkerListRow | None:
    """The active row of the marker list; None without one."""
    markers = marker_list(scene)
    return markers.rows[markers.index] if 0 <= markers.index < len(markers.rows) else None


def is_uncertain(row: MarkerListRow) -> bool:
    """Whether the user should check a row."""
    from ..base.solver_api import marker_set

    return bool(row.use) and row.confidence < marker_set.REVIEW_CONFIDENCE


def fill_list(scene: bpy.types.Scene, tree: dict[str, Any]) -> None:
    """Replace the list by a marker set; the first uncertain row becomes the active one.

    Raises:
        InputError: the tree is not a marker set.
    """
    from ..base.solver_api import marker_set

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
    """The marker set as approved in the list.

    Args:
        scene: scene with the list.
        only_decided: whether to include only markers that the user decided, so that the others are recognised again.

    Raises:
        UnknownLandmark: a row contains an unknown location.
    """
    from ..base.solver_api import marker_set

    markers = marker_list(scene)
    tree = json.loads(markers.tree)
    rows = [marker_set.MarkerRow(row.name, row.place, row.use, row.confidence, row.because) for row in markers.rows]
    marker_set_tree = marker_set.apply_decisions(tree, rows)
    if not only_decided:
        return marker_set_tree
    before = {placed.marker: placed.use for placed in marker_set.marker_rows(tree)}
    decided = {row.marker for row in rows if row.reason in DECIDED_REASONS or row.use != before[row.marker]}
    return {
        **marker_set_tree,
        "markers": {name: entry for name, entry in marker_set_tree["markers"].items() if name in decided},
        "aliases": {},
    }


CLASSES = (MarkerListRow, MarkerList)
