"""Laws of steps and weight shifts."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.dance.design.footsteps import STEPS, StepPlanner
from solver.dance.design.plan import CONFIGURATION_ORDER, build_transition_planner
from solver.options.dances import DanceOptions, human_options
from solver.rigs import from_urdf, hrp2, human
from solver.skeleton.rig import ROOT_NV, Rig
from tests.bipeds import Biped

PLANNER = build_transition_planner(human(1.7, 65.0, "female"), human_options())


@pytest.fixture(scope="module")
def footwork() -> StepPlanner:
    """The step planner of a person."""
    return StepPlanner(PLANNER)


def test_a_round_through_all_stances_takes_nine_steps(footwork: StepPlanner) -> None:
    """Nine steps pass through all four foot configurations, one of them a shift from foot to foot."""
    ways = [footwork.find_path(a, b) for a, b in zip(CONFIGURATION_ORDER, [*CONFIGURATION_ORDER[1:], "both"])]
    steps = [pair for way in ways for pair in itertools.pairwise(way)]
    assert len(steps) == 9
    known = {frozenset(step[:2]) for step in STEPS}
    assert all(frozenset(pair) in known for pair in steps)


def test_weight_shifts_as_fast_as_balance_allows(footwork: StepPlanner) -> None:
    """A person's weight is above one foot within 2 s (4.9 s along a uniform path), verified at 500 Hz."""
    for side in ("left", "right"):
        shift = footwork.plan_step("both", f"over {side}")
        assert shift.duration < 2.0
        assert PLANNER.check_segment(shift)[1] >= 0.0
        np.testing.assert_allclose(shift.stop, footwork.standing_posture(f"over {side}"), atol=1e-12)


def test_a_step_back_is_the_step_backwards_in_time(footwork: StepPlanner) -> None:
    """A step from rest to rest can be reversed: same path, same duration, same margins."""
    for first, second in (("both", "over left"), ("over left", "left"), ("over left", "right_forward")):
        forth, back = footwork.plan_step(first, second), footwork.plan_step(second, first)
        assert back.duration == forth.duration
        assert back.name != forth.name
        np.testing.assert_array_equal(back.control, forth.control[::-1])
        assert PLANNER.check_segment(back)[1] == pytest.approx(PLANNER.check_segment(forth)[1], abs=1e-6)


def test_a_hand_avoids_the_knee_of_a_step(tmp_path: Path) -> None:
    """Hands clear of the thighs at both ends of a step also avoid the raised knee between them."""
    path = Biped().write(tmp_path)
    text = path.read_text().replace('<box size="0.06 0.06 0.2"/>', '<box size="0.04 0.2 0.2"/>')
    path.write_text(re.sub(r'(<link name="\w+_forearm">.*?<collision><origin xyz=)"[^"]*"', r'\1"0.12 0 -0.3"', text))
    steps = StepPlanner(build_transition_planner(from_urdf(path), DanceOptions(workers=1)))
    assert steps.plan_step("over left", "right_forward").kind == "step"
    assert not steps.notes


@pytest.mark.parametrize(("rig", "options"), [(human(1.7, 65.0, "female"), human_options()),
                                              (hrp2(), DanceOptions(step=None))])  # fmt: skip
def test_a_foot_put_forward_clears_the_floor(rig: Rig, options: DanceOptions) -> None:
    """A swinging foot is 20 mm high wherever it is farther than that from where it leaves and meets the floor."""
    footwork = StepPlanner(build_transition_planner(rig, options))
    step = footwork.plan_step("over left", "right_forward")
    assert PLANNER.foot_clearance == 0.02
    assert not footwork.notes
    assert step.duration == pytest.approx(2.0 * options.count_duration)


def test_a_foot_a_little_too_low_is_refused(footwork: StepPlanner) -> None:
    """A lifted foot that lacks half of the checks' tolerance is too low for a design; as much above, it is not."""
    legged, checker, lifted = PLANNER.legged, PLANNER.fine_checker, footwork.standing_posture("left")
    footing = footwork.footing("over left", "left")
    missing = 0.5 * human_options().checks.tolerance

    def margins(lowering: float) -> tuple[float, float]:
        y = lifted.copy()
        y[legged.foot_columns["right"][2]] -= lowering
        checks = checker.checks(np.zeros(1), legged.solve_static(y[None], footing.solved)[1], footing.anchors)
        height = next(margin for margin in checks.margins if margin.name == "floor")
        return float(height.smallest[0]), float(checker.worst_of(checks)[0])

    lowered = 0.04  # below it other parts are nearer to the floor
    above = lowered + margins(lowered)[0]
    assert above > missing
    assert margins(above + missing)[0] == pytest.approx(-missing, rel=1e-3)
    assert margins(above + missing)[1] < 0.0
    assert margins(above - missing)[1] >= 0.0


def test_searches_can_start_at_every_standing_posture(footwork: StepPlanner) -> None:
    """On one foot a body keeps the margins that searches need; an ankle just beyond them would prevent every path."""
    lifted = footwork.standing_posture("left")
    legged = PLANNER.legged
    turned = np.abs(lifted - footwork.standing_posture("over left"))
    ankle = next(k for k in legged.leg_columns["right"][::-1] if turned[k] > 0.05)
    limits = legged.rig.limits
    ends = {True: limits.upper.copy(), False: limits.lower.copy()}
    bends = lifted[ankle] > 0.0
    ends[bends][ankle - ROOT_NV] = lifted[ankle] + (0.002 if bends else -0.002)
    rig = replace(legged.rig, limits=replace(limits, upper=ends[True], lower=ends[False]))
    planner = build_transition_planner(rig, human_options())
    own = StepPlanner(planner)
    footing = own.footing("over left", "left")
    still = planner.legged.solve_static(own.standing_posture("left")[None], footing.solved)[1]
    assert planner.coarse_checker.worst_margins(still, footing.anchors)[0] >= 0.0
