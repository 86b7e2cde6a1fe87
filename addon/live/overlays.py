"""Overlays of the live check in the 3D view: balance, forces, highlighted links, and the worst margins as text."""

from __future__ import annotations

import textwrap
from functools import lru_cache
from typing import ClassVar

import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

from ..base.bpy_access import require, scene
from ..base.draw_handlers import DrawHandlers
from ..base.scene_rigs import find_rigs
from ..base.solver_api import SceneFrame, errors
from ..display import overlays
from ..drawing import primitives as drawing
from ..drawing.primitives import Colour
from ..scene.action import current_time
from ..scene.colours import SEQUENTIAL_MAP
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
from .session import CheckSession, describe_progress, worst_margins

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
    FrameBatches.cached = None
    for mark in (_circle, _cross, _diamond, _com_symbol):
        mark.cache_clear()
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
    if settings.show_balance and session.results is not None:
        gravity_arcs.draw_arcs(session.results, current_time(scene(bpy.context)))
    if settings.show_balance and frame is not None:
        _draw_support(frame)
    gpu.state.blend_set("NONE")


class FrameBatches:
    """What is drawn in space of one result, on the GPU until another result is shown."""

    cached: ClassVar[FrameBatches | None] = None

    def __init__(self, frame: SceneFrame) -> None:
        x, y, z = frame.com
        fill = (*(PASS_COLOUR if frame.balanced else FAIL_COLOUR)[:3], SUPPORT_ALPHA)
        corners = [(a, b, drawing.FLOOR_OFFSET) for a, b in frame.polygon]
        self.frame, self.com_colour = frame, com_colour(frame)
        self.outline = drawing.line_batch(drawing.outline_lines(frame.polygon))
        self.floor = drawing.polygon_batch([(corners, fill)])
        self.com_line = drawing.line_batch([(x, y, z), (x, y, 0.0)])
        self.arrows = drawing.line_batch(force_lines(frame))

    @classmethod
    def get(cls, frame: SceneFrame) -> FrameBatches:
        """Those of a result."""
        if cls.cached is None or cls.cached.frame is not frame:
            cls.cached = cls(frame)
        return cls.cached


def _draw_support(frame: SceneFrame) -> None:
    """Draw support polygon, centre of mass and foot forces."""
    shown = FrameBatches.get(frame)
    drawing.draw_line_batch(shown.outline, SHADOW_COLOUR, 2.5 * drawing.LINE_WIDTH)
    drawing.draw_polygon_batch(shown.floor)
    drawing.draw_line_batch(shown.outline, PASS_COLOUR if frame.balanced else FAIL_COLOUR, drawing.LINE_WIDTH)
    drawing.draw_line_batch(shown.com_line, SHADOW_COLOUR, 2.0 * drawing.LINE_WIDTH)
    drawing.draw_line_batch(shown.com_line, shown.com_colour, drawing.LINE_WIDTH)
    drawing.draw_line_batch(shown.arrows, SHADOW_COLOUR, drawing.BOLD_WIDTH + 2.0)
    drawing.draw_line_batch(shown.arrows, FORCE_COLOUR, drawing.BOLD_WIDTH)


def com_colour(frame: SceneFrame) -> Colour:
    """Colour of the projected centre of mass: outside the polygon a body at rest falls, but a moving one may not."""
    if not len(frame.polygon) or is_inside(frame.polygon, frame.com[:2]):
        return PASS_COLOUR
    return NEAR_COLOUR if frame.balanced else FAIL_COLOUR


def _draw_text() -> None:
    shown = _find_shown()
    if shown is None:
        return
    session, body, settings = shown
    frame, fresh = session.current_result(scene(bpy.context))
    gpu.state.blend_set("ALPHA")
    if frame is not None and settings.show_balance:
        _draw_balance_marks(frame)
    if settings.show_balance and session.results is not None:
        _draw_labels(gravity_arcs.visible_labels(session.results, current_time(scene(bpy.context))))
    if settings.show_words:
        _draw_readout(session, body, frame, fresh)
    if session.current_excitation(scene(bpy.context)):
        drawing.draw_legend(SEQUENTIAL_MAP, EXCITATION_TITLE, EXCITATION_TICKS)
    gpu.state.blend_set("NONE")


def _draw_balance_marks(frame: SceneFrame) -> None:
    """Draw the centre of mass, its projection on the floor, and the ZMP, at a constant size in pixels."""
    size, colour_of_com = drawing.interface_scale(), FrameBatches.get(frame).com_colour
    x, y, z = frame.com
    foot, com = _to_pixels((x, y, 0.0)), _to_pixels((x, y, z))
    if foot is not None:
        inside = colour_of_com == PASS_COLOUR
        mark, wide, narrow = (_circle, 4.5, 2.5) if inside else (_cross, 6.0, 3.5)
        with drawing.moved_to(foot):
            drawing.draw_line_batch(mark(FOOT_RADIUS * size * (1.0 if inside else 1.15)), SHADOW_COLOUR, wide)
            drawing.draw_line_batch(mark(FOOT_RADIUS * size), colour_of_com, narrow)
        if colour_of_com != PASS_COLOUR:  # two marks on the floor need labels
            drawing.draw_text("CoM", foot[0] - 38 * size, foot[1] - 4 * size, 10 * size, shadow=True)
    if frame.zmp is not None:
        zmp, colour = _to_pixels((*frame.zmp, 0.0)), PASS_COLOUR if frame.balanced else FAIL_COLOUR
        if zmp is not None:
            with drawing.moved_to(zmp):
                drawing.draw_polygon_batch(_diamond(ZMP_RADIUS * size, colour))
            drawing.draw_text("ZMP", zmp[0] + 14 * size, zmp[1] - 12 * size, 10 * size, shadow=True)
    if com is not None:
        with drawing.moved_to(com):
            drawing.draw_polygon_batch(_com_symbol(COM_RADIUS * size))


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


