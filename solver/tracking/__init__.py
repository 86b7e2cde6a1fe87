"""Tracking: dynamical inverse kinematics from markers and orientations to motion, of recordings or sample by sample."""

from .coupled import CoupledLimits
from .labels import Relabelled, Swap, relabelled
from .options import TrackingOptions
from .targets import Attachment, OrientationTargets, PositionTargets, Targets
from .tasks import OrientationTask, PositionTask, TargetSample, Tasks
from .track import Tracked, attached_targets, follow, track
from .tracker import Tracker, TrackerStep

__all__ = [
    "Attachment",
    "CoupledLimits",
    "OrientationTargets",
    "OrientationTask",
    "PositionTargets",
    "PositionTask",
    "Relabelled",
    "Swap",
    "TargetSample",
    "Targets",
    "Tasks",
    "Tracked",
    "Tracker",
    "TrackerStep",
    "TrackingOptions",
    "attached_targets",
    "follow",
    "relabelled",
    "track",
]
