"""`retarget`: a dance of one robot danced by another, checked, and written as others read it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.cli import main
from solver.rigs import hoap3
from solver.scene.motion_record import MOTION, motion_record
from solver.tracking.bone_mapping import MAPPING
from solver.values.motion import Motion
from tests.tracking.test_retargeting import person, squat


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated: a person's squat as a motion file."""
    path = tmp_path_factory.mktemp("recorded") / "squat.motion.npz"
    MOTION.write(path, motion_record("squat", person(), squat(person(), seconds=1.5)))
    return path


def test_every_file_tells_the_same_motion(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The motion file, the laboratories' table and the bodies' states agree, and the verdict is printed."""
    output = tmp_path / "out"
    assert main(["retarget", str(recorded), "hoap3", "--no-repair", "--output", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "as followed" in printed
    assert "right_thigh" in printed
    record = MOTION.read(output / "dance.motion.npz")
    table = np.loadtxt(output / "squat_50hz.csv", delimiter=",")
    assert table.shape == (len(record), 7 + 21)
    assert np.abs(table[:, 7:] - record.motion.q[:, 7:]).max() < 1e-6
    states = np.load(output / "squat.bodies.npz")
    assert states["fps"].item() == pytest.approx(50.0)
    assert tuple(states["joint_names"]) == hoap3().links[1:]
    assert np.abs(states["body_pos_w"][:, 0] - table[:, :3]).max() < 1e-6
    assert np.abs(np.abs(states["body_quat_w"][:, 0]) - np.abs(table[:, [6, 3, 4, 5]])).max() < 1e-6
    speed = np.gradient(states["body_pos_w"], record.motion.times, axis=0)
    assert np.abs(speed - states["body_lin_vel_w"])[2:-2].max() < 0.02
    assert (output / "squat.joints.mot").exists()
    assert MAPPING.read(output / "mapping.json").foot_segments == {"right_sole": "right_foot", "left_sole": "left_foot"}


def test_a_mapping_can_be_corrected_and_named(recorded: Path, tmp_path: Path) -> None:
    """What was written is read again, and a change in it is a change of the motion."""
    main(["retarget", str(recorded), "hoap3", "--no-repair", "--output", str(tmp_path / "one")])
    text = (tmp_path / "one" / "mapping.json").read_text("utf-8")
    mapping = MAPPING.read(tmp_path / "one" / "mapping.json")
    (tmp_path / "wide.json").write_text(
        text.replace(f'"foot_widening": {mapping.foot_widening}', '"foot_widening": 0.05'), "utf-8"
    )
    arguments = ["retarget", str(recorded), "hoap3", "--no-repair", "--mapping", str(tmp_path / "wide.json")]
    assert main([*arguments, "--output", str(tmp_path / "two")]) == 0
    apart = []
    for name in ("one", "two"):
        states = np.load(tmp_path / name / "squat.bodies.npz")
        feet = [list(states["body_names"]).index(f"{side}_foot") for side in ("left", "right")]
        apart.append(float(np.linalg.norm(np.subtract(*states["body_pos_w"][0, feet]))))
    assert apart[1] - apart[0] == pytest.approx(2.0 * (0.05 - mapping.foot_widening), abs=1e-3)


@pytest.mark.parametrize("target", ["human", "nobody"])
def test_a_target_that_is_no_rig_is_refused(recorded: Path, target: str, tmp_path: Path) -> None:
    """One line, no output."""
    assert main(["retarget", str(recorded), target, "--output", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_a_motion_has_no_axes_to_state(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--up`` is refused for a motion of a rig, which is read without it, and nothing is written."""
    assert (
        main(["retarget", str(recorded), "hoap3", "--no-repair", "--up", "y", "--output", str(tmp_path / "out")]) == 2
    )
    assert "--up would change nothing" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_motion_too_coarse_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five samples a second tell no motion that a robot could follow."""
    source = squat(person(), seconds=2.0)
    few = Motion(source.times[::10], source.q[::10], source.v[::10], source.a[::10])
    MOTION.write(tmp_path / "few.motion.npz", motion_record("few", person(), few))
    arguments = ["retarget", str(tmp_path / "few.motion.npz"), "hoap3", "--output", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "cuts off at" in capsys.readouterr().err
