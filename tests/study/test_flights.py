"""Laws of flight phases as trials of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.papers.thrown import simulate_flight
from solver.base.errors import InvalidValue
from solver.base.progress import silent
from solver.dynamics import integrate
from solver.options.study import Settings
from solver.scene.determined import TABLES
from solver.signals import GRAVITY, preset_of, whiten
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.study.flights import find_trial_flights
from solver.study.values import Poses, TrialRecord
from solver.values.motion import Markers
from solver.workflow.pipeline import identify_motions
from tests.identification.bodies import residuals

RATE, GLIDE, FLIGHT = 200.0, 0.5, 0.4
PRESET = preset_of("human_8hz")


def jump(rig: Rig, seconds: float, name: str = "jump") -> TrialRecord:
    """A flight with swinging joints between two motions at constant velocity, which need a support."""
    times = np.arange(round(seconds * RATE) + 1) / RATE
    v = np.zeros(rig.nv)
    v[2], v[3:6] = 0.5 * GRAVITY * seconds, (0.5, 1.0, -0.3)
    swing = np.random.default_rng(5).uniform(-8.0, 8.0, rig.nv - 6)
    flight = simulate_flight(rig, rig.prior, (rig.neutral, v), times, lambda time: swing * np.cos(6.0 * time))
    steps = np.arange(1, round(GLIDE * RATE) + 1)[:, None] / RATE
    before = integrate(rig, flight.q[0], -steps[::-1] * flight.v[0])
    q = np.concatenate([before, flight.q, integrate(rig, flight.q[-1], steps * flight.v[-1])])
    stamps = np.arange(len(q)) / RATE
    markers = Markers(stamps, ("M",), np.zeros((len(q), 1, 3)))
    return TrialRecord(Recording(name, markers), given=Poses(stamps, q, np.ones(len(q), bool)))


def test_contacts_before_and_after_do_not_affect_a_flight(robot: Rig) -> None:
    """The true parameters satisfy the equations of a flight that contacts precede and follow."""
    found = find_trial_flights(robot, jump(robot, FLIGHT), PRESET, robot.masses.sum())
    assert found.trial is not None
    assert found.flights == (pytest.approx((GLIDE, GLIDE + FLIGHT), abs=0.02),)
    left = residuals(robot, found.trial, robot.prior, axes="world")[found.trial.counted]
    assert np.sqrt(np.mean(left[:, :3] ** 2)) < 0.01 * robot.weight
    assert 0.5 * FLIGHT * RATE < found.trial.counted.sum() < FLIGHT * RATE


def test_flight_alone_needs_a_mass_and_a_flight(robot: Rig) -> None:
    """Without a mass, or without a long enough flight, the error says what to do."""
    settings = Settings(flight_only=True, no_cross_validation=True)
    with pytest.raises(InvalidValue, match="state the body's mass"):
        identify_motions(robot, [jump(robot, FLIGHT)], settings=settings)
    with pytest.raises(InvalidValue, match=r"longest of 1 lasts 0\.1. s; record jumps"):
        identify_motions(robot, [jump(robot, 0.12)], stated_mass=8.8, settings=settings)


def test_a_study_from_flight_alone_reports_what_the_prior_supplied(robot: Rig) -> None:
    """One jump of a robot does not determine all parameters, and a warning says so; the mass is the given one."""
    settings = Settings(flight_only=True, no_cross_validation=True)
    study = identify_motions(robot, [jump(robot, FLIGHT)], stated_mass=9.0, settings=settings, progress=silent)
    assert study.identification.parameters.total_mass == pytest.approx(9.0)
    assert study.flights.null_space.dimension > 1
    supplied = sum(each.source == TABLES for each in study.identification.determined)
    assert any(f"the prior supplied {supplied} of" in warning for warning in study.warnings)
    assert study.flights.used[0][0] == "jump"


def test_equations_of_a_flight_are_weighted_sums_of_its_own_frames(robot: Rig) -> None:
    """Weighting by the noise combines the frames' own equations, without neighbours or reflections beyond the ends."""
    trial = find_trial_flights(robot, jump(robot, FLIGHT), PRESET, robot.masses.sum()).trial
    assert trial is not None
    assert trial.corner is not None
    link = robot.links[-1]
    wrong = robot.prior.replaced(link, 1.5 * robot.prior.link(link))
    plain = residuals(robot, replace(trial, corner=None, preset=None), wrong, axes="world")[trial.counted]
    weighed = residuals(robot, trial, wrong, axes="world")[trial.counted]
    np.testing.assert_allclose(weighed, whiten(plain.T, RATE, trial.corner).T, atol=1e-9)
    assert np.abs(weighed).max() > 1e-3
