"""Which engine computes: Pinocchio with coal wherever it is installed, else NumPy with FCL.

The environment variable ENGINE names one: pinocchio or numpy.
"""

from __future__ import annotations

import importlib.util
import os

from ..errors import InvalidValue

ENGINES = ("pinocchio", "numpy")
VARIABLE = "ENGINE"


def choose_engine() -> str:
    """Name of the engine.

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
