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
def test_worse_than_the_prior_is_told(ratios: tuple[float, ...], warned: bool) -> None:
    """Unused trials explained clearly worse than by the prior give one sentence with a likely cause; others none."""
    told = warn_if_worse_than_prior([comparison(ratio) for ratio in ratios], MASS)
    assert bool(told) == warned
    assert all("too little moved" in text and "squat" in text for text in told)


def test_trials_used_prove_nothing() -> None:
    """What was fitted is no test, however badly it is explained; nothing compared warns of nothing."""
    assert warn_if_worse_than_prior([comparison(3.0, used=True)], MASS) == []
    assert warn_if_worse_than_prior([], MASS) == []


def test_errors_below_those_of_plates_decide_nothing() -> None:
    """A ratio of fractions of a newton warns of nothing for an adult, but does for a light robot."""
    small = [comparison(1.5, size=0.3)]
    assert warn_if_worse_than_prior(small, MASS) == []
    assert warn_if_worse_than_prior([comparison(1.5)], MASS)
    assert warn_if_worse_than_prior(small, 0.1 * MASS)
