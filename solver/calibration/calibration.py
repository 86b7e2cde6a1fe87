"""A calibrated person: the rig fitted to markers whose locations are known, and how it is calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..base.arrays import abbreviate
from ..base.errors import InvalidValue
from ..base.progress import Progress, silent
from ..signals.trial import Recording
from ..skeleton.rig import UNOBSERVED, Rig
from ..storage.codec import FileKind
from ..tracking.kinematics import Kinematics
from ..tracking.motion_errors import MotionErrors
from ..tracking.tasks import Attachment
from ..tracking.track import MAX_SIZE_DIFFERENCE
from .fit_checks import check_fit
from .marker_set import NO_LINK, UNSEEN, MarkerSet
from .subject import SubjectData, SubjectState, is_static, segment_lengths

MIN_MARKERS = 4
MIN_LEVER = 0.03
"""[m] Root of the summed squares of the markers' lever arms about the axis that they observe least: a rotation of 10
degrees moves such markers by 5 mm, as much as skin motion does. Two markers on the styloids end below it, and so do
all markers on one line. Derived: 30 mm times .17 rad are 5 mm."""
MASS_EXPONENT = 0.25
"""Exponent of a marker's weight in the mass of its link per marker: 0 gives equal weights, 1 weights in proportion to
the mass. Chosen on runs of two people: with 0, .25, .5 and 1 the wrench error on trials left out is .450, .439, .431,
.445 and .591, .590, .594, .621 of the prior's."""


@dataclass(frozen=True, slots=True, repr=False)
class Calibration:
    """A person's rig and the marker locations on it.

    Attributes:
        rig: human rig with the estimated joint centres.
        attachments: recorded markers on links.
        marker_set: name of the marker set that was used.
        height: [m] as given, or estimated.
        lengths: [m] distances between joint centres by link.
        marker_errors: [m] RMSE of each marker over the frames used.
        frame_counts: number of frames used, by recording.
        size_ratios: ratio of the body of each recording to the rig (1: the same), by recording.
        warnings: messages for the user.
        assumptions: what was recognised or estimated because it was not specified, in plain sentences.
        motion_errors: of motions tracked with it; None in a calibration made by hand.
    """

    rig: Rig
    attachments: tuple[Attachment, ...]
    marker_set: str
    height: float
    lengths: dict[str, float]
    marker_errors: dict[str, float]
    frame_counts: dict[str, int] = field(default_factory=dict)
    size_ratios: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    motion_errors: MotionErrors | None = None

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
        return float(np.sqrt(np.nanmean(np.array(list(self.marker_errors.values())) ** 2)))


CALIBRATION = FileKind(
    Calibration,
    "exciting dance calibration",
    remedy="Give the calibration.json written by `python -m solver calibrate`",
)
"""The file of a calibrated subject: the rig by value, and the marker locations on it; JSON."""


