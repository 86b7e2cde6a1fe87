"""Laws of the covariance of errors that follow posture."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from solver.identification.accumulate import accumulate_regression
from solver.identification.error_model.posture_wrenches import posture_wrenches
from solver.identification.regression import Regression
from solver.signals.plate_errors import PARAMETERS, POSITION, PlateErrors, tolerated_wrenches
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.tracking.motion_errors import MotionErrors
from tests.identification.bodies import other_body, small_rig, trial_of


@pytest.fixture(scope="module")
def person() -> Rig:
    """A small rig that counts as a person's body."""
    return replace(small_rig(), provenance={"kind": "human"})


def tracked_trial(rig: Rig, *, frames: int = 200, noise: float = 1.0, seed: int = 0, size: float = 1.0) -> Trial:
    """A trial of another body in random states, with errors of its motion of some relative size."""
    trial = trial_of(rig, other_body(rig), frames=frames, noise=noise, seed=seed, name=str(seed))
    errors = posture_wrenches(rig, trial.motion, MotionErrors.of_rig(rig))
    scaled = replace(errors, values=size * errors.values, origins=size * errors.origins)
    return replace(trial, posture_wrenches=scaled)


def regression_of(rig: Rig, **choices: float) -> Regression:
    """Regression of one tracked trial, with weight one on every axis."""
    return accumulate_regression(rig, [tracked_trial(rig, **choices)], axes="world")  # type: ignore[arg-type]


def test_errors_of_the_normal_equations_are_the_rows_times_the_wrenches(person: Rig) -> None:
    """Parameters fitted to a wrench error alone answer it as the regression's errors say, as far as it is sampled."""
    trial = tracked_trial(person, noise=0.0)
    errors = trial.posture_wrenches
    found = accumulate_regression(person, [trial], axes="world").equations_with_errors
    sampled = np.zeros(len(trial.motion), bool)
    sampled[errors.frames] = True
    alone = replace(trial, counted=sampled, posture_wrenches=None)
    before = accumulate_regression(person, [alone], axes="world")
    change = errors.values[:, :, 3].astype(float)
    change[:, 3:] += np.cross(trial.motion.q[sampled, :3], change[:, :3])
    values = alone.wrenches.values.copy()
    values[sampled, 0] += change
    after = accumulate_regression(
        person, [replace(alone, wrenches=replace(alone.wrenches, values=values))], axes="world"
    )
    gradient = after.factor.T @ after.target - before.factor.T @ before.target
    expected = found.factor.T @ found.posture_errors[:, 3] / errors.stride
    np.testing.assert_allclose(gradient, expected, atol=1e-5 * np.abs(expected).max())


def test_more_recordings_do_not_average_the_errors_out(person: Rig) -> None:
    """Twice the data have twice the error of the normal equations, so the error of the parameters stays."""
    one = regression_of(person)
    two = one.merge(replace(one, blocks=one.blocks))
    response = [
        np.linalg.lstsq(each.factor, each.equations_with_errors.posture_errors, rcond=1e-9)[0] for each in (one, two)
    ]
    np.testing.assert_allclose(response[0], response[1], atol=1e-6 * np.abs(response[0]).max())


def test_whitened_errors_have_variance_one(person: Rig) -> None:
    """The whitening turns the covariance of noise and posture errors into the identity."""
    found = regression_of(person).equations_with_errors
    for noise in (1e-3, 1.0, 50.0):
        errors, whitening = found.posture_errors, found.whitening(noise)
        covariance = noise * np.eye(len(errors)) + errors @ errors.T
        np.testing.assert_allclose(whitening @ covariance @ whitening.T, np.eye(len(errors)), atol=1e-7)


def test_larger_errors_leave_less_information(person: Rig) -> None:
    """No direction is determined better with larger errors, and some are worse."""
    matrices = []
    for size in (0.0, 1.0, 4.0):
        found = regression_of(person, size=size).equations_with_errors
        factor = found.whitening(30.0) @ found.factor
        matrices.append(factor.T @ factor)
    for less, more in pairwise(matrices):
        lost = np.linalg.eigvalsh(less - more)
        assert lost[0] > -1e-9 * np.abs(lost).max()
        assert np.trace(more) < 0.999 * np.trace(less)


def test_errors_that_plates_share_are_estimated_from_trials_and_removed_from_others(person: Rig) -> None:
    """Plates that lie 3 mm beside their place, as far as they may, are put right in a trial that was not used."""
    size, trials = 0.003 * (np.arange(PARAMETERS) == POSITION)[None], []
    for seed in range(3):
        trial = tracked_trial(person, noise=0.01, seed=seed, size=0.0)
        force = trial.wrenches.values[:, 0, :3]
        wrong = (
            trial.wrenches.values + np.concatenate([0.0 * force, np.cross([0.003, 0.0, 0.0], force)], axis=1)[:, None]
        )
        wrenches, tolerance = replace(trial.wrenches, values=wrong), PlateErrors(size)
        errors = trial.posture_wrenches
        assert errors is not None
        of_plates = tolerated_wrenches(
            wrenches, errors.frames, tolerance, trial.motion.q[errors.frames, :3], [wrenches.frames]
        )
        errors = replace(errors, values=np.concatenate([errors.values, of_plates], axis=2), layouts=(wrenches.frames,))
        trials += [(trial, replace(trial, wrenches=wrenches, posture_wrenches=errors, plate_tolerance=tolerance))]
    *used, (true, unseen) = trials
    truth, regression = other_body(person), accumulate_regression(person, [wrong for _, wrong in used], axes="world")
    likely = regression.find_likely_plate_errors(truth)
    assert [own.plates for own in likely] == [unseen.wrenches.frames]
    found = unseen.without_errors(likely).wrenches.values - true.wrenches.values
    assert np.abs(found).max() < 0.2 * np.abs(unseen.wrenches.values - true.wrenches.values).max()
    assert not accumulate_regression(person, [true], axes="world").find_likely_plate_errors(truth)
    assert unseen.without_errors([replace(likely[0], plates=("other",))]) is unseen


def test_measured_joints_have_no_such_errors() -> None:
    """Encoders measure the joints themselves: the whitening is that of noise alone."""
    rig = small_rig()
    trial = trial_of(rig, other_body(rig), frames=200)
    found = accumulate_regression(rig, [trial], axes="world").equations_with_errors
    assert not found.posture_errors.size
    np.testing.assert_allclose(found.whitening(4.0), 0.5 * np.eye(len(found.factor)))
