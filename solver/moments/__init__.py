"""Motion, wrenches and inertial parameters in, joint moments out."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
