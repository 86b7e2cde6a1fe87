"""Laws of whole dances, on a small one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import Cancelled, InvalidValue
from solver.dance.design.dance import DESIGNED_DANCE, Dance
from solver.dance.design.footsteps import StepPlanner
from solver.dance.design.plan import build_transition_planner
from solver.dance.design.postures import DrawOptions, choose_postures, draw_posture_pool
from solver.dance.workflows.design import design_dance
from solver.dynamics import integrate
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.excitation import Excitation, base_regressor
from solver.identification.excitation.expected_deviations import DESIGN_NOISE, ExpectedDeviations, parameter_sizes
from solver.options.checks import DANCE_CHECKS, CheckOptions
from solver.options.dances import DanceOptions, paper_options
from solver.rigs import hoap3, hrp2
from solver.skeleton.rig import ROOT_NV
from solver.storage.npz_archive import read_archive
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.segment import SegmentChecker
from solver.trajectory.transition_problem import to_motion
from solver.values.motion import Motion

RIG = hoap3("middle", torque="peak")
SMALL = paper_options(postures={"both": 1, "right": 1}, pool=20, rounds=1, min_duration=2.0, hold=0.1, workers=1)
TINY = DanceOptions(postures={"both": 1}, pool=10, rounds=1, knot_spacing=0.4, workers=1)
"""Without steps from foot to foot."""


@pytest.fixture(scope="module")
def dance() -> Dance:
    """A dance of two postures, one on both feet and one on the right foot."""
    return design_dance(RIG, SMALL)


def test_every_segment_keeps_every_limit_at_500_hz(dance: Dance) -> None:
    """At ten times the paper's sampling rate no check of any segment fails."""
    assert dance.complete
    assert len(dance.postures) == 2
    failures = [str(f) for checks in dance.check(RIG, 500.0, SMALL.checks) for f in checks.first_failures]
    assert failures == []


def test_segments_join_at_rest(dance: Dance) -> None:
    """Each segment starts where the previous one ends, with zero velocity and acceleration at both."""
    assert dance.largest_discontinuity() < 1e-9
    legged = dance.legged_rig(RIG)
    for segment in dance.segments:
        _, curves, good = segment.evaluate(legged, np.array([0.0, segment.duration]))
        assert good.all()
        assert np.abs(curves.v).max() < 1e-9
        assert np.abs(curves.a).max() < 1e-7


def test_samples_are_a_continuous_motion(dance: Dance) -> None:
    """The sampled velocity is the derivative of the sampled configuration."""
    motion = dance.sample(RIG, 200.0)
    assert motion.times[-1] == pytest.approx(dance.duration, abs=0.006)
    moved = np.diff(motion.q[:, 7:], axis=0) * 200.0
    middle = 0.5 * (motion.v[1:, 6:] + motion.v[:-1, 6:])
    assert np.abs(moved - middle).max() < 2e-3


def test_exciting_beats_the_straight_path(dance: Dance) -> None:
    """The search never ends worse than the straight path from which it starts, up to its coarser sampling."""
    assert all(step.criterion <= 1.05 * step.straight_criterion for step in dance.trace)
    assert any(step.kind == "exciting" for step in dance.trace)


def test_same_seed_same_dance() -> None:
    """A dance is a function of rig, options and seed."""
    once, again = design_dance(RIG, TINY), design_dance(RIG, TINY)
    assert len(again.segments) == len(once.segments)
    for first, second in zip(once.segments, again.segments):
        np.testing.assert_array_equal(first.control, second.control)
        assert first.duration == second.duration


def test_cancelling_keeps_what_is_done() -> None:
    """After cancelling, the dance has the finished part and is marked incomplete."""

    def stop(fraction: float, message: str) -> None:
        if fraction > 0.2:
            raise Cancelled("enough")

    partial = design_dance(RIG, TINY, stop)
    assert not partial.complete
    assert any("cancelled" in note for note in partial.notes)


def test_no_phrase_is_begun_when_the_time_is_over() -> None:
    """The dance has the phrases that were begun in time, at least one, and says how many are left out, and why."""
    dance = design_dance(RIG, replace(TINY, postures={"both": 5}, seconds=1e-6))
    assert len(dance.postures) == 2
    assert not dance.complete
    assert dance.missing == ("the search ended after 1e-06 s (--effort): 2 are left out",)


def test_information_agrees_with_the_regressor() -> None:
    """The geometric mean of the deviations equals that of the stacked regressor with the prior's rows below it."""
    structure = base_parameters(RIG)
    generator = np.random.default_rng(0)
    q = np.array([integrate(RIG, RIG.neutral, row) for row in generator.standard_normal((6, RIG.nv))])
    v, a = generator.standard_normal((2, 6, RIG.nv))
    motion = Motion(np.arange(6.0), q, v, a)
    objective = ExpectedDeviations(structure, RIG.prior)
    found = float(np.squeeze(objective.value(objective.prior_matrices + objective.motion_matrices(RIG, motion))))
    excitation = Excitation.before_motion(structure, DESIGN_NOISE).with_motion(RIG, motion)
    rows = excitation.factor * parameter_sizes(structure, RIG.prior)
    stacked = np.concatenate([rows, np.eye(len(structure))])
    expected = np.exp(0.5 * np.log((np.linalg.pinv(stacked) ** 2).sum(axis=1)).mean())
    assert found == pytest.approx(expected, rel=1e-6)
    halves = objective.motion_matrices(RIG, motion, 2)
    np.testing.assert_allclose(halves.sum(axis=0), objective.motion_matrices(RIG, motion)[0], rtol=1e-9, atol=1e-9)


