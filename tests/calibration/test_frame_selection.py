"""Frames that take part in a calibration."""

from __future__ import annotations

import numpy as np

from solver.calibration.subject import select_moving_frames, select_static_frames


def test_a_recording_of_other_markers_gives_no_frames() -> None:
    """Nor does a part of a static trial in which none of the set's markers is seen."""
    unknown = np.full((30, 4, 3), np.nan)
    assert select_moving_frames(unknown, 2)[0] == []
    assert select_static_frames(unknown, 1)[0] == []
    half = unknown.copy()
    half[:10, 0] = 1.0
    assert len(select_static_frames(half, 1)[0]) == 1
    assert all(np.isfinite(frame[0]).all() for frame in select_moving_frames(half, 2)[0])
