"""The sections of the force plates: their checks, and the body mass that they measured."""

from __future__ import annotations

from html import escape

import numpy as np

from ..content import Content
from ..document import Numbering
from ..svg import DASH
from ..tables import format_number, format_with_std, render_table


def render_plates(content: Content, numbering: Numbering) -> str:
    if not content.plate_findings:
        return ""
    caption = (
        "Checks of the plates before the identification: the number that decides, its interval, and what was done. "
        "<code>--free-moment</code> and <code>--report-only</code> override it."
    )
    return numbering.add_caption("Table", plate_findings_table(content), caption)


def plate_findings_table(content: Content) -> str:
    """Findings of the plate checks, with their evidence and what was done."""
    rows = [
        [
            f"<b>{escape(row.check)}</b>" if row.is_warning else escape(row.check),
            escape(f"{', '.join(row.trials)}: {row.text}"),
            format_number(row.evidence, 2)
            + (f"&nbsp;{escape(row.unit)}" if row.unit and np.isfinite(row.evidence) else ""),
            f"{format_number(row.low, 2)} to {format_number(row.high, 2)}" if np.isfinite(row.low) else DASH,
            f"<b>{escape(row.done)}</b>" if row.is_warning else escape(row.done),
        ]
        for row in content.plate_findings
    ]
    return render_table(["check", "finding", "evidence", "95 % interval", "action"], rows, has_text_column=True)


def render_mass(content: Content, numbering: Numbering) -> str:
    if not content.weighings:
        return ""
    caption = (
        "Body mass measured by the plates, trial by trial, and the constant bias removed from each group of trials."
    )
    return numbering.add_caption("Table", weighing_table(content), caption)


def weighing_table(content: Content) -> str:
    """Mass measured by each trial, and the bias removed from its plates."""
    rows = [
        [
            escape(row.trial),
            str(row.group),
            format_number(row.seconds, 1),
            "yes" if row.unloaded else "no",
            format_with_std(row.reading, row.std, 2),
            format_number(float(row.bias[2]), 1),
            format_number(float(np.linalg.norm(row.bias[:2])), 1),
        ]
        for row in content.weighings
    ]
    head = ["trial", "group", "counted [s]", "ever unloaded", "reading [kg]", "bias Fz [N]", "bias Fx, Fy [N]"]
    return render_table(head, rows)
