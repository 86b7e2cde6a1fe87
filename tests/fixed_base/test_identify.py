"""Simulated identification of a fixed-base robot recovers the truth."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue
from solver.cli import main
from solver.fixed_base.comparison import FixedBaseModel, compare_fixed_base
from solver.fixed_base.files import lock_joints_without_column, read_trial, write_result
from solver.fixed_base.identify import FixedBaseOptions, FixedBaseTrial, identify_fixed_base
from solver.fixed_base.robot import BASE, TORQUES, FixedBaseRobot
from solver.formats.csv_tables import write_table, write_wrenches_csv
from solver.rigs import from_urdf
from solver.scene.determined import MASS_KIND, TABLES
from solver.scene.result import RESULT
from solver.values.wrenches import Wrenches

from .arm import arm, swings, with_wrong_masses

DRIVES = np.array([[0.3, 5.0, 3.0, 0.5], [0.2, 4.0, 2.0, -0.5], [0.1, 3.0, 1.0, 0.2], [1.5, 20.0, 4.0, 1.0]])


def recorded(truth: FixedBaseRobot, drives: np.ndarray | None = None) -> FixedBaseTrial:
    """Measurements of sensors without error."""
    times, y, dy, ddy = swings(truth)
    own = np.zeros(0) if drives is None else drives.ravel()
    exact = truth.regressor(truth.motion(times, y, dy, ddy)) @ np.concatenate([own, truth.rig.prior.vector])
    return FixedBaseTrial("swings", times, y, exact)


@pytest.mark.parametrize("measured", [TORQUES, BASE])
def test_exact_data_give_the_truth(tmp_path: Path, measured: str) -> None:
    """Base parameters, and drives if torques are the motors'; the turret's inertia only together with its rotor's."""
    rig = arm(tmp_path)
    truth, bench = FixedBaseRobot(rig, measured), FixedBaseRobot(with_wrong_masses(rig), measured)
    drives = DRIVES if measured == TORQUES else None
    found = identify_fixed_base(bench, [recorded(truth, drives)], FixedBaseOptions(preset=None))
    structure = truth.structure
    identifiable = np.array(structure.symbols) != "Izz_turret"
    true, prior, now = (
        structure.project(body)[identifiable] for body in (rig.prior, bench.rig.prior, found.estimate.parameters)
    )
    assert np.linalg.norm(now - true) < 0.01 * np.linalg.norm(prior - true)
    assert found.estimate.satisfies == "consistent"
    assert (found.rmse < 0.02 * found.rmse_prior).all()
    if drives is not None:
        np.testing.assert_allclose(found.drives[1:], drives[1:], rtol=0.01, atol=0.01)
        turret = found.estimate.parameters["turret"], rig.prior["turret"]
        sums = [body.inertia[2, 2] + rotor for body, rotor in zip(turret, (found.drives[0, 0], drives[0, 0]))]
        assert sums[0] == pytest.approx(sums[1], rel=0.05)


def test_parameters_without_effect_stay_at_the_prior(tmp_path: Path) -> None:
    """The base link does not move, and the turret's mass on its own axis has no effect."""
    rig = arm(tmp_path)
    found = identify_fixed_base(FixedBaseRobot(with_wrong_masses(rig)), [recorded(FixedBaseRobot(rig), DRIVES)])
    ratios = {one.links: one.ratio for one in found.determined if one.kind == MASS_KIND}
    assert min(ratios[("base",)], ratios[("turret",)]) > 0.97
    assert all(one.source == TABLES for one in found.determined if one.links == ("base",))
    assert np.array_equal(found.estimate.parameters.values[0], with_wrong_masses(rig).prior.values[0])


LATE = 0.2
"""[s]"""
ONE_REVERSED = np.array([1.0, -1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda trial: replace(trial, measured=-trial.measured), "all measurements have the wrong sign"),
        (lambda trial: replace(trial, measured=ONE_REVERSED * trial.measured), "of upper have the wrong sign"),
        (lambda trial: replace(trial, measured=trial.measured[:, [2, 1, 0, 3]]), "fore and turret are exchanged"),
        (lambda trial: replace(trial, measured=1e3 * trial.measured), "in N mm"),
        (lambda trial: replace(trial, y=np.degrees(trial.y)), "in degrees, not in radians"),
        (lambda trial: replace(trial, y=ONE_REVERSED * trial.y), "the angle of upper has the wrong sign"),
        (lambda trial: replace(trial, times=trial.times + LATE, y=_earlier(trial)), "0.20 s too late"),
        (
            lambda trial: replace(trial, measured=trial.measured + 15.0 * (ONE_REVERSED < 0.0)),
            "constants .upper: about",
        ),
    ],
)
def test_wrong_measurements_are_refused_with_their_cause(
    tmp_path: Path, change: Callable[[FixedBaseTrial], FixedBaseTrial], cause: str
) -> None:
    """Signs, columns, units, clocks and constants that are wrong are named, although the prior's masses are too."""
    rig = arm(tmp_path)
    wrong = change(recorded(FixedBaseRobot(rig, drives=False)))
    with pytest.raises(InvalidValue, match=f"trial 'swings': .*{cause}"):
        identify_fixed_base(FixedBaseRobot(with_wrong_masses(rig), drives=False), [wrong])


