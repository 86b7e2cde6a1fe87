"""C3D files against the field's common library: every value equal, or refused; long trials whole, however counted."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from solver.base.errors import InputError
from solver.formats.c3d_format import read_c3d_data

from ..figures.figure import Figure, at_most, missing

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "c3d"
"""Files of other laboratories, where they are."""
RELATIVE = 1e-6
"""Of the largest value of a kind: what four-byte numbers hold."""
SKIPPED_BY_PEER = ("type1.c3d",)
"""ezc3d takes the analog samples of this one for points: not a file to compare."""
NONE = at_most(0)


def compare_readers(path: Path) -> str:
    """``"equal"``, ``"different"``, ``"refused"`` by ours or ``"peer cannot"``: points, gaps, samples, first frame.

    ezc3d ends the process on some damaged files; what ours refuses is not given to it.
    """
    import ezc3d

    try:
        ours = read_c3d_data(path)
    except InputError:
        return "refused"
    try:
        theirs = ezc3d.c3d(str(path))
    except (OSError, RuntimeError, ValueError):
        return "peer cannot"
    points, analogs = theirs["data"]["points"][:3].transpose(2, 1, 0), theirs["data"]["analogs"][0].T
    first = int(theirs["header"]["points"]["first_frame"]) + 1
    same = _same(ours.points(), points) and _same(ours.analogs(), analogs)
    return "equal" if same and ours.frames.first == first else "different"


def _same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    if not ours.size and not theirs.size:
        return True
    if ours.shape != theirs.shape or not np.array_equal(np.isnan(ours), np.isnan(theirs)):
        return False
    largest = float(np.abs(np.nan_to_num(theirs)).max())
    return float(np.abs(np.nan_to_num(ours - theirs)).max()) <= RELATIVE * largest


def rows(quick: bool) -> list[Figure]:
    """Rows for files of other programs, layouts and long trials; unchanged by `quick`."""
    return [_samples(), *_written()]


def _samples() -> Figure:
    figure = Figure(
        "C3D: values that differ from the common library's", "real, other laboratories", None, "files", NONE
    )
    if not SAMPLES.is_dir():
        return missing([figure], f"the files are not at {SAMPLES.name}")[0]
    paths = [path for path in sorted(SAMPLES.rglob("*.c3d")) if path.name not in SKIPPED_BY_PEER]
    return _tally(figure, {path.name: compare_readers(path) for path in paths})


def _tally(figure: Figure, outcomes: dict[str, str]) -> Figure:
    counts = Counter(outcomes.values())
    different = [name for name, outcome in outcomes.items() if outcome == "different"]
    note = f"{len(outcomes)} files: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    note += f" ({', '.join(different)})" if different else ""
    return Figure(figure.what, figure.data, len(different), figure.unit, figure.must, None, note)


def _written() -> list[Figure]:
    from tests.formats.c3d_files import COUNTERS, DEC, INTEL, LAYOUTS, LONG, MIPS, counted_file, laid_out, meant

    outcomes, untrue, wrong = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.c3d"
        for layout in LAYOUTS:
            path.write_bytes(laid_out(layout))
            outcomes[str(layout)] = compare_readers(path)
            read, (points, samples) = read_c3d_data(path), meant(layout)
            if not _same(read.points(), points) or not _same(read.analogs(), samples):
                untrue.append(str(layout))
        for kind, counters in COUNTERS.items():
            for processor in (INTEL, DEC, MIPS):
                points = read_c3d_data(counted_file(path, *counters, processor)).points()
                if not np.array_equal(points[:LONG, 0, 0], np.arange(LONG)) or len(points) - LONG >= 512 // 16:
                    wrong.append(f"{kind}, processor {processor}")
    peer = Figure("C3D: values that differ from the common library's", "layouts written here", None, "files", NONE)
    return [
        _tally(peer, outcomes),
        _count_wrong("C3D: values that differ from what was written", "layouts written here", len(LAYOUTS), untrue),
        _count_wrong("C3D: 70,000 frames not read whole", "header variants written here", 3 * len(COUNTERS), wrong),
    ]


def _count_wrong(what: str, data: str, files: int, wrong: list[str]) -> Figure:
    note = f"{files} files" + (f"; {', '.join(wrong)}" if wrong else "")
    return Figure(what, data, len(wrong), "files", NONE, None, note)
