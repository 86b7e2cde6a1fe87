"""A failed calibration names the wrong marker, joint or segment; a successful one has no message."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures.people import Person, draw_person, hip_centres
from solver.calibration import fit_calibration
from solver.calibration.fit import HingeRanges
from solver.rigs import human
from solver.signals.trial import Recording
from solver.values.motion import Markers
from tests.joint_entries import entry


@pytest.fixture(scope="module")
def body() -> Person:
    return draw_person(1, {"swings": 8.0})


def warnings_of(body: Person, recordings: tuple[Recording, ...]) -> tuple[str, ...]:
    """The warnings of a calibration with these recordings instead of the person's."""
    return replace(body, recordings=recordings).calibrated().warnings


def relabelled(recording: Recording, names: dict[str, str]) -> Recording:
    """With other labels on the same markers."""
    markers = recording.markers
    return replace(
        recording,
        markers=Markers(markers.times, tuple(names.get(n, n) for n in markers.names), markers.positions),
    )


def test_a_person_with_skin_motion_is_found_without_a_warning(body: Person) -> None:
    """Markers within 6 mm, hip centres within 15 mm of the truth, and nothing to warn of (simulated)."""
    found = body.calibrated()
    places = {attachment.marker: attachment.position for attachment in found.attachments}
    assert found.rmse < 0.006
    assert np.linalg.norm(hip_centres(found.rig, places) - body.hips, axis=1).max() < 0.015
    assert found.warnings == ()


def test_exchanged_labels_are_reported_with_their_markers(body: Person) -> None:
    """Knee and ankle of one side exchanged in every trial: the warning names markers of that leg."""
    exchanged = {"LKNE": "LANK", "LANK": "LKNE"}
    warnings = warnings_of(body, tuple(relabelled(recording, exchanged) for recording in body.recordings[:1]))
    assert any("label" in warning and ("LKNE" in warning or "LANK" in warning) for warning in warnings)


def test_a_wrong_stature_is_reported_by_its_segments(body: Person) -> None:
    """A stature of 2.3 m stated for a woman of 1.66 m: segments are far too short for it, and the warning says so."""
    known = body.rig.provenance
    found = fit_calibration(body.recordings[:1], mass=float(known["mass"]), sex=str(known["sex"]), height=2.3)  # type: ignore[arg-type]
    assert any("Check the stature" in warning for warning in found.warnings)


def test_hinges_are_pulled_back_only_beyond_their_ranges() -> None:
    """The penalty's gradient is that of its cost, which is zero inside the range."""
    rig = human(1.75, 70.0, "male")
    hinges = HingeRanges(rig)
    assert hinges.cost(rig.neutral) == 0.0
    at = entry(rig, "left_forearm")
    q = rig.neutral
    q[at.idx_q] = rig.limits.lower[at.idx_v - 6] - 0.3
    hessian, gradient = np.zeros((rig.nv, rig.nv)), np.zeros(rig.nv)
    hinges.add(q, 2.0, hessian, gradient)
    assert hinges.cost(q) == np.float64(hinges.violation(q) @ hinges.violation(q))
    np.testing.assert_allclose(gradient[at.idx_v], 2.0 * 0.3)
    np.testing.assert_allclose(hessian[at.idx_v, at.idx_v], 2.0)
