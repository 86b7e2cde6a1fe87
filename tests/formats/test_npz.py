"""NumPy archives: recordings in the plain layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.npz import read_npz, write_recording_npz


def test_forces_without_moments_come_back(tmp_path: Path) -> None:
    """Markers at 100 Hz and forces at 1000 Hz: moments are marked as not measured, and a copy keeps all of it."""
    force = np.tile([3.0, -2.0, 608.0], (40, 1)) + np.arange(40)[:, None]
    still = np.tile([[0.0, 0.0, 1.4], [0.0, 0.0, 0.05]], (4, 1, 1))
    markers: dict[str, Any] = {"labels": ["C7", "RHEE"], "positions": still, "marker_rate": 100.0}
    np.savez(tmp_path / "walk.npz", **markers, force=force, force_rate=1000.0, mass=62.0, sex="male")
    recording = read_npz(tmp_path / "walk.npz")
    wrenches = recording.wrenches
    np.testing.assert_array_equal(wrenches.total[:, :3], force)
    assert (recording.markers is not None, round(wrenches.rate)) == (True, 1000)
    assert wrenches.measured.all(axis=0).tolist() == [True] * 3 + [False] * 3
    assert np.isnan(wrenches.values[:, :, 3:]).all()
    assert (recording.metadata["sex"], recording.metadata["mass"]) == ("male", 62.0)
    write_recording_npz(tmp_path / "copy.npz", recording)
    copy = read_npz(tmp_path / "copy.npz")
    np.testing.assert_array_equal(copy.wrenches.values, wrenches.values)
    np.testing.assert_array_equal(np.asarray(copy.wrenches.measured), np.asarray(wrenches.measured))
    np.testing.assert_array_equal(copy.markers.positions, recording.markers.positions)  # type: ignore[union-attr]


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


POSITIONS = np.tile([0.0, 0.0, 1.0], (4, 1, 1))
NO_CHARACTER, FAR = np.full(1, 0x110000, np.uint32).view("U1"), [0.0, 0.001, 0.002, 1e308]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"labels": [b"\xff"], "positions": POSITIONS, "marker_rate": 100.0}, "labels.*not text"),
        ({"labels": [1], "positions": POSITIONS, "marker_rate": 100.0}, "labels.*a list of texts"),
        ({"labels": ["A"], "positions": POSITIONS * 1j, "marker_rate": 100.0}, "positions.*real numbers"),
        ({"labels": ["A"], "positions": POSITIONS[0], "marker_rate": 100.0}, "positions.*3 axes"),
        ({"labels": ["A"], "positions": POSITIONS + np.inf, "marker_rate": 100.0}, "positions.*infinite"),
        ({"labels": ["A"], "positions": POSITIONS, "marker_rate": []}, "marker_rate.*one positive number"),
        ({"labels": ["A"], "positions": POSITIONS, "marker_times": [0.0, 1.0]}, "2 time stamps, not 4"),
        ({"labels": NO_CHARACTER, "positions": POSITIONS, "marker_rate": 100.0}, "no characters"),
        (
            {"wrenches": [[[0.0, 0.0, 600.0, 0.0, 0.0, 0.0]]] * 4, "force_times": FAR},
            r"the time step before this row is 1e\+308 s",
        ),
        ({"wrenches": np.zeros((4, 6)), "force_rate": 100.0}, "wrenches.*3 axes"),
        ({"wrenches": np.zeros((4, 2, 6)), "frames": ["a"], "force_rate": 100.0}, "1 plates with six"),
        ({"joints": ["a"], "angles": np.zeros((4, 1)), "joint_rate": 0.0}, "joint_rate.*one positive number"),
        ({"joints": ["a"], "angles": np.zeros((4, 1)), "joint_rate": 9.0, "mass": -1.0}, "mass.*one positive number"),
    ],
)
def test_an_array_is_what_it_must_be(arrays: dict, said: str, tmp_path: Path) -> None:
    """Another kind, another number of axes, no number: the error names the array and what it should be."""
    np.savez(tmp_path / "walk.npz", **arrays)
    with pytest.raises(InputError, match=said):
        read_npz(tmp_path / "walk.npz")


def test_names_may_be_bytes(tmp_path: Path) -> None:
    """As other languages' writers store them; they are no ``b'...'``."""
    np.savez(tmp_path / "walk.npz", joints=np.array([b"hip"]), angles=np.zeros((4, 1)), joint_rate=100.0)
    joints = read_npz(tmp_path / "walk.npz").joints
    assert joints.names == ("hip",)
