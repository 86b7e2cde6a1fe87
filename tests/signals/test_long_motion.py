"""Laws of motions that are filtered piece by piece."""

from __future__ import annotations

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.signals import PRESETS, FilterPreset, manifold, smooth_motion
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.random_motion import mixed_rig

RATE = 200.0
COUNT = manifold.PIECE + 700
EIGHT = PRESETS["human_8hz"]


@pytest.fixture(scope="module")
def rig() -> Rig:
    return mixed_rig()


def swinging(rig: Rig, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Times (COUNT,) and a noisy motion (COUNT, nq) whose spherical joints make full turns."""
    generator = np.random.default_rng(seed)
    times = np.arange(COUNT) / RATE
    speeds = generator.uniform(0.3, 1.2, rig.nv)
    steps = np.sin(speeds * times[:, None] + generator.uniform(0.0, 6.0, rig.nv))
    steps += 0.002 * generator.standard_normal(steps.shape)
    steps[:, 3:6] += np.array([0.3, 1.4, 0.2]) * times[:, None]
    return times, integrate(rig, rig.neutral, steps)


def whole(rig: Rig, times: np.ndarray, q: np.ndarray, preset: FilterPreset | None) -> Motion:
    """The motion filtered in one piece."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifold, "PIECE", 10 * COUNT)
        return smooth_motion(rig, times, q, preset)


@pytest.mark.parametrize("preset", [EIGHT, None])
def test_pieces_are_filtered_as_the_whole(rig: Rig, preset: FilterPreset | None) -> None:
    """A motion filtered in pieces equals the motion filtered in one piece, to 1e-8 and with the same signs."""
    times, q = swinging(rig)
    pieces, one = smooth_motion(rig, times, q, preset), whole(rig, times, q, preset)
    for found, expected in ((pieces.q, one.q), (pieces.v, one.v), (pieces.a, one.a)):
        np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
    for at in (3, 8):
        assert (np.sum(pieces.q[1:, at : at + 4] * pieces.q[:-1, at : at + 4], axis=1) > 0.9).all()


def test_gaps_at_the_ends_of_pieces(rig: Rig) -> None:
    """The same holds with bridged and long gaps at and across the ends of pieces."""
    times, q = swinging(rig)
    end = manifold.PIECE
    for gap in ((0, 30), (900, 905), (end - 3, end + 4), (end + 90, end + 170)):
        q[slice(*gap)] = np.nan
    q[COUNT - 40 :] = np.nan
    pieces, one = smooth_motion(rig, times, q, EIGHT), whole(rig, times, q, EIGHT)
    for found, expected in ((pieces.q, one.q), (pieces.v, one.v), (pieces.a, one.a)):
        np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
    held = slice(COUNT - 30, COUNT)
    np.testing.assert_allclose(pieces.v[held], 0.0, atol=1e-12)


def test_one_frame_alone_is_part_of_its_gap(rig: Rig) -> None:
    """A single frame between two long gaps belongs to the gap and causes no error."""
    times, q = swinging(rig)
    q[1000:1060] = q[1061:1100] = np.nan
    motion = smooth_motion(rig, times, q, EIGHT)
    assert np.isfinite(motion.a).all()
    assert not motion.a[1000:1100, -1].any()
    assert np.ptp(motion.v[1000:1100, -1]) < 1e-12
