"""The section of joint moments: largest moment of every coordinate, and residuals at the root, by trial."""

from __future__ import annotations

from html import escape

import numpy as np

from ..content import Content, MomentSummary
from ..document import Numbering
from ..tables import format_number, render_table

MIN_MOMENT = 0.02
"""[N m/kg] Coordinates whose moment stays below this in all trials are left out."""
DIGITS = 2


def render_joint_moments(content: Content, numbering: Numbering) -> str:
    """Tables of peaks and residuals; notes of trials whose moments are not, or only partly, determined."""
    known = [trial for trial in content.moments if trial.names]
    notes = [f"<li>{escape(trial.trial)}: {escape(note)}</li>" for trial in content.moments for note in trial.notes]
    listed = f"<ul>{''.join(notes)}</ul>" if notes else ""
    if not known:
        return listed
    peaks = numbering.add_caption(
        "Table",
        peak_table(known),
        "Largest moment per kilogram of body mass [N m/kg] (forces of sliding joints [N/kg]), by trial; positive "
        f"drives the coordinate to increase. Coordinates whose moment stays below {MIN_MOMENT:g} are left out. The "
        "command moments draws them over time, with 95 % intervals.",
    )
    residuals = numbering.add_caption(
        "Table",
        residual_table(known),
        "Residual force [N] and moment [N m] at the root link: what the motion requires and the plates did not "
        "measure, without frequency weights.",
    )
    return peaks + residuals + listed


def peak_table(trials: list[MomentSummary]) -> str:
    """A row for every coordinate, a column for every trial."""
    names = trials[0].names
    largest = [np.where(-low > high, low, high) for low, high in (trial.peaks.T for trial in trials)]
    rows = [
        [escape(name), escape(meaning), *(format_number(float(trial[k]), DIGITS) for trial in largest)]
        for k, (name, meaning) in enumerate(zip(names, trials[0].meanings))
        if any(abs(trial[k]) >= MIN_MOMENT for trial in largest)
    ]
    titles = ["coordinate", "positive", *(escape(trial.trial) for trial in trials)]
    return render_table(titles, rows, has_text_column=True)


def residual_table(trials: list[MomentSummary]) -> str:
    """Root mean square and peak of every trial."""
    rows = [
        [escape(trial.trial), *(format_number(float(value), 1) for pair in zip(trial.residual_rms, trial.residual_peak)
                                for value in pair)]
        for trial in trials
    ]  # fmt: skip
    above = [("", 1), ("force [N]", 2), ("moment [N m]", 2)]
    return render_table(["trial", "RMS", "peak", "RMS", "peak"], rows, spanning_titles=above)
