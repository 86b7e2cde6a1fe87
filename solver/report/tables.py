"""The report's tables, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from ..inertials import FIRST_MOMENT, INERTIA, MASS, InertialParameters
from ..scene.labels import display_name
from .content import Content, FlightIdentification, TrialErrors
from .svg import DASH, MINUS

AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
LITTLE = 0.1
"""A share below this counts as not determined by the data."""
WIDE_TABLE_COLUMNS = 12
"""Number of columns above which a table is set closer, so that it fits the page's width."""


def format_number(value: float, digits: int) -> str:
    """A number with a true minus sign; a dash if it is not finite."""
    return DASH if not np.isfinite(value) else f"{value:.{digits}f}".replace("-", MINUS)


def format_percent(value: float) -> str:
    """A signed change in per cent."""
    return DASH if not np.isfinite(value) else f"{100.0 * value:+.0f} %".replace("-", MINUS)


def relative_change(found: float, before: float) -> float:
    """Relative change; NaN if the earlier value is zero."""
    return found / before - 1.0 if before else float("nan")


def format_with_std(value: float, std: float, digits: int) -> str:
    """Value and standard deviation."""
    if not np.isfinite(std):
        return format_number(value, digits)
    return f'{format_number(value, digits)}<span class="std"> ± {format_number(std, digits)}</span>'


def render_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    spanning_titles: Sequence[tuple[str, int]] = (),
    has_text_column: bool = False,
) -> str:
    """A table from cells that are already escaped; the first column is a heading.

    Args:
        head: column titles.
        rows: cells.
        spanning_titles: titles that span several columns, (title, columns).
        has_text_column: the second column contains text and is left-aligned.
    """
    spans = "".join(f'<th colspan="{count}" class="span">{title}</th>' for title, count in spanning_titles)
    top = (
        (f"<tr>{spans}</tr>" if spanning_titles else "")
        + "<tr>"
        + "".join(f"<th>{title}</th>" for title in head)
        + "</tr>"
    )
    body = "".join(
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    )
    kinds = [name for name, wanted in (("words", has_text_column), ("wide", len(head) > WIDE_TABLE_COLUMNS)) if wanted]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f'<div class="scroll"><table{kind}><thead>{top}</thead><tbody>{body}</tbody></table></div>'


def link_name(name: str) -> str:
    """A link's name for people."""
    return escape(display_name(name))


def render_share_bar(value: float) -> str:
    """A small bar: how much of a parameter the data determined."""
    width = 100.0 * float(np.clip(value, 0.0, 1.0))
    return f'<span class="share" title="{width:.0f} %"><i style="width:{width:.0f}%"></i></span>'


def mass_table(content: Content) -> str:
    """Mass and centre of mass per link, identified against prior."""
    found, prior = content.identified, content.prior
    rows = []
    for index, name in enumerate(found.links):
        com = [
            format_with_std(1e3 * c, 1e3 * s, 0) for c, s in zip(found.coms[index], content.com_std[index], strict=True)
        ]
        moved = 1e3 * float(np.linalg.norm(found.coms[index] - prior.coms[index]))
        mass, before = found.masses[index], prior.masses[index]
        rows.append(
            [
                link_name(name),
                format_with_std(mass, float(content.std[index, MASS]), 2),
                format_number(before, 2),
                format_percent(relative_change(mass, before)),
                render_share_bar(float(content.determined[index, MASS])),
                *com,
                format_number(moved, 0),
                render_share_bar(float(np.mean(content.determined[index, 1:4]))),
            ]
        )
    total = relative_change(found.total_mass, prior.total_mass)
    rows.append(
        [
            "total",
            format_number(found.total_mass, 2),
            format_number(prior.total_mass, 2),
            format_percent(total),
            *[""] * 6,
        ]
    )
    head = ["link", "identified", "prior", "change", "from data", "x", "y", "z", "moved", "from data"]
    above = [("", 1), ("mass [kg]", 4), ("centre of mass, link frame [mm]", 5)]
    return render_table(head, rows, spanning_titles=above)


def inertia_table(content: Content) -> str:
    """Principal inertias about the centre of mass per link, identified against prior."""
    found, before = principal_inertias(content.identified), principal_inertias(content.prior)
    rows = []
    for index, name in enumerate(content.identified.links):
        cells = [format_number(1e3 * value, 1) for value in found[index]]
        cells += [format_number(1e3 * value, 1) for value in before[index]]
        traces = [float(np.trace(p.inertias_at_com[index])) for p in (content.identified, content.prior)]
        spread = float(np.sqrt(np.sum(content.std[index, INERTIA][[0, 2, 5]] ** 2)))
        rows.append(
            [
                link_name(name),
                *cells,
                format_percent(relative_change(*traces)),
                format_number(1e3 * spread, 1),
                _render_inertia_share(content, index),
            ]
        )
    head = ["link", "I₁", "I₂", "I₃", "I₁", "I₂", "I₃", "trace", "± (origin)", "from data"]
    above = [("", 1), ("identified [g m²]", 3), ("prior [g m²]", 3), ("change, spread and origin", 3)]
    return render_table(head, rows, spanning_titles=above)


