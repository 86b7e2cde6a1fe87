"""Overlays of the live check in the 3D view: balance, forces, highlighted links, and the worst margins as text."""

from __future__ import annotations

import textwrap

import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

from .. import drawing, overlays
from ..action import current_time
from ..bpy_access import require, scene
from ..colours import SEQUENTIAL_MAP
from ..draw_handlers import DrawHandlers
from ..drawing import Colour
from ..solver_api import SceneFrame, errors
from . import gravity_arcs, link_highlights
from .check_colours import (
    EXCITATION_TICKS,
    EXCITATION_TITLE,
    FAIL_COLOUR,
    FORCE_COLOUR,
    NEAR_COLOUR,
    PASS_COLOUR,
    UNKNOWN_COLOUR,
    check_highlights,
    excitation_highlights,
    force_lines,
    is_inside,
    margin_colour,
)
from .control import LiveCheck
from .properties import LiveSettings, live_settings
from .session import CheckSession
from .status_text import describe_progress, worst_margins

SUPPORT_ALPHA = 0.28
ZMP_RADIUS, FOOT_RADIUS, COM_RADIUS = 6.0, 9.0, 8.0
"""[px] Radii of the ZMP mark, of the circle below the centre of mass, and of the centre-of-mass symbol."""
SHADOW_COLOUR: Colour = (0.05, 0.05, 0.06, 0.9)
PALE_COLOUR: Colour = (0.72, 0.72, 0.74, 1.0)
LINE_LETTERS = 70
"""Characters per line of an error message."""
CORNER_DISTANCE, SMALLEST_WIDTH = 12.0, 230.0
"""[px] Distance from the corner; minimum width of the readout, so that its size does not change all the time."""


def enable(on: bool) -> None:
    """Add or remove the overlays, which replace those of the study's files."""
    HANDLERS.enable(on)
    instead: tuple[tuple[list, object], ...] = (
        (overlays.Overrides.balance, LiveCheck.shows_balance),
        (overlays.Overrides.colours, LiveCheck.shows_excitation),
    )
    for predicates, own in instead:
        if own in predicates:
            predicates.remove(own)
        if on:
            predicates.append(own)
    if not on:
        link_highlights.ShapeBatches.clear()


def _find_shown() -> tuple[CheckSession, bpy.types.Object, LiveSettings] | None:
    """Session, rig and settings for this view; None if nothing is drawn in it."""
    context, session = bpy.context, LiveCheck.session
    if session is None or not context.space_data.overlay.show_overlays:
        return None
    try:
        where, body = session.find_scene_and_rig()
    except errors.SolverError:
        return None
    if where != context.scene or not body.visible_get():
        return None
    return session, body, live_settings(where)


def _draw_space() -> None:
    shown = _find_shown()
    if shown is None:
        return
    session, body, settings = shown
    frame, _ = session.current_result(scene(bpy.context))
    links = excitation_highlights(session.current_excitation(scene(bpy.context)))
    if frame is not None and settings.show_links:
        links |= check_highlights(frame)
    link_highlights.draw_highlights(bpy.context, body, links)
    gpu.state.blend_set("ALPHA")
    if settings.show_arc and session.results is not None:
        gravity_arcs.draw_arcs(session.results, current_time(scene(bpy.context)))
    if frame is not None:
        _draw_support(frame, settings)
    gpu.state.blend_set("NONE")


