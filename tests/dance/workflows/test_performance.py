"""Comparison of a recording with its dance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.workflows.performance import align_in_time, compare_performance
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.curve import FlatCurve
from solver.values.motion import Motion

from ..example_dances import arm_swing
from ..static_motions import random_posture


@pytest.fixture(scope="module")
def dance(person: Rig) -> AuthoredDance:
    """Four swings of the arms."""
    return arm_swing(person, 0.9, 0.8, swings=4)


def performed(person: Rig, dance: AuthoredDance, lag: float, stretch: float, gain: float = 1.0) -> Motion:
    """The dance performed with a lag, a stretch and a gain."""
    times = np.arange(0.0, lag + stretch * dance.stop + 0.7, 0.01)
    y, dy, ddy = dance.curve().at(np.clip((times - lag) / stretch, 0.0, dance.stop))
    moving = ((times > lag) & (times < lag + stretch * dance.stop))[:, None]
    y[:, ROOT_NV:] = y[:1, ROOT_NV:] + gain * (y[:, ROOT_NV:] - y[:1, ROOT_NV:])
    curve = _Fixed(y, np.where(moving, gain * dy / stretch, 0.0), np.where(moving, gain * ddy / stretch**2, 0.0))
    return FlatCurve.motion(curve, person, times)  # type: ignore[arg-type]


class _Fixed:
    """Coordinates at fixed times."""

    def __init__(self, *rates: np.ndarray) -> None:
        self._rates = rates

    def at(self, times: np.ndarray) -> tuple[np.ndarray, ...]:
        """What was given."""
        return self._rates


@pytest.mark.parametrize(("lag", "stretch"), [(0.0, 1.0), (1.3, 1.0), (0.4, 0.87), (0.75, 1.21)])
def test_lag_and_stretch_are_recovered(person: Rig, dance: AuthoredDance, lag: float, stretch: float) -> None:
    """A dance performed late and at another pace is aligned to 2 ms and 0.1 %."""
    found = align_in_time(person, dance.motion(100.0), performed(person, dance, lag, stretch))
    assert found.lag == pytest.approx(lag, abs=2e-3)
    assert found.stretch == pytest.approx(stretch, rel=1e-3)


def test_a_perfect_performance_reaches_the_plan(person: Rig, dance: AuthoredDance) -> None:
    """Performed as planned: no error in any joint, and correlation and gain are one."""
    plan = dance.motion(100.0)
    result = compare_performance(person, plan, performed(person, dance, 0.5, 1.0))
    assert result.rmse.max() < 1e-3
    assert result.correlation[~np.isnan(result.correlation)] == pytest.approx(1.0, abs=1e-4)
    assert result.coverage > 0.99


def test_half_the_amplitude_gives_half_the_gain(person: Rig, dance: AuthoredDance) -> None:
    """With half the amplitude, gain is one half in every moving joint."""
    keys = [Keyframe(k.time, random_posture(person, seed, 0.6), k.role) for seed, k in enumerate(dance.keys)]
    rich = replace(dance, keys=tuple(keys))
    plan = rich.motion(100.0)
    result = compare_performance(person, plan, performed(person, rich, 0.5, 1.0, gain=0.5))
    moving = ~np.isnan(result.gain)
    assert result.gain[moving] == pytest.approx(0.5, abs=1e-3)
    assert result.correlation[moving] == pytest.approx(1.0, abs=1e-3)


def test_a_plan_without_motion_is_refused(person: Rig, dance: AuthoredDance) -> None:
    """A plan in which no joint moves cannot be aligned with anything."""
    still = dance.motion(50.0).part(0, 1)
    nothing = Motion(np.arange(100) / 50.0, np.tile(still.q, (100, 1)), *np.zeros((2, 100, still.v.shape[1])))
    with pytest.raises(InvalidValue, match="moves no joint"):
        align_in_time(person, nothing, nothing)
