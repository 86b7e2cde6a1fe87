"""Writes the files of a cohort next to its subjects' folders."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..storage.atomic import write_atomically
from ..storage.output_folder import write_folder
from .cohort_content import COHORT, Cohort
from .cohort_page import render_cohort
from .figures import AXES, UNITS

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
    errors = [f"RMSE{body} {axis} not used [{unit}]" for body in bodies for axis, unit in zip(AXES, UNITS, strict=True)]
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
