"""Laws of soft joints: what is left to a segment's own markers moves it, for the equations alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.cli import parser
from solver.cli.options import settings_of
from solver.errors import InvalidValue
from solver.motion import Markers
from solver.pinocchio_loader import pin
from solver.rig import Rig
from solver.rigs import human
from solver.signals import preset_of, smooth_motion, smooth_shifts
from solver.study.softness import softened
from solver.study.values import Settings, TrialRecord
from solver.tracking import Attachment, track
from solver.tracking.pulls import Pulls
from solver.tracking.tasks import PositionTask
from solver.trial import Recording

RATE, FRAMES = 100.0, 200
PRESET = preset_of("human_8hz")


def test_a_segment_gives_way_as_far_as_its_joints_let_it() -> None:
    """n markers displaced by d, against joints worth k, move a link by n d / (n + k); rigid joints do not move."""
    task = PositionTask(("a", "b", "c"), np.array([0, 0, 1]), np.zeros((3, 3)), np.ones(3))
    modelled = np.zeros((4, 3, 3))
    measured = modelled + np.array([0.0, 0.0, 0.03])
    measured[2, 1] = np.nan
    pulls = Pulls.of(3, task, measured - modelled, None)
    assert pulls.weights.tolist() == [[2, 1, 0], [2, 1, 0], [1, 1, 0], [2, 1, 0]]
    found = pulls.shifts(np.array([4.0, 2.0, 1.0]))
    np.testing.assert_allclose(found[0], np.array([[0.0, 0.0, 0.01], [0.0, 0.0, 0.01], [0.0, 0.0, 0.0]]), atol=1e-15)
    np.testing.assert_allclose(found[2, 0, 2], 0.03 / 5.0, atol=1e-15)
    np.testing.assert_array_equal(pulls.shifts(np.full(3, np.inf)), 0.0)


def test_shifts_pass_the_filter_of_the_motion_that_they_belong_to() -> None:
    """The same curve as a root's position and as the shift of every link has the same value, speed and acceleration."""
    rig = human(1.7, 60.0, "female")
    times = np.arange(FRAMES) / RATE
    curve = np.random.default_rng(0).standard_normal((FRAMES, 3)).cumsum(axis=0) * 0.001
    curve[50:60] = np.nan
    known = np.isfinite(curve[:, 0])
    curve[~known] = np.array([np.interp(times[~known], times[known], column[known]) for column in curve.T]).T
    q = np.repeat(rig.neutral[None], FRAMES, axis=0)
    q[:, :3] = curve
    motion = smooth_motion(rig, times, q, PRESET)
    found = smooth_shifts(times, np.repeat(curve[:, None], 2, axis=1), PRESET, motion.times, known)
    inside = slice(40, -40)
    np.testing.assert_allclose(found.values[inside, 1], motion.q[inside, :3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.rates[inside, 1], motion.v[inside, :3], rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.accelerations[inside, 1], motion.a[inside, :3], rtol=0, atol=1e-5)


@pytest.fixture(scope="module")
def seen() -> tuple[Rig, TrialRecord, np.ndarray]:
    """A standing person whose torso's markers swing upwards by a centimetre as no joint of the rig allows, tracked."""
    rig = human(1.7, 60.0, "female")
    corners = 0.12 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    attachments = [Attachment(f"{link}{k}", link, corner) for link in rig.links for k, corner in enumerate(corners)]
    data = rig.model.createData()
    pin.forwardKinematics(rig.model, data, rig.neutral)
    places = np.array([data.oMi[rig.joint(a.link)].act(a.position) for a in attachments])
    swing = 0.01 * np.sin(2.0 * np.pi * np.arange(FRAMES) / RATE)
    positions = np.repeat(places[None], FRAMES, axis=0)
    torso = [k for k, a in enumerate(attachments) if a.link == "torso"]
    positions[:, torso, 2] += swing[:, None]
    markers = Markers(np.arange(FRAMES) / RATE, tuple(a.marker for a in attachments), positions)
    return rig, TrialRecord(Recording("swing", markers), track(rig, attachments, markers)), swing


def test_the_segment_moves_towards_its_markers_and_the_animation_does_not(
    seen: tuple[Rig, TrialRecord, np.ndarray],
) -> None:
    """A torso between joints that hold it follows its markers by their share; limbs stay; q is untouched."""
    rig, record, swing = seen
    (soft,) = softened(rig, [record], 10.0)
    assert soft.shifts is not None
    assert record.tracked is not None
    torso = soft.shifts[:, rig.index("torso"), 2]
    assert np.corrcoef(torso, swing)[0, 1] > 0.99
    left = swing - (record.tracked.q[:, 2] - record.tracked.q[0, 2])
    assert 0.1 * np.std(left) < np.std(torso) < 0.4 * np.std(left)  # four markers against ten
    limbs = [k for k, link in enumerate(rig.links) if link not in ("pelvis", "torso", "head")]
    np.testing.assert_array_equal(soft.shifts[:, limbs], 0.0)
    assert soft.tracked is record.tracked


def test_rigid_joints_and_given_shifts_stay(seen: tuple[Rig, TrialRecord, np.ndarray]) -> None:
    """Without softness, without markers, or with shifts of another source, a record is what it was."""
    rig, record, _ = seen
    given = replace(record, shifts=np.ones((FRAMES, len(rig.links), 3)))
    bare = TrialRecord(Recording("nothing"))
    assert softened(rig, [record], None) == (record,)
    assert softened(rig, [given, bare], 10.0) == (given, bare)
    with pytest.raises(InvalidValue, match="positive number of markers"):
        Settings(soft=0.0)


@pytest.mark.parametrize(("word", "wanted"), [(None, None), ("rigid", None), ("10", 10.0)])
@pytest.mark.parametrize("verb", ["identify", "cohort"])
def test_one_word_makes_joints_soft(verb: str, word: str | None, wanted: float | None) -> None:
    """--soft says what joints are worth; rigid ones are the default; identify and cohort alike."""
    words = [verb, "folder", "--output", "results", *([] if word is None else ["--soft", word])]
    assert settings_of(parser().parse_args(words)).soft == wanted


def test_softness_that_means_nothing_is_refused() -> None:
    """No joint is worth nothing, or less."""
    with pytest.raises(InvalidValue, match="must be above 0"):
        parser().parse_args(["identify", "folder", "--output", "results", "--soft", "0"])
