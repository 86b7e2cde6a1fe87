"""The step that finds the configurations of every recording: from markers, segments or joint coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..base.arrays import list_names
from ..base.errors import InvalidValue, SolverError, checked
from ..base.parallel import parallel_map
from ..base.progress import PartialProgress, Progress, silent
from ..calibration.calibration import Calibration
from ..input_checks import check_recording
from ..options.study import Settings
from ..rigs.opensim.rig import is_opensim
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..tracking import TrackingOptions, targets_from_attachments, track_markers
from ..tracking.bone_mapping import BoneMapping, guess_mapping, mapping_notes, targets_from_segments
from ..tracking.smoothing.smooth import smooth
from ..tracking.track import track_targets
from ..values.motion import SegmentPoses
from .joint_motion import convert_joint_recordings
from .opensim_motion import explain_missing_motion, track_model_markers
from .values import Poses, TrialRecord

MIN_FRAMES_FOR_PROCESSES = 3000
"""Fewer frames are tracked by one process sooner than worker processes start."""


def compute_poses(
    recordings: Sequence[Recording],
    body: Calibration | Rig,
    settings: Settings,
    progress: Progress,
    mapping: BoneMapping | None = None,
) -> tuple[Rig, tuple[TrialRecord, ...]]:
    """The rig, and every recording with its configurations: tracked from markers or segments, or recorded.

    Raises:
        InvalidValue: no recording has any.
        UnknownName: no contact patch has the name of the standing foot.
    """
    rig = body.rig if isinstance(body, Calibration) else body
    if settings.planted_foot is not None:
        rig.find_patch(settings.planted_foot)
    if isinstance(body, Calibration):
        return body.rig, track_all(body, recordings, smoothed=settings.smooth, jobs=settings.jobs, progress=progress)
    parts = None if mapping is None or not rig.is_person else dict(zip(mapping.links, mapping.segments))
    recordings = [check_recording(recording, rig, parts) for recording in recordings]
    given = convert_joint_recordings(body, recordings, settings.planted_foot)
    following = convert_segment_recordings(body, recordings, mapping, progress)
    records = tuple(moved if moved.poses is not None else own for moved, own in zip(following, given))
    if is_opensim(body):
        tracked = track_model_markers(body, recordings)
        records = tuple(own if own.poses is not None else marked for own, marked in zip(records, tracked))
    if all(record.poses is None for record in records):
        if is_opensim(body):
            raise InvalidValue(explain_missing_motion(body, [record.recording for record in records]))
        raise InvalidValue(f"no trial has joint coordinates of {body.name}; markers need a person's calibration")
    return body, records


@checked
def track_all(
    calibration: Calibration,
    recordings: Sequence[Recording],
    *,
    smoothed: bool = False,
    jobs: int | None = None,
    progress: Progress = silent,
) -> tuple[TrialRecord, ...]:
    """Track the joint motion of every recording with markers; the others are returned without motion.

    A recording with too few of the calibration's markers (another subject, another marker set) is also returned without
    motion, with a warning.

    Args:
        calibration: of the person.
        recordings: see `load`.
        smoothed: smooth each recording as a whole, see `tracking.smoothing.smooth`.
        jobs: number of processes; None: joblib's default.
        progress: receives progress.

    Raises:
        InvalidValue: no recording with markers could be tracked.
        InputError: a recording fails a check, see `input_checks.check_recording`.

    Example:
        >>> import solver
        >>> person = solver.demo.simulated_person()
        >>> found = solver.calibrate(person.recordings, sex="male", mass=71.0, static=("static",))
        >>> records = solver.study.track_all(found, person.recordings[1:])
        >>> records[0].tracked.rmse < 0.01  # m, distance of the markers from the tracked body
        True
    """
    progress(0.0, f"tracking {len(recordings)} trial{'s' * (len(recordings) != 1)}")
    recordings = [check_recording(recording, calibration.rig) for recording in recordings]
    tasks = [(calibration, item, smoothed) for item in recordings]
    found = list(parallel_map(_track_recording, tasks, _count_processes(jobs, recordings)))
    progress(1.0, "tracked")
    if all(record.tracked is None for record in found):
        still = [item.name for item in recordings if item.markers is None or len(item.markers) < 2]
        reasons = [f"{list_names(still)}: no markers in two frames or more"] if still else []
        reasons += [warning for record in found for warning in record.recording.warnings]
        raise InvalidValue(f"no recording could be tracked: {'; '.join(reasons)}")
    return tuple(found)


def convert_segment_recordings(
    rig: Rig, recordings: Sequence[Recording], mapping: BoneMapping | None = None, progress: Progress = silent
) -> tuple[TrialRecord, ...]:
    """Convert recordings of segments to trials of a rig; the others are returned without motion.

    Args:
        rig: whose links follow the segments.
        recordings: see `load`.
        mapping: of segments to links; None: guessed from names and rest poses, with notes.
        progress: receives progress; may cancel.

    Raises:
        InvalidValue: see `poses_from_segments`; the trial is named.
    """
    records = []
    for count, recording in enumerate(recordings):
        if recording.segments is None:
            records.append(TrialRecord(recording))
            continue
        try:
            part = PartialProgress(progress, count / len(recordings), (count + 1) / len(recordings))
            poses, notes = poses_from_segments(rig, recording.segments, mapping, part)
        except SolverError as error:
            raise InvalidValue(f"trial {recording.name!r}: {error}") from None
        records.append(TrialRecord(replace(recording, warnings=(*recording.warnings, *notes)), given=poses))
    return tuple(records)


def poses_from_segments(
    rig: Rig, segments: SegmentPoses, mapping: BoneMapping | None = None, progress: Progress = silent
) -> tuple[Poses, tuple[str, ...]]:
    """Configurations of a rig whose links follow recorded segments (inertial units, animation, body model); and notes.

    Raises:
        InvalidValue: too few segments correspond to links, or no frame contains any.
        UnknownName: the mapping contains an unknown segment or link.
    """
    mapping = guess_mapping(segments, rig) if mapping is None else mapping
    tracked = track_targets(rig, targets_from_segments(segments, rig, mapping), TrackingOptions(), progress)
    return Poses(tracked.times, tracked.q, tracked.is_tracked), (*mapping_notes(mapping, rig), *tracked.warnings)


def collect_warnings(records: Sequence[TrialRecord], calibration: Calibration | None) -> tuple[str, ...]:
    """Warnings of reading, calibrating and tracking; each once, with the names of all trials that it concerns."""
    warnings = [warning for record in records for warning in record.recording.warnings]
    if calibration is None:
        still = [r for r in records if r.poses is None]
        lacking = [r.name for r in still if r.recording.joints is None and r.recording.segments is None]
        warnings += [f"{list_names(lacking)}: no joint coordinates, left out"] if lacking else []
    else:
        bare = [record.name for record in records if record.recording.markers is None]
        warnings += [f"{list_names(bare)}: no markers, left out"] if bare else []
        warnings += calibration.warnings
    trials_by_warning: dict[str, list[str]] = {}
    for record in records:
        for text in record.tracked.warnings if record.tracked else ():
            trials_by_warning.setdefault(text, []).append(record.name)
    warnings += [f"{list_names(names)}: {text}" for text, names in trials_by_warning.items()]
    return tuple(dict.fromkeys(warnings))


def _track_recording(calibration: Calibration, recording: Recording, smoothed: bool) -> TrialRecord:
    if recording.markers is None or len(recording.markers) < 2:
        return TrialRecord(recording)
    try:
        rig, attachments, markers = calibration.rig, calibration.attachments, recording.markers
        tracked = track_markers(rig, attachments, markers)
        if smoothed:
            tracked = smooth(rig, targets_from_attachments(rig, attachments, markers)[0], tracked)
        return TrialRecord(recording, tracked, motion_errors=calibration.motion_errors)
    except InvalidValue as error:
        reason = f"{recording.name}: left out, it cannot be tracked ({error})"
        return TrialRecord(replace(recording, warnings=(*recording.warnings, reason)))


def _count_processes(jobs: int | None, recordings: Sequence[Recording]) -> int | None:
    frames = sum(len(recording.markers) for recording in recordings if recording.markers is not None)
    return 1 if frames < MIN_FRAMES_FOR_PROCESSES or len(recordings) < 2 else jobs
