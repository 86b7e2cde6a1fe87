"""The report's page: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from ..identification.comparison import Comparison
from ..identification.estimate import group_bounds
from ..scene.labels import display_name
from ..study.residuals import FORCE_THRESHOLD, MOMENT_THRESHOLD, TrialResidual
from . import figures
from .content import Content, Signals, TrialAngles
from .coordinate_figures import draw_coordinates, draw_cycles
from .document import (
    Block,
    Card,
    Figure,
    build_document,
    render_cards,
    render_definitions,
    render_list,
)
from .parameter_tables import (
    group_table,
    inertia_table,
    load_table,
    mass_table,
    moment_table,
    truth_table,
)
from .recording_tables import (
    error_table,
    finding_table,
    flight_intervals_table,
    flight_table,
    frame_table,
    marker_table,
    mean_error_table,
    residual_table,
    weighing_table,
)
from .tables import finite_mean, format_number

MIN_ANGLE_RANGE = 5.0
"""[deg] Smallest range of a panel."""


def render(content: Content) -> str:
    """The whole page."""
    label = '<span class="simulated">simulated data</span>' if content.simulated else ""
    reason = f"<p><strong>{escape(content.undecided_reason)}</strong></p>" if content.undecided_reason else ""
    head = (
        f"<header><h1>{escape(content.title)} {label}</h1>{reason}<p>{escape(content.subject)}</p>"
        f'{render_cards(build_cards(content))}<figure id="body"></figure></header>'
    )
    return build_document(content.title, head, build_sections(content))


def build_sections(content: Content) -> tuple[tuple[str, Sequence[Block]], ...]:
    """Sections in the order of the page: title and blocks."""
    notes = render_list(content.notes)
    return (
        ("What the data determine", [group_table(content), moment_table(content)]),
        ("Warnings", [render_list(content.warnings, "warnings")]),
        (
            "Identified parameters",
            [
                _mass_figure(content),
                mass_table(content),
                inertia_table(content),
                _list_bounds(content),
            ],
        ),
        ("Added load", [load_table(content), _list_carriers(content)]),
        ("Comparison with the truth", [truth_table(content)]),
        ("Explained forces and moments", [mean_error_table(content), error_table(content), residual_table(content)]),
        ("Forces and moments over time", [*map(_wrench_figure, content.signals)]),
        ("Frames", [frame_table(content)]),
        (
            "Identification from flight",
            [
                "" if content.from_flight is None else f"<p>{escape(content.from_flight.summary)}.</p>",
                flight_intervals_table(content),
            ],
        ),
        ("Flight", [flight_table(content)]),
        ("Plate checks", [finding_table(content)]),
        ("Body mass", [weighing_table(content)]),
        ("Marker tracking", [marker_table(content), _marker_figure(content)]),
        ("Joint angles", [build_angle_figure(one) for one in content.angles]),
        ("Methods", [render_definitions(content.methods), f"<h3>Notes</h3>{notes}" if notes else ""]),
    )


def build_cards(content: Content) -> list[Card]:
    """The figures that a reader should see first."""
    spread = f" ± {format_number(content.mass_half_width, 2)}" if np.isfinite(content.mass_half_width) else ""
    name, _, variant = content.method.replace("_", " ").partition(", ")
    cards = [
        ("total mass", f"{format_number(content.mass, 2)}{spread}&nbsp;kg", "from all trials given"),
        ("method", escape(name), escape(f"{variant}; {content.satisfies}" if variant else content.satisfies)),
    ]
    for used, title in ((False, "trials not used"), (True, "trials used")):
        some = [comparison for comparison in content.comparisons if comparison.used == used]
        if some:
            cards.append((title, *_error_card(some)))
    if content.residuals:
        cards.append(("usual thresholds", *_summarise_thresholds(content.residuals)))
    if content.tracking:
        total = 1e3 * float(np.mean([trial.total for trial in content.tracking]))
        cards.append(("marker error", f"{format_number(total, 1)} mm", "RMSE over markers and frames, mean of trials"))
    return cards


def _summarise_thresholds(residuals: Sequence[TrialResidual]) -> tuple[str, str]:
    """How many trials are within the usual thresholds, and the peaks of the worst one."""
    met = sum(row.meets_thresholds for row in residuals)
    peaks = ([row.force_share[1] for row in residuals], [row.moment_share[1] for row in residuals])
    force, moment = (format_number(100.0 * max(shares, key=np.nan_to_num), 1) for shares in peaks)
    value = "met" if met == len(residuals) else f"met by {met} of {len(residuals)}"
    text = (
        f"peak residual force at most {force} % of the peak (usual: {100.0 * FORCE_THRESHOLD:g} %), "
        f"moment {moment} % of CoM height times peak ({100.0 * MOMENT_THRESHOLD:g} %); trials used"
    )
    return value, text


def summarise_errors(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """RMSE of force and moment, means over axes and trials: identified, prior, and prior without frequency weights."""
    fits = zip(*((c.identified, c.prior, c.unweighted_prior) for c in comparisons), strict=True)
    means = (finite_mean([fit.rmse for fit in own]) for own in fits)
    return tuple(
        f"{format_number(finite_mean(mean[:3]), 1)} N, {format_number(finite_mean(mean[3:]), 1)} N m" for mean in means
    )


def _error_card(comparisons: Sequence[Comparison]) -> tuple[str, str]:
    """RMSE of force and moment, and the prior's; the ratio comes last."""
    ours, prior, unweighted = (
        text.replace(" N", "&nbsp;N").replace("N m", "N&nbsp;m") for text in summarise_errors(comparisons)
    )
    ratio = finite_mean(np.concatenate([comparison.ratio for comparison in comparisons]))
    text = (
        f"RMSE of forces and moments, mean of axes and of {len(comparisons)} trial{'s' * (len(comparisons) != 1)}; "
        f"prior {prior}, without frequency weights {unweighted}; mean ratio to the prior {format_number(ratio, 2)}"
    )
    return ours, text


