"""The file of a motion: written and read without loss."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.differences import differences
from solver.base.errors import InputError, InvalidValue
from solver.dance.workflows.check import check
from solver.dance.workflows.export import export
from solver.dance.workflows.loading import load_authored_dance, load_authored_with_notes, load_dance
from solver.dance.workflows.repair import repair
from solver.feasibility import check_motion
from solver.options.checks import DANCE_CHECKS
from solver.rigs import human
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION, MotionRecord, motion_record
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from tests.dance.example_dances import arm_swing

FREE = {"joint angle", "joint speed", "self-collision"}
"""Checks that need not know which foot stands."""


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A person with her own masses."""
    person = human(1.68, 61.0, "female")
    return person.with_prior(person.prior.scaled(63.5))


@pytest.fixture(scope="module")
def motion(rig: Rig) -> Motion:
    """Swings of the arms."""
    return arm_swing(rig, 0.9, 0.8, swings=2).motion(100.0)


@pytest.fixture(scope="module")
def trial(motion: Motion) -> Trial:
    """The same with two plates, one of which has a gap."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(len(motion), 2, 6))
    wrenches = Wrenches(motion.times, ("left", "right"), values, rng.random((len(motion), 6)) > 0.1)
    return Trial("swings", motion, wrenches, rng.random(len(motion)) > 0.5, (("box", 3), ("chair", 0)))


@pytest.fixture(scope="module")
def recording(rig: Rig, motion: Motion, trial: Trial) -> MotionRecord:
    """What a study writes."""
    return motion_record("swings", rig, motion).with_trial(trial)


def test_nothing_is_lost(recording: MotionRecord, rig: Rig, trial: Trial, tmp_path: Path) -> None:
    """Rig, motion, wrenches, counted frames and drawn motion survive exactly, and so does the trial."""
    back = MOTION.read(MOTION.write(tmp_path / "swings.motion.npz", recording))
    assert differences(back, recording) == ()
    assert back.rig.prior.total_mass == rig.prior.total_mass
    assert differences(back.trial, trial) == ()


def test_a_dance_keeps_its_contacts(rig: Rig, tmp_path: Path) -> None:
    """Anchors, floor and checks of a dance survive exactly, and the check's result is the same."""
    keyed = arm_swing(rig, 0.9, 0.8)
    danced = motion_record("dance", rig, keyed.motion(60.0)).with_contacts(keyed.schedule, DANCE_CHECKS)
    path = MOTION.write(tmp_path / "dance.motion.npz", danced)
    assert differences(MOTION.read(path), danced) == ()
    verdict = check(path)
    assert verdict.checks.skipped == ()
    assert differences(verdict.checks, check_motion(rig, danced.motion, keyed.schedule, DANCE_CHECKS)) == ()


