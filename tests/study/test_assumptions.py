"""Unspecified data are refused or listed as assumptions of the result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.demo.laboratory import PlateNoise, record_markers, record_plates, sole_centres
from solver.demo.motions import standing_posture, still_motion
from solver.demo.person import SEX, simulate_person
from solver.dynamics import ground_wrench
from solver.rigs import human
from solver.signals.trial import Recording
from solver.study.subject_calibration import calibrate
from solver.study.values import Poses, TrialRecord
from solver.values.motion import Markers
from solver.values.wrenches import Wrenches
from solver.workflow.pipeline import identify, identify_motions, track


@pytest.fixture(scope="module")
def standing() -> Recording:
    """Some frames of a simulated person who stands still."""
    person = simulate_person(1, trials=())
    motion, generator = person.motions["static"].part(0, 60), np.random.default_rng(0)
    soles = sole_centres(person.rig, motion)
    plates = record_plates(person.rig, motion, person.truth, soles, noise=PlateNoise(generator))
    return Recording("static", record_markers(person.rig, motion, person.placements, generator), plates)


def test_a_new_subject_needs_its_sex() -> None:
    """The prior's tables differ by sex, which no recording contains: without it there is no identification."""
    markers = Markers(np.arange(30) / 100.0, ("C7",), np.zeros((30, 1, 3)))
    with pytest.raises(InvalidValue, match=r"female.*male"):
        identify([Recording("standing", markers)])


def test_a_calibration_lists_what_it_assumed(standing: Recording) -> None:
    """Height, mass and marker set are listed as assumptions exactly if they were not given."""
    complete = calibrate([standing], sex=SEX, height=1.76, mass=71.0, marker_set="plug_in_gait")
    assert complete.assumptions == ()
    found = calibrate([standing], sex=SEX)
    for words in (f"height {found.height:.3f} m", f"marker set {found.marker_set}", "estimated from the plates"):
        assert sum(words in text for text in found.assumptions) == 1, found.assumptions
    guessed = calibrate([Recording("static", standing.markers)], sex=SEX, height=1.76)
    assert any("70.0 kg" in text and "default" in text for text in guessed.assumptions)
    plates = standing.wrenches
    assert plates is not None
    kilonewtons = replace(standing, wrenches=replace(plates, values=1e-3 * plates.values))
    light = calibrate([kilonewtons], sex=SEX, height=1.76)  # the plate checks report the unit
    assert any("70.0 kg" in text and "no plates weigh the person" in text for text in light.assumptions)


def test_a_warning_about_several_trials_is_one_sentence(standing: Recording) -> None:
    """The same warning about several trials is given once, with their names."""
    body = calibrate([standing], sex=SEX, height=1.76, mass=71.0)
    markers = standing.markers
    strange = Markers(
        markers.times, (*markers.names, "wand"), np.concatenate([markers.positions, markers.positions[:, :1]], axis=1)
    )
    study = track([replace(standing, name=name, markers=strange) for name in ("walk", "squat")], body)
    about = [text for text in study.warnings if "wand" in text]
    assert len(about) == 1
    assert about[0].startswith("walk, squat: ")


def test_a_child_is_told_whose_tables_the_prior_is() -> None:
    """The prior of a child is that of adults, which is a warning; a stated mass is no assumption."""
    rig = human(1.2, 24.0, "male")
    still = still_motion(rig, standing_posture(rig, ()), np.arange(200) / 100.0)
    noise = np.random.default_rng(0).standard_normal((200, 6))
    plates = Wrenches(still.times, ("plate",), (ground_wrench(rig, still, rig.prior) + noise)[:, None])
    record = TrialRecord(Recording("stands", wrenches=plates), given=Poses(still.times, still.q, np.ones(200, bool)))
    found = identify_motions(rig, [record], stated_mass=24.0)
    assert any("child's" in text and "of adults" in text for text in found.warnings)
    assert not any("that the plates weigh" in text for text in found.assumptions)
