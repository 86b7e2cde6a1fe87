"""From recordings to a person's rig and marker places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..arrays import shortened
from ..errors import InputError, InvalidValue
from ..progress import Progress, silent
from ..rig import UNSHOWN, Rig
from ..tracking.targets import Attachment
from ..trial import Recording
from .judgement import judged
from .markerset import MarkerSet
from .markerset_file import detect_marker_set, load_marker_set
from .sampling import is_still
from .shown import unshown_links
from .subject import SubjectData, SubjectState, lengths_of

SIZE_DIFFERENCE = 0.04
"""Difference in size between recordings beyond which they look like two subjects."""
FEWEST_MARKERS = 4


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
        frames: frames used, by recording.
        sizes: ratio of the body of each recording to the rig (1: the same), by recording.
        shifts: [m] how far the data moved joint centres from those of stature alone, by link.
        warnings: what the user should know.
        assumed: what was found out or guessed where nothing was stated, in plain sentences.
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
    assumed: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Calibration of {self.rig.name}: height {self.height:.3f} m\n"
            f"  {len(self.attachments)} markers of the set {self.marker_set}, RMSE {1e3 * self.rmse:.1f} mm\n"
            f"  from {shortened([f'{name} ({count} frames)' for name, count in self.frames.items()]) or 'a file'}"
        )

    @property
    def rmse(self) -> float:
        """Root mean square of `marker_errors` over the markers [m]."""
        values = np.array(list(self.marker_errors.values()))
        return float(np.sqrt(np.nanmean(values**2)))


def calibrate(  # noqa: PLR0913 what a user types of a person, word by word
    recordings: Sequence[Recording],
    *,
    mass: float,
    sex: str,
    height: float | None = None,
    trunk: str = "one",
    shoulders: str = "fixed",
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
        trunk: ``"one"`` (pelvis and torso) or ``"three"`` (pelvis, abdomen and thorax).
        shoulders: ``"fixed"`` (upper arms on the torso) or ``"girdle"`` (on clavicle and scapula).
        marker_set: a `MarkerSet`, a built-in name or a JSON file; None: the built-in one that fits the marker names, or
            one put together from names and motion (`recognise`), as `Calibration.assumed` tells.
        progress: told about the progress; may cancel.

    Raises:
        InvalidValue: no recording has markers, or an unknown sex.
        InputError: no marker set fits; the error lists the unmatched names.

    Example:
        >>> import solver
        >>> static = solver.simulated_person().recordings[1]
        >>> found = solver.calibrate([static], mass=71.0, sex="male", height=1.76)  # kg, m
        >>> found.marker_set, found.rmse < 0.01  # m
        ('Plug-in Gait', True)
    """
    known = SubjectData(mass, sex, height, trunk, shoulders)
    marked = [recording for recording in recordings if recording.markers is not None]
    if not marked:
        raise InvalidValue("calibration needs at least one recording with markers")
    names = tuple(dict.fromkeys(name for r in marked for name in r.markers.names))  # type: ignore[union-attr]
    assumed: list[str] = []
    if marker_set is None:
        marker_set, sentence = _found_out(marked, names, height)
        assumed.append(sentence)
    elif not isinstance(marker_set, MarkerSet):
        marker_set = load_marker_set(marker_set)
    used = [name for name in names if marker_set.place_of(name) or marker_set.centre_of(name)]
    if len(used) < FEWEST_MARKERS:
        raise InvalidValue(f"marker set {marker_set.name!r} knows only {len(used)} of the recorded markers")
    still = [r for r in marked if is_still(r.markers)]  # type: ignore[arg-type]
    moving = [r for r in marked if not any(r is s for s in still)]
    subject = SubjectState(marker_set, used, known, (still or moving[:1]), progress)
    subject.initialise()
    if moving:
        subject.refine(still, moving)
    if height is None:
        assumed.append(f"height {subject.height:.3f} m: estimated from the markers, none was stated")
    return _result(subject, marked, tuple(assumed))


def _found_out(marked: Sequence[Recording], names: Sequence[str], height: float | None) -> tuple[MarkerSet, str]:
    """The marker set of recordings for which none was stated, and how it was found."""
    try:
        found = detect_marker_set(names, marked[0].name)
    except InputError as unfit:
        from .recognise import recognise  # it calibrates, with what the names tell

        try:
            recognition = recognise(marked, height=height)
        except InputError:
            raise unfit from None
        return recognition.marker_set, recognition.sentence
    return found, f"marker set {found.name}: recognised by the markers' names"


def _result(subject: SubjectState, recordings: Sequence[Recording], assumed: tuple[str, ...]) -> Calibration:
    joints = subject.joints()
    lumbar = subject.rig.links[1]  # starts where the pelvis does
    measured = {link: centre.tolist() for link, centre in joints.items() if link != lumbar}
    rig = subject.known.rig(subject.height, measured)
    attachments, errors = [], {}
    warnings: list[str] = []
    residuals = subject.residuals()
    for column, (name, place) in enumerate(zip(subject.names, subject.places)):
        if subject.marker_set.place_of(name) is None:
            continue
        attachments.append(Attachment(name, place.link, subject.offsets[column], place.weight, place.anatomical))
        seen = np.isfinite(residuals[:, column])
        errors[name] = float(np.sqrt(np.mean(residuals[seen, column] ** 2))) if seen.any() else float("nan")
    rig = replace(rig, provenance={**rig.provenance, UNSHOWN: list(unshown_links(rig, attachments))})
    names = {name for r in recordings for name in r.markers.names}  # type: ignore[union-attr]
    unknown = subject.marker_set.unknown(sorted(names))
    if unknown:
        warnings.append(
            f"{len(unknown)} markers are not in marker set {subject.marker_set.name!r} and were left out: "
            + ", ".join(unknown)
        )
    sizes = subject.sizes()
    warnings += (*_two_subjects(sizes), *judged(subject.evidence()))
    defaults = subject.known.rig(subject.height)
    shifts = {
        link: float(np.linalg.norm(centre - defaults.model.jointPlacements[defaults.joint(link)].translation))
        for link, centre in joints.items()
    }
    return Calibration(
        rig, tuple(attachments), subject.marker_set.name, subject.height, lengths_of(rig, joints), errors,
        dict(subject.frames), sizes, shifts, tuple(warnings), assumed,
    )  # fmt: skip


def _two_subjects(sizes: dict[str, float]) -> list[str]:
    """A warning if the recordings show bodies of different size."""
    if len(sizes) < 2 or max(sizes.values()) - min(sizes.values()) < SIZE_DIFFERENCE:
        return []
    listed = ", ".join(f"{name} {100.0 * (size - 1.0):+.1f} %" for name, size in sizes.items())
    return [f"the recordings look like different subjects (size against the common rig: {listed})"]
