"""Laws of the sign of a free moment, from what single trials show."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from solver.options.plates import AS_IS, AS_SHOWN
from solver.study.plates.finding import Action
from solver.study.plates.vertical_moment import _build_free_moment_finding, _Factors, _group_by_sign

STD = 0.05


def trial(sign: int, number: int = 0, lever: float = 1.0) -> _Factors:
    """A trial that is certain of a sign of its free moment, or of none."""
    return _Factors(f"trial {number}", lever, STD, float(sign), STD if sign else 10.0)


@pytest.mark.parametrize("signs", list(product((-1, 0, 1), repeat=3)))
def test_trials_are_grouped_by_the_sign_that_they_are_certain_of(signs: tuple[int, ...]) -> None:
    """Every trial is in one group, no group has certain opposite signs, and the uncertain ones join the larger group.

    The order of groups and trials is the same if every sign is the opposite, unless both signs are as frequent.
    """
    trials = [trial(sign, number) for number, sign in enumerate(signs)]
    groups = _group_by_sign(trials)
    assert sorted(t.name for group in groups for t in group) == sorted(t.name for t in trials)
    for group in groups:
        assert abs(sum(t.sign for t in group)) == sum(abs(t.sign) for t in group)
        assert sum(t.sign != 0 for t in group) or len(groups) == 1
    assert len(groups) == (2 if {1, -1} <= set(signs) else 1)
    if len(groups) == 2:
        assert sum(abs(t.sign) for t in groups[0]) >= sum(abs(t.sign) for t in groups[1])
        assert all(t.sign for t in groups[1])
    if signs.count(1) != signs.count(-1):
        mirrored = _group_by_sign([trial(-sign, number) for number, sign in enumerate(signs)])
        assert [[t.name for t in group] for group in mirrored] == [[t.name for t in group] for group in groups]


def test_no_trials_are_no_group() -> None:
    """Without a trial there is no group."""
    assert _group_by_sign([]) == []


@pytest.mark.parametrize(
    ("free", "lever", "done", "factor"),
    [(1, 1.0, Action.NOTHING, 1.0), (0, 1.0, Action.UNCERTAIN, 1.0), (-1, 1.0, Action.UNDONE, -1.0),
     (-1, -1.0, Action.UNCERTAIN, 1.0)],
)  # fmt: skip
def test_only_a_certain_wrong_sign_is_reversed(free: int, lever: float, done: Action, factor: float) -> None:
    """The free moment is reversed where its factor is certainly negative and that of the forces certainly positive."""
    group = [trial(free, number, lever) for number in range(3)]
    finding, used = _build_free_moment_finding(group, AS_SHOWN)
    assert (finding.done, used) == (done, factor)
    assert finding.trials == ("trial 0", "trial 1", "trial 2")
    assert finding.interval[0] < finding.evidence < finding.interval[1]
    overridden, used = _build_free_moment_finding(group, AS_IS)
    assert used == 1.0
    assert overridden.done is (Action.OVERRIDDEN if factor < 0.0 else done)
    assert np.isfinite(overridden.interval).all()
