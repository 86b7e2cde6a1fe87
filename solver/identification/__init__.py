"""A regression from motion and wrenches in, inertial parameters with their uncertainty out."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
