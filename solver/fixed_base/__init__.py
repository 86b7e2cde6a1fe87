"""A robot that is bolted down: motions that excite it, and its inertials from joint torques or a sensor at its base."""

from .bench import BASE, DRIVES, TORQUES, Bench
from .comparison import BenchComparison, BenchModel, compare_bench
from .exciting import ExcitingMotion, ExcitingOptions, exciting_motion
from .identify import BenchIdentification, BenchOptions, BenchTrial, identify_bench

__all__ = [
    "BASE",
    "DRIVES",
    "TORQUES",
    "Bench",
    "BenchComparison",
    "BenchIdentification",
    "BenchModel",
    "BenchOptions",
    "BenchTrial",
    "ExcitingMotion",
    "ExcitingOptions",
    "compare_bench",
    "exciting_motion",
    "identify_bench",
]