@lru_cache(8)
def _circle(radius: float) -> gpu.types.GPUBatch | None:
    """Lines of a circle [px] around the origin."""
    rim = _rim(radius)
    return drawing.line_batch(np.stack([rim, np.roll(rim, -1, axis=0)], axis=1).reshape(-1, 2))


@lru_cache(8)
def _cross(radius: float) -> gpu.types.GPUBatch | None:
    """Lines of a diagonal cross [px] around the origin."""
    return drawing.line_batch(radius * np.array([(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)]))


@lru_cache(8)
def _diamond(radius: float, colour: Colour) -> gpu.types.GPUBatch | None:
    """A diamond [px] around the origin with a dark border."""
    corners = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
    return drawing.polygon_batch([((radius + 2.5) * corners, SHADOW_COLOUR), (radius * corners, colour)])


@lru_cache(8)
def _com_symbol(radius: float) -> gpu.types.GPUBatch | None:
    """The symbol of a centre of mass [px] around the origin: a disc with dark and light quarters."""
    rim = _rim(radius)
    quarter = len(rim) // 4
    dark = [
        (np.array([(0.0, 0.0), *(rim[(start + k) % len(rim)] for k in range(quarter + 1))]), SHADOW_COLOUR)
        for start in (0, 2 * quarter)
    ]
    return drawing.polygon_batch([(_rim(radius + 1.5), SHADOW_COLOUR), (rim, (1.0, 1.0, 1.0, 1.0)), *dark])


def _rim(radius: float) -> np.ndarray:
    return drawing.circle_points((0.0, 0.0), radius, 0.0)[:, :2]


def _draw_readout(session: CheckSession, body: bpy.types.Object, frame: SceneFrame | None, fresh: bool) -> None:
    """Draw the readout in the lower right corner, left of the sidebar; wrapped where it would cover the legend."""
    size, right = drawing.interface_scale(), _right_edge() - CORNER_DISTANCE * drawing.interface_scale()
    room = right - drawing.left_edge() - drawing.LEGEND_ROOM * size
    name = name_among_rigs(scene(bpy.context), body)
    rows = [
        (text, colour, drawing.TEXT_COLOUR if row == 0 or frame is not None else PALE_COLOUR)
        for row, (text, colour) in enumerate(readout_rows(session, name, frame, fresh))
    ]
    rows = drawing.wrap_rows(rows, max(room, SMALLEST_WIDTH * size))
    width, height = drawing.text_box_size(rows)
    width = max(width, SMALLEST_WIDTH * size)
    drawing.draw_text_box(rows, (right - width, CORNER_DISTANCE * size), (width, height))


def name_among_rigs(scene: bpy.types.Scene, body: bpy.types.Object) -> str:
    """The name of a rig; empty if it is the scene's only one."""
    return body.name if len(find_rigs(scene)) > 1 else ""


def readout_rows(session: CheckSession, name: str, frame: SceneFrame | None, fresh: bool) -> list[tuple[str, Colour]]:
    """Lines of the readout with the colours of their squares; the first one starts with the rig's name, if given."""
    start = f"{name}: " if name else ""
    if session.problem:
        return [(text, FAIL_COLOUR) for text in textwrap.wrap(start + session.problem, LINE_LETTERS)]
    if frame is None:
        return [(start + describe_progress(session.results).capitalize(), UNKNOWN_COLOUR)]
    title, colour = ("Failing", FAIL_COLOUR) if frame.failed else ("Feasible", PASS_COLOUR)
    if not fresh:
        title, colour = f"{title} before the change, checking", UNKNOWN_COLOUR
    posed = " (unkeyed pose, at rest)" if session.shows_unkeyed_posture else ""
    return [(start + title + posed, colour), *((text, margin_colour(margin)) for text, margin in worst_margins(frame))]


def _right_edge() -> float:
    """[px] Right edge of the free area: the sidebar's left edge if it overlaps the view."""
    context = bpy.context
    edge = float(context.region.width)
    for region in context.area.regions:
        if region.type == "UI" and region.width > 1 and context.preferences.system.use_region_overlap:
            edge = min(edge, float(region.x - context.region.x))
    return edge


HANDLERS = DrawHandlers(bpy.types.SpaceView3D, ((_draw_space, "POST_VIEW"), (_draw_text, "POST_PIXEL")))
