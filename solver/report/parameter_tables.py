"""Tables of identified parameters: the result, a simulation's truth, an added load, and what the motion determines."""

from __future__ import annotations

import numpy as np

from ..inertials import FIRST_MOMENT, INERTIA, MASS, InertialParameters
from .content import Content
from .svg import DASH, MINUS
from .tables import Column, Table, change, code, link, number, relative_change, share, with_std

DIAGONAL = np.arange(INERTIA.start, INERTIA.stop)[[0, 2, 5]]
"""Columns of the diagonal elements of the inertia."""
MAX_BASE_PARAMETERS = 24
"""Largest number of base parameters that are listed."""
FROM_DATA = "“From data” is the share that the recording determined; the rest comes from the prior."


def mass_table(content: Content) -> Table:
    """Mass and centre of mass per link, identified against prior."""
    found, prior = content.identified, content.prior
    determined = content.determined
    rows = [
        (
            name,
            (found.masses[k], content.std[k, MASS]),
            prior.masses[k],
            relative_change(found.masses[k], prior.masses[k]),
            determined[k, MASS],
            *zip(1e3 * found.coms[k], 1e3 * content.com_std[k], strict=True),
            1e3 * np.linalg.norm(found.coms[k] - prior.coms[k]),
            np.mean(determined[k, FIRST_MOMENT]),
        )
        for k, name in enumerate(found.links)
    ]
    total, before = found.total_mass, prior.total_mass
    mass, com = "mass [kg]", "centre of mass, link frame [mm]"
    return Table(
        f"Mass and centre of mass of every link, ± one standard deviation. {FROM_DATA}",
        (
            Column("link", link), Column("identified", with_std(2), mass), Column("prior", number(2), mass),
            Column("change", change, mass), Column("from data", share, mass),
            *(Column(axis, with_std(0), com) for axis in "xyz"), Column("moved", number(0), com),
            Column("from data", share, com),
        ),
        [*rows, ("total", (total, np.nan), before, relative_change(total, before), *[None] * 6)],
    )  # fmt: skip


def inertia_table(content: Content) -> Table:
    """Principal inertias about the centre of mass per link, identified against prior."""
    found, before = principal_inertias(content.identified), principal_inertias(content.prior)
    axes, others = ("I₁", "I₂", "I₃"), "change, spread and origin"
    return Table(
        "Principal inertias about the centre of mass. The spread is the standard deviation of the three diagonal "
        f"elements about the link's origin, added in squares. {FROM_DATA}",
        (
            Column("link", link), *(Column(axis, number(1), "identified [g m²]") for axis in axes),
            *(Column(axis, number(1), "prior [g m²]") for axis in axes), Column("trace", change, others),
            Column("± (origin)", number(1), others), Column("from data", share, others),
        ),
        [
            (
                name,
                *1e3 * found[k],
                *1e3 * before[k],
                relative_change(found[k].sum(), before[k].sum()),
                1e3 * np.linalg.norm(content.std[k, DIAGONAL]),
                np.mean(content.determined[k, DIAGONAL]),
            )
            for k, name in enumerate(content.identified.links)
        ],
    )  # fmt: skip


def principal_inertias(parameters: InertialParameters) -> np.ndarray:
    """Principal inertias about the centres of mass (L, 3) [kg m^2], ascending."""
    return np.linalg.eigvalsh(parameters.inertias_at_com)


def std_by_source_table(content: Content) -> Table:
    """Share of each cause in a parameter's variance, link by link: mass, first moment, inertia about the origin."""
    groups = (
        ("mass [kg], shares [%]", [MASS], 1.0, 2),
        ("first moment [g m], shares [%]", FIRST_MOMENT, 1e3, 1),
        ("inertia [g m²], shares [%]", INERTIA, 1e3, 1),
    )
    columns, cells = [Column("link", link)], []
    for title, group, scale, digits in groups:
        columns += [
            Column("±", number(digits), title),
            *(Column(cause, number(0), title) for cause in content.std_by_source),
        ]
        parts = np.array([(std[:, group] ** 2).sum(axis=1) for std in content.std_by_source.values()])
        whole = parts.sum(axis=0)
        cells += [scale * np.sqrt(whole), *100.0 * parts / np.where(whole > 0.0, whole, np.nan)]
    return Table(
        "Standard deviation of each parameter, and the share of each cause in its variance. Noise: noise of plates and "
        "motion, and differences between blocks of time. Prior: spread of the population where the data determine "
        "nothing. Skin: soft-tissue motion of the markers. Skeleton: errors of joint centres and landmarks.",
        columns,
        [*zip(content.identified.links, *cells, strict=True)] if content.std_by_source else [],
    )


def truth_table(content: Content) -> Table:
    """Errors with respect to the true parameters of a simulation."""
    truth = content.truth
    rows = [] if truth is None else [
        (
            name,
            truth.masses[k],
            *(error for body in (content.identified, content.prior)
              for error in (body.masses[k] - truth.masses[k], 1e3 * np.linalg.norm(body.coms[k] - truth.coms[k]))),
        )
        for k, name in enumerate(truth.links)
    ]  # fmt: skip
    return Table(
        "Errors of the identified and the prior parameters with respect to the simulation's true ones.",
        (
            Column("link", link), Column("true mass [kg]", number(3)),
            *(Column(*kind, f"error, {body}") for body in ("identified", "prior")
              for kind in (("mass [kg]", number(3)), ("CoM [mm]", number(1)))),
        ),
        rows,
    )  # fmt: skip


def load_table(content: Content) -> Table:
    """Added loads with their links."""
    com = "centre of mass, link frame [mm]"
    return Table(
        "Load that is carried in the later recordings but not in the earlier ones, on the most likely of the smallest "
        "sets of links that explain it, ± one standard deviation from the residuals; and the probability of each link "
        "if a single link carries all of it. A constant offset of the plates between both would look the same.",
        (
            Column("link", link), Column("added mass [kg]", with_std(2)),
            *(Column(axis, number(0), com) for axis in "xyz"), Column("if one link carries all", _probability),
        ),
        [(load.link, (load.mass, load.mass_std), *1e3 * load.com, load.probability) for load in content.loads
         if load.link],
    )  # fmt: skip


def _probability(value: float) -> str:
    return f"{100.0 * value:.0f}&nbsp;%" if np.isfinite(value) else DASH


def base_table(content: Content) -> Table:
    """The base parameters, best determined first."""
    ordered = sorted(content.base, key=lambda row: row.relative_std if np.isfinite(row.relative_std) else np.inf)
    return Table(
        "Base parameters, best determined first; standard deviations corrected for correlated residuals.",
        (
            Column("base parameter", code),
            Column("value [SI]", lambda value: f"{value:.4g}".replace("-", MINUS)),
            Column("relative std [%]", number(1)),
        ),
        [(row.name, row.value, 100.0 * row.relative_std) for row in ordered[:MAX_BASE_PARAMETERS]],
    )
