"""Laws of inertials and wrenches: what exists has a pseudo-inertia, what is merged adds up, power knows no point."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from solver.base import so3
from solver.values.inertials import InertialParameters, steiner, symmetric_entries, symmetric_matrix
from solver.values.wrenches import Wrenches
from tests.laws.strategies import arrays, reals, rotation_vectors

MASSES, PLACES = arrays((4,), 50.0, 0.01), arrays((4, 3), 2.0)


def of_points(masses: np.ndarray, places: np.ndarray) -> InertialParameters:
    """One link made of points."""
    com = masses @ places / masses.sum()
    inertia = np.einsum("p,pij->ij", masses, steiner(places - com))  # points p, axes i j
    return InertialParameters.from_com(("link",), masses[None].sum(axis=1), com[None], inertia[None])


@given(MASSES, PLACES)
def test_what_is_made_of_points_exists(masses: np.ndarray, places: np.ndarray) -> None:
    """The pseudo-inertia of points is the sum of m (p, 1)(p, 1)': positive semi-definite, as is the inertia."""
    body, ones = of_points(masses, places), np.column_stack([places, np.ones(4)])
    # points p, rows i, columns j
    expected = np.einsum("p,pi,pj->ij", masses, ones, ones)
    np.testing.assert_allclose(body.pseudo_inertias[0], expected, atol=1e-10 * masses.sum())
    assert body.consistency_margin[0] > -1e-9 * masses.sum()
    assert body.rotational_margin[0] > -1e-9 * masses.sum()


@given(MASSES, PLACES, MASSES, PLACES)
def test_merged_bodies_add_up(m1: np.ndarray, p1: np.ndarray, m2: np.ndarray, p2: np.ndarray) -> None:
    """The parameters of two bodies in one frame are the sum of theirs: that is why identification is linear."""
    both = of_points(np.concatenate([m1, m2]), np.concatenate([p1, p2]))
    np.testing.assert_allclose(both.values, of_points(m1, p1).values + of_points(m2, p2).values, atol=1e-9)


@given(MASSES, PLACES, rotation_vectors(np.pi), reals(200.0, 0.1))
def test_masses_centres_and_inertias_come_back(
    masses: np.ndarray, places: np.ndarray, turn: np.ndarray, total: float
) -> None:
    """Parameters from mass, centre and inertia give these back; turned axes keep the moments; scaling is by mass."""
    body = of_points(masses, places)
    again = InertialParameters.from_com(body.links, body.masses, body.coms, body.inertias_at_com)
    np.testing.assert_allclose(again.values, body.values, atol=1e-9)
    np.testing.assert_array_equal(symmetric_matrix(symmetric_entries(body.inertias)), body.inertias)
    turned = of_points(masses, places @ so3.exp(turn).T)
    moments = [np.linalg.eigvalsh(each.inertias_at_com[0]) for each in (body, turned)]
    np.testing.assert_allclose(moments[0], moments[1], atol=1e-9 * masses.sum())
    scaled = body.scaled(total)
    assert abs(scaled.total_mass - total) < 1e-9 * total
    np.testing.assert_allclose(scaled.coms, body.coms, atol=1e-9)


def wrench_of(values: np.ndarray) -> Wrenches:
    """Two plates (2, 6) at one instant."""
    return Wrenches(np.zeros(1), ("left", "right"), values[None])


@given(arrays((2, 6), 1e3), arrays((3,), 5.0), arrays((3,), 5.0), arrays((6,), 3.0))
def test_power_does_not_depend_on_the_point(
    values: np.ndarray, here: np.ndarray, there: np.ndarray, twist: np.ndarray
) -> None:
    """F v + M omega of a moving body is the same at every point; moving on from a to b goes by (a - b) x F."""
    wrenches = wrench_of(values)
    powers = []
    for point in (here, there, np.zeros(3)):
        velocity = twist[:3] + np.cross(twist[3:], point)
        powers.append(wrenches.about(point)[0] @ np.concatenate([velocity, twist[3:]]))
    np.testing.assert_allclose(powers, powers[-1], atol=1e-7)
    at_here, at_there = wrenches.about(here)[0], wrenches.about(there)[0]
    np.testing.assert_allclose(at_there[3:], at_here[3:] + np.cross(here - there, at_here[:3]), atol=1e-8)
    np.testing.assert_allclose(wrenches.about(np.zeros(3))[0], values.sum(axis=0), atol=1e-9)
