"""The page of a cohort and the files beside it: subjects with errors, masses and priors, and failures with reasons."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np

from ..scene.labels import display_name
from ..scene.study_folder import REPORT_FILE
from ..storage.atomic import write_atomically
from ..storage.output_folder import write_folder
from ..values.wrenches import WRENCH_AXES
from .charts import Dots, draw_rows
from .cohort_content import COHORT, Cohort, CohortMember
from .document import (
    Block,
    Card,
    Figure,
    build_document,
    render_cards,
    render_definitions,
    render_list,
)
from .figures import MASS_LEGEND, UNITS
from .svg import DASH
from .tables import Column, Table, change, format_number, link, number, ratio, relative_change, with_interval


def render_cohort(cohort: Cohort) -> str:
    """The whole page, with links to the subjects' own reports in the folders next to it."""
    head = (
        f"<header><h1>{escape(cohort.title)}</h1><p>{len(cohort.members) + len(cohort.failed)} subjects</p>"
        f"{render_cards(build_cards(cohort))}</header>"
    )
    return build_document(cohort.title, head, build_sections(cohort))


def build_sections(cohort: Cohort) -> tuple[tuple[str, Sequence[Block]], ...]:
    """Sections in the order of the page: title and blocks."""
    groups: dict[tuple[str, ...], list[CohortMember]] = {}
    for member in cohort.members:
        groups.setdefault(member.links, []).append(member)
    return (
        ("Failed", [render_list((f"{item.name}: {item.reason}" for item in cohort.failed), "warnings")]),
        ("Subjects", [subject_table(cohort)]),
        ("Masses", [block for some in groups.values() for block in (_mass_figure(some), mass_table(some))]),
        ("Warnings", [_fold_warnings(member) for member in cohort.members if member.warnings]),
        ("Methods", [render_definitions(cohort.methods)]),
    )


def build_cards(cohort: Cohort) -> list[Card]:
    """The figures that a reader should see first."""
    kept = sum(not member.is_new for member in cohort.members)
    note = f"{kept} of them reused from an earlier run" if kept else "all of them in this run"
    cards = [("identified", str(len(cohort.members)), note if cohort.members else "none")]
    if cohort.failed:
        cards.append(("failed", str(len(cohort.failed)), "reasons below"))
    for title, values, digits, unit, words in (
        ("force, not used", [float(np.mean(m.rmse[:3])) for m in cohort.members], 1, " N", "RMSE, mean of axes"),
        ("moment, not used", [float(np.mean(m.rmse[3:])) for m in cohort.members], 1, " N m", "RMSE, mean of axes"),
        ("trials not used", [m.mean_ratio for m in cohort.members], 2, "", "RMSE identified / prior over six axes"),
        ("marker error", [1e3 * m.marker_error for m in cohort.members], 1, " mm", "RMSE over markers and frames"),
    ):
        known = [value for value in values if np.isfinite(value)]
        if known:
            spread = f"{format_number(min(known), digits)} to {format_number(max(known), digits)}"
            median = f"{format_number(float(np.median(known)), digits)}{unit}"
            cards.append((title, median, f"{words}; median of {len(known)} subjects, {spread}"))
    return cards


def subject_table(cohort: Cohort) -> Table:
    """Errors of each subject."""
    rmse = "RMSE on trials not used [N, N m]: identified (prior, prior without weights)"
    forces, moments = (
        [Column(axis, _rmse_of_bodies, rmse) for axis in axes] for axes in (WRENCH_AXES[:3], WRENCH_AXES[3:])
    )
    rows = []
    for m in cohort.members:
        errors = [*zip(m.rmse, m.prior_rmse, m.unweighted_rmse, strict=True)]
        weights = 100.0 * m.force_in_body_weights
        ratios = m.mean_ratio, m.mean_ratio_used
        counts = len(m.trials), len(m.warnings)
        rows.append(
            (m.name, m.subject, (m.mass, m.mass_half_width), *errors[:3], weights, *errors[3:], *ratios,
             1e3 * m.marker_error, *counts)
        )  # fmt: skip
    return Table(
        "All subjects; each name links to the subject's own report. Masses: ± half of the 95 % interval. The "
        "parameters compared on trials not used were fitted without them. Ratio: RMSE with the identified over RMSE "
        "with the prior inertials, each with frequency weights of its own, mean of six axes. % BW: RMSE of the force, "
        "mean of three axes, in body weights.",
        (
            Column("subject", _linked_report), Column("person"), Column("mass [kg]", with_interval(2)), *forces,
            Column("% BW", number(1), rmse), *moments, Column("ratio", ratio, "not used"),
            Column("ratio", ratio, "used"), Column("markers [mm]", number(1)), Column("trials", str),
            Column("warnings", lambda count: str(count) if count else DASH),
        ),
        rows,
        has_text_column=True,
    )  # fmt: skip


def _linked_report(name: str) -> str:
    return f'<a href="{quote(name)}/{REPORT_FILE}">{escape(name)}</a>'


def _rmse_of_bodies(errors: tuple[float, float, float]) -> str:
    """RMSE of one axis, followed in brackets by the prior's with and without frequency weights."""
    identified, prior, unweighted = (format_number(value, 1) for value in errors)
    return f'{identified} <span class="std">({prior}, {unweighted})</span>'


def _mass_figure(members: Sequence[CohortMember]) -> Figure:
    return Figure(
        "Mass of every link as a share of the body mass: a filled dot for each subject, an open one for its prior; the "
        "bar shows the subjects' mean and one standard deviation between subjects.",
        draw_masses(members),
    )


