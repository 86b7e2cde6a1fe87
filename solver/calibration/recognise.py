"""Builds a marker set from the markers' names, and from which link each of the other markers moves with.

The built-in set that fits comes first, then other names (`name_recognition`). A person with the markers so named is
calibrated and posed in some frames. In each link's frame every marker then has a location, which on the link that
carries it is the same in all frames. A marker is assigned to the link of the largest posterior probability. The prior
is the interpretation of its name; the likelihood decreases with the variance of its location in the link's frame while
the person moves, and with its distance from the link while the person stands. That probability is its confidence. A
name is overruled only where motion and distance both contradict it. Markers far from the body, and those that are not
on it by name, are not used.

Entries of a marker set that a user gives are kept whatever names and motion suggest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InputError, InvalidValue, SolverError, checked
from ..rigs.human_skeleton import LATERAL_SIGN
from ..scene.marker_set import REVIEW_CONFIDENCE, parse_entry, write_marker_set_tree
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..tracking.kinematics import Kinematics
from ..tracking.options import TrackingOptions
from ..tracking.tasks import Targets
from ..tracking.track import track_targets
from ..values.motion import Markers
from ..values.person import LINKS, MASS_GUESS, SIDES
from .calibration import Calibration, calibrate_with_marker_set
from .marker_set import NO_LINK, UNSEEN, MarkerSet, detect_marker_set, marker_set_from_tree
from .name_recognition import (
    JOINT_CENTRE,
    LANDMARK,
    LINK,
    OBJECT,
    VIRTUAL,
    NameReading,
    read_names,
)
from .subject import SubjectData, is_static

MIN_NAMED = 6
"""Fewest markers whose names say where they are, for a body to be posed."""
FRAMES_PER_RECORDING = 60
"""Frames of each recording in which markers are compared."""
MIN_LOCATION_STD = 0.004
"""[m] Smallest standard deviation of a marker's location."""
MAX_INDEPENDENT_FRAMES = 6.0
"""Largest number of frames that count as independent; those of a static trial are not."""
BONE_DISTANCE_STD = 0.06
"""[m] Standard deviation of a marker's distance from the bone of its link."""
MAX_BONE_DISTANCE = 0.30
"""[m] Distance from every bone beyond which a marker is not on the body."""
MAX_LOCATION_STD = 0.06
"""[m] Standard deviation of the location on the best link above which a marker belongs to none."""
MAX_UNNAMED_STD = 0.02
"""[m] The same for a marker whose name says nothing. Chosen on squats with a flywheel: 25 mm on the tether, 2 to 9 mm
on the body."""
UNNAMED_LINK_FACTOR = 0.05
"""Factor on the prior of a link on which no marker is named, because its pose is uncertain."""
GIVEN_CONFIDENCE = 0.99
"""Prior confidence of a given entry."""
MIN_PROBABILITY, MAX_ALTERNATIVES = 0.01, 3
"""Smallest probability of a link that is listed as an alternative, and largest number of alternatives."""
MIN_ODDS = 3.0
"""Likelihood ratio by which motion and distance each must favour another link to overrule a name. Chosen on recordings
of twelve laboratories, of which they overrule no name."""
COMPUTED = "computed, not recorded"
"""Why a marker that the recording software computed is not used."""
DEFAULT_SEX = "male"
"""[kg] and table of the body that is posed first; its lengths come from the markers."""


