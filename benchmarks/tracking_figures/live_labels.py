"""Exchanged labels of live streams: real recordings as streams, sample by sample, exchanges injected into them.

As for whole recordings (`labels`), but nothing later than a sample may help to judge it. Found is what is exchanged
back in `MIN_OVERLAP` of its samples; wrong is a pair that was exchanged at any time and neither injected nor named on
the stream as it is.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from solver.calibration import Calibration, fit_calibration
from solver.capture.datagram import MARKERS, Layout
from solver.capture.followers import MarkerFollower
from solver.formats.recording import read_recording
from solver.options.reading import ReadOptions
from solver.tracking import TrackingOptions
from solver.tracking.exchanged_labels import correct_labels
from solver.values.motion import Markers

from ..figures.figure import Figure, at_least, at_most, missing
from ..marker_errors import SUBJECTS
from .labels import OVERLAP, SEED, exchange_labels

CHOSEN = ("subject_a", "subject_b run", "subject_c", "walk_d")
LONGEST = 600
"""Samples of each recording."""
RUNS = 2
BUDGET = 5e-3
"""[s]"""


def live_label_figures(data: Path, quick: bool) -> list[Figure]:
    """The rows; quickly, one person's run alone."""
    subjects = [s for s in SUBJECTS if s.name in (CHOSEN[1:2] if quick else CHOSEN)]
    subjects = [s for s in subjects if all((data / file).exists() for file in s.files)]
    into = "real, exchanges injected into streams"
    rows = [
        Figure("live: exchanged labels of 0.3 s or more: found", into, None, "%", at_least(97.0), at_least(99.0)),
        Figure("  wrong pairs exchanged, of the exchanges", into, None, "%", at_most(5.0), at_most(1.0)),
        Figure("  processor a sample, all of following it", into, None, "ms", at_most(20.0), at_most(10.0), timed=True),
    ]
    if not subjects:
        return missing(rows, f"no recordings in {data}")
    injected = found = wrong = samples = 0
    spent, named = 0.0, list[str]()
    for subject in subjects:
        recordings = [read_recording(data / file, ReadOptions(ragged=file.endswith(".trc"))) for file in subject.files]
        body = fit_calibration(recordings, mass=subject.mass, sex=subject.sex)
        links = {a.marker: a.link for a in body.attachments if a.weight > 0.0}
        for recording in recordings:
            assert recording.markers is not None
            whole = correct_labels(recording.markers).markers
            markers = whole.select([name for name in whole.names if name in links]).part(0, min(len(whole), LONGEST))
            before, _ = find_exchanges(body, markers)
            named += [f"{' with '.join(sorted(pair))} in {recording.name}" for pair in before]
            rng = np.random.default_rng(SEED)
            for _ in range(RUNS):
                exchanged_markers, swaps = exchange_labels(markers, links, rng)
                began = time.thread_time()
                pairs, held = find_exchanges(body, exchanged_markers)
                spent, samples = spent + time.thread_time() - began, samples + len(exchanged_markers)
                injected += len(swaps)
                found += sum(pairs.get(s.pair, held)[s.start : s.stop].mean() >= OVERLAP for s in swaps)
                wrong += len(set(pairs) - set(before) - {s.pair for s in swaps})
    words = f"real, {len(subjects)} people, {injected} injected"
    note = f"named on the streams as they are: {'; '.join(named) or 'none'}"
    values = ((100.0 * found / injected, note), (100.0 * wrong / injected, ""), (1e3 * spent / samples, ""))
    return [
        Figure(row.what, words, value, row.unit, row.must, row.aim, note) for row, (value, note) in zip(rows, values)
    ]


def find_exchanges(body: Calibration, markers: Markers) -> tuple[dict[frozenset[str], np.ndarray], np.ndarray]:
    """Samples (N,) in which each pair of labels was exchanged, and (N,) of False."""
    follower = MarkerFollower(
        body, Layout(MARKERS, markers.names, rate=markers.rate), TrackingOptions(time_budget=BUDGET)
    )
    orders = []
    for moment, positions in zip(markers.times, markers.positions):
        follower.follow(positions.ravel(), float(moment), time.perf_counter())
        orders.append(follower.labels.order.copy())
    order, names = np.array(orders), follower.markers
    found = {}
    for one in range(len(names)):
        for other in np.unique(order[:, one]):
            if other != one:
                found[frozenset((names[one], names[other]))] = (order[:, one] == other) & (order[:, other] == one)
    return found, np.zeros(len(markers), bool)
