"""Calibrates a person from recordings, whichever marker set they use."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..base.errors import InputError, InvalidValue, checked
from ..base.progress import Progress, silent
from ..signals.trial import Recording
from ..values.marker_names import match_names, name_variants
from ..values.person import TRUNK_AND_LEGS
from .calibration import Calibration, calibrate_with_marker_set
from .marker_set import MarkerSet, detect_marker_set, load_marker_set, marker_sets
from .recognise import recognise
from .subject import SubjectData


@checked
def fit_calibration(  # noqa: PLR0913 one argument for each property of a person
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
    """Segment lengths, joint centres and marker locations of a person.

    One least-squares problem over the joint centres, the marker locations and the poses of a sample of frames, with
    priors for landmarks, joint centres and left/right symmetry (`priors`). Static recordings come first and have the
    largest weight; moving ones add functional information. Without a static recording the fit starts from the slowest
    frames.

    Args:
        recordings: with markers; those without are ignored.
        mass: [kg].
        sex: ``"male"``, ``"female"`` or ``"unknown"``.
        height: stature [m]; None: estimated from the segment lengths.
        trunk: ``"one"`` (pelvis and torso) or ``"three"`` (pelvis, abdomen and thorax).
        shoulders: ``"fixed"`` (upper arms on the torso) or ``"girdle"`` (on clavicle and scapula).
        marker_set: a `MarkerSet`, a built-in name or a JSON file, and no other marker; None: the built-in set that fits
            the marker names, and the other markers by names and motion (`recognise`), as `Calibration.assumptions` say.
        progress: receives the progress; may cancel.

    Raises:
        InvalidValue: no recording has markers, or an unknown sex.
        InputError: the names of too few markers say where they are, or a link of the trunk or the legs has no marker;
            the error lists the unmatched names.

    Example:
        >>> import solver
        >>> static = solver.demo.simulated_person().recordings[1]
        >>> found = solver.calibration.fit_calibration([static], mass=71.0, sex="male", height=1.76)  # kg, m
        >>> found.marker_set, found.rmse < 0.01  # m
        ('Plug-in Gait', True)
    """
    known = SubjectData(mass, sex, height, trunk, shoulders)
    if not (marked := [recording for recording in recordings if recording.markers is not None]):
        raise InvalidValue("calibration needs at least one recording with markers")
    if marker_set is not None and not isinstance(marker_set, MarkerSet):
        marker_set = load_marker_set(marker_set)
    sets = [load_marker_set(name) for name in marker_sets()] if marker_set is None else [marker_set]
    marked = _unify_marker_names(marked, sets)
    names = tuple(dict.fromkeys(name for r in marked for name in r.markers.names))  # type: ignore[union-attr]
    assumed: list[str] = []
    if marker_set is None:
        marker_set, sentence = _find_marker_set(marked, names, height)
        assumed.append(sentence)
    marker_set.require_links(TRUNK_AND_LEGS, names, marked[0].name)
    return calibrate_with_marker_set(known, marked, marker_set, assumptions=assumed, progress=progress)


def _unify_marker_names(recordings: Sequence[Recording], candidates: Sequence[MarkerSet]) -> list[Recording]:
    """The recordings with the same marker names in all of them, and without a subject prefix if the marker sets have
    none.
    """
    result: list[Recording] = []
    known: dict[str, None] = {}
    for recording in recordings:
        assert recording.markers is not None
        names = max(
            name_variants(recording.markers.names),
            key=lambda some: max(each.count_matches(some) for each in candidates),
        )
        same = match_names(names, tuple(known))
        names = tuple(same.get(name, name) for name in names)
        known |= dict.fromkeys(names)
        if names != recording.markers.names:
            recording = replace(recording, markers=replace(recording.markers, names=names))
        result.append(recording)
    return result


def _find_marker_set(
    recordings: Sequence[Recording], names: Sequence[str], height: float | None
) -> tuple[MarkerSet, str]:
    """The marker set of recordings whose set is not specified, and a sentence that says how it was found.

    Markers that are not in the built-in set that the names belong to are placed by name and motion.
    """
    with suppress(InputError):
        by_names = detect_marker_set(names)
        if not by_names.unknown_names(names):
            return by_names, f"marker set {by_names.name}: recognised by the marker names"
    recognition = recognise(recordings, height=height, required=TRUNK_AND_LEGS)
    return recognition.marker_set, recognition.summary
