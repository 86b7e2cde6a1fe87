"""Reading recordings: motion and forces of one trial are combined, and checked for agreement."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ..base.errors import InputError, checked
from ..base.files import Paths, as_paths, check_file
from ..options.reading import DEFAULT_OPTIONS, ReadOptions, watched
from ..signals.trial import Recording
from ..storage.manifest import MANIFEST_FILE, Manifest, StoredPath, current_digest, file_digest, read_manifest
from ..storage.npz_archive import entry_names
from ..values.motion import JointCoordinates, Markers, SegmentPoses
from ..values.wrenches import Wrenches
from .bids import is_bids_motion, metadata_files
from .file_formats import BOTH, FORCES, JOINTS, MARKERS, SEGMENTS, find_format, recording_suffixes
from .qtm_forces import PLATE_ENDING, plate_files
from .trial_names import distinct_names, printable_name

_NAME_ENDINGS = re.compile(
    r"[_\-. ](grfs?|forces?|kinetics|ground_reaction|wrench(es)?|plates?|markers?|angles?|joints?|encoders?|ik)$", re.I
)
"""Endings that a file of a trial may add to the trial's name."""
_BIDS_ENDINGS = re.compile(r"_tracksys-[^_]+|_motion$", re.I)
"""Endings that BIDS adds to the name of motion data."""
NPZ_KINDS = ((MARKERS, "positions"), (JOINTS, "joints"), (JOINTS, "joint_pos"))
"""Kinds of data in an archive, by the names of its arrays."""
MIN_FRAMES = 2
"""Fewest frames of a recording. Derived: a rate needs two."""


@checked
def read_recording(paths: Paths, options: ReadOptions = DEFAULT_OPTIONS, *, name: str | None = None) -> Recording:
    """One trial from one file (C3D, npz, or only markers, joints, segments or forces), or from one of motion and one of
    forces.

    Raises:
        InputError: an unknown suffix, two files of the same kind, whatever the readers refuse, or motion and forces
            that do not belong together: no common time, other axes, forces far from the body.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> folder = Path(tempfile.mkdtemp())
        >>> solver.demo.simulated_robot().write(folder)
        >>> solver.read_recording([folder / "dance_joints.csv", folder / "dance_wrenches.csv"]).name
        'dance'
    """
    if not (files := _first_of_plates(as_paths(paths))):
        raise InputError("recording", "no file was named", remedy="Name a file of markers, of forces, or both")
    warnings: list[str] = []
    markers: Markers | None = None
    joints: JointCoordinates | None = None
    segments: SegmentPoses | None = None
    wrenches: Wrenches | None = None
    metadata: dict[str, object] = {}
    sources: dict[str, tuple[Path, str]] = {}
    # Motion first: it determines the vertical axis better than forces.
    with watched(options, files) as options:
        for file in sorted(files, key=lambda f: (MARKERS, JOINTS, SEGMENTS, BOTH, FORCES).index(content_kind(f))):
            part, axes = _read_file(
                file, options, warnings, sources.get(MARKERS) or sources.get(JOINTS) or sources.get(SEGMENTS)
            )
            for kind, axis in axes.items():
                if kind in sources and not (kind == FORCES and content_kind(sources[kind][0]) == JOINTS):
                    problem = f"holds {kind}, and so does {sources[kind][0].name}"
                    raise InputError(file, problem, remedy=f"Name one file of {kind} a trial")
                sources[kind] = (file, axis)
            markers, joints, wrenches = part.markers or markers, part.joints or joints, part.wrenches or wrenches
            segments = part.segments or segments
            metadata |= part.metadata
    _check_length({MARKERS: markers, JOINTS: joints, SEGMENTS: segments, FORCES: wrenches}, sources)
    if markers is not None and len(markers) < MIN_FRAMES:
        warnings.append(f"{sources[MARKERS][0].name}: one frame calibrates a body; it is not tracked and has no forces")
        wrenches = None
    for kind, motion in ((MARKERS, markers), (JOINTS, joints), (SEGMENTS, segments)):
        if motion is not None and wrenches is not None:
            _check_overlap(kind, motion.times, wrenches.times, sources, warnings)
    return Recording(
        name or printable_name(_trial_stem(files[0])),
        markers,
        wrenches,
        tuple(dict.fromkeys(warnings)),
        metadata,
        joints,
        segments,
        up=next((axis for kind, (_, axis) in sources.items() if kind != FORCES), ""),
        stated=options.stated,
    )


