"""A rig and its motion in, kinematics, regressors, wrenches and momentum of a free-flying body out."""

from .anatomical_angles import JointAngles, joint_angles
from .kinematics import LinkMotions, link_motions
from .mechanics import com_and_jacobian
from .regressor import STATIC_PARAMETERS, Axes, RegressorPiece, base_index, regressor_pieces
from .weighted_least_squares import WeightedTree
from .workspace import Workspace, contact_corners, difference, integrate, link_poses
from .wrench import (
    Momentum,
    centroidal_momentum,
    com_trajectory,
    external_wrench,
    ground_wrench,
    predicted_wrench,
    predicted_wrenches,
    wrench_regressor,
)

__all__ = [
    "STATIC_PARAMETERS",
    "Axes",
    "JointAngles",
    "LinkMotions",
    "Momentum",
    "RegressorPiece",
    "WeightedTree",
    "Workspace",
    "base_index",
    "centroidal_momentum",
    "com_and_jacobian",
    "com_trajectory",
    "contact_corners",
    "difference",
    "external_wrench",
    "ground_wrench",
    "integrate",
    "joint_angles",
    "link_motions",
    "link_poses",
    "predicted_wrench",
    "predicted_wrenches",
    "regressor_pieces",
    "wrench_regressor",
]
