"""Results as HTML fragments for notebooks, with the report's own figures and tables."""

from __future__ import annotations

from html import escape

import numpy as np

from ..identification.result import Identification
from ..inertials import MASS
from ..study.values import Study
from . import plot
from .tables import Column, Table, link, number, render_table, with_std


def render_study(study: Study) -> str:
    """The masses of a study and, per trial, measured and reconstructed wrenches; its text without an identification."""
    if study.identification is None:
        return f"<pre>{escape(repr(study))}</pre>"
    figures = [plot.draw_masses(study), *(plot.draw_wrenches(study, trial.name) for trial in study.trials[:1])]
    return "".join([f"<pre>{escape(repr(study))}</pre>", *(figure.svg for figure in figures)])


def render_identification(found: Identification) -> str:
    """A table of every link: mass [kg] with its standard deviation, prior [kg] and the share from the data."""
    std = np.full(len(found.parameters.links), np.nan) if found.uncertainty is None else found.uncertainty.std[:, MASS]
    return render_table(
        Table(
            "",
            (
                Column("link", link), Column("mass [kg]", with_std(3)), Column("prior [kg]", number(3)),
                Column("from the data", lambda value: f"{100.0 * value:.0f} %"),
            ),
            [(one.link, (one.mass, deviation), one.prior.mass, one.determined)
             for one, deviation in zip(found, std, strict=True)],
        )
    )  # fmt: skip