def calibrate_with_marker_set(
    subject_data: SubjectData,
    recordings: Sequence[Recording],
    marker_set: MarkerSet,
    *,
    assumptions: Sequence[str] = (),
    progress: Progress = silent,
) -> Calibration:
    """Segment lengths, joint centres and marker locations of a person, see `calibrate`.

    Args:
        subject_data: mass, sex, stature and model of the person.
        recordings: recordings with markers.
        marker_set: expected location of each marker.
        assumptions: what was recognised of the marker set.
        progress: receives the progress; may cancel.

    Raises:
        InvalidValue: the set contains too few of the recorded markers.
    """
    names = tuple(dict.fromkeys(name for r in recordings for name in r.markers.names))  # type: ignore[union-attr]
    used = [name for name in names if marker_set.find_location(name) or marker_set.find_joint_centre(name)]
    if len(used) < MIN_MARKERS:
        raise InvalidValue(f"marker set {marker_set.name!r} contains only {len(used)} of the recorded markers")
    static = [r for r in recordings if is_static(r.markers)]  # type: ignore[arg-type]
    moving = [r for r in recordings if not any(r is s for s in static)]
    subject = SubjectState(marker_set, used, subject_data, (static or moving[:1]), progress)
    subject.initialise()
    if moving:
        subject.refine(static, moving)
    if subject_data.height is None:
        assumptions = [*assumptions, f"height {subject.height:.3f} m: estimated from the markers"]
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
    if unknown := subject.marker_set.unknown_names(sorted(names)):
        warnings.append(
            f"{len(unknown)} markers are not in marker set {subject.marker_set.name!r} and are not used: "
            + ", ".join(unknown)
        )
    unplaced = [name for name in sorted(names) if subject.marker_set.virtual.get(name) in (NO_LINK, UNSEEN)]
    if unplaced:
        warnings.append(
            f"{len(unplaced)} markers move with no link, or are hardly seen, and are not used: {', '.join(unplaced)}"
        )
    sizes = subject.size_ratios()
    warnings += (*_warn_of_different_subjects(sizes), *check_fit(subject.collect_evidence()))
    if noise := subject.marker_set.noise:
        angle = np.degrees(np.sqrt(2.0) * noise / np.mean(list(segment_lengths(rig, joints).values())))
        warnings.append(
            f"the points of {subject.marker_set.name} were estimated, as from video, and err by {1e3 * noise:.0f} mm "
            f"in each axis: a limb's direction errs by about {angle:.0f} degrees in each frame; joint centres hardly "
            "observe the tilt of the pelvis and rotations about straight limbs. Such data carry postures, steps and "
            "the motion of the centre of mass; masses and inertias of single links stay near the tables'"
        )
    return Calibration(
        rig, tuple(attachments), subject.marker_set.name, subject.height, segment_lengths(rig, joints), errors,
        dict(subject.frames), sizes, tuple(warnings), assumptions, subject.motion_errors(rig, attachments),
    )  # fmt: skip


def weight_by_mass(rig: Rig, attachments: Sequence[Attachment]) -> list[Attachment]:
    """Attachments weighted by the mass that each marker of a link represents; the sum of weights is unchanged.

    No pose of a rig meets all markers, because skin moves, and shoulders and spine have more joints than the rig. The
    weights decide which markers are missed. Limbs have many markers and little mass: with equal weights the error would
    go to the trunk, which has most of the mass.

    Args:
        rig: its prior gives the masses.
        attachments: with the weights of their marker set.
    """
    masses = dict(zip(rig.links, rig.prior.masses))
    weight_by_link: dict[str, float] = {}
    for each in attachments:
        weight_by_link[each.link] = weight_by_link.get(each.link, 0.0) + each.weight
    weights = [
        each.weight * (masses[each.link] / weight_by_link[each.link]) ** MASS_EXPONENT if each.weight else 0.0
        for each in attachments
    ]
    factor = sum(weight_by_link.values()) / sum(weights) if any(weights) else 1.0
    return [replace(each, weight=factor * weight) for each, weight in zip(attachments, weights)]


def _warn_of_different_subjects(sizes: dict[str, float]) -> list[str]:
    """A warning if the recordings show bodies of different size."""
    if len(sizes) < 2 or max(sizes.values()) - min(sizes.values()) < MAX_SIZE_DIFFERENCE:
        return []
    listed = ", ".join(f"{name} {100.0 * (size - 1.0):+.1f} %" for name, size in sizes.items())
    return [f"the recordings look like different subjects (size relative to the common rig: {listed})"]


def find_unobserved_links(rig: Rig, attachments: Sequence[Attachment]) -> tuple[str, ...]:
    """Links that can rotate about some axis of their joint without moving any marker, in the rig's order.

    Markers on links further out count: those on a forearm observe the rotation of the upper arm.

    Args:
        rig: evaluated in its standing posture, or in neutral if it has none.
        attachments: markers on it.
    """
    if not attachments:
        return ()
    kinematics = Kinematics(rig)
    kinematics.update_kinematics(np.array(rig.provenance.get("standing", rig.neutral), float))
    links = np.array([rig.index(attachment.link) for attachment in attachments])
    points = kinematics.points(links, np.array([attachment.position for attachment in attachments]))
    levers = kinematics.point_jacobians(links, points).reshape(3 * len(links), -1)
    result = []
    for index, link in enumerate(rig.links):
        own = np.flatnonzero(kinematics.link_of_column == index)
        if rig.parents[index] >= 0 and len(own):
            least = np.linalg.svd(levers[:, own], compute_uv=False)[-1]
            result += [link] if least < MIN_LEVER else []
    return tuple(result)
