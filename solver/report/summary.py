"""What a reader should know of a result before anything else, as short sentences for the window."""

from __future__ import annotations

from collections import Counter

from ..identification.published_masses import describe_masses_outside_tables
from ..identification.result import Identification
from ..scene.determined import DATA, MASS_KIND, MOMENT_KIND, SHAPE, TABLES
from ..scene.labels import display_name, join_names
from ..study.values import StudyData
from ..values.inertials import MASS
from ..values.person import UNKNOWN
from .page import summarise_errors

SHOWN_WARNINGS = 3
"""Number of warnings in a summary."""


def summarise_study(study: StudyData, found: Identification) -> tuple[str, ...]:
    """Error on trials not used beside the prior's, what the data determine, masses outside every published table, what
    was assumed of a person's height and sex, and the worst warnings, a sentence each: those of later steps first, from
    a result that the recordings do not decide to markers.
    """
    unseen = [comparison for comparison in found.comparisons if not comparison.used]
    ours, prior, *_ = summarise_errors(unseen) if unseen else ("unknown, none was left out", "unknown")
    counts = Counter((one.source, one.kind) for one in found.determined)
    limbs = f", {counts[DATA, MASS_KIND] - 1} limb masses" * (counts[DATA, MASS_KIND] > 1)
    classes = (
        f"Data: total mass{limbs}, {counts[DATA, MOMENT_KIND]} first moments",
        f"Data and prior's shape: {counts[SHAPE, MASS_KIND]} limb masses",
        f"Prior: single links, {counts[TABLES, MOMENT_KIND]} first moments",
    )
    outside = describe_masses_outside_tables(study.rig, found.parameters, found.half_widths[:, MASS])
    assumed = () if study.calibration is None else study.calibration.assumptions
    return (
        f"Error on trials not used: {ours} (prior {prior})",
        *(classes if found.determined else ()),
        *[f"Outside every table: {join_names([*map(display_name, outside)])}"] * bool(outside),
        *(f"Assumed {text}" for text in assumed if text.startswith("height")),
        *["Assumed sex unknown: the mean of both columns"] * (study.rig.provenance.get("sex") == UNKNOWN),
        *[text for text in reversed(study.warnings) if text not in outside.values()][:SHOWN_WARNINGS],
    )