def find_recordings(paths: Paths, options: ReadOptions = DEFAULT_OPTIONS) -> tuple[Recording, ...]:
    """Every trial in files and folders (searched to any depth), motion and forces paired by their names.

    Args:
        paths: a file or a folder, or several.
        options: how files are read.

    ``walk.trc`` belongs to ``walk.mot``, ``walk_grf.mot`` or ``forces/walk.mot``; ``robot_angles.csv`` to
    ``robot_wrenches.csv``. A named file must be readable. In folders, these files are skipped: files that are not of a
    trial (tables of errors), joint coordinates of a trial that has markers, and results of this program, unless the
    folder holds nothing else.

    Returns:
        in order of their names.

    Raises:
        InputError: a path that does not exist, no trial found, or whatever `read_recording` refuses.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> folder = Path(tempfile.mkdtemp())
        >>> solver.demo.simulated_robot().write(folder)
        >>> [(r.name, r.joints is not None, r.wrenches is not None) for r in solver.load([folder])]
        [('dance', True, True)]
    """
    files_and_folders = as_paths(paths)
    with watched(options, files_and_folders) as options:
        return tuple(
            replace(
                _note_renaming(read_recording(files, options, name=name), files[0]),
                inputs={file.absolute().as_posix(): file_digest(file) for file in _with_metadata(files)},
            )
            for name, files in pair_files(files_and_folders)
        )


def _note_renaming(recording: Recording, file: Path) -> Recording:
    """A recording with a warning if it is not named after its file."""
    stem = _trial_stem(file)
    if recording.name == stem:
        return recording
    why = "another trial has that name" if printable_name(stem) == stem else "its name is not plain text"
    note = f"{printable_name(str(file))}: this trial is called {recording.name!r}, because {why}"
    return replace(recording, warnings=(note, *recording.warnings))


def pair_files(paths: Paths) -> list[tuple[str, tuple[Path, ...]]]:
    """Names and files of the trials that `find_recordings` would read; no two names are alike.

    Raises:
        InputError: a path that does not exist or an unknown suffix, or no trial found.
    """
    kinds: dict[Path, str] = {}
    named = as_paths(paths)
    for given in named:
        if os.path.isdir(given):
            found = _kinds_in_folder(given)
            marked = {_trial_stem(file).lower() for file, kind in found.items() if kind == MARKERS}
            kinds |= {f: kind for f, kind in found.items() if not (kind == JOINTS and _trial_stem(f).lower() in marked)}
        else:
            kinds[given] = content_kind(given)
    if not kinds:
        shown = ", ".join(map(str, named)) or "no path"
        if any(os.path.isdir(given) and _split_results(given)[1] for given in named):
            remedy = "Name the folder of the recordings, or a file of results itself"
            raise InputError(shown, "holds no recording, only results of this program", remedy=remedy)
        remedy = f"Name files or folders with {', '.join(recording_suffixes())}"
        raise InputError(shown, "holds no recording", remedy=remedy)
    groups = _pair_by_name({file: kinds[file] for file in _first_of_plates(kinds)})
    names = distinct_names([_trial_stem(group[0]) for group in groups], [group[0] for group in groups])
    return sorted(zip(names, groups))


def list_files_read(paths: Paths) -> tuple[Path, ...]:
    """Every file that `find_recordings` would read, including metadata files beside and above them.

    Raises:
        InputError: see `pair_files`.
    """
    return _with_metadata([file for _, group in pair_files(paths) for file in group])


def _with_metadata(files: Sequence[Path]) -> tuple[Path, ...]:
    described = [other for file in files if is_bids_motion(file) for other in metadata_files(file)]
    return (*files, *described, *[other for file in files for other in plate_files(file) if other not in files])


