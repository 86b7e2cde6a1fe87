"""Estimation of marker shares: how far links move with their own markers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import LinkMotions, link_motions
from solver.identification.comparison import compare
from solver.identification.equations import reconstructed_wrench
from solver.identification.error_model.frequency_weights import PairedWeights
from solver.identification.error_model.weight_estimation import ResidualGrams
from solver.motion import LinkDisplacements
from solver.rig import Rig
from solver.signals import FilterPreset, low_pass
from solver.trial import Trial
from tests.identification.bodies import ideal_weights, small_rig
from tests.identification.error_model.test_weight_estimation import WIDE
from tests.identification.test_equations import FRAMES, RATE, swinging_trial

ROOT_SHARE, ARM_SHARE = 0.8, -0.4
GRAVITY_VECTOR = np.array([0.0, 0.0, -9.81])


def link_displacements(rig: Rig, trial: Trial, seed: int) -> LinkDisplacements:
    """Displacements of the markers of every link by some millimetres, up to 6 Hz, along its own axes."""
    noise = np.random.default_rng(seed).standard_normal((FRAMES, len(rig.links), 3))
    smooth = low_pass(noise, RATE, FilterPreset("skin", 5, 6.0))
    local = 0.005 * smooth / smooth.std(axis=0)
    turn = link_motions(rig, trial.motion).rotation.transpose(3, 2, 0, 1)
    return with_derivatives(np.einsum("nlij,nlj->nli", turn, local))


def with_derivatives(values: np.ndarray) -> LinkDisplacements:
    """Displacements (N, L, 3) with derivatives by differences."""
    rates = np.gradient(values, 1.0 / RATE, axis=0)
    return LinkDisplacements(values, rates, np.gradient(rates, 1.0 / RATE, axis=0))


def displacement_wrench(rig: Rig, links: LinkMotions, shifts: LinkDisplacements) -> np.ndarray:
    """Additional force and moment (N, 6) about the world origin if every link is displaced."""
    com = rig.prior.coms
    omega, alpha, acceleration = (part.transpose(2, 1, 0) for part in (links.omega, links.alpha, links.acceleration))
    local = acceleration + np.cross(alpha, com) + np.cross(omega, np.cross(omega, com))  # of the centres, link axes
    place = links.position.transpose(2, 1, 0) + np.einsum("ijln,lj->nli", links.rotation, com)
    pull = np.einsum("ijln,nlj->nli", links.rotation, local) - GRAVITY_VECTOR
    masses = rig.prior.masses[:, None]
    more = masses * shifts.accelerations
    moment = np.cross(place + shifts.values, more) + np.cross(shifts.values, masses * pull)
    return np.concatenate([more.sum(axis=1), moment.sum(axis=1)], axis=1)


def soft_trial(rig: Rig, seed: int) -> Trial:
    """A body whose root moves with its markers and whose third link moves against them.

    The tracked motion does not contain this movement; the measured wrenches do.
    """
    trial = replace(swinging_trial(rig, rig.prior, seed), preset=WIDE)
    pulled = link_displacements(rig, trial, seed)
    shares = np.zeros((len(rig.links), 1))
    shares[[0, 2], 0] = ROOT_SHARE, ARM_SHARE
    links = link_motions(rig, trial.motion)
    values = reconstructed_wrench(rig, replace(trial, preset=None), rig.prior)
    values[:, 3:] += np.cross(links.position[:, 0].T, values[:, :3])
    values += displacement_wrench(rig, links, with_derivatives(shares * pulled.values))
    return replace(trial, wrenches=replace(trial.wrenches, values=values[:, None]), marker_displacements=pulled.frames)


def test_shares_are_estimated_from_the_wrenches() -> None:
    """Shares from two trials are near the truth and remove the error of a third trial."""
    rig = small_rig()
    *trials, unseen = (soft_trial(rig, seed) for seed in range(3))
    whole = np.full((len(rig.links), 6), np.inf)
    found = ideal_weights(
        whole,
        ResidualGrams.from_trials(rig, trials, [rig.prior]).estimate_marker_shares(ideal_weights(whole)),
    )
    assert found.shares[0] == pytest.approx(np.full(3, ROOT_SHARE), abs=0.08)
    assert found.shares[2] == pytest.approx(np.full(3, ARM_SHARE), abs=0.15)
    rigid, soft = (compare(rig, unseen, rig.prior, rig.prior, weights=PairedWeights(own)) for own in (None, found))
    assert np.all(soft.identified.rmse[:3] < 0.3 * rigid.identified.rmse[:3])


def test_markers_that_move_on_the_skin_have_zero_shares() -> None:
    """If the wrenches do not contain the displacements, the shares are zero."""
    rig = small_rig()
    exact = replace(swinging_trial(rig, rig.prior), preset=WIDE)
    pulled = link_displacements(rig, exact, 5)
    found = ResidualGrams.from_trials(rig, [replace(exact, marker_displacements=pulled.frames)], [rig.prior])
    shares = found.estimate_marker_shares(ideal_weights(np.full((len(rig.links), 6), np.inf)))
    assert shares is not None
    assert np.abs(shares).max() < 0.05


def test_trials_without_markers_have_no_shares() -> None:
    """Joint angles of a robot have no markers: no shares are estimated, and given shares change nothing."""
    rig = small_rig()
    trial = replace(swinging_trial(rig, rig.prior), preset=WIDE)
    assert ResidualGrams.from_trials(rig, [trial], [rig.prior]).estimate_frequency_weights().shares is None
    whole = np.full((len(rig.links), 6), np.inf)
    given_shares = ideal_weights(whole, np.ones((len(rig.links), 3)))
    plain = reconstructed_wrench(rig, trial, rig.prior)
    np.testing.assert_array_equal(reconstructed_wrench(rig, trial, rig.prior, weights=given_shares), plain)
