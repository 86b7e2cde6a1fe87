"""The section of joint moments: largest moment of every coordinate, and residuals at the root, by trial."""

from __future__ import annotations

from html import escape

import numpy as np

from ..content import Content, MomentSummary
from ..document import Numbering
from ..tables import format_number, format_with_std, render_table

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
        "Largest moment per kilogram of body mass [N m/kg] (forces of sliding joints [N/kg]) and half its 95 % "
        "interval, by trial; positive drives the coordinate to increase. Coordinates whose moment stays below "
        f"{MIN_MOMENT:g} are left out. The command moments draws them over time.",
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
    largest = []
    for trial in trials:
        low, high, half = trial.peaks.T
        value = np.where(np.abs(low) > np.abs(high), low, high)
        largest.append([*zip(value, half)])
    rows = [
        [escape(name), escape(meaning), *(format_with_std(*trial[k], DIGITS) for trial in largest)]
        for k, (name, meaning) in enumerate(zip(names, trials[0].meanings))
        if any(abs(trial[k][0]) >= MIN_MOMENT for trial in largest)
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
