"""The live check over the 3D view: balance, forces, links that fail, and the worst margins in words."""

from __future__ import annotations

import textwrap

import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

from .. import drawing, overlays
from ..action import times_at
from ..colours import GROWING
from ..drawing import Colour
from ..painters import Painters
from ..typed import scene, there
from ..values import SceneFrame, errors
from . import gravity_arcs, link_tints
from .marks import (
    EXCITATION,
    EXCITATION_TICKS,
    FAILS,
    HOLDS,
    NEAR,
    PUSHES,
    UNKNOWN,
    colour_of_margin,
    excitation_tints,
    forces,
    inside,
    tints,
)
from .properties import LiveSettings, live_settings
from .session import Session
from .switch import Live
from .words import progress, readout

SUPPORT_ALPHA = 0.28
DIAMOND, HOOP, SYMBOL = 6.0, 9.0, 8.0
"""[px] Radii of the ZMP, of the hoop below the centre of mass, and of its symbol."""
SHADOW: Colour = (0.05, 0.05, 0.06, 0.9)
PALE: Colour = (0.72, 0.72, 0.74, 1.0)
WIDE = 70
"""Letters in a line of what went wrong."""
EDGE, NARROWEST = 12.0, 230.0
"""[px] From the corner; least width of the read-out, which would jump about otherwise."""


def switch(on: bool) -> None:
    """Draw from now on, instead of what stands in a study's files, or no more."""
    PAINTERS.switch(on)
    instead: tuple[tuple[list, object], ...] = (
        (overlays.Instead.balance, Live.shows),
        (overlays.Instead.colours, Live.colours),
    )
    for listed, own in instead:
        if own in listed:
            listed.remove(own)
        if on:
            listed.append(own)
    if not on:
        link_tints.Shapes.forget()


def _shown() -> tuple[Session, bpy.types.Object, LiveSettings] | None:
    """What to draw by in this view."""
    context, session = bpy.context, Live.session
    if session is None or not context.space_data.overlay.show_overlays:
        return None
    try:
        where, body = session.found()
    except errors.SolverError:
        return None
    if where != context.scene or not body.visible_get():
        return None
    return session, body, live_settings(where)


def _draw_space() -> None:
    shown = _shown()
    if shown is None:
        return
    session, body, settings = shown
    frame, _ = session.reading(scene(bpy.context))
    links = excitation_tints(session.excitation(scene(bpy.context)))
    if frame is not None and settings.show_links:
        links |= tints(frame)
    link_tints.draw(bpy.context, body, links)
    gpu.state.blend_set("ALPHA")
    if settings.show_arc and session.readings is not None:
        gravity_arcs.draw_space(session.readings, times_at(scene(bpy.context)))
    if frame is not None:
        _support(frame, settings)
    gpu.state.blend_set("NONE")


def _support(frame: SceneFrame, settings: LiveSettings) -> None:
    """What carries the body, and what it has to push."""
    if settings.show_balance:
        colour = HOLDS if frame.balanced else FAILS
        drawing.lines(drawing.outline(frame.polygon), SHADOW, 2.5 * drawing.LINE)
        drawing.floor(frame.polygon, (*colour[:3], SUPPORT_ALPHA))
        x, y, z = frame.com
        drawing.lines([(x, y, z), (x, y, 0.0)], SHADOW, 2.0 * drawing.LINE)
        drawing.lines([(x, y, z), (x, y, 0.0)], com_colour(frame), drawing.LINE)
    if settings.show_forces:
        arrows = forces(frame)
        drawing.lines(arrows, SHADOW, drawing.BOLD + 2.0)
        drawing.lines(arrows, PUSHES, drawing.BOLD)


def com_colour(frame: SceneFrame) -> Colour:
    """Of the centre of mass over the floor: outside the polygon a body at rest falls, a moving one may not."""
    if not len(frame.polygon) or inside(frame.polygon, frame.com[:2]):
        return HOLDS
    return NEAR if frame.balanced else FAILS


def _draw_words() -> None:
    shown = _shown()
    if shown is None:
        return
    session, _, settings = shown
    frame, fresh = session.reading(scene(bpy.context))
    gpu.state.blend_set("ALPHA")
    if frame is not None and settings.show_balance:
        _marks(frame)
    if settings.show_arc and session.readings is not None:
        _name(gravity_arcs.labels(session.readings, times_at(scene(bpy.context))))
    if settings.show_words:
        _paper(session, frame, fresh)
    if session.excitation(scene(bpy.context)):
        drawing.legend(GROWING, EXCITATION, EXCITATION_TICKS)
    gpu.state.blend_set("NONE")


