"""Labels of a live stream that are exchanged or flicker: left out at once, put right where that is certain, and told.

Each label is expected where it flew to and where the body, as it was followed so far, carries it. One that lies off and
where another label is expected may have become that one: how much more probable the exchange is than that both are
right decides, in the sample in which it happens. Exchanging back is an exchange too. Nothing waits for later samples,
so that what a whole recording would tell (`tracking.labels`) is not all found.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MIN_JUMP, MAX_ACCELERATION = 0.012, 60.0
"""[m] off where it flew to, and [m/s^2] by which flight may bend, from which a marker may have become another."""
REAPPEARANCE_DISTANCE = 0.03
"""[m] The same off where the body carries it, of one that was not seen for a while."""
MAX_EXTRAPOLATION = 0.1
"""[s] For so long an unseen marker is taken to fly on."""
MAX_TAKEOVER_RATIO = 0.35
"""One that takes over another's place lies at most this share of its jump from there."""
POSITION_STD = 0.012
"""[m] Spread of a marker about where the body carries it."""
MAX_STEP_COST, MAX_POSITION_COST = 14.0, 6.0
"""Least likely values still count as so many nats."""
SUSPECT_GAIN, EXCHANGE_GAIN = 4.0, 12.0
"""[nat] of gain beyond which the two labels are left out, and exchanged."""
FLICKER_DISTANCE, MAX_EXCLUSION = 0.06, 0.5
"""[m] off both flight and body beyond which a marker is left out, and [s] for how long at most."""
OFFSET_TIME_CONSTANT, MIN_OFFSET_TIME = 1.0, 0.2
"""[s] Over which is learnt how a marker lies beside where the calibration has it, and before which nothing is made of
it: two of one link may lie so far beside that they look exchanged."""