def _mass_figure(content: Content) -> Figure:
    return Figure(
        "Masses of limbs and trunk, then of every link as split by "
        f"{escape(content.prior_source)}: prior (open) and identified (filled) with its 95 % interval; at the right "
        f"the change against the prior, which is scaled to the measured mass.",
        figures.draw_masses(content),
    )


def _list_bounds(content: Content) -> str:
    bounds = render_list(words.replace("_", " ") for words in group_bounds(content.on_bounds))
    if not bounds:
        return "<p>No parameter ended on a bound.</p>"
    return f"<p><b>On a bound</b> (without the bound, the data would give a more extreme value):</p>{bounds}"


def _list_carriers(content: Content) -> str:
    """Other links that may carry the load."""
    text = "" if content.load is None else escape(display_name(content.load.not_excluded))
    return text and f"<p>{text[0].upper()}{text[1:]}.</p>"


def _wrench_figure(signals: Signals) -> Figure:
    lag = f" The plates lag the motion by {format_number(1e3 * signals.lag, 1)} ms, which was removed."
    return Figure(
        f"External wrench during <b>{escape(signals.trial)}</b>.{lag if np.isfinite(signals.lag) else ''}",
        figures.draw_wrenches(signals),
    )


def build_angle_figure(angles: TrialAngles) -> Figure:
    table = [(name, "deg") for name in angles.names], angles.values, np.full(angles.values.shape, np.nan)
    if angles.cycles:
        caption, drawing = draw_cycles(angles.trial, angles.times, table, MIN_ANGLE_RANGE, angles.cycles)
    else:
        caption, title = "Over time.", f"Joint angles during {angles.trial}"
        drawing = draw_coordinates(title, ("time [s]", angles.times), table, MIN_ANGLE_RANGE)
    return Figure(f"Joint angles of the ISB during <b>{escape(angles.trial)}</b>. {caption}", drawing)


def _marker_figure(content: Content) -> Figure:
    known = any(np.isfinite(trial.rmse).any() for trial in content.tracking)
    return Figure(
        "RMSE of every marker.",
        figures.draw_marker_errors(content.tracking) if known else "",
    )