def std_by_source_table(content: Content) -> str:
    """Share of each cause in a parameter's variance, link by link: mass, first moment, inertia about the origin."""
    causes, rows = list(content.std_by_source), []
    variances = np.array([content.std_by_source[cause] ** 2 for cause in causes])
    for index, name in enumerate(content.identified.links):
        cells = []
        for group, scale, digits in ((slice(MASS, MASS + 1), 1.0, 2), (FIRST_MOMENT, 1e3, 1), (INERTIA, 1e3, 1)):
            parts = variances[:, index, group].sum(axis=1)
            whole = float(parts.sum())
            cells.append(format_number(scale * float(np.sqrt(whole)), digits))
            cells += [format_number(100.0 * float(part) / whole, 0) if whole > 0.0 else DASH for part in parts]
        rows.append([link_name(name), *cells])
    titles = ("mass [kg], shares [%]", "first moment [g m], shares [%]", "inertia [g m²], shares [%]")
    above = [("", 1), *((title, 1 + len(causes)) for title in titles)]
    return render_table(["link", *(["±", *map(escape, causes)] * len(titles))], rows, spanning_titles=above)


def principal_inertias(parameters: InertialParameters) -> np.ndarray:
    """Principal inertias about the centres of mass (L, 3) [kg m^2], ascending."""
    return np.linalg.eigvalsh(parameters.inertias_at_com)


def _render_inertia_share(content: Content, index: int) -> str:
    return render_share_bar(float(np.mean(content.determined[index, INERTIA][[0, 2, 5]])))


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
    return render_table(
        ["trial", "", *(f"{a} [{'N' if a[0] == 'F' else 'N m'}]" for a in AXES)], rows, has_text_column=True
    )


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
    units = [f"{axis} [{'N' if axis[0] == 'F' else 'N m'}]" for axis in AXES]
    return render_table(["", "mean of trials", *units, "mean"], rows, has_text_column=True)


def finite_mean(values: Sequence[np.ndarray] | np.ndarray) -> Any:
    """Mean over the first axis of finite values; NaN if there are none."""
    values = np.asarray(values, float)
    known = np.isfinite(values)
    return np.where(known, values, 0.0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)


def _format_axes(values: np.ndarray, digits: int) -> list[str]:
    return [format_number(float(value), digits) for value in values]


def format_ratio(value: float) -> str:
    """A ratio, coloured by whether it is below one."""
    if not np.isfinite(value):
        return DASH
    return f'<span class="{"better" if value < 1.0 else "worse"}">{value:.2f}</span>'


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


def load_table(content: Content) -> str:
    """Added loads with their links."""
    rows = [
        [
            link_name(load.link),
            format_with_std(load.mass, load.mass_std, 2),
            *(format_number(1e3 * float(x), 0) for x in load.com),
            f"{format_number(100.0 * load.probability, 0)}&nbsp;%" if np.isfinite(load.probability) else DASH,
        ]
        for load in content.loads
    ]
    above = [("", 2), ("centre of mass, link frame [mm]", 3), ("", 1)]
    return render_table(
        ["link", "added mass [kg]", "x", "y", "z", "if one link carries all"], rows, spanning_titles=above
    )


def flight_table(content: Content) -> str:
    """Checks in flight, where gravity alone acts."""
    rows = [
        [
            escape(row.trial),
            str(row.frames),
            format_number(row.identified_acceleration, 3),
            format_number(row.prior_acceleration, 3),
            format_ratio(row.identified_acceleration / row.prior_acceleration),
            format_number(row.identified_momentum_rate, 2),
            format_number(row.prior_momentum_rate, 2),
            format_ratio(row.identified_momentum_rate / row.prior_momentum_rate),
        ]
        for row in content.flights
    ]
    head = ["trial", "frames", "identified", "prior", "ratio", "identified", "prior", "ratio"]
    above = [("", 2), ("CoM acceleration without gravity [m/s²]", 3), ("rate of angular momentum [N m]", 3)]
    return render_table(head, rows, spanning_titles=above)


def flight_intervals_table(found: FlightIdentification) -> str:
    """Flights of an identification without forces."""
    rows = [
        [escape(trial), format_number(first, 2), format_number(last, 2), "used" if used else "too short"]
        for trial, first, last, used in found.spans
    ]
    return render_table(["trial", "from [s]", "to [s]", ""], rows)


def truth_table(content: Content) -> str:
    """Errors with respect to the true parameters of a simulation."""
    truth = content.truth
    assert truth is not None
    rows = []
    for index, name in enumerate(truth.links):
        cells = []
        for parameters in (content.identified, content.prior):
            mass = parameters.masses[index] - truth.masses[index]
            com = 1e3 * float(np.linalg.norm(parameters.coms[index] - truth.coms[index]))
            cells += [format_number(mass, 3), format_number(com, 1)]
        rows.append([link_name(name), format_number(truth.masses[index], 3), *cells])
    head = ["link", "true mass [kg]", "mass [kg]", "CoM [mm]", "mass [kg]", "CoM [mm]"]
    return render_table(head, rows, spanning_titles=[("", 2), ("error, identified", 2), ("error, prior", 2)])


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
