"""Errors of a calibration caused by skin and prior: the linear response is that of the fit itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures import volunteers
from solver.calibration.error_draws import DRAW_COUNT, ResidualDraws, draw_calibration_errors
from solver.calibration.fit import SubjectFit
from solver.calibration.subject import SubjectData, SubjectState
from solver.progress import silent

SMALL = 0.02


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
    state.refine(body.recordings[:1], body.recordings[1:])
    return state


def displaced(subject: SubjectState, draw: int) -> list[np.ndarray]:
    """Markers of the fitted frames, moved by a small part of a draw of skin."""
    frames = subject.fit.linearise(subject.samples, subject.offsets, exact=False)
    skin = ResidualDraws.from_fit(frames, subject.links, subject.names).with_draw(frames, draw).residuals
    return [sample.positions + SMALL * own for sample, own in zip(subject.samples, skin)]


def test_the_draw_is_the_change_of_a_fit_to_displaced_markers(subject: SubjectState) -> None:
    """A fit to markers displaced by a draw of skin motion changes by the draw's error."""
    found = subject.draw_errors()
    assert (
        found.soft_tissue.shape == found.prior.shape == (DRAW_COUNT, len(subject.rig.links) - 1 + len(subject.names), 3)
    )
    fit = SubjectFit(subject.rig, subject.links, *subject.prior.information_form())
    before = [replace(sample) for sample in subject.samples]
    after = [replace(s, positions=p) for s, p in zip(subject.samples, displaced(subject, 0))]
    start, _ = fit.solve(subject.theta.copy(), before)
    moved, _ = fit.solve(subject.theta.copy(), after)
    step, predicted = (moved - start).reshape(-1, 3), SMALL * found.soft_tissue[0]
    assert np.linalg.norm(step - predicted) < 0.2 * np.linalg.norm(predicted)


def test_markers_that_fit_exactly_have_no_skin_motion(subject: SubjectState) -> None:
    """Without residuals the draws of skin motion are zero; those of the prior are unchanged."""
    fit, places = subject.fit, subject.offsets
    exact = []
    for sample in subject.samples:
        fit.kinematics.update_kinematics(sample.q)
        exact.append(replace(sample, positions=fit.kinematics.points(subject.links, places)))
    found = draw_calibration_errors(fit, subject.theta, exact, subject.prior, subject.names)
    assert np.abs(found.soft_tissue).max() < 1e-9
    assert np.sqrt(np.mean(found.prior**2)) > 1e-4


def test_a_draw_keeps_the_size_of_the_residuals(subject: SubjectState) -> None:
    """Turning residuals at random keeps the mean square of every marker's."""
    frames = subject.fit.linearise(subject.samples, subject.offsets, exact=False)
    swings = ResidualDraws.from_fit(frames, subject.links, subject.names)
    drawn = [np.mean(swings.draw(draw) ** 2, axis=(0, 2)) for draw in range(2)]
    np.testing.assert_allclose(drawn, [np.mean(swings.residuals**2, axis=(0, 2))] * 2, rtol=1e-9)
    assert np.abs(swings.draw(0) - swings.draw(1)).max() > 1e-3
