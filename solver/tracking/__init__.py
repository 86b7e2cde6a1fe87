"""Markers, orientations or another body's motion in, a rig's motion out, whole or sample by sample."""

from ..base.lazy_imports import lazy_exports
from .exchanged_labels import CorrectedLabels, Swap, correct_labels
from .options import CoupledLimits, TrackingOptions
from .tasks import (
    Attachment,
    OrientationTargets,
    OrientationTask,
    PositionTargets,
    PositionTask,
    Targets,
    TargetSample,
    Tasks,
)
from .track import TrackedMotion, targets_from_attachments, track_markers, track_targets
from .tracker import Tracker, TrackerStep

_names, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "bone_mapping": ("BoneMapping",),
        "retargeting.performer": ("Performer",),
        "retargeting.retarget": ("RetargetedMotion",),
        "smoothing.smooth": ("smooth",),
    },
)

__all__ = [
    *_names,
    "Attachment",
    "CorrectedLabels",
    "CoupledLimits",
    "OrientationTargets",
    "OrientationTask",
    "PositionTargets",
    "PositionTask",
    "Swap",
    "TargetSample",
    "Targets",
    "Tasks",
    "TrackedMotion",
    "Tracker",
    "TrackerStep",
    "TrackingOptions",
    "correct_labels",
    "targets_from_attachments",
    "track_markers",
    "track_targets",
]
