"""The equations of motion of the free-flying root: kinematics, regressor, wrenches and momentum."""

from .kinematics import LinkMotions, link_motions
from .regressor import STATIC, Axes, RegressorPiece, base_index, regressor_pieces
from .wrench import (
    Momentum,
    base_regressor,
    centroidal_momentum,
    com_trajectory,
    external_wrench,
    predicted_wrench,
)

__all__ = [
    "STATIC",
    "Axes",
    "LinkMotions",
    "Momentum",
    "RegressorPiece",
    "base_index",
    "base_regressor",
    "centroidal_momentum",
    "com_trajectory",
    "external_wrench",
    "link_motions",
    "predicted_wrench",
    "regressor_pieces",
]
