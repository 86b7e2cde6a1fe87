"""Constraint rows against the equations of the papers."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownLink
from solver.identification.constraints import (
    ConstraintOptions,
    box_rows,
    default_floors,
    fixed_link_rows,
    mass_bound_rows,
    mass_rows,
    physical_rows,
    plausible_rows,
    symmetry_rows,
)
from solver.values.inertials import FIRST_MOMENT, MASS
from tests.identification.bodies import small_rig


def changed(link: str, column: int, factor: float) -> np.ndarray:
    """phi of the prior with one parameter multiplied."""
    rig = small_rig()
    values = rig.prior.values.copy()
    values[rig.index(link), column] *= factor
    return values.ravel()


def test_the_prior_satisfies_everything() -> None:
    """A symmetric prior with its centres inside the boxes violates no row."""
    rig = small_rig()
    options = ConstraintOptions(total_mass=rig.prior.total_mass)
    for rows in (physical_rows(rig, options), plausible_rows(rig, rig.prior, options)):
        assert np.abs(rows.slack(rig.prior.vector)).max() < 1e-12


def test_box_rows_are_violated_when_the_centre_leaves_the_box() -> None:
    """A centre of mass a little outside one side violates exactly that side, a little inside none."""
    rig = small_rig()
    rows = box_rows(rig)
    for share, violated in ((0.999, 0), (1.001, 1)):
        values = rig.prior.values.copy()
        k = rig.index("head")
        centre, high = rig.boxes[k].mean(axis=0), rig.boxes[k, 1]
        com = centre + np.array([0.0, share, 0.0]) * (high - centre)
        values[k, FIRST_MOMENT] = values[k, MASS] * com
        slack = rows.slack(values.ravel())
        assert np.count_nonzero(slack) == violated
        assert all("head" in rows.names[i] and "y" in rows.names[i] for i in np.flatnonzero(slack))


@pytest.mark.parametrize(("factor", "fine"), [(0.91, True), (0.89, False), (1.09, True), (1.11, False)])
def test_symmetry(factor: float, fine: bool) -> None:
    """The left arm may differ from the right one by alpha, in both directions, unless its rows are removed."""
    rig = small_rig()
    phi = changed("left_arm", MASS, factor)
    assert (not symmetry_rows(rig, 0.1).slack(phi).any()) == fine
    assert not symmetry_rows(rig, 0.1, ("left_arm",)).slack(phi).any()


def test_mass_bounds_follow_their_options() -> None:
    """beta and m_ref may be changed link by link, as the belt trials need."""
    rig = small_rig()
    phi = changed("left_hand", MASS, 3.0)
    plain = ConstraintOptions()
    assert mass_bound_rows(rig, rig.prior, plain).slack(phi).any()
    belt = ConstraintOptions(reference_masses={"left_hand": 3.0})
    assert not mass_bound_rows(rig, rig.prior, belt).slack(phi).any()
    tight = ConstraintOptions(beta=0.05, betas={"head": 0.5})
    rows = mass_bound_rows(rig, rig.prior, tight)
    assert not rows.slack(changed("head", MASS, 1.4)).any()
    assert rows.slack(changed("trunk", MASS, 1.1)).any()


def test_the_sum_of_masses_is_an_equality() -> None:
    """Too heavy and too light violate the sum by the difference; a negative mass violates its own row."""
    rig = small_rig()
    rows = mass_rows(rig, rig.prior.total_mass + 2.0)
    assert np.abs(rows.slack(rig.prior.vector)).max() == pytest.approx(2.0)
    assert rows.equality.sum() == 1
    assert mass_rows(rig, None).slack(changed("head", MASS, -1.0)).max() == pytest.approx(4.0)


def test_bad_options_are_refused() -> None:
    """Unknown links, impossible numbers and priors without positive inertia name the culprit."""
    rig = small_rig()
    with pytest.raises(UnknownLink, match="left_hand"):
        physical_rows(rig, ConstraintOptions(asymmetric=("left_hnd",)))
    with pytest.raises(InvalidValue, match="total mass"):
        ConstraintOptions(total_mass=-1.0)
    with pytest.raises(InvalidValue, match="beta"):
        ConstraintOptions(betas={"head": 1.5})
    hollow = rig.prior.replaced("head", np.eye(10)[0])
    with pytest.raises(InvalidValue, match="'head'"):
        default_floors(hollow)


def test_a_link_without_mass_takes_no_part() -> None:
    """Its floor is zero and all of its ten parameters stay zero; nobody has to name it."""
    rig = small_rig()
    empty = rig.prior.replaced("head", np.zeros(10))
    assert default_floors(empty)[rig.index("head")] == 0.0
    rows = fixed_link_rows(rig, empty, ConstraintOptions())
    assert (len(rows.lower), rows.lower.any(), rows.upper.any()) == (10, False, False)