def test_every_parameter_counts_equally() -> None:
    """Four times the information on any parameter lowers the objective equally, however much is known of it."""
    structure = base_parameters(RIG)
    objective = ExpectedDeviations(structure, RIG.prior)
    known = np.logspace(0.0, 6.0, len(structure))
    before = objective.value(np.diag(known)[None])
    for place in (0, len(known) - 1):
        more = np.where(np.arange(len(known)) == place, 4.0 * known, known)
        assert objective.value(np.diag(more)[None]) == pytest.approx(before * 0.5 ** (1.0 / len(known)), rel=1e-9)


def test_repr_fits_three_lines(dance: Dance) -> None:
    """The repr of a dance has duration, postures, rig and checks in three lines that fit a terminal."""
    lines = repr(dance).splitlines()
    assert len(lines) <= 3
    assert max(map(len, lines)) <= 120
    assert f"{dance.duration:.2f} s" in lines[0]
    assert "2 postures" in lines[0]
    assert RIG.name in lines[1]
    assert f"shrink {dance.checks.shrink:g}" in lines[2]


def test_a_pose_that_recurs_is_stored_once(dance: Dance, tmp_path: Path) -> None:
    """Anchors that occur in several segments are in the file once."""
    stored, _ = read_archive(DESIGNED_DANCE.write(tmp_path / "small.npz", dance))
    places = {anchor.position.tobytes() for segment in dance.segments for anchor in segment.anchors}
    assert len(dance.segments) > len(places)
    assert sum(name.endswith(".position") and ".anchors" in name for name in stored) <= len(places)


def test_chosen_postures_beat_random_ones() -> None:
    """Exchange improves the static criterion over random choices from the pool."""
    legged, structure = LeggedRig(RIG, shrink=0.4), base_parameters(RIG)
    footing = legged.get_footing("both")
    checker = SegmentChecker(RIG, CheckOptions(shrink=0.4), 1.0)
    pool = draw_posture_pool(legged, checker, footing, legged.home_posture(footing), DrawOptions(60, 0))
    chosen, value = choose_postures(legged, [pool], [10], structure, RIG.masses, 0)
    assert len(set(chosen[0].tolist())) == 10
    rows = base_regressor(RIG, to_motion(legged.solve_static(pool.y, footing.solved)[1]), structure)
    for seed in range(5):
        some = np.random.default_rng(seed).permutation(len(pool.y))[:10]
        found = Excitation.before_motion(structure).with_rows(rows[some])
        assert np.nansum(RIG.masses * found.link_conditions("static")) > value


def test_too_little_slack_is_named() -> None:
    """Postures that pass every check by less than the search's slack are refused, with the checks concerned."""
    legged = LeggedRig(RIG, shrink=0.4)
    footing = legged.get_footing("both")
    checker = SegmentChecker(RIG, CheckOptions(shrink=0.4), 50.0)
    with pytest.raises(InvalidValue, match="fails in every one"):
        draw_posture_pool(legged, checker, footing, legged.home_posture(footing), DrawOptions(5, 0, max_draws=400))


def test_a_path_that_sways_into_a_collision_is_slowed_down() -> None:
    """Feet that are too near each other on a fast path, where the body sways, are far enough apart on a slower one."""
    rig, pair = hrp2(), ("left_foot", "right_foot")
    planner = build_transition_planner(rig, DanceOptions(checks=DANCE_CHECKS.changed(pairs=(pair,))))
    legged, stance = planner.legged, StepPlanner(planner).stance_postures("left")
    footing, home = stance.footing, stance.home
    crouched = home.copy()
    crouched[2:ROOT_NV] = 0.62, -0.04, 0.13, 0.01
    crouched[legged.leg_columns["right"]] = 0.0, 0.0, -0.4, 1.6, -0.4, 0.3
    crouched, good = legged.balance(crouched[None], footing.polygon.centre[None], footing.solved)
    assert good.all()

    def plan(shortest: float, clearance: float) -> tuple[float, float]:
        """Duration [s] and least distance [m] of the feet on the path."""
        options = DanceOptions(checks=DANCE_CHECKS.changed(pairs=(pair,), clearance=clearance), min_duration=shortest)
        farther = SegmentChecker(rig, options.search_checks)  # measures up to 3 cm
        planner = replace(build_transition_planner(rig, options), fine_checker=farther)
        segment, trouble = planner.plan_straight("crouch", home, crouched[0], footing)
        assert segment is not None, trouble
        margins = planner.check_segment(segment)[0].margins
        feet = next(margin for margin in margins if margin.name == "self-collision")
        return segment.duration, clearance + float(feet.smallest.min())

    (quick, near), (_, far) = plan(1.0, 0.0), plan(4.0, 0.0)
    assert far > near + 1e-4
    duration, distance = plan(1.0, 0.5 * (near + far))
    assert duration > quick
    assert distance >= 0.5 * (near + far) - 1e-6


def test_invalid_options_are_refused() -> None:
    """Unknown configurations, no postures and negative numbers are errors."""
    for postures in ({"handstand": 3}, {}, {"both": -1}):
        with pytest.raises(InvalidValue):
            DanceOptions(postures=postures)
