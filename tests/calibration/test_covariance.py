"""The covariance of a calibration is the answer of the fit itself to its prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.progress import silent
from solver.calibration import fit, load_marker_set
from solver.calibration.fit import SubjectFit
from solver.calibration.subject import SubjectData, SubjectState
from solver.demo import simulated_person
from solver.demo.person import HEIGHT, MARKER_SET, MASS, SEX


@pytest.fixture(scope="module")
def subject() -> SubjectState:
    """A simulated person's standing trial, fitted."""
    recordings = simulated_person().recordings
    marker_set = load_marker_set(MARKER_SET)
    names = [name for name in recordings[0].markers.names if marker_set.find_location(name)]  # type: ignore[union-attr]
    state = SubjectState(marker_set, names, SubjectData(MASS, SEX, HEIGHT), recordings[:1], silent)
    state.initialise()
    return state


def test_a_fit_to_another_prior_changes_by_the_covariance(
    subject: SubjectState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prior means moved by d change the fit by C A d, A the information of the prior."""
    information, vector, constant = subject.prior.information_form()
    shift = 5e-4 * np.random.default_rng(4).standard_normal(len(vector))
    covariance = subject.fit.covariance(subject.theta, subject.samples)
    monkeypatch.setattr(fit, "MAX_ITERATIONS", 3)  # the rest is slow, and far smaller
    other = SubjectFit(subject.rig, subject.links, information, vector + information @ shift, constant)
    moved, _ = other.solve(subject.theta.copy(), [replace(sample) for sample in subject.samples])
    step, predicted = moved - subject.theta, covariance @ information @ shift
    assert np.linalg.norm(step - predicted) < 0.1 * np.linalg.norm(predicted)
    assert np.linalg.norm(step) > 0.1 * np.linalg.norm(shift)
