"""Laws of a live stream's labels: what is exchanged is corrected in the sample in which it happens, and reported."""

from __future__ import annotations

import time

import numpy as np
import pytest

from solver.calibration.calibration import Calibration
from solver.capture.datagram import MARKERS, Layout
from solver.capture.followers import MarkerFollower
from solver.skeleton.rig import Rig
from solver.tracking import TrackingOptions
from solver.values.motion import Markers
from tests.tracking.bodies import cloud, farthest, seen_from, swinging

FRAMES = 150
FIRST, SECOND = "torso_0", "torso_1"
SPAN = slice(60, 110)


@pytest.fixture(scope="module")
def body(person: Rig) -> Calibration:
    attachments = cloud(person)
    return Calibration(person, tuple(attachments), "cloud", 1.75, {}, {a.marker: 0.0 for a in attachments})


@pytest.fixture(scope="module")
def seen(person: Rig) -> Markers:
    """A body that swings, its markers with noise."""
    clean = seen_from(person, cloud(person), swinging(person, FRAMES))
    noise = 5e-4 * np.random.default_rng(2).standard_normal(clean.positions.shape)
    return Markers(clean.times, clean.names, clean.positions + noise)


def followed(body: Calibration, seen: Markers, positions: np.ndarray) -> tuple[MarkerFollower, np.ndarray, np.ndarray]:
    """The follower of a stream of positions (N, P, 3), its poses (N, nq) and what it took for measured (N, P, 3)."""
    follower = MarkerFollower(body, Layout(MARKERS, seen.names), TrackingOptions())
    poses = [follower.follow(p.ravel(), float(t), time.perf_counter()) for t, p in zip(seen.times, positions)]
    return follower, np.array([pose.q for pose in poses]), np.array([pose.measured for pose in poses])


def test_a_clean_stream_is_taken_as_it_comes(body: Calibration, seen: Markers) -> None:
    """Correct labels are not exchanged, left out or reported, even if markers appear and disappear."""
    positions = seen.positions.copy()
    positions[70:100, :5] = np.nan
    follower, _, measured = followed(body, seen, positions)
    assert follower.notes == ()
    columns = [seen.names.index(name) for name in follower.markers]
    np.testing.assert_array_equal(measured, positions[:, columns])


def test_exchanged_labels_are_corrected_at_once_and_reported(person: Rig, body: Calibration, seen: Markers) -> None:
    """Two labels of one link exchanged for half a second: poses as without, and one sentence with both names."""
    pair = [seen.names.index(FIRST), seen.names.index(SECOND)]
    positions = seen.positions.copy()
    positions[SPAN, pair] = positions[SPAN, pair[::-1]]
    follower, poses, _ = followed(body, seen, positions)
    _, wanted, _ = followed(body, seen, seen.positions)
    assert farthest(person, poses, wanted) < 1e-6
    assert len(follower.notes) == 1
    assert FIRST in follower.notes[0]
    assert SECOND in follower.notes[0]
    np.testing.assert_array_equal(follower.labels.order, np.arange(len(follower.markers)))


def test_labels_exchanged_while_invisible_are_corrected(person: Rig, body: Calibration, seen: Markers) -> None:
    """Two that vanish and come back as each other are distinguished by where the body carries them."""
    pair = [seen.names.index(FIRST), seen.names.index(SECOND)]
    positions = seen.positions.copy()
    positions[60:80, pair] = np.nan
    hidden = positions.copy()
    positions[80:, pair] = positions[80:, pair[::-1]]
    follower, poses, _ = followed(body, seen, positions)
    _, wanted, _ = followed(body, seen, hidden)
    assert len(follower.notes) == 1
    assert farthest(person, poses, wanted) < 1e-6


def test_a_marker_that_flickers_is_left_out_while_it_does(person: Rig, body: Calibration, seen: Markers) -> None:
    """A reflection far from the body, for one sample or five, bends no pose; the marker counts again after it."""
    column = seen.names.index(FIRST)
    positions = seen.positions.copy()
    for span in (slice(60, 61), slice(90, 95)):
        positions[span, column] += [0.3, -0.2, 0.1]
    follower, poses, measured = followed(body, seen, positions)
    _, wanted, _ = followed(body, seen, seen.positions)
    assert farthest(person, poses, wanted) < 0.02
    own = follower.markers.index(FIRST)
    missing = np.flatnonzero(np.isnan(measured[:, own, 0]))
    np.testing.assert_array_equal(missing, [60, 90, 91, 92, 93, 94])


def test_a_marker_that_stays_away_is_accepted_after_a_while(body: Calibration, seen: Markers) -> None:
    """Half a second off the body it is measured again: then the body is wrong, not the marker."""
    column = seen.names.index(FIRST)
    positions = seen.positions.copy()
    positions[60:, column] += [0.2, 0.0, 0.0]
    follower, _, measured = followed(body, seen, positions)
    own = measured[60:, follower.markers.index(FIRST), 0]
    assert np.isnan(own[:45]).all()
    assert np.isfinite(own[55:]).all()
