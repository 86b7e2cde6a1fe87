"""Loads found by comparing two recordings of one body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import UnknownLink
from solver.dynamics import integrate, predicted_wrench
from solver.identification.accumulate import accumulate_regression
from solver.identification.added_load import AddedLoad, find_added_load
from solver.identification.blocks import PostureErrors
from solver.identification.load_likelihood import LoadLikelihood
from solver.options.study import LoadOptions
from solver.signals import smooth_motion
from solver.signals.trial import Trial
from solver.skeleton.rig import UNOBSERVED, Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

NOISE = 1.0  # [N], [N m]


def swinging(rig: Rig, seed: int) -> Motion:
    """Independent sinusoids of every joint."""
    generator = np.random.default_rng(seed)
    times = np.arange(0.0, 6.0, 0.02)
    pitch, phase = generator.uniform(0.3, 1.5, (2, rig.nv))
    tangents = 0.4 * np.sin(2.0 * np.pi * (pitch * times[:, None] + phase))
    q = np.array([integrate(rig, rig.neutral, tangent) for tangent in tangents])
    return smooth_motion(rig, times, q, None)


def recorded(rig: Rig, truth: InertialParameters, seed: int, noise: float = NOISE) -> Trial:
    motion = swinging(rig, seed)
    wrench = predicted_wrench(rig, motion, truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    wrench += noise * np.random.default_rng(seed).standard_normal(wrench.shape)
    return Trial(
        f"trial {seed}", motion, Wrenches(motion.times, ("plate",), wrench[:, None]), np.ones(len(motion), bool)
    )


def loaded(rig: Rig, **kilograms: float) -> InertialParameters:
    """The prior with a small ball in the middle of each named link's box."""
    result = rig.prior
    for link, mass in kilograms.items():
        middle = rig.boxes[rig.index(link)].mean(axis=0)
        inertia = mass * 0.03**2 * np.eye(3)
        ball = InertialParameters.from_com((link,), np.array([mass]), middle[None], inertia[None])
        result = result.replaced(link, result.link(link) + ball.values[0])
    return result


def found(rig: Rig, noise: float = NOISE, **kilograms: float) -> AddedLoad:
    before, after = recorded(rig, rig.prior, 1, noise), recorded(rig, loaded(rig, **kilograms), 2, noise)
    return find_added_load(rig, [before], [after])


def sets(load: AddedLoad) -> set[frozenset[str]]:
    """All sets of links that a result does not exclude."""
    return {frozenset(links) for links in (load.carriers, *load.alternatives)}


@pytest.mark.parametrize("link", ["pelvis", "right_hand", "left_foot"])
def test_one_load_is_found(person: Rig, link: str) -> None:
    """Two kilograms on one link are found there, within 0.1 kg, as a body in its widened box, and nothing elsewhere."""
    result = found(person, **{link: 2.0})
    assert np.all(result.loads.consistency_margin >= -1e-6)
    low, high = person.boxes[person.index(link)]
    assert np.all(low - 0.051 <= result.loads[link].com)
    assert np.all(result.loads[link].com <= high + 0.051)
    assert result.carriers == (link,)
    assert f"kg on {link}" in repr(result)
    assert result.loads.masses[person.index(link)] == pytest.approx(2.0, abs=0.1)
    assert result.probabilities[person.index(link)] > 0.95
    assert result.probabilities.sum() == pytest.approx(1.0)


def test_a_load_shared_by_neighbours_is_not_one_of_them_for_certain(person: Rig) -> None:
    """One kilogram each on pelvis and torso: the pair is never excluded, and always listed if the plates are good."""
    quiet, noisy = (found(person, noise, pelvis=1.0, torso=1.0) for noise in (0.1, 40.0))
    assert set(quiet.carriers) == {"pelvis", "torso"}
    assert len(noisy.carriers) == 1  # the data do not need two
    assert {"pelvis", "torso"} in sets(noisy)
    for load in (quiet, noisy):
        assert load.total == pytest.approx(2.0, abs=2.0 * load.total_half_width)
    assert all(link in noisy.not_excluded for link in noisy.alternatives[0])


def test_a_link_without_markers_is_not_separated_from_its_parent(person: Rig) -> None:
    """If no marker observes how the hand moves, a load on forearm or hand may be on either."""
    blind = replace(person, provenance={**person.provenance, UNOBSERVED: ["right_hand"]})
    assert {"right_forearm"} not in sets(found(person, right_hand=2.0))
    for link in ("right_hand", "right_forearm"):
        load = found(blind, **{link: 2.0})
        assert {frozenset({"right_hand"}), frozenset({"right_forearm"})} <= sets(load)


def test_errors_that_follow_posture_take_information(person: Rig) -> None:
    """Gains of errors that both recordings share determine a load no better, in any direction, and worse in some."""
    pair = [accumulate_regression(person, [recorded(person, person.prior, seed)], axes="world") for seed in (1, 2)]
    blurred = [
        replace(
            one,
            posture_errors=PostureErrors(
                tuple(1e3 * t[:1, :-1].T for t in one.axis_factors), person.prior.values[None], (), np.zeros((6, 0, 1))
            ),
        )
        for one in pair
    ]
    exact, found = (LoadLikelihood(person, (one, other), (person.prior,) * 2, 0.05).P for one, other in (pair, blurred))
    lost = np.linalg.eigvalsh(exact - found)
    assert -1e-6 * lost[-1] < lost[0]
    assert lost[-1] > 0.01 * np.linalg.eigvalsh(exact)[-1]


def test_a_load_beyond_the_margin_is_named_so(person: Rig) -> None:
    """What lies farther from its link than a load may be is said to; within a larger margin it is found."""
    far = InertialParameters.from_com(("box",), np.array([3.0]), np.array([[0.4, 0.0, 0.0]]), 0.01 * np.eye(3)[None])
    heavy = person.prior.replaced("right_forearm", person.prior.link("right_forearm") + far.values[0])
    before, after = [recorded(person, person.prior, 1)], [recorded(person, heavy, 2)]
    near, wide = (find_added_load(person, before, after, LoadOptions(margin=margin)) for margin in (0.05, 0.4))
    assert (near.is_beyond, wide.is_beyond) == (True, False)
    assert wide.carriers == ("right_forearm",)


def test_unknown_links_are_refused(person: Rig) -> None:
    """A candidate that is not a link is refused by name."""
    trial = recorded(person, person.prior, 1)
    with pytest.raises(UnknownLink, match="l_hnd"):
        find_added_load(person, [trial], [trial], LoadOptions(candidates=("l_hnd",)))
