"""Laws of trials whose plates have another gain than in the other trials."""

from __future__ import annotations

import numpy as np
import pytest

from solver.calibration.body_mass import MassEstimate
from solver.calibration.trial_mass import TrialMass, UnloadedReading
from solver.study.plates.finding import Action
from solver.study.plates.plausibility import check_gains

MASS = 60.0


def reading(name: str, kilograms: float, *, unloaded: bool = True) -> TrialMass:
    """A reading of a trial's plates, with a standard deviation of 0.2 kg."""
    none = np.zeros(2)
    zero = UnloadedReading(0.0, 5.0) if unloaded else None
    return TrialMass(name, kilograms, 0.2, kilograms, 1.0, 0.7, zero, 5.0, none, none, none)


def estimate(*trials: TrialMass) -> MassEstimate:
    """An estimate of the body's mass, with a standard deviation of 0.2 kg."""
    return MassEstimate(MASS, 0.2, (), trials, ())


def test_the_odd_trial_is_scaled_to_what_the_others_read() -> None:
    """Of jumps that read 60, 60 and 58 kg the last gets the factor 60 / 58; if overridden, it is only reported."""
    trials = [reading("one", 60.1), reading("two", 59.9), reading("odd", 58.0)]
    (found,), factors = check_gains(estimate(*trials), False)
    assert factors == {"odd": pytest.approx(60.0 / 58.0)}
    assert found.trials == ("odd",)
    assert found.interval[0] < found.evidence < found.interval[1] < 1.0
    assert not found.done.is_silent or found.done is Action.TAKEN_OFF
    (overridden,), none = check_gains(estimate(*trials), True)
    assert (overridden.done, none) == (Action.OVERRIDDEN, {})


@pytest.mark.parametrize(
    "trials",
    [
        (reading("one", 60.1), reading("two", 59.9), reading("near", 59.3)),
        (reading("one", 60.1), reading("odd", 58.0)),
        (reading("one", 60.1), reading("two", 59.9), reading("standing", 57.0, unloaded=False)),
    ],
    ids=["within the uncertainty", "no majority", "never unloaded: an offset"],
)
def test_nothing_is_scaled_without_evidence(trials: tuple[TrialMass, ...]) -> None:
    """Readings that agree, two that disagree, and plates with a possible offset are not changed."""
    assert check_gains(estimate(*trials), False) == ([], {})
