"""Laws of trials whose plates read another mass than the body's."""

from __future__ import annotations

import pytest

from solver.base.errors import InvalidValue
from solver.calibration.body_mass import MassEstimate, MassGroup
from solver.calibration.trial_mass import TrialMass
from solver.study.plates.finding import Action
from solver.study.plates.plausibility import check_mass, check_readings, report_readings
from solver.study.rough_mass import MassReading


def readings(*kilograms: float) -> list[MassReading]:
    """Readings of trials 0, 1 ..., of which the first stands."""
    return [MassReading(str(k), mass, 0.02, k == 0) for k, mass in enumerate(kilograms)]


def test_the_trial_that_differs_is_left_out() -> None:
    """Of three trials the one that reads more than the others is left out, also if it is the standing one."""
    assert [finding.trials for finding in check_readings(readings(60.0, 60.5, 75.0), None, False)] == [("2",)]
    (found,) = check_readings(readings(50.0, 60.0, 60.5), None, False)
    assert (found.trials, found.done) == (("0",), Action.LEFT_OUT)
    assert check_readings(readings(50.0, 60.0, 60.5), None, True)[0].done is Action.OVERRIDDEN


def test_a_stated_mass_decides_between_two() -> None:
    """Without a stated mass two trials that disagree are an error; with it the other one is left out."""
    with pytest.raises(InvalidValue, match="support or load that was not measured"):
        check_readings(readings(60.0, 75.0), None, False)
    assert [finding.trials for finding in check_readings(readings(60.0, 75.0), 60.0, False)] == [("1",)]


def test_a_handrail_in_one_trial_refuses_no_other() -> None:
    """A moving trial that reads 15 % too little is left out; the specified mass is wrong only if all contradict it."""
    trials = tuple(TrialMass(name, mass, 0.2, None, 5.0) for name, mass in (("rail", 54.0), ("a", 63.0), ("b", 64.0)))
    for stated in (None, 63.5):
        (found,) = check_mass(MassEstimate(63.5, 0.5, (), trials, ()), stated, None, False)
        assert (found.trials, found.done) == (("rail",), Action.LEFT_OUT)
    with pytest.raises(InvalidValue, match="contradict every plate"):
        check_mass(MassEstimate(80.0, 0.5, (), trials, ()), 80.0, None, False)


def test_readings_far_from_the_mass_are_reported() -> None:
    """Plates that read 2 % less than the stated mass are silent, 6 % less are warned of; the mass is never replaced."""
    groups = tuple(MassGroup((name,), mass, 0.1) for name, mass in (("near", 62.3), ("far", 59.7)))
    found = report_readings(MassEstimate(63.5, 0.5, groups, (), ()))
    assert [finding.done.is_silent for finding in found] == [True, False]
    assert "59.7 kg for 63.5 kg" in found[1].text
