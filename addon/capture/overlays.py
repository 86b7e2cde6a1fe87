"""Live motion over the 3D view: markers with lines to where the body has them, and balance."""

from __future__ import annotations

import bpy
import gpu

from .. import marker_errors, overlays
from ..drawing import BOLD, LIFT, LINE, Colour, cross, floor, lines, ring
from ..estimate_marks import CROSS
from ..painters import Painters
from ..typed import scene
from ..values import ScenePose
from .properties import capture_settings
from .switch import Capture

SUPPORT: Colour = (0.35, 0.75, 1.00, 0.22)
OUTSIDE: Colour = (1.00, 0.25, 0.20, 0.30)
MASS: Colour = (1.00, 0.82, 0.25, 1.0)
POINT: Colour = (0.95, 0.35, 0.85, 1.0)
RADIUS = 0.02
"""[m] Of the ring about the zero-moment point."""


def switch(on: bool) -> None:
    """Draw from now on, instead of what stands in a study's files, or no more."""
    PAINTERS.switch(on)
    for listed, own in ((overlays.Instead.balance, Capture.shows), (overlays.Instead.trial, Capture.moves)):
        if own in listed:
            listed.remove(own)
        if on:
            listed.append(own)


def _draw() -> None:
    session, context = Capture.session, bpy.context
    if session is None or session.pose is None or not context.space_data.overlay.show_overlays:
        return
    settings = capture_settings(scene(context))
    gpu.state.blend_set("ALPHA")
    if settings.show_balance:
        _balance(session.pose)
    if settings.show_markers and session.pose.measured is not None and session.pose.modelled is not None:
        marker_errors.draw(session.pose.measured, session.pose.modelled)
    gpu.state.blend_set("NONE")


def _balance(pose: ScenePose) -> None:
    floor(pose.polygon, SUPPORT if pose.margin is None or pose.margin >= 0.0 else OUTSIDE)
    foot = pose.com * (1.0, 1.0, 0.0) + (0.0, 0.0, LIFT)
    lines(cross(pose.com, CROSS), MASS, BOLD)
    lines([pose.com, foot], MASS, LINE)
    if pose.zmp is not None:
        corners = ring(pose.zmp, RADIUS)
        lines([point for k in range(len(corners)) for point in (corners[k - 1], corners[k])], POINT, BOLD)


PAINTERS = Painters(bpy.types.SpaceView3D, ((_draw, "POST_VIEW"),))
