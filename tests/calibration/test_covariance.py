"""The covariance of a calibration is the answer of the fit itself to its prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures import volunteers
from solver.calibration.fit import SubjectFit
from solver.calibration.subject import SubjectData, SubjectState
from solver.progress import silent


@pytest.fixture(scope="module")
def subject() -> SubjectState:
    """A simulated volunteer's standing trial, fitted."""
    body = volunteers.volunteer(1)
    marker_set = volunteers.load_marker_set(volunteers.MARKER_SETS[0])
    known = body.rig.provenance
    data = SubjectData(float(known["mass"]), str(known["sex"]), float(known["height"]))  # type: ignore[arg-type]
    names = [name for name in body.recordings[0].markers.names if marker_set.find_location(name)]  # type: ignore[union-attr]
    state = SubjectState(marker_set, names, data, body.recordings[:1], silent)
    state.initialise()
    return state


def test_a_fit_to_another_prior_changes_by_the_covariance(subject: SubjectState) -> None:
    """Prior means moved by d change the fit by C A d, A the information of the prior."""
    information, vector, constant = subject.prior.information_form()
    shift = 5e-4 * np.random.default_rng(4).standard_normal(len(vector))
    covariance = subject.fit.covariance(subject.theta, subject.samples)
    other = SubjectFit(subject.rig, subject.links, information, vector + information @ shift, constant)
    moved, _ = other.solve(subject.theta.copy(), [replace(sample) for sample in subject.samples])
    step, predicted = moved - subject.theta, covariance @ information @ shift
    assert np.linalg.norm(step - predicted) < 0.1 * np.linalg.norm(predicted)
    assert np.linalg.norm(step) > 0.1 * np.linalg.norm(shift)
