"""From recordings to a person's rig and marker places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import InvalidValue
from ..motion import Markers
from ..progress import Progress, silent
from ..rig import Rig
from ..rigs.human import human
from ..rigs.skeleton import default_lengths
from ..tracking.dynamical import InverseKinematics
from ..tracking.options import TrackingOptions
from ..tracking.report import size_factor
from ..tracking.start import robust_start
from ..tracking.targets import Attachment, PositionTargets, Targets
from ..trial import Recording
from .fit import Sample, SubjectFit
from .markerset import MarkerSet, Place, detect_marker_set, load_marker_set
from .priors import Beliefs, beliefs_of, joint_centre_place

STILL_SPEED = 0.05
"""[m/s] Median marker speed below which a recording is a static trial."""
STATIC_SPREAD = 0.004
"""[m] Standard deviation of a marker about its place while standing, for all static frames together."""
STATIC_FRAMES = 3
MOVING_SPREAD = 0.012
"""[m] Standard deviation of a marker about its place while moving: skin over bone."""
MOVING_FRAMES = 24
"""Frames taken of each moving recording; together they count as half as many, because skin movement repeats."""
REDUNDANCY = 2.0
STATURE_GUESS = {"male": 1.76, "female": 1.63}
"""[m] Where the search for an unknown stature starts."""
STATURE_SEGMENTS = ("thigh", "shank", "upper_arm", "forearm", "torso")
SIZE_DIFFERENCE = 0.04
"""Difference in size between recordings beyond which they look like two subjects."""
LOST = 0.08
"""[m] Frame error beyond which a sampled frame is started afresh."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A person's rig and where the markers sit on it.

    Attributes:
        rig: human rig with the estimated joint centres.
        attachments: real markers on links.
        marker_set: by whose landmarks they were placed.
        height: [m] given, or estimated where none was.
        lengths: [m] distances between joint centres by link.
        marker_errors: [m] RMSE of each marker over the frames used.
        frames: frames used, by recording.
        sizes: how large the body of each recording is against the rig (1: the same), by recording.
        shifts: [m] how far the data moved joint centres from those of stature alone, by link.
        warnings: what the user should know.
    """

    rig: Rig
    attachments: tuple[Attachment, ...]
    marker_set: str
    height: float
    lengths: dict[str, float]
    marker_errors: dict[str, float]
    frames: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)
    shifts: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def rmse(self) -> float:
        """Root mean square of `marker_errors` over the markers [m]."""
        values = np.array(list(self.marker_errors.values()))
        return float(np.sqrt(np.nanmean(values**2)))


def calibrate(
    recordings: Sequence[Recording],
    *,
    mass: float,
    sex: str,
    height: float | None = None,
    marker_set: MarkerSet | str | Path | None = None,
    progress: Progress = silent,
) -> Calibration:
    """Segment lengths, joint centres and marker places of a person.

    One least-squares problem over the joint centres, the marker places and the poses of a sample of frames, with
    beliefs about landmarks, joint centres and left/right symmetry (`priors`). Static recordings come first and are
    trusted most; whatever moves adds functional information. Without any static recording the slowest frames start.

    Args:
        recordings: with markers; those without are ignored.
        mass: [kg].
        sex: ``"male"`` or ``"female"``.
        height: stature [m]; None: estimated from the segment lengths.
        marker_set: a `MarkerSet`, a built-in name or a JSON file; None: recognised from the marker names.
        progress: told about the progress; may cancel.

    Raises:
        InvalidValue: no recording has markers.
        InputError: no marker set fits; the error lists the unmatched names.
    """
    marked = [recording for recording in recordings if recording.markers is not None]
    if not marked:
        raise InvalidValue("calibration needs at least one recording with markers")
    names = tuple(dict.fromkeys(name for r in marked for name in r.markers.names))  # type: ignore[union-attr]
    if marker_set is None:
        marker_set = detect_marker_set(names, marked[0].name)
    elif not isinstance(marker_set, MarkerSet):
        marker_set = load_marker_set(marker_set)
    used = [name for name in names if marker_set.place_of(name) or marker_set.centre_of(name)]
    if len(used) < 4:
        raise InvalidValue(f"marker set {marker_set.name!r} knows only {len(used)} of the recorded markers")
    still = [r for r in marked if _median_speed(r.markers) < STILL_SPEED]  # type: ignore[arg-type]
    moving = [r for r in marked if not any(r is s for s in still)]
    problem = _Subject(marker_set, used, mass, sex, height, (still or moving[:1]), progress)
    problem.initialise()
    if moving:
        problem.refine(still, moving)
    return problem.result(marked)


class _Subject:
    """The state of one calibration."""

    def __init__(
        self,
        marker_set: MarkerSet,
        names: Sequence[str],
        mass: float,
        sex: str,
        height: float | None,
        first: Sequence[Recording],
        progress: Progress,
    ) -> None:
        self.marker_set, self.names = marker_set, tuple(names)
        self.mass, self.sex = mass, sex
        self.given = height
        self.height = height if height is not None else STATURE_GUESS[sex]
        self.first, self.progress = first, progress
        self.warnings: list[str] = []
        self.frames: dict[str, int] = {}

    def initialise(self) -> None:
        """Fit the static frames; find the stature if it is unknown."""
        rounds = 1 if self.given is not None else 3
        for round_ in range(rounds):
            self.progress(0.3 * round_ / rounds, "calibrating on the static frames")
            self._prepare(self.height, 1.0 if self.given is not None else 2.0)
            samples = [s for r in self.first for s in self._still_samples(r, len(self.first))]
            self._solve(samples)
            if self.given is None:
                self.height = self._stature()

    def refine(self, still: Sequence[Recording], moving: Sequence[Recording]) -> None:
        """Fit the static and the moving frames together."""
        samples = [s for r in still for s in self._still_samples(r, len(still))]
        for count, recording in enumerate(moving):
            self.progress(0.3 + 0.4 * count / len(moving), f"choosing frames of {recording.name}")
            samples += self._moving_samples(recording)
        self.progress(0.7, f"calibrating on {len(samples)} frames")
        self._solve(samples)

    def _prepare(self, height: float, loosened: float) -> None:
        rig = human(height, self.mass, self.sex)
        self.places = [self._place(rig, name) for name in self.names]
        dimensions = self._dimensions()
        self.beliefs: Beliefs = beliefs_of(rig, self.marker_set, self.names, self.places, dimensions, loosened)
        self.links = np.array([rig.index(place.link) for place in self.places])
        self.rig = rig
        self.fit = SubjectFit(rig, self.links, *self.beliefs.quadratic())
        joints = {link: rig.model.jointPlacements[k + 1].translation for k, link in enumerate(rig.links)}
        self.offsets = np.array([place.position(joints, height) for place in self.places])
        self.theta = self.fit.theta(self.offsets)
        self.samples: list[Sample] = []

    def _place(self, rig: Rig, name: str) -> Place:
        place, centre = self.marker_set.place_of(name), self.marker_set.centre_of(name)
        if place is None:
            assert centre is not None
            return joint_centre_place(rig, centre)
        return place

    def _dimensions(self) -> dict[str, float]:
        """ASIS distance and pelvis depth [m], medians over the first recordings that show them."""
        result: dict[str, float] = {}
        for recording in self.first:
            markers = recording.markers
            assert markers is not None
            found = {self.marker_set.landmark_of(name): markers.of(name) for name in markers.names}
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

    def _table(self, markers: Markers) -> np.ndarray:
        """(N, M, 3) positions in the order of `names`; NaN where the recording lacks a marker."""
        result = np.full((len(markers), len(self.names), 3), np.nan)
        for column, name in enumerate(self.names):
            if name in markers.names:
                result[:, column] = markers.of(name)
        return result

    def _still_samples(self, recording: Recording, recordings: int) -> list[Sample]:
        """A few frames, each the median over its part of the recording (or single slow frames of a moving one)."""
        markers = recording.markers
        assert markers is not None
        table = self._table(markers)
        if _median_speed(markers) < STILL_SPEED:
            frames = [_median(part) for part in np.array_split(table, STATIC_FRAMES) if len(part)]
            spread = STATIC_SPREAD * np.sqrt(STATIC_FRAMES * recordings)
        else:
            count = np.isfinite(table[:, :, 0]).sum(axis=1)
            full = np.flatnonzero(count == count.max())
            frames = [table[k] for k in full[np.linspace(0, len(full) - 1, MOVING_FRAMES).astype(int)]]
            spread = MOVING_SPREAD * REDUNDANCY**0.5
        self.frames[recording.name] = len(frames)
        return self._posed(frames, spread, recording.name)

    def _moving_samples(self, recording: Recording) -> list[Sample]:
        """Frames spread evenly over the recording."""
        assert recording.markers is not None
        table = self._table(recording.markers)
        usable = np.flatnonzero(np.isfinite(table[:, :, 0]).sum(axis=1) >= 0.6 * self._most_seen(table))
        chosen = usable[np.linspace(0, len(usable) - 1, min(MOVING_FRAMES, len(usable))).astype(int)]
        self.frames[recording.name] = len(chosen)
        return self._posed([table[k] for k in chosen], MOVING_SPREAD * REDUNDANCY**0.5, recording.name)

    @staticmethod
    def _most_seen(table: np.ndarray) -> int:
        return int(np.isfinite(table[:, :, 0]).sum(axis=1).max())

    def _posed(self, frames: Sequence[np.ndarray], spread: float, recording: str) -> list[Sample]:
        """Samples with poses: each frame from its predecessor's, or afresh where that fails."""
        rig = self._current_rig()
        weights = np.array([1.0 if place.anatomical else 0.3 for place in self.places])
        if self.samples:
            weights[:] = 1.0
        points = PositionTargets(self.names, self.links, self.offsets, np.array(frames), weights)
        targets = Targets(np.arange(len(frames), dtype=float), points)
        options = TrackingOptions(limits=False, huber=0.05, iterations=30)
        engine = InverseKinematics(rig, targets, options)
        samples: list[Sample] = []
        q: np.ndarray | None = None
        for frame, positions in enumerate(frames):
            if q is not None:
                q = engine.settled(q, frame, 1.0)
                engine.kinematics.update(q)
                if np.sqrt(np.nanmean(np.sum(engine.position_residuals(frame) ** 2, axis=1))) > LOST:
                    q = None
            if q is None:
                q = robust_start(rig, targets, frame, options)
            samples.append(Sample(positions, spread, q, recording))
        return samples

    def _current_rig(self) -> Rig:
        return replace(self.rig, model=self.fit.model)

    def _solve(self, samples: list[Sample]) -> None:
        self.theta, _ = self.fit.solve(self.theta, samples)
        self.offsets = self.fit.place(self.theta).copy()
        self.samples = samples

    def _joints(self) -> dict[str, np.ndarray]:
        centres = self.theta[: 3 * (len(self.rig.links) - 1)].reshape(-1, 3)
        return dict(zip(self.rig.links[1:], centres))

    def _stature(self) -> float:
        """Stature [m] whose default lengths fit the estimated ones best (least squares in relative error)."""
        ratios = default_lengths(1.0, self.sex)
        found = []
        for link, length in _lengths(self.rig, self._joints()).items():
            segment = link.removeprefix("left_").removeprefix("right_")
            if segment in STATURE_SEGMENTS:
                found.append((length, ratios[segment]))
        measured, shares = np.array(found).T
        return float(np.clip(measured @ shares / (shares @ shares), 0.8, 2.3))

    def result(self, recordings: Sequence[Recording]) -> Calibration:
        """The calibration as a value."""
        joints = self._joints()
        rig = human(self.height, self.mass, self.sex, joints={k: v.tolist() for k, v in joints.items() if k != "torso"})
        attachments, errors = [], {}
        residuals = self._residuals()
        for column, (name, place) in enumerate(zip(self.names, self.places)):
            if self.marker_set.place_of(name) is None:
                continue
            attachments.append(Attachment(name, place.link, self.offsets[column], place.weight, place.anatomical))
            seen = np.isfinite(residuals[:, column])
            errors[name] = float(np.sqrt(np.mean(residuals[seen, column] ** 2))) if seen.any() else float("nan")
        names = {name for r in recordings for name in r.markers.names}  # type: ignore[union-attr]
        unknown = self.marker_set.unknown(sorted(names))
        if unknown:
            self.warnings.append(
                f"{len(unknown)} markers are not in marker set {self.marker_set.name!r} and were left out: "
                + ", ".join(unknown)
            )
        sizes = self._sizes()
        self.warnings += _two_subjects(sizes)
        defaults = human(self.height, self.mass, self.sex)
        shifts = {
            link: float(np.linalg.norm(centre - defaults.model.jointPlacements[defaults.joint(link)].translation))
            for link, centre in joints.items()
        }
        return Calibration(
            rig, tuple(attachments), self.marker_set.name, self.height, _lengths(rig, joints), errors,
            dict(self.frames), sizes, shifts, tuple(self.warnings),
        )  # fmt: skip

    def _sizes(self) -> dict[str, float]:
        """Size of the body in each recording against the rig, from the frames used."""
        result = {}
        for recording in dict.fromkeys(sample.recording for sample in self.samples):
            own = [sample for sample in self.samples if sample.recording == recording]
            frames, poses = np.array([s.positions for s in own]), np.array([s.q for s in own])
            result[recording] = size_factor(
                self.fit.kinematics, self.fit.posture, self.links, self.offsets, frames, poses
            )
        return result

    def _residuals(self) -> np.ndarray:
        rows = []
        for sample in self.samples:
            self.fit.kinematics.update(sample.q)
            rows.append(sample.positions - self.fit.kinematics.points(self.links, self.offsets))
        return np.linalg.norm(np.array(rows), axis=2)


