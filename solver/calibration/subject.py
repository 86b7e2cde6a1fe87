"""The unknowns of a subject calibration and the selection of the frames they are fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..base.file_arrays import FileRows, iterate_slices, map_slices
from ..base.progress import Progress
from ..dynamics.coordinates import joint_coordinates
from ..rigs import human
from ..rigs.human_skeleton import default_lengths
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..tracking.initial_pose import find_initial_pose
from ..tracking.inverse_kinematics import InverseKinematics
from ..tracking.joint_limits import JointLimits
from ..tracking.marker_checks import estimate_size_ratio
from ..tracking.motion_errors import SOFT_TISSUE, MotionErrors
from ..tracking.options import TrackingOptions
from ..tracking.tasks import Attachment, PositionTask, TargetSample, Tasks
from ..values.motion import Markers
from ..values.person import SEXES, SHOULDERS, STATURE_GUESS, TRUNKS, require_person
from .fit import ESTIMATED_POSTURE_STIFFNESS, CalibrationFrame, SubjectFit
from .fit_checks import FitEvidence, is_suspect
from .marker_set import MarkerLocation, MarkerSet
from .priors import LinearPrior, build_prior, joint_centre_location

STATURE_SEGMENTS = ("thigh", "shank", "upper_arm", "forearm", "torso")
STATURE_ITERATIONS = 3
UNKNOWN_STATURE_FACTOR = 2.0
"""Factor on the standard deviation of joint centres while the stature is unknown."""
MAX_FRAME_ERROR = 0.08
"""[m] Error above which a sampled frame is posed again from an initial fit."""
FREE_MARKER_WEIGHT = 0.3
"""Weight of a free marker while its location is only a prior."""
RESTARTS = (False, True)
"""Further starts, from the expected body instead of the static frames' fit: without joint limits, and with them."""
SAME_MINIMUM = 0.02
"""Relative difference in cost below which two starts ended in the same minimum; the first is kept."""
STATIC_SPEED = 0.05
"""[m/s] In a static trial most markers move slower than this half of the time. Measured on a simulated dance of 3 s,
whose joint centres are 8.6 mm off: half and twice the value end within 0.1 mm."""
SPEED_PERCENTILE = 90.0
"""[%] Percentile of the markers' speeds that is compared: a dance on both feet keeps many markers still, but not so
many."""
STATIC_WINDOW = 0.25
"""[s] Positions are averaged over this time before their speed is computed, because camera noise alone is faster.
Measured on a simulated dance of 3 s, whose joint centres are 8.6 mm off: half and twice the value end within 0.1 mm."""
STATIC_STD = 0.004
"""[m] Standard deviation of a marker about its location while standing, for all static frames together. Measured on a
simulated dance of 3 s, whose joint centres are 8.6 mm off: half and twice the value give 7.4 and 9.5 mm."""
STATIC_FRAME_COUNT = 3
"""Measured on a simulated dance of 3 s, whose joint centres are 8.6 mm off: half and twice the value end within 0.1
mm."""
MOVING_STD = 0.007
"""[m] Standard deviation of a marker about its location in each frame of one moving recording, caused by skin motion.
It follows the joints and repeats itself, so many moving recordings together count as two. Measured on a simulated
dance of 3 s, whose joint centres are 8.6 mm off: half and twice the value give 6.9 and 9.7 mm."""
MOVING_FRAME_COUNT = 24
"""Frames selected from each moving recording. Measured on a simulated dance of 3 s, whose joint centres are 8.6 mm
off: half and twice the value give 9.5 and 8.2 mm."""
FRAMES_AT_ONCE = 2**14
MIN_SEEN_FRACTION = 0.6
"""A selected frame shows at least this fraction of the most markers seen at once. Measured on a simulated dance of 3
s, whose joint centres are 8.6 mm off: half and twice the value give 8.6 and 11.3 mm."""