def _marks(frame: SceneFrame) -> None:
    """The centre of mass, its foot on the floor, and the ZMP, at a size that does not depend on the view."""
    size, lying = drawing.scale(), com_colour(frame)
    x, y, z = frame.com
    foot, com = _pixel((x, y, 0.0)), _pixel((x, y, z))
    if foot is not None:
        (_hoop if lying == HOLDS else _cross)(foot, HOOP * size, lying)
        if lying != HOLDS:  # two marks on the floor: each has to say which it is
            drawing.write("CoM", foot[0] - 38 * size, foot[1] - 4 * size, 10 * size, shadow=True)
    if frame.zmp is not None:
        zmp, colour = _pixel((*frame.zmp, 0.0)), HOLDS if frame.balanced else FAILS
        if zmp is not None:
            _diamond(zmp, DIAMOND * size, colour)
            drawing.write("ZMP", zmp[0] + 14 * size, zmp[1] - 12 * size, 10 * size, shadow=True)
    if com is not None:
        _symbol(com, SYMBOL * size)


def _name(labels: list[tuple[str, np.ndarray]]) -> None:
    """Words beside places of the view, those of one place below each other."""
    size = drawing.scale()
    found = [(words, _pixel((float(x), float(y), float(z)))) for words, (x, y, z) in labels]
    seen = [(words, place) for words, place in found if place is not None]
    lines = gravity_arcs.apart([place for _, place in seen], 13.0 * size)
    for (words, _), (x, y) in zip(seen, lines, strict=True):
        drawing.write(words, x + 12 * size, y + 4 * size, 10 * size, shadow=True)


def _pixel(point: tuple[float, float, float]) -> np.ndarray | None:
    region, view = there(bpy.context.region, "region"), there(bpy.context.region_data, "3D view")
    place = location_3d_to_region_2d(region, view, point)
    return None if place is None else np.array(place)


def _circle(centre: np.ndarray, radius: float, steps: int = 24) -> np.ndarray:
    return drawing.ring(centre, radius, 0.0, steps)[:, :2]


def _hoop(centre: np.ndarray, radius: float, colour: Colour) -> None:
    rim = _circle(centre, radius)
    around = np.stack([rim, np.roll(rim, -1, axis=0)], axis=1).reshape(-1, 2)
    drawing.lines(around, SHADOW, 4.5)
    drawing.lines(around, colour, 2.5)


def _cross(centre: np.ndarray, radius: float, colour: Colour) -> None:
    arms = radius * np.array([(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)])
    drawing.lines(centre + 1.15 * arms, SHADOW, 6.0)
    drawing.lines(centre + arms, colour, 3.5)


def _diamond(centre: np.ndarray, radius: float, colour: Colour) -> None:
    corners = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
    drawing.fan(centre + (radius + 2.5) * corners, SHADOW)
    drawing.fan(centre + radius * corners, colour)


def _symbol(centre: np.ndarray, radius: float) -> None:
    """The draughtsman's sign of a centre of mass: a disc quartered dark and light."""
    rim = _circle(centre, radius)
    drawing.fan(_circle(centre, radius + 1.5), SHADOW)
    drawing.fan(rim, (1.0, 1.0, 1.0, 1.0))
    quarter = len(rim) // 4
    for start in (0, 2 * quarter):
        part = [rim[(start + k) % len(rim)] for k in range(quarter + 1)]
        drawing.fan([centre, *part], SHADOW)


def _paper(session: Session, frame: SceneFrame | None, fresh: bool) -> None:
    """The worst margins in the lower right corner, left of the sidebar."""
    size = drawing.scale()
    rows = [
        (words, colour, drawing.INK if row == 0 or frame is not None else PALE)
        for row, (words, colour) in enumerate(rows_of(session, frame, fresh))
    ]
    width, height = drawing.paper_size(rows)
    width = max(width, NARROWEST * size)
    drawing.paper(rows, (_right_edge() - width - EDGE * size, EDGE * size), (width, height))


def rows_of(session: Session, frame: SceneFrame | None, fresh: bool) -> list[tuple[str, Colour]]:
    """Lines of the read-out with the colours of their boxes."""
    if session.trouble:
        return [(words, FAILS) for words in textwrap.wrap(session.trouble, WIDE)]
    if frame is None:
        return [(progress(session.readings).capitalize(), UNKNOWN)]
    title, colour = ("Failing", FAILS) if frame.failed else ("Feasible", HOLDS)
    if not fresh:
        title, colour = f"{title}, checking the change", UNKNOWN
    posed = " (this posture, at rest)" if session.posing else ""
    return [(title + posed, colour), *((words, colour_of_margin(margin)) for words, margin in readout(frame))]


def _right_edge() -> float:
    """[px] Where the sidebar begins if it lies over the view."""
    context = bpy.context
    edge = float(context.region.width)
    for region in context.area.regions:
        if region.type == "UI" and region.width > 1 and context.preferences.system.use_region_overlap:
            edge = min(edge, float(region.x - context.region.x))
    return edge


PAINTERS = Painters(bpy.types.SpaceView3D, ((_draw_space, "POST_VIEW"), (_draw_words, "POST_PIXEL")))
