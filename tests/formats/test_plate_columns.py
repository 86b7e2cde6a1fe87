"""Columns of forces as programs other than OpenSim name them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.csv_tables import read_wrenches_csv
from solver.formats.opensim_storage import read_forces
from solver.formats.recording import content_kind, read_recording
from tests.formats.recording_files import times, to_y_up, write_mot

FORCE, POINT, FREE = np.array([12.0, -7.0, 650.0]), np.array([0.3, -0.2, 0.006]), np.array([0.0, 0.0, 2.0])
WRENCH = np.concatenate([FORCE, np.cross(POINT, FORCE) + FREE])
STYLES = {
    "FP1_Fx": ("FP1_F{}", "FP1_COP{}", "FP1_M{}"),
    "Fx1": ("F{}1", "C{}1", "T{}1"),
    "Force_Fx1": ("Force_F{}1", "CoP_C{}1", "Moment_M{}1"),
    "Force.Fx1": ("Force.F{}1", "CoP.C{}1", "Moment.M{}1"),
    "Force_X": ("Force_{}", "COP_{}", "Moment_{}"),
    "left_Force_X": ("left_Force_{}", "left_COP_{}", "left_Torque_{}"),
    "F1x": ("F1{}", "COP1{}", "M1{}"),
    "Fx": ("F{}", "P{}", "M{}"),
    "f1_x": ("f1_{}", "p1_{}", "m1_{}"),
    "f1_1": ("f1_{}", "p1_{}", "m1_{}"),
}


def columns(style: str) -> list[str]:
    """Nine column names of one plate."""
    capitals = style.endswith("X")
    axes = "123" if style.endswith("1_1") else "XYZ" if capitals else "xyz"
    return [form.format(axis) for form in STYLES[style] for axis in axes]


@pytest.mark.parametrize("style", STYLES)
def test_usual_names_give_the_wrench_by_hand(tmp_path: Path, style: str) -> None:
    """Force, point and free moment are found by any usual names, in storage files and tables; nothing is an angle."""
    row = to_y_up(np.array([FORCE, POINT, FREE])).reshape(-1)
    path = write_mot(tmp_path / "f.mot", columns(style), times(), np.tile(row, (len(times()), 1)))
    assert content_kind(path) == "forces"
    wrenches = read_forces(path)[0]
    np.testing.assert_allclose(wrenches.values, np.tile(WRENCH, (len(wrenches), 1, 1)), rtol=1e-9)
    units = ["N"] * 3 + ["m"] * 3 + ["N m"] * 3
    lines = [", ".join(["time [s]", *(f"{name} [{unit}]" for name, unit in zip(columns(style), units))])]
    lines += [", ".join(map(str, [time, *FORCE, *POINT, *FREE])) for time in times()]
    table = tmp_path / "f.csv"
    table.write_text("\n".join(lines))
    assert content_kind(table) == "forces"
    np.testing.assert_allclose(read_wrenches_csv(table)[0].values, wrenches.values, rtol=1e-9)


def test_plates_are_distinguished(tmp_path: Path) -> None:
    """Fx1 and Fx2 are two plates."""
    names = [f"{what}{axis}{plate}" for plate in (1, 2) for what in "FCM" for axis in "xyz"]
    row = np.tile(to_y_up(np.array([FORCE, POINT, FREE])).reshape(-1), 2)
    wrenches = read_forces(write_mot(tmp_path / "f.mot", names, times(), np.tile(row, (len(times()), 1))))[0]
    assert wrenches.frames == ("1", "2")
    np.testing.assert_allclose(wrenches.total[0], 2.0 * WRENCH, rtol=1e-9)


def test_moments_about_another_point_are_refused(tmp_path: Path) -> None:
    """Moments that no name calls free, and that turn about level axes, are about no one knows which point."""
    row = to_y_up(np.array([FORCE, POINT, WRENCH[3:]])).reshape(-1)
    path = write_mot(tmp_path / "f.mot", columns("FP1_Fx"), times(), np.tile(row, (len(times()), 1)))
    with pytest.raises(InputError, match=r"'FP1' have horizontal components of 23\d N m: they are not free moments"):
        read_forces(path)[0]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["FP1_Fx", "FP1_Fy", "FP1_Fz", "FP1_COPx", "FP1_COPy"], "'FP1' lacks the columns COPz"),
        (["Fx1", "Fy1", "Fz1", "F1x", "hip"], "'Fx1' and 'F1x' of plate '1' have the same meaning"),
        (["push_x", "push_y", "push_z", "hip", "knee"], "if it holds forces, .* FP1_Fx"),
    ],
)
def test_unknown_columns_are_reported(tmp_path: Path, names: list[str], words: str) -> None:
    """A plate without an axis, a column twice, and names that no one knows are one sentence each."""
    path = write_mot(tmp_path / "f.mot", names, times(), np.tile([5.0, 700.0, 3.0, 0.1, 0.2], (len(times()), 1)))
    with pytest.raises(InputError, match=words):
        read_recording(path)


def test_a_moved_pelvis_pushes_nothing(tmp_path: Path) -> None:
    """Translations of joints, hip_tx and the like, are no moments and no forces."""
    names = ["pelvis_tx", "pelvis_ty", "pelvis_tz", "hip_flexion_r", "knee_mz"]
    path = write_mot(tmp_path / "q.mot", names, times(), np.zeros((len(times()), 5)), "inDegrees=yes")
    assert content_kind(path) == "joints"
