"""Robots with a fixed base: exciting motions, and inertials from joint torques or from a force sensor at the base."""

from .comparison import FixedBaseComparison, FixedBaseModel, compare_fixed_base
from .exciting_motions import ExcitingMotion, ExcitingOptions, exciting_motion
from .identify import FixedBaseIdentification, FixedBaseOptions, FixedBaseTrial, identify_fixed_base
from .robot import BASE, DRIVES, TORQUES, FixedBaseRobot

__all__ = [
    "BASE",
    "DRIVES",
    "TORQUES",
    "ExcitingMotion",
    "ExcitingOptions",
    "FixedBaseComparison",
    "FixedBaseIdentification",
    "FixedBaseModel",
    "FixedBaseOptions",
    "FixedBaseRobot",
    "FixedBaseTrial",
    "compare_fixed_base",
    "exciting_motion",
    "identify_fixed_base",
]
