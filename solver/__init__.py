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
        *("centroidal_data", "estimate_centroidal", "write_estimates"),
    ),
    "dance": (
        *("CheckResult", "DesignedDance", "EditedDance", "LoadedDance", "PerformedDance", "RetargetLimits"),
        *("RetargetedDance", "human_options", "paper_options"),
    ),
    "demo": ("simulated_person", "simulated_robot"),
    "dynamics": (
        *("centroidal_momentum", "com_trajectory", "external_wrench", "joint_angles", "predicted_wrench"),
        "wrench_regressor",
    ),
    "errors": ("UnknownLink", "UnknownMarker", "UnknownName"),
    "fixed_base": (
        *("ExcitingOptions", "FixedBaseOptions", "FixedBaseRobot", "FixedBaseTrial", "exciting_motion"),
        "identify_fixed_base",
    ),
    "identification": (
        *("AddedLoad", "NullSpace", "Regression", "accumulate_regression", "base_regressor", "find_added_load"),
        "null_space",
    ),
    "moments": ("ContactLinks", "JointMoments", "assign_wrenches", "compute_moments"),
    "report": ("write_moments",),
    "rigs": ("ContactPolygon", "Joint", "Limits", "Shape"),
    "signals": ("find_flights",),
    "study": ("TrialRecord", "joints_of", "poses_of", "track_all"),
    "tracking": (
        *("Attachment", "BoneMapping", "CorrectedLabels", "Performer", "RetargetedMotion", "Swap"),
        *("Targets", "TrackedMotion", "TrackingOptions", "correct_labels", "smooth", "track_markers"),
    ),
    "workflow": ("identify_motions",),
}
"""Public names that are not here but in a sub-package."""

__all__, __getattr__, __dir__ = lazy_exports(__name__)
