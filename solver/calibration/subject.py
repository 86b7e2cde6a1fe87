"""The unknowns of a subject calibration and the frames they are fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InvalidValue
from ..person import SEXES, SHOULDERS, STATURE_GUESS, TRUNKS, require_person
from ..progress import Progress
from ..rig import Rig
from ..rigs.human import human
from ..rigs.skeleton import default_lengths
from ..tracking.dynamical import InverseKinematics
from ..tracking.options import TrackingOptions
from ..tracking.posture import JointLimits
from ..tracking.report import size_factor
from ..tracking.start import robust_start
from ..tracking.tasks import PositionTask, TargetSample, Tasks
from ..trial import Recording
from .deviations import Deviations, deviations
from .fit import Sample, SubjectFit
from .judgement import Evidence, suspect
from .markerset import MarkerSet, Place
from .priors import Beliefs, beliefs_of, carried, joint_centre_place
from .sampling import is_still, moving_frames, still_frames, table_of

STATURE_SEGMENTS = ("thigh", "shank", "upper_arm", "forearm", "torso")
STATURE_ROUNDS = 3
STATURE_DOUBT = 2.0
"""Factor on the spread of joint centres while the stature is unknown."""
LOST = 0.08
"""[m] Frame error beyond which a sampled frame is started afresh."""
FREE_WEIGHT = 0.3
"""Weight of a free marker while its place is only a guess."""
RESTARTS = (False, True)
"""Further starts, from the body that stature makes expect instead of from the static frames' fit: with the joints free,
and within their ranges."""
SAME = 0.02
"""Relative difference in cost below which two starts are taken to have ended in the same minimum, the first."""


@dataclass(frozen=True, slots=True)
class SubjectData:
    """What is known of a person before any marker is looked at.

    Attributes:
        mass: [kg]
        sex: ``"male"``, ``"female"`` or ``"unknown"``: which column of the segment tables, or the mean of both.
        height: stature [m]; None where the markers shall tell it.
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
        require_person(STATURE_GUESS[self.sex] if self.height is None else self.height, self.mass)

    def rig(self, height: float, joints: Mapping[str, Sequence[float]] | None = None) -> Rig:
        """The rig of a person of that stature [m], with joint centres where they are known."""
        return human(height, self.mass, self.sex, trunk=self.trunk, shoulders=self.shoulders, joints=joints)


