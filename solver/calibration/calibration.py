"""The rig of a person fitted to markers whose places are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import abbreviate
from ..errors import InvalidValue
from ..progress import Progress, silent
from ..rig import UNOBSERVED, Rig
from ..tracking.targets import Attachment
from ..trial import Recording
from .error_draws import CalibrationErrorDraws
from .fit_checks import check_fit
from .frame_selection import is_static
from .marker_set import MarkerSet
from .shown import find_unobserved_links
from .subject import SubjectData, SubjectState, segment_lengths

MAX_SIZE_DIFFERENCE = 0.04
"""Difference in size between recordings beyond which they look like two subjects."""
MIN_MARKERS = 4
MASS_EXPONENT = 0.25
"""How a marker's weight grows with the mass of its link over the number of markers there: 0 for not, 1 for in
proportion. Chosen on runs of two people, whose unseen wrenches 0, .25, .5 and 1 leave at .450, .439, .431, .445 and
.591, .590, .594, .621 of what the prior leaves."""


@dataclass(frozen=True, slots=True, repr=False)
class Calibration:
    """A person's rig and where the markers sit on it.

    Attributes:
        rig: human rig with the estimated joint centres.
        attachments: real markers on links.
        marker_set: by whose landmarks they were placed.
        height: [m] given, or estimated where none was.
        lengths: [m] distances between joint centres by link.
        marker_errors: [m] RMSE of each marker over the frames used.
        frame_counts: frames used, by recording.
        size_ratios: ratio of the body of each recording to the rig (1: the same), by recording.
        joint_centre_shifts: [m] how far the data moved joint centres from those of stature alone, by link.
        warnings: what the user should know.
        assumptions: what was found out or guessed where nothing was stated, in plain sentences.
        error_draws: how far skin and beliefs may have led it; None where it comes from a file.
    """

    rig: Rig
    attachments: tuple[Attachment, ...]
    marker_set: str
    height: float
    lengths: dict[str, float]
    marker_errors: dict[str, float]
    frame_counts: dict[str, int] = field(default_factory=dict)
    size_ratios: dict[str, float] = field(default_factory=dict)
    joint_centre_shifts: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    error_draws: CalibrationErrorDraws | None = None

    def __repr__(self) -> str:
        return (
            f"Calibration of {self.rig.name}: height {self.height:.3f} m\n"
            f"  {len(self.attachments)} markers of the set {self.marker_set}, RMSE {1e3 * self.rmse:.1f} mm\n"
            f"  from "
            f"{abbreviate([f'{name} ({count} frames)' for name, count in self.frame_counts.items()]) or 'a file'}"
        )

    @property
    def rmse(self) -> float:
        """Root mean square of `draw_marker_errors` over the markers [m]."""
        values = np.array(list(self.marker_errors.values()))
        return float(np.sqrt(np.nanmean(values**2)))


def calibrate_with_marker_set(
    subject_data: SubjectData,
    recordings: Sequence[Recording],
    marker_set: MarkerSet,
    *,
    assumptions: Sequence[str] = (),
    progress: Progress = silent,
) -> Calibration:
    """Segment lengths, joint centres and marker places of a person, see `calibrate`.

    Args:
        subject_data: of the person.
        recordings: recordings with markers.
        marker_set: which marker sits where.
        assumptions: what was found out of the marker set.
        progress: told about the progress; may cancel.

    Raises:
        InvalidValue: the set knows too few of the markers.
    """
    names = tuple(dict.fromkeys(name for r in recordings for name in r.markers.names))  # type: ignore[union-attr]
    used = [name for name in names if marker_set.find_location(name) or marker_set.find_joint_centre(name)]
    if len(used) < MIN_MARKERS:
        raise InvalidValue(f"marker set {marker_set.name!r} knows only {len(used)} of the recorded markers")
    still = [r for r in recordings if is_static(r.markers)]  # type: ignore[arg-type]
    moving = [r for r in recordings if not any(r is s for s in still)]
    subject = SubjectState(marker_set, used, subject_data, (still or moving[:1]), progress)
    subject.initialise()
    if moving:
        subject.refine(still, moving)
    if subject_data.height is None:
        assumptions = [*assumptions, f"height {subject.height:.3f} m: estimated from the markers, none was stated"]
    return _build_calibration(subject, recordings, tuple(assumptions))


def _build_calibration(
    subject: SubjectState, recordings: Sequence[Recording], assumptions: tuple[str, ...]
) -> Calibration:
    joints = subject.joint_centres()
    lumbar = subject.rig.links[1]  # starts where the pelvis does
    measured = {link: centre.tolist() for link, centre in joints.items() if link != lumbar}
    rig = subject.data.rig(subject.height, measured)
    attachments, errors = [], {}
    warnings: list[str] = []
    residuals = subject.residuals()
    for column, (name, place) in enumerate(zip(subject.names, subject.locations)):
        if subject.marker_set.find_location(name) is None:
            continue
        attachments.append(Attachment(name, place.link, subject.offsets[column], place.weight, place.anatomical))
        seen = np.isfinite(residuals[:, column])
        errors[name] = float(np.sqrt(np.mean(residuals[seen, column] ** 2))) if seen.any() else float("nan")
    rig = replace(rig, provenance={**rig.provenance, UNOBSERVED: list(find_unobserved_links(rig, attachments))})
    attachments = weight_by_mass(rig, attachments)
    names = {name for r in recordings for name in r.markers.names}  # type: ignore[union-attr]
    unknown = subject.marker_set.unknown_names(sorted(names))
    if unknown:
        warnings.append(
            f"{len(unknown)} markers are not in marker set {subject.marker_set.name!r} and were left out: "
            + ", ".join(unknown)
        )
    sizes = subject.size_ratios()
    warnings += (*_warn_of_different_subjects(sizes), *check_fit(subject.collect_evidence()))
    defaults = subject.data.rig(subject.height)
    shifts = {
        link: float(np.linalg.norm(centre - defaults.model.jointPlacements[defaults.joint(link)].translation))
        for link, centre in joints.items()
    }
    return Calibration(
        rig, tuple(attachments), subject.marker_set.name, subject.height, segment_lengths(rig, joints), errors,
        dict(subject.frames), sizes, shifts, tuple(warnings), assumptions, subject.draw_errors(),
    )  # fmt: skip


def weight_by_mass(rig: Rig, attachments: Sequence[Attachment]) -> list[Attachment]:
    """Attachments whose weights grow with the mass that a marker of their link shows, their sum being kept.

    No posture of a rig meets all markers: skin swings, and shoulders and spine have more joints than it has. Whose
    markers are missed is then a choice. Limbs have many markers and little mass; where all markers count alike, the
    trunk, which shows where most of the mass is, is what gives way.

    Args:
        rig: whose prior tells the masses.
        attachments: weighed as their marker set has them.
    """
    masses = dict(zip(rig.links, rig.prior.masses))
    worth: dict[str, float] = {}
    for each in attachments:
        worth[each.link] = worth.get(each.link, 0.0) + each.weight
    found = [
        each.weight * (masses[each.link] / worth[each.link]) ** MASS_EXPONENT if each.weight else 0.0
        for each in attachments
    ]
    kept = sum(worth.values()) / sum(found) if any(found) else 1.0
    return [replace(each, weight=kept * weight) for each, weight in zip(attachments, found)]


def _warn_of_different_subjects(sizes: dict[str, float]) -> list[str]:
    """A warning if the recordings show bodies of different size."""
    if len(sizes) < 2 or max(sizes.values()) - min(sizes.values()) < MAX_SIZE_DIFFERENCE:
        return []
    listed = ", ".join(f"{name} {100.0 * (size - 1.0):+.1f} %" for name, size in sizes.items())
    return [f"the recordings look like different subjects (size against the common rig: {listed})"]