NAME_MORE_MARKERS = (
    f"Say where {MIN_NAMED} or more of them are, best some on every limb, with --place or in a marker set given by "
    "--marker-set: the others are found from the motion"
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed position of one recorded marker on the body.

    Attributes:
        marker: as recorded.
        place: landmark (``"left asis"``) or link (``"left_thigh"``); empty if it is not used.
        confidence: 0 to 1.
        reason: ``"name"``, ``"name and motion"``, ``"motion"``, ``"given"``, or why it is not used.
        alternatives: other links that it may be on, the most probable first.
    """

    marker: str
    place: str
    confidence: float
    reason: str
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recognition:
    """A recognised marker set, for approval.

    Attributes:
        tree: the set as stored in a file.
        proposals: one for each recorded marker, in their order.
        calibration: the person on whom the markers were compared.
    """

    tree: Mapping[str, Any]
    proposals: tuple[Proposal, ...]
    calibration: Calibration = field(repr=False)

    @property
    def marker_set(self) -> MarkerSet:
        """The set."""
        return marker_set_from_tree(self.tree)

    @property
    def used_proposals(self) -> tuple[Proposal, ...]:
        """Proposals of markers that are used."""
        return tuple(proposal for proposal in self.proposals if proposal.place)

    @property
    def confidence(self) -> float:
        """Mean over the markers that are used, 0 to 1."""
        return float(np.mean([proposal.confidence for proposal in self.used_proposals])) if self.used_proposals else 0.0

    @property
    def summary(self) -> str:
        """What was found, for a user."""
        uncertain = [proposal.marker for proposal in self.used_proposals if proposal.confidence < REVIEW_CONFIDENCE]
        unused: dict[str, list[str]] = {}
        for proposal in self.proposals:
            if not proposal.place:
                unused.setdefault(proposal.reason, []).append(proposal.marker)
        text = f"marker set {self.tree['name']}: {len(self.used_proposals)} of {len(self.proposals)} markers, "
        text += f"mean confidence {100.0 * self.confidence:.0f} %"
        text += f"; least certain {', '.join(uncertain)}" if uncertain else ""
        return text + "".join(f"; not used {', '.join(markers)} ({reason})" for reason, markers in unused.items())

    def write(self, path: str | Path) -> Path:
        """Writes the set as a JSON file, for ``marker_set``, with the reason of each place; whole or not at all.

        Raises:
            InputError: another suffix, or the file cannot be written.
        """
        return write_marker_set_tree(path, self.tree)


@checked
def recognise(
    recordings: Sequence[Recording],
    *,
    height: float | None = None,
    given: Mapping[str, Any] | None = None,
    built_in_sets: bool = True,
    required: Sequence[str] = (),
) -> Recognition:
    """A marker set for all markers of recordings: of a built-in set if one fits, and by names and motion.

    Args:
        recordings: of one person and one set of markers; best a static trial and one that moves.
        height: stature [m]; None: estimated.
        given: tree of a marker set (`scene.marker_set.read_marker_set_tree`) whose entries are kept; only other markers
            are recognised.
        built_in_sets: False for names and motion alone.
        required: links that need a marker: refused before a body is posed where the names place none on some of them,
            and fewer names say nothing.

    Raises:
        InputError: the names of too few markers say where they are, a required link has no marker, or ``given`` is not
            a marker set.
        InvalidValue: no recording has markers.

    Example:
        >>> import solver
        >>> found = solver.recognise(solver.demo.simulated_person().recordings[1:2])
        >>> [(p.place, p.reason) for p in found.proposals if p.marker == "LFHD"]
        [('left head_front', 'name and motion')]
        >>> found.confidence > 0.8
        True
    """
    if not (marked := [recording for recording in recordings if recording.markers is not None]):
        listed = ", ".join(recording.name for recording in recordings)
        raise InvalidValue(f"no recording has markers ({listed}): give marker files, such as .trc or .c3d")
    names = _names_of(marked)
    known: Mapping[str, Any] = given or {}
    kept = {} if given is None else _entries_in(marker_set_from_tree(given), names)
    entries = dict(kept)
    try:
        fitting = detect_marker_set(names) if built_in_sets else None
    except InputError:
        fitting = None
    if fitting is not None:
        known, entries = fitting.tree, _entries_in(fitting, names) | kept
    readings = {name: _reading_of_entry(entry, name) for name, entry in entries.items()}
    readings |= read_names([name for name in names if name not in entries], readings.values())
    body = [name for name, reading in readings.items() if reading.kind in (LANDMARK, LINK)]
    if len(body) < MIN_NAMED:
        listed = ", ".join(name for name in names if name not in body)
        problem = (
            f"only {len(body)} of {len(names)} markers have names that say where on a person they are, not {listed}"
        )
        raise InputError(marked[0].name, problem, remedy=NAME_MORE_MARKERS)
    tries = []
    for side in _candidate_sides(readings):
        sided = {
            name: replace(reading, side=side) if _lacks_side(reading) else reading for name, reading in readings.items()
        }
        named = {name: _entry_of_reading(reading) for name, reading in sided.items()}
        read = marker_set_from_tree(_tree(named | entries, known))
        read.require_links(required, names, marked[0].name, spare=len(names) - len(readings))
        tries.append(_PosedMarkers.from_recordings(marked, sided, entries, read, height))
    return min(tries, key=lambda posed: posed.calibration.rmse).propose_all(known, kept)


def _names_of(recordings: Sequence[Recording]) -> tuple[str, ...]:
    """Names of all markers of recordings."""
    return tuple(dict.fromkeys(name for r in recordings for name in r.markers.names))  # type: ignore[union-attr]


def _entries_in(marker_set: MarkerSet, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Entries of a marker set for the recorded names; of those that it ignores, too."""
    own = {name: found for name in names if (found := marker_set.canonical_name(name)) is not None}
    ignored = {name: {"virtual": COMPUTED} for name in marker_set.ignored_names(names)}
    return ignored | {name: dict(marker_set.tree["markers"][found]) for name, found in own.items()}


def _reading_of_entry(entry: Mapping[str, Any], name: str) -> NameReading:
    """A marker set's entry as an interpretation of a name."""
    parsed = parse_entry(entry, f"marker {name!r}")
    if parsed.virtual is not None or not parsed.use:
        return NameReading(VIRTUAL, "", "", 1.0)
    if parsed.landmark is not None:
        side, _, what = parsed.landmark.rpartition(" ")
        return NameReading(LANDMARK, what, side, GIVEN_CONFIDENCE)
    link = parsed.joint_centre or parsed.link or ""
    side = next((side for side in SIDES if link.startswith(f"{side}_")), "")
    kind = JOINT_CENTRE if parsed.joint_centre is not None else LINK
    return NameReading(kind, link.removeprefix(f"{side}_"), side, GIVEN_CONFIDENCE)


def _candidate_sides(readings: Mapping[str, NameReading]) -> tuple[str, ...]:
    """The side that is meant if none is named: that of all the others, otherwise either."""
    if not any(_lacks_side(reading) for reading in readings.values()):
        return ("",)
    named = {reading.side for reading in readings.values() if reading.side}
    return tuple(named) if len(named) == 1 else ("right", "left")


def _lacks_side(reading: NameReading) -> bool:
    """True for a landmark or link that a body has on both sides, named without a side."""
    return reading.kind in (LANDMARK, LINK) and reading.has_sides and not reading.side


@dataclass(frozen=True, slots=True)
class _PosedMarkers:
    """Markers in the links' frames of a posed body.

    Attributes:
        names: M.
        readings: interpretations of the names, sides filled in.
        given: entries of markers of the given set and of the built-in one.
        calibration: the body.
        locations: (M, L, 3) [m] median location in each link's frame, in the standing recordings if it was seen there;
            NaN if never seen.
        location_stds: (M, L) [m] standard deviation of the location, in the moving recordings if it was seen there.
    """

    names: tuple[str, ...]
    readings: Mapping[str, NameReading]
    given: Mapping[str, dict[str, Any]]
    calibration: Calibration
    locations: np.ndarray
    location_stds: np.ndarray

    @staticmethod
    def from_recordings(
        recordings: Sequence[Recording],
        readings: Mapping[str, NameReading],
        given: Mapping[str, dict[str, Any]],
        read: MarkerSet,
        height: float | None,
    ) -> _PosedMarkers:
        """A body posed by the markers whose names say where they are, as a set that was read from them."""
        names = _names_of(recordings)
        found = calibrate_with_marker_set(SubjectData(MASS_GUESS, DEFAULT_SEX, height), recordings, read)
        local: dict[bool, list[np.ndarray]] = {True: [], False: []}
        for recording in recordings:
            positions = _local_positions(found, recording.markers, names)  # type: ignore[arg-type]
            local[is_static(recording.markers)].append(positions)  # type: ignore[arg-type]
        standing, moving = (_median_and_std(np.concatenate(local[still] or [positions[:0]])) for still in (True, False))
        locations, stds = np.where(np.isfinite(standing[0]), standing[0], moving[0]), moving[1]
        return _PosedMarkers(names, readings, given, found, locations, np.where(np.isfinite(stds), stds, standing[1]))

    def propose_all(self, known: Mapping[str, Any], kept: Collection[str]) -> Recognition:
        """Assigns each marker to its most probable link; those ``kept`` to the link of their entry. ``known`` is the
        set that they complete.
        """
        proposals, entries = [], {}
        for row, marker in enumerate(self.names):
            proposal, entry = self._propose(row, marker, is_kept=marker in kept)
            proposals.append(proposal)
            notes = {"confidence": round(proposal.confidence, 2), "because": proposal.reason}
            entries[marker] = {**entry, **notes, **self._seen_locations(row, proposal)}
        return Recognition(_tree(entries, known), tuple(proposals), self.calibration)

    def _propose(self, row: int, name: str, *, is_kept: bool) -> tuple[Proposal, dict[str, Any]]:
        rig, reading, given = self.calibration.rig, self.readings.get(name), self.given.get(name)
        if reading is not None and reading.kind in (OBJECT, VIRTUAL, JOINT_CENTRE):
            entry = given or _entry_of_reading(reading)
            why = entry.get("virtual") or f"{reading.kind}, for calibration only"
            return Proposal(name, "", reading.confidence, why), entry
        distances = _bone_distances(rig, self.locations[row : row + 1])[0]
        sources = np.array(
            (
                -MAX_INDEPENDENT_FRAMES * np.log(self.location_stds[row] ** 2 + MIN_LOCATION_STD**2) / 2.0,
                -(distances**2) / (2.0 * BONE_DISTANCE_STD**2),
            )
        )
        likelihood = sources.sum(axis=0)
        own = None if reading is None else rig.index(_link_of_reading(reading))
        words = "" if reading is None else reading.landmark or _link_of_reading(reading)
        if not np.isfinite(likelihood).any():
            return (Proposal(name, words, GIVEN_CONFIDENCE, "given"), given) if given else (
                Proposal(name, "", 1.0, UNSEEN), {"virtual": UNSEEN})  # fmt: skip
        posterior = self._posterior(reading, own, likelihood)
        order = np.argsort(-posterior)
        best, others = (
            int(order[0]),
            tuple(rig.links[k] for k in order[:MAX_ALTERNATIVES] if posterior[k] >= MIN_PROBABILITY),
        )
        if given is not None and is_kept:
            because = "given" if best == own else f"given, but moves with {rig.links[best]}"
            return Proposal(name, words, float(posterior[own]), because, _exclude(others, words)), given
        bound = MAX_UNNAMED_STD if own is None else MAX_LOCATION_STD
        if distances[best] > MAX_BONE_DISTANCE or self.location_stds[row, best] > bound:
            return Proposal(name, "", 0.5, NO_LINK), {"virtual": NO_LINK}
        is_overruled = own is not None and (sources[:, best] > sources[:, own] + np.log(MIN_ODDS)).all()
        if reading is not None and own is not None and not is_overruled:
            sure = float(posterior[own])
            because = "name" if sure <= reading.confidence else "name and motion"
            return Proposal(name, words, sure, because, _exclude(others, words)), given or _entry_of_reading(reading)
        sure = float(posterior[best])
        place = rig.links[best]
        return Proposal(name, place, sure, "motion", _exclude(others, place)), {"link": place}

    def _posterior(self, reading: NameReading | None, own: int | None, likelihood: np.ndarray) -> np.ndarray:
        """Probability (L,) of each link to carry a marker."""
        rig = self.calibration.rig
        named = {_link_of_reading(known) for known in self.readings.values() if known.kind in (LANDMARK, LINK)}
        prior = np.array([1.0 if link in named else UNNAMED_LINK_FACTOR for link in rig.links]) / len(rig.links)
        if reading is not None and own is not None:
            prior[:] = (1.0 - reading.confidence) / (len(rig.links) - 1)
            prior[own] = reading.confidence
        posterior = np.log(prior) + likelihood
        posterior = np.exp(posterior - posterior.max())
        return posterior / posterior.sum()

    def _seen_locations(self, row: int, proposal: Proposal) -> dict[str, Any]:
        """Locations of a marker on its link and on the alternatives."""
        links = [link for link in (proposal.place, *proposal.alternatives) if link in LINKS]
        return {"seen": {link: self._relative_location(row, link) for link in links}} if links else {}

    def _relative_location(self, row: int, link: str) -> list[float]:
        """Forwards, outwards, up, in units of stature."""
        rig = self.calibration.rig
        side = LATERAL_SIGN.get(link.split("_")[0], 1.0)
        shares = self.locations[row, rig.index(link)] / self.calibration.height * [1.0, side, 1.0]
        return [round(float(value), 4) for value in shares]


def _exclude(links: tuple[str, ...], place: str) -> tuple[str, ...]:
    """Links without the one that a place names."""
    return tuple(link for link in links if link != place)


def _median_and_std(local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median (M, L, 3) of locations (F, M, L, 3), and their standard deviation (M, L), robustly; NaN if never seen."""
    seen = np.isfinite(local[..., 0]).any(axis=0).any(axis=1)
    locations, stds = np.full(local.shape[1:], np.nan), np.full(local.shape[1:3], np.nan)
    locations[seen] = np.nanmedian(local[:, seen], axis=0)
    stds[seen] = np.sqrt(np.nanmedian(((local[:, seen] - locations[seen]) ** 2).sum(axis=3), axis=0))
    return locations, stds


def _tree(entries: Mapping[str, Mapping[str, Any]], known: Mapping[str, Any]) -> dict[str, Any]:
    """A marker set as stored in a file, with the noise of the set that it completes."""
    markers = {name: dict(entry) for name, entry in entries.items()}
    name = f"{known['name']}, completed by names and motion" if known else "recognised by names and motion"
    about = "Put together from names and motion."
    return {"name": name, "about": about, "noise": known.get("noise", 0.0), "markers": markers}


def _entry_of_reading(reading: NameReading) -> dict[str, Any]:
    """A set's entry for the interpretation of a name."""
    if reading.kind == LANDMARK:
        return {"landmark": reading.landmark}
    if reading.kind == JOINT_CENTRE and reading.link:
        return {"joint_centre": reading.link}
    if reading.kind == LINK:
        return {"link": _link_of_reading(reading)}
    return {"virtual": "not of the body" if reading.kind == OBJECT else COMPUTED}


def _link_of_reading(reading: NameReading) -> str:
    """The link of a landmark or link."""
    if reading.kind == LINK:
        return reading.link
    tree = {"name": reading.landmark, "markers": {"marker": {"landmark": reading.landmark}}}
    if (place := marker_set_from_tree(tree).find_location("marker")) is None:
        raise InvalidValue(f"{reading.landmark!r} is not a landmark")
    return place.link


def _local_positions(calibration: Calibration, markers: Markers, names: Sequence[str]) -> np.ndarray:
    """Positions (F, M, L, 3) [m] of markers in every link's frame, in some frames of a recording."""
    rig = calibration.rig
    chosen = np.unique(np.linspace(0, len(markers) - 1, min(FRAMES_PER_RECORDING, len(markers))).astype(int))
    some = Markers(markers.times[chosen], markers.names, markers.positions[chosen])
    table = np.full((len(chosen), len(names), 3), np.nan)
    for column, name in enumerate(names):
        if name in some.names:
            table[:, column] = some.of(name)
    try:
        tracked = track_targets(rig, Targets.from_markers(rig, calibration.attachments, some), TrackingOptions())
    except SolverError:
        return np.full((0, len(names), len(rig.links), 3), np.nan)
    kinematics = Kinematics(rig)
    result = np.full((len(chosen), len(names), len(rig.links), 3), np.nan)
    for frame in np.flatnonzero(tracked.is_tracked):
        kinematics.update_kinematics(tracked.q[frame])
        away = table[frame][:, None] - kinematics.positions[None]
        result[frame] = np.einsum("lji,mlj->mli", kinematics.rotations, away)
    return result


def _bone_distances(rig: Rig, locations: np.ndarray) -> np.ndarray:
    """Distance (M, L) [m] of locations in the links' frames from the links' bones, joint centre to joint centre."""
    result = np.linalg.norm(locations, axis=2)
    ends: list[list[np.ndarray]] = [[] for _ in rig.links]
    for joint in rig.joints[1:]:
        ends[joint.parent].append(joint.position)
    for link, tip in enumerate(rig.tips):
        for end in [*ends[link], tip]:
            length = float(end @ end)
            share = np.clip(locations[:, link] @ end / length, 0.0, 1.0) if length > 0.0 else np.zeros(len(locations))
            result[:, link] = np.fmin(
                result[:, link], np.linalg.norm(locations[:, link] - share[:, None] * end, axis=1)
            )
    return result
