"""Joint coordinates in files: units as stated and never guessed, the root's pose whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.base.so3 import quaternion_exp
from solver.formats.csv_tables import write_table, write_wrenches_csv
from solver.formats.joint_coordinates import read_joints_csv, read_joints_storage
from solver.formats.npz import read_npz, write_recording_npz
from solver.formats.opensim_storage import write_storage
from solver.formats.recording import find_recordings, read_recording
from solver.options.reading import ReadOptions
from solver.signals.trial import Recording
from solver.values.motion import JointCoordinates
from solver.values.wrenches import Wrenches
from tests.formats.recording_files import standing_mot, standing_trc

TIMES = np.arange(50) / 100.0
KNEE, SLIDER = 0.8 * np.sin(7.0 * TIMES), 0.1 * np.cos(5.0 * TIMES)
ROOT = np.column_stack([0.1 * TIMES, 0.0 * TIMES, 0.8 + 0.0 * TIMES, 0.3 * TIMES, -0.2 * TIMES, 0.5 * TIMES])
PLACE, TURN = ["root_tx", "root_ty", "root_tz"], ["root_rx", "root_ry", "root_rz"]


def test_every_unit_of_a_table_is_obeyed(tmp_path: Path) -> None:
    """Degrees and millimetres come out as radians and metres; the root's rotation vector as a quaternion."""
    titles = ["knee [deg]", "slider [mm]", *(f"{n} [cm]" for n in PLACE), *(f"{n} [deg]" for n in TURN)]
    values = np.column_stack([np.degrees(KNEE), 1e3 * SLIDER, 1e2 * ROOT[:, :3], np.degrees(ROOT[:, 3:])])
    write_table(tmp_path / "q.csv", TIMES, titles, values)
    found = read_joints_csv(tmp_path / "q.csv")
    assert found.names == ("knee", "slider")
    assert found.units == ("rad", "m")
    np.testing.assert_allclose(found.values, np.column_stack([KNEE, SLIDER]), atol=1e-11)
    np.testing.assert_allclose(found.root[:, :3], ROOT[:, :3], atol=1e-11)
    np.testing.assert_allclose(found.root[:, 3:], quaternion_exp(ROOT[:, 3:]), atol=1e-11)


def test_a_quaternion_is_as_good_as_a_rotation_vector(tmp_path: Path) -> None:
    """The same root, written either way, is the same root; both ways at once, or half of one, is refused."""
    quaternion = [f"root_q{axis} [1]" for axis in "xyzw"]
    lengths = [f"{name} [m]" for name in PLACE]
    whole = np.column_stack([KNEE, ROOT[:, :3], quaternion_exp(ROOT[:, 3:])])
    write_table(tmp_path / "q.csv", TIMES, ["knee [rad]", *lengths, *quaternion], whole)
    vectors = [f"{name} [rad]" for name in TURN]
    write_table(tmp_path / "v.csv", TIMES, ["knee [rad]", *lengths, *vectors], np.column_stack([KNEE, ROOT]))
    one, other = read_joints_csv(tmp_path / "q.csv").root, read_joints_csv(tmp_path / "v.csv").root
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one, other, atol=1e-11)
    write_table(tmp_path / "h.csv", TIMES, ["knee [rad]", *lengths[:2], *vectors], np.column_stack([KNEE, ROOT[:, 1:]]))
    with pytest.raises(InputError, match="lacks root_tz"):
        read_joints_csv(tmp_path / "h.csv")
    write_table(tmp_path / "b.csv", TIMES, ["knee [rad]", *lengths, *quaternion, vectors[0]], np.c_[whole, KNEE])
    with pytest.raises(InputError, match="two rotations"):
        read_joints_csv(tmp_path / "b.csv")
    write_table(tmp_path / "u.csv", TIMES, ["knee [rad]", *lengths, *quaternion], np.c_[whole[:, :4], whole[:, 4:] * 2])
    with pytest.raises(InputError, match="length 2"):
        read_joints_csv(tmp_path / "u.csv")


