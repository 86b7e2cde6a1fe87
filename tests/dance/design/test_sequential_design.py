"""Laws of sequential design and of the gain of more time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dance.design.dance import Dance
from solver.dance.design.evaluation import evaluate_dance
from solver.dance.design.objective import sigma_objective
from solver.dance.design.sequential_design import MORE_SECONDS, predict_more_time, recorded_information
from solver.dance.workflows.design import design_dance
from solver.errors import InvalidValue
from solver.options.dances import DanceOptions, paper_options
from solver.rigs import hoap3

RIG = hoap3("middle", torque="peak")
TINY = DanceOptions(postures={"both": 1}, pool=10, starts=1, rounds=2, hold=0.1, workers=1)
OBJECTIVE = sigma_objective(RIG, TINY)


@pytest.fixture(scope="module")
def dance() -> Dance:
    """A dance of one posture."""
    return design_dance(RIG, TINY)


def test_a_second_counts_the_same_at_any_rate(dance: Dance) -> None:
    """A recording at four times the rate has the same information, except at its ends."""
    assert OBJECTIVE is not None
    slow, fast = (recorded_information(RIG, OBJECTIVE, [dance.sample(RIG, rate)]) for rate in (50.0, 200.0))
    np.testing.assert_allclose(fast, slow, atol=0.03 * np.abs(slow).max())


def test_after_a_recording_another_dance_adds_more(dance: Dance) -> None:
    """Designed with the first dance known, a second adds more information than one designed without it."""
    assert OBJECTIVE is not None
    first = dance.sample(RIG, 50.0)
    known = OBJECTIVE.prior_matrices + recorded_information(RIG, OBJECTIVE, [first])
    again = replace(TINY, seed=3, rounds=3)
    values = []
    for recorded in ((), (first,)):
        second = design_dance(RIG, again, recorded=recorded).sample(RIG, 50.0)
        values.append(float(OBJECTIVE.value(known + recorded_information(RIG, OBJECTIVE, [second]))))
    assert values[1] < values[0]


def test_ten_more_seconds_give_the_predicted_gain(dance: Dance) -> None:
    """The report predicts the gain of ten more seconds; with more known before, the gain is smaller."""
    assert OBJECTIVE is not None
    found = evaluate_dance(RIG, dance).more_time
    assert found.seconds >= MORE_SECONDS
    assert 0.0 < found.gain < found.largest_gain < 1.0
    assert found.link in RIG.links
    assert "more" in str(found)
    known = 100.0 * recorded_information(RIG, OBJECTIVE, [dance.sample(RIG, 50.0)])
    later = predict_more_time(dance, OBJECTIVE, known)
    assert later.gain < found.gain


def test_the_papers_criterion_takes_no_recordings(dance: Dance) -> None:
    """The paper's criterion counts a group's own links only; recordings with it are refused."""
    with pytest.raises(InvalidValue, match="sigma"):
        design_dance(RIG, paper_options(postures={"both": 1}), recorded=[dance.sample(RIG, 50.0)])
