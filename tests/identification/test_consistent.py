"""Physically consistent identification."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownLink
from solver.base.so3 import exp as exp_so3
from solver.identification.body_coordinates import BodyCoordinates
from solver.identification.consistent import ConsistentOptions, consistent, population_rows
from solver.identification.constraints import ConstraintOptions
from solver.identification.estimate import CONSISTENT, NONE, ROTATIONAL, Estimate, consistency
from solver.identification.regression import Regression
from solver.identification.weighted_equations import EquationsWithErrors, FullParameterForm
from solver.qp import Status
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from tests.identification.bodies import entropic_divergence, other_body, regression_of, small_rig
from tests.pinocchio import pin

MASS = ConstraintOptions(total_mass=small_rig().prior.total_mass, boxes=False)
FIXED = ConsistentOptions(relative_std=0.25, constraints=MASS, data_inflation=1.0, noise_variance=1.0)


def total_cost(regression: Regression, found: Estimate, parameters: InertialParameters, strength: float = 4.0) -> float:
    """The Bayesian cost, computed independently."""
    misfit = np.sum((regression.factor @ parameters.vector - regression.target) ** 2)
    return float(0.5 * misfit + strength * entropic_divergence(parameters, found.prior).sum())


def in_other_frames(rig: Rig, rotation: np.ndarray, shift: np.ndarray) -> InertialParameters:
    """The prior in link frames that are rotated and translated; Pinocchio transforms the inertias."""
    place = pin.SE3(rotation, shift)
    values = [place.act(pin.Inertia.FromDynamicParameters(np.array(v))).toDynamicParameters() for v in rig.prior.values]
    return InertialParameters(rig.links, np.array(values))


@pytest.mark.parametrize("noise", [0.5, 20.0])
def test_results_are_consistent(noise: float) -> None:
    """For any noise, every pseudo-inertia is positive semi-definite by eigenvalues and the masses add up."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig, spread=0.3), noise=noise)
    found = consistent(regression, rig, ConsistentOptions(constraints=MASS))
    assert found.status is Status.OPTIMAL
    assert found.satisfies == "consistent"
    assert found.parameters.consistency_margin.min() > 0.0
    assert found.parameters.total_mass == pytest.approx(rig.prior.total_mass, rel=1e-9)


