"""The simulated walk of the centroidal figures."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.noisy_walk import covariance_root, perturb_inertials
from benchmarks.papers.walk import Gait, walk
from solver.dynamics import link_motions
from solver.rigs import hrp2


def test_the_walk_is_physically_feasible() -> None:
    """Planted feet keep still, the pressure stays well inside the soles, friction is small, and it gets on."""
    rig, gait = hrp2(), Gait(steps=3)
    made = walk(rig, gait)
    assert made.margin > 0.04
    assert made.friction < 0.4
    foot = link_motions(rig, made.motion).position[:, rig.index("right_foot")].T
    planted = (made.load[1:, 0] > 0.0) & (made.load[:-1, 0] > 0.0)
    assert np.abs(np.diff(foot, axis=0)[planted]).max() < 1e-3
    length = gait.speed * gait.step
    assert abs(np.ptp(made.feet[:, :, 0], axis=0).max() - 2.0 * length) < 1e-9
    np.testing.assert_allclose(made.load.sum(axis=1), 1.0, atol=1e-12)


def test_perturbed_inertials_are_physically_consistent() -> None:
    """Perturbed inertials have the true mass, physical links, and errors of the stated size, as their covariance
    says."""
    rig = hrp2()
    found = [perturb_inertials(rig, 0.3, seed) for seed in range(10)]
    for parameters in found:
        assert abs(parameters.total_mass - rig.prior.total_mass) < 1e-9
        assert min(np.linalg.eigvalsh(p)[0] for p in parameters.pseudo_inertias) > -1e-12
    ratio = np.array([parameters.masses / rig.prior.masses for parameters in found])
    assert 0.2 < ratio.std() < 0.4
    root = covariance_root(rig.prior, 0.3)
    spread = np.sqrt((root[:, :, 0] ** 2).sum(axis=0)) / rig.prior.masses
    np.testing.assert_allclose(spread, 0.3, rtol=1e-12)
