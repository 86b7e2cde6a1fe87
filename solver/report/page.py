"""The report's page: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from ..study.residuals import FORCE_THRESHOLD, MOMENT_THRESHOLD
from .content import Content, ResidualSummary, TrialErrors
from .document import Numbering, build_document, render_card, render_cards
from .sections import (
    added_load,
    excitation,
    flight,
    joint_moments,
    marker_errors,
    parameters,
    plates,
    signals,
    wrench_errors,
)
from .tables import finite_mean, format_number


def render(content: Content) -> str:
    """The whole page."""
    numbering = Numbering()
    sections = [(title, make(content, numbering)) for title, make in SECTIONS]
    sections = [(title, body) for title, body in sections if body]
    return build_document(content.title, _render_head(content), sections)


def _render_head(content: Content) -> str:
    label = '<span class="simulated">simulated data</span>' if content.simulated else ""
    reason = f"<p><strong>{escape(content.undecided_reason)}</strong></p>" if content.undecided_reason else ""
    return (
        f"<header><h1>{escape(content.title)} {label}</h1>{reason}<p>{escape(content.subject)}</p>"
        f"{render_cards(_render_cards(content))}</header>"
    )


def _render_cards(content: Content) -> list[str]:
    spread = f" ± {format_number(content.mass_std, 2)}" if np.isfinite(content.mass_std) else ""
    cards = [
        render_card("total mass", f"{format_number(content.mass, 2)}{spread}&nbsp;kg", "from all trials given"),
        render_card("method", *_split_method(content)),
    ]
    for used, title in ((False, "trials not used"), (True, "trials used")):
        some = [error for error in content.errors if error.used == used]
        if some:
            cards.append(render_card(title, *_summarise_errors(some)))
    if content.residuals:
        cards.append(render_card("usual thresholds", *_summarise_thresholds(content.residuals)))
    if content.tracking:
        total = 1e3 * float(np.mean([trial.total for trial in content.tracking]))
        cards.append(
            render_card("marker error", f"{format_number(total, 1)} mm", "RMSE over markers and frames, mean of trials")
        )
    return cards


def _summarise_thresholds(left: Sequence[ResidualSummary]) -> tuple[str, str]:
    """How many trials are within the usual thresholds, and the peaks of the worst one."""
    met = sum(row.meets for row in left)
    force, moment = (max(shares, default=np.nan, key=np.nan_to_num) for shares in (
        [row.force_share[1] for row in left], [row.moment_share[1] for row in left]
    ))  # fmt: skip
    value = "met" if met == len(left) else f"met by {met} of {len(left)}"
    text = (
        f"peak residual force at most {format_number(100.0 * force, 1)} % of the peak (usual: "
        f"{100.0 * FORCE_THRESHOLD:g} %), "
        f"moment {format_number(100.0 * moment, 1)} % of CoM height times peak ({100.0 * MOMENT_THRESHOLD:g} %); "
        f"trials used"
    )
    return value, text


def _split_method(content: Content) -> tuple[str, str]:
    """Name of the method, and its variant with the consistency of the result."""
    name, _, variant = content.method.replace("_", " ").partition(", ")
    return escape(name), escape(f"{variant}; {content.satisfies}" if variant else content.satisfies)


def _summarise_errors(errors: Sequence[TrialErrors]) -> tuple[str, str]:
    """RMSE of force and moment, means over axes and trials, and the prior's; the ratio comes last."""
    ours, prior, unweighted = (
        f"{format_number(finite_mean(mean[:3]), 1)}&nbsp;N, {format_number(finite_mean(mean[3:]), 1)}&nbsp;N&nbsp;m"
        for mean in (
            finite_mean([getattr(error, name) for error in errors])
            for name in ("identified_rmse", "prior_rmse", "unweighted_rmse")
        )
    )
    ratio = finite_mean(np.concatenate([error.identified_rmse / error.prior_rmse for error in errors]))
    text = (
        f"RMSE of forces and moments, mean of axes and of {len(errors)} trial{'s' * (len(errors) != 1)}; "
        f"prior {prior}, without frequency weights {unweighted}; mean ratio to the prior {format_number(ratio, 2)}"
    )
    return ours, text


def _render_warnings(content: Content, numbering: Numbering) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in content.warnings)
    return f'<ul class="warnings">{items}</ul>' if items else ""


def _render_methods(content: Content, numbering: Numbering) -> str:
    rows = "".join(f"<dt>{escape(what)}</dt><dd>{escape(how)}</dd>" for what, how in content.methods)
    notes = "".join(f"<li>{escape(note)}</li>" for note in content.notes)
    return f"<dl>{rows}</dl>" + (f"<h3>Notes</h3><ul>{notes}</ul>" if notes else "")


SECTIONS: tuple[tuple[str, Callable[[Content, Numbering], str]], ...] = (
    ("Warnings", _render_warnings),
    ("Identified parameters", parameters.render_parameters),
    ("Added load", added_load.render_load),
    ("Comparison with the truth", parameters.render_truth),
    ("Explained forces and moments", wrench_errors.render_fit),
    ("Forces and moments over time", signals.render_signals),
    ("Frames", signals.render_windows),
    ("Joint moments", joint_moments.render_joint_moments),
    ("Identification from flight", flight.render_flight_identification),
    ("Flight", flight.render_flight),
    ("Plate checks", plates.render_plates),
    ("Body mass", plates.render_mass),
    ("Marker tracking", marker_errors.render_tracking),
    ("What the motion determines", excitation.render_rank),
    ("Methods", _render_methods),
)
"""Sections in the order of the page: title, and the function that renders it; an empty text leaves it out."""
