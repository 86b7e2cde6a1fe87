"""Weighted least squares over the tree against stacked Jacobians."""

from __future__ import annotations

import numpy as np
import pytest

from solver import engine
from solver.base.so3 import skew
from solver.dynamics import WeightedTree, integrate
from solver.dynamics.weighted_least_squares import DIAGONAL_COLUMNS, WEIGHT_SUMS
from solver.rigs import hoap3, human
from solver.skeleton.rig import Rig
from tests.pinocchio import data_of, pin


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("rig", [human(1.7, 60.0, "female"), hoap3()], ids=["spherical", "hinges"])
def test_the_tree_solves_the_stacked_equations(rig: Rig, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matrix, gradient and solution are those of all rows stacked, whether or not the memory is shared."""
    if not shared and engine.NAME != "pinocchio":
        pytest.skip("there is nothing to share")
    if not shared:  # as where the library lays its arrays out otherwise
        for name in ("shared_forces", "shared_inertias"):
            monkeypatch.setattr(f"solver.engine.pinocchio_tree.{name}", lambda *_: None)
    rng, links = np.random.default_rng(0), len(rig.links)
    q = integrate(rig, rig.neutral, rng.normal(size=rig.nv))
    tree = WeightedTree(rig)
    weights, turns, places = rng.uniform(0.5, 1.0, links), rng.uniform(0.0, 1.0, links), rng.normal(size=(links, 3))
    weights[2] = 0.0
    x, y, z = places.T
    sums = np.empty((links, WEIGHT_SUMS))
    sums[:, 0], sums[:, 1:4] = weights, weights[:, None] * places
    sums[:, 4:] = weights[:, None] * np.array([y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]).T
    sums[:, DIAGONAL_COLUMNS] += turns[:, None]
    prices, forces, torques = rng.uniform(0.1, 0.2, rig.nv), rng.normal(size=(links, 6)), rng.normal(size=rig.nv)
    tree.set_weights(sums)
    tree.set_regularisation(prices)
    tree.forces[:] = forces
    matrix, gradient = np.diag(prices), torques.copy()
    data = data_of(rig)
    pin.computeJointJacobians(rig.model, data, q)
    for link in range(links):
        jacobian = pin.getJointJacobian(rig.model, data, link + 1, pin.LOCAL)
        point = jacobian[:3] - skew(places[link]) @ jacobian[3:]
        matrix += weights[link] * point.T @ point + turns[link] * jacobian[3:].T @ jacobian[3:]
        gradient += jacobian.T @ forces[link]
    np.testing.assert_allclose(tree.hessian(q), matrix, atol=1e-12)
    np.testing.assert_allclose(tree.gradient(q, torques), gradient, atol=1e-12)
    np.testing.assert_allclose(tree.solve(q, torques), np.linalg.solve(matrix, gradient), atol=1e-9)
