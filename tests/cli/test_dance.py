"""The verb that designs dances."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import Cancelled, InvalidValue
from solver.cli import main, parser
from solver.cli.dance import dance_options, run
from solver.cli.exit_codes import WRONG_INPUT
from solver.cli.settings_file import SETTINGS
from solver.dance.design.body_parts import body_parts
from solver.dance.design.dance import DESIGNED_DANCE
from solver.dance.workflows.design import design_dance
from solver.formats.opensim_storage import read_storage
from solver.options.dances import DanceOptions
from solver.rigs import hoap3, hrp2, human
from solver.scene.dance_folder import SUMMARY_FILE
from solver.scene.motion_record import MOTION
from solver.scene.rig import read_rig
from solver.scene.summary import SUMMARY
from solver.skeleton.rig import Rig
from solver.storage.manifest import MANIFEST_FILE
from solver.values.shape import Shape

RIG = hoap3(torque="peak")
TINY = ("--postures", "both=1", "--effort", "0.1", "--knot-spacing", "0.4", "--workers", "1", "--progress", "none")
FILES = {
    "dance.npz", "dance.json", "dance.joints.csv", "dance.joints.mot", "dance.motion.npz", "rig.json", "report.txt",
    "summary.json",
}  # fmt: skip


def test_one_run_writes_one_dance_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Archive, table, storage and scene file hold the same motion, the report says that it is feasible, and the exit
    code that phrases on both feet alone do not determine every link."""
    out = tmp_path / "out"
    assert main(["dance", "hoap3", *TINY, "--rate", "20", "--output", str(out)]) == 1
    assert {path.name for path in out.iterdir()} == {*FILES, MANIFEST_FILE, SETTINGS}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    dance = DESIGNED_DANCE.read(out / "dance.npz")
    assert dance.complete
    table = np.loadtxt(out / "dance.joints.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(table[:, 1:22], dance.sample(RIG, 20.0).q[:, 7:], atol=1e-8)
    assert len(read_storage(out / "dance.joints.mot").times) == len(table)
    assert MOTION.read(out / "dance.motion.npz").scene.times[-1] == pytest.approx(dance.duration, abs=0.02)
    assert tuple(read_rig(out / "rig.json").links) == RIG.links
    tree = json.loads((out / "dance.json").read_text(encoding="utf-8"))
    assert not tree["complete"]
    assert {tuple(margin) for margin in tree["margins"]} == {("check", "unit", "worst", "item", "time")}
    assert min(margin["worst"] for margin in tree["margins"] if margin["worst"] is not None) > -1e-4
    report = capsys.readouterr().out
    assert "Worst margins" in report
    assert "Determined by the data: total mass" in report
    assert "NOT DETERMINED: the dance does not determine" in report
    summary = SUMMARY.read(out / SUMMARY_FILE)
    assert summary.feasible
    assert summary.duration == pytest.approx(dance.duration)
    assert {key.role for key in summary.keys} == {"preferred"}
    assert [key.time for key in summary.keys] == pytest.approx(list(dance.starts))  # every rest
    assert {key.name for key in summary.keys} == {segment.name for segment in dance.segments}
    assert {strip.patch for strip in summary.strips} == {patch.name for patch in RIG.contacts}
    planted = sum(strip.stop - strip.start for strip in summary.strips)
    assert planted == pytest.approx(sum(s.duration * len(s.anchors) for s in dance.segments))
    assert set(summary.excitation) == set(summary.deviation) == set(RIG.links)


def test_a_dance_is_designed_on_feet_alone_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A patch besides the soles gets no strip, and the notes name it."""
    out = tmp_path / "out"
    link = RIG.links[-1]
    assert main(["dance", "hoap3", *TINY, "--patches", f"{link}=0,0,0,0.02", "--output", str(out)]) == 1
    summary = SUMMARY.read(out / SUMMARY_FILE)
    assert {strip.patch for strip in summary.strips} == {patch.name for patch in RIG.contacts}
    assert any(f"designed on feet alone: {link}_patch" in note for note in summary.notes)
    assert "designed on feet alone" in capsys.readouterr().out


def test_a_single_posture_is_not_written_as_a_dance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One posture without a mirror image leaves links without any information: it is refused, with what helps."""
    words = ["dance", "hoap3", *TINY, "--postures", "right_forward=1", "--output", str(tmp_path / "out")]
    assert main(words) == WRONG_INPUT
    said = capsys.readouterr().err
    assert "a single posture is no dance: the dance does not determine waist" in said
    assert "--postures" in said
    assert list(tmp_path.iterdir()) == []


def test_stopped_in_the_middle_it_writes_what_is_done(tmp_path: Path) -> None:
    """Cancelled after its first phrase, the verb writes a partial dance that says so, and reports the stop; not
    into a folder of earlier results, which it leaves as they are."""

    def stop(fraction: float, message: str) -> None:
        if message.startswith("phrases"):
            raise Cancelled("enough")

    options = parser().parse_args(["dance", "hoap3", *TINY, "--output", str(tmp_path / "out")])
    with pytest.raises(Cancelled, match="a partial dance of 2 phrases was written"):
        run(options, stop)
    assert not DESIGNED_DANCE.read(tmp_path / "out" / "dance.npz").complete
    assert (tmp_path / "out" / "report.txt").read_text(encoding="utf-8").startswith("PARTIAL")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(Cancelled, match=r"nothing was written: .*out keeps the results of an earlier run"):
        run(options, stop)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def _without_feet() -> Rig:
    return replace(RIG, contacts=())


def _without_torque_limits() -> Rig:
    torque = np.array(RIG.limits.torque)
    torque[3] = np.inf
    return replace(RIG, limits=replace(RIG.limits, torque=torque))


def _stuck() -> Rig:
    lower = np.array(RIG.limits.lower)
    lower[3] = RIG.limits.upper[3]
    return replace(RIG, limits=replace(RIG.limits, lower=lower))


def _on_a_line() -> Rig:
    flat = [replace(patch, vertices=patch.vertices * [1.0, 0.0, 1.0]) for patch in RIG.contacts]
    return replace(RIG, contacts=tuple(flat))


def _always_colliding() -> Rig:
    ball = Shape("right_shank", "sphere", (0.12,), np.eye(3), np.zeros(3))
    return replace(RIG, shapes=(*RIG.shapes, ball))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (_without_feet, "no contact patches"),
        (_without_torque_limits, "no torque limit for right_elbow_yaw"),
        (_stuck, "right elbow yaw cannot turn"),
        (_on_a_line, "no area"),
        (_always_colliding, r"self-collision \([^)]*right_shank[^)]*\) fails in every one.*--may-touch \S*right_shank"),
    ],
)
def test_rigs_that_cannot_dance_are_refused(made: object, words: str) -> None:
    """No feet or area, no range or torque limit, a collision everywhere: one error each, which names the culprit."""
    with pytest.raises(InvalidValue, match=words):
        design_dance(made(), DanceOptions(postures={"both": 1}, pool=8, workers=1))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--postures", "handstand=3"], "handstand"),
        (["--postures", "2.5"], "whole number"),
        (["--postures", "0"], "at least one"),
        (["--rate", "0"], "rate"),
        (["--shrink", "1"], "shrink"),
    ],
)
def test_senseless_wishes_are_one_line(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong wish ends with exit code 2, one line that names it, and no folder."""
    assert main(["dance", "hoap3", "--progress", "none", *words, "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1
    assert said in error[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rig", [RIG, hrp2(), human(1.7, 65.0, "female")], ids=lambda rig: rig.name)
def test_every_link_belongs_to_one_part(rig: Rig) -> None:
    """Arms, legs and trunk cover the body once, and left and right are mirror images."""
    parts = body_parts(rig)
    assert sorted(link for links in parts.values() for link in links) == sorted(rig.links)
    for limb in ("arm", "leg"):
        assert [link.replace("left", "right") for link in parts[f"left_{limb}"]] == list(parts[f"right_{limb}"])


def test_the_number_of_postures_is_shared_among_the_feet() -> None:
    """Sixty-one phrases are half on both feet and a quarter on each."""
    options = parser().parse_args(["dance", "hoap3", "--postures", "61", "--output", "out"])
    assert dance_options(options, RIG).postures == {"both": 31, "left": 15, "right": 15}
    assert (
        dance_options(parser().parse_args(["dance", "hoap3", "--effort", "0.2", "--output", "out"]), RIG).seconds
        == 120.0
    )


@pytest.mark.parametrize(
    ("rig", "words", "chosen"),
    [
        (RIG, (), ("sigma", 60, "expert", 0.16, np.inf)),
        (hrp2(), ("--skill", "beginner"), ("sigma", 60, "beginner", 0.16, np.inf)),
        (human(1.7, 65.0, "female"), (), ("sigma", 8, "intermediate", 0.7, np.inf)),
    ],
)
def test_what_is_not_said_is_what_identifies_best(rig: Rig, words: tuple[str, ...], chosen: tuple[object, ...]) -> None:
    """Robots dance at their own speed, people at theirs; what is said counts first."""
    found = dance_options(parser().parse_args(["dance", "hoap3", *words, "--output", "out"]), rig)
    assert ((found.objective, sum(found.postures.values()), found.skill, found.knot_spacing, found.speed)) == chosen
