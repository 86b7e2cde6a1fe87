"""Persons of unknown sex: the mean of both columns of the tables, with their difference as uncertainty."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from solver.rigs import build_rig, human
from solver.rigs.anthropometry import TABLES
from solver.rigs.human_skeleton import default_lengths
from solver.skeleton.rig import Rig
from solver.values.person import SHOULDERS, TABLED, TRUNKS, UNKNOWN


def of_both(unknown: Rig, **choices: Any) -> list[Rig]:
    """A man and a woman with the joint centres of a body of unknown sex."""
    joints = {link: joint.position.tolist() for link, joint in zip(unknown.links, unknown.joints)}
    joints.pop(unknown.links[0])
    lengths = default_lengths(1.7, UNKNOWN)
    return [human(1.7, 65.0, sex, joints=joints, lengths=lengths, **choices) for sex in TABLED]


@pytest.mark.parametrize(("tables", "trunk", "shoulders"), list(product([TABLES, ("dumas",)], TRUNKS, SHOULDERS)))
def test_the_prior_is_the_mean_of_both_columns(tables: tuple[str, ...], trunk: str, shoulders: str) -> None:
    """On one skeleton every inertial parameter lies half-way between the sexes; the body is solid and weighs the same.

    Feet are distinguished: where their balls are differs by sex too.
    """
    choices: dict[str, Any] = {"tables": tables, "trunk": trunk, "shoulders": shoulders}
    unknown = human(1.7, 65.0, UNKNOWN, **choices)
    same = [k for k, link in enumerate(unknown.links) if not link.endswith("foot")]
    mean = np.mean([rig.prior.values for rig in of_both(unknown, **choices)], axis=0)
    np.testing.assert_allclose(unknown.prior.values[same], mean[same], atol=1e-10)
    assert unknown.prior.total_mass == pytest.approx(65.0, rel=1e-12)
    assert unknown.prior.consistency_margin.min() > 0.0


def test_lengths_lie_between_those_of_the_sexes() -> None:
    """Every length by stature is the mean of both."""
    both = [default_lengths(1.7, sex) for sex in TABLED]
    found = default_lengths(1.7, UNKNOWN)
    assert found == pytest.approx({name: 0.5 * (both[0][name] + both[1][name]) for name in both[0]}, rel=1e-12)


def test_the_prior_std_is_the_difference_of_the_tables() -> None:
    """With a known sex there is no additional uncertainty; with an unknown one half the relative mass difference."""
    unknown = human(1.7, 65.0, UNKNOWN)
    man, woman = of_both(unknown)
    assert not man.prior_spread
    for link, std in unknown.prior_spread.items():
        one, other = man.prior[link].mass, woman.prior[link].mass
        assert std == pytest.approx(abs(one - other) / (one + other), rel=1e-9)
    assert set(unknown.prior_spread) == set(unknown.links)


def test_an_unknown_sex_can_be_requested_by_parameters() -> None:
    """The builder that the command line and the panel call takes it."""
    rig = build_rig({"kind": "human", "height": 1.7, "mass": 65.0, "sex": UNKNOWN})
    assert rig.provenance["sex"] == UNKNOWN
    assert any("mean of male and female" in note for note in rig.notes)
