"""A person's rig from recordings of whom one knows little: which markers these are is found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InputError, InvalidValue
from ..marker_names import match_names, name_variants
from ..person import TRUNK_AND_LEGS
from ..progress import Progress, silent
from ..trial import Recording
from .calibration import Calibration, calibrate_with_marker_set
from .marker_set import MarkerSet
from .marker_set_file import detect_marker_set, load_marker_set, marker_sets
from .recognise import recognise
from .subject import SubjectData


def fit_calibration(  # noqa: PLR0913 what a user types of a person, word by word
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
        sex: ``"male"``, ``"female"`` or ``"unknown"``.
        height: stature [m]; None: estimated from the segment lengths.
        trunk: ``"one"`` (pelvis and torso) or ``"three"`` (pelvis, abdomen and thorax).
        shoulders: ``"fixed"`` (upper arms on the torso) or ``"girdle"`` (on clavicle and scapula).
        marker_set: a `MarkerSet`, a built-in name or a JSON file; None: the built-in one that fits the marker names, or
            one put together from names and motion (`recognise`), as `Calibration.assumptions` tells.
        progress: told about the progress; may cancel.

    Raises:
        InvalidValue: no recording has markers, or an unknown sex.
        InputError: no marker set fits, or a link of the trunk or the legs has no marker; the error lists the unmatched
            names.

    Example:
        >>> import solver
        >>> static = solver.simulated_person().recordings[1]
        >>> found = solver.fit_calibration([static], mass=71.0, sex="male", height=1.76)  # kg, m
        >>> found.marker_set, found.rmse < 0.01  # m
        ('Plug-in Gait', True)
    """
    known = SubjectData(mass, sex, height, trunk, shoulders)
    marked = [recording for recording in recordings if recording.markers is not None]
    if not marked:
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
    _require_trunk_and_legs(marker_set, names, marked[0].name)
    return calibrate_with_marker_set(known, marked, marker_set, assumptions=assumed, progress=progress)


def _links_without_markers(marker_set: MarkerSet, names: Sequence[str]) -> tuple[str, ...]:
    """Links of the trunk and legs on which a set knows no recorded marker."""
    marked = {place.link for name in names if (place := marker_set.find_location(name)) is not None}
    return tuple(link for link in TRUNK_AND_LEGS if link not in marked)


def _require_trunk_and_legs(marker_set: MarkerSet, names: Sequence[str], recording: str) -> None:
    """Refuse a body of which nothing shows how a heavy link lies.

    Raises:
        InputError: a link of the trunk or the legs without any marker.
    """
    bare = _links_without_markers(marker_set, names)
    if not bare:
        return
    unknown = marker_set.unknown_names(sorted(names))
    problem = f"no marker is known on {', '.join(bare)} (marker set {marker_set.name!r}"
    problem += f"; not in it: {', '.join(unknown)})" if unknown else ")"
    remedy = "State which markers lie there, with --place or in a marker set that --marker-set names"
    raise InputError(recording, problem, remedy=remedy if unknown else "Record every link of the trunk and the legs")


def _unify_marker_names(recordings: Sequence[Recording], candidates: Sequence[MarkerSet]) -> list[Recording]:
    """The recordings, each marker named as in the first of them, without a subject's name that hides it from a set."""
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
    """The marker set of recordings for which none was stated, and how it was found.

    A built-in set that leaves a link of the trunk or legs bare, and some markers unknown, is not the one that was worn.
    """
    by_names, unfit = None, None
    try:
        by_names = detect_marker_set(names, recordings[0].name)
    except InputError as error:
        unfit = error
    if by_names is None or (_links_without_markers(by_names, names) and by_names.unknown_names(names)):
        try:
            recognition = recognise(recordings, height=height)
        except InputError:
            if unfit is not None:
                raise unfit from None
        else:
            return recognition.marker_set, recognition.summary
    assert by_names is not None
    return by_names, f"marker set {by_names.name}: recognised by the markers' names"