def test_a_log_of_uneven_steps_is_resampled_with_a_warning(tmp_path: Path) -> None:
    """Joint angles and the root's quaternion, whose sign jumps, lie on the curves that were logged, at even times."""
    stamps = np.cumsum(np.random.default_rng(2).choice([0.010, 0.012, 0.014], 200))

    def curves(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn = quaternion_exp(np.column_stack([0.8 * np.sin(3.0 * times), 0.5 * times, 0.2 * np.cos(5.0 * times)]))
        return 0.8 * np.sin(7.0 * times), turn

    knee, turn = curves(stamps)
    logged = turn * np.where(np.arange(len(stamps)) % 7 < 3, 1.0, -1.0)[:, None]
    titles = ["knee [rad]", *(f"{name} [m]" for name in PLACE), *(f"root_q{axis} [1]" for axis in "xyzw")]
    write_table(tmp_path / "log.csv", stamps, titles, np.column_stack([knee, np.zeros((len(stamps), 3)), logged]))
    messages: list[str] = []
    found = read_joints_csv(tmp_path / "log.csv", warn=messages.append)
    assert np.ptp(np.diff(found.times)) < 1e-9
    knee, turn = curves(found.times)
    np.testing.assert_allclose(found.values[:, 0], knee, atol=1e-3)
    assert np.abs((found.root[:, 3:] * turn).sum(axis=1)).min() > 1.0 - 1e-6
    assert any("resampled to a uniform" in text for text in messages)


def test_a_storage_file_must_say_its_unit(tmp_path: Path) -> None:
    """inDegrees is obeyed, an option overrules it, and without both nothing is guessed."""
    path = tmp_path / "q.mot"
    values = np.degrees(np.column_stack([KNEE, ROOT[:, 3:]]))
    write_storage(path, TIMES, ["knee", *PLACE, *TURN], np.c_[values[:, :1], ROOT[:, :3], values[:, 1:]],
                         in_degrees=True)  # fmt: skip
    found = read_joints_storage(path)
    assert found.units == ("deg or m",)
    np.testing.assert_allclose(np.radians(found.values[:, 0]), KNEE, atol=1e-9)
    np.testing.assert_allclose(found.root[:, 3:], quaternion_exp(ROOT[:, 3:]), atol=1e-9)
    text = path.read_text().replace("inDegrees=yes\n", "")
    path.write_text(text)
    with pytest.raises(InputError, match=r"degrees.*inDegrees"):
        read_joints_storage(path)
    assert read_joints_storage(path, "deg").units == ("deg or m",)


def test_speeds_of_another_unit_are_refused(tmp_path: Path) -> None:
    """Speeds that are not the slopes of their angles are refused."""
    slopes = np.gradient(KNEE, TIMES)
    write_table(tmp_path / "s.csv", TIMES, ["knee [rad]", "knee speed [rad/s]"], np.c_[KNEE, slopes])
    np.testing.assert_allclose(read_joints_csv(tmp_path / "s.csv").values[:, 0], KNEE, atol=1e-11)
    write_table(tmp_path / "t.csv", TIMES, ["knee [rad]", "knee speed [rad/s]"], np.c_[KNEE, np.degrees(slopes)])
    with pytest.raises(InputError, match=r"57\.3 times"):
        read_joints_csv(tmp_path / "t.csv")


def test_a_force_is_no_angle(tmp_path: Path) -> None:
    """A column in newtons among joint coordinates is refused by its name."""
    (tmp_path / "q.csv").write_text("time [s],hip [rad],knee [N]\n0,0.1,1\n0.1,0.2,1\n")
    with pytest.raises(InputError, match=r"'knee'.*neither an angle"):
        read_joints_csv(tmp_path / "q.csv")


def test_an_archive_keeps_everything(tmp_path: Path) -> None:
    """Joint coordinates with root and forces come out of the archive as they went in."""
    root = np.concatenate([ROOT[:, :3], quaternion_exp(ROOT[:, 3:])], axis=1)
    joints = JointCoordinates(TIMES, ("knee", "slider"), np.c_[KNEE, SLIDER], ("rad or m",) * 2, root)
    values = np.random.default_rng(0).normal(size=(50, 1, 6))
    values[:, :, 2] += 300.0
    write_recording_npz(tmp_path / "r.npz", Recording("r", None, Wrenches(TIMES, ("p",), values), joints=joints))
    back = read_npz(tmp_path / "r.npz")
    assert back.joints.names == joints.names
    assert back.joints.units == joints.units
    np.testing.assert_array_equal(back.joints.values, joints.values)
    assert back.joints.root is not None
    np.testing.assert_array_equal(back.joints.root, root)


def pair(folder: Path, motion: str, forces: str) -> tuple[Path, Path]:
    """A file of joint coordinates and one of forces."""
    write_table(folder / motion, TIMES, ["knee [rad]"], KNEE[:, None])
    values = np.tile([1.0, 2.0, 300.0, 0.0, 0.0, 0.0], (50, 1, 1)) + np.sin(TIMES)[:, None, None]
    write_wrenches_csv(folder / forces, Wrenches(TIMES, ("p",), values))
    return folder / motion, folder / forces


def test_joints_and_forces_of_one_name_are_one_trial(tmp_path: Path) -> None:
    """robot_angles.csv and robot_wrenches.csv are the trial robot, in a folder or named; times must overlap."""
    files = pair(tmp_path, "robot_angles.csv", "robot_wrenches.csv")
    for paths in ([tmp_path], list(files)):
        (found,) = find_recordings(paths)
        assert found.name == "robot"
        assert found.joints is not None
        assert found.wrenches is not None
    write_table(files[0], TIMES + 100.0, ["knee [rad]"], KNEE[:, None])
    with pytest.raises(InputError, match="do not overlap the joints of robot_angles"):
        find_recordings(list(files))


def test_angles_beside_the_markers_of_a_trial_are_passed_over(tmp_path: Path) -> None:
    """In a folder with markers another program's angles of the same trial change nothing; named, they are read."""
    for folder in ("markers", "forces", "ik"):
        (tmp_path / folder).mkdir()
    standing_trc(tmp_path / "markers" / "squat.trc")
    standing_mot(tmp_path / "forces" / "squat.mot")
    write_storage(tmp_path / "ik" / "squat.mot", TIMES, ["pelvis_tilt"], KNEE[:, None], in_degrees=True)
    (found,) = find_recordings([tmp_path])
    assert found.markers is not None
    assert found.wrenches is not None
    assert found.joints is None
    named = read_recording(tmp_path / "ik" / "squat.mot")
    assert named.joints.names == ("pelvis_tilt",)


def test_speeds_of_zero_are_no_evidence_against_the_angles(tmp_path: Path) -> None:
    """Columns of speeds that somebody filled with zeros, and joints that never move, refuse nothing."""
    for values, speeds in ((KNEE, 0.0 * KNEE), (0.0 * KNEE, 0.01 + 0.0 * KNEE)):
        titles = ["hip [rad]", "knee [rad]", "hip speed [rad/s]", "knee speed [rad/s]"]
        write_table(tmp_path / "s.csv", TIMES, titles, np.column_stack([values, values, speeds, speeds]))
        np.testing.assert_allclose(read_joints_csv(tmp_path / "s.csv").values[:, 1], values, atol=1e-11)


def test_an_option_overrules_an_archive(tmp_path: Path) -> None:
    """angles = deg reads an archive's numbers as degrees."""
    np.savez(tmp_path / "a.npz", joints=np.array(["knee"]), angles=np.degrees(KNEE)[:, None], joint_rate=100.0)
    found = read_recording(tmp_path / "a.npz", ReadOptions(angle_units="deg")).joints
    assert found.units == ("deg or m",)
    plain = read_recording(tmp_path / "a.npz").joints
    assert plain is not None
    assert plain.units == ("rad or m",)
