"""Matrices and bounds in, solutions of quadratic programs and hierarchies out; independent of robotics."""

from .backends import BACKENDS, LINEAR, SPARSE, solve
from .hierarchy import HierarchySolution, Level, LevelOptimum, solve_hierarchy
from .problem import EXPONENTIAL, PSD, SECOND_ORDER, Cone, Problem, Rows, RowSource, matrix_of, triangle_of
from .solution import Solution, Status

__all__ = [
    "BACKENDS",
    "EXPONENTIAL",
    "LINEAR",
    "PSD",
    "SECOND_ORDER",
    "SPARSE",
    "Cone",
    "HierarchySolution",
    "Level",
    "LevelOptimum",
    "Problem",
    "RowSource",
    "Rows",
    "Solution",
    "Status",
    "matrix_of",
    "solve",
    "solve_hierarchy",
    "triangle_of",
]