def _earlier(trial: FixedBaseTrial) -> np.ndarray:
    """Coordinates at the times of a trial's measurements if these are late."""
    return np.column_stack([np.interp(trial.times + LATE, trial.times, column) for column in trial.y.T])


def test_motor_torques_are_not_taken_for_torques_behind_the_drives(tmp_path: Path) -> None:
    """Friction in torques that were said to be measured behind the drives is named, with the option."""
    rig = arm(tmp_path)
    with pytest.raises(InvalidValue, match="leave out --no-drives"):
        identify_fixed_base(FixedBaseRobot(rig, drives=False), [recorded(FixedBaseRobot(rig), DRIVES)])


def test_suspicious_measurements_are_noted(tmp_path: Path) -> None:
    """What is not certain is no reason to refuse: torques far too small, an offset larger than friction."""
    rig = arm(tmp_path)
    trial = recorded(FixedBaseRobot(rig), DRIVES)
    small = identify_fixed_base(FixedBaseRobot(rig), [replace(trial, measured=0.01 * trial.measured)])
    assert any("100 times too small" in note for note in small.notes)
    shifted = identify_fixed_base(FixedBaseRobot(rig), [replace(trial, measured=trial.measured + 9.0 * np.eye(4)[0])])
    assert any("offset above the Coulomb friction of turret" in note for note in shifted.notes)


def test_a_drive_that_moves_two_joints_is_found(tmp_path: Path) -> None:
    """Its terms are added with a note, are the true ones, and are stored with the result; two drives have none."""
    rig = arm(tmp_path)
    truth = FixedBaseRobot(rig, coupled=(("upper", "fore", 1),))
    trial = recorded(truth, np.vstack([DRIVES, [0.15, 2.0, 6.0, 5.0]]))
    found = identify_fixed_base(FixedBaseRobot(rig), [trial])
    assert found.robot.coupled == truth.coupled
    assert "one drive moves upper and fore: its terms were added" in found.notes
    np.testing.assert_allclose(found.drives[-1], [0.15, 2.0, 6.0, 5.0], rtol=0.03)
    write_result(found, ["swings"], tmp_path / "found")
    with (tmp_path / "found" / "drives.csv").open() as stream:
        assert [row["joint"] for row in csv.DictReader(stream)][-4:] == ["upper and fore"] * 4
    assert identify_fixed_base(FixedBaseRobot(rig), [recorded(FixedBaseRobot(rig), DRIVES)]).robot.coupled == ()


def test_unusable_trials_are_refused(tmp_path: Path) -> None:
    """No trial, other joints, a joint that never moves."""
    rig = arm(tmp_path)
    bench = FixedBaseRobot(rig)
    trial = recorded(bench, DRIVES)
    with pytest.raises(InvalidValue, match="no trial"):
        identify_fixed_base(bench, [])
    with pytest.raises(InvalidValue, match="3 coordinates"):
        identify_fixed_base(bench, [FixedBaseTrial("few", trial.times, trial.y[:, :3], trial.measured)])
    still = trial.y.copy()
    still[:, 2] = 0.4
    with pytest.raises(InvalidValue, match="'fore' moves too little"):
        identify_fixed_base(
            bench, [FixedBaseTrial("still", trial.times, still, trial.measured)], FixedBaseOptions(preset=None)
        )


def written(folder: Path, trial: FixedBaseTrial, bench: FixedBaseRobot) -> tuple[Path, Path]:
    """A trial as two tables, angles named after joints, torques after links."""
    joints = [joint.name for joint in bench.rig.joints[1:]]
    units = ["m" if slide else "rad" for slide in bench.is_prismatic]
    angles, torques = folder / "run_angles.csv", folder / "run_torques.csv"
    write_table(angles, trial.times, [f"{n} [{u}]" for n, u in zip(joints, units)], trial.y)
    forces = ["N" if slide else "N m" for slide in bench.is_prismatic]
    write_table(torques, trial.times, [f"{n} [{u}]" for n, u in zip(bench.names, forces)], trial.measured)
    return angles, torques