@dataclass(frozen=True, slots=True)
class SubjectData:
    """What is known of a person before the markers are used.

    Attributes:
        mass: [kg]
        sex: ``"male"``, ``"female"`` or ``"unknown"``: column of the segment tables, or the mean of both.
        height: stature [m]; None: estimated from the markers.
        trunk: ``"one"`` or ``"three"``, see `human`.
        shoulders: ``"fixed"`` or ``"girdle"``, see `human`.
    """

    mass: float
    sex: str
    height: float | None = None
    trunk: str = "one"
    shoulders: str = "fixed"

    def __post_init__(self) -> None:
        if self.sex not in SEXES:
            raise InvalidValue(f"the sex is {' or '.join(map(repr, SEXES))}, not {self.sex!r}")
        if self.trunk not in TRUNKS:
            raise InvalidValue(f"the trunk is {' or '.join(map(repr, TRUNKS))}, not {self.trunk!r}")
        if self.shoulders not in SHOULDERS:
            raise InvalidValue(f"the shoulders are {' or '.join(map(repr, SHOULDERS))}, not {self.shoulders!r}")
        require_person(self.height, None)
        require_person(None, self.mass)

    def rig(self, height: float, joints: Mapping[str, Sequence[float]] | None = None) -> Rig:
        """The rig of a person of that stature [m], with joint centres if they are known."""
        return human(height, self.mass, self.sex, trunk=self.trunk, shoulders=self.shoulders, joints=joints)


