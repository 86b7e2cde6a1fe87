"""Identification from trials to a result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownPreset
from solver.identification.constraints import ConstraintOptions
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.rigs import hoap3
from solver.scene.determined import TABLES
from solver.signals.trial import Trial
from solver.skeleton.rig import PRIOR_SPREAD, UNOBSERVED, Rig
from solver.values.identification_methods import method_names
from solver.values.inertials import InertialParameters
from tests.random_motion import random_trial

NO_BOXES = ConstraintOptions(boxes=False)
FAST = IdentifyOptions(constraints=NO_BOXES)


@pytest.fixture(scope="module")
def truth() -> Rig:
    """The robot whose trials are simulated."""
    return hoap3()


@pytest.fixture(scope="module")
def wrong_prior(truth: Rig) -> Rig:
    """The same robot with other prior masses: every second link lighter, the others heavier, the sum unchanged."""
    factors = np.where(np.arange(len(truth.links)) % 2, 1.15, 0.9)
    factors *= truth.prior.total_mass / float(factors @ truth.prior.masses)
    values = truth.prior.values * factors[:, None]
    return truth.with_prior(replace(truth.prior, values=values))


def trials(rig: Rig, noise: float = 0.0) -> list[Trial]:
    """Three simulated trials."""
    return [random_trial(rig, 120, seed, noise=noise, name=f"trial {seed}") for seed in range(3)]


@pytest.mark.parametrize("method", method_names())
def test_noise_free_trials_are_explained(truth: Rig, wrong_prior: Rig, method: str) -> None:
    """Without noise every method explains unused trials a hundred times better than the prior."""
    result = identify_trials(wrong_prior, trials(truth), replace(FAST, method=method))
    unseen = [c for c in result.comparisons if not c.used]
    assert len(unseen) == 3
    assert max(c.ratio.max() for c in unseen) < 0.01


def test_a_published_method_takes_a_prior_that_is_not_a_body(truth: Rig, wrong_prior: Rig) -> None:
    """The minimum norm needs no physically consistent prior, which the default method refuses."""
    values = wrong_prior.prior.values.copy()
    values[-1, 4:] = 0.0
    flat = wrong_prior.with_prior(InertialParameters(wrong_prior.links, values))
    options = replace(FAST, method="minimum_norm", cross_validate=False)
    found = identify_trials(flat, trials(truth), options)
    assert found.determined == ()
    with pytest.raises(InvalidValue, match="not physically consistent"):
        identify_trials(flat, trials(truth), replace(options, method="consistent"))


def test_total_mass_is_kept(truth: Rig, wrong_prior: Rig) -> None:
    """A given body mass is the sum of the link masses."""
    options = replace(FAST, total_mass=9.0, cross_validate=False)
    result = identify_trials(wrong_prior, trials(truth, noise=1.0), options)
    assert result.parameters.total_mass == pytest.approx(9.0, rel=1e-6)


@pytest.mark.parametrize("method", [method for method in method_names() if method != "minimum_norm"])
def test_fixed_links_keep_the_prior(truth: Rig, wrong_prior: Rig, method: str) -> None:
    """A fixed link keeps its prior in every method with a prior, is listed and counts as not determined. So does a
    link whose rotation no marker shows in the consistent method."""
    link = wrong_prior.links[-1]
    blind = replace(wrong_prior, provenance={**wrong_prior.provenance, UNOBSERVED: [link]})
    options = replace(FAST, method=method, cross_validate=False)
    held = identify_trials(blind, trials(truth), replace(options, fixed_links=(link,)))
    assert held.parameters.values[-1] == pytest.approx(wrong_prior.prior.values[-1], rel=1e-5, abs=1e-6)
    assert all(one.source == TABLES for one in held.determined if one.links == (link,))
    assert any(link.replace("_", " ") in note and "fixed to the prior" in note for note in held.notes)
    free = identify_trials(blind, trials(truth), options)
    change = abs(free.parameters[link].mass / wrong_prior.prior[link].mass - 1.0)
    if method == "consistent":
        assert change < 1e-5
        assert free.notes == held.notes
        return
    assert change > 0.02


def test_used_and_unused_always_both(truth: Rig, wrong_prior: Rig) -> None:
    """Every trial is compared as used and as unused; a single trial is divided into halves."""
    result = identify_trials(wrong_prior, trials(truth, noise=1.0), FAST)
    assert {(c.trial, c.used) for c in result.comparisons} == {
        (f"trial {k}", u) for k in range(3) for u in (True, False)
    }
    alone = identify_trials(wrong_prior, trials(truth, noise=1.0)[:1], FAST)
    assert [c.used for c in alone.comparisons] == [True, False, False]
    assert any("half" in note for note in alone.notes)


def test_an_unused_trial_does_not_affect_its_fit(truth: Rig, wrong_prior: Rig) -> None:
    """The comparison of an unused trial is that with parameters of the others alone."""
    all_trials = trials(truth, noise=1.0)
    together = identify_trials(wrong_prior, all_trials, FAST)
    apart = identify_trials(wrong_prior, all_trials[:2], FAST)
    from solver.identification.comparison import compare

    direct = compare(wrong_prior, all_trials[2], apart.parameters, wrong_prior.prior)
    held_out = next(c for c in together.comparisons if c.trial == "trial 2" and not c.used)
    assert held_out.identified.rmse == pytest.approx(direct.identified.rmse, rel=1e-4)


def test_a_prior_of_two_tables_is_wider(truth: Rig, wrong_prior: Rig) -> None:
    """Where tables differ by 30 % noisy data leave a mass with a wider interval, and nowhere a narrower one."""
    link = truth.links[3]
    wider = replace(wrong_prior, provenance={**wrong_prior.provenance, PRIOR_SPREAD: {link: 0.3}})
    noisy, options = trials(truth, noise=50.0)[:1], replace(FAST, cross_validate=False)
    known, unknown = (identify_trials(rig, noisy, options).covariance_root for rig in (wrong_prior, wider))
    assert known is not None
    assert unknown is not None
    before, after = (np.sqrt((root[:, :, 0] ** 2).sum(axis=0)) for root in (known, unknown))
    assert after[3] > 1.3 * before[3]


def test_unknown_method_and_empty_trials(truth: Rig, wrong_prior: Rig) -> None:
    """An unknown method is refused with the valid ones; trials without counted frames are refused."""
    with pytest.raises(UnknownPreset, match="hierarchical"):
        identify_trials(wrong_prior, trials(truth), replace(FAST, method="magic"))
    nothing = [replace(trial, counted=np.zeros(120, bool)) for trial in trials(truth)]
    with pytest.raises(InvalidValue, match="no frame counts"):
        identify_trials(wrong_prior, nothing, FAST)
