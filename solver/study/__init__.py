"""Recordings of a subject or robot in, identified inertial parameters and what they explain out."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
