"""Tracks recorded markers: the motion of a rig, and what its residuals say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, Times
from ..base.errors import InvalidValue, checked
from ..base.file_arrays import FileRows, iterate_slices, map_slices
from ..base.progress import Progress, silent
from ..dynamics import difference
from ..skeleton.rig import Rig
from ..values.motion import Markers, TimeSeries
from .exchanged_labels import CorrectedLabels, Swap, correct_labels
from .inverse_kinematics import SLACK_TOLERANCE
from .kinematics import Kinematics
from .marker_checks import FaultCounter, UndeterminedLinks, UnseenLinks, estimate_size_ratio, warn_of_unrecorded_links
from .options import TrackingOptions
from .posture import Posture
from .recording_poses import FRAMES_PER_BLOCK, PoseBlock, TargetSamples, track_blocks, usable_frames
from .tasks import Attachment, PositionTargets, Targets, match_attachment_names
from .tracker import MIN_POINTS, Tracker

SIZE_FRAME_COUNT = 20
MAX_ERROR = 0.05
"""[m] Marker error beyond which labels or subject are wrong: measured on recordings of six people it is at most 0.025
m, 0.08 m and more with left and right exchanged (subject_a)."""
MAX_SIZE_DIFFERENCE = 0.04
"""Difference in size from the rig beyond which a recording looks like another subject's."""


@dataclass(frozen=True, slots=True)
class TrackedMotion(TimeSeries, ArrayValue):
    """A tracked recording.

    Attributes:
        times: (N,) [s].
        q: (N, nq) configurations.
        v: (N, nv) velocities [m/s, rad/s]: central differences on the manifold, or from the measured velocities of the
            targets if there are any.
        names: M tracked markers.
        errors: (N, M) [m] distance between measured and modelled marker; NaN where not seen.
        is_tracked: (N,) False where too few markers were seen and the pose of the last frame is kept.
        drift: largest ``|R'R - 1|`` of the root with Baumgarte integration, a number; 0 with the manifold's.
        size_ratio: ratio of the recorded body to the rig (1: the same), from all lengths together.
        warnings: messages for the user.
        converged: (N,) False where a frame did not converge; all True without refinement.
        slack: (N,) [rad] by which a frame violates the limits on its step; above 0 they contradict each other.
        swaps: exchanged labels that were corrected or not used; errors are those of the corrected markers.
    """

    times: Annotated[np.ndarray, Times()]
    q: Annotated[np.ndarray, Array("N", None)]
    v: Annotated[np.ndarray, Array("N", None)]
    names: Annotated[tuple[str, ...], Names("M")]
    errors: Annotated[np.ndarray, Array("N", "M", finite=False)]
    is_tracked: np.ndarray
    drift: float = 0.0
    size_ratio: float = 1.0
    warnings: tuple[str, ...] = ()
    swaps: tuple[Swap, ...] = ()
    converged: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    slack: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def require_consistent(self) -> None:
        for name, usual in (("converged", np.ones(len(self.times), bool)), ("slack", np.zeros(len(self.times)))):
            values = np.array(getattr(self, name) if len(getattr(self, name)) else usual)
            if values.shape != self.times.shape:
                raise InvalidValue(f"{name} has shape {values.shape}, expected {self.times.shape}")
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @property
    def rmse(self) -> float:
        """Root mean square error over markers and frames [m]."""
        return float(_root_mean_square(self.errors, None))

    @property
    def marker_rmse(self) -> dict[str, float]:
        """Root mean square error of each marker over its seen frames [m]; NaN if never seen."""
        return dict(zip(self.names, _root_mean_square(self.errors, 0).tolist()))


