"""Names that files of ours were written with and that have since been replaced: old files keep loading.

A file names the fields of the classes that it holds, members of enumerations, and, where a field admits several
classes, the class. `value_tree` looks up here what it does not find among the present names; files are only ever
written with those.
"""

from __future__ import annotations

from collections.abc import Mapping

CLASSES: Mapping[str, str] = {
    "Deviations": "CalibrationErrorDraws",
    "Errors": "TrialErrors",
    "Failed": "FailedSubject",
    "Flight": "FlightCheck",
    "FromFlight": "FlightIdentification",
    "Left": "ResidualSummary",
    "Load": "LoadSummary",
    "Member": "CohortMember",
    "Suspected": "PlateFinding",
}
"""Present name of a class, by its former name."""
FIELDS: Mapping[str, Mapping[str, str]] = {
    "BoneMapping": {
        "bones": "bone_axes",
        "feet": "foot_segments",
        "root": "root_segment",
        "spread": "foot_widening",
        "told": "notes",
        "turns": "rotations",
        "twists": "twist_weights",
    },
    "Calibration": {
        "assumed": "assumptions",
        "deviations": "error_draws",
        "frames": "frame_counts",
        "shifts": "joint_centre_shifts",
        "sizes": "size_ratios",
    },
    "CalibrationErrorDraws": {"skeleton": "prior", "skin": "soft_tissue"},
    "CohortMember": {"again": "is_new"},
    "Content": {"left": "residuals", "limits": "std_by_source", "suspected": "plate_findings"},
    "FailedSubject": {"why": "reason"},
    "FlightIdentification": {"told": "summary"},
    "MotionRecord": {"drawn": "scene"},
    "PlateFinding": {"warns": "is_warning", "what": "check"},
    "Provenance": {"made": "created"},
    "SceneEstimate": {"needed": "required_wrench"},
    "SceneFailure": {"said": "text"},
    "SceneSummary": {"troubles": "problems"},
    "TraceEntry": {"straight": "straight_criterion"},
    "TrackingErrors": {"seen": "visible_fraction"},
}
"""Of a class (by its present name): the present name of a field or member, by its former name."""
REMOVED: Mapping[str, frozenset[str]] = {
    "Motion": frozenset({"shifts"}),
}
"""Of a class (by its present name): entries that files may hold and that nothing reads any more; they are ignored."""


def present_class(name: str) -> str:
    """The present name of a class that a file names."""
    return CLASSES.get(name, name)


def present_field(owner: type, name: str) -> str:
    """The present name of a field, or of a member of an enumeration, that a file names."""
    return FIELDS.get(owner.__name__, {}).get(name, name)


def is_removed(owner: type, name: str) -> bool:
    """Whether an entry is of a field that its class no longer has."""
    return name in REMOVED.get(owner.__name__, ())
