"""Results as HTML fragments for notebooks, with the report's own figures and tables."""

from __future__ import annotations

from html import escape

from ..identification.result import Identification
from ..study.values import Study
from ..values.inertials import MASS
from . import plot
from .tables import Column, Table, link, number, render_table, with_interval


def render_study(study: Study) -> str:
    """The masses of a study and, per trial, measured and reconstructed wrenches; its text without an identification."""
    if study.identification is None:
        return f"<pre>{escape(repr(study))}</pre>"
    figures = [plot.draw_masses(study), *(plot.draw_wrenches(study, trial.name) for trial in study.trials[:1])]
    return "".join([f"<pre>{escape(repr(study))}</pre>", *(figure.svg for figure in figures)])


def render_identification(found: Identification) -> str:
    """A table of every link: mass [kg] with half of its 95 % interval, and prior [kg]."""
    return render_table(
        Table(
            "",
            (Column("link", link), Column("mass [kg]", with_interval(3)), Column("prior [kg]", number(3))),
            [(one.link, (one.mass, width[MASS]), one.prior.mass)
             for one, width in zip(found, found.half_widths, strict=True)],
        )
    )  # fmt: skip