@checked
def track_markers(
    rig: Rig,
    attachments: Sequence[Attachment],
    markers: Markers,
    options: TrackingOptions | None = None,
    progress: Progress = silent,
) -> TrackedMotion:
    """Motion of a rig that follows recorded markers, by the dynamical inverse kinematics of rapetti2020.

    Args:
        rig: any rig.
        attachments: location of each marker; recorded markers without attachment are not used, with a warning.
        markers: the recording; missing samples have no weight. Exchanged labels are corrected if they are certain, and
            not used if they are not (`exchanged_labels`).
        options: see `TrackingOptions`.
        progress: receives the progress; may cancel.

    Raises:
        InvalidValue: no recorded marker is attached, or no frame shows enough markers.
        UnknownLink: an attachment names a link that the rig lacks.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.hoap3()
        >>> corners = 0.1 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])  # [m] of markers on the base link
        >>> attachment = solver.tracking.Attachment
        >>> attachments = [attachment(f"M{k}", rig.links[0], corner) for k, corner in enumerate(corners)]
        >>> path = np.linspace([0.0, 0.0, 0.0], [0.1, 0.0, 0.0], 50)  # [m] the body glides forwards
        >>> markers = solver.Markers(np.arange(50) / 100.0, ("M0", "M1", "M2", "M3"), path[:, None] + corners)
        >>> tracked = solver.tracking.track_markers(rig, attachments, markers)
        >>> tracked.rmse < 1e-3, np.allclose(tracked.q[-1, :3], path[-1], atol=1e-3)
        (True, True)
    """
    options = options or TrackingOptions()
    targets, corrected = targets_from_attachments(rig, attachments, markers)
    result = track_targets(rig, targets, options, progress)
    attached = {a.marker for a in attachments}
    markers = match_attachment_names(markers, attachments)
    unattached = [name for name in markers.names if name not in attached]
    owners = {a.marker: rig.index(a.link) for a in attachments}
    recorded = np.array([owners[name] for name in markers.names if name in owners])
    warnings = [
        *corrected.warnings,
        *warn_of_unrecorded_links(rig, np.array(list(owners.values())), recorded),
        *result.warnings,
    ]
    if unattached:
        warnings.insert(
            0, f"{len(unattached)} recorded markers are not attached and are not used: {', '.join(unattached)}"
        )
    return replace(result, warnings=tuple(warnings), swaps=corrected.swaps)


def targets_from_attachments(
    rig: Rig, attachments: Sequence[Attachment], markers: Markers
) -> tuple[Targets, CorrectedLabels]:
    """Targets of `track_markers`: the attached markers with corrected labels, and the corrections.

    Raises:
        InvalidValue, UnknownLink: see `Targets.from_markers`.
    """
    attached = {a.marker for a in attachments}
    markers = match_attachment_names(markers, attachments)
    used = [name for name in markers.names if name in attached]
    corrected = correct_labels(markers.select(used)) if used else CorrectedLabels(markers, ())
    return Targets.from_markers(rig, attachments, corrected.markers), corrected


def track_targets(rig: Rig, targets: Targets, options: TrackingOptions, progress: Progress = silent) -> TrackedMotion:
    """Motion of a rig that follows position and orientation targets; see `track_markers`."""
    tracker, samples = Tracker(rig, targets.tasks, options), TargetSamples(targets, options.fade_time)
    usable = usable_frames(targets)
    if not usable.any():
        raise InvalidValue(f"no frame shows {MIN_POINTS} or more attached markers; the recording cannot be tracked")
    poses, speeds, converged, slack = FileRows(), FileRows(), FileRows(bool), FileRows()
    points: _PointStatistics | None = None
    restarts: list[int] = []
    if targets.positions is not None:
        points = _PointStatistics(rig, tracker.solver.kinematics, targets.positions)
    for piece in track_blocks(tracker, samples, usable, progress):
        poses.add(piece.q)
        converged.add(piece.converged)
        slack.add(piece.slack)
        restarts += piece.restarts
        if targets.measures_velocities:
            speeds.add(piece.v)
        if points is not None:
            points.add(samples, piece, usable[piece.frames])
    q = poses.finish()
    names: tuple[str, ...] = ()
    solved = converged.finish(), slack.finish()
    warnings = _warn_of_frames(targets, usable, restarts) + _warn_of_unsolved(targets.times, *solved)
    errors, size = np.zeros((len(targets), 0)), 1.0
    if points is not None:
        names, errors = points.task.names, points.errors.finish()
        size = points.size_ratio(tracker.solver.posture, q, usable)
        large = _warn_of_error(errors)
        faults = replace(points.faults.faults, slips=()) if large else points.faults.faults
        warnings += large + faults.warnings + points.unseen_links.warnings + points.undetermined.warnings
        warnings += _warn_of_size(size)
    v = speeds.finish() if targets.measures_velocities else manifold_velocities(rig, targets.times, q)
    progress(1.0, f"tracked {len(targets)} frames")
    return TrackedMotion(
        targets.times, q, v, names, errors, usable, tracker.drift, size,
        warnings, converged=solved[0], slack=solved[1],
    )  # fmt: skip


