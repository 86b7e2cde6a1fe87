"""Laws of the checks whether forces and motion belong together, for a body that moves up and down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.signals import GRAVITY
from solver.study.plates.finding import Action
from solver.study.plates.mismatch import check_mismatch, find_lag, search_time_offsets
from solver.study.plates.trial_wrenches import ForceMotionPair
from solver.values.wrenches import Wrenches

MASS, RATE, SECONDS, CUTOFF = 70.0, 100.0, 8.0, 8.0
TIMES = np.arange(0.0, SECONDS, 1.0 / RATE)


def vertical(frequency: float, share: float = 0.15) -> np.ndarray:
    """Force (N,) [N] of a body that moves up and down with decreasing frequency, by this fraction of its weight."""
    phase = 2.0 * np.pi * frequency * TIMES * (1.0 - 0.3 * TIMES / SECONDS)
    return MASS * GRAVITY * (1.0 + share * np.sin(phase))


def plate(force: np.ndarray) -> Wrenches:
    """A plate under the origin that reads this vertical force, with noise of 1 N."""
    values = np.zeros((len(force), 1, 6))
    values[:, 0, 2] = force + np.random.default_rng(0).standard_normal(len(force))
    return Wrenches(TIMES, ("plate",), values)


def pair(name: str, needed: np.ndarray, measured: np.ndarray) -> ForceMotionPair:
    """A motion that needs one vertical force, with another that was measured."""
    predicted = np.zeros((len(needed), 6))
    predicted[:, 2] = needed
    found = ForceMotionPair(name, TIMES, predicted, np.zeros((len(TIMES), 3)), plate(measured))
    return replace(found, time_offsets=search_time_offsets(found, MASS))


@pytest.mark.parametrize(
    ("measured", "says"),
    [
        (vertical(1.7), "better at"),
        (np.full(len(TIMES), MASS * GRAVITY), "are constant while the body moves"),
        (np.zeros(len(TIMES)), "never carry anything"),
    ],
    ids=["another frequency", "a standing body", "no body"],
)
def test_forces_that_do_not_follow_the_motion_are_found(measured: np.ndarray, says: str) -> None:
    """Forces that no time offset and no other trial explains give a finding; the motion's own forces do not."""
    (found,) = check_mismatch([pair("trial", vertical(0.9), measured)], MASS, CUTOFF, False)
    assert says in found.text
    assert not found.done.is_silent
    assert check_mismatch([pair("trial", vertical(0.9), vertical(0.9))], MASS, CUTOFF, False) == []


@pytest.mark.parametrize("late", [-1.3, -0.4, -0.125, -0.075, -0.01, 0.03, 0.06, 0.11, 0.14, 0.3, 1.7])
def test_one_search_finds_every_time_offset(late: float) -> None:
    """Forces up to 2 s late or early: the lag is found to within the step of the search, without gaps."""
    steps = round(late * RATE)
    force = np.interp(TIMES - steps / RATE, TIMES, vertical(0.9), left=np.nan, right=np.nan)
    assert find_lag(pair("trial", vertical(0.9), force).time_offsets, 1.0) == pytest.approx(late, abs=0.015)


def test_a_lag_needs_forces_that_follow_the_motion() -> None:
    """Forces that do not follow the motion even without their lag are another recording's; else the lag stays."""
    right, wrong = (replace(pair("trial", vertical(0.9), vertical(f)), time_offsets=(), lag=0.08) for f in (0.9, 1.7))
    (found,) = check_mismatch([wrong], MASS, CUTOFF, False)
    assert "lag of 80 ms" in found.text
    assert found.done is Action.LEFT_OUT
    assert check_mismatch([right], MASS, CUTOFF, False) == []


def test_a_standing_body_has_constant_forces() -> None:
    """Forces that vary under a standing body give a finding; constant ones do not."""
    standing = np.full(len(TIMES), MASS * GRAVITY)
    (found,) = check_mismatch([pair("trial", standing, vertical(0.9))], MASS, CUTOFF, False)
    assert "vary while the body stands" in found.text
    assert check_mismatch([pair("trial", standing, standing)], MASS, CUTOFF, False) == []


def test_the_noise_of_standing_is_no_motion() -> None:
    """Standing whose tracked motion needs 3 % of the weight because of noise gives no finding."""
    needed = MASS * GRAVITY * (1.0 + 0.03 * np.random.default_rng(2).standard_normal(len(TIMES)))
    assert check_mismatch([pair("trial", needed, np.full(len(TIMES), MASS * GRAVITY))], MASS, CUTOFF, False) == []


def test_unmeasured_support_prevents_a_finding() -> None:
    """Plates that carry half of the body give no finding: an unmeasured chair may carry the rest."""
    half = 0.5 * np.full(len(TIMES), MASS * GRAVITY)
    assert check_mismatch([pair("trial", vertical(0.9), half)], MASS, CUTOFF, False) == []


def test_a_hypothesis_that_leaves_impossible_forces_is_rejected() -> None:
    """Forces that push far harder than the motion allows are not explained by a sign or a location that fits better."""
    generator = np.random.default_rng(1)
    needed = np.where(np.sin(2.0 * np.pi * 1.3 * TIMES) > 0.0, 2.0, 0.1) * MASS * GRAVITY
    item = pair("trial", needed, np.where(generator.permutation(len(TIMES)) % 3 > 0, 2.0, 0.1) * MASS * GRAVITY)
    (found,) = check_mismatch([item], MASS, CUTOFF, False)
    assert "push harder than the motion allows" in found.text


def test_a_file_that_is_used_twice_is_found() -> None:
    """Of two trials with exactly the same forces, the one whose motion they do not fit is left out."""
    items = [pair("right", vertical(0.9), vertical(0.9)), pair("wrong", vertical(1.7), vertical(0.9))]
    assert [(finding.trials, finding.done) for finding in check_mismatch(items, MASS, CUTOFF, False)] == [
        (("wrong",), Action.LEFT_OUT)
    ]