def test_files_are_read_as_written(tmp_path: Path) -> None:
    """A trial written as tables is read as it was."""
    bench = FixedBaseRobot(arm(tmp_path))
    trial = recorded(bench, DRIVES)
    found = read_trial(bench, *written(tmp_path, trial, bench))
    np.testing.assert_allclose(found.y, trial.y, atol=1e-9)
    np.testing.assert_allclose(found.measured, trial.measured, atol=1e-6)


def test_joints_without_a_column_are_locked(tmp_path: Path) -> None:
    """One warning names them all; a table with an unknown column may be misspelt, so that none is locked."""
    bench = FixedBaseRobot(arm(tmp_path))
    angles, _ = written(tmp_path, recorded(bench, DRIVES), bench)
    rows = [line.split(",") for line in angles.read_text().splitlines()]
    angles.write_text("\n".join(",".join(row[:3]) for row in rows))
    warnings: list[str] = []
    assert lock_joints_without_column(bench, angles, warnings.append).names == ("turret", "upper")
    assert warnings == ["run_angles.csv: joints without a column are fixed: bend, reach"]
    angles.write_text("\n".join([",".join([*rows[0][:3], "bent [rad]"]), *(",".join(row[:4]) for row in rows[1:])]))
    assert lock_joints_without_column(bench, angles, warnings.append) is bench


def test_the_base_sensor_is_read_in_the_base_links_axes(tmp_path: Path) -> None:
    """A wrench in world axes about the root's origin is rotated into the mounted root's axes."""
    rig = arm(tmp_path)
    bench = FixedBaseRobot(rig, BASE, mount=np.array([np.sin(0.3), 0.0, 0.0, np.cos(0.3)]))
    trial = recorded(bench)
    angles, _ = written(tmp_path, recorded(FixedBaseRobot(rig), DRIVES), FixedBaseRobot(rig))
    c, s = np.cos(0.6), np.sin(0.6)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    world = np.concatenate([trial.measured[:, :3] @ turn.T, trial.measured[:, 3:] @ turn.T], axis=1)
    write_wrenches_csv(tmp_path / "sensor.csv", Wrenches(trial.times, ("sensor",), world[:, None]))
    found = read_trial(bench, angles, tmp_path / "sensor.csv")
    np.testing.assert_allclose(found.measured, trial.measured, atol=1e-6)


def test_bad_files(tmp_path: Path) -> None:
    """Each fault is reported with its file and a remedy."""
    bench = FixedBaseRobot(arm(tmp_path))
    trial = recorded(bench, DRIVES)
    angles, torques = written(tmp_path, trial, bench)
    text = torques.read_text()
    for wrong, words in (
        (text.replace("fore [N m]", "elbow [N m]"), "no column for joint 'bend'"),
        (text.replace("fore [N m]", "fore [rad]"), "neither a torque"),
        (_shifted(text), "runs from"),
    ):
        torques.write_text(wrong)
        with pytest.raises(InputError, match=words):
            read_trial(bench, angles, torques)
    lines = text.splitlines()
    cells = lines[40].split(",")
    cells[2] = ""
    lines[40] = ",".join(cells)
    torques.write_text("\n".join(lines))
    with pytest.raises(InputError, match="missing values"):
        read_trial(bench, angles, torques)


def _shifted(text: str) -> str:
    rows = [line.split(",") for line in text.splitlines()]
    return "\n".join([",".join(rows[0]), *(",".join([str(float(row[0]) + 100.0), *row[1:]]) for row in rows[1:])])


