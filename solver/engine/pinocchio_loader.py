"""Imports Pinocchio; the other modules of the engine import it from here.

Blender adds an extension's wheels to sys.path without their .pth files, which Pinocchio's packages need. Importing
``cmeel_pth`` has the same effect as the .pth file.
"""

from __future__ import annotations

from ..base.errors import MissingDependency
from ..base.termination import uninterrupted

try:
    with uninterrupted():  # an exception during this import, such as Ctrl-C, can crash the interpreter
        import pinocchio as pin
except ImportError:
    try:
        with uninterrupted():
            import cmeel_pth  # noqa: F401
            import pinocchio as pin
    except ImportError as error:
        raise MissingDependency(
            "Pinocchio cannot be loaded in this Python: reinstall the package `pin`, or set the environment "
            "variable ENGINE=numpy to compute without it"
        ) from error

__all__ = ["pin"]
