"""The section of what the motion determines: singular values and base parameters."""

from __future__ import annotations

from html import escape

import numpy as np

from .. import figures
from ..content import Content
from ..document import Numbering
from ..svg import MINUS
from ..tables import format_number, render_table


def render_rank(content: Content, numbering: Numbering) -> str:
    parts = []
    if len(content.singular_values):
        caption = "Singular values of the weighted regressor, relative to the largest; open: beyond the numerical rank."
        parts.append(numbering.add_caption("Figure", figures.draw_singular_values(content), caption))
    if content.base:
        caption = "Base parameters, best determined first; standard deviations corrected for correlated residuals."
        parts.append(numbering.add_caption("Table", base_table(content), caption))
    return "".join(parts)


def base_table(content: Content, most: int = 24) -> str:
    """The base parameters, best determined first."""
    ordered = sorted(content.base, key=lambda row: row.relative_std if np.isfinite(row.relative_std) else np.inf)
    rows = [
        [
            f"<code>{escape(row.name)}</code>",
            f"{row.value:.4g}".replace("-", MINUS),
            format_number(100.0 * row.relative_std, 1),
        ]
        for row in ordered[:most]
    ]
    return render_table(["base parameter", "value [SI]", "relative std [%]"], rows)
