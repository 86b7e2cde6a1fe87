"""Recordings of a subject or robot in, or the folder of its results, its `Study` out."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
