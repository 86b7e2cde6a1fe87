"""Momentum of a flight: what lacks in the mean between two knots, its slopes, and the way from there to the limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.figures.jump import CHECKS, keyed_jump
from solver.dance.authoring.authored_dance import AuthoredDance
from solver.dynamics.mechanics import Mechanics
from solver.rigs import human
from solver.trajectory.ballistic import find_flights, make_flights_ballistic
from solver.trajectory.displacement import TRUST_REGION, DisplacementProblem, Window, displacement_weights
from solver.trajectory.flight_momentum import GAUSS_POINTS, MEAN_UNIT
from solver.trajectory.planted_feet import PlantedTrajectory
from solver.trajectory.trajectory_limits import TrajectoryLimits

STEP = 1e-6


@pytest.fixture(scope="module")
def keyed() -> AuthoredDance:
    return keyed_jump(human(1.75, 70.0, "male"))


@pytest.fixture(scope="module")
def program(keyed: AuthoredDance) -> DisplacementProblem:
    """A person's jump, led, in one window."""
    kept = [(key.time, key.q) for key in keyed.keys if key.role == "fixed"]
    curve = make_flights_ballistic(keyed.rig, keyed.curve(), keyed.schedule, CHECKS, kept)
    trajectory = PlantedTrajectory(keyed.rig, curve, keyed.schedule, kept)
    weights = displacement_weights(keyed.rig, curve.at(np.zeros(1))[0][0], trajectory.free_columns, 3.0)
    window = Window(keyed.start, keyed.stop, True, True, (keyed.start, keyed.stop))
    flights = tuple(find_flights(keyed.schedule))
    return DisplacementProblem(
        trajectory, TrajectoryLimits(trajectory, CHECKS, 1.0), window, 0.1, 50.0, weights, flights=flights
    )


def missing(keyed: AuthoredDance, program: DisplacementProblem, times: np.ndarray) -> np.ndarray:
    """(N, 6) force and moment about the centre of mass over the weight and its moment at the body's size."""
    motion, rig = program.trajectory.motion(times), keyed.rig
    mechanics = Mechanics(rig)
    wrench, com = mechanics.compute_wrenches(motion.q, motion.v, motion.a), mechanics.compute_coms(motion.q)
    moment = wrench[:, 3:] - np.cross(com, wrench[:, :3])
    size = float(np.linalg.norm(np.ptp(rig.rest[1], axis=0)))
    return np.concatenate([wrench[:, :3], moment / size], axis=1) / rig.weight


def test_what_lacks_in_the_mean_is_momentum_s_change(keyed: AuthoredDance, program: DisplacementProblem) -> None:
    """Between two knots, over a fine sampling: both signs of each of the six, near the mean of the samples' limits."""
    means = program.evaluate_limits(program.zero_displacement).means.reshape(-1, 2, 6)
    knots = np.unique(program.spline.knots)
    ((take_off, landing),) = find_flights(keyed.schedule)
    knots = knots[(knots > take_off - 1e-9) & (knots < landing + 1e-9)]
    assert len(means) == len(knots) - 1
    np.testing.assert_allclose(means[:, 0], -means[:, 1], atol=2.1e-4)
    for span, (start, stop) in enumerate(pairwise(knots)):
        fine = start + (stop - start) * (np.arange(200) + 0.5) / 200
        np.testing.assert_allclose(MEAN_UNIT * means[span, 1], missing(keyed, program, fine).mean(axis=0), atol=2e-4)


def test_derivatives_of_means_are_differences(program: DisplacementProblem) -> None:
    """The last rows of the model are the derivatives of the means along a random displacement."""
    point = program._evaluate(program.zero_displacement)
    model = program.linearise(point)
    matrix, left = model.matrix, model.values
    count = len(point.values.means)
    np.testing.assert_array_equal(left[-count:], point.values.means)
    way = np.random.default_rng(3).normal(size=program.zero_displacement.shape)
    way[[0, -1]] = 0.0
    change = (program.evaluate_limits(STEP * way).means - program.evaluate_limits(-STEP * way).means) / (2.0 * STEP)
    predicted = matrix[-count:] @ way.T.ravel()
    np.testing.assert_allclose(predicted, change, atol=1e-3 * np.abs(change).max())


def test_samples_of_a_flight_may_lack_a_little(program: DisplacementProblem) -> None:
    """They are left more than the instants of take-off and landing, of force more than of moment; others nothing."""
    rates = program._rates(program.zero_displacement)
    plain = program.limits.values(program.times, rates, program.limits.check(program.times, rates))
    with np.errstate(invalid="ignore"):
        more = np.nan_to_num(program.evaluate_limits(program.zero_displacement).values - plain.values)
    assert (more >= 0.0).all()
    times, columns = (more > 0.0).any(axis=1), (more > 0.0).any(axis=0)
    assert times.sum() == GAUSS_POINTS * len(program.evaluate_limits(program.zero_displacement).means) / 12
    assert set(plain.names[columns]) == {"flight"}
    eased = more[times][:, columns]
    assert (eased[:, :3] > eased[:, 3:6]).all()


def test_once_the_cost_has_converged_the_nearest_displacement_is_sought(program: DisplacementProblem) -> None:
    """From where every limit is kept no step is taken; the least displacement would be another one."""
    point = program._evaluate(program.zero_displacement)
    model = program.linearise(point)
    kept = replace(model, values=np.maximum(model.values, 0.1))  # as if all were kept
    away = replace(point, x=program._respect_fixed_keys(np.full_like(point.x, 0.01)))
    moved = {}
    for settled in (False, True):
        program._cost_settled = settled
        solution = program.solve_subproblem(away, kept, TRUST_REGION.initial)
        moved[settled] = np.abs(solution.x[: away.x.size] - away.x.T.ravel()).max()
    program._cost_settled = False
    assert moved[True] < 1e-4 < 1e-3 < moved[False]
