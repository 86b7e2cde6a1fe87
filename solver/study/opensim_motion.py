"""Motions of OpenSim models from recorded markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.arrays import list_names
from ..base.errors import InvalidValue
from ..input_checks.opensim_configurations import to_configurations
from ..rigs.opensim.joint_poses import body_poses
from ..rigs.opensim.rig import model_of
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..tracking import TrackedMotion
from ..tracking.opensim_markers import coordinates_from_markers
from ..tracking.track import manifold_velocities
from ..values.motion import Markers
from .values import TrialRecord

MAX_MARKER_ERROR = 0.04
"""[m] RMS distance of markers beyond which a model is of another subject; OpenSim's guide recommends below 0.02 m.
Derived: twice that."""


def explain_missing_motion(rig: Rig, recordings: Sequence[Recording]) -> str:
    """Why recordings cannot move a model, in one sentence."""
    model = model_of(rig)
    reasons = "; ".join(warning for recording in recordings for warning in recording.warnings)
    return (
        f"no trial has a motion of {model.path.name}{': ' + reasons if reasons else ''}; give its markers, the joint "
        "angles of its inverse kinematics (.mot), or the poses of its BodyKinematics (.sto)"
    )


def track_model_markers(rig: Rig, recordings: Sequence[Recording]) -> tuple[TrialRecord, ...]:
    """Track the recordings that have markers of a model and no joint angles; the others are returned without motion.

    A recording with too few of the model's markers is also returned without motion, with a warning.

    Args:
        rig: of an OpenSim model.
        recordings: see `load`.

    Raises:
        InputError: the model's file is missing or has changed.
    """
    records = []
    for recording in recordings:
        if recording.markers is None or recording.joints is not None or len(recording.markers) < 2:
            records.append(TrialRecord(recording))
            continue
        try:
            records.append(TrialRecord(recording, _track_markers(rig, recording.markers)))
        except InvalidValue as error:
            reason = f"{recording.name}: left out, it cannot be tracked ({error})"
            records.append(TrialRecord(replace(recording, warnings=(*recording.warnings, reason))))
    return tuple(records)


def _track_markers(rig: Rig, markers: Markers) -> TrackedMotion:
    model = model_of(rig)
    found = coordinates_from_markers(model, markers)
    q = to_configurations(rig, body_poses(model, found.values))
    errors = np.linalg.norm(found.residuals, axis=2)
    errors[~found.solved] = np.nan
    warnings = []
    unused = [name for name in markers.names if name not in found.names]
    if unused:
        warnings.append(f"{len(unused)} recorded markers are not in {model.path.name}: {list_names(unused)}")
    if found.undetermined:
        warnings.append(f"no marker shows {list_names(found.undetermined)}, which keep their defaults")
    if not found.solved.all():
        warnings.append(f"{int((~found.solved).sum())} frames show too few markers; the nearest pose is kept there")
    rmse = float(np.sqrt(np.nanmean(errors**2)))
    if rmse > MAX_MARKER_ERROR:
        warnings.append(
            f"the markers lie {1e3 * rmse:.0f} mm from those of {model.path.name}: scale the model to the subject, and "
            "place its markers, in OpenSim"
        )
    return TrackedMotion(
        markers.times,
        q,
        manifold_velocities(rig, markers.times, q),
        found.names,
        errors,
        found.solved,
        warnings=tuple(warnings),
    )
