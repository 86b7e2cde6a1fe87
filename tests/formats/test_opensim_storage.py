"""OpenSim storage files and the forces in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.formats.file_formats import FORCES
from solver.formats.opensim_storage import read_forces, read_storage, storage_kinds, write_storage
from solver.formats.recording import content_kind, content_kind_in_folder, read_recording
from solver.formats.wrench_checks import ForceConvention, centres_of_pressure
from tests.formats.recording_files import force_names, standing_mot, times, to_y_up, write_mot

FORCE, POINT, FREE = np.array([12.0, -7.0, 650.0]), np.array([0.3, -0.2, 0.006]), np.array([0.1, -0.2, 2.0])
STYLES = {
    "numbered": force_names("ground_force_{}_{}", 1),
    "sides first": [n.replace("force_m", "torque_") for n in force_names("{}_ground_force_{}", "R")],
    "sides last": [n.replace("force_l_m", "torque_l_") for n in force_names("ground_force_{}_{}", "l")],
    "number first": [n.replace("force_m", "torque_") for n in force_names("{}_ground_force_{}", 1)],
    "no plate": [n.replace("ground_force_m", "ground_torque_") for n in force_names("ground_force_{1}")],
    "capitals": [n.upper() for n in force_names("FP{}_{}", 2)],
}


@pytest.mark.parametrize("style", STYLES)
def test_every_naming_style_gives_the_wrench_by_hand(tmp_path: Path, style: str) -> None:
    """Force f at point p with free moment m is the wrench (f, p x f + m) about the origin in any style."""
    row = to_y_up(np.array([FORCE, POINT, FREE])).reshape(-1)
    path = write_mot(tmp_path / "f.mot", STYLES[style], times(), np.tile(row, (len(times()), 1)))
    wrenches = read_forces(path)[0]
    expected = np.concatenate([FORCE, np.cross(POINT, FORCE) + FREE])
    np.testing.assert_allclose(wrenches.values[:, 0], np.tile(expected, (len(wrenches), 1)), rtol=1e-9)
    assert wrenches.measured.all()


def test_plates_stay_apart_and_add_up(tmp_path: Path) -> None:
    """Five plates are five frames; their sum is the total."""
    names = [name for k in range(5) for name in force_names(plate=k + 1)]
    row = np.concatenate([to_y_up(np.array([FORCE * (k + 1), POINT + k, FREE])).reshape(-1) for k in range(5)])
    wrenches = read_forces(write_mot(tmp_path / "f.mot", names, times(), np.tile(row, (len(times()), 1))))[0]
    assert wrenches.frames == tuple(f"ground_force_{k + 1}" for k in range(5))
    np.testing.assert_allclose(wrenches.total[0, :3], 15.0 * FORCE, rtol=1e-9)


def test_millimetres_are_found_and_equal_metres(tmp_path: Path) -> None:
    """Centre of pressure in mm and free moment in N mm give the same wrench, stated, or found and noted; stated metres
    are refused."""
    rows = [to_y_up(np.array([FORCE, POINT * s, FREE * s])).reshape(-1) for s in (1.0, 1000.0)]
    metres, millimetres = (
        write_mot(tmp_path / f"{i}.mot", force_names(), times(), np.tile(row, (len(times()), 1)))
        for i, row in enumerate(rows)
    )
    np.testing.assert_allclose(
        read_forces(millimetres, ForceConvention(units="mm"))[0].values, read_forces(metres)[0].values, rtol=1e-9
    )
    notes: list[str] = []
    np.testing.assert_allclose(
        read_forces(millimetres, warn=notes.append)[0].values, read_forces(metres)[0].values, rtol=1e-9
    )
    assert "taken to be in mm (--force-units overrules it)" in notes[0]
    with pytest.raises(InputError, match="mm"):
        read_forces(millimetres, ForceConvention(units="m"))[0]


@pytest.mark.parametrize("head", ["version=1\ninDegrees=yes\nendheader", "datacolumns 12\ndatarows 110\nendheader"])
def test_a_file_of_angles_and_forces_holds_both(tmp_path: Path, head: str) -> None:
    """Columns decide, with OpenSim's header or SIMM's: joint angles, and forces, which a file of forces replaces."""
    alone = standing_mot(tmp_path / "walk_grf.mot")
    titles, *rows = alone.read_text().partition("endheader\n")[2].splitlines()
    both = tmp_path / "walk.mot"
    table = [f"{titles}\thip_flexion_r\tpelvis_tx", *(f"{row}\t30.0\t0.5" for row in rows)]
    both.write_text("\n".join(["walk", head, *table]) + "\n")
    one, two = read_recording([both]), read_recording([both, alone])
    for found in (one, two):
        assert found.joints is not None
        assert found.joints.names == ("hip_flexion_r", "pelvis_tx")
        assert found.wrenches is not None
        np.testing.assert_allclose(found.wrenches.values, read_forces(alone)[0].values, rtol=1e-9)


def test_an_unloaded_plate_pushes_nothing_wherever_its_point_is(tmp_path: Path) -> None:
    """Without force the centre of pressure is undefined: NaN or nonsense there must not matter."""
    row = to_y_up(np.array([FORCE, POINT, FREE])).reshape(-1)
    values = np.tile(row, (len(times()), 1))
    values[4] = [0, 0, 0, np.nan, np.nan, np.nan, 0, 0, 0]
    values[5] = [0, 0, 0, 1e6, 0, -1e6, 0, 0, 0]
    wrenches = read_forces(write_mot(tmp_path / "f.mot", force_names(), times(), values))[0]
    np.testing.assert_array_equal(wrenches.values[4:6], 0.0)


def test_missing_forces_are_refused_or_stay_missing(tmp_path: Path) -> None:
    """NaN in a force is an error that names line and column, or, when requested, stays NaN and is reported."""
    values = np.tile(to_y_up(np.array([FORCE, POINT, FREE])).reshape(-1), (len(times()), 1))
    values[6, 1] = np.nan
    path = write_mot(tmp_path / "f.mot", force_names(), times(), values)
    with pytest.raises(InputError, match=r"line 13, plate 1"):
        read_forces(path)[0]
    messages: list[str] = []
    wrenches = read_forces(path, missing="keep", warn=messages.append)[0]
    assert np.isnan(wrenches.total).any(axis=1).tolist() == [i == 6 for i in range(len(wrenches))]
    assert "1 of 11" in messages[0]


def test_a_missing_centre_of_pressure_under_load_is_refused(tmp_path: Path) -> None:
    """NaN where a loaded plate was pushed makes no moment of zero: the error names line and load, or requested, NaN."""
    values = np.tile(to_y_up(np.array([FORCE, POINT, FREE])).reshape(-1), (len(times()), 1))
    values[6, 3:6] = np.nan
    path = write_mot(tmp_path / "f.mot", force_names(), times(), values)
    with pytest.raises(InputError, match=r"line 13, plate 1.*missing under load"):
        read_forces(path)[0]
    kept = read_forces(path, missing="keep")[0]
    assert np.isnan(kept.total[6, 3:]).any()
    assert np.isfinite(np.delete(kept.total, 6, axis=0)).all()


def test_without_points_only_forces_are_measured(tmp_path: Path) -> None:
    """Moments that cannot be formed are marked as not measured, never zero."""
    names = [f"ground_force_v{axis}" for axis in "xyz"]
    wrenches = read_forces(write_mot(tmp_path / "f.mot", names, times(), np.tile(to_y_up(FORCE), (len(times()), 1))))[0]
    assert wrenches.measured.all(axis=0).tolist() == [True] * 3 + [False] * 3
    assert np.isnan(wrenches.values[:, :, 3:]).all()


def test_a_reversed_sign_is_refused_and_can_be_stated(tmp_path: Path) -> None:
    """A plate cannot pull: forces that point down need sign = -1, and then equal the others."""
    up = read_forces(standing_mot(tmp_path / "up.mot"))[0]
    row = -to_y_up(up.values[0, 0, :3])
    values = np.tile(np.concatenate([row, to_y_up(np.array([0.05, 0.0, 0.0])), [0.0, -1.5, 0.0]]), (len(up), 1))
    down = write_mot(tmp_path / "down.mot", force_names(), up.times, values)
    with pytest.raises(InputError, match="sign = -1"):
        read_forces(down)[0]
    with pytest.raises(InputError, match="sign is reversed"):
        read_forces(down, ForceConvention(up="y"))[0]
    np.testing.assert_allclose(read_forces(down, ForceConvention(sign=-1))[0].values, up.values, atol=1e-9)


def test_a_wrong_axis_is_refused(tmp_path: Path) -> None:
    """Y-up given as z-up contradicts the mean force."""
    with pytest.raises(InputError, match="State up = y"):
        read_forces(standing_mot(tmp_path / "f.mot"), ForceConvention(up="z"))[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.replace("endheader", "end").replace("time", "zeit"), "endheader"),
        (lambda t: t.replace("time\t", "zeit\t"), "'time'"),
        (lambda t: t.replace("ground_force_1_vz", "ground_force_1_wz"), "lacks the columns vz"),
        (lambda t: t.replace("ground_force_1_v", "speed_"), "lacks the columns vx"),
        (lambda t: t.replace("700", "seven", 1), "'seven' is not a number"),
        (lambda t: t.rsplit("\t", 3)[0] + "\n", "the row has"),
        (lambda t: t.split("endheader")[0] + "endheader\n", "ends after its header"),
        (lambda t: "\n".join(t.split("\n")[:6]) + "\n", "no rows"),
        (lambda t: t.replace("\t", ","), r"line 6: columns are separated by commas\. Export it with tabs"),
    ],
)
def test_broken_files_are_refused_in_one_sentence(tmp_path: Path, change: object, words: str) -> None:
    """Each damage gives one InputError that names the file and what is wrong."""
    path = standing_mot(tmp_path / "broken.mot")
    path.write_text(change(path.read_text()))  # type: ignore[operator]
    with pytest.raises(InputError, match=words) as caught:
        read_forces(path)[0]
    assert caught.value.path == path
    assert caught.value.remedy


@pytest.mark.parametrize("kept", [0, 2, 4])
def test_a_table_starts_with_the_time_whatever_is_above_it(tmp_path: Path, kept: int) -> None:
    """Without its line endheader, and without any number of lines of its header, a file holds the same forces."""
    whole, bare = standing_mot(tmp_path / "whole.mot"), tmp_path / "bare.mot"
    header, _, table = whole.read_text().partition("endheader\n")
    bare.write_text("".join(line + "\n" for line in header.split("\n")[:kept]) + table)
    np.testing.assert_array_equal(read_forces(bare)[0].values, read_forces(whole)[0].values)
    assert content_kind(bare) == FORCES
    assert content_kind_in_folder(bare) == FORCES


def test_rows_may_begin_with_a_tab(tmp_path: Path) -> None:
    """As older programs write them."""
    path = standing_mot(tmp_path / "stand.mot")
    plain = read_storage(path)
    head, names, rows = path.read_text().partition("time\t")
    first, _, rest = rows.partition("\n")
    path.write_text(head + names + first + "\n" + "".join(f"\t{row}\n" for row in rest.splitlines()))
    np.testing.assert_array_equal(read_storage(path).values, plain.values)


def test_vectors_in_cells_are_refused(tmp_path: Path) -> None:
    """OpenSim 4 can write x,y,z into one cell."""
    path = tmp_path / "markers.sto"
    path.write_text("DataType=Vec3\nversion=3\nendheader\ntime\tC7\n0.0\t0.1,0.2,0.3\n")
    with pytest.raises(InputError, match="holds values of type Vec3, which are not read") as caught:
        read_storage(path)
    assert "TRC" in str(caught.value.remedy)


def test_a_written_table_reads_back(tmp_path: Path) -> None:
    """Joint angles go to a .mot and back without loss beyond twelve digits."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(20, 3))
    write_storage(tmp_path / "m.mot", times(20), ["hip", "knee", "ankle"], values, in_degrees=True)
    back = read_storage(tmp_path / "m.mot")
    assert back.names == ("hip", "knee", "ankle")
    assert back.in_degrees
    np.testing.assert_allclose(back.values, values, rtol=1e-11)
    np.testing.assert_allclose(back.times, times(20), atol=1e-9)
    assert storage_kinds(tmp_path / "m.mot") != ("forces",)


