"""A person's rig from recordings of whom one knows little: which markers these are is found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InputError, InvalidValue
from ..marker_names import same_names, writings
from ..progress import Progress, silent
from ..trial import Recording
from .calibrated import Calibration, calibrated
from .markerset import MarkerSet
from .markerset_file import detect_marker_set, load_marker_set, marker_sets
from .recognise import recognise
from .subject import SubjectData


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
        sex: ``"male"``, ``"female"`` or ``"unknown"``.
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
    if marker_set is not None and not isinstance(marker_set, MarkerSet):
        marker_set = load_marker_set(marker_set)
    sets = [load_marker_set(name) for name in marker_sets()] if marker_set is None else [marker_set]
    marked = _written_alike(marked, sets)
    names = tuple(dict.fromkeys(name for r in marked for name in r.markers.names))  # type: ignore[union-attr]
    assumed: list[str] = []
    if marker_set is None:
        marker_set, sentence = _found_out(marked, names, height)
        assumed.append(sentence)
    return calibrated(known, marked, marker_set, assumed=assumed, progress=progress)


def _written_alike(marked: Sequence[Recording], sets: Sequence[MarkerSet]) -> list[Recording]:
    """The recordings, each marker named as in the first of them, without a subject's name that hides it from a set."""
    result: list[Recording] = []
    known: dict[str, None] = {}
    for recording in marked:
        assert recording.markers is not None
        names = max(writings(recording.markers.names), key=lambda some: max(each.matches(some) for each in sets))
        same = same_names(names, tuple(known))
        names = tuple(same.get(name, name) for name in names)
        known |= dict.fromkeys(names)
        if names != recording.markers.names:
            recording = replace(recording, markers=replace(recording.markers, names=names))
        result.append(recording)
    return result


def _found_out(marked: Sequence[Recording], names: Sequence[str], height: float | None) -> tuple[MarkerSet, str]:
    """The marker set of recordings for which none was stated, and how it was found."""
    try:
        found = detect_marker_set(names, marked[0].name)
    except InputError as unfit:
        try:
            recognition = recognise(marked, height=height)
        except InputError:
            raise unfit from None
        return recognition.marker_set, recognition.sentence
    return found, f"marker set {found.name}: recognised by the markers' names"
