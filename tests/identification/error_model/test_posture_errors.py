"""Laws of the covariance of errors that follow posture."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from solver.coordinates import joint_coordinates
from solver.identification import accumulate
from solver.identification.accumulate import accumulate_regression
from solver.identification.equations import equations
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.regression import Regression
from solver.inertials import FIRST_MOMENT
from solver.rig import Rig
from tests.identification.bodies import other_body, small_rig, trial_of

OPTIONS = IdentifyOptions(cross_validate=False, jobs=1, bootstrap=0)


@pytest.fixture(scope="module")
def person() -> Rig:
    """A small rig that counts as a person's body."""
    return replace(small_rig(), provenance={"kind": "human"})


def regression_of(rig: Rig, *, noise: float = 1.0, seeds: tuple[int, ...] = (0,)) -> Regression:
    """Regression of trials of another body, with weight one on every axis."""
    trials = [trial_of(rig, other_body(rig), frames=200, noise=noise, seed=seed, name=str(seed)) for seed in seeds]
    return accumulate_regression(rig, trials, axes="world")


def test_an_error_is_the_wrench_of_a_displaced_centre_of_mass(person: Rig) -> None:
    """The sum of squares is that of the wrenches which bodies with each displacement need beyond the prior's."""
    trial = trial_of(person, other_body(person), frames=60)
    found = accumulate_regression(person, [trial], axes="world").posture_errors
    angles, expected = joint_coordinates(person, trial.motion.q), np.zeros(6)
    own = {
        0: (0, 1, 2, 3, 5, 6, 7),
        1: (0,),
        2: (1, 2, 3, 4),
        3: (4,),
        4: (5, 6, 7, 8),
        5: (8,),
    }  # coordinates at each link
    for link, coordinates in own.items():
        for component in range(3):
            for coordinate in coordinates:
                moved = np.zeros_like(person.prior.values)
                moved[link, FIRST_MOMENT][component] = person.prior.masses[link]
                gains = accumulate.DISPLACEMENT_PER_RADIAN * angles[:, coordinate]
                for piece in equations(person, trial, 0, "world"):
                    wrench = np.array([moved.T.reshape(-1)[: len(row)] @ row for row in piece.rows])
                    expected += np.sum((wrench * gains[piece.frames]) ** 2, axis=1)
    np.testing.assert_allclose(found.squares, expected, rtol=1e-9)


def test_more_recordings_do_not_average_the_errors_out(person: Rig) -> None:
    """Twice the data have twice the error of the normal equations, so the error of the parameters stays."""
    one = regression_of(person)
    two = one.merge(replace(one, blocks=one.blocks))
    for own, both in zip(one.posture_errors.gradients, two.posture_errors.gradients):
        np.testing.assert_allclose(both, 2.0 * own)
    response = [
        np.linalg.lstsq(each.factor, each.equations_with_errors.scaled_posture_errors(1e9), rcond=1e-9)[0]
        for each in (one, two)
    ]
    np.testing.assert_allclose(response[0], response[1], atol=1e-6 * np.abs(response[0]).max())


def test_whitened_errors_have_variance_one(person: Rig) -> None:
    """The whitening turns the covariance of noise and posture errors into the identity."""
    found = regression_of(person).equations_with_errors
    for noise in (1e-3, 1.0, 50.0):
        errors, whitening = found.scaled_posture_errors(noise), found.whitening(noise)
        covariance = noise * np.eye(len(errors)) + errors @ errors.T
        np.testing.assert_allclose(whitening @ covariance @ whitening.T, np.eye(len(errors)), atol=1e-7)


def test_a_motion_without_errors_is_fitted_exactly(person: Rig) -> None:
    """Errors that follow posture are not larger than the residual that contains them: without one they vanish."""
    truth = other_body(person)
    found = identify_trials(person, [trial_of(person, truth, frames=400)], OPTIONS)
    regression = accumulate_regression(person, [trial_of(person, truth, frames=400)], axes="world")
    assert np.nanmax(regression.axis_rmse(found.parameters)) < 1e-3 * np.nanmax(regression.axis_rmse(person.prior))


def test_larger_displacements_leave_less_information(person: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """No direction is determined better if links' centres of mass move more with the posture, and some are worse."""
    noise, matrices = 30.0, []
    for size in (0.0, 2e-3, 8e-3):
        monkeypatch.setattr(accumulate, "DISPLACEMENT_PER_RADIAN", size)
        found = replace(regression_of(person).equations_with_errors, posture_square=0.0)  # smaller than the residual
        factor = found.whitening(noise) @ found.factor
        matrices.append(factor.T @ factor)
    for less, more in pairwise(matrices):
        lost = np.linalg.eigvalsh(less - more)
        assert lost[0] > -1e-9 * np.abs(lost).max()
        assert np.trace(more) < 0.999 * np.trace(less)


def test_a_robot_has_no_such_errors() -> None:
    """Encoders measure the joints themselves: the whitening is that of noise alone."""
    found = regression_of(small_rig()).equations_with_errors
    assert found.posture_errors is None
    np.testing.assert_allclose(found.whitening(4.0), 0.5 * np.eye(len(found.factor)))
