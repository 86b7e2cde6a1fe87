"""Configuration of a rig from the numbers of a sample: markers, segments or joint values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..base.errors import BackendError, InvalidValue
from ..base.so3 import to_matrix
from ..calibration.calibration import Calibration
from ..input_checks.check_definition import InputToCheck
from ..input_checks.check_recording import find_problems
from ..input_checks.joint_configurations import configuration_function
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..tracking import Targets, TargetSample, Tracker, TrackerStep, TrackingOptions
from ..tracking.bone_mapping import NEUTRAL_TIME, BoneMapping, guess_mapping, targets_from_segments
from ..tracking.tasks import match_attachment_names
from ..values.motion import POSE, JointCoordinates, Markers, SegmentPoses
from .datagram import MARKERS, SEGMENTS, Layout
from .live_labels import LiveLabels

MAX_VALUE = 1e3
"""[m, rad] Larger numbers are implausible and treated as missing."""
MAX_LENGTH_ERROR = 0.1
"""Largest error of a quaternion's length; a quaternion with a larger one is treated as missing."""
CHECKED_SAMPLES, CHECKED_STEP = 20, 0.1
"""Samples of a stream that are checked, at least this time [s] apart."""
FADE_IN = 0.1
"""[s] Time in which a reappearing marker regains its weight, so that the motion stays smooth."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Pose of a rig from one sample.

    Attributes:
        q: (nq,) configuration.
        tracked: False if the sample had too little data and the previous pose is kept.
        converged: False if the time budget ended the iteration.
        error: [m] root mean square distance of the markers; NaN without any.
        measured, modelled: (P, 3) [m] markers as measured (NaN: missing) and on the rig; P may be 0.
    """

    q: np.ndarray
    tracked: bool = True
    converged: bool = True
    error: float = float("nan")
    measured: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    modelled: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))


class Follower(Protocol):
    """Follows the samples of one layout.

    Attributes:
        rig: that moves.
        markers: P names of the markers that it tracks.
    """

    rig: Rig
    markers: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Assumptions, and findings about the stream so far."""

    def follow(self, values: np.ndarray, time: float, arrived: float) -> Pose | None:
        """The pose of a sample (n,); None while more samples are needed for the first pose.

        Args:
            values: of the sample.
            time: [s] of the stream.
            arrived: [s] start of its time budget, of `time.perf_counter`.
        """


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """How samples are followed.

    Attributes:
        body: calibrated person for markers; rig for segments and joint values.
        options: of the tracker; its budget limits the time of a sample.
        mapping: of segments to links; None: estimated from their names and the first half second of standing.
        planted_patch: contact patch that is fixed to the floor if joint values have no root pose.
    """

    body: Calibration | Rig
    options: TrackingOptions = field(default_factory=TrackingOptions)
    mapping: BoneMapping | None = None
    planted_patch: str | None = None

    @property
    def rig(self) -> Rig:
        """The rig that moves."""
        return self.body.rig if isinstance(self.body, Calibration) else self.body

    def create_follower(self, layout: Layout) -> Follower:
        """Create the follower of a stream with a layout, whose first seconds are checked as recordings are.

        Raises:
            InvalidValue: the layout does not fit the body.
        """
        return CheckedFollower(self._create_follower(layout), layout)

    def _create_follower(self, layout: Layout) -> Follower:
        if layout.quantity == MARKERS:
            if not isinstance(self.body, Calibration):
                raise InvalidValue("markers need a calibration of their locations: calibrate a standing trial, and "
                                   "name its calibration.json")  # fmt: skip
            return MarkerFollower(self.body, layout, self.options)
        if layout.quantity == SEGMENTS:
            return SegmentFollower(self, layout)
        return JointFollower(self.rig, layout, self.planted_patch)


class CheckedFollower:
    """A follower whose stream is checked once, by samples of its first seconds; what is wrong is a note.

    The pose of a body that lies or turns while the stream begins must not end a session, so that nothing is refused.
    """

    def __init__(self, follower: Follower, layout: Layout) -> None:
        self.rig, self.markers, self._follower, self._layout = follower.rig, follower.markers, follower, layout
        self._samples: list[tuple[float, np.ndarray]] = []
        self._found: tuple[str, ...] | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of the follower, and problems of the stream."""
        return (*self._follower.notes, *(self._found or ()))

    def follow(self, values: np.ndarray, time: float, arrived: float) -> Pose | None:
        """The pose of a sample; None while more samples are needed for the first pose."""
        pose = self._follower.follow(values, time, arrived)
        if self._found is None and (not self._samples or time - self._samples[-1][0] >= CHECKED_STEP):
            self._samples.append((time, values))
            if len(self._samples) == CHECKED_SAMPLES:
                self._found = self._check()
        return pose

    def _check(self) -> tuple[str, ...]:
        times, values = (np.array(column) for column in zip(*self._samples))
        try:
            inputs = InputToCheck(build_recording(self._layout, "stream", times, values), self.rig)
            problems = [problem for _, problem in find_problems(inputs)]
        except InvalidValue:  # no pose of the root, or no valid orientation yet
            return ()
        return tuple(f"the stream looks wrong: {problem.text}. {problem.remedy}" for problem in problems)


