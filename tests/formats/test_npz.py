"""NumPy archives: recordings in the plain layout, motions and trials without loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.errors import InputError
from solver.formats.arrays_npz import read_motion, read_npz, read_trial, write_motion, write_recording_npz, write_trial
from solver.motion import Motion
from solver.trial import Trial
from solver.wrenches import Wrenches
from tests.formats.recording_files import FRAMES, times


def test_motions_and_trials_survive_a_round_trip(tmp_path: Path) -> None:
    """Every array, name and reason comes back exactly."""
    rng = np.random.default_rng(5)
    motion = Motion(times(), rng.normal(size=(FRAMES, 9)), rng.normal(size=(FRAMES, 8)), rng.normal(size=(FRAMES, 8)))
    wrenches = Wrenches(times(), ("left", "right"), rng.normal(size=(FRAMES, 2, 6)))
    trial = Trial("walk", motion, wrenches, rng.random(FRAMES) > 0.5, (("box", 3), ("chair", 0)))
    write_trial(tmp_path / "t.npz", trial)
    write_motion(tmp_path / "m.npz", motion)
    back = read_trial(tmp_path / "t.npz")
    for name in ("times", "q", "v", "a"):
        np.testing.assert_array_equal(getattr(back.motion, name), getattr(motion, name))
        np.testing.assert_array_equal(getattr(read_motion(tmp_path / "m.npz"), name), getattr(motion, name))
    np.testing.assert_array_equal(back.wrenches.values, wrenches.values)
    np.testing.assert_array_equal(back.counted, trial.counted)
    assert (back.name, back.wrenches.frames, back.excluded) == ("walk", ("left", "right"), (("box", 3), ("chair", 0)))


def test_walk_d_has_forces_without_moments(shared_data: Path, tmp_path: Path) -> None:
    """1072 frames of 45 markers at 200 Hz, 5361 forces at 1000 Hz, 60.8 kg, no moment; a round trip keeps all of it."""
    recording = read_npz(shared_data / "walk_d/walk_d.npz")
    markers, wrenches = recording.markers, recording.wrenches
    assert markers is not None
    assert wrenches is not None
    assert wrenches.measured is not None
    assert markers.positions.shape == (1072, 45, 3)
    assert (round(markers.rate), round(wrenches.rate), len(wrenches)) == (200, 1000, 5361)
    assert wrenches.total[:, 2].mean() / 9.81 == pytest.approx(60.8, rel=0.03)
    assert wrenches.measured.all(axis=0).tolist() == [True] * 3 + [False] * 3
    assert np.isnan(wrenches.values[:, :, 3:]).all()
    assert recording.metadata["sex"] == "male"
    write_recording_npz(tmp_path / "copy.npz", recording)
    copy = read_npz(tmp_path / "copy.npz")
    assert copy.wrenches is not None
    assert copy.markers is not None
    np.testing.assert_array_equal(copy.wrenches.values, wrenches.values)
    np.testing.assert_array_equal(np.asarray(copy.wrenches.measured), np.asarray(wrenches.measured))
    np.testing.assert_array_equal(copy.markers.positions, markers.positions)


def test_bad_archives_are_refused(tmp_path: Path) -> None:
    """No archive, pickled objects, wrong shapes, no rate, nothing of use: one error each."""
    (tmp_path / "text.npz").write_text("not an archive")
    np.savez(tmp_path / "object.npz", positions=np.array([{"a": 1}], dtype=object))
    np.savez(tmp_path / "shape.npz", labels=["a"], positions=np.zeros((4, 2, 3)), marker_rate=100.0)
    np.savez(tmp_path / "rate.npz", force=np.tile([0.0, 0.0, 600.0], (4, 1)))
    np.savez(tmp_path / "other.npz", something=np.zeros(3))
    for name, words in [("text", "archive"), ("object", "archive"), ("shape", "1 labels"), ("rate", "force_rate"),
                        ("other", "something")]:  # fmt: skip
        with pytest.raises(InputError, match=words):
            read_npz(tmp_path / f"{name}.npz")
    with pytest.raises(InputError, match="no trial"):
        read_trial(tmp_path / "other.npz")
    with pytest.raises(InputError, match="no motion"):
        read_motion(tmp_path / "other.npz")