class LiveLabels:
    """Which column of a stream each label is read from.

    Args:
        names: P markers.
    """

    def __init__(self, names: Sequence[str]) -> None:
        count = len(names)
        self._names = tuple(names)
        self.order = np.arange(count)
        """(P,) the column that holds each label now."""
        self.notes: tuple[str, ...] = ()
        self._time = 0.0
        self._last, self._velocity = np.full((2, count, 3), np.nan)
        self._last_seen = np.full(count, -np.inf)
        self._excluded_since = np.full(count, np.inf)
        """[s] Times since when each is left out."""
        self._body_positions, self._body_velocity = np.full((2, count, 3), np.nan)
        self._offsets, self._offset_time = np.zeros((count, 3)), np.zeros(count)
        self._body_time = 0.0

    def correct(self, positions: np.ndarray, time: float) -> np.ndarray:
        """(P, 3) [m] of the labels as they are believed, NaN where missing or in doubt, of a sample as it came."""
        found = positions[self.order]
        gone = time - self._last_seen
        recent = gone <= MAX_EXTRAPOLATION
        place = self._body_positions + self._body_velocity * (time - self._body_time)
        flown = self._last + np.nan_to_num(self._velocity) * np.minimum(gone, MAX_EXTRAPOLATION)[:, None]
        expected = np.where(recent[:, None], flown, place)
        width = np.where(
            recent, MIN_JUMP + MAX_ACCELERATION * np.minimum(gone, MAX_EXTRAPOLATION) ** 2, REAPPEARANCE_DISTANCE
        )
        off = _norms(found - expected)
        jumped = np.nan_to_num(off) > width
        doubted = np.zeros(len(off), bool)
        away = np.isfinite(self._excluded_since)
        if jumped.any() or away.any():
            found, doubted = self._resolve_exchanges(found, (expected, place), width, time)
            off = _norms(found - expected)
            beside = np.fmin(off, _norms(found - place))
            doubted |= np.nan_to_num(np.where((off > width) | away, beside, 0.0)) > FLICKER_DISTANCE
        self._excluded_since = np.where(doubted, np.minimum(self._excluded_since, time), np.inf)
        doubted &= time - self._excluded_since < MAX_EXCLUSION
        believed = np.where(doubted[:, None], np.nan, found)
        seen = np.isfinite(believed[:, 0])
        step = np.maximum(gone, 1e-6)[:, None]
        pace = np.where(recent[:, None], (believed - self._last) / step, np.nan)
        self._velocity = np.where(seen[:, None], pace, self._velocity)
        self._last = np.where(seen[:, None], believed, self._last)
        self._last_seen = np.where(seen, time, self._last_seen)
        self._time = time
        return np.asarray(believed)

    def update_prediction(self, modelled: np.ndarray, rotations: np.ndarray, tracked: bool) -> None:
        """Take where the body carries the labels (P, 3) [m] now, and the axes (P, 3, 3) of their links."""
        step = self._time - self._body_time
        if not tracked or step <= 0.0:
            return
        beside = np.einsum("pji,pj->pi", rotations, self._last - modelled)
        fresh = (self._last_seen == self._time) & np.isfinite(beside[:, 0])
        self._offset_time[fresh] += min(step, MAX_EXTRAPOLATION)
        share = np.minimum(step / np.clip(self._offset_time[fresh], 1e-6, OFFSET_TIME_CONSTANT), 1.0)[:, None]
        self._offsets[fresh] += share * (beside[fresh] - self._offsets[fresh])
        known = np.where(self._offset_time >= MIN_OFFSET_TIME, 1.0, np.nan)[:, None]
        carried = modelled + known * np.einsum("pij,pj->pi", rotations, self._offsets)
        self._body_velocity = (
            np.nan_to_num((carried - self._body_positions) / step)
            if step <= MAX_EXTRAPOLATION
            else np.zeros_like(carried)
        )
        self._body_positions, self._body_time = carried, self._time

    def _resolve_exchanges(
        self, found: np.ndarray, expected: tuple[np.ndarray, np.ndarray], width: np.ndarray, time: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Labels with certain exchanges made, and which are in doubt (P,)."""
        off = _norms(found - expected[0])
        gains: dict[tuple[int, int], float] = {}
        for one in np.flatnonzero(np.nan_to_num(off) > width):
            across = _norms(found[one] - expected[0])
            across[one] = np.nan
            for other in np.flatnonzero(np.nan_to_num(across, nan=np.inf) < MAX_TAKEOVER_RATIO * off[one]):
                pair = (min(int(one), int(other)), max(int(one), int(other)))
                gains[pair] = _exchange_gain(
                    found[list(pair)], [e[list(pair)] for e in expected], width[list(pair)] / 3.0
                )
        doubted, taken = np.zeros(len(off), bool), set[int]()
        for pair, gain in sorted(gains.items(), key=lambda item: -item[1]):
            if gain < SUSPECT_GAIN or taken & set(pair):
                continue
            taken |= set(pair)
            both = list(pair)
            if gain < EXCHANGE_GAIN:
                doubted[both] = True
                continue
            found[both], self.order[both] = found[both[::-1]], self.order[both[::-1]]
            self._note_exchange(pair, time)
        return found, doubted

    def _note_exchange(self, pair: tuple[int, int], time: float) -> None:
        one, other = (self._names[k] for k in pair)
        start = f"labels {one} and {other} are exchanged"
        if not any(words.startswith(start) for words in self.notes):
            self.notes = (*self.notes, f"{start} in the stream, first at {time:.2f} s: put right")


def _exchange_gain(found: np.ndarray, expected: Sequence[np.ndarray], width: np.ndarray) -> float:
    """[nat] by which two labels (2, 3) are more probably exchanged than right, by flight and by body."""
    total = 0.0
    for places, spread, most in zip(expected, (width, np.full(2, POSITION_STD)), (MAX_STEP_COST, MAX_POSITION_COST)):
        own, across = (
            np.minimum(0.5 * (_norms(found - there) / spread) ** 2, most) for there in (places, places[::-1])
        )
        total += float(np.nan_to_num(own - across).sum())
    return total


def _norms(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
