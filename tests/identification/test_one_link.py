"""The result of an identification for one link."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import UnknownLink
from solver.identification.consistent import ConsistentOptions, consistent
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.result import Identification
from solver.values.inertials import INERTIA, InertialParameters, symmetric_entries, symmetric_matrix
from tests.identification.bodies import other_body, posterior_of, regression_of, small_rig, trial_of

LINK = "left_arm"


@pytest.fixture(scope="module")
def found() -> Identification:
    """A noisy simulated trial, identified with intervals."""
    rig = small_rig()
    trial = trial_of(rig, other_body(rig), frames=400, noise=1.0)
    return identify_trials(rig, [trial], IdentifyOptions(cross_validate=False))


def test_a_link_by_its_name(found: Identification) -> None:
    """The result for a link equals its parameters: mass, h / m, and I minus m S(c)."""
    link, row = found[LINK], found.parameters.index(LINK)
    m, hx, hy, hz = found.parameters.values[row, :4]
    about_origin = symmetric_matrix(found.parameters.values[row, INERTIA])
    assert link.mass == m
    assert link.com == pytest.approx(np.array([hx, hy, hz]) / m)
    c = link.com
    steiner = m * (c @ c * np.eye(3) - np.outer(c, c))
    assert link.inertia + steiner == pytest.approx(about_origin)
    assert link.prior.mass == found.prior.masses[row]
    assert link.prior.com == pytest.approx(found.prior.coms[row])


def test_intervals_contain_the_estimate(found: Identification) -> None:
    """Each 95 % interval is as wide as its standard deviation says and contains the estimate."""
    for name in found.parameters.links:
        link = found[name]
        pairs = (
            (link.mass, link.mass_interval),
            (link.com, link.com_interval),
            (link.inertia, link.inertia_interval),
        )
        for value, interval in pairs:
            assert interval is not None
            low, high = interval
            assert np.all(low <= value)
            assert np.all(value <= high)
            assert np.all(np.asarray(high) > np.asarray(low))


def test_a_published_method_has_no_interval() -> None:
    """The intervals of a method without a posterior are None."""
    rig = small_rig()
    options = IdentifyOptions(method="hierarchical", cross_validate=False)
    link = identify_trials(rig, [trial_of(rig, rig.prior)], options)[LINK]
    assert link.mass_interval is link.com_interval is link.inertia_interval is None


def test_std_of_the_inertia_about_the_centre_of_mass() -> None:
    """The standard deviations of I about the CoM, and of the CoM, are those of bodies drawn from the posterior."""
    rig = small_rig()
    regression = regression_of(rig, other_body(rig), frames=200, noise=1.0)
    options = ConsistentOptions()
    estimate = consistent(regression, rig, options)
    found = posterior_of(regression, estimate, rig, options)
    spread, root = found.uncertainty, found.root
    generator, size, small = np.random.default_rng(0), 3000, 1e-4
    changes = small * np.tensordot(generator.standard_normal((size, len(root))), root, 1)
    drawn = [InertialParameters(rig.links, estimate.parameters.values + change) for change in changes]
    inertias = np.array([symmetric_entries(body.inertias_at_com) for body in drawn])
    coms = np.array([body.coms for body in drawn])
    assert inertias.std(axis=0) / small == pytest.approx(spread.inertia_std, rel=0.06)
    assert coms.std(axis=0) / small == pytest.approx(spread.com_std, rel=0.06)


def test_an_unknown_link_lists_the_links(found: Identification) -> None:
    """A wrong name is refused with the nearest and all valid ones."""
    for holder in (found, found.parameters):
        with pytest.raises(UnknownLink, match=r"left_arms.*Did you mean 'left_arm'.*right_hand"):
            holder["left_arms"]


def test_reprs_are_short(found: Identification) -> None:
    """The repr has at most three lines and gives masses in kg."""
    for value in (found, found[LINK], found.parameters, found.parameters[LINK]):
        text = repr(value)
        assert len(text.splitlines()) <= 3
        assert "kg" in text
