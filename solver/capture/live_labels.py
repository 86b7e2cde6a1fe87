"""Correction of exchanged marker labels in a live stream, and exclusion of uncertain or flickering ones.

The position of each label is predicted from its own velocity and from the tracked body. If a label is far from its
prediction and close to that of another label, the two may be exchanged. The log-likelihood ratio of the exchange
decides in the same sample: a certain exchange is corrected, and uncertain labels are left out. It counts as an exchange
of the stream's labels when the next sample shows it as well. Exchanging back is handled in the same way. Since no later
samples are used, fewer exchanges are found than in a whole recording.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..tracking.exchanged_labels import TAKEOVER_RATIO

MIN_JUMP, MAX_ACCELERATION = 0.012, 60.0
"""[m] Distance from the predicted position from which on a marker may be another one; [m/s^2] its growth by
acceleration."""
REAPPEARANCE_DISTANCE = 0.03
"""[m] The same distance for a marker that reappears, from the position predicted by the body."""
MAX_EXTRAPOLATION = 0.1
"""[s] Time for which the velocity of a missing marker is extrapolated."""
POSITION_STD = 0.012
"""[m] Standard deviation of a marker about the position predicted by the body."""
MAX_STEP_COST, MAX_POSITION_COST = 14.0, 6.0
"""[nat] Largest negative log-likelihood of a deviation from velocity and body prediction."""
SUSPECT_GAIN, EXCHANGE_GAIN = 4.0, 12.0
"""[nat] Log-likelihood gain of an exchange above which the two labels are left out, and exchanged."""
FLICKER_DISTANCE, MAX_EXCLUSION = 0.06, 0.5
"""[m] Distance from both predictions above which a marker is left out, and [s] the longest time for that."""
OFFSET_TIME_CONSTANT, MIN_OFFSET_TIME = 1.0, 0.2
"""[s] Time constant of the mean offset of a marker from its calibrated location, and time before which the body's
prediction is not used: two markers of one link may have offsets so large that they look exchanged."""


class LiveLabels:
    """The column of a stream that holds each label.

    Args:
        names: P markers.
    """

    def __init__(self, names: Sequence[str]) -> None:
        count = len(names)
        self._names = tuple(names)
        self.order = np.arange(count)
        """(P,) current column of each label."""
        self.notes: tuple[str, ...] = ()
        self._time = 0.0
        self._last, self._velocity = np.full((2, count, 3), np.nan)
        self._last_seen = np.full(count, -np.inf)
        self._excluded_since = np.full(count, np.inf)
        """[s] Time since which each label is left out; inf if it is not."""
        self._body_positions, self._body_velocity = np.full((2, count, 3), np.nan)
        self._offsets, self._offset_time = np.zeros((count, 3)), np.zeros(count)
        self._body_time = 0.0
        self._suspects = set[tuple[int, int]]()
        """Pairs that were exchanged in the previous sample alone: one sample may be damaged."""

    def correct(self, positions: np.ndarray, time: float) -> np.ndarray:
        """(P, 3) [m] corrected positions of the labels in a sample, NaN where missing or uncertain."""
        found = positions[self.order]
        unseen_for = time - self._last_seen
        recent = unseen_for <= MAX_EXTRAPOLATION
        place = self._body_positions + self._body_velocity * (time - self._body_time)
        extrapolated = self._last + np.nan_to_num(self._velocity) * np.minimum(unseen_for, MAX_EXTRAPOLATION)[:, None]
        expected = np.where(recent[:, None], extrapolated, place)
        width = np.where(
            recent, MIN_JUMP + MAX_ACCELERATION * np.minimum(unseen_for, MAX_EXTRAPOLATION) ** 2, REAPPEARANCE_DISTANCE
        )
        off = _norms(found - expected)
        jumped = np.nan_to_num(off) > width
        uncertain = np.zeros(len(off), bool)
        away = np.isfinite(self._excluded_since)
        if jumped.any() or away.any():
            found, uncertain = self._resolve_exchanges(found, (expected, place), width, time)
            off = _norms(found - expected)
            beside = np.fmin(off, _norms(found - place))
            uncertain |= np.nan_to_num(np.where((off > width) | away, beside, 0.0)) > FLICKER_DISTANCE
        self._excluded_since = np.where(uncertain, np.minimum(self._excluded_since, time), np.inf)
        uncertain &= time - self._excluded_since < MAX_EXCLUSION
        corrected = np.where(uncertain[:, None], np.nan, found)
        seen = np.isfinite(corrected[:, 0])
        velocity = np.where(recent[:, None], (corrected - self._last) / np.maximum(unseen_for, 1e-6)[:, None], np.nan)
        self._velocity = np.where(seen[:, None], velocity, self._velocity)
        self._last = np.where(seen[:, None], corrected, self._last)
        self._last_seen = np.where(seen, time, self._last_seen)
        self._time = time
        return np.asarray(corrected)

    def update_prediction(self, modelled: np.ndarray, rotations: np.ndarray, tracked: bool) -> None:
        """Update the prediction with the labels (P, 3) [m] on the body, and the axes (P, 3, 3) of their links."""
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
        """Positions with certain exchanges corrected, and whether each label is uncertain (P,)."""
        off = _norms(found - expected[0])
        gains: dict[tuple[int, int], float] = {}
        for one in np.flatnonzero(np.nan_to_num(off) > width):
            across = _norms(found[one] - expected[0])
            across[one] = np.nan
            for other in np.flatnonzero(np.nan_to_num(across, nan=np.inf) < TAKEOVER_RATIO * off[one]):
                pair = (min(int(one), int(other)), max(int(one), int(other)))
                gains[pair] = _exchange_gain(
                    found[list(pair)], [e[list(pair)] for e in expected], width[list(pair)] / 3.0
                )
        uncertain, taken, suspects = np.zeros(len(off), bool), set[int](), set[tuple[int, int]]()
        for pair, gain in sorted(gains.items(), key=lambda item: -item[1]):
            if gain < SUSPECT_GAIN or taken & set(pair):
                continue
            taken |= set(pair)
            both = list(pair)
            if gain < EXCHANGE_GAIN:
                uncertain[both] = True
                continue
            found[both] = found[both[::-1]]
            suspects.add(pair)
            if pair in self._suspects:
                self.order[both] = self.order[both[::-1]]
                self._note_exchange(pair, time)
        self._suspects = suspects
        return found, uncertain

    def _note_exchange(self, pair: tuple[int, int], time: float) -> None:
        one, other = (self._names[k] for k in pair)
        start = f"labels {one} and {other} are exchanged"
        if not any(words.startswith(start) for words in self.notes):
            self.notes = (*self.notes, f"{start} in the stream, first at {time:.2f} s: corrected")


def _exchange_gain(found: np.ndarray, expected: Sequence[np.ndarray], width: np.ndarray) -> float:
    """[nat] Log-likelihood ratio of an exchange of two labels (2, 3), by velocity and by body."""
    total = 0.0
    for places, spread, most in zip(expected, (width, np.full(2, POSITION_STD)), (MAX_STEP_COST, MAX_POSITION_COST)):
        own, across = (
            np.minimum(0.5 * (_norms(found - there) / spread) ** 2, most) for there in (places, places[::-1])
        )
        total += float(np.nan_to_num(own - across).sum())
    return total


def _norms(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