class SubjectState:
    """Joint centres, marker places and sampled poses while a person is being calibrated."""

    def __init__(
        self,
        marker_set: MarkerSet,
        names: Sequence[str],
        known: SubjectData,
        first: Sequence[Recording],
        progress: Progress,
    ) -> None:
        self.marker_set, self.names = marker_set, tuple(names)
        self.known = known
        self.height = known.height if known.height is not None else STATURE_GUESS[known.sex]
        self.first, self.progress = first, progress
        self.frames: dict[str, int] = {}
        self.samples: list[Sample] = []
        self.cost = float("inf")
        self.theta, self.offsets = np.zeros(0), np.zeros((len(self.names), 3))
        self.still_only = all(is_still(r.markers) for r in first if r.markers is not None)

    def initialise(self) -> None:
        """Fit the static frames; find the stature if it is unknown."""
        stated = self.known.height is not None
        rounds = 1 if stated else STATURE_ROUNDS
        for round_ in range(rounds):
            self.progress(0.3 * round_ / rounds, "calibrating on the static frames")
            self._prepare(self.height, 1.0 if stated else STATURE_DOUBT)
            samples = [s for r in self.first for s in self._samples(r, len(self.first))]
            self._solve(samples)
            if not stated:
                self.height = self._stature()

    def refine(self, still: Sequence[Recording], moving: Sequence[Recording]) -> None:
        """Fit the static and the moving frames together."""
        self.still_only = False
        samples = [s for r in still for s in self._samples(r, len(still))]
        for count, recording in enumerate(moving):
            self.progress(0.3 + 0.4 * count / len(moving), f"choosing frames of {recording.name}")
            samples += self._samples(recording, len(moving))
        self.progress(0.7, f"calibrating on {len(samples)} frames")
        self._solve(samples)
        if suspect(self.evidence()):
            self._restart()

    def _restart(self) -> None:
        """Fit the same frames from other starts; a clearly lower cost wins."""
        for limited in RESTARTS:
            best = (self.cost, self.theta, self.offsets, self.samples)
            self.progress(0.85, f"calibrating {len(best[3])} frames from another start")
            self._solve(self._afresh(best[3], limited=limited))
            again = self.cost
            if again > (1.0 - SAME) * best[0]:
                self.cost, self.theta, self.offsets, self.samples = best
                self.fit.place(self.theta)
            if abs(again - best[0]) < SAME * best[0]:
                break

    def _afresh(self, samples: Sequence[Sample], *, limited: bool) -> list[Sample]:
        """The same frames posed on the body that is expected, and the unknowns set back to it."""
        self.theta = self.expected
        self.offsets = self.fit.place(self.theta).copy()
        self.samples, result = [], []
        for recording in dict.fromkeys(sample.recording for sample in samples):
            own = [sample for sample in samples if sample.recording == recording]
            result += self._posed([sample.positions for sample in own], own[0].spread, recording, limited=limited)
        return result

    def _prepare(self, height: float, loosened: float) -> None:
        rig = self.known.rig(height)
        self.places = [self._place(rig, name) for name in self.names]
        dimensions = self._dimensions()
        self.beliefs: Beliefs = beliefs_of(rig, self.marker_set, self.names, self.places, dimensions, loosened)
        self.links = np.array([rig.index(place.link) for place in self.places])
        self.rig = rig
        self.fit = SubjectFit(rig, self.links, *self.beliefs.quadratic())
        joints = {link: rig.model.jointPlacements[k + 1].translation for k, link in enumerate(rig.links)}
        self.offsets = np.array([place.position(joints, height) for place in self.places])
        self.theta = self.expected = self.fit.theta(self.offsets)
        self.samples = []

    def _place(self, rig: Rig, name: str) -> Place:
        place, centre = self.marker_set.place_of(name), self.marker_set.centre_of(name)
        if place is None:
            assert centre is not None
            return joint_centre_place(rig, centre)
        return carried(rig, place)

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

    def _samples(self, recording: Recording, recordings: int) -> list[Sample]:
        """Sampled frames of a recording, one of ``recordings`` of its kind."""
        assert recording.markers is not None
        table = table_of(recording.markers, self.names)
        still = is_still(recording.markers)
        frames, spread = still_frames(table, recordings) if still else moving_frames(table, recordings)
        self.frames[recording.name] = len(frames)
        return self._posed(frames, spread, recording.name)

    def _posed(
        self, frames: Sequence[np.ndarray], spread: float, recording: str, *, limited: bool = False
    ) -> list[Sample]:
        """Samples with poses: each frame from its predecessor's, or afresh where that fails."""
        rig = self.rig.with_joint_positions(self.fit.joint_positions)
        weights = np.array([1.0 if place.anatomical else FREE_WEIGHT for place in self.places])
        if self.samples:
            weights[:] = 1.0
        tasks = Tasks(PositionTask(tuple(self.names), self.links, self.offsets, weights))
        options = TrackingOptions(limits=limited, huber=0.05, iterations=30)
        engine = InverseKinematics(rig, tasks, options)
        samples: list[Sample] = []
        q: np.ndarray | None = None
        for positions in frames:
            measured = TargetSample(positions)
            if q is not None:
                q = engine.settled(q, measured, 1.0)
                engine.kinematics.update(q)
                if np.sqrt(np.nanmean(np.sum(engine.position_residuals(measured) ** 2, axis=1))) > LOST:
                    q = None
            if q is None:
                q = robust_start(rig, tasks, measured, options)
            samples.append(Sample(positions, spread, q, recording))
        return samples

    def _solve(self, samples: list[Sample]) -> None:
        self.theta, self.cost = self.fit.solve(self.theta, samples)
        self.offsets = self.fit.place(self.theta).copy()
        self.samples = samples

    def deviations(self) -> Deviations:
        """How far skin and beliefs may have led the fit."""
        return deviations(self.fit, self.theta, self.samples, self.beliefs, self.names)

    def joints(self) -> dict[str, np.ndarray]:
        """Joint centre (3,) [m] of each link but the root, in its parent's frame."""
        centres = self.theta[: 3 * (len(self.rig.links) - 1)].reshape(-1, 3)
        return dict(zip(self.rig.links[1:], centres))

    def _stature(self) -> float:
        """Stature [m] whose default lengths fit the estimated ones best (least squares in relative error)."""
        ratios = default_lengths(1.0, self.known.sex)
        found = []
        for link, length in lengths_of(self.rig, self.joints()).items():
            segment = link.removeprefix("left_").removeprefix("right_")
            if segment in STATURE_SEGMENTS:
                found.append((length, ratios[segment]))
        measured, shares = np.array(found).T
        return float(np.clip(measured @ shares / (shares @ shares), 0.8, 2.3))

    def sizes(self) -> dict[str, float]:
        """Size of the body in each recording against the rig, from the frames used."""
        result = {}
        for recording in dict.fromkeys(sample.recording for sample in self.samples):
            own = [sample for sample in self.samples if sample.recording == recording]
            frames, poses = np.array([s.positions for s in own]), np.array([s.q for s in own])
            result[recording] = size_factor(
                self.fit.kinematics, self.fit.posture, self.links, self.offsets, frames, poses
            )
        return result

    def evidence(self) -> Evidence:
        """What the fit left over, for judging it."""
        real = [k for k, name in enumerate(self.names) if self.marker_set.place_of(name) is not None]
        rig = self.rig.with_joint_positions(self.fit.joint_positions)
        limits = JointLimits(rig, np.inf)
        joints = self.joints()
        usual = {link: joint.position for link, joint in zip(self.rig.links[1:], self.rig.joints[1:])}
        origin = {**joints, self.rig.links[0]: np.zeros(3)}
        deviations = np.full(len(real), np.nan)
        for row, column in enumerate(real):
            place = self.places[column]
            if place.anatomical:
                expected = place.position(origin, self.height)
                deviations[row] = np.linalg.norm((self.offsets[column] - expected) / place.spread)
        return Evidence(
            rig,
            tuple(self.names[k] for k in real),
            self.links[real],
            self.residuals()[:, real],
            tuple(sample.recording for sample in self.samples),
            self.still_only,
            deviations,
            np.array([limits.excess(sample.q) for sample in self.samples]),
            lengths_of(rig, joints),
            lengths_of(self.rig, usual),
        )

    def residuals(self) -> np.ndarray:
        """Marker errors (F, M) [m] of the sampled frames; NaN where not seen."""
        rows = []
        for sample in self.samples:
            self.fit.kinematics.update(sample.q)
            rows.append(sample.positions - self.fit.kinematics.points(self.links, self.offsets))
        return np.linalg.norm(np.array(rows), axis=2)


def lengths_of(rig: Rig, joints: dict[str, np.ndarray]) -> dict[str, float]:
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