def _first_of_plates(files: Iterable[Path]) -> list[Path]:
    """Files without those that are read together with an earlier one: the other plates of its trial."""
    kept: list[Path] = []
    together: set[Path] = set()
    for file in files:
        if file.absolute() not in together:
            kept.append(file)
            together |= {other.absolute() for other in plate_files(file)}
    return kept


def has_joints(paths: Paths) -> bool:
    """Whether recordings hold joint coordinates of a rig, and no markers of a person.

    Raises:
        InputError: see `pair_files`.
    """
    files = [file for _, group in pair_files(paths) for file in group]
    kinds = {kind for file in files for kind in _kinds_by_title(file)}
    return JOINTS in kinds and MARKERS not in kinds


def _kinds_by_title(path: Path) -> set[str]:
    """Kinds of data in a file, as far as its titles determine them."""
    if path.suffix.lower() == ".npz":
        names = entry_names(path) or frozenset()
        return {kind for kind, name in NPZ_KINDS if name in names}
    kind = content_kind(path)
    return {MARKERS} if kind == BOTH else {kind}


def content_kind(path: Path) -> str:
    """``"markers"``, ``"joints"``, ``"segments"``, ``"forces"`` or ``"both"``, by suffix and the titles of columns.

    Raises:
        InputError: no file, an unknown suffix, or a file that holds none of these.
    """
    check_file(path)
    if (kind := _find_kind(path, searching=False)) is None:
        remedy = f"Known: {', '.join(recording_suffixes())}"
        raise InputError(path, f"suffix {path.suffix.lower()!r} is not a known format", remedy=remedy)
    return kind


def content_kind_in_folder(path: Path) -> str | None:
    """As `content_kind`, but None for a file that holds nothing of a trial."""
    return _find_kind(path, searching=True)


def _find_kind(path: Path, *, searching: bool) -> str | None:
    """Kind of a file; None for an unknown suffix, or in a folder that is searched for a file not of a trial."""
    if (row := find_format(path.suffix)) is None:
        return None
    if (find_kind := row.load_kind()) is not None:
        return find_kind(path, searching)
    check_file(path)
    return row.default_kind


def has_only_results(folder: Path) -> bool:
    """Whether a folder holds results of this program and no recording.

    Raises:
        InputError: a file that looks like a recording cannot be read.
    """
    others, results = _split_results(folder)
    return (bool(results) or os.path.isfile(folder / MANIFEST_FILE)) and not any(
        content_kind_in_folder(file) for file in others
    )


def _kinds_in_folder(folder: Path) -> dict[Path, str]:
    """The recordings below a folder, in order of their paths.

    Results of an earlier run are skipped, so that a run whose output is among its recordings can be repeated. If a
    folder holds only results, those in its own manifest are read, because the user named the folder.
    """
    others, results = _split_results(folder)
    for files in (others, [file for file, home in results.items() if home == folder]):
        kinds = {file: content_kind_in_folder(file) for file in files}
        if found := {file: kind for file, kind in kinds.items() if kind is not None}:
            return found
    return {}


def _split_results(folder: Path) -> tuple[list[Path], dict[Path, Path]]:
    """Files below a folder with a recording's suffix: other files, and results with the folder of their manifest.

    A result that was changed counts as another file.
    """
    below = sorted(folder.rglob("*"))
    manifests = {path.parent: read_manifest(path.parent) for path in below if path.name == MANIFEST_FILE}
    others: list[Path] = []
    results: dict[Path, Path] = {}
    for file in below:
        if file.suffix.lower() in recording_suffixes() and _is_visible(file, folder):
            home = next((home for home in file.parents if _is_listed(file, home, manifests.get(home))), None)
            if home is None:
                others.append(file)
            else:
                results[file] = home
    return others, results


def _is_listed(file: Path, home: Path, manifest: Manifest | None) -> bool:
    """Whether the manifest of a parent folder lists a file, and the file is unchanged."""
    if manifest is None:
        return False
    name = file.relative_to(home).as_posix()
    return name in manifest.files and current_digest(home, name) == manifest.files[StoredPath(name)]


def _is_visible(file: Path, folder: Path) -> bool:
    return os.path.isfile(file) and not any(part.startswith(".") for part in file.relative_to(folder).parts)


