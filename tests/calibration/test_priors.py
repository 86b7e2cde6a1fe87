"""The prior of hip centres, and the weight of moving recordings against it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from solver.calibration.marker_set import load_marker_set
from solver.calibration.priors import build_prior
from solver.calibration.subject import (
    MOVING_FRAME_COUNT,
    MOVING_STD,
    STATIC_STD,
    select_moving_frames,
    select_static_frames,
)
from solver.rigs import human

WIDTH, DEPTH = 0.25, 0.19  # m, between the ASIS and from them to the PSIS


@pytest.mark.parametrize("sex", ["male", "female"])
def test_hips_follow_the_pelvis_markers(sex: str) -> None:
    """Before any motion the hip centres are those of Harrington et al. 2007 from the middle of the ASIS, to a tenth of
    a millimetre: the stature's table, whose hips lie 20 to 30 mm higher, does not pull at them.
    """
    marker_set = load_marker_set("plug_in_gait")
    names = ("LASI", "RASI", "LPSI", "RPSI", "LKNE", "RKNE")
    rig = human(1.76, 75.0, sex)
    places = [marker_set.locations[name] for name in names]
    prior = build_prior(rig, marker_set, names, places, {"asis_width": WIDTH, "pelvis_depth": DEPTH})
    information, vector, _ = prior.information_form()
    best = np.linalg.solve(information, vector)
    front = 0.5 * sum(best[prior.marker_index(k) :][:3] for k in (0, 1))
    for side, outwards in (("left", 1.0), ("right", -1.0)):
        hip = best[prior.joint_index(f"{side}_thigh") :][:3] - front
        expected = [-0.24 * DEPTH - 0.0099, outwards * (0.33 * WIDTH + 0.0073), -0.30 * WIDTH - 0.0109]
        np.testing.assert_allclose(hip, expected, atol=1e-4)


def test_recordings_of_one_kind_count_as_one_or_two() -> None:
    """The information of all frames together does not grow with the recordings: skin repeats its motion. Static ones
    count as one frame, many moving ones as two recordings.
    """
    table = np.zeros((100, 3, 3))

    def information(select: Callable[[np.ndarray, int], tuple[list[np.ndarray], float]], recordings: int) -> float:
        frames, spread = select(table, recordings)
        return recordings * len(frames) / spread**2

    for recordings, share in ((1, 0.5), (2, 1.0), (8, 1.0)):
        assert information(select_static_frames, recordings) == pytest.approx(STATIC_STD**-2)
        expected = share * MOVING_FRAME_COUNT * MOVING_STD**-2
        assert information(select_moving_frames, recordings) == pytest.approx(expected)
