"""A robot that is bolted down: motions that excite it, and its inertials from joint torques or a sensor at its base."""

from .bench import BASE, DRIVES, TORQUES, Bench
from .exciting import ExcitingMotion, ExcitingOptions, exciting_motion
from .identify import BenchIdentification, BenchOptions, BenchTrial, identify_bench

__all__ = [
    "BASE",
    "DRIVES",
    "TORQUES",
    "Bench",
    "BenchIdentification",
    "BenchOptions",
    "BenchTrial",
    "ExcitingMotion",
    "ExcitingOptions",
    "exciting_motion",
    "identify_bench",
]
