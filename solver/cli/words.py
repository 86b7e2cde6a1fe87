"""Text that several verbs print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..formats.text_table import format_inertial_table, format_table
from ..scene.determined import describe_determined
from ..values.wrenches import WRENCH_AXES

if TYPE_CHECKING:
    from ..identification.added_load import AddedLoad
    from ..identification.comparison import Comparison
    from ..study.residuals import TrialResidual
    from ..workflow.study import Study


def removed_trials(before: Iterable[str], output: Path) -> str:
    """Names the trials whose earlier results the folder no longer holds; empty if there are none."""
    from ..scene.study_folder import trial_files

    removed = sorted(set(before) - set(trial_files(output)))
    return f" (replaces the run before; removed trials: {', '.join(removed)})" if removed else ""


def identified(study: Study) -> str:
    """A study's result in short: masses, what they satisfy, how well they explain the trials."""
    result = study.identification
    if result is None:
        return "no trial with forces could be used: nothing was identified"
    lines = [result.undecided_reason, ""] if result.undecided_reason else []
    lines += [*describe_determined(result.determined, study.rig.prior_source), ""]
    lines += [format_inertial_table(result.parameters, result.half_widths), ""]
    if study.mass is not None:
        lines.append(f"body mass {study.mass.mass:.2f} ± {study.mass.half_width:.2f} kg (95 %)")
    lines.append(f"method {result.estimate.method}, satisfies: {result.estimate.satisfies}")
    if result.comparisons:
        lines += ["", compared(result.comparisons)]
    if study.residuals:
        lines += ["", thresholds(study.residuals)]
    return "\n".join(lines)


def thresholds(residuals: Sequence[TrialResidual]) -> str:
    """Residuals of each trial against the usual thresholds of the field."""
    from ..study.residuals import FORCE_THRESHOLD, MOMENT_THRESHOLD

    rows = [
        (
            r.trial,
            *(f"{100.0 * share:.1f}" for share in (*r.force_share, *r.moment_share)),
            f"{r.identified.force / r.weight:.3f}",
            f"{r.identified.moment / (r.weight * r.height):.4f}",
            "met" if r.meets_thresholds else "not met",
        )
        for r in residuals
    ]
    head = ("trial", "force RMS", "peak [%]", "moment RMS", "peak [%]", "[BW]", "[BW h]", "")
    usual = (
        f"usual: {100.0 * FORCE_THRESHOLD:g} % of the peak force, {100.0 * MOMENT_THRESHOLD:g} % of CoM height times it"
    )
    return f"residuals of the trials used ({usual})\n" + format_table(head, rows)


def found_load(load: AddedLoad) -> str:
    """What was added, and where."""
    if not load.carriers:
        return load.not_excluded
    carried = [(load.loads[name], load.links.index(name)) for name in load.carriers]
    rows = [
        (
            body.link,
            f"{body.mass:.3f} ± {load.half_widths[k]:.3f}",
            *(f"{1e3 * x:.0f}" for x in body.com),
            f"{100.0 * load.probabilities[k]:.0f} %",
        )
        for body, k in carried
    ]
    text = format_table(("link", "added mass [kg]", "CoM x", "y", "z [mm]", "carries all"), rows)
    return f"{text}\n\n{load.total:.3f} ± {load.total_half_width:.3f} kg in all (95 %); {load.not_excluded}"


def compared(comparisons: Sequence[Comparison]) -> str:
    """RMSE per axis and trial of identified parameters and prior, then their ratios; the trials used first."""
    ordered = sorted(comparisons, key=lambda c: not c.used)
    errors = [
        (*(("", "") if place else (c.trial, "used" if c.used else "not used")), name, *(f"{x:.3g}" for x in fit.rmse))
        for c in ordered
        for place, (name, fit) in enumerate(
            (("identified", c.identified), ("prior", c.prior), ("prior, no weights", c.unweighted_prior))
        )
    ]
    ratios = [
        (
            c.trial,
            "used" if c.used else "not used",
            *(f"{x:.2f}" for x in (*c.ratio, np.nanmean(c.ratio), np.nanmean(c.ratio_to_unweighted))),
        )
        for c in ordered
    ]
    return (
        "RMSE [N, N m]; identified and prior each with frequency weights of its own\n"
        + format_table(("trial", "", "", *WRENCH_AXES), errors)
        + "\n\nRMSE identified / prior\n"
        + format_table(("trial", "", *WRENCH_AXES, "mean", "no weights"), ratios)
        + "\nno weights: mean ratio to the prior without frequency weights"
    )
