"""Smoothing: the motion of a whole recording at once, as least squares over all frames."""

from .smooth import smooth

__all__ = ["smooth"]