class _PointStatistics:
    """Errors and faults of the points of a recording, collected block by block."""

    def __init__(self, rig: Rig, kinematics: Kinematics, targets: PositionTargets) -> None:
        self.task, self._measured, self._kinematics = targets.task, targets.positions, kinematics
        self.errors = FileRows()
        self.faults, self.unseen_links = (
            FaultCounter(self.task.names, [rig.links[k] for k in self.task.links]),
            UnseenLinks(rig, self.task.links),
        )
        self.undetermined = UndeterminedLinks(rig, self.task)

    def add(self, samples: TargetSamples, block: PoseBlock, usable: np.ndarray) -> None:
        """Adds the next frames, of which ``usable`` (n,) can be tracked."""
        residuals = self._measured[block.frames] - self._modelled(block.q)
        # frames n, points p, components c
        errors = np.sqrt(np.einsum("npc,npc->np", residuals, residuals))
        errors[~usable] = np.nan
        self.errors.add(errors)
        times = samples.targets.times[block.frames]
        self.faults.add(times, residuals)
        seen = np.isfinite(residuals[:, :, 0])
        self.unseen_links.add(times, seen, usable)
        self.undetermined.add(times, seen, usable, block.q)

    def size_ratio(self, posture: Posture, q: np.ndarray, usable: np.ndarray) -> float:
        """See `estimate_size_ratio`, from poses (N, nq) in some of the usable frames (N,)."""
        frames = np.flatnonzero(usable)
        frames = frames[np.linspace(0, len(frames) - 1, min(SIZE_FRAME_COUNT, len(frames))).astype(int)]
        task, tree = self.task, self._kinematics
        return estimate_size_ratio(tree, posture, task.links, task.offsets, self._measured[frames], q[frames])

    def _modelled(self, configurations: np.ndarray) -> np.ndarray:
        """World positions (n, P, 3) [m] of the points on the rig."""
        result = np.empty((len(configurations), len(self.task.names), 3))
        for frame, q in enumerate(configurations):
            self._kinematics.update_positions(q)
            result[frame] = self._kinematics.points(self.task.links, self.task.offsets)
        return result


def manifold_velocities(rig: Rig, times: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Velocities (N, nv) of configurations (N, nq) by central differences on the manifold, one-sided at the ends."""
    if len(times) < 2:
        return np.zeros((len(times), rig.nv))

    def velocities(own: slice) -> np.ndarray:
        frames = np.arange(own.start, own.stop)
        before, after = np.maximum(frames - 1, 0), np.minimum(frames + 1, len(times) - 1)
        return np.asarray(difference(rig, q[before], q[after]) / (times[after] - times[before])[:, None])

    return map_slices(len(times), velocities, FRAMES_PER_BLOCK)


def _warn_of_error(errors: np.ndarray) -> tuple[str, ...]:
    error = float(_root_mean_square(errors, None))
    if not error > MAX_ERROR:
        return ()
    return (
        f"the markers lie {1e3 * error:.0f} mm from their places on the body: their labels are exchanged (left and "
        "right of the whole recording, perhaps), or it shows another subject. Its motion is wrong: correct the labels, "
        "or leave it out",
    )


def _warn_of_size(size: float) -> tuple[str, ...]:
    if abs(size - 1.0) < MAX_SIZE_DIFFERENCE:
        return ()
    return (
        f"the recorded body is {100.0 * abs(size - 1.0):.0f} % {'larger' if size > 1.0 else 'smaller'} than the rig: "
        "it shows another subject, or its units or calibration are wrong",
    )


def _warn_of_frames(targets: Targets, usable: np.ndarray, restarts: Sequence[int]) -> tuple[str, ...]:
    warnings = []
    if not usable.all():
        not_tracked = np.flatnonzero(~usable)
        warnings.append(
            f"{len(not_tracked)} frames show fewer than {MIN_POINTS} markers "
            f"(first at {targets.times[not_tracked[0]]:.3f} s); "
            "the previous pose is kept there"
        )
    if restarts:
        warnings.append(
            f"the fit was lost and found again at {len(restarts)} frames (first at {targets.times[restarts[0]]:.3f} s)"
        )
    return tuple(warnings)


def _warn_of_unsolved(times: np.ndarray, converged: np.ndarray, slack: np.ndarray) -> tuple[str, ...]:
    """Warnings about frames that did not converge, and frames whose limits left no step."""
    warnings = []
    if not converged.all():
        frames = np.flatnonzero(~converged)
        warnings.append(f"{len(frames)} frames did not converge (first at {times[frames[0]]:.3f} s)")
    if np.any(slack > SLACK_TOLERANCE):
        frames = np.flatnonzero(slack > SLACK_TOLERANCE)
        most = float(slack[frames].max())
        warnings.append(
            f"{len(frames)} frames could not keep their joint limits, which contradict each other "
            f"(first at {times[frames[0]]:.3f} s, by up to {most:.3g} rad)"
        )
    return tuple(warnings)


def _root_mean_square(errors: np.ndarray, axis: int | None) -> np.ndarray:
    """Over known entries; NaN where there are none."""
    squares: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    for own in iterate_slices(len(errors)):
        seen = np.isfinite(errors[own])
        squares.append((np.where(seen, errors[own], 0.0) ** 2).sum(axis=axis))
        counts.append(seen.sum(axis=axis))
    if axis == 1:
        total, count = np.concatenate(squares), np.concatenate(counts)
    else:
        total, count = np.sum(squares, axis=0), np.sum(counts, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(total / count))
