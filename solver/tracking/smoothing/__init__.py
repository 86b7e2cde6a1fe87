"""Smoothing: the motion of a whole recording at once, as least squares over all frames."""

from .options import SmoothingOptions
from .smooth import smooth

__all__ = ["SmoothingOptions", "smooth"]
