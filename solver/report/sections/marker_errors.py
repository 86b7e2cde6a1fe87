"""The section of marker tracking."""

from __future__ import annotations

from html import escape

import numpy as np

from .. import figures
from ..content import Content
from ..document import Numbering
from ..tables import format_number, render_table


def render_tracking(content: Content, numbering: Numbering) -> str:
    if not content.tracking:
        return ""
    table = numbering.add_caption("Table", tracking_table(content), "Distance between measured and tracked markers.")
    if not any(np.isfinite(1e3 * trial.rmse).any() for trial in content.tracking):
        return table
    caption = "RMSE of every marker: mean over trials (bar) and each trial (dots)."
    return table + numbering.add_caption("Figure", figures.draw_marker_errors(content.tracking), caption)


def tracking_table(content: Content) -> str:
    """Marker error per trial."""
    rows = []
    for trial in content.tracking:
        known = np.isfinite(trial.rmse)
        worst = int(np.nanargmax(trial.rmse)) if known.any() else 0
        rows.append(
            [
                escape(trial.trial),
                format_number(1e3 * trial.total, 1),
                format_number(1e3 * float(np.nanmedian(trial.rmse)), 1),
                f"{format_number(1e3 * float(trial.rmse[worst]), 1)} ({escape(trial.markers[worst])})",
                str(int(known.sum())),
                format_number(100.0 * float(np.mean(1.0 - trial.visible_fraction[known])), 1),
            ]
        )
    head = ["trial", "RMSE [mm]", "median marker [mm]", "worst marker [mm]", "markers", "missing samples [%]"]
    return render_table(head, rows)