def test_written_joint_angles_are_no_forces(tmp_path: Path) -> None:
    """A .mot of joint angles has other columns, degrees as its header says; read as forces it is refused."""
    path = tmp_path / "ik.mot"
    write_storage(path, times(), ["pelvis_tilt", "knee_angle_r"], np.ones((len(times()), 2)), in_degrees=True)
    assert read_storage(path).in_degrees
    with pytest.raises(InputError, match="has no force columns"):
        read_forces(path)[0]


@pytest.mark.parametrize(
    ("file", "plates", "rate", "mass"),
    [("subject_b/forces/run.mot", 2, 1000.0, 73.5), ("subject_c/subject01_walk1_grf.mot", 2, 600.0, 72.9)],
)
def test_other_laboratories(shared_data: Path, file: str, plates: int, rate: float, mass: float) -> None:
    """Two plates, the true rate despite rounded stamps, a plausible mean weight, centres of pressure in the room."""
    wrenches = read_forces(shared_data / file)[0]
    assert len(wrenches.frames) == plates
    assert wrenches.rate == pytest.approx(rate, rel=1e-9)
    assert wrenches.total[:, 2].mean() / 9.81 == pytest.approx(mass, rel=0.02)
    points = centres_of_pressure(wrenches)
    assert np.nanmax(np.abs(points)) < 2.0


