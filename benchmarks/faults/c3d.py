"""C3D files of other laboratories against the field's common library: every value equal, or refused."""

from __future__ import annotations

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
    """The row for files of other programs; unchanged by `quick`. Files written here are those of the tests."""
    paths = [path for path in sorted(SAMPLES.rglob("*.c3d")) if path.name not in SKIPPED_BY_PEER]
    outcomes = {path.name: compare_readers(path) for path in paths}
    different = [name for name, outcome in outcomes.items() if outcome == "different"]
    note = ", ".join([*(f"{count} {outcome}" for outcome, count in Counter(outcomes.values()).items()), *different])
    what = "C3D: values that differ from the common library's"
    found = Figure(what, "real, other laboratories", len(different), "files", at_most(0), None, note)
    return [found] if paths else missing([found], f"the files are not at {SAMPLES.name}")
