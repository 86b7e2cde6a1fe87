"""Recorded signals in, filtered, resampled and differentiated ones out, and the time windows that can be used.

Both sides of Y phi = f must pass the same filter; otherwise the filters cause a residual.
"""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
