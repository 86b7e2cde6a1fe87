"""Labels of a live stream that are exchanged or flicker: left out at once, put right where that is certain, and told.

Each label is expected where it flew to and where the body, as it was followed so far, carries it. One that lies off and
where another label is expected may have become that one: how much more probable the exchange is than that both are
right decides, in the sample in which it happens. Exchanging back is an exchange too. Nothing waits for later samples,
so that what a whole recording would tell (`tracking.labels`) is not all found.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

JUMP, SHARPEST = 0.012, 60.0
"""[m] off where it flew to, and [m/s^2] by which flight may bend, from which a marker may have become another."""
FOUND_AGAIN = 0.03
"""[m] The same off where the body carries it, of one that was not seen for a while."""
RECENT = 0.1
"""[s] For so long an unseen marker is taken to fly on."""
TAKEN_OVER = 0.35
"""One that takes over another's place lies at most this share of its jump from there."""
PLACE_NOISE = 0.012
"""[m] Spread of a marker about where the body carries it."""
STEP_MOST, PLACE_MOST = 14.0, 6.0
"""Least likely values still count as so many nats."""
SUSPECTED, CERTAIN = 4.0, 12.0
"""[nat] of gain beyond which the two labels are left out, and exchanged."""
FLICKER, PATIENCE = 0.06, 0.5
"""[m] off both flight and body beyond which a marker is left out, and [s] for how long at most."""
LEARNT, FIRST = 1.0, 0.2
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
        self.told: tuple[str, ...] = ()
        self._time = 0.0
        self._last, self._pace = np.full((2, count, 3), np.nan)
        self._seen = np.full(count, -np.inf)
        self._since = np.full(count, np.inf)
        """[s] Times since when each is left out."""
        self._carried, self._drift = np.full((2, count, 3), np.nan)
        self._beside, self._learnt = np.zeros((count, 3)), np.zeros(count)
        self._carried_at = 0.0

    def sorted(self, positions: np.ndarray, time: float) -> np.ndarray:
        """(P, 3) [m] of the labels as they are believed, NaN where missing or in doubt, of a sample as it came."""
        found = positions[self.order]
        gone = time - self._seen
        recent = gone <= RECENT
        place = self._carried + self._drift * (time - self._carried_at)
        flown = self._last + np.nan_to_num(self._pace) * np.minimum(gone, RECENT)[:, None]
        expected = np.where(recent[:, None], flown, place)
        width = np.where(recent, JUMP + SHARPEST * np.minimum(gone, RECENT) ** 2, FOUND_AGAIN)
        off = _length(found - expected)
        jumped = np.nan_to_num(off) > width
        doubted = np.zeros(len(off), bool)
        away = np.isfinite(self._since)
        if jumped.any() or away.any():
            found, doubted = self._judged(found, (expected, place), width, time)
            off = _length(found - expected)
            beside = np.fmin(off, _length(found - place))
            doubted |= np.nan_to_num(np.where((off > width) | away, beside, 0.0)) > FLICKER
        self._since = np.where(doubted, np.minimum(self._since, time), np.inf)
        doubted &= time - self._since < PATIENCE
        believed = np.where(doubted[:, None], np.nan, found)
        seen = np.isfinite(believed[:, 0])
        step = np.maximum(gone, 1e-6)[:, None]
        pace = np.where(recent[:, None], (believed - self._last) / step, np.nan)
        self._pace = np.where(seen[:, None], pace, self._pace)
        self._last = np.where(seen[:, None], believed, self._last)
        self._seen = np.where(seen, time, self._seen)
        self._time = time
        return np.asarray(believed)

    def follow(self, modelled: np.ndarray, turns: np.ndarray, tracked: bool) -> None:
        """Take where the body carries the labels (P, 3) [m] now, and the axes (P, 3, 3) of their links."""
        step = self._time - self._carried_at
        if not tracked or step <= 0.0:
            return
        beside = np.einsum("pji,pj->pi", turns, self._last - modelled)
        fresh = (self._seen == self._time) & np.isfinite(beside[:, 0])
        self._learnt[fresh] += min(step, RECENT)
        share = np.minimum(step / np.clip(self._learnt[fresh], 1e-6, LEARNT), 1.0)[:, None]
        self._beside[fresh] += share * (beside[fresh] - self._beside[fresh])
        known = np.where(self._learnt >= FIRST, 1.0, np.nan)[:, None]
        carried = modelled + known * np.einsum("pij,pj->pi", turns, self._beside)
        self._drift = np.nan_to_num((carried - self._carried) / step) if step <= RECENT else np.zeros_like(carried)
        self._carried, self._carried_at = carried, self._time

    def _judged(
        self, found: np.ndarray, expected: tuple[np.ndarray, np.ndarray], width: np.ndarray, time: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Labels with certain exchanges made, and which are in doubt (P,)."""
        off = _length(found - expected[0])
        gains: dict[tuple[int, int], float] = {}
        for one in np.flatnonzero(np.nan_to_num(off) > width):
            across = _length(found[one] - expected[0])
            across[one] = np.nan
            for other in np.flatnonzero(np.nan_to_num(across, nan=np.inf) < TAKEN_OVER * off[one]):
                pair = (min(int(one), int(other)), max(int(one), int(other)))
                gains[pair] = _gain(found[list(pair)], [e[list(pair)] for e in expected], width[list(pair)] / 3.0)
        doubted, taken = np.zeros(len(off), bool), set[int]()
        for pair, gain in sorted(gains.items(), key=lambda item: -item[1]):
            if gain < SUSPECTED or taken & set(pair):
                continue
            taken |= set(pair)
            both = list(pair)
            if gain < CERTAIN:
                doubted[both] = True
                continue
            found[both], self.order[both] = found[both[::-1]], self.order[both[::-1]]
            self._tell(pair, time)
        return found, doubted

    def _tell(self, pair: tuple[int, int], time: float) -> None:
        one, other = (self._names[k] for k in pair)
        start = f"labels {one} and {other} are exchanged"
        if not any(words.startswith(start) for words in self.told):
            self.told = (*self.told, f"{start} in the stream, first at {time:.2f} s: put right")


def _gain(found: np.ndarray, expected: Sequence[np.ndarray], width: np.ndarray) -> float:
    """[nat] by which two labels (2, 3) are more probably exchanged than right, by flight and by body."""
    total = 0.0
    for places, spread, most in zip(expected, (width, np.full(2, PLACE_NOISE)), (STEP_MOST, PLACE_MOST)):
        own, across = (
            np.minimum(0.5 * (_length(found - there) / spread) ** 2, most) for there in (places, places[::-1])
        )
        total += float(np.nan_to_num(own - across).sum())
    return total


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