def test_a_simm_motion_holds_angles_in_degrees_beside_forces(tmp_path: Path) -> None:
    """SIMM's motion files state no unit, since it is degrees, and may repeat the trial's forces; these are left out."""
    forces = ["ground_force_vx", "ground_force_vy", "ground_force_vz"]
    names = ["time", "hip_flexion_r", "pelvis_tx", *forces, *forces]
    rows = "\n".join("\t".join(map(str, [0.01 * k, 10.0 * k, 0.5, *[1.0] * 6])) for k in range(5))
    path = tmp_path / "walk_ik.mot"
    path.write_text(f"name walk\ndatacolumns {len(names)}\ndatarows 5\nendheader\n{chr(9).join(names)}\n{rows}\n")
    joints = read_recording([path]).joints
    assert joints.names == ("hip_flexion_r", "pelvis_tx")
    assert joints.units[0] == "deg or m"
    alone = tmp_path / "walk_grf.mot"
    table = "\n".join("\t".join(map(str, [0.01 * k, 0.0, 700.0, 0.0])) for k in range(5))
    alone.write_text(f"name walk\ndatacolumns 4\ndatarows 5\nendheader\n{chr(9).join(['time', *forces])}\n{table}\n")
    assert storage_kinds(alone) == ("forces",)
    assert storage_kinds(path) != ("forces",)
    tabbed = tmp_path / "walk_tab.mot"
    tabbed.write_text(alone.read_text().replace("time", "   time").replace("vz\n", "vz\t\n"))
    assert storage_kinds(tabbed) == ("forces",)


def test_stamps_rounded_to_less_than_a_step_are_uniform(tmp_path: Path) -> None:
    """2000 Hz written with three decimals has every stamp twice: the rate is 2000 Hz; a row out of order stays one."""
    rows = [[f"{k / 2000.0:.3f}", "0", "700", "0"] for k in range(400)]
    head = "forces\nversion=1\nendheader\ntime\tground_force_vx\tground_force_vy\tground_force_vz\n"
    path = tmp_path / "fast.mot"
    path.write_text(head + "\n".join("\t".join(row) for row in rows))
    assert np.allclose(np.diff(read_storage(path).times), 1.0 / 2000.0, rtol=1e-9)
    rows[200][0] = "0.050"
    path.write_text(head + "\n".join("\t".join(row) for row in rows))
    with pytest.raises(InputError, match="does not come after"):
        read_storage(path)
