"""Smoothing: the motion of a whole recording at once, as least squares over all frames."""
