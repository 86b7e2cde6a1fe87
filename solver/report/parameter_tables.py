"""Tables of identified parameters: the result, a simulation's truth, an added load, and what the motion determines."""

from __future__ import annotations

from html import escape

import numpy as np

from ..scene.determined import CLASS_TITLES, MASS_KIND, MOMENT_KIND, ROUNDING, TABLES, DeterminedQuantity
from ..values.inertials import FIRST_MOMENT, INERTIA, MASS
from .content import Content
from .svg import DASH
from .tables import Column, Table, change, link, number, relative_change, with_interval

DIAGONAL = np.arange(INERTIA.start, INERTIA.stop)[[0, 2, 5]]
"""Columns of the diagonal elements of the inertia."""
INERTIA_TITLES = ("xx", "yy", "zz")
INTERVALS = "± half of the 95 % interval"


def group_table(content: Content) -> Table:
    """Masses of several links together, and of single links that no prior splits, by class of what determines them."""
    shown = [
        one for one in content.determined if one.kind == MASS_KIND and (len(one.links) > 1 or one.source != TABLES)
    ]
    return Table(
        f"Masses, {INTERVALS}, by what determines them. A mass at the centre of a joint may belong to either link "
        "without any change of the forces, so that the masses of single links are split by "
        f"{escape(content.prior_source)}. Left: the width of the interval over the prior's.",
        (
            Column("links"), Column("", escape), Column("mass [kg]", with_interval(2)),
            Column("prior, ± [kg]", number(2)), Column("left", number(2)),
        ),
        [
            (
                one.name,
                _class_title(content, one),
                (*one.value, *one.half_width),
                *((*one.prior_half_width, one.ratio) if one.prior_half_width > ROUNDING else (np.nan, np.nan)),
            )
            for one in shown
        ],
        has_text_column=True,
    )  # fmt: skip


def moment_table(content: Content) -> Table:
    """First moments of links about their joints, by class of what determines them."""
    moment = "first moment, link frame [g m]"
    return Table(
        f"First moment of every link about its joint, {INTERVALS}, with the masses beyond its other joints at these "
        "joints: no mass at the centre of a joint changes it. Left: the width of the interval over the prior's.",
        (
            Column("link"), Column("", escape), *(Column(axis, with_interval(1), moment) for axis in "xyz"),
            Column("left", number(2)),
        ),
        [
            (one.name, _class_title(content, one), *zip(1e3 * one.value, 1e3 * one.half_width, strict=True), one.ratio)
            for one in content.determined
            if one.kind == MOMENT_KIND
        ],
        has_text_column=True,
    )  # fmt: skip


def _class_title(content: Content, one: DeterminedQuantity) -> str:
    return CLASS_TITLES[one.source].format(prior=content.prior_source)


def mass_table(content: Content) -> Table:
    """Mass and centre of mass per link, identified against prior."""
    found, prior = content.identified, content.prior
    rows = [
        (
            name,
            (found.masses[k], half[MASS]),
            prior.masses[k],
            relative_change(found.masses[k], prior.masses[k]),
            *zip(1e3 * found.coms[k], 1e3 * half[FIRST_MOMENT], strict=True),
            1e3 * np.linalg.norm(found.coms[k] - prior.coms[k]),
        )
        for k, (name, half) in enumerate(zip(found.links, content.half_widths))
    ]
    total, before = found.total_mass, prior.total_mass
    mass, com = "mass [kg]", "centre of mass, link frame [mm]"
    return Table(
        f"Mass and centre of mass of every link, {INTERVALS}; masses are split by {escape(content.prior_source)}.",
        (
            Column("link", link), Column("identified", with_interval(2), mass), Column("prior", number(2), mass),
            Column("change", change, mass), *(Column(axis, with_interval(0), com) for axis in "xyz"),
            Column("moved", number(0), com),
        ),
        [*rows, ("total", (total, np.nan), before, relative_change(total, before), *[None] * 4)],
    )  # fmt: skip


def inertia_table(content: Content) -> Table:
    """Moments of inertia about the centre of mass per link, identified against prior."""
    found, before = (
        1e3 * np.diagonal(body.inertias_at_com, axis1=1, axis2=2) for body in (content.identified, content.prior)
    )
    return Table(
        f"Moments of inertia about the centre of mass, axes of the link, {INTERVALS}.",
        (
            Column("link", link), *(Column(axis, with_interval(1), "identified [g m²]") for axis in INERTIA_TITLES),
            *(Column(axis, number(1), "prior [g m²]") for axis in INERTIA_TITLES), Column("trace", change, "change"),
        ),
        [
            (
                name,
                *zip(found[k], 1e3 * content.half_widths[k, DIAGONAL], strict=True),
                *before[k],
                relative_change(found[k].sum(), before[k].sum()),
            )
            for k, name in enumerate(content.identified.links)
        ],
    )  # fmt: skip


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
    com, found = "centre of mass, link frame [mm]", content.load
    return Table(
        "Load that is carried in the later recordings but not in the earlier ones, on the most likely of the smallest "
        "sets of links that explain it, ± half of the 95 % interval from the residuals; and the probability of each "
        "link if a single link carries all of it. A constant offset of the plates between both would look the same.",
        (
            Column("link", link), Column("added mass [kg]", with_interval(2)),
            *(Column(axis, number(0), com) for axis in "xyz"), Column("if one link carries all", _probability),
        ),
        [] if found is None else [
            (body.link, (body.mass, found.half_widths[k]), *1e3 * body.com, found.probabilities[k])
            for k, body in ((found.links.index(name), found.loads[name]) for name in found.carriers)
        ],
    )  # fmt: skip


def _probability(value: float) -> str:
    return f"{100.0 * value:.0f}&nbsp;%" if np.isfinite(value) else DASH
