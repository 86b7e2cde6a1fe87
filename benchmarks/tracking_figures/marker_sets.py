"""Marker files without a marker set: every recording of markers is recognised from its names and motion alone.

The built-in sets, which were written by hand for laboratories, are left out, and serve as the truth where one of them
fits. A file is read when its markers are placed, nothing that is placed surely lies on another link than the
laboratory's set says, and the body so found fits its markers. Files that no reader accepts, without markers or with
fewer than a leg's are listed as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.base.errors import InputError, SolverError
from solver.calibration import detect_marker_set, recognise
from solver.calibration.recognise import Recognition
from solver.formats.recording import read_recording
from solver.scene.marker_set import REVIEW_CONFIDENCE
from solver.signals.trial import Recording
from solver.values.motion import Markers

from ..figures.figure import Figure, at_least, missing
from .recorded import marker_files, read_options

FITS = 0.015
"""[m] RMSE of the body that is found over its markers."""
FEWEST = 12
"""Markers of a body; files with fewer say so."""
MOST_FRAMES = 150
"""Of each recording, evenly spread: a calibration looks at fewer."""
QUICK = ("plugin_gait_static.c3d",)


@dataclass(frozen=True, slots=True)
class FileRead:
    """What became of one file: whether it counts, whether it was read, and one line about it."""

    counts: bool
    read: bool
    line: str


def marker_set_figures(data: Path, quick: bool) -> list[Figure]:
    """The row of marker files, and a table of every file on the standard output."""
    row = Figure("marker files read without a hand-made set", "real", None, "", at_least(1.0), None)
    files = [file for file in marker_files(data) if not quick or file.name in QUICK]
    if not files:
        return missing([row], "no file of markers")
    found = list(_check_files(data, files))
    print("\n".join(f"      {entry.line}" for entry in found), flush=True)
    counted = [entry for entry in found if entry.counts]
    read, total = sum(entry.read for entry in counted), len(counted)
    bounds = (at_least(total - 1), at_least(total))
    words = f"real, {total} files of a body's markers"
    return [Figure(row.what, words, read, f"of {total}", *bounds)]


def _check_files(data: Path, files: list[Path]) -> Iterator[FileRead]:
    for file in files:
        name = file.relative_to(data).as_posix()
        try:
            markers = read_recording(file, read_options(file)).markers
        except InputError as error:
            yield FileRead(counts=False, read=False, line=f"{name}: refused: {error.problem[:90]}")
            continue
        if markers is None or len(markers.names) < FEWEST:
            count = 0 if markers is None else len(markers.names)
            yield FileRead(counts=False, read=False, line=f"{name}: {count} markers are too few for a body")
            continue
        yield _recognise(name, markers)


def _recognise(name: str, markers: Markers) -> FileRead:
    chosen = np.unique(np.linspace(0, len(markers) - 1, min(MOST_FRAMES, len(markers))).astype(int))
    some = Markers(markers.times[chosen], markers.names, markers.positions[chosen])
    try:
        found = recognise([Recording("markers", some)], built_in_sets=False)
    except SolverError as error:
        return FileRead(counts=True, read=False, line=f"{name}: NOT read: {str(error)[:100]}")
    wrong, known = _against_the_laboratory(markers, found)
    uncertain = sum(proposal.confidence < REVIEW_CONFIDENCE for proposal in found.used_proposals)
    read = found.calibration.rmse <= FITS and not wrong
    line = f"{name}: {'read' if read else 'NOT read'}; {len(found.used_proposals)} of {len(found.proposals)} "
    line += f"markers placed, mean confidence {found.confidence:.2f}, "
    line += f"{uncertain} to look at, RMSE {1e3 * found.calibration.rmse:.1f} mm"
    if known:
        line += f"; {known - len(wrong)} of {known} on the link that the laboratory's set says"
    return FileRead(counts=True, read=read, line=line + (f", not {', '.join(wrong)}" if wrong else ""))


def _against_the_laboratory(markers: Markers, found: Recognition) -> tuple[list[str], int]:
    """Markers assigned with certainty to another link than in the hand-made set, and how many it knows."""
    try:
        truth = detect_marker_set(markers.names)
    except InputError:
        return [], 0
    recognised = found.marker_set
    sure = {proposal.marker for proposal in found.used_proposals if proposal.confidence >= REVIEW_CONFIDENCE}
    wrong, known = [], 0
    for marker in markers.names:
        own, place = truth.find_location(marker), recognised.find_location(marker)
        known += own is not None
        if own is not None and place is not None and marker in sure and place.link != own.link:
            wrong.append(marker)
    return wrong, known
