"""Which parameters the name of a bound refers to."""

from __future__ import annotations

import numpy as np

from solver.identification.constraints import (
    ConstraintOptions,
    box_rows,
    direction_rows,
    fixed_link_rows,
    mass_bound_rows,
    mass_rows,
    symmetry_rows,
)
from solver.identification.estimate import find_bounded_parameters, group_bounds
from solver.qp import Rows
from solver.rigs import human

LINKS = ("pelvis", "left_hand", "right_hand")


def test_every_row_that_names_links_is_understood() -> None:
    """The mask of each row's name is where the row's matrix is not zero, for every kind of row that can be a bound.

    A row of a box has a centre of mass, which is two columns, mass and first moment; the name means the latter.
    """
    rig = human(height=1.7, mass=65.0, sex="female")
    options = ConstraintOptions(fixed_links=("head",))
    stacked = Rows.stack(
        [mass_rows(rig, None), box_rows(rig), symmetry_rows(rig, 0.1), mass_bound_rows(rig, rig.prior, options),
         fixed_link_rows(rig, rig.prior, options), direction_rows(rig, rig.prior, options).initial()]
    )  # fmt: skip
    touched = stacked.matrix.toarray() != 0.0
    for name, columns in zip(stacked.names, touched):
        mask = find_bounded_parameters([name], rig.links).ravel()
        assert mask.any(), name
        if "centre of mass" in name:
            columns = columns & (np.arange(len(columns)) % 10 != 0)
        if "inertia about" in name:
            assert np.all(mask[columns]), name
        else:
            np.testing.assert_array_equal(mask, columns, name)


def test_what_names_no_parameter_marks_none() -> None:
    """The sum of all masses, a base parameter and a link of another rig mark nothing."""
    assert not find_bounded_parameters(["sum of masses", "base parameter m_1 + m_2", "tail: mass at zero"], LINKS).any()


def test_similar_bounds_are_listed_together() -> None:
    """One sentence for the parameters of the same links on the same kind of bound."""
    names = [
        "left_hand and right_hand: Iyy as different as allowed",
        "left_hand and right_hand: Izz as different as allowed",
        "pelvis: mass at its upper bound",
        "sum of masses",
    ]
    assert group_bounds(names) == (
        "left_hand and right_hand: Iyy, Izz as different as allowed",
        "pelvis: mass at its upper bound",
        "sum of masses",
    )
