"""The only place that imports Pinocchio.

Blender puts an extension's wheels on sys.path without running their .pth files, and Pinocchio's packages need
theirs: ``cmeel_pth`` does by import what the .pth file would have done.
"""

from __future__ import annotations

from .errors import MissingDependency
from .termination import uninterrupted

try:
    with uninterrupted():  # an exception amid this import, as of Ctrl-C, can crash the interpreter
        import pinocchio as pin
except ImportError:
    try:
        with uninterrupted():
            import cmeel_pth  # noqa: F401
            import pinocchio as pin
    except ImportError as error:
        raise MissingDependency(
            "Pinocchio is not installed in this Python: `pip install pin` (Linux, macOS) or "
            "`conda install -c conda-forge pinocchio` (Windows), then set the preference 'Solver Python' to it"
        ) from error

__all__ = ["pin"]
