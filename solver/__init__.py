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

The names below are imported when first used, so that ``import solver`` costs nothing. The rarer ones stay in the
sub-packages, such as ``solver.tracking.TrackingOptions``; `PUBLIC_IN_PACKAGES` lists them.
"""

from __future__ import annotations

from .base.lazy_imports import lazy_exports

PUBLIC_IN_PACKAGES: dict[str, tuple[str, ...]] = {
    "calibration": ("Recognition", "fit_calibration"),
    "centroidal": (
        *("CausalFilter", "CentroidalData", "CentroidalEstimate", "InertialModes", "LiveSample"),
        *("centroidal_data", "estimate_centroidal"),
    ),
    "dance": (
        *("CheckResult", "DesignedDance", "EditedDance", "LoadedDance", "PerformedDance", "RetargetLimits"),
        *("RetargetedDance", "human_options", "paper_options"),
    ),
    "demo": ("simulated_person", "simulated_robot"),
    "dynamics": (
        *("base_regressor", "centroidal_momentum", "com_trajectory", "external_wrench", "joint_angles"),
        "predicted_wrench",
    ),
    "base.errors": ("UnknownLink", "UnknownMarker", "UnknownName"),
    "fixed_base": (
        *("ExcitingOptions", "FixedBaseOptions", "FixedBaseRobot", "FixedBaseTrial", "exciting_motion"),
        "identify_fixed_base",
    ),
    "identification": (
        *("AddedLoad", "NullSpace", "Regression", "accumulate_regression", "find_added_load", "null_space"),
    ),
    "moments": ("ContactLinks", "JointMoments", "assign_wrenches", "compute_moments", "moments_of_study"),
    "report": ("write_moments",),
    "rigs": ("ContactPolygon", "Joint", "Limits", "Shape"),
    "signals": ("find_flights",),
    "study": ("TrialRecord", "identify_motions", "joints_of", "poses_of", "track_all"),
    "tracking": (
        *("Attachment", "BoneMapping", "CorrectedLabels", "Performer", "RetargetedMotion", "Swap"),
        *("Targets", "TrackedMotion", "TrackingOptions", "correct_labels", "smooth", "track_markers"),
    ),
}
"""Public names that are not here but in a sub-package."""

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base.errors": ("Cancelled", "InputError", "InvalidValue", "SolverError"),
        "values.motion": ("JointCoordinates", "Markers", "Motion"),
        "values.wrenches": ("Wrenches",),
        "values.inertials": ("InertialParameters",),
        "skeleton.rig": ("Rig",),
        "signals.trial": ("Recording", "Trial"),
        "rigs": ("build_rig", "from_mjcf", "from_opensim", "from_urdf", "hoap3", "hrp2", "human"),
        "scene.rig": ("read_rig", "write_rig"),
        "options.reading": ("ReadOptions",),
        "options.study": ("LoadOptions", "Settings"),
        "formats.recording": ("read_recording",),
        "study.recordings": ("load",),
        "calibration": ("Calibration", "recognise"),
        "study.subject_calibration": ("calibrate",),
        "study.values": ("Study",),
        "study.pipeline": ("identify", "track"),
        "study.comparison": ("compare",),
        "study.find_load": ("find_load",),
        "cohorts.run": ("cohort",),
        "report.study_folder": ("write_study",),
        "identification.identify": ("IdentifyOptions", "identify_trials"),
        "identification.result": ("Identification",),
        "identification.base_parameters": ("BaseParameters", "base_parameters"),
        "centroidal.estimate": ("estimate_study", "write_estimates"),
        "options.checks": ("CheckOptions",),
        "options.plates": ("PlateOptions",),
        "options.dances": ("DanceOptions",),
        "options.authoring": ("CompleteOptions", "RepairOptions", "RetargetOptions"),
        "dance.workflows.check": ("check",),
        "dance.workflows.complete": ("complete",),
        "dance.workflows.design": ("design",),
        "dance.workflows.export": ("export",),
        "dance.workflows.loading": ("load_authored_dance", "load_dance"),
        "dance.workflows.perform": ("perform",),
        "dance.workflows.repair": ("repair",),
        "dance.workflows.retarget": ("retarget",),
        "dance.workflows.slow": ("slow",),
        "version": ("VERSION",),
    },
    packages={name: name for name in (*PUBLIC_IN_PACKAGES, "formats", "scene")}
    | {"errors": "base.errors", "plot": "report.plot"},
)
