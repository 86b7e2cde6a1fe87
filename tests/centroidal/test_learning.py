"""What is hidden from an estimator, and what is learnt from it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from solver.centroidal.complementary import complementary
from solver.centroidal.learning import (
    GRID,
    chosen_cutoffs,
    hidden_patterns,
    hidden_score,
    kinematic_wrench,
    wrench_error,
)
from solver.centroidal.settings import ComplementarySettings
from solver.errors import InvalidValue
from solver.signals import GRAVITY
from tests.centroidal.bodies import jumping, swaying


def test_patterns_hide_every_loaded_stretch_once() -> None:
    """Stretches of a kind together cover the stance, never touch each other within a pattern, and spare the flight."""
    data = jumping().data
    masks = list(hidden_patterns(data, 0.1))
    together = np.sum(masks, axis=0)
    assert together.max() == 1
    assert not together[data.force[:, 2] < 0.1 * data.mass * GRAVITY].any()
    assert together.sum() > 0.7 * (data.force[:, 2] > 0.2 * data.mass * GRAVITY).sum()
    flights = list(hidden_patterns(data, 0.0))
    assert len(flights) == 1
    assert abs(flights[0].sum() / data.rate - 0.5) < 0.06


def test_right_kinematics_leave_no_error() -> None:
    """The wrench that right kinematics need is the measured one."""
    data = swaying(2.0).data
    frames = np.zeros(len(data), bool)
    frames[100:200] = True
    assert np.abs(wrench_error(data, kinematic_wrench(data), frames)).max() < 1e-6


def test_cut_offs_are_chosen_by_the_hidden_wrench() -> None:
    """What is chosen predicts hidden stretches at least as well as the paper's cut-offs; unusable data are told."""
    truth = swaying(3.0, seed=2)
    noise = 3e-3 * np.sin(2.0 * np.pi * 0.3 * truth.data.times)[:, None] * np.ones(3)
    data = replace(truth.data, com=truth.com + noise, momentum_rate=truth.momentum_rate + 0.5)
    data = replace(data, acceleration=truth.acceleration + 50.0 * noise)
    few = GRID[::11]
    found = chosen_cutoffs(data, (*few, ComplementarySettings()))
    score, paper = (hidden_score([data], partial(complementary, settings=s)) for s in (found, ComplementarySettings()))
    assert score <= paper
    with pytest.raises(InvalidValue, match="nothing can be learnt"):
        chosen_cutoffs(replace(data, wrench=np.full_like(data.wrench, np.nan), measured=None))
