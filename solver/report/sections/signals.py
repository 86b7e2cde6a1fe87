"""The sections of signals over time: wrenches, and the frames that count."""

from __future__ import annotations

from html import escape

import numpy as np

from .. import figures
from ..content import Content
from ..document import Numbering
from ..tables import format_number, render_table

LEGEND = (
    '<p class="legend"><span class="key measured"></span>measured'
    '<span class="key identified"></span>reconstructed, identified'
    '<span class="key prior"></span>reconstructed, prior'
    '<span class="box left-out"></span>left out</p>'
)


def render_signals(content: Content, numbering: Numbering) -> str:
    shown = []
    for index, signals in enumerate(content.signals):
        lag = (
            f" The plates lag the motion by {format_number(1e3 * signals.lag, 1)} ms, which was removed."
            if np.isfinite(signals.lag)
            else ""
        )
        caption = f"External wrench during <b>{escape(signals.trial)}</b>.{lag}"
        shown.append(numbering.add_caption("Figure", LEGEND + figures.draw_wrenches(signals, str(index)), caption))
    return "".join(shown)


def render_windows(content: Content, numbering: Numbering) -> str:
    if not content.signals:
        return ""
    strips = "".join(figures.draw_timeline(signals) for signals in content.signals)
    caption = (
        "Frames that count (blue) and frames left out, mostly because a contact with the environment was not measured."
    )
    figure = numbering.add_caption("Figure", f'<div class="strips">{strips}</div>', caption)
    rows = []
    for signals in content.signals:
        for state, name in enumerate(signals.state_names):
            count = int(np.sum(signals.states == state))
            if count:
                first = "" if np.any(signals.states < state) else escape(signals.trial)
                box = f'<span class="box state-{state}"></span>{escape(name)}'
                rows.append([first, box, str(count), format_number(100.0 * count / len(signals.states), 1)])
    return figure + numbering.add_caption(
        "Table",
        render_table(["trial", "", "frames", "share [%]"], rows, has_text_column=True),
        "Counted and excluded frames, with reasons.",
    )
