"""A marker set that nobody wrote: what names tell, and which link each of the other markers moves with.

Names come first (`names`). A person that wears the markers so named is calibrated and posed in some frames; in each
link's frame every marker then has a place, and on the link that carries it this place is the same in all of them.
A marker is given to the link l of the largest posterior probability: the prior is what its name says; the likelihood
falls with the variance of its place in the link's frame, and with its distance from the link. That probability is its
confidence. What lies far from the body, or is told to be no part of it, is left out. What somebody decided in a marker
set that is given back stands, whatever names and motion say, and helps to place the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, InvalidValue, SolverError
from ..motion import Markers
from ..person import LINKS, SIDES
from ..rig import Rig
from ..rigs.human_skeleton import LATERAL_SIGN
from ..scene.marker_set import REVIEW_CONFIDENCE, parse_entry, write_marker_set_tree
from ..tracking.kinematics import Kinematics
from ..tracking.options import TrackingOptions
from ..tracking.targets import Targets
from ..tracking.track import track_targets
from ..trial import Recording
from .calibration import Calibration, calibrate_with_marker_set
from .marker_set import MarkerSet
from .marker_set_file import marker_set_from_tree
from .name_recognition import (
    JOINT_CENTRE,
    LANDMARK,
    LINK,
    MIDLINE_LANDMARKS,
    OBJECT,
    VIRTUAL,
    NameReading,
    read_names,
)
from .subject import SubjectData

MIN_NAMED = 6
"""Markers whose names must tell their place before a body can be posed."""
FRAMES_PER_RECORDING = 60
"""Frames of each recording in which markers are looked at."""
MIN_LOCATION_STD = 0.004
"""[m] A marker's place is never known better."""
MAX_INDEPENDENT_FRAMES = 6.0
"""Frames that say something new, at most; a static trial says nothing."""
BONE_DISTANCE_STD = 0.06
"""[m] Standard deviation of a marker's distance from the bone of its link."""
MAX_BONE_DISTANCE = 0.30
"""[m] From every bone: beyond, a marker is no part of the body."""
MAX_LOCATION_STD = 0.06
"""[m] Standard deviation of the place on the best link beyond which a marker belongs to none."""
UNNAMED_LINK_FACTOR = 0.05
"""Share of its prior that a link keeps on which no name tells of a marker: where it is posed is a guess."""
GIVEN_CONFIDENCE = 0.99
"""Confidence in a place that somebody decided, before it is held against the motion."""
MIN_PROBABILITY, MAX_ALTERNATIVES = 0.01, 3
"""Probability from which a link is named as another that could carry a marker, and how many there are at most."""
DEFAULT_MASS, DEFAULT_SEX = 70.0, "male"
"""[kg] and table of the body that the markers are first looked at on; lengths come from the markers."""