class MarkerFollower:
    """Markers of a calibrated person.

    Raises:
        InvalidValue: none of them is attached to the person.
    """

    def __init__(self, body: Calibration, layout: Layout, options: TrackingOptions) -> None:
        self.rig = body.rig
        blank = Markers(np.zeros(1), layout.names, np.full((1, len(layout.names), 3), np.nan))
        blank = match_attachment_names(blank, body.attachments)
        self._tracker = RobustTracker(self.rig, Targets.from_markers(self.rig, body.attachments, blank), options)
        task = self._tracker.tracker.tasks.positions
        assert task is not None
        self.markers = task.names
        self._columns = np.array([blank.names.index(name) for name in task.names])
        left = [name for name in blank.names if name not in task.names]
        self._unattached: tuple[str, ...] = ()
        if left:
            self._unattached = (f"{len(left)} markers are not attached and are left out: {', '.join(left)}",)
        self.labels = LiveLabels(task.names)
        self._links = task.links
        self._seen_for = np.full(len(task.names), np.inf)
        self._time: float | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Markers without attachment, and exchanged labels."""
        return self._unattached + self.labels.notes

    def follow(self, values: np.ndarray, time: float, arrived: float) -> Pose:
        """The pose of a sample."""
        positions = self.labels.correct(_remove_outliers(values).reshape(-1, 3)[self._columns], time)
        step = 0.0 if self._time is None else time - self._time
        self._time = time
        seen = np.isfinite(positions).all(axis=1)
        self._seen_for = np.where(seen, self._seen_for + step, 0.0)
        reach = np.minimum(self._seen_for / FADE_IN, 1.0)
        shares = None if bool((reach == 1.0).all()) else np.maximum(reach, 1e-3) ** 2 * (3.0 - 2.0 * reach)
        found = self._tracker.step(
            TargetSample(np.where(seen[:, None], positions, np.nan), weight_factors=shares), time, arrived
        )
        modelled = self._tracker.points()
        turns = self._tracker.tracker.solver.kinematics.rotations[self._links]
        self.labels.update_prediction(modelled, turns, found.is_tracked)
        return Pose(found.q, found.is_tracked, found.converged, found.error, positions, modelled)


class SegmentFollower:
    """Orientations of segments, for example of inertial measurement units."""

    markers: tuple[str, ...] = ()

    def __init__(self, how: FollowOptions, layout: Layout) -> None:
        self.rig, self._layout, self._options = how.rig, layout, how.options
        self._mapping = how.mapping
        self._q = self.rig.neutral
        self._first: list[tuple[float, np.ndarray]] = []
        self._tracker: RobustTracker | None = None
        self.notes: tuple[str, ...] = ()
        if self._mapping is not None:
            self._targets(self._poses([(0.0, np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], len(layout.names)))]))

    def follow(self, values: np.ndarray, time: float, arrived: float) -> Pose | None:
        """The pose of a sample; None during the first half second of standing, which aligns the segments."""
        if not np.isfinite(_segment_quaternions(values.reshape(1, -1, POSE))).any():
            return Pose(self._q, tracked=False)
        if self._mapping is None:
            self._first.append((time, values))
            if time - self._first[0][0] < NEUTRAL_TIME:
                return None
            self._mapping = guess_mapping(self._poses(self._first), self.rig)
            self.notes = self._mapping.notes
        targets = self._targets(self._poses([(time, values)]))
        if self._tracker is None:
            self._tracker = RobustTracker(self.rig, targets, self._options)
        found = self._tracker.step(targets.sample(0), time, arrived)
        self._q = found.q
        return Pose(found.q, found.is_tracked, found.converged)

    def _targets(self, recorded: SegmentPoses) -> Targets:
        assert self._mapping is not None
        return targets_from_segments(recorded, self.rig, self._mapping)

    def _poses(self, samples: list[tuple[float, np.ndarray]]) -> SegmentPoses:
        times, values = np.array([time for time, _ in samples]), np.array([values for _, values in samples])
        segments = build_recording(self._layout, "live", times, values).segments
        assert segments is not None
        return segments


class JointFollower:
    """Joint values of a rig; a sample with a missing value keeps the previous pose."""

    markers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __init__(self, rig: Rig, layout: Layout, standing: str | None) -> None:
        self.rig, self._layout, self._q = rig, layout, rig.neutral
        self._configure = configuration_function(rig, layout.names, _joint_units(layout), standing)
        self._configuration(np.zeros(layout.size))  # raises if the names are not the rig's

    def follow(self, values: np.ndarray, time: float, arrived: float) -> Pose:
        """The pose of a sample."""
        found = self._configuration(values)
        if found is not None:
            self._q = found
        return Pose(self._q, found is not None)

    def _configuration(self, values: np.ndarray) -> np.ndarray | None:
        q, known = self._configure(*_split_root(self._layout, _remove_outliers(values[None])))
        return q[0] if known[0] else None


class RobustTracker:
    """A tracker that continues after samples that it cannot solve."""

    def __init__(self, rig: Rig, targets: Targets, options: TrackingOptions) -> None:
        self.tracker = Tracker(rig, targets.tasks, options)
        self._time: float | None = None

    def step(self, sample: TargetSample, time: float, arrived: float) -> TrackerStep:
        """Track a sample at a time [s]; if that fails, keep the pose and restart the tracker with the next sample."""
        dt = 0.01 if self._time is None else time - self._time
        self._time = time
        try:
            return self.tracker.step(sample, dt, arrived)
        except (BackendError, np.linalg.LinAlgError, ValueError):
            held = self.tracker.rig.neutral if self.tracker.q is None else self.tracker.q
            self.tracker = Tracker(self.tracker.rig, self.tracker.tasks, self.tracker.options)
            return TrackerStep(held, False)

    def points(self) -> np.ndarray:
        """(P, 3) [m] points of the task on the rig in the last pose."""
        task = self.tracker.tasks.positions
        assert task is not None
        if self.tracker.q is None:
            return np.full((len(task.names), 3), np.nan)
        kinematics = self.tracker.solver.kinematics
        kinematics.update_kinematics(self.tracker.q)
        return kinematics.points(task.links, task.offsets)


def build_recording(layout: Layout, name: str, times: np.ndarray, values: np.ndarray) -> Recording:
    """Convert samples (N, n) of a stream to a recording, like that of a file reader.

    Raises:
        InvalidValue: no segment has a valid orientation.
    """
    values = _remove_outliers(values)
    if layout.quantity == MARKERS:
        return Recording(name, Markers(times, layout.names, values.reshape(len(times), -1, 3)))
    if layout.quantity == SEGMENTS:
        numbers = values.reshape(len(times), -1, POSE)
        return Recording(
            name, segments=SegmentPoses(times, layout.names, to_matrix(_segment_quaternions(numbers)), numbers[..., 4:])
        )
    values, root = _split_root(layout, values)
    return Recording(name, joints=JointCoordinates(times, layout.names, values, _joint_units(layout), root))


def _joint_units(layout: Layout) -> tuple[str, ...]:
    return ("rad or m",) * len(layout.names)


def _split_root(layout: Layout, values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Joint values (N, n) of samples, and the poses (N, 7) of the root, or None without."""
    if not layout.root:
        return values, None
    root = values[:, :POSE].copy()
    root[:, 3:] = _normalise_quaternions(root[:, 3:])
    return values[:, POSE:], root


def _segment_quaternions(numbers: np.ndarray) -> np.ndarray:
    """Unit quaternions (N, B, 4) of segments' numbers (N, B, 7); NaN where missing."""
    return _normalise_quaternions(numbers[..., :4])


def _normalise_quaternions(quaternions: np.ndarray) -> np.ndarray:
    """Normalise quaternions (..., 4); invalid ones become NaN."""
    lengths = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.where(
            np.abs(lengths - 1.0) < MAX_LENGTH_ERROR, quaternions / np.maximum(lengths, MAX_LENGTH_ERROR), np.nan
        )


def _remove_outliers(values: np.ndarray) -> np.ndarray:
    """Values with NaN in place of implausible numbers."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) < MAX_VALUE, values, np.nan)