def _draw_support(frame: SceneFrame, settings: LiveSettings) -> None:
    """Draw support polygon, centre of mass and foot forces."""
    if settings.show_balance:
        colour = PASS_COLOUR if frame.balanced else FAIL_COLOUR
        drawing.draw_lines(drawing.outline_lines(frame.polygon), SHADOW_COLOUR, 2.5 * drawing.LINE_WIDTH)
        drawing.fill_floor(frame.polygon, (*colour[:3], SUPPORT_ALPHA))
        x, y, z = frame.com
        drawing.draw_lines([(x, y, z), (x, y, 0.0)], SHADOW_COLOUR, 2.0 * drawing.LINE_WIDTH)
        drawing.draw_lines([(x, y, z), (x, y, 0.0)], com_colour(frame), drawing.LINE_WIDTH)
    if settings.show_forces:
        arrows = force_lines(frame)
        drawing.draw_lines(arrows, SHADOW_COLOUR, drawing.BOLD_WIDTH + 2.0)
        drawing.draw_lines(arrows, FORCE_COLOUR, drawing.BOLD_WIDTH)


def com_colour(frame: SceneFrame) -> Colour:
    """Colour of the projected centre of mass: outside the polygon a body at rest falls, but a moving one may not."""
    if not len(frame.polygon) or is_inside(frame.polygon, frame.com[:2]):
        return PASS_COLOUR
    return NEAR_COLOUR if frame.balanced else FAIL_COLOUR


def _draw_text() -> None:
    shown = _find_shown()
    if shown is None:
        return
    session, _, settings = shown
    frame, fresh = session.current_result(scene(bpy.context))
    gpu.state.blend_set("ALPHA")
    if frame is not None and settings.show_balance:
        _draw_balance_marks(frame)
    if settings.show_arc and session.results is not None:
        _draw_labels(gravity_arcs.visible_labels(session.results, current_time(scene(bpy.context))))
    if settings.show_words:
        _draw_readout(session, frame, fresh)
    if session.current_excitation(scene(bpy.context)):
        drawing.draw_legend(SEQUENTIAL_MAP, EXCITATION_TITLE, EXCITATION_TICKS)
    gpu.state.blend_set("NONE")


def _draw_balance_marks(frame: SceneFrame) -> None:
    """Draw the centre of mass, its projection on the floor, and the ZMP, at a constant size in pixels."""
    size, colour_of_com = drawing.interface_scale(), com_colour(frame)
    x, y, z = frame.com
    foot, com = _to_pixels((x, y, 0.0)), _to_pixels((x, y, z))
    if foot is not None:
        (_draw_circle if colour_of_com == PASS_COLOUR else _draw_cross)(foot, FOOT_RADIUS * size, colour_of_com)
        if colour_of_com != PASS_COLOUR:  # two marks on the floor need labels
            drawing.draw_text("CoM", foot[0] - 38 * size, foot[1] - 4 * size, 10 * size, shadow=True)
    if frame.zmp is not None:
        zmp, colour = _to_pixels((*frame.zmp, 0.0)), PASS_COLOUR if frame.balanced else FAIL_COLOUR
        if zmp is not None:
            _draw_diamond(zmp, ZMP_RADIUS * size, colour)
            drawing.draw_text("ZMP", zmp[0] + 14 * size, zmp[1] - 12 * size, 10 * size, shadow=True)
    if com is not None:
        _draw_com_symbol(com, COM_RADIUS * size)


def _draw_labels(labels: list[tuple[str, np.ndarray]]) -> None:
    """Draw labels at positions in the view without overlap."""
    size = drawing.interface_scale()
    found = [(text, _to_pixels((float(x), float(y), float(z)))) for text, (x, y, z) in labels]
    visible = [(text, position) for text, position in found if position is not None]
    lines = gravity_arcs.separate_labels([position for _, position in visible], 13.0 * size)
    for (text, _), (x, y) in zip(visible, lines, strict=True):
        drawing.draw_text(text, x + 12 * size, y + 4 * size, 10 * size, shadow=True)


def _to_pixels(point: tuple[float, float, float]) -> np.ndarray | None:
    region, view = require(bpy.context.region, "region"), require(bpy.context.region_data, "3D view")
    position = location_3d_to_region_2d(region, view, point)
    return None if position is None else np.array(position)


def _circle(centre: np.ndarray, radius: float, steps: int = 24) -> np.ndarray:
    return drawing.circle_points(centre, radius, 0.0, steps)[:, :2]


