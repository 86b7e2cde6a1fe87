"""Markers, orientations or another body's motion in, a rig's motion out, whole or sample by sample."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
