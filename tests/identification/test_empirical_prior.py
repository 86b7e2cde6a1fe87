"""The width of the prior under which the data are most likely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from solver.identification.body_coordinates import BodyCoordinates
from solver.identification.consistent import RELATIVE_STD, RELATIVE_STD_SETTING, ConsistentOptions, consistent
from solver.identification.constraints import ConstraintOptions
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.prior import (
    MIN_RELATIVE_STD,
    consistent_with_empirical_prior,
    estimate_relative_std,
)
from solver.identification.regression import Regression
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.values.inertials import PER_LINK, InertialParameters
from tests.identification.bodies import regression_of, small_rig, trial_of

FREE = ConsistentOptions(constraints=ConstraintOptions(total_mass=None, beta=None, boxes=False))
NOISE = 3.0


def draw_body(rig: Rig, spread: float, seed: int) -> InertialParameters:
    """A body drawn from a prior of the given relative standard deviation."""
    x = 2.0 * spread * np.random.default_rng(seed).standard_normal(PER_LINK * len(rig.links))
    return BodyCoordinates.from_reference(rig.prior).parameters(x)


def estimate_spread(
    rig: Rig, truth: InertialParameters, noise: float = NOISE, seed: int = 0
) -> tuple[Regression, float]:
    """Equations of a body, and the relative standard deviation under which they are most likely."""
    regression = regression_of(rig, truth, noise=noise, seed=seed)
    return regression, estimate_relative_std(regression, consistent(regression, rig, FREE), rig, FREE)


@pytest.mark.parametrize("spread", [0.04, 0.12])
def test_the_width_of_the_prior_is_recovered(spread: float) -> None:
    """On average over bodies drawn from a prior, its relative standard deviation is found, whatever the default is."""
    rig = small_rig()
    found = [estimate_spread(rig, draw_body(rig, spread, seed), seed=seed)[1] for seed in range(6)]
    assert np.exp(np.log(found).mean()) == pytest.approx(spread, rel=0.3)


@pytest.mark.parametrize("limited", [False, True])
def test_it_is_the_maximum_of_the_likelihood(limited: bool) -> None:
    """No other width has a larger density of the data under prior and noise, computed independently; a known sum of
    masses and a fixed link condition the prior."""
    rig = small_rig()
    truth = draw_body(rig, 0.07, 3)
    limits = (
        replace(FREE.constraints, total_mass=rig.prior.total_mass, fixed_links=(rig.links[1],)) if limited else None
    )
    options = replace(FREE, constraints=limits or FREE.constraints)
    regression = regression_of(rig, truth.scaled(rig.prior.total_mass), noise=NOISE)
    first = consistent(regression, rig, options)
    found = estimate_relative_std(regression, first, rig, options)
    bodies = BodyCoordinates.from_reference(rig.prior)
    columns = bodies.transform_columns(regression.factor)
    rest = regression.target - regression.factor @ rig.prior.vector
    known = np.zeros((1, columns.shape[1]))
    known[0, ::PER_LINK] = 1.0
    known = np.concatenate([bodies.transform_columns(known), np.eye(columns.shape[1])[PER_LINK : 2 * PER_LINK]])
    prior = np.eye(columns.shape[1])
    if limited:
        prior -= known.T @ np.linalg.pinv(known @ known.T) @ known
    noise = first.settings["noise variance"] * first.settings["data inflation"]

    def density(spread: float) -> float:
        covariance = 4.0 * spread**2 * columns @ prior @ columns.T + noise * np.eye(len(rest))
        return float(multivariate_normal(cov=covariance).logpdf(rest))

    others = [density(found * ratio) for ratio in (0.7, 0.85, 1.0, 1.2, 1.4)]
    assert int(np.argmax(others)) == 2


def test_a_body_equal_to_its_prior_stays_near_it() -> None:
    """Noise that a wide prior lets into the parameters is removed."""
    rig = small_rig()
    regression = regression_of(rig, rig.prior, noise=30.0)
    wide, learnt = consistent(regression, rig, FREE), consistent_with_empirical_prior(regression, rig, FREE)
    assert learnt.settings[RELATIVE_STD_SETTING] == pytest.approx(MIN_RELATIVE_STD)
    far = [np.abs(found.parameters.masses / rig.prior.masses - 1.0).max() for found in (wide, learnt)]
    assert far[1] < 0.2 * far[0]


def test_only_robots_without_a_given_width_use_an_empirical_prior() -> None:
    """Identification reports the estimated width; a given one is used as it is, and so is the default for people."""
    rig = small_rig()
    quick = IdentifyOptions(cross_validate=False)
    trial = trial_of(rig, rig.prior, frames=400, noise=3.0)
    learnt = identify_trials(rig, [trial], quick)
    assert learnt.estimate.settings[RELATIVE_STD_SETTING] < 0.5 * RELATIVE_STD
    assert any("most likely" in note for note in learnt.notes)
    stated = identify_trials(rig, [trial], replace(quick, relative_std=0.1))
    assert stated.estimate.settings[RELATIVE_STD_SETTING] == 0.1
    assert not any("most likely" in note for note in stated.notes)
    person = human(1.75, 70.0, "male")
    moved = trial_of(person, person.prior, frames=200, noise=3.0)
    assert identify_trials(person, [moved], quick).estimate.settings[RELATIVE_STD_SETTING] == RELATIVE_STD
