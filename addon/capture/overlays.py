"""Overlays of live capture in the 3D view: marker errors and balance."""

from __future__ import annotations

import bpy
import gpu

from ..base.draw_handlers import DrawHandlers
from ..base.solver_api import ScenePose
from ..display import marker_errors, overlays
from ..display.centroidal_overlay import CROSS_SIZE
from ..display.properties import study_settings
from ..drawing.primitives import (
    BOLD_WIDTH,
    FLOOR_OFFSET,
    LINE_WIDTH,
    Colour,
    circle_points,
    cross_lines,
    draw_lines,
    fill_floor,
)
from .control import Capture

SUPPORT_COLOUR: Colour = (0.35, 0.75, 1.00, 0.22)
OUTSIDE_COLOUR: Colour = (1.00, 0.25, 0.20, 0.30)
COM_COLOUR: Colour = (1.00, 0.82, 0.25, 1.0)
ZMP_COLOUR: Colour = (0.95, 0.35, 0.85, 1.0)
RADIUS = 0.02
"""[m] Radius of the ring around the zero-moment point."""


def enable(on: bool) -> None:
    """Add or remove the overlays, which replace those of the study's files."""
    HANDLERS.enable(on)
    for predicates, own in (
        (overlays.Overrides.balance, Capture.shows_balance),
        (overlays.Overrides.trial, Capture.moves_body),
    ):
        if own in predicates:
            predicates.remove(own)
        if on:
            predicates.append(own)


def _draw() -> None:
    session, context = Capture.session, bpy.context
    if session is None or session.pose is None or not context.space_data.overlay.show_overlays:
        return
    gpu.state.blend_set("ALPHA")
    if study_settings(context).show_support:
        _balance(session.pose)
    if session.pose.measured is not None and session.pose.modelled is not None:
        marker_errors.draw(session.pose.measured, session.pose.modelled)
    gpu.state.blend_set("NONE")


def _balance(pose: ScenePose) -> None:
    fill_floor(pose.polygon, SUPPORT_COLOUR if pose.margin is None or pose.margin >= 0.0 else OUTSIDE_COLOUR)
    foot = pose.com * (1.0, 1.0, 0.0) + (0.0, 0.0, FLOOR_OFFSET)
    draw_lines(cross_lines(pose.com, CROSS_SIZE), COM_COLOUR, BOLD_WIDTH)
    draw_lines([pose.com, foot], COM_COLOUR, LINE_WIDTH)
    if pose.zmp is not None:
        corners = circle_points(pose.zmp, RADIUS)
        draw_lines(
            [point for k in range(len(corners)) for point in (corners[k - 1], corners[k])], ZMP_COLOUR, BOLD_WIDTH
        )


HANDLERS = DrawHandlers(bpy.types.SpaceView3D, ((_draw, "POST_VIEW"),))
