"""Each check of a calibration, on evidence made by hand: a fault is reported by name, usual values cause no message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures.people import MARKER_SETS, draw_person
from solver.base.progress import silent
from solver.calibration.fit_checks import FitEvidence, check_fit, is_suspect
from solver.calibration.marker_set import load_marker_set
from solver.calibration.subject import SAME_MINIMUM, SubjectData, SubjectState
from solver.rigs import human
from tests.joint_entries import entry

FRAMES = 20


def usual() -> FitEvidence:
    """Markers within 5 mm of a body of usual lengths, each landmark one standard deviation off."""
    rig = human(1.75, 70.0, "male")
    links = np.repeat(np.arange(len(rig.links)), 3)
    names = tuple(f"{rig.links[link]}_{k % 3}" for k, link in enumerate(links))
    lengths = {f"{side}_{part}": 0.4 for side in ("left", "right") for part in ("thigh", "shank")}
    return FitEvidence(
        rig=rig,
        markers=names,
        links=links,
        residuals=np.full((FRAMES, len(links)), 0.005),
        recordings=("walk",) * FRAMES,
        static=False,
        deviations=np.ones(len(links)),
        range_violation=np.zeros((FRAMES, rig.nv - 6)),
        lengths=lengths,
        expected_lengths=dict(lengths),
    )


def test_a_usual_fit_has_no_messages() -> None:
    """There is no message, and no other start is tried."""
    assert check_fit(usual()) == ()
    assert not is_suspect(usual())


def far_everywhere(evidence: FitEvidence) -> FitEvidence:
    """All markers far off, most in the second half."""
    residuals = evidence.residuals.copy()
    residuals[: FRAMES // 2], residuals[FRAMES // 2 :] = 0.02, 0.03
    names = ("walk",) * (FRAMES // 2) + ("jump",) * (FRAMES // 2)
    return replace(evidence, residuals=residuals, recordings=names)


def far_marker(evidence: FitEvidence) -> FitEvidence:
    """One marker far off."""
    residuals = evidence.residuals.copy()
    residuals[:, evidence.markers.index("left_shank_1")] = 0.05
    return replace(evidence, residuals=residuals)


def far_place(evidence: FitEvidence) -> FitEvidence:
    """One landmark far from where it is expected."""
    deviations = evidence.deviations.copy()
    deviations[evidence.markers.index("left_foot_0")] = 7.0
    return replace(evidence, deviations=deviations)


def beyond_range(evidence: FitEvidence) -> FitEvidence:
    """A knee beyond its range in a third of the frames."""
    excess = evidence.range_violation.copy()
    joint = entry(evidence.rig, "left_shank")
    excess[: FRAMES // 3, joint.idx_v - 6] = np.radians(25.0)
    return replace(evidence, range_violation=excess)


def short_thighs(evidence: FitEvidence) -> FitEvidence:
    """Both thighs a quarter shorter than of that stature."""
    lengths = {link: 0.3 if "thigh" in link else length for link, length in evidence.lengths.items()}
    return replace(evidence, lengths=lengths)


def different_sides(evidence: FitEvidence) -> FitEvidence:
    """One shank a tenth longer than the other."""
    return replace(evidence, lengths={**evidence.lengths, "left_shank": 0.44})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (far_everywhere, ("calibration failed", "largest in jump", "30 mm")),
        (far_marker, ("marker left_shank_1", "50 mm", "left shank")),
        (far_place, ("marker left_foot_0", "7 standard deviations")),
        (beyond_range, ("left shank leaves its joint's range", "25 degrees", "30 % of the frames of walk")),
        (short_thighs, ("left thigh", "25 % shorter", "Check the stature")),
        (different_sides, ("left shank is 10 % longer than the right shank",)),
    ],
)
def test_each_fault_is_reported_and_causes_another_start(
    change: Callable[[FitEvidence], FitEvidence], words: tuple[str, ...]
) -> None:
    """The first message names the fault with its number, and another start is tried."""
    evidence = change(usual())
    warnings = check_fit(evidence)
    assert all(word in warnings[0] for word in words)
    assert is_suspect(evidence)


def test_a_landmark_between_the_bounds_causes_another_start_without_a_message() -> None:
    """Between the two bounds there is no message yet, but another minimum may be better."""
    evidence = usual()
    deviations = evidence.deviations.copy()
    deviations[0] = 5.0
    evidence = replace(evidence, deviations=deviations)
    assert check_fit(evidence) == ()
    assert is_suspect(evidence)


def test_another_start_wins_only_with_a_clearly_lower_cost() -> None:
    """From the minimum no start leads elsewhere and the fit is unchanged; a fit that ended far above it is replaced."""
    body = draw_person(1, {})
    known, static = body.rig.provenance, body.recordings[0]
    data = SubjectData(float(known["mass"]), str(known["sex"]), float(known["height"]))  # type: ignore[arg-type]
    subject = SubjectState(load_marker_set(MARKER_SETS[0]), static.markers.names, data, [static], silent)
    subject.initialise()
    cost, theta, samples = subject.cost, subject.theta, subject.samples
    subject._restart()
    assert subject.cost == cost
    np.testing.assert_array_equal(subject.theta, theta)
    subject.theta = theta + 0.05
    subject.cost = subject.fit.cost(subject.theta, samples)
    assert subject.cost > 10.0 * cost
    subject._restart()
    assert subject.cost < (1.0 + SAME_MINIMUM) * cost
    np.testing.assert_allclose(subject.fit.stack_unknowns(subject.offsets), subject.theta)
