"""Exciting dances, tracking and identification of a body's inertial parameters.

Units are SI, angles radians, z points up, the world is W, quaternions are (x, y, z, w). Time runs along the first axis.

===========  ==========================================================================================================
symbol       meaning
===========  ==========================================================================================================
q, v, a      configuration (nq,), velocity and acceleration (nv,) as Pinocchio writes them, free-flyer root first
phi          inertial parameters (10 L,): m, h = m c, I about the link origin as xx xy yy xz yz zz, links in order
Y            regressor: Y phi is the external wrench at the base link, force then moment (jovic2016 (3))
W_b, phi_b   base parameters' regressor and values: W_b phi_b = Y phi (bonnet2016 (4))
f            measured external wrench, force [N] then moment [N m]
X_AB         maps B to A
===========  ==========================================================================================================

The public names below are imported when first used, so that ``import solver`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "errors": ("Cancelled", "InputError", "InvalidValue", "SolverError", "UnknownLink", "UnknownMarker"),
    "motion": ("JointCoordinates", "Markers", "Motion"),
    "wrenches": ("Wrenches",),
    "inertials": ("InertialParameters",),
    "rig": ("Rig",),
    "joints": ("Joint", "Limits"),
    "patch": ("ContactPolygon",),
    "shape": ("Shape",),
    "trial": ("Recording", "Trial"),
    "study.values": ("Settings", "Study", "TrialRecord"),
    "scene.rig": ("read_rig", "write_rig"),
    "rigs": ("build_rig", "from_mjcf", "from_urdf", "hoap3", "hrp2", "human"),
    "formats.recording": ("find_recordings", "read_recording"),
    "calibration": ("Calibration", "Recognition", "fit_calibration", "recognise"),
    "tracking": (
        "Attachment",
        "CorrectedLabels",
        "Swap",
        "Targets",
        "TrackedMotion",
        "TrackingOptions",
        "correct_labels",
        "track_markers",
    ),
    "tracking.bone_mapping": ("BoneMapping",),
    "tracking.retargeting.performer": ("Performer",),
    "tracking.retargeting.retargeted_motion": ("RetargetOptions", "RetargetedMotion"),
    "tracking.smoothing": ("SmoothingOptions", "smooth"),
    "dynamics": ("base_regressor", "centroidal_momentum", "com_trajectory", "external_wrench", "predicted_wrench"),
    "identification.accumulate": ("accumulate",),
    "identification.base_parameters": ("BaseParameters", "base_parameters"),
    "identification.identify": ("IdentifyOptions", "identify_trials"),
    "identification.result": ("Identification",),
    "identification.flight": ("NullSpace", "null_space"),
    "signals.flights": ("FlightRules", "find_flights"),
    "centroidal.values": ("CentroidalData", "CentroidalEstimate", "InertialModes"),
    "centroidal.inputs": ("centroidal_data",),
    "centroidal.estimate": ("estimate_centroidal",),
    "centroidal.folder": ("estimate_study", "write_estimates"),
    "centroidal.live": ("CausalFilter", "LiveSample"),
    "scene.centroidal_estimate": ("SceneEstimate",),
    "identification.regression": ("Regression",),
    "check_options": ("CheckOptions",),
    "dance.design.options": ("DanceOptions", "human_options", "paper_options"),
    "dance.authoring.complete": ("CompleteOptions",),
    "dance.authoring.repair": ("RepairOptions",),
    "dance.workflows.edited_dance": ("EditedDance",),
    "dance.workflows.check": ("CheckResult", "check"),
    "dance.workflows.complete": ("complete",),
    "dance.workflows.design": ("DesignedDance", "design"),
    "dance.workflows.export": ("export",),
    "dance.workflows.perform": ("PerformedDance", "perform"),
    "dance.workflows.loading": ("LoadedDance", "load_dance", "load_authored_dance"),
    "dance.workflows.repair": ("repair",),
    "dance.workflows.retarget": ("RetargetedDance", "RetargetLimits", "retarget"),
    "dance.workflows.slow": ("slow",),
    "fixed_base.exciting_motions": ("ExcitingOptions", "exciting_motion"),
    "fixed_base.identify": ("FixedBaseOptions", "FixedBaseTrial", "identify_fixed_base"),
    "fixed_base.robot": ("FixedBaseRobot",),
    "identification.added_load": ("AddedLoad", "LoadOptions", "find_added_load"),
    "study.recordings": ("load",),
    "study.subject_calibration": ("calibrate",),
    "study.tracking": ("track_all",),
    "study.pipeline": ("identify", "identify_motions", "track"),
    "study.comparison": ("compare",),
    "study.find_load": ("find_load",),
    "study.joint_motion": ("joints_of", "poses_of"),
    "cohorts.run": ("cohort",),
    "demo.examples": ("simulated_person", "simulated_robot"),
    "report.study_folder": ("write_study",),
    "version": ("VERSION",),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
