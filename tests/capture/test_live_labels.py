"""Laws of a live stream's labels: what is exchanged is corrected in the sample in which it happens, and reported."""

from __future__ import annotations

import time

import numpy as np
import pytest

from solver.base.so3 import exp
from solver.calibration.calibration import Calibration
from solver.capture.datagram import MARKERS, Layout
from solver.capture.followers import MarkerFollower
from solver.capture.live_labels import LiveLabels, _exchange_gain
from solver.skeleton.rig import Rig
from solver.tracking import TargetSample, Tracker, TrackerStep, TrackingOptions
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


def test_a_marker_that_flickers_is_left_out_until_it_stays_away(person: Rig, body: Calibration, seen: Markers) -> None:
    """A reflection far from the body, for one sample or five, bends no pose; after half a second off the body it is
    measured again: then the body is wrong, not the marker.
    """
    positions = seen.positions.copy()
    for span in (slice(40, 41), slice(50, 55), slice(60, 150)):
        positions[span, seen.names.index(FIRST)] += [0.3, -0.2, 0.1]
    follower, poses, measured = followed(body, seen, positions)
    _, wanted, _ = followed(body, seen, seen.positions)
    assert farthest(person, poses[:110], wanted[:110]) < 0.02
    missing = np.flatnonzero(np.isnan(measured[:, follower.markers.index(FIRST), 0]))
    np.testing.assert_array_equal(missing, [40, 50, 51, 52, 53, 54, *range(60, 110)])


def in_line(labels: LiveLabels, time: float, *places: float) -> list[float]:
    """What labels make of a sample of markers on a line."""
    return list(labels.correct(np.outer(places, [1.0, 0.0, 0.0]), time)[:, 0])


@pytest.mark.parametrize(("step", "jump", "certain"), [(0.01, 0.018, 0.0208), (0.02, 0.036, 0.0416)])
def test_a_certain_exchange_is_corrected_and_a_likely_one_left_out(step: float, jump: float, certain: float) -> None:
    """Of two markers at rest, 12 mm plus 60 m/s^2 times the squared time apart, a third of it as deviation, 12 nat."""
    for apart in (jump - 1e-4, jump + 1e-4, certain - 1e-4, certain + 1e-4):
        labels = LiveLabels(("a", "b"))
        found = [in_line(labels, step * k, *((apart, 0.0) if 3 <= k < 8 else (0.0, apart))) for k in range(12)]
        if apart > certain:
            np.testing.assert_array_equal(found, [[0.0, apart]] * 12)
            assert labels.notes == (
                f"labels a and b are exchanged in the stream, first at {4 * step:.2f} s: corrected",
            )
        else:
            np.testing.assert_array_equal(found[3], [apart, 0.0] if apart < jump else [np.nan] * 2)
        assert list(labels.order) == [0, 1]


@pytest.mark.parametrize("hidden", [5, 9, 10])
def test_a_marker_that_moves_is_expected_where_its_velocity_leads(hidden: int) -> None:
    """For up to a tenth of a second; farther off than its acceleration allows it is left out, ahead and behind."""
    reach = 0.012 + 60.0 * (0.01 * hidden) ** 2
    for off in (0.999 * reach, -0.999 * reach, 1.001 * reach, -1.001 * reach):
        labels, count = LiveLabels(("a", "b")), 10 + hidden
        places = [0.02 * k if k < 10 else np.nan for k in range(count - 1)] + [0.02 * (count - 1) + off]
        found = [in_line(labels, 0.01 * k, place, -5.0)[0] for k, place in enumerate(places)]
        assert np.isfinite(found[-1]) == (abs(off) < reach)


@pytest.mark.parametrize("off", [[0.0595, 0.0], [0.0605, 0.0], [0.0, -0.0595], [0.0, -0.0605]])
def test_a_marker_that_reappears_is_expected_where_the_body_carries_it(off: list[float]) -> None:
    """At its mean offset from the calibrated place, in the axes of its link; 6 cm from there it is left out."""
    labels, count = LiveLabels(("a",)), 60
    modelled = np.arange(81)[:, None] * [0.003, -0.002, 0.0] + [0.0, 1.0, 0.0]
    turns, offsets = exp(np.arange(81)[:, None] * [0.0, 0.0, 0.02]), 0.02 * np.random.default_rng(0).random((81, 3))
    seen = modelled + np.einsum("nij,nj->ni", turns, offsets)
    seen[count:80] = np.nan
    carried = modelled + turns @ offsets[:count].mean(axis=0)
    seen[80] = 2.0 * carried[79] - carried[78] + [*off, 0.0]
    for k in range(81):
        found = labels.correct(seen[k : k + 1], 0.01 * k)
        labels.update_prediction(modelled[k : k + 1], turns[k : k + 1], tracked=True)
    assert np.isfinite(found).all() == (np.abs(off).max() < 0.06)


def test_the_gain_of_an_exchange_is_that_of_its_likelihoods() -> None:
    """Half the squared deviations over their widths, each at most 14 by velocity and 6 by body; none where unknown."""
    found = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]])
    exchanged, unknown = found[::-1] + np.array([0.0, 0.01, 0.0]), np.full((2, 3), np.nan)
    by_velocity, by_body = 2.0 + 12.5, 2.0 * (6.0 - 0.5 * (0.01 / 0.012) ** 2)
    width = np.array([0.05, 0.02])
    assert _exchange_gain(found, (exchanged, unknown), width) == pytest.approx(by_velocity)
    assert _exchange_gain(found, (exchanged, exchanged), width) == pytest.approx(by_velocity + by_body)
    assert _exchange_gain(found, (exchanged, unknown), width / 100.0) == pytest.approx(0.0)
    assert _exchange_gain(found, (found, exchanged), width / 100.0) == pytest.approx(by_body - 28.0)


def test_a_marker_that_reappears_regains_its_weight_smoothly(
    body: Calibration, seen: Markers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a tenth of a second it counts in full, after a twentieth by half; a sample that fails keeps the pose."""
    weights: list[np.ndarray | None] = []
    step = Tracker.step

    def watched(tracker: Tracker, sample: TargetSample, dt: float, arrived: float) -> TrackerStep:
        weights.append(sample.weight_factors)
        if len(weights) == 120:
            raise np.linalg.LinAlgError
        return step(tracker, sample, dt, arrived)

    monkeypatch.setattr(Tracker, "step", watched)
    positions = seen.positions.copy()
    positions[70:100, 0] = np.nan
    follower, poses, _ = followed(body, seen, positions)
    own = np.array([1.0 if each is None else each[follower.markers.index(seen.names[0])] for each in weights])
    reach = np.clip((np.arange(150) - 99) / 10.0, 1e-3, 1.0)
    np.testing.assert_allclose(own, np.where(np.arange(150) < 70, 1.0, reach**2 * (3.0 - 2.0 * reach)), atol=1e-8)
    np.testing.assert_array_equal(poses[119], poses[118])
    assert 1e-3 < np.abs(poses[120] - poses[119]).max() < 0.1