def _trial_stem(path: Path) -> str:
    """Name of the trial of a file."""
    stem = path.stem
    if path.suffix.lower() == ".tsv":
        stem = PLATE_ENDING.sub("", _BIDS_ENDINGS.sub("", stem))
    return _NAME_ENDINGS.sub("", stem)


def _pair_by_name(kinds: dict[Path, str]) -> list[tuple[Path, ...]]:
    """Files of motion, each with the nearest force file of the same name; then all other files alone."""
    forces = [file for file, kind in kinds.items() if kind == FORCES]
    groups: list[tuple[Path, ...]] = []
    for file, kind in kinds.items():
        if kind == FORCES:
            continue
        same = [
            f
            for f in forces
            if kind in (MARKERS, JOINTS, SEGMENTS) and _trial_stem(f).lower() == _trial_stem(file).lower()
        ]
        if (nearest := max(same, key=partial(_shared_depth, file), default=None)) is not None:
            forces.remove(nearest)
        groups.append((file,) if nearest is None else (file, nearest))
    return groups + [(file,) for file in forces]


def _shared_depth(a: Path, b: Path) -> int:
    return len(Path(os.path.commonpath([a.absolute(), b.absolute()])).parts)


def _read_file(
    path: Path, options: ReadOptions, warnings: list[str], motion: tuple[Path, str] | None
) -> tuple[Recording, dict[str, str]]:
    """One file as a recording, and the vertical axis of each kind of its content.

    Args:
        path: of the file.
        options: how it is read.
        warnings: to which messages are added.
        motion: the file of the same trial's motion and its vertical axis, empty if it has none.
    """
    row = find_format(path.suffix)
    assert row is not None
    motion = motion if motion is not None and motion[1] else None
    part, up = row.load_reader()(path, options, None if motion is None else motion[1], warnings.append)
    kinds = _kinds_present(part)
    if content_kind(path) == FORCES and options.force_up is None and motion is not None and up != motion[1]:
        problem = f"its forces push along {up}, but in {motion[0].name} {motion[1]} is up"
        raise InputError(path, problem, remedy=f"Export both alike, or state the forces' own axis: --force-up {up}")
    return part, dict.fromkeys(kinds, up)


def _kinds_present(recording: Recording) -> Iterable[str]:
    parts = (
        (MARKERS, recording.markers),
        (JOINTS, recording.joints),
        (SEGMENTS, recording.segments),
        (FORCES, recording.wrenches),
    )
    return [kind for kind, part in parts if part is not None]


def _check_length(
    found: Mapping[str, Markers | JointCoordinates | SegmentPoses | Wrenches | None],
    sources: dict[str, tuple[Path, str]],
) -> None:
    """Check that a trial has more than one frame, except markers of a standing person and a posture of a skeleton."""
    for kind, value in found.items():
        least = 1 if kind in (MARKERS, SEGMENTS) or (kind == FORCES and found[MARKERS] is not None) else MIN_FRAMES
        if value is not None and len(value) < least:
            raise InputError(sources[kind][0], f"holds {len(value)} frame of {kind}", remedy="Export the whole trial")


def _check_overlap(
    kind: str, motion: np.ndarray, forces: np.ndarray, sources: dict[str, tuple[Path, str]], warnings: list[str]
) -> None:
    """Check that motion and forces of one trial overlap in time, stamps (N,) and (K,) [s].

    Raises:
        InputError: they do not.
    """
    path, other = sources[FORCES][0], sources[kind][0]
    start, stop = max(motion[0], forces[0]), min(motion[-1], forces[-1])
    spans = f" s, the {kind} from ".join(f"{times[0]:g} to {times[-1]:g}" for times in (forces, motion)) + " s"
    if not stop > start:
        problem = f"its forces do not overlap the {kind} of {other.name} in time: they run from {spans}"
        raise InputError(path, problem, remedy="Name the files of the same trial, with times on the same clock")
    share = (stop - start) / (motion[-1] - motion[0])
    if share < 0.5:
        warnings.append(f"{path.name}: forces cover {100.0 * share:.0f} % of the {kind}' time; they run from {spans}")
