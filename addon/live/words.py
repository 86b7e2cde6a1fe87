"""The live check's readings in words."""

from __future__ import annotations

from ..values import SceneFrame, SceneMargin
from .readings import Readings

WORST = 3
"""Margins in the read-out."""


def readout(frame: SceneFrame) -> list[tuple[str, SceneMargin]]:
    """The worst margins of a frame, worst first, in words."""
    worst = sorted((margin for margin in frame.margins if margin.said), key=lambda margin: margin.comfort)
    return [(margin.said, margin) for margin in worst[:WORST]]


def progress(readings: Readings | None) -> str:
    """How far the check is."""
    if readings is None:
        return "starting"
    if readings.message:
        return readings.message
    total = len(readings.frames)
    if readings.checked < total:
        return f"checked {readings.checked} of {total} frames" if readings.checked else f"sent {total} frames"
    spans = len(readings.failing())
    if not spans:
        return f"all {total} frames hold"
    return f"all {total} frames checked, {spans} failing span{'s' if spans > 1 else ''}"