class SubjectState:
    """Joint centres, marker locations and sampled poses during a calibration."""

    def __init__(
        self,
        marker_set: MarkerSet,
        names: Sequence[str],
        data: SubjectData,
        first_recordings: Sequence[Recording],
        progress: Progress,
    ) -> None:
        self.marker_set, self.names = marker_set, tuple(names)
        self.data = data
        self.height = data.height if data.height is not None else STATURE_GUESS[data.sex]
        self.first_recordings, self.progress = first_recordings, progress
        self.frames: dict[str, int] = {}
        self.samples: list[CalibrationFrame] = []
        self.cost = float("inf")
        self.theta, self.offsets = np.zeros(0), np.zeros((len(self.names), 3))
        self.static_only = all(is_static(r.markers) for r in first_recordings if r.markers is not None)

    def initialise(self) -> None:
        """Fits the static frames; estimates the stature if it is unknown."""
        is_known = self.data.height is not None
        iterations = 1 if is_known else STATURE_ITERATIONS
        for iteration in range(iterations):
            self.progress(0.3 * iteration / iterations, "calibrating on the static frames")
            self._prepare(self.height, 1.0 if is_known else UNKNOWN_STATURE_FACTOR)
            samples = [s for r in self.first_recordings for s in self._sample_frames(r, len(self.first_recordings))]
            self._solve(samples)
            if not is_known:
                self.height = self._estimate_stature()

    def refine(self, static: Sequence[Recording], moving: Sequence[Recording]) -> None:
        """Fits the static and the moving frames together."""
        self.static_only = False
        samples = [s for r in static for s in self._sample_frames(r, len(static))]
        for count, recording in enumerate(moving):
            self.progress(0.3 + 0.4 * count / len(moving), f"selecting frames of {recording.name}")
            samples += self._sample_frames(recording, len(moving))
        self.progress(0.7, f"calibrating on {len(samples)} frames")
        self._solve(samples)
        if is_suspect(self.collect_evidence()):
            self._restart()

    def _restart(self) -> None:
        """Fits the same frames from other starts; a clearly lower cost wins."""
        for limited in RESTARTS:
            best = (self.cost, self.theta, self.offsets, self.samples)
            self.progress(0.85, f"calibrating {len(best[3])} frames from another start")
            self._solve(self._restart_samples(best[3], within_limits=limited))
            new_cost = self.cost
            if new_cost > (1.0 - SAME_MINIMUM) * best[0]:
                self.cost, self.theta, self.offsets, self.samples = best
                self.fit.set_joint_centres(self.theta)
            if abs(new_cost - best[0]) < SAME_MINIMUM * best[0]:
                break

    def _restart_samples(self, samples: Sequence[CalibrationFrame], *, within_limits: bool) -> list[CalibrationFrame]:
        """The same frames posed on the expected body; resets the unknowns to it."""
        self.theta = self.expected_theta
        self.offsets = self.fit.set_joint_centres(self.theta).copy()
        self.samples, result = [], []
        for recording in dict.fromkeys(sample.recording for sample in samples):
            own = [sample for sample in samples if sample.recording == recording]
            result += self._pose_frames(
                [sample.positions for sample in own], own[0].std, recording, within_limits=within_limits
            )
        return result

    def _prepare(self, height: float, std_factor: float) -> None:
        rig = self.data.rig(height)
        self.locations = [self._marker_location(rig, name) for name in self.names]
        dimensions = self._dimensions()
        self.prior: LinearPrior = build_prior(rig, self.marker_set, self.names, self.locations, dimensions, std_factor)
        self.links = np.array([rig.index(place.link) for place in self.locations])
        self.rig = rig
        self.fit = SubjectFit(rig, self.links, *self.prior.information_form())
        if self.marker_set.noise:
            self.fit.posture_stiffness = ESTIMATED_POSTURE_STIFFNESS
        joints = {link: joint.position for link, joint in zip(rig.links, rig.joints)}
        self.offsets = np.array([place.position(joints, height) for place in self.locations])
        self.theta = self.expected_theta = self.fit.stack_unknowns(self.offsets)
        self.samples = []

    def _marker_location(self, rig: Rig, name: str) -> MarkerLocation:
        place, centre = self.marker_set.find_location(name), self.marker_set.find_joint_centre(name)
        if place is None:
            assert centre is not None
            return joint_centre_location(rig, centre)
        return place.on_carrying_link(rig)

    def _dimensions(self) -> dict[str, float]:
        """ASIS distance and pelvis depth [m], medians over the first recordings that contain the markers."""
        result: dict[str, float] = {}
        for recording in self.first_recordings:
            markers = recording.markers
            assert markers is not None
            found = {self.marker_set.find_landmark(name): markers.of(name) for name in markers.names}
            left, right = found.get("left asis"), found.get("right asis")
            if left is None or right is None:
                continue
            result.setdefault("asis_width", float(np.nanmedian(np.linalg.norm(left - right, axis=1))))
            if "left psis" in found and "right psis" in found:
                back = 0.5 * (found["left psis"] + found["right psis"])
            elif "sacrum" in found:
                back = found["sacrum"]
            else:
                continue
            depth = np.nanmedian(np.linalg.norm(0.5 * (left + right) - back, axis=1))
            result.setdefault("pelvis_depth", float(depth))
        return {name: value for name, value in result.items() if np.isfinite(value)}

    def _sample_frames(self, recording: Recording, recordings: int) -> list[CalibrationFrame]:
        """Sampled frames of a recording, one of ``recordings`` of its kind."""
        assert recording.markers is not None
        table = select_markers(recording.markers, self.names)
        still = is_static(recording.markers)
        frames, std = select_static_frames(table, recordings) if still else select_moving_frames(table, recordings)
        std = float(np.hypot(std, self.marker_set.noise))
        self.frames[recording.name] = len(frames)
        return self._pose_frames(frames, std, recording.name)

    def _pose_frames(
        self, frames: Sequence[np.ndarray], std: float, recording: str, *, within_limits: bool = False
    ) -> list[CalibrationFrame]:
        """Samples with poses: each frame starts from the pose before it, or from an initial fit if that fails."""
        rig = self.rig.with_joint_positions(self.fit.joint_positions)
        weights = np.array([1.0 if place.anatomical else FREE_MARKER_WEIGHT for place in self.locations])
        if self.samples:
            weights[:] = 1.0
        tasks = Tasks(PositionTask(tuple(self.names), self.links, self.offsets, weights))
        within_limits |= self.marker_set.noise > 0.0  # joint centres observe no rotation about a straight limb
        options = TrackingOptions(limits=within_limits, huber_distance=0.05, iterations=30)
        engine = InverseKinematics(rig, tasks, options)
        samples: list[CalibrationFrame] = []
        q: np.ndarray | None = None
        for positions in frames:
            measured = TargetSample(positions)
            if q is not None:
                q, _ = engine.refine(q, measured, 1.0)
                engine.kinematics.update_kinematics(q)
                if np.sqrt(np.nanmean(np.sum(engine.position_residuals(measured) ** 2, axis=1))) > MAX_FRAME_ERROR:
                    q = None
            if q is None:
                q = find_initial_pose(rig, tasks, measured, options)
            samples.append(CalibrationFrame(positions, std, q, recording))
        return samples

    def _solve(self, samples: list[CalibrationFrame]) -> None:
        self.theta, self.cost = self.fit.solve(self.theta, samples)
        self.offsets = self.fit.set_joint_centres(self.theta).copy()
        self.samples = samples

    def motion_errors(self, rig: Rig, attachments: Sequence[Attachment]) -> MotionErrors:
        """Errors of motions of a rig with the fit's joint centres, tracked from some of its markers."""
        sizes = {segment: max(size, np.sqrt(3.0) * self.marker_set.noise) for segment, size in SOFT_TISSUE.items()}
        angles = joint_coordinates(rig, np.array([sample.q for sample in self.samples]))
        middle = self.samples[int(np.argmin(((angles - angles.mean(axis=0)) ** 2).sum(axis=1)))]
        columns = [self.names.index(each.marker) for each in attachments]
        blocks = np.r_[np.arange(self.fit.joints), self.fit.joints + np.array(columns, int)]
        kept = (3 * blocks[:, None] + np.arange(3)).reshape(-1)
        covariance = self.fit.covariance(self.theta, self.samples)[np.ix_(kept, kept)]
        return MotionErrors.from_attachments(rig, attachments, middle.q, covariance, sizes)

    def joint_centres(self) -> dict[str, np.ndarray]:
        """Joint centre (3,) [m] of each link but the root, in its parent's frame."""
        return dict(zip(self.rig.links[1:], self.theta[: 3 * (len(self.rig.links) - 1)].reshape(-1, 3)))

    def _estimate_stature(self) -> float:
        """Stature [m] whose default lengths fit the estimated ones best (least squares in relative error)."""
        ratios = default_lengths(1.0, self.data.sex)
        found = []
        for link, length in segment_lengths(self.rig, self.joint_centres()).items():
            segment = link.removeprefix("left_").removeprefix("right_")
            if segment in STATURE_SEGMENTS:
                found.append((length, ratios[segment]))
        measured, shares = np.array(found).T
        return float(np.clip(measured @ shares / (shares @ shares), 0.8, 2.3))

    def size_ratios(self) -> dict[str, float]:
        """Size of the body in each recording relative to the rig, from the frames used."""
        result = {}
        for recording in dict.fromkeys(sample.recording for sample in self.samples):
            own = [sample for sample in self.samples if sample.recording == recording]
            frames, poses = np.array([s.positions for s in own]), np.array([s.q for s in own])
            result[recording] = estimate_size_ratio(
                self.fit.kinematics, self.fit.posture, self.links, self.offsets, frames, poses
            )
        return result

    def collect_evidence(self) -> FitEvidence:
        """Residuals and dimensions of the fit, for `fit_checks`."""
        real = [k for k, name in enumerate(self.names) if self.marker_set.find_location(name) is not None]
        rig = self.rig.with_joint_positions(self.fit.joint_positions)
        limits = JointLimits(rig, np.inf)
        joints = self.joint_centres()
        expected_joints = {link: joint.position for link, joint in zip(self.rig.links[1:], self.rig.joints[1:])}
        joint_positions = {**joints, self.rig.links[0]: np.zeros(3)}
        deviations = np.full(len(real), np.nan)
        for row, column in enumerate(real):
            place = self.locations[column]
            if place.anatomical:
                expected = place.position(joint_positions, self.height)
                deviations[row] = np.linalg.norm((self.offsets[column] - expected) / place.std)
        return FitEvidence(
            rig,
            tuple(self.names[k] for k in real),
            self.links[real],
            self.residuals()[:, real],
            tuple(sample.recording for sample in self.samples),
            self.static_only,
            deviations,
            np.array([limits.violation(sample.q) for sample in self.samples]),
            segment_lengths(rig, joints),
            segment_lengths(self.rig, expected_joints),
            self.marker_set.noise,
        )

    def residuals(self) -> np.ndarray:
        """Marker errors (F, M) [m] of the sampled frames; NaN where not seen."""
        rows = []
        for sample in self.samples:
            self.fit.kinematics.update_kinematics(sample.q)
            rows.append(sample.positions - self.fit.kinematics.points(self.links, self.offsets))
        return np.linalg.norm(np.array(rows), axis=2)