def test_a_scene_sees_the_same_poses_without_a_dynamics_library(
    recording: MotionRecord, rig: Rig, motion: Motion, tmp_path: Path
) -> None:
    """The drawn poses are those of the motion, and reading them loads no dynamics library."""
    path = MOTION.write(tmp_path / "swings.motion.npz", recording)
    assert differences(MOTION.read(path).scene, scene_motion(rig, motion)) == ()
    code = (
        "import sys; from solver.scene.motion_record import MOTION; MOTION.read(sys.argv[1]); "
        "sys.exit('pinocchio' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 0


def test_a_recording_without_soles_is_checked_in_part(
    recording: MotionRecord, rig: Rig, motion: Motion, tmp_path: Path
) -> None:
    """Checks that need no contacts equal those of the same motion; the others are listed."""
    alone = replace(rig, contacts=())
    MOTION.write(tmp_path / "swings.motion.npz", motion_record("swings", alone, motion))
    verdict = check(load_dance(tmp_path, "swings"))
    whole = check_motion(rig, motion, arm_swing(rig, 0.9, 0.8, swings=2).schedule)
    assert "no contacts were found" in verdict.report
    assert {margin.name for margin in verdict.checks.margins} == FREE
    for margin in verdict.checks.margins:
        assert differences(margin.values, whole.get_margin(margin.name).values) == ()
    left = {one.name for one in verdict.checks.skipped}
    assert left | FREE == {margin.name for margin in whole.margins} | {"flight"}
    assert left & FREE == set()
    assert "Not checked" in verdict.report
    assert all(one.messages.plural in verdict.report for one in verdict.checks.skipped)
    assert any("Not checked" in note for note in verdict.summary().notes)
    assert verdict.message.startswith("As far as it can be checked") or not verdict.feasible
    assert np.isnan(verdict.checks.torques).all()


def test_failures_of_a_recording_are_attributed(rig: Rig, motion: Motion) -> None:
    """Contacts are found, every check is made, and sliding feet are attributed to tracking error."""
    q = np.array(motion.q)
    q[:, 0] += np.linspace(0.0, 0.02, len(q))
    verdict = check(motion_record("slid", rig, Motion(motion.times, q, motion.v, motion.a)))
    assert verdict.checks.skipped == ()
    assert {attribution.check.name for attribution in verdict.attributions} == {
        margin.name for margin in verdict.checks.margins if margin.failed.any()
    }
    assert "Assumed: the contacts were found from its motion" in verdict.report
    assert "Attribution: planted feet: 100 % tracking error (a planted sole is up to" in verdict.report
    assert any(note.startswith("Attribution") for note in verdict.summary().notes)
    assert verdict.summary().strips


def test_a_motion_with_contacts_can_be_repaired(rig: Rig, tmp_path: Path) -> None:
    """A motion written for a scene is an editable dance with its samples, contacts and checks, without keys."""
    keyed = arm_swing(rig, 0.9, 0.8)
    danced = motion_record("swing", rig, keyed.motion(100.0)).with_contacts(keyed.schedule, DANCE_CHECKS)
    path = MOTION.write(tmp_path / "dance.motion.npz", danced)
    back = load_authored_dance(path)
    assert differences(back.samples.q, danced.motion.q) == ()
    assert differences(back.schedule, keyed.schedule) == ()
    assert (back.keys, back.checks, back.name) == ((), DANCE_CHECKS, "swing")
    answer = repair(path)
    assert answer.feasible
    assert answer.status in ("unchanged", "repaired")


def test_a_recording_is_exported_in_its_own_samples(recording: MotionRecord, tmp_path: Path) -> None:
    """A rate that would change its samples is refused."""
    path = MOTION.write(tmp_path / "swings.motion.npz", recording)
    assert differences(export(path, tmp_path / "swings.csv"), recording.motion) == ()
    with pytest.raises(InvalidValue, match="its own samples, 100 a second"):
        check(path, rate=500.0)


def test_a_recording_with_contacts_can_be_repaired(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    """Standing feet are planted in place; a rig without soles is refused with a remedy."""
    path = MOTION.write(tmp_path / "swings.motion.npz", motion_record("swings", rig, motion))
    keyed, notes = load_authored_with_notes(path)
    planted = arm_swing(rig, 0.9, 0.8, swings=2).schedule
    assert [set(phase.loaded) for phase in keyed.schedule.phases] == [set(planted.phases[0].loaded)]
    places = {anchor.patch: anchor.position for anchor in planted.phases[0].anchors}
    for anchor in keyed.schedule.phases[0].anchors:
        np.testing.assert_allclose(anchor.position, places[anchor.patch], atol=1e-6)
    assert notes[0] == "the contacts were found from its motion"
    alone = MOTION.write(tmp_path / "alone.motion.npz", motion_record("alone", replace(rig, contacts=()), motion))
    with pytest.raises(InputError, match=r"contacts cannot be found.*contact strip"):
        load_authored_dance(alone)


def test_inconsistent_parts_are_refused(recording: MotionRecord, rig: Rig, motion: Motion) -> None:
    """Poses at other times, and wrenches of another motion, are refused."""
    half = motion_record("half", rig, motion.part(0, len(motion) // 2))
    with pytest.raises(InvalidValue, match="other times"):
        MotionRecord("swings", rig, motion, half.scene)
    with pytest.raises(InvalidValue, match="share their times"):
        half.with_trial(recording.trial)
