"""Tables of the recordings: frames that count, force plates, body mass and markers."""

from __future__ import annotations

from html import escape

import numpy as np

from ..options.plates import FINDINGS
from .content import Content
from .svg import DASH
from .tables import Column, Table, emphasised, format_number, number, with_std, yes_no


def frame_table(content: Content) -> Table:
    """Counted and excluded frames, by reason."""
    rows = []
    for signals in content.signals:
        trial = signals.trial
        for state, name in enumerate(signals.state_names):
            if count := int(np.sum(signals.states == state)):
                rows.append((trial, (state, name), count, 100.0 * count / len(signals.states)))
                trial = ""
    return Table(
        "Counted and excluded frames, with reasons.",
        (Column("trial"), Column("", _coloured_state), Column("frames", str), Column("share [%]", number(1))),
        rows,
        has_text_column=True,
    )


def _coloured_state(pair: tuple[int, str]) -> str:
    """A reason with its colour in the strips."""
    state, name = pair
    return f'<span class="box state-{state}"></span>{escape(name)}'


def finding_table(content: Content) -> Table:
    """Findings of the plate checks, with their evidence and what was done."""
    return Table(
        "Checks of the plates before the identification: the number that decides, its interval, and what was done. "
        "<code>--free-moment</code> and <code>--report-only</code> override it.",
        (
            Column("check", emphasised), Column("finding"), Column("evidence", _with_unit),
            Column("95 % interval", _interval), Column("action", emphasised),
        ),
        [
            (
                (FINDINGS[row.kind], not row.done.is_silent),
                f"{', '.join(row.trials)}: {row.text}",
                (row.evidence, row.unit),
                row.interval,
                (row.done.value, not row.done.is_silent),
            )
            for row in content.findings
        ],
        has_text_column=True,
    )  # fmt: skip


def _with_unit(pair: tuple[float, str]) -> str:
    value, unit = pair
    return format_number(value, 2) + (f"&nbsp;{escape(unit)}" if unit and np.isfinite(value) else "")


def _interval(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{format_number(low, 2)} to {format_number(high, 2)}" if np.isfinite(low) else DASH


def weighing_table(content: Content) -> Table:
    """Mass measured by each trial, and the bias removed from its plates."""
    weighing = content.weighing
    trials = {} if weighing is None else {trial.name: trial for trial in weighing.trials}
    return Table(
        "Body mass measured by the plates, trial by trial, and the constant bias removed from each group of trials.",
        (
            Column("trial"), Column("group", str), Column("counted [s]", number(1)), Column("ever unloaded", yes_no),
            Column("reading [kg]", with_std(2)), Column("bias Fz [N]", number(1)), Column("bias Fx, Fy [N]", number(1)),
        ),
        [
            (
                name,
                index,
                trials[name].seconds,
                trials[name].unloaded is not None,
                (trials[name].apparent_mass, trials[name].std),
                group.bias[2],
                np.linalg.norm(group.bias[:2]),
            )
            for index, group in enumerate(() if weighing is None else weighing.groups, 1)
            for name in group.trials
        ],
    )  # fmt: skip


def marker_table(content: Content) -> Table:
    """Distance between measured and tracked markers, by trial."""
    rows = []
    for trial in content.tracking:
        known = np.isfinite(trial.rmse)
        worst = int(np.nanargmax(trial.rmse)) if known.any() else 0
        rows.append(
            (
                trial.trial,
                1e3 * trial.total,
                1e3 * np.nanmedian(trial.rmse),
                (1e3 * trial.rmse[worst], trial.markers[worst]),
                int(known.sum()),
                100.0 * np.mean(1.0 - trial.visible_fraction[known]),
            )
        )
    return Table(
        "Distance between measured and tracked markers.",
        (
            Column("trial"), Column("RMSE [mm]", number(1)), Column("median marker [mm]", number(1)),
            Column("worst marker [mm]", _named_error), Column("markers", str),
            Column("missing samples [%]", number(1)),
        ),
        rows,
    )  # fmt: skip


def _named_error(pair: tuple[float, str]) -> str:
    value, name = pair
    return f"{format_number(value, 1)} ({escape(name)})"
