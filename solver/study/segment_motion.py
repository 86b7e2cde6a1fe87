"""From segments that inertial units, animations or body models tell to configurations of a rig."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import InvalidValue, SolverError
from ..motion import SegmentPoses
from ..progress import PartialProgress, Progress, silent
from ..rig import Rig
from ..tracking.bone_mapping import BoneMapping, guess_mapping, mapping_notes, targets_from_segments
from ..tracking.options import TrackingOptions
from ..tracking.track import track_targets
from ..trial import Recording
from .values import Poses, TrialRecord


def convert_segment_recordings(
    rig: Rig, recordings: Sequence[Recording], mapping: BoneMapping | None = None, progress: Progress = silent
) -> tuple[TrialRecord, ...]:
    """Recordings of segments as trials of a rig; the others are passed on without motion.

    Args:
        rig: whose links the segments turn.
        recordings: see `load`.
        mapping: of segments to links; None: guessed from names and the pose at rest, and told.
        progress: told about the progress; may cancel.

    Raises:
        InvalidValue: see `followed`; the trial is named.
    """
    records = []
    for count, recording in enumerate(recordings):
        if recording.segments is None:
            records.append(TrialRecord(recording))
            continue
        try:
            part = PartialProgress(progress, count / len(recordings), (count + 1) / len(recordings))
            poses, told = poses_from_segments(rig, recording.segments, mapping, part)
        except SolverError as error:
            raise InvalidValue(f"trial {recording.name!r}: {error}") from None
        records.append(TrialRecord(replace(recording, warnings=(*recording.warnings, *told)), given=poses))
    return tuple(records)


def poses_from_segments(
    rig: Rig, segments: SegmentPoses, mapping: BoneMapping | None = None, progress: Progress = silent
) -> tuple[Poses, tuple[str, ...]]:
    """Configurations of a rig whose links turn as segments do, and what a user should know.

    Raises:
        InvalidValue: too few segments that are links, or no frame that shows any.
        UnknownName: the mapping names a segment or link that is not there.
    """
    mapping = guess_mapping(segments, rig) if mapping is None else mapping
    tracked = track_targets(rig, targets_from_segments(segments, rig, mapping), TrackingOptions(), progress)
    return Poses(tracked.times, tracked.q, tracked.is_tracked), (*mapping_notes(mapping, rig), *tracked.warnings)
