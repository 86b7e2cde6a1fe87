"""Exchanged labels: real recordings, exchanges that are injected into them.

Of every recording the markers whose set is recognised by name, so that each one's link is known. Into each run
go up to four exchanges of 0.3 to 1 s (at most 45 % of the recording: beyond, it is undecidable which part is wrong)
at random times, ends of the recording included; every second one within one link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.base.errors import InputError
from solver.calibration import detect_marker_set
from solver.tracking.exchanged_labels import Swap, correct_labels
from solver.values.motion import Markers

from ..figures.figure import Figure, at_least, at_most, missing
from .recorded import marker_recordings

LEAST, MOST, SHARE = 0.3, 1.0, 0.45
"""[s], [s] and of the recording: how long an exchange lasts."""
EACH = 4
"""Exchanges of one run."""
RUNS, QUICK_RUNS = 12, 1
QUICK = ("DJ1.trc", "run.trc", "subject01_walk1.trc")
TRIES = 200
OVERLAP = 0.8
"""Of an exchange's frames must be named for it to count as found."""
SEED = 20261122
INTO = "real, exchanges injected"


@dataclass(frozen=True, slots=True)
class Injected:
    """Two columns exchanged in frames start..stop-1, on one link or not."""

    pair: frozenset[str]
    start: int
    stop: int
    inside: bool


def swap_figures(data: Path, quick: bool) -> list[Figure]:
    """The rows of exchanged labels."""
    rows = [
        Figure("exchanged labels of 0.3 s or more: found", INTO, None, "%", at_least(97.0), at_least(99.0)),
        Figure("  wrong pairs named, of the exchanges", INTO, None, "%", at_most(5.0), at_most(1.0)),
        Figure("  pairs named on clean recordings", "real", None, "", at_most(0.0)),
    ]
    recordings = [
        (name, links, markers)
        for name, markers in marker_recordings(data)
        if (not quick or name.endswith(QUICK)) and (links := _links(markers))
    ]
    if not recordings:
        return missing(rows, "no recording of markers")
    injected = found = inside = inside_found = wrong = clean = 0
    worst = ("", 1.0)
    for name, links, markers in recordings:
        markers = markers.select([marker for marker in markers.names if marker in links])
        untouched = correct_labels(markers)
        clean += len(untouched.swaps)
        rng = np.random.default_rng(SEED)
        own = own_found = 0
        for _ in range(QUICK_RUNS if quick else RUNS):
            exchanged_markers, swaps = exchange_labels(untouched.markers, links, rng)
            reported = correct_labels(exchanged_markers).swaps
            hits = [_is_found(swap, reported) for swap in swaps]
            own, own_found = own + len(swaps), own_found + sum(hits)
            inside += sum(swap.inside for swap in swaps)
            inside_found += sum(hit for hit, swap in zip(hits, swaps) if swap.inside)
            wrong += sum(not any(_are_one(swap, t) for swap in swaps) for t in reported)
        injected, found = injected + own, found + own_found
        if own and own_found / own < worst[1]:
            worst = (name, own_found / own)
    data_words = f"real, {len(recordings)} recordings, {injected} injected"
    note = f"within one link {100.0 * inside_found / max(inside, 1):.1f} % of {inside}"
    note += f"; worst {worst[0]} ({100.0 * worst[1]:.0f} %)" if worst[0] else ""
    values = (100.0 * found / injected, 100.0 * wrong / injected, float(clean))
    words = (data_words, data_words, f"real, {len(recordings)} recordings")
    notes = (note, "", "")
    return [
        Figure(row.what, where, value, row.unit, row.must, row.aim, note)
        for row, where, value, note in zip(rows, words, values, notes)
    ]


def exchange_labels(
    markers: Markers, links: Mapping[str, str], rng: np.random.Generator
) -> tuple[Markers, tuple[Injected, ...]]:
    """Exchange random pairs of labels that are both visible long enough."""
    positions = np.array(markers.positions)
    swaps: list[Injected] = []
    used: set[str] = set()
    least = int(np.ceil(LEAST * markers.rate))
    most = max(int(min(MOST * markers.rate, SHARE * len(markers))), least)
    for _ in range(TRIES):
        if len(swaps) == EACH:
            break
        inside = len(swaps) % 2 == 0
        one = str(rng.choice(markers.names))
        others = [name for name in markers.names if name != one and (links[name] == links[one]) is inside]
        frames = int(rng.integers(least, most + 1))
        if not others or frames > len(markers):
            continue
        other = str(rng.choice(others))
        start = int(rng.integers(0, len(markers) - frames + 1))
        pair, span = [markers.index(one), markers.index(other)], slice(start, start + frames)
        if used & {one, other} or np.isfinite(positions[span, pair, 0]).all(axis=1).sum() < least:
            continue
        positions[span, pair] = positions[span, pair[::-1]]
        used |= {one, other}
        swaps.append(Injected(frozenset((one, other)), start, start + frames, inside))
    return Markers(markers.times, markers.names, positions), tuple(swaps)


def _links(markers: Markers) -> dict[str, str]:
    """The link of each recorded marker, of those that a set knows."""
    try:
        known = detect_marker_set(markers.names)
    except InputError:
        return {}
    places = {name: known.find_location(name) for name in markers.names}
    return {name: place.link for name, place in places.items() if place is not None}


def _is_found(swap: Injected, reported: Sequence[Swap]) -> bool:
    shared = sum(max(min(swap.stop, t.stop) - max(swap.start, t.start), 0) for t in reported if _are_one(swap, t))
    return shared >= OVERLAP * (swap.stop - swap.start)


def _are_one(swap: Injected, reported: Swap) -> bool:
    return swap.pair == {reported.first, reported.second} and min(swap.stop, reported.stop) > max(
        swap.start, reported.start
    )
