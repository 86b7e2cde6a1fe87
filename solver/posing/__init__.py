"""Dragged points of the body in, a posture in balance with planted feet out."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
