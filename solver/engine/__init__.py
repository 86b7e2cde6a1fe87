"""A tree of joints and its configurations in, placements, Jacobians, dynamics and distances out.

Pinocchio and coal compute wherever they are installed; elsewhere, as on Windows, NumPy and FCL do, by the same
functions and to 1e-9 (distances to 1e-6). The only package that imports any of these libraries. A `Model` is what
`build_model` returns; nothing else of it is used outside of this package. Arrays are in the project's conventions,
frames first.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING

from ..base.errors import InvalidValue

ENGINES = ("pinocchio", "numpy")
VARIABLE = "ENGINE"
"""The environment variable that names an engine."""
POSE_SIZE = 12
"""Numbers of one pose: the axes x, y and z of a link in the world (9), then its origin (3). By definition."""


def choose_engine() -> str:
    """Name of the engine: Pinocchio with coal where it is installed, unless the environment variable ENGINE names one.

    Raises:
        InvalidValue: ENGINE names none.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted and wanted not in ENGINES:
        raise InvalidValue(f"{VARIABLE}={wanted!r} names no engine: use {' or '.join(ENGINES)}, or unset it")
    return wanted or ("pinocchio" if has_pinocchio() else "numpy")


def has_pinocchio() -> bool:
    """Whether Pinocchio is installed; Blender's extensions find it only through cmeel_pth."""
    return any(importlib.util.find_spec(name) is not None for name in ("pinocchio", "cmeel_pth"))


NAME = choose_engine()
"""The engine in use, one of `ENGINES`."""

if TYPE_CHECKING or NAME == "pinocchio":
    from .coal_distances import ShapeDistances, Solid, convex_hull_solid, solid_distance, solid_of
    from .pinocchio_frames import FrameDynamics, difference, integrate
    from .pinocchio_model import Model, build_model
    from .pinocchio_tree import LoadedTree, PosedTree
else:
    from .fcl_distances import ShapeDistances, Solid, convex_hull_solid, solid_distance, solid_of
    from .numpy_configurations import difference, integrate
    from .numpy_frames import FrameDynamics
    from .numpy_model import Model, build_model
    from .numpy_tree import LoadedTree, PosedTree

__all__ = [
    "ENGINES",
    "NAME",
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