def test_both_verbs_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A motion is found and written; recordings become a result that Blender reads, a URDF and the drives' table."""
    rig = arm(tmp_path)
    quiet = ["--progress", "none"]
    moved = tmp_path / "moved"
    assert main(["excite", str(tmp_path / "arm.urdf"), "--seconds", "2", "--output", str(moved), *quiet]) == 0
    assert "condition number" in capsys.readouterr().out
    assert {file.name for file in moved.iterdir()} >= {
        "exciting.csv",
        "exciting.motion.npz",
        "rig.json",
        "summary.json",
    }
    bench = FixedBaseRobot(rig)
    angles, torques = written(tmp_path, recorded(bench, DRIVES), bench)
    output = tmp_path / "found"
    words = ["identify-fixed-base", str(tmp_path / "arm.urdf"), "--angles", str(angles), "--torques", str(torques)]
    assert main([*words, "--output", str(output), *quiet]) == 0
    assert "residual" in capsys.readouterr().out
    result = RESULT.read(output / "result.json")
    assert result.prior.links == rig.links
    with (output / "drives.csv").open() as stream:
        table = {(row["joint"], row["parameter"]): float(row["value"]) for row in csv.DictReader(stream)}
    assert table["upper", "viscous friction"] == pytest.approx(4.0, rel=0.05)
    assert main([*words, str(torques), "--output", str(tmp_path / "no"), *quiet]) == 2
    assert "pairs" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_the_truth_explains_an_unused_trial(tmp_path: Path) -> None:
    """On exact data true inertials and drives leave nothing; with an offset of a drive wrong by d the residual is d."""
    rig = arm(tmp_path)
    bench, trial = FixedBaseRobot(rig), recorded(FixedBaseRobot(rig), DRIVES)
    wrong = DRIVES.copy()
    wrong[:, 3] += [0.7, 0.0, 0.3, 0.0]
    (found,) = compare_fixed_base(
        bench,
        [trial],
        FixedBaseModel(rig.prior, DRIVES),
        FixedBaseModel(rig.prior, wrong),
        FixedBaseOptions(preset=None),
    )
    size = trial.measured.std(axis=0)
    assert (found.identified < 0.02 * size).all()
    np.testing.assert_allclose(found.prior[[0, 2]], [0.7, 0.3], rtol=0.02)
    with pytest.raises(InvalidValue, match="drives of 3 joints, the robot has 4"):
        compare_fixed_base(bench, [trial], FixedBaseModel(rig.prior, DRIVES[:3]), FixedBaseModel(rig.prior, DRIVES))


@pytest.mark.parametrize("drives", [True, False])
def test_a_result_is_compared_from_its_folder(drives: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`compare` gives the residuals of `identify-fixed-base` on the same trial and refuses files without a pair."""
    rig = arm(tmp_path)
    bench = FixedBaseRobot(rig, drives=drives)
    own = DRIVES if drives else None
    angles, torques = written(tmp_path, recorded(bench, own), bench)
    output, quiet = tmp_path / "found", ["--progress", "none"]
    words = ["identify-fixed-base", str(tmp_path / "arm.urdf"), "--angles", str(angles), "--torques", str(torques)]
    assert main([*words, *([] if drives else ["--no-drives"]), "--output", str(output), *quiet]) == 0
    capsys.readouterr()
    table = tmp_path / "table.csv"
    compared = ["compare", str(output), str(torques), str(angles)]
    assert main([*compared, "--output", str(table), *quiet]) == 0
    assert "used" in capsys.readouterr().out
    rmse = np.array(RESULT.read(output / "result.json").details["rmse"])
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["row"] for row in rows] == list(bench.names)
    np.testing.assert_allclose([float(row["RMSE identified"]) for row in rows], rmse, rtol=1e-3, atol=1e-4)
    assert main([*compared, str(torques), *quiet]) == 2
    assert "1 files of joint coordinates for 2 of torques" in capsys.readouterr().err


REST = 'ixz="0" iyy="0.01" iyz="0" izz'


@pytest.mark.parametrize(
    ("wrong", "right", "link", "words"),
    [
        ('<mass value="3.0"/>', '<mass value="0"/>', "base", "none, as they have no mass"),
        ('izz="0.01"', 'izz="0.9"', "turret", "nearest consistent"),
        (
            f'ixx="0.01" ixy="0.001" {REST}="0.01"',
            f'ixx="0" ixy="0" {REST.replace(".01", "")}="0"',
            "rod",
            "box of the",
        ),
    ],
)
def test_priors_that_no_body_has_are_replaced(tmp_path: Path, wrong: str, right: str, link: str, words: str) -> None:
    """A root without mass keeps none; a violated triangle inequality and a point mass become the nearest body; each
    with a note, and the torques are explained as if the file were right."""
    trial = recorded(FixedBaseRobot(arm(tmp_path)), DRIVES)
    head, name, tail = (tmp_path / "arm.urdf").read_text().partition(f'<link name="{link}">')
    assert wrong in tail
    (tmp_path / "wrong.urdf").write_text(head + name + tail.replace(wrong, right, 1))
    found = identify_fixed_base(FixedBaseRobot(from_urdf(tmp_path / "wrong.urdf")), [trial])
    assert any(note.startswith(f"{link}:") and words in note for note in found.notes)
    assert found.estimate.satisfies == "consistent"
    assert (found.rmse < 0.05 * trial.measured.std(axis=0)).all()
    massless = found.estimate.parameters.masses == 0.0
    assert massless.sum() == (link == "base")
    assert np.isfinite(found.std.com_std).all()
