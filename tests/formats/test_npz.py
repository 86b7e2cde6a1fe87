"""NumPy archives: recordings in the plain layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.errors import InputError
from solver.formats.arrays_npz import read_npz, write_recording_npz


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
