"""Is a motion feasible: joint limits, balance, friction, feet, collisions, each with its margin in every frame."""

from __future__ import annotations

from ..check_options import DANCE_CHECKS, DISTRIBUTIONS, PAIR_PRESETS, ROBOT_SHRINK, CheckOptions
from ..contacts.support import SupportPolygon, convex_polygon, support_polygon
from ..coordinates import coordinate_names, joint_coordinates
from ..dynamics.mechanics import Mechanics, State, chain
from .balance import foot_wrenches, friction_margins, joint_torques, shares, surface_axes, zero_moment_point
from .capsules import CapsulePairs
from .check import FrameChecker, check_motion
from .collisions import CollisionDetector, NearPairs
from .definition import Check
from .feet import patch_points, placement, slip
from .joints import angle_margins, speed_margins, torque_margins
from .margins import Checks, Failure, Margin
from .pairs import collision_pairs
from .situation import Body, PlantedPhase, Situation
from .table import check_named

__all__ = [
    "DANCE_CHECKS",
    "DISTRIBUTIONS",
    "PAIR_PRESETS",
    "ROBOT_SHRINK",
    "Body",
    "CapsulePairs",
    "Check",
    "CheckOptions",
    "Checks",
    "CollisionDetector",
    "Failure",
    "FrameChecker",
    "Margin",
    "Mechanics",
    "NearPairs",
    "PlantedPhase",
    "Situation",
    "State",
    "SupportPolygon",
    "angle_margins",
    "chain",
    "check_motion",
    "check_named",
    "collision_pairs",
    "convex_polygon",
    "coordinate_names",
    "foot_wrenches",
    "friction_margins",
    "joint_coordinates",
    "joint_torques",
    "patch_points",
    "placement",
    "shares",
    "slip",
    "speed_margins",
    "support_polygon",
    "surface_axes",
    "torque_margins",
    "zero_moment_point",
]
