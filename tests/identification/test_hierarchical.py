"""The four-level hierarchical identification."""

from __future__ import annotations

import numpy as np
import pytest

from solver.identification.constraints import ConstraintOptions, direction_rows, physical_rows, plausible_rows
from solver.identification.hierarchical import HierarchicalOptions, hierarchical
from solver.identification.weighted_equations import parameter_scale
from solver.qp import Problem, Rows, Status, solve
from tests.identification.bodies import other_body, regression_of, small_rig


def options(**changes: object) -> HierarchicalOptions:
    return HierarchicalOptions(ConstraintOptions(total_mass=small_rig().prior.total_mass, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", [0.5, 5.0])
def test_same_optimum_as_a_solver_given_all_rows(noise: float) -> None:
    """Directions added as needed give the optimum of Clarabel with all directions, to 1e-6."""
    rig = small_rig()
    truth = other_body(rig, spread=0.2)
    regression = regression_of(rig, truth, noise=noise)
    limits = options(min_eigenvalue_fraction=None).constraints
    found = hierarchical(regression, rig, HierarchicalOptions(limits))
    parts = [physical_rows(rig, limits), plausible_rows(rig, rig.prior, limits)]
    everything = Rows.stack([*parts, direction_rows(rig, rig.prior, limits).all()])
    scale = parameter_scale(rig, rig.prior).ravel()
    scaled = Rows(everything.matrix * scale[None, :], everything.lower, everything.upper, everything.names)
    best = solve(
        Problem.least_squares(regression.factor * scale, regression.target, rows=scaled), "clarabel", tolerance=1e-10
    )
    cost = np.sum((regression.factor @ (scale * best.x) - regression.target) ** 2) + regression.residual_cost
    assert len(found.at_bounds) > 5
    assert found.cost == pytest.approx(cost, rel=1e-6)
    size = np.maximum(1.0, np.abs(everything.matrix @ found.parameters.vector))
    assert np.max(np.abs(everything.slack(found.parameters.vector)) / size) < 1e-7


@pytest.mark.parametrize("scaled", [True, False])
def test_levels_are_not_worsened_and_inertias_are_positive(scaled: bool) -> None:
    """At the end every level still has its optimum, and eigenvalues, not samples, show that inertias are positive."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig, spread=0.2), noise=5.0)
    found = hierarchical(regression, rig, HierarchicalOptions(options().constraints, scaled=scaled))
    assert found.status is Status.OPTIMAL
    assert max(level.violation_of_higher_levels for level in found.levels) < 1e-9
    assert found.satisfies in ("rotational", "consistent")
    assert found.parameters.rotational_margin.min() > 0.0
    assert found.parameters.total_mass == pytest.approx(rig.prior.total_mass)


def test_noise_free_data_are_explained_and_the_rest_is_the_prior() -> None:
    """Without noise the data level is met, and of all such parameters those nearest to the prior are chosen."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig, spread=0.01))
    loose = options(alpha=None, beta=None).constraints
    found = hierarchical(regression, rig, HierarchicalOptions(loose))
    assert found.cost < 1e-9 * found.cost_prior
    scale = parameter_scale(rig, rig.prior).ravel()
    null = np.linalg.svd(regression.factor * scale)[2][len(regression.structure) :]
    if not found.at_bounds:
        assert null @ ((found.parameters.vector - rig.prior.vector) / scale) == pytest.approx(0.0, abs=1e-6)


def test_contradictory_bounds_give_way_to_the_mass() -> None:
    """When mass bounds of 5 % cannot add up to the measured mass they are relaxed, and the notes say so."""
    rig = small_rig()
    heavy = ConstraintOptions(total_mass=1.3 * rig.prior.total_mass, beta=0.05)
    truth = rig.prior.scaled(1.3 * rig.prior.total_mass)
    found = hierarchical(regression_of(rig, truth, noise=1.0), rig, HierarchicalOptions(heavy))
    assert found.parameters.total_mass == pytest.approx(1.3 * rig.prior.total_mass)
    assert any("plausible" in note for note in found.notes)
    assert found.levels[0].met
    assert not found.levels[1].met
    assert found.status is Status.OPTIMAL


def test_a_weight_on_one_link_is_found_when_its_rows_allow_it() -> None:
    """2 kg more on a hand, without its symmetry and with m_ref raised: found there, a fifth of it at most elsewhere."""
    rig = small_rig()
    truth = rig.prior.replaced("left_hand", rig.prior.link("left_hand") * 3.0)
    changes = {"asymmetric": ("left_hand",), "reference_masses": {"left_hand": 3.0}}
    limits = ConstraintOptions(total_mass=truth.total_mass, **changes)  # type: ignore[arg-type]
    found = hierarchical(regression_of(rig, truth), rig, HierarchicalOptions(limits))
    gained = found.parameters.masses - rig.prior.masses
    hand = rig.index("left_hand")
    assert gained[hand] == pytest.approx(2.0, abs=0.5)
    assert np.abs(np.delete(gained, hand)).max() < 0.4
    assert found.cost < 1e-9 * found.cost_prior
