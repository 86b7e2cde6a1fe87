"""The live check over the 3D view: balance, forces, links that fail, and the worst margins in words."""

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
from . import gravity_arcs
from . import link_highlights as link_tints
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
"""[px] Radii of the ZMP, of the hoop below the centre of mass, and of its symbol."""
SHADOW_COLOUR: Colour = (0.05, 0.05, 0.06, 0.9)
PALE_COLOUR: Colour = (0.72, 0.72, 0.74, 1.0)
LINE_LETTERS = 70
"""Letters in a line of what went wrong."""
CORNER_DISTANCE, SMALLEST_WIDTH = 12.0, 230.0
"""[px] From the corner; least width of the read-out, which would jump about otherwise."""


def enable(on: bool) -> None:
    """Draw from now on, instead of what stands in a study's files, or no more."""
    HANDLERS.enable(on)
    instead: tuple[tuple[list, object], ...] = (
        (overlays.Overrides.balance, LiveCheck.shows_balance),
        (overlays.Overrides.colours, LiveCheck.shows_excitation),
    )
    for listed, own in instead:
        if own in listed:
            listed.remove(own)
        if on:
            listed.append(own)
    if not on:
        link_tints.ShapeBatches.clear()


def _find_shown() -> tuple[CheckSession, bpy.types.Object, LiveSettings] | None:
    """What to draw by in this view."""
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
    link_tints.draw_highlights(bpy.context, body, links)
    gpu.state.blend_set("ALPHA")
    if settings.show_arc and session.results is not None:
        gravity_arcs.draw_arcs(session.results, current_time(scene(bpy.context)))
    if frame is not None:
        _draw_support(frame, settings)
    gpu.state.blend_set("NONE")


def _draw_support(frame: SceneFrame, settings: LiveSettings) -> None:
    """What carries the body, and what it has to push."""
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
    """Of the centre of mass over the floor: outside the polygon a body at rest falls, a moving one may not."""
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
    """The centre of mass, its foot on the floor, and the ZMP, at a size that does not depend on the view."""
    size, lying = drawing.interface_scale(), com_colour(frame)
    x, y, z = frame.com
    foot, com = _to_pixels((x, y, 0.0)), _to_pixels((x, y, z))
    if foot is not None:
        (_draw_circle if lying == PASS_COLOUR else _draw_cross)(foot, FOOT_RADIUS * size, lying)
        if lying != PASS_COLOUR:  # two marks on the floor: each has to say which it is
            drawing.draw_text("CoM", foot[0] - 38 * size, foot[1] - 4 * size, 10 * size, shadow=True)
    if frame.zmp is not None:
        zmp, colour = _to_pixels((*frame.zmp, 0.0)), PASS_COLOUR if frame.balanced else FAIL_COLOUR
        if zmp is not None:
            _draw_diamond(zmp, ZMP_RADIUS * size, colour)
            drawing.draw_text("ZMP", zmp[0] + 14 * size, zmp[1] - 12 * size, 10 * size, shadow=True)
    if com is not None:
        _draw_com_symbol(com, COM_RADIUS * size)


def _draw_labels(labels: list[tuple[str, np.ndarray]]) -> None:
    """Words beside places of the view, those of one place below each other."""
    size = drawing.interface_scale()
    found = [(words, _to_pixels((float(x), float(y), float(z)))) for words, (x, y, z) in labels]
    seen = [(words, place) for words, place in found if place is not None]
    lines = gravity_arcs.separate_labels([place for _, place in seen], 13.0 * size)
    for (words, _), (x, y) in zip(seen, lines, strict=True):
        drawing.draw_text(words, x + 12 * size, y + 4 * size, 10 * size, shadow=True)


def _to_pixels(point: tuple[float, float, float]) -> np.ndarray | None:
    region, view = require(bpy.context.region, "region"), require(bpy.context.region_data, "3D view")
    place = location_3d_to_region_2d(region, view, point)
    return None if place is None else np.array(place)


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
    drawing.fill_convex(centre + (radius + 2.5) * corners, SHADOW_COLOUR)
    drawing.fill_convex(centre + radius * corners, colour)


def _draw_com_symbol(centre: np.ndarray, radius: float) -> None:
    """The draughtsman's sign of a centre of mass: a disc quartered dark and light."""
    rim = _circle(centre, radius)
    drawing.fill_convex(_circle(centre, radius + 1.5), SHADOW_COLOUR)
    drawing.fill_convex(rim, (1.0, 1.0, 1.0, 1.0))
    quarter = len(rim) // 4
    for start in (0, 2 * quarter):
        part = [rim[(start + k) % len(rim)] for k in range(quarter + 1)]
        drawing.fill_convex([centre, *part], SHADOW_COLOUR)


def _draw_readout(session: CheckSession, frame: SceneFrame | None, fresh: bool) -> None:
    """The worst margins in the lower right corner, left of the sidebar."""
    size = drawing.interface_scale()
    rows = [
        (words, colour, drawing.TEXT_COLOUR if row == 0 or frame is not None else PALE_COLOUR)
        for row, (words, colour) in enumerate(readout_rows(session, frame, fresh))
    ]
    width, height = drawing.text_box_size(rows)
    width = max(width, SMALLEST_WIDTH * size)
    drawing.draw_text_box(
        rows, (_right_edge() - width - CORNER_DISTANCE * size, CORNER_DISTANCE * size), (width, height)
    )


def readout_rows(session: CheckSession, frame: SceneFrame | None, fresh: bool) -> list[tuple[str, Colour]]:
    """Lines of the read-out with the colours of their boxes."""
    if session.problem:
        return [(words, FAIL_COLOUR) for words in textwrap.wrap(session.problem, LINE_LETTERS)]
    if frame is None:
        return [(describe_progress(session.results).capitalize(), UNKNOWN_COLOUR)]
    title, colour = ("Failing", FAIL_COLOUR) if frame.failed else ("Feasible", PASS_COLOUR)
    if not fresh:
        title, colour = f"{title}, checking the change", UNKNOWN_COLOUR
    posed = " (this posture, at rest)" if session.shows_unkeyed_posture else ""
    return [(title + posed, colour), *((words, margin_colour(margin)) for words, margin in worst_margins(frame))]


def _right_edge() -> float:
    """[px] Where the sidebar begins if it lies over the view."""
    context = bpy.context
    edge = float(context.region.width)
    for region in context.area.regions:
        if region.type == "UI" and region.width > 1 and context.preferences.system.use_region_overlap:
            edge = min(edge, float(region.x - context.region.x))
    return edge


HANDLERS = DrawHandlers(bpy.types.SpaceView3D, ((_draw_space, "POST_VIEW"), (_draw_text, "POST_PIXEL")))
