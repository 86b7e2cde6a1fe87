"""The covariance of a calibration is that of the fit's own answers to soft tissue and prior means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures import volunteers
from solver.calibration.covariance import calibration_covariance
from solver.calibration.fit import SubjectFit
from solver.calibration.subject import SubjectData, SubjectState
from solver.coordinates import joint_coordinates
from solver.progress import silent

SIZE = 4e-3
"""[m/rad]"""


@pytest.fixture(scope="module")
def subject() -> SubjectState:
    """A simulated volunteer, fitted, with one marker on the left hand."""
    body = volunteers.volunteer(1)
    marker_set = volunteers.load_marker_set(volunteers.MARKER_SETS[0])
    known = body.rig.provenance
    data = SubjectData(float(known["mass"]), str(known["sex"]), float(known["height"]))  # type: ignore[arg-type]
    names = [name for name in body.recordings[0].markers.names if marker_set.find_location(name)]  # type: ignore[union-attr]
    hands = [name for name in names if marker_set.find_location(name).link == "left_hand"]  # type: ignore[union-attr]
    names = [name for name in names if name not in hands[1:]]
    state = SubjectState(marker_set, names, data, body.recordings[:1], silent)
    state.initialise()
    state.refine(body.recordings[:1], body.recordings[1:])
    return state


def covariance_of(subject: SubjectState, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Covariance and middle posture, with soft tissue at the hands alone."""
    sizes = dict.fromkeys(volunteers.SKIN, 0.0) | {"hand": size}
    return calibration_covariance(subject.fit, subject.theta, subject.samples, sizes)


def test_a_fit_to_displaced_markers_lies_one_standard_deviation_away(subject: SubjectState) -> None:
    """A hand's only marker moved with one coordinate by one standard deviation changes the fit by one."""
    (prior, posture), (both, _) = covariance_of(subject, 0.0), covariance_of(subject, SIZE)
    (marker,) = [k for k, link in enumerate(subject.links) if subject.rig.links[link] == "left_hand"]
    hand, coordinate = subject.links[marker], subject.rig.v_slices[subject.links[marker]].start - 6
    fit = SubjectFit(subject.rig, subject.links, *subject.prior.information_form())
    fit.set_joint_centres(subject.theta)
    before = [replace(sample) for sample in subject.samples]
    start, _ = fit.solve(subject.theta.copy(), before)
    after = []
    for sample in before:
        angle = (joint_coordinates(subject.rig, sample.q) - joint_coordinates(subject.rig, posture))[coordinate]
        fit.kinematics.update_kinematics(sample.q)
        positions = sample.positions.copy()
        positions[marker] += SIZE / np.sqrt(3.0) * angle * fit.kinematics.rotations[hand][:, 2]
        after.append(replace(sample, positions=positions))
    moved, _ = fit.solve(start.copy(), after)
    values, vectors = np.linalg.eigh(both - prior)
    kept = values > 1e-9 * values[-1]
    answer = vectors[:, kept].T @ (moved - start)
    assert np.linalg.norm(answer) > 0.95 * np.linalg.norm(moved - start)
    assert np.sum(answer**2 / values[kept]) == pytest.approx(1.0, rel=0.2)


def test_soft_tissue_adds_to_the_prior_with_its_square(subject: SubjectState) -> None:
    """Twice the soft tissue has four times its part of the covariance; without any the prior's errors remain."""
    prior, one, two = (covariance_of(subject, size)[0] for size in (0.0, SIZE, 2.0 * SIZE))
    np.testing.assert_allclose(two - prior, 4.0 * (one - prior), atol=1e-9 * np.abs(two).max())
    assert 1e-3 < np.sqrt(np.diag(prior)[: 3 * subject.fit.joints].max()) < 0.03
