"""Smoothing: the motion of a whole recording at once, as least squares over all frames."""

from .smooth import SmoothingOptions, smooth

__all__ = ["SmoothingOptions", "smooth"]
