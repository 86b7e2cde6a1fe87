"""The section of explained forces and moments: errors of the reconstructed wrench, trial by trial."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from ...study.residuals import FORCE_THRESHOLD, MOMENT_THRESHOLD
from ..content import Content, TrialErrors
from ..document import Numbering
from ..figures import AXES, UNITS
from ..tables import finite_mean, format_number, format_ratio, render_table


def render_fit(content: Content, numbering: Numbering) -> str:
    if not content.errors:
        return ""
    ratios = numbering.add_caption(
        "Table",
        mean_error_table(content.errors),
        "RMSE of the reconstructed wrench with identified inertials and with the prior scaled to the same mass; same "
        "motion, filter and frames. Each has frequency weights of its own, estimated from the plates of the same "
        "trials; without weights, all of the tracked motion counts. If a ratio is below one, the first explains more.",
    )
    detail = numbering.add_caption(
        "Table",
        error_table(content.errors),
        "Reconstructed and measured external wrench per axis: root mean square error and Pearson's correlation. “Not "
        "used” means that the parameters compared there were fitted without that trial.",
    )
    return ratios + detail + render_residuals(content, numbering)


def mean_error_table(errors: Sequence[TrialErrors]) -> str:
    """Mean over trials of the RMSE per axis and of its ratios, trials not used before trials used."""
    rows = []
    for used, name in ((False, "trials not used"), (True, "trials used")):
        some = [error for error in errors if error.used == used]
        if not some:
            continue
        first = f"{name} ({len(some)})"
        for words, own in (
            ("RMSE prior, no weights", "unweighted_rmse"), ("RMSE prior", "prior_rmse"),
            ("RMSE identified", "identified_rmse"),
        ):  # fmt: skip
            mean = finite_mean([getattr(error, own) for error in some])
            rows.append([first, words, *_format_axes(mean, 1), ""])
            first = ""
        for words, over, under in (
            ("identified / prior", "identified_rmse", "prior_rmse"),
            ("identified / prior, no weights", "identified_rmse", "unweighted_rmse"),
            ("prior / prior, no weights", "prior_rmse", "unweighted_rmse"),
        ):
            ratio = finite_mean([getattr(error, over) / getattr(error, under) for error in some])
            rows.append(["", words, *(format_ratio(float(value)) for value in (*ratio, finite_mean(ratio)))])
    return render_table(["", "mean of trials", *_axis_titles(), "mean"], rows, has_text_column=True)


def error_table(errors: Sequence[TrialErrors]) -> str:
    """RMSE and correlation per axis, identified and prior, of every trial: used ones first, unused ones after."""
    rows = []
    for error in sorted(errors, key=lambda e: not e.used):
        name = f'{escape(error.trial)} <span class="tag {"used" if error.used else "unused"}">'
        name += ("used" if error.used else "not used") + "</span>"
        ratio = error.identified_rmse / error.prior_rmse
        rows.append([name, "RMSE identified", *_format_axes(error.identified_rmse, 1)])
        rows.append(["", "RMSE prior", *_format_axes(error.prior_rmse, 1)])
        rows.append(["", "RMSE prior, no weights", *_format_axes(error.unweighted_rmse, 1)])
        rows.append(["", "identified / prior", *(format_ratio(value) for value in ratio)])
        rows.append(["", "CC identified", *_format_axes(error.identified_correlation, 3)])
        rows.append(["", "CC prior", *_format_axes(error.prior_correlation, 3)])
        rows.append(["", "CC prior, no weights", *_format_axes(error.unweighted_correlation, 3)])
    return render_table(["trial", "", *_axis_titles()], rows, has_text_column=True)


def _axis_titles() -> list[str]:
    return [f"{axis} [{unit}]" for axis, unit in zip(AXES, UNITS, strict=True)]


def _format_axes(values: np.ndarray, digits: int) -> list[str]:
    return [format_number(float(value), digits) for value in values]


def render_residuals(content: Content, numbering: Numbering) -> str:
    if not content.residuals:
        return ""
    caption = (
        "Residual force and moment of the trials used: root mean square in body weights (BW) and body weights times "
        "heights (BW h); root mean square and peak compared with the usual thresholds: "
        f"{100.0 * FORCE_THRESHOLD:g} % of the peak force, {100.0 * MOMENT_THRESHOLD:g} % of the "
        f"mean height of "
        "the centre of mass times that force (Hicks et al. 2015)."
    )
    return numbering.add_caption("Table", residual_table(content), caption)


def residual_table(content: Content) -> str:
    """Residuals in body weights and compared with the usual thresholds."""
    rows = [
        [
            escape(row.trial),
            *(format_number(value, 3) for value in row.force_weights),
            *(format_number(value, 4) for value in row.moment_weights),
            *(format_number(100.0 * value, 1) for value in row.force_share),
            *(format_number(100.0 * value, 1) for value in row.moment_share),
            "yes" if row.meets else "no",
        ]
        for row in content.residuals
    ]
    pair, sizes = ["identified", "prior"], ["RMS", "peak"]
    above = [("", 1), ("force, RMS [BW]", 2), ("moment, RMS [BW h]", 2), ("force [% of peak]", 2),
             ("moment [% of CoM height times peak]", 2), ("", 1)]  # fmt: skip
    return render_table(["trial", *pair, *pair, *sizes, *sizes, "met"], rows, spanning_titles=above)
