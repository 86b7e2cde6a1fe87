"""A motion in, margins of joints, balance, friction and collisions in every frame out."""

from __future__ import annotations

from ..contacts.support import SupportPolygon, convex_polygon, support_polygon
from ..dynamics.coordinates import coordinate_names, joint_coordinates
from ..dynamics.mechanics import DynamicState, Mechanics, moving_coordinates
from ..options.checks import DANCE_CHECKS, DISTRIBUTIONS, ROBOT_SHRINK, CheckOptions
from .capsules import CapsulePairs
from .check_definition import Check
from .check_input import CheckedBody, CheckInput, PlantedPhase
from .check_results import Checks, Failure, Margin
from .checker import FrameChecker, check_motion
from .checks.joint_limits import angle_margins, speed_margins, torque_margins
from .checks.planted_feet import patch_points, placement_errors, slip_distances
from .collisions import CollisionDetector, NearPairs
from .contact_forces import (
    foot_wrenches,
    joint_torques,
    load_shares,
    surface_axes,
    zero_moment_point,
)
from .link_pairs import collision_pairs

__all__ = [
    "DANCE_CHECKS",
    "DISTRIBUTIONS",
    "ROBOT_SHRINK",
    "CapsulePairs",
    "Check",
    "CheckInput",
    "CheckOptions",
    "CheckedBody",
    "Checks",
    "CollisionDetector",
    "DynamicState",
    "Failure",
    "FrameChecker",
    "Margin",
    "Mechanics",
    "NearPairs",
    "PlantedPhase",
    "SupportPolygon",
    "angle_margins",
    "check_motion",
    "collision_pairs",
    "convex_polygon",
    "coordinate_names",
    "foot_wrenches",
    "joint_coordinates",
    "joint_torques",
    "load_shares",
    "moving_coordinates",
    "patch_points",
    "placement_errors",
    "slip_distances",
    "speed_margins",
    "support_polygon",
    "surface_axes",
    "torque_margins",
    "zero_moment_point",
]