NAME_MORE_MARKERS = (
    f"Say where {MIN_NAMED} or more of them sit, best some on every limb, with --place or in a marker set that "
    "--marker-set names: the others are found out"
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Where one recorded marker is taken to be.

    Attributes:
        marker: as recorded.
        place: landmark (``"left asis"``) or link (``"left_thigh"``); empty where it is not used.
        confidence: share of certainty, 0 to 1.
        reason: ``"name"``, ``"name and motion"``, ``"motion"``, ``"given"``, or why it is not used.
        alternatives: links that it could lie on instead, the likeliest first.
    """

    marker: str
    place: str
    confidence: float
    reason: str
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recognition:
    """A marker set found out, for approval.

    Attributes:
        tree: the set as a file has it.
        proposals: one for each recorded marker, in their order.
        calibration: the person on whom the markers were looked at.
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
        """Those that are used."""
        return tuple(proposal for proposal in self.proposals if proposal.place)

    @property
    def confidence(self) -> float:
        """Mean over the markers that are used, 0 to 1."""
        return float(np.mean([proposal.confidence for proposal in self.used_proposals])) if self.used_proposals else 0.0

    @property
    def summary(self) -> str:
        """What was found, for a user."""
        doubtful = [proposal.marker for proposal in self.used_proposals if proposal.confidence < REVIEW_CONFIDENCE]
        left = [proposal.marker for proposal in self.proposals if not proposal.place]
        text = f"marker set put together from names and motion: {len(self.used_proposals)} of {len(self.proposals)} "
        "markers, "
        text += f"mean confidence {100.0 * self.confidence:.0f} %"
        text += f"; least sure {', '.join(doubtful)}" if doubtful else ""
        return text + (f"; not used {', '.join(left)}" if left else "")

    def write(self, path: str | Path) -> Path:
        """The set as a JSON file, for ``marker_set``, with what tells each place; whole or not at all.

        Raises:
            InputError: another suffix, or the file cannot be written.
        """
        return write_marker_set_tree(path, self.tree)


def recognise(
    recordings: Sequence[Recording], *, height: float | None = None, given: Mapping[str, Any] | None = None
) -> Recognition:
    """A marker set for recordings whose markers no set knows.

    Args:
        recordings: of one person and one set of markers; a static trial and one that moves serve best.
        height: stature [m]; None: estimated.
        given: tree of a marker set (`scene.marker_set.read_marker_set_tree`) whose places stand; only what it does
            not name is found out.

    Raises:
        InputError: the names of too few markers tell where they sit, or ``given`` is no marker set.

    Example:
        >>> import solver
        >>> found = solver.recognise(solver.simulated_person().recordings[1:2])
        >>> [(p.place, p.because) for p in found.proposals if p.marker == "LFHD"]
        [('left head_front', 'name and motion')]
        >>> found.confidence > 0.8
        True
    """
    marked = [recording for recording in recordings if recording.markers is not None]
    names = tuple(dict.fromkeys(name for r in marked for name in r.markers.names))  # type: ignore[union-attr]
    decided = {} if given is None else _given_entries(given, names)
    read = read_names([name for name in names if name not in decided])
    read |= {name: _reading_of_entry(entry, name) for name, entry in decided.items()}
    body = [name for name, reading in read.items() if reading.kind in (LANDMARK, LINK)]
    if len(body) < MIN_NAMED:
        listed = ", ".join(name for name in names if name not in body)
        problem = (
            f"only {len(body)} of {len(names)} markers tell by their names where on a person they sit, not {listed}"
        )
        raise InputError(marked[0].name if marked else "recording", problem, remedy=NAME_MORE_MARKERS)
    tries = [
        _PosedMarkers.from_recordings(marked, names, read, decided, side, height) for side in _candidate_sides(read)
    ]
    return min(tries, key=lambda looked: looked.calibration.rmse).propose_all()


def _given_entries(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The entries of a marker set for recorded names, as somebody decided them."""
    known = marker_set_from_tree(given)
    own = {name: found for name in names if (found := known.canonical_name(name)) is not None}
    return {name: dict(given["markers"][found]) for name, found in own.items()}


def _reading_of_entry(entry: Mapping[str, Any], name: str) -> NameReading:
    """What an entry says that somebody decided, as a name would."""
    told = parse_entry(entry, f"marker {name!r}")
    if told.virtual is not None or not told.use:
        return NameReading(VIRTUAL, "", "", 1.0)
    if told.landmark is not None:
        side, _, what = told.landmark.rpartition(" ")
        return NameReading(LANDMARK, what, side, GIVEN_CONFIDENCE)
    link = told.joint_centre or told.link or ""
    side = next((side for side in SIDES if link.startswith(f"{side}_")), "")
    kind = JOINT_CENTRE if told.joint_centre is not None else LINK
    return NameReading(kind, link.removeprefix(f"{side}_"), side, GIVEN_CONFIDENCE)


def _candidate_sides(readings: Mapping[str, NameReading]) -> tuple[str, ...]:
    """Which side is meant where none is named: that of all the others, otherwise either."""
    if not any(_lacks_side(reading) for reading in readings.values()):
        return ("",)
    named = {reading.side for reading in readings.values() if reading.side}
    return tuple(named) if len(named) == 1 else ("right", "left")


def _lacks_side(reading: NameReading) -> bool:
    """Whether a landmark or link is named that a body has twice, and no side."""
    twice = (reading.kind == LANDMARK and reading.body_part not in MIDLINE_LANDMARKS) or (
        reading.kind == LINK and reading.body_part not in LINKS
    )
    return twice and not reading.side


@dataclass(frozen=True, slots=True)
class _PosedMarkers:
    """Markers seen in the links' frames of a posed body.

    Attributes:
        names: M.
        readings: what names say, sides filled in.
        given: entries of markers whose place somebody decided.
        calibration: the body.
        locations: (M, L, 3) [m] mean place in each link's frame; NaN where never seen.
        location_stds: (M, L) [m] standard deviation of it.
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
        names: tuple[str, ...],
        readings: Mapping[str, NameReading],
        given: Mapping[str, dict[str, Any]],
        side: str,
        height: float | None,
    ) -> _PosedMarkers:
        """A body posed by the markers whose names tell their places; ``side`` where they do not name one."""
        sided = {
            name: NameReading(r.kind, r.body_part, side, r.confidence) if _lacks_side(r) else r
            for name, r in readings.items()
        }
        tree = _tree({name: _entry_of_reading(reading) for name, reading in sided.items()} | dict(given))
        found = calibrate_with_marker_set(
            SubjectData(DEFAULT_MASS, DEFAULT_SEX, height), recordings, marker_set_from_tree(tree)
        )
        local = np.concatenate([_local_positions(found, recording.markers, names) for recording in recordings])  # type: ignore[arg-type]
        seen = np.isfinite(local[..., 0]).any(axis=0).any(axis=1)
        places = np.full(local.shape[1:], np.nan)
        spreads = np.full(local.shape[1:3], np.nan)
        places[seen] = np.nanmedian(local[:, seen], axis=0)
        spreads[seen] = np.sqrt(np.nanmedian(((local[:, seen] - places[seen]) ** 2).sum(axis=3), axis=0))
        return _PosedMarkers(names, sided, given, found, places, spreads)

    def propose_all(self) -> Recognition:
        """Each marker on its most probable link."""
        rig = self.calibration.rig
        likelihood = -MAX_INDEPENDENT_FRAMES * np.log(self.location_stds**2 + MIN_LOCATION_STD**2) / 2.0
        distances = _bone_distances(rig, self.locations)
        likelihood -= distances**2 / (2.0 * BONE_DISTANCE_STD**2)
        proposals, entries = [], {}
        for row, name in enumerate(self.names):
            proposal, entry = self._propose(row, name, likelihood[row], distances[row])
            proposals.append(proposal)
            told = {"confidence": round(proposal.confidence, 2), "because": proposal.reason}
            entries[name] = {**entry, **told, **self._seen_locations(row, proposal)}
        return Recognition(_tree(entries), tuple(proposals), self.calibration)

    def _propose(
        self, row: int, name: str, likelihood: np.ndarray, distances: np.ndarray
    ) -> tuple[Proposal, dict[str, Any]]:
        rig, reading, given = self.calibration.rig, self.readings.get(name), self.given.get(name)
        if reading is not None and reading.kind in (OBJECT, VIRTUAL, JOINT_CENTRE):
            why = "not of the body" if reading.kind == OBJECT else "computed, not recorded"
            return Proposal(name, "", reading.confidence, "given" if given else why), given or _entry_of_reading(
                reading
            )
        own = None if reading is None else rig.index(_link_of_reading(reading))
        words = "" if reading is None else reading.landmark or _link_of_reading(reading)
        if not np.isfinite(likelihood).any():
            unseen = "never seen with enough others"
            return (Proposal(name, words, GIVEN_CONFIDENCE, "given"), given) if given else (
                Proposal(name, "", 1.0, unseen), {"virtual": unseen})  # fmt: skip
        posterior = self._posterior(reading, own, likelihood)
        order = np.argsort(-posterior)
        best, others = (
            int(order[0]),
            tuple(rig.links[k] for k in order[:MAX_ALTERNATIVES] if posterior[k] >= MIN_PROBABILITY),
        )
        if given is not None:
            because = "given" if best == own else f"given, but moves with {rig.links[best]}"
            return Proposal(name, words, float(posterior[own]), because, _exclude(others, words)), given
        if distances[best] > MAX_BONE_DISTANCE or self.location_stds[row, best] > MAX_LOCATION_STD:
            return Proposal(name, "", 0.5, "moves with no link"), {"virtual": "moves with no link"}
        sure = float(posterior[best])
        if reading is not None and best == own:
            because = "name" if sure <= reading.confidence else "name and motion"
            entry = _entry_of_reading(reading) if reading.kind == LANDMARK else {"link": words}
            return Proposal(name, words, sure, because, _exclude(others, words)), entry
        place = rig.links[best]
        return Proposal(name, place, sure, "motion", _exclude(others, place)), {"link": place}

    def _posterior(self, reading: NameReading | None, own: int | None, likelihood: np.ndarray) -> np.ndarray:
        """Probability (L,) of each link to carry a marker."""
        rig = self.calibration.rig
        shown = {_link_of_reading(known) for known in self.readings.values() if known.kind in (LANDMARK, LINK)}
        prior = np.array([1.0 if link in shown else UNNAMED_LINK_FACTOR for link in rig.links]) / len(rig.links)
        if reading is not None and own is not None:
            prior[:] = (1.0 - reading.confidence) / (len(rig.links) - 1)
            prior[own] = reading.confidence
        posterior = np.log(prior) + likelihood
        posterior = np.exp(posterior - posterior.max())
        return posterior / posterior.sum()

    def _seen_locations(self, row: int, proposal: Proposal) -> dict[str, Any]:
        """Where a marker was seen on its link and on the others that it could lie on."""
        links = [link for link in (proposal.place, *proposal.alternatives) if link in LINKS]
        return {"seen": {link: self._relative_location(row, link) for link in links}} if links else {}

    def _relative_location(self, row: int, link: str) -> list[float]:
        """Forwards, outwards, up in shares of stature."""
        rig = self.calibration.rig
        side = LATERAL_SIGN.get(link.split("_")[0], 1.0)
        shares = self.locations[row, rig.index(link)] / self.calibration.height * [1.0, side, 1.0]
        return [round(float(value), 4) for value in shares]


def _exclude(links: tuple[str, ...], place: str) -> tuple[str, ...]:
    """Links that are not the place itself."""
    return tuple(link for link in links if link != place)


def _tree(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A marker set as a file has it."""
    markers = {name: dict(entry) for name, entry in entries.items()}
    return {"name": "recognised", "about": "Put together from names and motion.", "markers": markers}


def _entry_of_reading(reading: NameReading) -> dict[str, Any]:
    """A set's entry for what a name says."""
    if reading.kind == LANDMARK:
        return {"landmark": reading.landmark}
    if reading.kind == JOINT_CENTRE and reading.link:
        return {"joint_centre": reading.link}
    if reading.kind == LINK:
        return {"link": _link_of_reading(reading)}
    return {"virtual": "not of the body" if reading.kind == OBJECT else "computed by the recording software"}


def _link_of_reading(reading: NameReading) -> str:
    """The link that a landmark or link lies on."""
    if reading.kind == LINK:
        return reading.link
    place = marker_set_from_tree(_tree({"marker": {"landmark": reading.landmark}})).find_location("marker")
    if place is None:
        raise InvalidValue(f"{reading.landmark!r} is no landmark")
    return place.link


def _local_positions(calibration: Calibration, markers: Markers, names: Sequence[str]) -> np.ndarray:
    """Places (F, M, L, 3) [m] of markers in every link's frame, in some frames of a recording."""
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
    """Distance (M, L) [m] of places in the links' frames from the links' bones, from joint centre to the next ones."""
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
