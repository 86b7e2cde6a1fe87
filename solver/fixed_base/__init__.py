"""A robot that is bolted down: motions that excite it, and its inertials from joint torques or a sensor at its base."""

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
