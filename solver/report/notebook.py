"""Results as HTML fragments for notebooks, with the report's own figures and tables."""

from __future__ import annotations

from html import escape

from ..identification.result import Identification
from ..scene.labels import display_name
from ..study.values import Study
from . import plot
from .tables import format_number, format_with_std, render_table


def render_study(study: Study) -> str:
    """The masses of a study and, per trial, measured and reconstructed wrenches; its text without an identification."""
    if study.identification is None:
        return f"<pre>{escape(repr(study))}</pre>"
    figures = [plot.draw_masses(study), *(plot.draw_wrenches(study, trial.name) for trial in study.trials[:1])]
    return "".join([f"<pre>{escape(repr(study))}</pre>", *(figure.svg for figure in figures)])


def render_identification(found: Identification) -> str:
    """A table of every link: mass [kg] with its standard deviation, prior [kg] and the share from the data."""
    rows = []
    for link in found:
        index, std = found.parameters.index(link.link), found.uncertainty
        mass = format_number(link.mass, 3) if std is None else format_with_std(link.mass, float(std.std[index, 0]), 3)
        share = f"{100.0 * link.determined:.0f} %"
        rows.append([escape(display_name(link.link)), mass, format_number(link.prior.mass, 3), share])
    return render_table(["link", "mass [kg]", "prior [kg]", "from the data"], rows)
