"""Recordings that do not decide the masses: the three reasons, and what the methods then return."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.identification.comparison import Comparison, WrenchFit, count_mass_bounds, find_undecided_reason, moves
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.scene.determined import DATA, TABLES
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.random_motion import random_trial


@pytest.fixture(scope="module")
def moving(robot: Rig) -> Trial:
    """It moves at random; the wrenches are noisy."""
    return random_trial(robot, 800, 1, noise=1.0, name="dance")


@pytest.fixture(scope="module")
def still(robot: Rig, moving: Trial) -> Trial:
    """It keeps one posture; the wrenches are another motion's."""
    q = np.repeat(moving.motion.q[:1], len(moving.motion), axis=0)
    none = np.zeros((len(q), robot.nv))
    return replace(moving, name="still", motion=Motion(moving.motion.times, q, none, none))


def comparison(ratio: float, *, used: bool = False, size: float = 20.0, name: str = "dance") -> Comparison:
    """A trial whose six errors are so many times the prior's of ``size`` [N, N m]."""
    one = np.ones(6)
    return Comparison(
        name, used, 100, WrenchFit(ratio * size * one, one), WrenchFit(size * one, one), WrenchFit(one, one)
    )


def doubt_of(rig: Rig, trial: Trial, *comparisons: Comparison, bounds: tuple[str, ...] = ()) -> str:
    """Doubt about an estimate with these comparisons and active bounds."""
    estimate = identify_trials(rig, [trial], IdentifyOptions(cross_validate=False)).estimate
    return find_undecided_reason(rig, [trial], [trial], replace(estimate, at_bounds=bounds), comparisons)


@pytest.mark.parametrize(("ratios", "doubted"), [((0.7, 0.9), False), ((0.9, 1.05), False), ((0.98, 1.1), True)])
def test_the_prior_that_explains_as_well_is_kept(
    robot: Rig, moving: Trial, ratios: tuple[float, ...], doubted: bool
) -> None:
    """Unused trials decide by the mean of their ratios, and the trial is named; trials used decide nothing."""
    text = doubt_of(robot, moving, *(comparison(ratio) for ratio in ratios))
    assert bool(text) == doubted
    assert ("dance" in text and "excites too little" in text) == doubted
    assert doubt_of(robot, moving, comparison(3.0, used=True)) == ""


def test_a_standing_trial_left_out_decides_nothing(robot: Rig, moving: Trial, still: Trial) -> None:
    """Nothing moves in it that could be predicted; if no trial moves, the masses are not decided at all."""
    assert moves(robot, moving)
    assert not moves(robot, still)
    estimate = identify_trials(robot, [moving], IdentifyOptions(cross_validate=False)).estimate
    worse = [comparison(3.0, name="still")]
    assert find_undecided_reason(robot, [moving, still], [moving, still], estimate, worse) == ""
    assert "no trial moves" in find_undecided_reason(robot, [still], [still], estimate, [comparison(0.5, name="still")])


def test_bounds_decide_from_half_of_the_masses_on(robot: Rig, moving: Trial) -> None:
    """Every bound counts once, also one of two links; bounds of other parameters do not count."""
    links, half = robot.links, len(robot.links) // 2
    few = tuple(f"{link}: mass at its lower bound" for link in links[:half])
    others = tuple(f"{link}: Izz as different as allowed" for link in links)
    assert doubt_of(robot, moving, bounds=few + others) == ""
    pair = f"{links[-2]} and {links[-1]}: m as different as allowed"
    assert f"{half + 1} of {len(links)} masses" in doubt_of(robot, moving, bounds=(*few, pair))
    assert count_mass_bounds(["sum of masses", *few, *others, pair]) == half + 1


def test_the_default_method_returns_the_prior(robot: Rig, still: Trial) -> None:
    """Without a moving trial it returns the prior at the body's mass with the prior's spread, and says so first; a
    published method returns what it finds."""
    options = IdentifyOptions(total_mass=9.0)
    found = identify_trials(robot, [still], options)
    assert found.undecided_reason.startswith("the result is the prior")
    assert repr(found).startswith(found.undecided_reason)
    assert found.parameters.values == pytest.approx(robot.prior.scaled(9.0).values)
    total, *others = found.determined
    assert total.source == DATA
    assert {one.source for one in others} == {TABLES}
    assert all(one.half_width == pytest.approx(one.prior_half_width, rel=1e-6, abs=1e-9) for one in others)
    other = identify_trials(robot, [still], replace(options, method="hierarchical"))
    assert other.undecided_reason.startswith("the recordings do not decide")
    assert np.abs(other.parameters.masses - found.parameters.masses).max() > 0.01
