"""The figure of markers that are used."""

from __future__ import annotations

from pathlib import Path

from benchmarks.figures.figure import FigureStatus
from benchmarks.figures.markers_used import LABORATORIES, markers_used_figures


def test_without_recordings_nothing_is_measured(tmp_path: Path) -> None:
    """Every laboratory has a row, which says that its recordings are missing."""
    rows = markers_used_figures(tmp_path)
    assert [row.status for row in rows] == len(LABORATORIES) * [FigureStatus.NOT_MEASURED]
    assert all("no recordings" in row.note for row in rows)
