"""Laws of segments of a dance, and of the margins that a coarse sample keeps."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.options.checks import DANCE_CHECKS
from solver.rigs import hoap3
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.segment import DanceSegment, SegmentChecker, hold_posture
from solver.trajectory.splines import Spline

TIMES = np.linspace(0.0, 1.5, 31)


@cache
def legged() -> LeggedRig:
    return LeggedRig(hoap3(torque="peak"), shrink=0.4)


@cache
def bow() -> DanceSegment:
    """A bow on both feet."""
    footing = legged().get_footing("both")
    home = legged().home_posture(footing)
    bowed = home.copy()
    bowed[legged().trunk[0]] += 0.4
    control = Spline(1.5, 4).straight_line(home, bowed)
    return DanceSegment("bow", "straight", 1.5, control, footing.solved, footing.anchors)


def test_a_reversed_segment_is_the_path_backwards() -> None:
    """In reverse time positions and accelerations are the same, and velocities the opposite."""
    back = bow().reverse("back")
    assert (back.name, back.duration, back.solved) == ("back", 1.5, bow().solved)
    y, curves, good = bow().evaluate(legged(), TIMES)
    y_back, curves_back, good_back = back.evaluate(legged(), 1.5 - TIMES)
    assert good.all()
    assert good_back.all()
    np.testing.assert_allclose(y_back, y, atol=1e-9)
    np.testing.assert_allclose(curves_back.v, -curves.v, atol=1e-7)
    np.testing.assert_allclose(curves_back.a, curves.a, atol=1e-6)
    np.testing.assert_array_equal(back.start, bow().stop)
    np.testing.assert_array_equal(back.stop, bow().start)
    np.testing.assert_array_equal(back.reverse("bow").control, bow().control)


def test_another_duration_is_the_same_path() -> None:
    """In half the time every velocity is twice as large, every acceleration four times."""
    fast = replace(bow(), duration=0.75)
    y, curves, _ = bow().evaluate(legged(), TIMES)
    y_fast, curves_fast, _ = fast.evaluate(legged(), 0.5 * TIMES)
    np.testing.assert_allclose(y_fast, y, atol=1e-9)
    np.testing.assert_allclose(curves_fast.v, 2.0 * curves.v, atol=1e-7)
    np.testing.assert_allclose(curves_fast.a, 4.0 * curves.a, atol=1e-6)
    np.testing.assert_array_equal(y[[0, -1]], [bow().start, bow().stop])


def test_a_held_posture_does_not_move() -> None:
    """For its duration it stays at the posture, at rest."""
    hold = hold_posture("hold", bow().start, 2.0, bow().solved, bow().anchors)
    assert (hold.kind, hold.duration) == ("hold", 2.0)
    y, curves, good = hold.evaluate(legged(), np.linspace(0.0, 2.0, 5))
    assert good.all()
    np.testing.assert_allclose(y, np.tile(bow().start, (5, 1)), atol=1e-9)
    np.testing.assert_allclose(curves.v, 0.0, atol=1e-9)
    with pytest.raises(InvalidValue, match="'jig'"):
        replace(hold, kind="jig")


@pytest.mark.parametrize("factor", [0.0, 1.0, 3.0])
def test_a_coarse_sample_keeps_its_sampling_margins(factor: float) -> None:
    """The worst margin is the least of all checks, with the tolerance and without the sampling margin.

    Allowances are, by check, what is lacking of the sampling margin, and half of what is kept of it.
    """
    checker = SegmentChecker(legged().rig, DANCE_CHECKS, factor)
    _, curves, _ = bow().evaluate(legged(), TIMES)
    checks = checker.checks(TIMES, curves, bow().anchors)
    left = {m.name: m.smallest + m.tolerance - factor * m.check.sampling_margin for m in checks.margins}
    np.testing.assert_allclose(checker.worst_of(checks), np.min(list(left.values()), axis=0))
    np.testing.assert_allclose(checker.worst_margins(curves, bow().anchors), checker.worst_of(checks))
    short = {name: -float(own.min()) for name, own in left.items() if own.min() < 0.0}
    assert set(checker.tight_checks(checks)) == set(short)
    allowances = checker.margin_allowances(curves, bow().anchors)
    assert set(allowances) == set(short)
    assert bool(short) == (factor > 0.0)
    for margin in checks.margins:
        if margin.name in short:
            kept = factor * margin.check.sampling_margin
            lacking, rest = short[margin.name], kept - short[margin.name]
            expected = lacking + 0.5 * rest if rest > 0.0 else kept
            assert allowances[margin.name] == pytest.approx(expected)
    allowed = np.min([own + allowances.get(name, 0.0) for name, own in left.items()], axis=0)
    np.testing.assert_allclose(checker.worst_margins(curves, bow().anchors, allowances), allowed)
