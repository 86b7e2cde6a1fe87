"""Laws of pairs that touch by construction, on distances made for the purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics.coordinates import joint_coordinates
from solver.feasibility.link_pairs import (
    CONTACT_DISTANCE,
    SOCKET_DISTANCE,
    find_allowed_collisions,
    sample_postures,
)
from solver.rigs import hoap3
from solver.rigs.assembly import MovingBody, assemble
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.joints import Limits

COUNT = 96
SOCKET, COMPOUND, FAR = ("link_0", "link_2"), ("link_2", "link_5"), ("link_0", "link_6")
"""Two joints between the links; three in one place; five, at distances."""


def chain() -> Rig:
    """Seven links: joints a metre from each other, the fourth to the sixth a millimetre."""
    names = tuple(f"link_{k}" for k in range(7))
    places = [1.0, 1.0, 1.0, 0.001, 0.001, 1.0]
    bodies = [MovingBody(names[0], None)] + [
        MovingBody(names[k + 1], names[k], ((0, 0, 1.0),), np.array([place, 0.0, 0.0]), np.eye(3), [0], [0], [0], [0])
        for k, place in enumerate(places)
    ]
    joints, _ = assemble(bodies)
    none = np.zeros((7, 3))
    prior = InertialParameters.from_com(names, np.ones(7), none, np.tile(np.eye(3), (7, 1, 1)))
    return Rig("chain", names, joints, prior, Limits.none(6), np.zeros((7, 2, 3)), none)


def allowed(pair: tuple[str, str], distances: np.ndarray) -> float | None:
    """The pair's allowance [m], 0 without one; None if it needs no check."""
    touching, allowances = find_allowed_collisions(chain(), (pair,), distances[:, None])
    assert set(touching) | set(allowances) <= {pair}
    assert not set(touching) & set(allowances)
    return None if touching else allowances.get(pair, 0.0)


def spread(share: float, near: float, far: float) -> np.ndarray:
    """Distances that are near in a share of the postures, the neutral one among them, and far in the others."""
    return np.where(np.arange(COUNT) < round(share * COUNT), near, far)


@pytest.mark.parametrize("pair", [SOCKET, COMPOUND, FAR])
def test_links_that_do_not_touch_are_checked(pair: tuple[str, str]) -> None:
    """Distances above the contact distance, or near in a minority of the postures, are judged as they are."""
    generator = np.random.default_rng(0)
    assert allowed(pair, generator.uniform(0.02, 0.5, COUNT)) == 0.0
    assert allowed(pair, spread(0.6, -0.01, 0.1)) == 0.0
    assert allowed(pair, spread(0.6, 0.8 * CONTACT_DISTANCE, 0.1)) == 0.0


@pytest.mark.parametrize("pair", [SOCKET, COMPOUND, FAR])
@pytest.mark.parametrize("depth", [-0.05, 0.0, 0.004])
def test_links_at_one_distance_need_no_check(pair: tuple[str, str], depth: float) -> None:
    """A distance that hardly varies, near or overlapping, is constructed so; one that is not near is checked."""
    steady = depth + np.random.default_rng(1).uniform(-0.0005, 0.0005, COUNT)
    assert allowed(pair, steady) is None
    assert allowed(pair, steady + 0.1) == 0.0


def test_a_socket_may_overlap_as_deep_as_usual() -> None:
    """The usual depth of a socket, and of the neutral posture, is reported as the socket's distance."""
    for usual in (-0.02, -0.004, 0.002):
        distances = spread(0.95, usual, usual - 0.03)
        allowance = allowed(SOCKET, distances)
        assert allowance is not None
        assert usual + allowance == pytest.approx(SOCKET_DISTANCE)
    neutral = spread(0.95, -0.004, -0.05)
    neutral[0] = -0.015
    allowance = allowed(SOCKET, neutral)
    assert allowance is not None
    assert -0.015 + allowance == pytest.approx(SOCKET_DISTANCE)
    # no posture is deeper than usual by more than the distance
    assert allowed(SOCKET, spread(0.8, -0.01, 0.05)) is None
    assert allowed(SOCKET, spread(0.8, -0.01, -0.012)) is None


def test_links_of_a_compound_joint_are_a_socket_if_they_overlap() -> None:
    """Nearness alone is enough with two joints between the links, not with more: there they have to overlap."""
    for pair, allowance in ((SOCKET, SOCKET_DISTANCE + 0.01), (COMPOUND, SOCKET_DISTANCE + 0.01), (FAR, 0.0)):
        distances = spread(0.8, -0.01, 0.1)
        distances[-1] = -0.1
        assert allowed(pair, distances) == pytest.approx(allowance)
    for pair, usable in ((SOCKET, True), (COMPOUND, False), (FAR, False)):
        distances = spread(0.8, 0.001, 0.1)
        distances[-1] = -0.1
        assert (allowed(pair, distances) != 0.0) == usable


def test_links_that_are_always_near_may_be_as_near_as_they_are() -> None:
    """Of a compound joint their median is reported as the socket's distance; others may overlap as when neutral."""
    distances = np.where(np.arange(COUNT) % 3 == 1, -0.02, 0.002)
    distances[0] = -0.012
    assert allowed(FAR, distances) == pytest.approx(0.012)
    assert allowed(COMPOUND, distances) == pytest.approx(SOCKET_DISTANCE - 0.002)
    distances[0] = 0.001
    assert allowed(FAR, distances) == 0.0


def test_pairs_are_judged_one_by_one() -> None:
    """Several pairs together have what each has alone."""
    columns = {SOCKET: spread(0.95, -0.02, -0.05), COMPOUND: np.full(COUNT, -0.01), FAR: np.full(COUNT, 0.3)}
    touching, allowances = find_allowed_collisions(chain(), tuple(columns), np.column_stack(list(columns.values())))
    assert touching == (COMPOUND,)
    assert allowances == {SOCKET: pytest.approx(SOCKET_DISTANCE + 0.02)}


def test_sampled_postures_fill_the_ranges() -> None:
    """The first posture is neutral; the others fill each joint's range, up to half a turn, as without limits."""
    rig = hoap3()
    lower, upper = np.array(rig.limits.lower), np.array(rig.limits.upper)
    lower[3], upper[3], upper[5] = -np.inf, np.inf, np.inf
    lower[7], upper[7] = -20.0, 30.0
    rig = replace(rig, limits=replace(rig.limits, lower=lower, upper=upper))
    q = sample_postures(rig)
    np.testing.assert_array_equal(q[0], rig.neutral)
    np.testing.assert_allclose(q[:, :7], np.tile(rig.neutral[:7], (len(q), 1)), atol=1e-12)
    angles = joint_coordinates(rig, q)[1:]
    least, most = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
    assert (angles >= least - 1e-12).all()
    assert (angles <= most + 1e-12).all()
    assert (np.ptp(angles, axis=0) > 0.7 * (most - least)).all()