def mass_table(members: Sequence[CohortMember]) -> Table:
    """Shares of links in the body mass of members with the same links."""
    several = len(members) > 1
    found, prior = (
        (shares.mean(axis=0), shares.std(axis=0, ddof=1) if several else np.full(shares.shape[1], np.nan))
        for shares in mass_fractions(members)
    )
    within = np.sqrt(np.mean([(member.std / member.mass) ** 2 for member in members], axis=0))
    above = "share of body mass [%]"
    return Table(
        f"Share of the body mass [%], mean of {len(members)} subject{'s' * several} ± one standard deviation between "
        "subjects; within a subject: the standard deviation of the identification, root mean square over subjects. If "
        "the spread between subjects is no larger than that within a subject, the data do not show how people differ.",
        (
            Column("link", link), *(Column(title, with_interval(2), above) for title in ("identified", "prior")),
            Column("change", change, above), Column("within a subject", number(2), above),
        ),
        [
            (name, (100.0 * mean, 100.0 * spread), (100.0 * before, 100.0 * before_spread),
             relative_change(mean, before), 100.0 * own)
            for name, mean, spread, before, before_spread, own in zip(members[0].links, *found, *prior, within)
        ],
    )  # fmt: skip


def _fold_warnings(member: CohortMember) -> str:
    """One subject's warnings, folded."""
    count = f"{len(member.warnings)} warning{'s' * (len(member.warnings) > 1)}"
    listed = render_list(member.warnings, "warnings")
    return f"<details><summary><b>{escape(member.name)}</b>: {count}</summary>{listed}</details>"


COHORT_PAGE, COHORT_FILE, COHORT_TABLE = "cohort.html", "cohort.json", "cohort.csv"


def write_cohort(cohort: Cohort, folder: str | Path) -> None:
    """Write the cohort's page, its figures and a table with one row per subject, together or not at all.

    Everything else in the folder is kept, such as the subjects' own folders.

    Raises:
        InputError: the folder cannot be written.
    """
    with write_folder(folder, keep_previous=True) as building:
        COHORT.write(building / COHORT_FILE, cohort)
        with write_atomically(building / COHORT_PAGE) as stream:
            stream.write(render_cohort(cohort))
        with write_atomically(building / COHORT_TABLE) as stream:
            csv.writer(stream, lineterminator="\n").writerows(_rows(cohort))


def _rows(cohort: Cohort) -> Iterator[Sequence[object]]:
    links = list(dict.fromkeys(link for member in cohort.members for link in member.links))
    bodies = ("", " prior", " prior without weights")
    errors = [
        f"RMSE{body} {axis} not used [{unit}]" for body in bodies for axis, unit in zip(WRENCH_AXES, UNITS, strict=True)
    ]
    masses = [f"{what} {link} [kg]" for link in links for what in ("mass", "prior mass")]
    means = ["ratio not used", "ratio used", "marker error [m]", "warnings"]
    yield ["subject", "why not", "mass [kg]", *errors, *means, *masses]
    for member in cohort.members:
        rmse = (*member.rmse, *member.prior_rmse, *member.unweighted_rmse)
        numbers = [member.mass, *rmse, member.mean_ratio, member.mean_ratio_used, member.marker_error]
        found = dict(zip(member.links, zip(member.identified, member.prior, strict=True), strict=True))
        weights = [value for link in links for value in found.get(link, (float("nan"), float("nan")))]
        yield [member.name, "", *map(_cell, numbers), len(member.warnings), *map(_cell, weights)]
    for item in cohort.failed:
        yield [item.name, item.reason, *[""] * (1 + len(errors) + len(means) + len(masses))]


def _cell(value: float) -> str:
    """A number; empty if it is NaN."""
    return f"{value:.9g}" if value == value else ""


def mass_fractions(members: Sequence[CohortMember]) -> tuple[np.ndarray, np.ndarray]:
    """Identified and prior masses of members with the same links, as shares of each one's body mass, (S, L) each."""
    found, prior = (np.array([getattr(m, name) for m in members]) for name in ("identified", "prior"))
    return found / found.sum(axis=1, keepdims=True), prior / prior.sum(axis=1, keepdims=True)


def draw_masses(members: Sequence[CohortMember]) -> str:
    """Share of every link in the body mass: each subject with its prior, and the mean of all."""
    found, prior = (100.0 * shares for shares in mass_fractions(members))
    names = members[0].links
    dots = []
    for member, share, before in zip(members, found, prior, strict=True):
        hints = [
            f"{member.name}, {name}: identified {one:.2f} %, prior {two:.2f} %"
            for name, one, two in zip(names, share, before)
        ]
        dots += [Dots(before, "hollow prior", hints, 3.2, 5.0), Dots(share, "solid identified", hints, 3.2, -5.0)]
    mean, scatter = found.mean(axis=0), found.std(axis=0, ddof=1) if len(members) > 1 else np.full(len(names), np.nan)
    dots.append(Dots(mean, "solid truth", [f"{name}: mean {one:.2f} %" for name, one in zip(names, mean)], 3.2))
    bars = ((mean - scatter, mean + scatter, "interval"),)
    changes = [change(relative_change(one, two)) for one, two in zip(mean, prior.mean(axis=0))]
    legend = (*MASS_LEGEND, ("solid truth", "mean"), ("interval", "one standard deviation between subjects"))
    title = "Mass of every link as a share of the body mass"
    rows = list(map(display_name, names))
    return draw_rows(title, "share of the body mass [%]", rows, dots, legend, bars=bars, notes=changes)
