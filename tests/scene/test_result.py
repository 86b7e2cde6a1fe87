"""Results as a scene draws them: ellipsoids, densities, deviations."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.scene.determined import DATA, MASS_KIND, MOMENT_KIND, SHAPE, TABLES, DeterminedQuantity
from solver.scene.result import SceneResult, densities, equivalent_ellipsoids
from solver.values.inertials import PARAMETERS, InertialParameters

LINKS = ("arm", "leg", "head")
MASSES = np.array([2.0, 5.0, 3.0])  # [kg]
SEMI_AXES = np.array([[0.05, 0.1, 0.3], [0.1, 0.2, 0.4], [0.1, 0.1, 0.15]])  # [m]


def turns() -> np.ndarray:
    """Three proper rotations (3, 3, 3)."""
    found = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3, 3)))[0]
    found[:, :, 2] *= np.linalg.det(found)[:, None]
    return found


def solid_ellipsoids(masses: np.ndarray = MASSES) -> InertialParameters:
    """Solid ellipsoids of uniform density, rotated and off their links' origins: I_xx = m (b^2 + c^2) / 5 and so on."""
    squares = SEMI_AXES**2
    moments = masses[:, None] * (squares.sum(axis=1, keepdims=True) - squares) / 5.0
    inertias = np.einsum("lij,lj,lkj->lik", turns(), moments, turns())  # l link; j principal axis
    coms = np.random.default_rng(2).uniform(-0.2, 0.2, (3, 3))
    return InertialParameters.from_com(LINKS, masses, coms, inertias)


def test_a_solid_ellipsoid_is_its_own_equivalent() -> None:
    """Centre, semi-axes and their directions are recovered, in right-handed axes."""
    bodies = solid_ellipsoids()
    centres, semi_axes, axes = equivalent_ellipsoids(bodies)
    np.testing.assert_allclose(centres, bodies.coms, atol=1e-12)
    np.testing.assert_allclose(np.sort(semi_axes), SEMI_AXES, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.det(axes), 1.0, rtol=1e-12)
    shapes, wanted = (
        np.einsum("lij,lj,lkj->lik", axes_of, sizes**2, axes_of)  # l link; j principal axis
        for axes_of, sizes in ((axes, semi_axes), (turns(), SEMI_AXES))
    )
    np.testing.assert_allclose(shapes, wanted, atol=1e-12)


def test_inconsistent_inertials_have_no_ellipsoid() -> None:
    """An inertia that violates the triangle inequality, and a negative mass, give no semi-axes; others keep theirs."""
    inertias = np.array([np.diag([1.0, 1.0, 2.1]), np.eye(3), np.eye(3)])
    bodies = InertialParameters.from_com(LINKS, np.array([1.0, -1.0, 1.0]), np.zeros((3, 3)), inertias)
    semi_axes = equivalent_ellipsoids(bodies)[1]
    assert np.isnan(semi_axes[:2]).all()
    np.testing.assert_allclose(semi_axes[2], np.sqrt(2.5), rtol=1e-12)


def test_density_is_mass_over_volume() -> None:
    """An ellipsoid of water has the mass of its volume; without a volume there is no density."""
    volumes = 4.0 / 3.0 * np.pi * SEMI_AXES.prod(axis=1)
    np.testing.assert_allclose(densities(solid_ellipsoids(1000.0 * volumes), volumes), 1000.0, rtol=1e-12)
    assert np.isnan(densities(solid_ellipsoids(), np.array([0.0, np.nan, -1.0]))).all()


def test_changes_and_classes_by_link() -> None:
    """A mass 10 % above its prior changed by 0.1; a link's share is that of its first moment's variance that the data
    remove, and its limb's mass is known if the data determine it with the prior's shape."""
    prior = solid_ellipsoids()
    heavier = InertialParameters(LINKS, 1.1 * prior.values)
    moment = DeterminedQuantity(MOMENT_KIND, "arm", LINKS[1:2], DATA, np.ones(3), np.full(3, 0.6), np.ones(3))
    limb, split = (
        DeterminedQuantity(MASS_KIND, "some", links, source, *np.array([[3.0], [0.5], [1.0]]))
        for links, source in ((LINKS[1:], SHAPE), (LINKS[:1], TABLES))
    )
    result = SceneResult(heavier, prior, determined=(limb, split, moment))
    assert result.links == LINKS
    np.testing.assert_allclose(result.mass_change, 0.1)
    np.testing.assert_allclose(result.determined_share, [np.nan, 0.64, np.nan])
    np.testing.assert_allclose(result.limb_masses, [np.nan, 3.0, 3.0])
    assert np.isnan(SceneResult(heavier, prior).determined_share).all()


def test_inconsistent_results_are_refused() -> None:
    """A prior of other links and columns of another order are refused."""
    bodies = solid_ellipsoids()
    other = InertialParameters(("arm", "leg", "tail"), bodies.values)
    with pytest.raises(InvalidValue, match="different links"):
        SceneResult(bodies, other)
    with pytest.raises(InvalidValue, match="columns of a result are"):
        SceneResult(bodies, bodies, columns=PARAMETERS[::-1])