def segment_lengths(rig: Rig, joints: dict[str, np.ndarray]) -> dict[str, float]:
    """Distance [m] from each limb link's joint centre to the next, by link."""
    result = {}
    for link in rig.links:
        children = [rig.links[k] for k, parent in enumerate(rig.parents) if parent >= 0 and rig.links[parent] == link]
        if link == "torso":
            children = ["head"]
        if link != "pelvis" and len(children) == 1:
            below = joints[link] if link == "torso" else np.zeros(3)  # an abdomen counts as part of the torso
            result[link] = float(np.linalg.norm(below + joints[children[0]]))
    return result


def is_static(markers: Markers) -> bool:
    """True for a static trial: the median speed of nearly all markers is that of a standing person."""
    if len(markers) < 2:
        return True
    frames = min(max(round(STATIC_WINDOW * markers.rate), 1), len(markers) // 2)
    parts = len(markers) // frames
    places = np.empty((parts, len(markers.names), 3))
    for own in iterate_slices(parts, FRAMES_AT_ONCE // frames + 1):
        part = markers.positions[own.start * frames : own.stop * frames]
        part = part.reshape(own.stop - own.start, frames, len(markers.names), 3)
        seen = np.isfinite(part[..., 0]).sum(axis=1)
        places[own] = np.nansum(part, axis=1) / np.where(seen > 0, seen, np.nan)[..., None]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=2)
    usual = np.nanmedian(steps[:, np.isfinite(steps).any(axis=0)], axis=0)
    return len(usual) > 0 and float(np.percentile(usual, SPEED_PERCENTILE)) * markers.rate / frames < STATIC_SPEED


def select_markers(markers: Markers, names: Sequence[str]) -> np.ndarray:
    """(N, M, 3) positions in the order of ``names``; NaN where the recording lacks a marker."""
    there = [column for column, name in enumerate(names) if name in markers.names]
    taken, result = [markers.index(names[column]) for column in there], FileRows()
    for own in iterate_slices(len(markers)):
        rows = np.full((own.stop - own.start, len(names), 3), np.nan)
        rows[:, there] = markers.positions[own][:, taken]
        result.add(rows)
    return result.finish()


def select_static_frames(table: np.ndarray, recordings: int) -> tuple[list[np.ndarray], float]:
    """Medians over parts of a static trial (N, M, 3), and the standard deviation [m] of each among so many static
    recordings.

    Empty for a recording without any of the markers, such as one with another marker set.
    """
    frames = [_median(part) for part in np.array_split(table, STATIC_FRAME_COUNT) if len(part)]
    return [frame for frame in frames if np.isfinite(frame).any()], STATIC_STD * float(
        np.sqrt(STATIC_FRAME_COUNT * recordings)
    )


def select_moving_frames(table: np.ndarray, recordings: int) -> tuple[list[np.ndarray], float]:
    """Frames with most markers seen, spread evenly over a recording (N, M, 3), and the standard deviation [m] of each.

    Empty for a recording without any of the markers.
    """
    seen = map_slices(len(table), lambda own: np.isfinite(table[own, :, 0]).sum(axis=1))
    usable = np.flatnonzero((seen > 0) & (seen >= MIN_SEEN_FRACTION * seen.max(initial=0)))
    chosen = usable[np.linspace(0, len(usable) - 1, min(MOVING_FRAME_COUNT, len(usable))).astype(int)]
    return [table[k] for k in chosen], MOVING_STD * float(np.sqrt(max(recordings, 2)))


def _median(part: np.ndarray) -> np.ndarray:
    seen = np.isfinite(part[:, :, 0]).any(axis=0)
    result = np.full(part.shape[1:], np.nan)
    result[seen] = np.nanmedian(part[:, seen], axis=0)
    return result
