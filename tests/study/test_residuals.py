"""Residuals in the field's units, computed by hand and on a simulated robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.demo.examples import simulated_robot
from solver.options.study import Settings
from solver.study.residuals import Residual, TrialResidual, body_height, compute_residuals
from solver.workflow.pipeline import identify
from solver.workflow.study import Study

PRIOR = Residual(50.0, 90.0, 9.0, 20.0)


@pytest.fixture(scope="module")
def study() -> Study:
    """Simulated."""
    robot = simulated_robot()
    return identify(robot.recordings, rig=robot.rig, settings=Settings(no_cross_validation=True))


def residual(found: Residual) -> TrialResidual:
    """A residual of a person of 700 N and 1.75 m whose plates carry at most 1000 N."""
    return TrialResidual("squat", 700.0, 1.75, 0.9, 1000.0, found, PRIOR)


def test_fractions_by_hand() -> None:
    """20 N of a peak of 1000 N are 2 %; 4.5 N m of 0.9 m times that are half a per cent."""
    one = residual(Residual(20.0, 40.0, 4.5, 9.0))
    assert one.force_share == pytest.approx((0.02, 0.04))
    assert one.moment_share == pytest.approx((0.005, 0.01))
    assert one.meets_thresholds


@pytest.mark.parametrize("over", [Residual(20.0, 51.0, 4.5, 8.0), Residual(20.0, 40.0, 4.5, 9.1)])
def test_one_peak_above_its_threshold_is_enough(over: Residual) -> None:
    """The thresholds are 5 % of the peak force and 1 % of the centre of mass's height times that force."""
    assert not residual(over).meets_thresholds


def test_unmeasured_components_are_ignored() -> None:
    """Plates without moments are evaluated by their forces alone; without any measurement no threshold is met."""
    assert residual(Residual(20.0, 40.0, np.nan, np.nan)).meets_thresholds
    assert not residual(Residual(np.nan, np.nan, np.nan, np.nan)).meets_thresholds


def test_residuals_agree_with_the_comparison(study: Study) -> None:
    """The RMS combines the comparison's axes, peaks exceed it, and a robot has no body height."""
    result = study.identification
    assert result is not None
    (found,) = compute_residuals(study.rig, study.trials, result)
    used = next(comparison for comparison in result.comparisons if comparison.used)
    assert found.identified.force == pytest.approx(float(np.linalg.norm(used.identified.rmse[:3])), rel=1e-6)
    assert found.prior.moment == pytest.approx(float(np.linalg.norm(used.prior.rmse[3:])), rel=1e-6)
    assert found.identified.force_peak > found.identified.force
    assert found.weight == pytest.approx(9.81 * result.parameters.total_mass)
    assert np.isnan(body_height(study.rig))


def test_trials_that_were_not_fitted_are_ignored(study: Study) -> None:
    """Residuals are computed for fitted trials only."""
    others = tuple(replace(trial, name="another") for trial in study.trials)
    assert compute_residuals(study.rig, others, study.identification) == ()