def test_the_entropic_optimum_is_stationary_and_lowest() -> None:
    """No step that keeps the total mass lowers the cost, to second order in the step."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig, spread=0.3), noise=3.0)
    found = consistent(regression, rig, FIXED)
    best = total_cost(regression, found, found.parameters)
    assert best < total_cost(regression, found, rig.prior)
    coordinates = BodyCoordinates.from_reference(rig.prior)
    x = coordinates.coordinates(found.parameters)
    generator = np.random.default_rng(3)
    mass = coordinates.blocks[:, 0, :].ravel()
    for _ in range(20):
        step = generator.standard_normal(len(x))
        step -= mass * (mass @ step) / (mass @ mass)
        step *= 1e-5 / np.linalg.norm(step)
        ahead, behind = (total_cost(regression, found, coordinates.parameters(x + s * step)) for s in (1.0, -1.0))
        assert min(ahead, behind) >= best - 1e-9 * abs(best)
        assert abs(ahead - behind) < 1e-3 * (ahead + behind - 2.0 * best) + 1e-9 * abs(best)


def test_the_choice_of_link_frames_does_not_matter() -> None:
    """Identified in other link frames and transformed back, the same bodies are found, within the solver's
    tolerance."""
    rig = small_rig()
    truth = other_body(rig, spread=0.2)
    regression = regression_of(rig, truth, noise=3.0)
    here = consistent(regression, rig, FIXED)
    generator = np.random.default_rng(4)
    rotation, shift = exp_so3(generator.standard_normal(3)), generator.standard_normal(3) * 0.3
    there = in_other_frames(rig, rotation, shift)
    # phi_here = change phi_there, link by link
    back = pin.SE3(rotation, shift).inverse()
    columns = [back.act(pin.Inertia.FromDynamicParameters(v)).toDynamicParameters() for v in there.values]
    assert np.array(columns) == pytest.approx(rig.prior.values, abs=1e-9)
    change = parameter_transform(back)
    parts = np.split(regression.factor, len(rig.links), axis=1)
    moved = _Equations(regression, np.hstack([part @ change for part in parts]))
    found = consistent(moved, replace(rig, prior=there), FIXED)  # type: ignore[arg-type]
    assert found.parameters.values @ change.T == pytest.approx(here.parameters.values, abs=1e-6)


def parameter_transform(place: pin.SE3) -> np.ndarray:
    """(10, 10) matrix that transforms the ten parameters to another frame (linear, so by unit vectors)."""
    base = pin.Inertia.Random().toDynamicParameters()
    result = np.empty((10, 10))
    at_base = place.act(pin.Inertia.FromDynamicParameters(base)).toDynamicParameters()
    for column in range(10):
        step = 0.01 * np.eye(10)[column] * abs(base[0])
        ahead = place.act(pin.Inertia.FromDynamicParameters(base + step)).toDynamicParameters()
        result[:, column] = (ahead - at_base) / step[column]
    return result


class _Equations:
    """The same equations in other link frames: all that the method needs if noise and inflation are given."""

    cost = FullParameterForm.cost

    def __init__(self, regression: Regression, factor: np.ndarray) -> None:
        self.links, self.residual_cost = regression.links, regression.residual_cost
        self.factor, self.target = factor, regression.target
        self.weights, self.axis_rows = regression.weights, regression.axis_rows
        self.equations_with_errors = EquationsWithErrors.without_posture_errors(factor, regression.target)


def test_a_narrower_prior_keeps_the_result_closer() -> None:
    """The divergence falls as the prior narrows, and as the data are assumed to be more correlated."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig, spread=0.2), noise=5.0)

    def distance(**choices: float) -> float:
        options = replace(FIXED, **choices)  # type: ignore[arg-type]
        return float(entropic_divergence(consistent(regression, rig, options).parameters, rig.prior).sum())

    spreads = [distance(relative_std=s) for s in (0.05, 0.2, 0.8)]
    inflations = [distance(data_inflation=c) for c in (100.0, 10.0, 1.0)]
    assert spreads == sorted(spreads)
    assert inflations == sorted(inflations)
    assert distance(data_inflation=1e12) < 1e-6


def test_requested_boxes_and_bounds_hold() -> None:
    """With boxes and level 2, centres stay in their boxes and masses in their range; active rows are listed."""
    rig = small_rig()
    limits = ConstraintOptions(total_mass=rig.prior.total_mass, beta=0.05)
    regression = regression_of(rig, other_body(rig, spread=0.3), noise=5.0)
    found = consistent(regression, rig, replace(FIXED, constraints=limits, plausible=True))
    ratio = found.parameters.masses / rig.prior.masses
    assert np.all(np.abs(ratio - 1.0) <= 0.05 + 1e-8)
    assert np.all(found.parameters.coms >= rig.boxes[:, 0] - 1e-8)
    stopped = [link for link, r in zip(rig.links, ratio) if abs(abs(r - 1.0) - 0.05) < 1e-6]
    assert stopped
    assert all(any(name.startswith(f"{link}: mass at its") for name in found.at_bounds) for link in stopped)


def test_divergence_of_a_heavier_body() -> None:
    """By hand: twice the mass everywhere costs 4 (2 - 1 - log 2); an inconsistent body costs infinity."""
    prior = small_rig().prior
    assert entropic_divergence(prior, prior) == pytest.approx(np.zeros(6), abs=1e-12)
    doubled = InertialParameters(prior.links, 2.0 * prior.values)
    assert entropic_divergence(doubled, prior) == pytest.approx(np.full(6, 4.0 * (1.0 - np.log(2.0))))
    assert np.isinf(entropic_divergence(prior.replaced("head", -prior.link("head")), prior)[1])


