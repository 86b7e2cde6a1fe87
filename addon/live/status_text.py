"""Texts of the live check."""

from __future__ import annotations

from ..solver_api import SceneFrame, SceneMargin
from .check_results import CheckResults

SHOWN_MARGINS = 3
"""Number of margins in the readout."""


def worst_margins(frame: SceneFrame) -> list[tuple[str, SceneMargin]]:
    """The worst margins of a frame with their texts, worst first."""
    worst = sorted((margin for margin in frame.margins if margin.text), key=lambda margin: margin.comfort)
    return [(margin.text, margin) for margin in worst[:SHOWN_MARGINS]]


def describe_progress(readings: CheckResults | None) -> str:
    """Progress or result of the check."""
    if readings is None:
        return "starting"
    if readings.message:
        return readings.message
    total = len(readings.frames)
    if readings.checked < total:
        return f"checked {readings.checked} of {total} frames" if readings.checked else f"sent {total} frames"
    spans = len(readings.failing_intervals())
    if not spans:
        return f"all {total} frames pass"
    return f"all {total} frames checked, {spans} failing interval{'s' if spans > 1 else ''}"
