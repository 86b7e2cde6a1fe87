"""The constrained quadratic program of bonnet2016."""

from __future__ import annotations

import numpy as np
import pytest

from solver.identification.base_estimation import estimate_base
from solver.identification.constraints import ConstraintOptions, direction_rows, physical_rows
from solver.identification.hierarchical import ConstrainedOptions, constrained
from solver.identification.weighted_equations import parameter_scale
from solver.qp import Problem, Rows, solve
from tests.identification.bodies import other_body, regression_of, small_rig


def test_well_known_base_parameters_are_met() -> None:
    """If physical rows allow it, base parameters within 10 % are met exactly; the others need not be."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig), noise=1.0)
    base = estimate_base(regression)
    known = base.well_known(0.1)
    assert 0 < known.sum() < len(known)
    loose = ConstraintOptions(boxes=False, floor=1e-6)
    found = constrained(regression, rig, ConstrainedOptions(loose), base)
    assert not found.notes
    got = base.base.project(found.parameters)
    assert got[known] == pytest.approx(base.values[known], rel=1e-6)
    assert np.abs(got[~known] - base.values[~known]).max() > 1e-3
    assert found.settings["base parameters kept"] == known.sum()


def test_same_optimum_as_one_program_given_all_rows() -> None:
    """Without base rows it is one quadratic program: Clarabel with every direction finds the same cost."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig, spread=0.2), noise=5.0)
    limits = ConstraintOptions(total_mass=rig.prior.total_mass, min_eigenvalue_fraction=None)
    found = constrained(regression, rig, ConstrainedOptions(limits, known_std=0.0))
    scale = parameter_scale(rig, rig.prior).ravel()
    everything = Rows.stack([physical_rows(rig, limits), direction_rows(rig, rig.prior, limits).all()])
    scaled = Rows(everything.matrix * scale[None, :], everything.lower, everything.upper, everything.names)
    stacked = np.vstack([regression.factor * scale, np.eye(len(scale))])
    wanted = np.concatenate([regression.target, rig.prior.vector / scale])
    best = solve(Problem.least_squares(stacked, wanted, rows=scaled), "clarabel", tolerance=1e-10)
    cost = np.sum((stacked @ best.x - wanted) ** 2)
    assert np.sum((stacked @ (found.parameters.vector / scale) - wanted) ** 2) == pytest.approx(cost, rel=1e-6)


@pytest.mark.parametrize("noise", [1.0, 10.0])
def test_the_result_is_physical_by_eigenvalues(noise: float) -> None:
    """Masses are not negative, centres lie in their boxes, every inertia is positive definite."""
    rig = small_rig()
    limits = ConstraintOptions(total_mass=rig.prior.total_mass)
    found = constrained(regression_of(rig, other_body(rig), noise=noise), rig, ConstrainedOptions(limits))
    assert found.satisfies in ("rotational", "consistent")
    heavy = found.parameters.masses > 1e-6
    coms = found.parameters.coms[heavy]
    assert np.all(coms >= rig.boxes[heavy, 0] - 1e-6)
    assert np.all(coms <= rig.boxes[heavy, 1] + 1e-6)