def test_few_equations_are_not_treated_as_exact() -> None:
    """Three frames fit any noise exactly; the result still stays as near to the prior as their noise requires."""
    rig = small_rig()
    truth = other_body(rig, spread=0.05)
    few = consistent(regression_of(rig, truth, frames=3, noise=10.0), rig, ConsistentOptions(constraints=MASS))
    assert few.cost > 1e-3 * few.cost_prior
    assert entropic_divergence(few.parameters, rig.prior).max() < 0.5


def test_bad_choices_are_refused() -> None:
    """A prior that is not a solid body, a width that is not positive and an unknown link are errors that name them."""
    rig = small_rig()
    regression = regression_of(rig, rig.prior)
    flat = rig.prior.replaced("head", rig.prior.link("head") * np.array([1, 1, 1, 1, 9, 1, 1, 1, 1, 1.0]))
    with pytest.raises(InvalidValue, match="'head'"):
        consistent(regression, rig.with_prior(flat), ConsistentOptions())
    with pytest.raises(InvalidValue, match="relative_std"):
        ConsistentOptions(relative_std=0.0)
    with pytest.raises(UnknownLink, match="hedd"):
        consistent(regression, rig, ConsistentOptions(relative_stds={"hedd": 0.1}))


def test_mass_prior_has_the_relative_std() -> None:
    """With a mass prior, a mass that changes without its size costs half at one relative standard deviation.

    The divergence alone allows twice that change.
    """
    rig = small_rig()
    bodies = BodyCoordinates.from_reference(rig.prior)
    options = ConsistentOptions(relative_std=0.2, relative_stds={rig.links[1]: 0.5}, mass_prior=True)
    rows = population_rows(bodies, options)
    for link, spread in ((0, 0.2), (1, 0.5)):
        values = rig.prior.values.copy()
        values[link, 0] *= 1.0 + spread
        x = bodies.coordinates(InertialParameters(rig.links, values))
        assert 0.5 * np.sum((rows @ x) ** 2) == pytest.approx(0.5)
    assert not len(population_rows(bodies, replace(options, mass_prior=False)))


@pytest.mark.parametrize("across", [1, 2])
def test_a_midline_link_lies_near_its_plane_of_symmetry(across: int) -> None:
    """A shift across the plane of a tenth of the radius of gyration costs half; along the plane, and of other links, it
    costs nothing, and neither does a mass at an unchanged centre of mass."""
    rig = small_rig()
    bodies, prior = BodyCoordinates.from_reference(rig.prior), rig.prior
    rows = population_rows(bodies, ConsistentOptions(midline_links={rig.links[0]: np.eye(3)[across]}))
    gyration = np.sqrt(prior.pseudo_inertias[0, across, across] / prior.masses[0] - prior.coms[0, across] ** 2)

    def cost(link: int, axis: int, mass: float = 1.0) -> float:
        values = prior.values.copy()
        values[link, 0] *= mass
        values[link, 1:4] = values[link, 0] * (prior.coms[link] + 0.1 * gyration * (np.arange(3) == axis))
        return 0.5 * float(np.sum((rows @ bodies.coordinates(InertialParameters(rig.links, values))) ** 2))

    assert cost(0, across) == pytest.approx(0.5)
    assert max(cost(0, 0), cost(0, 3 - across), cost(1, across), cost(0, 3, mass=1.5)) < 1e-12


def test_eigenvalues_say_which_bodies_are_possible() -> None:
    """A sphere is consistent; a body with .1 + .1 < .4 only has a positive definite inertia; a negative one neither."""
    bodies = [
        np.array([[1.0, 0.0, 0.0, 0.0, xx, 0.0, yy, 0.0, 0.0, 0.4]]) for xx, yy in ((0.4, 0.4), (0.1, 0.1), (-0.1, 0.1))
    ]
    assert [consistency(InertialParameters(("body",), own)) for own in bodies] == [CONSISTENT, ROTATIONAL, NONE]
