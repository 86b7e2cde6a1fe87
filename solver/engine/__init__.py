"""Rigid-body kinematics and dynamics of a tree, and distances between shapes.

The only package that imports Pinocchio and coal. A `Model` is what `build_model` returns; nothing else of it is used
outside of this package. Arrays are in the project's conventions, frames first.
"""

from __future__ import annotations

from .coal_distances import ShapeDistances, Solid, convex_hull_solid, solid_distance, solid_of
from .pinocchio_frames import FrameDynamics, difference, integrate
from .pinocchio_model import LARGEST, Model, build_model
from .pinocchio_tree import LoadedTree, PosedTree

POSE_SIZE = 12
"""Numbers of one pose: the axes x, y and z of a link in the world (9), then its origin (3)."""

__all__ = [
    "LARGEST",
    "POSE_SIZE",
    "FrameDynamics",
    "LoadedTree",
    "Model",
    "PosedTree",
    "ShapeDistances",
    "Solid",
    "build_model",
    "convex_hull_solid",
    "difference",
    "integrate",
    "solid_distance",
    "solid_of",
]
