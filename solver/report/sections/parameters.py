"""The sections of identified parameters: the result, and its comparison with a simulation's truth."""

from __future__ import annotations

from html import escape

import numpy as np

from ...identification.estimate import group_bounds
from ...inertials import FIRST_MOMENT, INERTIA, MASS, InertialParameters
from .. import figures
from ..content import Content
from ..document import Numbering
from ..svg import DASH
from ..tables import (
    format_number,
    format_percent,
    format_with_std,
    link_name,
    relative_change,
    render_share_bar,
    render_table,
)

CAUSES_CAPTION = (
    "Standard deviation of each parameter, and the share of each cause in its variance. Noise: noise of plates and "
    "motion, and differences between blocks of time. Prior: spread of the population where the data determine "
    "nothing. Skin: soft-tissue motion of the markers. Skeleton: errors of joint centres and landmarks."
)


def render_parameters(content: Content, numbering: Numbering) -> str:
    truth = " Black ticks: the truth of the simulation." if content.truth is not None else ""
    legend = (
        '<p class="legend"><span class="disc identified"></span>identified<span class="disc prior"></span>prior</p>'
    )
    figure = numbering.add_caption(
        "Figure",
        legend + figures.draw_masses(content),
        "Mass of every link: prior (open) and identified (filled) with its 95 % interval; at the right "
        f"the change against the prior, which is scaled to the measured mass.{truth}",
    )
    from_data = "“From data” is the share that the recording determined; the rest comes from the prior."
    masses = numbering.add_caption(
        "Table",
        mass_table(content),
        f"Mass and centre of mass of every link, ± one standard deviation. {from_data}",
    )
    inertias = numbering.add_caption(
        "Table",
        inertia_table(content),
        "Principal inertias about the centre of mass. The spread is the standard deviation of the three diagonal "
        f"elements about the link's origin, added in squares. {from_data}",
    )
    limits = ""
    if content.std_by_source:
        limits = numbering.add_caption("Table", std_by_source_table(content), CAUSES_CAPTION)
    bounds = "".join(f"<li>{escape(words.replace('_', ' '))}</li>" for words in group_bounds(content.on_bounds))
    text = f"<p><b>On a bound</b> (without the bound, the data would give a more extreme value):</p><ul>{bounds}</ul>"
    return figure + masses + inertias + limits + (text if bounds else "<p>No parameter ended on a bound.</p>")


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


def principal_inertias(parameters: InertialParameters) -> np.ndarray:
    """Principal inertias about the centres of mass (L, 3) [kg m^2], ascending."""
    return np.linalg.eigvalsh(parameters.inertias_at_com)


def _render_inertia_share(content: Content, index: int) -> str:
    return render_share_bar(float(np.mean(content.determined[index, INERTIA][[0, 2, 5]])))


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


def render_truth(content: Content, numbering: Numbering) -> str:
    if content.truth is None:
        return ""
    caption = "Errors of the identified and the prior parameters with respect to the simulation's true ones."
    return numbering.add_caption("Table", truth_table(content), caption)


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
