"""Tracking: dynamical inverse kinematics from markers and orientations to motion, of recordings or sample by sample."""

from .options import TrackingOptions
from .targets import Attachment, OrientationTargets, PositionTargets, Targets
from .tasks import OrientationTask, PositionTask, TargetSample, Tasks
from .track import Tracked, follow, track
from .tracker import Tracker, TrackerStep

__all__ = [
    "Attachment",
    "OrientationTargets",
    "OrientationTask",
    "PositionTargets",
    "PositionTask",
    "TargetSample",
    "Targets",
    "Tasks",
    "Tracked",
    "Tracker",
    "TrackerStep",
    "TrackingOptions",
    "follow",
    "track",
]
