"""What is said where an identification explains new trials no better than the tables do."""

from __future__ import annotations

import numpy as np
import pytest

from solver.identification.comparison import Comparison, WrenchFit
from solver.study.unexplained import warn_if_worse_than_prior

MASS = 70.0


def comparison(ratio: float, *, used: bool = False, size: float = 20.0) -> Comparison:
    """A trial whose six errors are so many times the prior's of ``size`` [N, N m]."""
    one = np.ones(6)
    return Comparison(
        "squat", used, 100, WrenchFit(ratio * size * one, one), WrenchFit(size * one, one), WrenchFit(one, one)
    )


@pytest.mark.parametrize(("ratios", "warned"), [((0.7, 0.9), False), ((1.0, 1.1), False), ((1.4, 1.3), True)])
def test_errors_above_the_priors_are_a_warning(ratios: tuple[float, ...], warned: bool) -> None:
    """Unused trials predicted clearly worse than by the prior give one warning with a likely cause; others none."""
    told = warn_if_worse_than_prior([comparison(ratio) for ratio in ratios], MASS)
    assert bool(told) == warned
    assert all("excites too little" in text and "squat" in text for text in told)


def test_used_trials_cause_no_warning() -> None:
    """A fitted trial is no test, however large its error; without comparisons there is no warning."""
    assert warn_if_worse_than_prior([comparison(3.0, used=True)], MASS) == []
    assert warn_if_worse_than_prior([], MASS) == []


def test_errors_below_the_plates_error_cause_no_warning() -> None:
    """A ratio of errors of a fraction of a newton is no warning for an adult, but is one for a light robot."""
    small = [comparison(1.5, size=0.3)]
    assert warn_if_worse_than_prior(small, MASS) == []
    assert warn_if_worse_than_prior([comparison(1.5)], MASS)
    assert warn_if_worse_than_prior(small, 0.1 * MASS)
