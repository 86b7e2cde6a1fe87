"""What a reader should know of a result before anything else, as sentences for the window."""

from __future__ import annotations

from ..identification.published_masses import describe_masses_outside_tables
from ..identification.result import Identification
from ..scene.determined import describe_determined
from ..study.values import Study
from ..values.inertials import MASS
from ..values.person import UNKNOWN
from .page import summarise_errors

SHOWN_WARNINGS = 3
"""Number of warnings in a summary."""


def summarise_study(study: Study, found: Identification) -> tuple[str, ...]:
    """Error on trials not used beside the prior's, what the data determine, masses outside every published table, what
    was assumed of the person, and the worst warnings, a sentence each: those of later steps first, from a result that
    the recordings do not decide to markers.
    """
    unseen = [comparison for comparison in found.comparisons if not comparison.used]
    error = "Error on trials not used: unknown, none was left out"
    if unseen:
        ours, prior, *_ = summarise_errors(unseen)
        error = f"Error on trials not used: {ours} (prior {prior})"
    outside = describe_masses_outside_tables(study.rig, found.parameters, found.half_widths[:, MASS])
    assumed = [] if study.calibration is None else [*study.calibration.assumptions]
    assumed += ["sex unknown: the mean of both columns"] * (study.rig.provenance.get("sex") == UNKNOWN)
    warnings = [text for text in reversed(study.warnings) if text not in outside][:SHOWN_WARNINGS]
    return (
        error,
        *describe_determined(found.determined, study.rig.prior_source),
        *outside,
        *(f"Assumed: {text}" for text in assumed),
        *warnings,
    )
