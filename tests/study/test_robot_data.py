"""A robot's own data from files to masses: a simulated HOAP-3 performs a designed dance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.cli import main
from solver.dance.workflows.design import design_dance
from solver.dance.workflows.export import write_motion_table
from solver.demo.run import inertial_error
from solver.demo.truth import perturb_inertials
from solver.dynamics import ground_wrench, link_motions
from solver.formats.csv_tables import write_wrenches_csv
from solver.options.dances import DanceOptions
from solver.options.study import Settings
from solver.scene.result import RESULT
from solver.skeleton.rig import Rig
from solver.study.recordings import load
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from solver.workflow.pipeline import identify

RATE = 100.0
NOISE = np.array([0.2, 0.2, 0.2, 0.02, 0.02, 0.02])
"""[N], [N m] of a small robot's force plate."""
QUICK = Settings(no_cross_validation=True)


@pytest.fixture(scope="module")
def truth(strong_robot: Rig) -> InertialParameters:
    """True inertials that differ from the prior."""
    return perturb_inertials(strong_robot, 3)


@pytest.fixture(scope="module")
def dance(strong_robot: Rig) -> Motion:
    """A designed dance on both feet."""
    options = DanceOptions(postures={"both": 6}, pool=20, rounds=1, hold=0.2, workers=1)
    return design_dance(strong_robot, options).sample(strong_robot, RATE)


def plate(rig: Rig, motion: Motion, truth: InertialParameters, seed: int) -> np.ndarray:
    """What one plate measures (N, 6) about the world origin, with noise."""
    wrench = ground_wrench(rig, motion, truth)
    return wrench + NOISE * np.random.default_rng(seed).standard_normal(wrench.shape)


@pytest.fixture(scope="module")
def files(
    strong_robot: Rig, truth: InertialParameters, dance: Motion, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Files that `export` writes of the dance, and the forces of its performance."""
    folder = tmp_path_factory.mktemp("robot")
    write_motion_table(strong_robot, dance, folder / "dance.mot")
    values = plate(strong_robot, dance, truth, 1)
    write_wrenches_csv(folder / "dance_wrenches.csv", Wrenches(dance.times, ("plate",), values[:, None]))
    (folder / "encoders").mkdir()
    write_motion_table(strong_robot, dance, folder / "encoders" / "robot_angles.csv")
    sole = next(contact for contact in strong_robot.contacts if contact.name == "right_sole")
    links = link_motions(strong_robot, dance.part(0, 2))
    foot = strong_robot.index(sole.link)
    middle = links.rotation[:, :, foot, 0] @ sole.centroid + links.position[:, foot, 0]
    values[:, 3:] -= np.cross(middle, values[:, :3])
    forces = Wrenches(dance.times, ("plate",), values[:, None])
    write_wrenches_csv(folder / "encoders" / "robot_wrenches.csv", forces)
    return folder


def test_exported_motion_is_read_again(strong_robot: Rig, truth: InertialParameters, files: Path) -> None:
    """Masses identified from our own export are nearer to the truth than the prior, and assumptions are listed."""
    (recording,) = load([files / "dance.mot", files / "dance_wrenches.csv"])
    study = identify([recording], rig=strong_robot, settings=QUICK)
    found = study.identification
    assert found.frames > 500
    assert study.mass.mass == pytest.approx(truth.total_mass, rel=0.01)
    assert inertial_error(truth, found.parameters).mass < 0.8 * inertial_error(truth, found.prior).mass
    assert study.calibration is None
    assert any("left and right" in text for text in study.assumptions)


def test_encoders_alone_need_the_standing_sole(strong_robot: Rig, files: Path) -> None:
    """Joint angles with the standing sole give the same masses as joint angles with the root's pose."""
    whole = identify(load([files / "dance.mot", files / "dance_wrenches.csv"]), rig=strong_robot, settings=QUICK)
    recordings = load([files / "encoders"])
    assert [r.name for r in recordings] == ["robot"]
    settings = Settings(no_cross_validation=True, planted_foot="right_sole")
    found = identify(recordings, rig=strong_robot, settings=settings)
    masses = found.identification.parameters.masses
    assert masses == pytest.approx(whole.identification.parameters.masses, abs=2e-3)
    assert any("right_sole was assumed to stay still" in text for text in found.assumptions)


def test_a_robot_by_the_command_line(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """identify, compare and track take a robot's files and its rig, and the results serve Blender."""
    named = [str(files / "dance.mot"), str(files / "dance_wrenches.csv")]
    results = tmp_path / "results"
    quick = ["--no-cross-validation", "--progress", "none"]
    assert main(["identify", *named, "--rig", "hoap3", *quick, "--output", str(results)]) == 0
    assert {"report.html", "result.json", "rig.json", "rig.urdf", "dance.motion.npz"} <= {
        path.name for path in results.iterdir()
    }
    assert RESULT.read(results / "result.json").details["assumed"]
    assert "assumed: base link" in capsys.readouterr().out
    assert main(["compare", str(results), *named, "--progress", "none"]) == 0
    assert "dance  used" in capsys.readouterr().out
    assert main(["track", named[0], "--rig", str(results / "rig.json"), "--output", str(tmp_path / "moved")]) == 0
    assert (tmp_path / "moved" / "dance.motion.npz").exists()
    assert main(["identify", *named, "--output", str(tmp_path / "no")]) == 2
    assert "rig" in capsys.readouterr().err