def _draw_circle(centre: np.ndarray, radius: float, colour: Colour) -> None:
    rim = _circle(centre, radius)
    around = np.stack([rim, np.roll(rim, -1, axis=0)], axis=1).reshape(-1, 2)
    drawing.draw_lines(around, SHADOW_COLOUR, 4.5)
    drawing.draw_lines(around, colour, 2.5)


def _draw_cross(centre: np.ndarray, radius: float, colour: Colour) -> None:
    arms = radius * np.array([(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)])
    drawing.draw_lines(centre + 1.15 * arms, SHADOW_COLOUR, 6.0)
    drawing.draw_lines(centre + arms, colour, 3.5)


def _draw_diamond(centre: np.ndarray, radius: float, colour: Colour) -> None:
    corners = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
    drawing.fill_polygons([(centre + (radius + 2.5) * corners, SHADOW_COLOUR), (centre + radius * corners, colour)])


def _draw_com_symbol(centre: np.ndarray, radius: float) -> None:
    """Draw the symbol of a centre of mass: a disc with dark and light quarters."""
    rim = _circle(centre, radius)
    quarter = len(rim) // 4
    parts = [
        ([centre, *(rim[(start + k) % len(rim)] for k in range(quarter + 1))], SHADOW_COLOUR)
        for start in (0, 2 * quarter)
    ]
    drawing.fill_polygons([(_circle(centre, radius + 1.5), SHADOW_COLOUR), (rim, (1.0, 1.0, 1.0, 1.0)), *parts])


def _draw_readout(session: CheckSession, frame: SceneFrame | None, fresh: bool) -> None:
    """Draw the readout in the lower right corner, left of the sidebar; wrapped where it would cover the legend."""
    size, right = drawing.interface_scale(), _right_edge() - CORNER_DISTANCE * drawing.interface_scale()
    room = right - drawing.left_edge() - drawing.LEGEND_ROOM * size
    rows = [
        (text, colour, drawing.TEXT_COLOUR if row == 0 or frame is not None else PALE_COLOUR)
        for row, (text, colour) in enumerate(readout_rows(session, frame, fresh))
    ]
    rows = drawing.wrap_rows(rows, max(room, SMALLEST_WIDTH * size))
    width, height = drawing.text_box_size(rows)
    width = max(width, SMALLEST_WIDTH * size)
    drawing.draw_text_box(rows, (right - width, CORNER_DISTANCE * size), (width, height))


def readout_rows(session: CheckSession, frame: SceneFrame | None, fresh: bool) -> list[tuple[str, Colour]]:
    """Lines of the readout with the colours of their squares."""
    if session.problem:
        return [(text, FAIL_COLOUR) for text in textwrap.wrap(session.problem, LINE_LETTERS)]
    if frame is None:
        return [(describe_progress(session.results).capitalize(), UNKNOWN_COLOUR)]
    title, colour = ("Failing", FAIL_COLOUR) if frame.failed else ("Feasible", PASS_COLOUR)
    if not fresh:
        title, colour = f"{title} before the change, checking", UNKNOWN_COLOUR
    posed = " (unkeyed pose, at rest)" if session.shows_unkeyed_posture else ""
    return [(title + posed, colour), *((text, margin_colour(margin)) for text, margin in worst_margins(frame))]


def _right_edge() -> float:
    """[px] Right edge of the free area: the sidebar's left edge if it overlaps the view."""
    context = bpy.context
    edge = float(context.region.width)
    for region in context.area.regions:
        if region.type == "UI" and region.width > 1 and context.preferences.system.use_region_overlap:
            edge = min(edge, float(region.x - context.region.x))
    return edge


HANDLERS = DrawHandlers(bpy.types.SpaceView3D, ((_draw_space, "POST_VIEW"), (_draw_text, "POST_PIXEL")))