def _lengths(rig: Rig, joints: dict[str, np.ndarray]) -> dict[str, float]:
    """Distance [m] from each limb link's joint centre to the next, by link."""
    result = {}
    for link in rig.links:
        children = [rig.links[k] for k, parent in enumerate(rig.parents) if parent >= 0 and rig.links[parent] == link]
        if link == "torso":
            children = ["head"]
        if link != "pelvis" and len(children) == 1:
            result[link] = float(np.linalg.norm(joints[children[0]]))
    return result


def _two_subjects(sizes: dict[str, float]) -> list[str]:
    """A warning if the recordings show bodies of different size."""
    if len(sizes) < 2 or max(sizes.values()) - min(sizes.values()) < SIZE_DIFFERENCE:
        return []
    listed = ", ".join(f"{name} {100.0 * (size - 1.0):+.1f} %" for name, size in sizes.items())
    return [f"the recordings look like different subjects (size against the common rig: {listed})"]


def _median_speed(markers: Markers) -> float:
    """Median speed over markers and frames [m/s]."""
    if len(markers) < 2:
        return 0.0
    steps = np.linalg.norm(np.diff(markers.positions, axis=0), axis=2)
    return float(np.nanmedian(steps) * markers.rate)


def _median(part: np.ndarray) -> np.ndarray:
    seen = np.isfinite(part[:, :, 0]).any(axis=0)
    result = np.full(part.shape[1:], np.nan)
    result[seen] = np.nanmedian(part[:, seen], axis=0)
    return result
