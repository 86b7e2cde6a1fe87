"""The uncertainty that equations with errors leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.identification.accumulate import accumulate_regression
from solver.identification.body_coordinates import BodyCoordinates
from solver.identification.consistent import ConsistentOptions, consistent
from solver.identification.constraints import ConstraintOptions
from solver.values.inertials import MASS
from tests.identification.bodies import posterior_of, regression_of, small_rig, trial_of

LOOSE = ConsistentOptions(
    relative_std=0.5, constraints=ConstraintOptions(boxes=False), data_inflation=1.0, noise_variance=1.0
)


def test_without_data_the_std_is_the_priors() -> None:
    """Equations without weight leave each mass with twice the prior's relative standard deviation of a whole link."""
    rig = small_rig()
    regression = regression_of(rig, rig.prior, noise=1.0)
    options = replace(LOOSE, relative_std=0.1, noise_variance=1e12)
    found = consistent(regression, rig, options)
    std = posterior_of(regression, found, rig, options).uncertainty.std
    assert std[:, MASS] == pytest.approx(0.2 * rig.prior.masses, rel=1e-3)


def test_a_given_total_mass_narrows_the_intervals() -> None:
    """With one link's mass the complement of all others', intervals shrink and never grow."""
    rig = small_rig()
    regression = regression_of(rig, rig.prior, noise=1.0)
    free = replace(LOOSE, noise_variance=1e6)
    fixed = replace(free, constraints=ConstraintOptions(boxes=False, total_mass=rig.prior.total_mass))
    found = consistent(regression, rig, fixed)
    loose, tight = (posterior_of(regression, found, rig, options).uncertainty.std for options in (free, fixed))
    assert np.all(tight <= loose * (1.0 + 1e-6))
    assert tight[0, MASS] < 0.8 * loose[0, MASS]


def test_intervals_contain_the_truth() -> None:
    """Bodies drawn from the prior lie within two standard deviations in about 95 % of the cases."""
    rig = small_rig()
    bodies = BodyCoordinates.from_reference(rig.prior)
    generator = np.random.default_rng(8)
    options = ConsistentOptions(relative_std=0.05, constraints=ConstraintOptions(boxes=False), data_inflation=1.0)
    inside = []
    for draw in range(25):
        truth = bodies.parameters(0.1 * generator.standard_normal(10 * len(rig.links)))
        trial = trial_of(rig, truth, frames=60, noise=20.0, seed=draw)
        regression = accumulate_regression(rig, [trial]).with_weights(np.full(6, 1.0 / 20.0))
        chosen = replace(options, noise_variance=1.0)
        found = consistent(regression, rig, chosen)
        spread = posterior_of(regression, found, rig, chosen).uncertainty
        inside.append(np.abs(found.parameters.values - truth.values) < 2.0 * spread.std)
    assert 0.9 < np.mean(inside) < 0.99
