"""Sources of uncertainty: noise, prior, and errors that follow posture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.result import NOISE, PRIOR, SKIN, Identification
from solver.rig import Rig
from solver.trial import Trial
from tests.identification.bodies import other_body, small_rig, trial_of

OPTIONS = IdentifyOptions(cross_validate=False, jobs=1, bootstrap=0)


def identify_one(rig: Rig, trial: Trial) -> Identification:
    """Identification from one trial."""
    return identify_trials(rig, [trial], OPTIONS)


def noisy(rig: Rig, noise: float = 1.0) -> Trial:
    """A simulated trial of another body than the prior."""
    return trial_of(rig, other_body(rig), frames=400, noise=noise)


def test_noise_and_prior_add_up_to_the_posterior() -> None:
    """Squares by noise and prior sum to the variances of the posterior; more noise increases both."""
    rig = small_rig()
    sizes = []
    for noise in (0.1, 30.0):
        found = identify_one(rig, noisy(rig, noise))
        assert found.covariance_root is not None
        whole = (found.covariance_root**2).sum(axis=0)
        np.testing.assert_allclose(found.std_by_source[NOISE] ** 2 + found.std_by_source[PRIOR] ** 2, whole, rtol=1e-6)
        sizes.append([float((found.std_by_source[cause] ** 2).sum()) for cause in (NOISE, PRIOR)])
    assert sizes[1][0] > 10.0 * sizes[0][0]
    assert sizes[1][1] > sizes[0][1]


def test_errors_that_follow_posture_are_a_source_of_their_own() -> None:
    """Of a person the three sources sum to the posterior's variances; of a robot there is no such source."""
    rig = small_rig()
    assert SKIN not in identify_one(rig, noisy(rig)).std_by_source
    person = replace(rig, provenance={"kind": "human"})
    found = identify_one(person, noisy(person))
    assert found.covariance_root is not None
    whole = (found.covariance_root**2).sum(axis=0)
    np.testing.assert_allclose(sum(std**2 for std in found.std_by_source.values()), whole, rtol=1e-6)
    assert found.std_by_source[SKIN].max() > 0.0
