"""Tracking: dynamical inverse kinematics from markers and orientations to motion."""

from .options import TrackingOptions
from .targets import Attachment, OrientationTargets, PositionTargets, Targets
from .track import Tracked, follow, track

__all__ = [
    "Attachment",
    "OrientationTargets",
    "PositionTargets",
    "Targets",
    "Tracked",
    "TrackingOptions",
    "follow",
    "track",
]
