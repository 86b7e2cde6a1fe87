"""Labels that are exchanged for a while are found without a rig, corrected and reported."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest

from solver.skeleton.rig import Rig
from solver.tracking import TrackingOptions, track_markers
from solver.tracking.exchanged_labels import FRAMES_PER_BATCH, CorrectedLabels, _PairEvidence, correct_labels
from solver.tracking.marker_neighbours import learn_shapes
from solver.values.motion import Markers
from tests.tracking.bodies import cloud, seen_from, swinging

FRAMES = 120


@pytest.fixture(scope="module")
def markers(person: Rig) -> Markers:
    """A moving person with four markers on every link."""
    return seen_from(person, cloud(person, 4), swinging(person, FRAMES))


def exchanged(markers: Markers, start: int, stop: int, *cycle: int) -> Markers:
    """The recording with the labels of some columns passed on in a circle."""
    positions = markers.positions.copy()
    positions[start:stop, list(cycle)] = positions[start:stop, list(cycle[1:] + cycle[:1])]
    return Markers(markers.times, markers.names, positions)


def spans(found: CorrectedLabels) -> set[tuple[str, str, int, int]]:
    """What was found, without how sure it is."""
    return {(swap.first, swap.second, swap.start, swap.stop) for swap in found.swaps}


def test_a_clean_recording_is_unchanged(markers: Markers) -> None:
    """Without exchanged labels there is no correction."""
    found = correct_labels(markers)
    assert found.swaps == ()
    assert found.markers is markers
    assert found.warnings == ()


@pytest.mark.parametrize(("start", "stop"), [(40, 75), (0, 40), (85, FRAMES)])
@pytest.mark.parametrize(("one", "other"), [(4, 5), (4, 30)])
def test_an_exchange_is_corrected(markers: Markers, start: int, stop: int, one: int, other: int) -> None:
    """Within a link and between links, in the middle and at the ends: frames and names are reported, positions
    restored.
    """
    found = correct_labels(exchanged(markers, start, stop, one, other))
    assert spans(found) == {(markers.names[one], markers.names[other], start, stop)}
    np.testing.assert_array_equal(found.markers.positions, markers.positions)
    assert markers.names[one] in found.warnings[0]


def lasting(markers: Markers, frames: int) -> Markers:
    """The recording played forwards and backwards in turns."""
    count = len(markers)
    played = np.resize(np.concatenate([np.arange(count), np.arange(count - 2, 0, -1)]), frames)
    step = markers.times[1] - markers.times[0]
    return Markers(step * np.arange(frames), markers.names, markers.positions[played])


def test_an_exchange_across_batches_is_corrected(markers: Markers) -> None:
    """An exchange that begins in one batch of frames and ends in the next, and one that begins at their border."""
    long = lasting(markers, 3 * FRAMES_PER_BATCH)
    broken = exchanged(
        exchanged(long, FRAMES_PER_BATCH - 20, FRAMES_PER_BATCH + 30, 4, 5),
        2 * FRAMES_PER_BATCH,
        2 * FRAMES_PER_BATCH + 40,
        8,
        30,
    )
    np.testing.assert_array_equal(correct_labels(broken).markers.positions, long.positions)


def test_looking_for_exchanges_takes_less_memory_than_the_recording(markers: Markers) -> None:
    """Intermediate results are computed batch by batch."""
    long = lasting(markers, 12 * FRAMES_PER_BATCH)
    tracemalloc.start()
    correct_labels(long)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < long.positions.nbytes


def test_an_exchange_in_a_gap_is_corrected(markers: Markers) -> None:
    """If both markers are hidden while their labels change, neighbours predict where each should reappear."""
    swapped = exchanged(markers, 50, 90, 8, 9).positions.copy()
    swapped[44:54, [8, 9]] = np.nan
    found = correct_labels(Markers(markers.times, markers.names, swapped))
    assert spans(found) == {(markers.names[8], markers.names[9], 54, 90)}
    np.testing.assert_array_equal(found.markers.positions[54:], markers.positions[54:])


def test_a_cyclic_exchange_of_three_labels_is_corrected(markers: Markers) -> None:
    """A cycle is two exchanges."""
    found = correct_labels(exchanged(markers, 40, 80, 12, 13, 14))
    np.testing.assert_array_equal(found.markers.positions, markers.positions)
    assert {name for swap in found.swaps for name in (swap.first, swap.second)} == set(markers.names[12:15])


def test_tracking_uses_the_corrected_labels(person: Rig, markers: Markers) -> None:
    """A recording with exchanged labels is tracked like the one without, with a warning."""
    options = TrackingOptions(limits=False)
    clean = track_markers(person, cloud(person, 4), markers, options)
    corrected = track_markers(person, cloud(person, 4), exchanged(markers, 30, 70, 0, 1), options)
    np.testing.assert_array_equal(corrected.q, clean.q)
    assert clean.warnings == ()
    assert corrected.swaps[0].is_certain
    assert f"{markers.names[0]} with {markers.names[1]} (0.30 to 0.69 s)" in corrected.warnings[0]


def test_neighbours_predict_a_rigid_marker(markers: Markers) -> None:
    """Four markers on a link predict the fifth within a centimetre or two; without neighbours there is no
    prediction.
    """
    columns = np.arange(8)
    predicted = learn_shapes(markers.positions, columns).predict(markers.positions)
    errors = np.linalg.norm(predicted - markers.positions[:, columns], axis=2)
    assert np.median(errors) < 0.02
    hidden = markers.positions.copy()
    hidden[:, 1:] = np.nan
    assert np.isnan(learn_shapes(hidden, columns).predict(hidden)).all()


def test_exchanges_lie_on_the_path_of_least_penalty() -> None:
    """Of all sequences of states; penalties and gains are those of the positions, one by one."""
    draw, frames, limits = np.random.default_rng(3), np.array([0, 1, 2, 4, 5, 9, 10, 11]), (6.0, 14.0)
    expected = np.cumsum(0.01 * draw.normal(size=(8, 2, 3)), axis=0)
    seen = expected + 0.008 * draw.normal(size=(8, 2, 3)) + [[0.0, 0.0, 0.0], [0.03, 0.0, 0.0]]
    seen[2:5] = seen[2:5, ::-1]
    noise = np.array([[0.004, 0.006], [0.009, 0.01]])
    found = _PairEvidence.from_positions(frames, seen, expected, noise, 4.0)

    def penalty(states: tuple[int, ...]) -> float:
        shares = np.minimum(np.array([1.0, 1.0, 1.5, 1.5, 2.5, 2.5, 1.0, 1.0]) / 4.0, 1.0)
        total, off = 6.0 * (states[0] + np.abs(np.diff(states)).sum()), np.zeros((8, 2, 3))
        for k, state in enumerate(states):
            off[k] = (seen[k, ::-1] if state else seen[k]) - expected[k]
            for label in (0, 1):
                total += shares[k] * min(off[k, label] @ off[k, label] / 2.0 / noise[1, label] ** 2, limits[0])
                std = min(noise[0, label] * (frames[k] - frames[k - 1]), max(noise[:, label]))
                step = off[k, label] - off[k - 1, label]
                total += min(step @ step / 2.0 / std**2, limits[1]) if k else 0.0
        return total

    best = min(product((0, 1), repeat=8), key=penalty)
    assert best == (0, 0, 1, 1, 1, 0, 0, 0)
    ((start, stop, gain),) = found.find_exchanges()
    assert (start, stop, gain) == (2, 6, pytest.approx(penalty((0,) * 8) - penalty(best)))
