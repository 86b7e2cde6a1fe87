"""How every recording moves: by its markers, by its segments, or by joint coordinates of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..calibration.calibration import Calibration
from ..errors import InvalidValue
from ..parallel import parallel_map
from ..progress import Progress, silent
from ..rig import Rig
from ..signals import FilterPreset, preset_of, smooth_motion
from ..tracking import targets_from_attachments, track_markers
from ..tracking.bone_mapping import BoneMapping
from ..tracking.smoothing import SmoothingOptions, smooth
from ..trial import Recording, Trial
from .joint_motion import convert_joint_recordings
from .preparation import prepare
from .recordings import require_rates
from .segment_motion import convert_segment_recordings
from .values import Settings, Study, TrialRecord

MIN_FRAMES_FOR_PROCESSES = 3000
"""Fewer frames are tracked sooner by one process than worker processes start."""


def track_all(
    calibration: Calibration,
    recordings: Sequence[Recording],
    *,
    smoothing: SmoothingOptions | None = None,
    jobs: int | None = None,
    progress: Progress = silent,
) -> tuple[TrialRecord, ...]:
    """Joint motion of every recording with markers; the others are passed on without.

    A recording that shows too few of the calibration's markers (another subject, another marker set) is passed on
    without motion too, and says so in its warnings.

    Args:
        calibration: of the person.
        recordings: see `load`.
        smoothing: how then each recording is taken as a whole, see `tracking.smoothing.smooth`; None: every frame
            stays as it was found by itself.
        jobs: processes at once; None leaves it to joblib.
        progress: receives progress.

    Raises:
        InvalidValue: no recording with markers could be tracked.

    Example:
        >>> import solver
        >>> person = solver.simulated_person()
        >>> found = solver.calibrate(person.recordings, sex="male", mass=71.0, static=("static",))
        >>> records = solver.track_all(found, person.recordings[1:])
        >>> records[0].tracked.rmse < 0.01  # m, distance of the markers from the tracked body
        True
    """
    progress(0.0, f"tracking {len(recordings)} trials")
    found = list(
        parallel_map(
            _track_recording,
            [(calibration, item, smoothing) for item in recordings],
            _count_processes(jobs, recordings),
        )
    )
    progress(1.0, "tracked")
    if all(record.tracked is None for record in found):
        told = "; ".join(warning for record in found for warning in record.recording.warnings)
        raise InvalidValue(f"no recording could be tracked{': ' + told if told else ''}")
    return tuple(found)


def track(
    recordings: Sequence[Recording],
    body: Calibration | Rig,
    settings: Settings | None = None,
    progress: Progress = silent,
    mapping: BoneMapping | None = None,
) -> Study:
    """Filtered motion of every recording, identifying nothing; with the forces, in time and without plates' offsets.

    Args:
        recordings: see `load`; with markers of a calibrated person, or joint coordinates or segments of a rig.
        body: the calibrated person, or the rig.
        settings: filter, standing patch, number of processes, smoothing.
        progress: receives progress.
        mapping: of recorded segments to links; None: guessed from their names and pose at rest, and told.

    Raises:
        InvalidValue: no recording has a motion.

    Example:
        >>> import solver
        >>> robot = solver.simulated_robot()
        >>> study = solver.track(robot.recordings, robot.rig)
        >>> study.record("dance").motion
        Motion of 36 degrees of freedom: 0.00 to 5.99 s at 100 Hz, 600 frames
    """
    settings = Settings() if settings is None else settings
    require_rates(recordings, settings)
    preset = preset_of(settings.preset)
    rig, records = compute_poses(recordings, body, settings, progress, mapping)
    trials, told = _build_force_trials(rig, records, preset)
    moved = [
        replace(r, motion=smooth_motion(rig, p.times, p.q, preset), trial=trials.get(r.name)) if (p := r.poses) else r
        for r in records
    ]
    calibration = body if isinstance(body, Calibration) else None
    return Study(rig, settings, tuple(moved), calibration, warnings=(*collect_warnings(records, calibration), *told))


def _build_force_trials(
    rig: Rig, records: Sequence[TrialRecord], preset: FilterPreset
) -> tuple[dict[str, Trial], tuple[str, ...]]:
    """Motion and forces by the names of the trials that have both, and what was found wrong with these."""
    posed = [record for record in records if record.poses is not None]
    if all(record.recording.wrenches is None for record in posed):
        return {}, ()
    try:
        prepared = prepare(rig, posed, preset)
    except InvalidValue as error:
        return {}, (f"the motions are without their forces: {error}",)
    return {record.name: record.trial for record in prepared.records if record.trial is not None}, prepared.warnings


def compute_poses(
    recordings: Sequence[Recording],
    body: Calibration | Rig,
    settings: Settings,
    progress: Progress,
    mapping: BoneMapping | None = None,
) -> tuple[Rig, tuple[TrialRecord, ...]]:
    """The rig, and every recording with its configurations: tracked, following its segments, or the recording's own.

    Raises:
        InvalidValue: no recording has any.
    """
    if isinstance(body, Calibration):
        smoothing = SmoothingOptions() if settings.smooth else None
        return body.rig, track_all(body, recordings, smoothing=smoothing, jobs=settings.jobs, progress=progress)
    given = convert_joint_recordings(body, recordings, settings.standing)
    following = convert_segment_recordings(body, recordings, mapping, progress)
    records = tuple(turned if turned.poses is not None else own for turned, own in zip(following, given))
    if all(record.poses is None for record in records):
        raise InvalidValue(f"no trial has joint coordinates of {body.name}; markers need a person's calibration")
    return body, records


def collect_warnings(records: Sequence[TrialRecord], calibration: Calibration | None) -> tuple[str, ...]:
    """What reading, calibrating and tracking went on past, each sentence once with all trials that it is about."""
    told = [warning for record in records for warning in record.recording.warnings]
    if calibration is None:
        told += [f"{r.name}: no joint coordinates, left out" for r in records if r.recording.joints is None]
    else:
        told += [f"{r.name}: no markers, left out" for r in records if r.recording.markers is None]
        told += calibration.warnings
    about: dict[str, list[str]] = {}
    for record in records:
        for text in record.tracked.warnings if record.tracked else ():
            about.setdefault(text, []).append(record.name)
    told += [f"{', '.join(names)}: {text}" for text, names in about.items()]
    return tuple(dict.fromkeys(told))


def _track_recording(calibration: Calibration, recording: Recording, smoothing: SmoothingOptions | None) -> TrialRecord:
    if recording.markers is None or len(recording.markers) < 2:
        return TrialRecord(recording)
    try:
        rig, attachments, markers = calibration.rig, calibration.attachments, recording.markers
        tracked = track_markers(rig, attachments, markers)
        if smoothing is not None:
            tracked = smooth(rig, targets_from_attachments(rig, attachments, markers)[0], tracked, smoothing)
        return TrialRecord(recording, tracked)
    except InvalidValue as error:
        reason = f"{recording.name}: left out, it cannot be tracked ({error})"
        return TrialRecord(replace(recording, warnings=(*recording.warnings, reason)))


def _count_processes(jobs: int | None, recordings: Sequence[Recording]) -> int | None:
    frames = sum(len(recording.markers) for recording in recordings if recording.markers is not None)
    return 1 if frames < MIN_FRAMES_FOR_PROCESSES or len(recordings) < 2 else jobs
