"""Finds exchanged marker labels in a recording, and corrects those that are certain.

Two exchanged labels are visible twice: both jump at the ends of the exchange, each to where the other one was; and in
between each is where its neighbours predict the other. A marker's neighbours (`marker_neighbours`) predict its
position, so the comparison does not depend on the body's motion, and needs neither rig nor marker set. Each pair that
jumps like that is a hidden Markov model of two states, own and exchanged, whose most probable path (Viterbi) is the
result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import list_names
from ..base.errors import checked
from ..base.file_arrays import iterate_slices
from ..values.motion import Markers
from .marker_neighbours import MIN_NEIGHBOURS, learn_shapes

MIN_JUMP = 0.012
"""[m] Distance from the extrapolated position above which a marker may have become another one. Measured on a
simulated dance of 3 s with gaps and exchanged labels, whose joint centres are 13.4 mm off: half and twice the value
end within 0.1 mm."""
TAKEOVER_RATIO = 0.35
"""Largest distance from the other marker's position, as a fraction of the jump, of a marker that replaces it. Measured
on a simulated dance of 3 s with gaps and exchanged labels, whose joint centres are 13.4 mm off: half and twice the
value give 13.4 and 9.1 mm."""
EXTRAPOLATION_TIME = 0.04
"""[s] Longest time over which a marker's motion is extrapolated. Measured on a simulated dance of 3 s with gaps and
exchanged labels, whose joint centres are 13.4 mm off: half and twice the value end within 0.1 mm."""
FRAMES_PER_BATCH = 1024
"""Frames whose extrapolation is computed together."""
MIN_STEP_STD, MIN_POSITION_STD = 0.004, 0.008
"""[m] Smallest standard deviation of a marker about its predicted position, from frame to frame and altogether."""
STEP_STD_FACTOR, POSITION_STD_FACTOR = 2.5, 1.3
"""Standard deviations in units of medians, which outliers in half of the frames do not change; long steps are more
frequent."""
MAX_STEP_PENALTY, MAX_POSITION_PENALTY = 14.0, 6.0
"""[nat] Largest penalty of one frame, because noise has longer tails than a normal distribution."""
CORRELATION_TIME = 0.1
"""[s] Positions in frames nearer to each other are not independent. Measured on a simulated dance of 3 s with gaps and
exchanged labels, whose joint centres are 13.4 mm off: half and twice the value give 9.4 and 12.4 mm."""
TRANSITION_PENALTY = 6.0
"""[nat] By so much more probable must a path be to begin or end an exchange. Measured on a simulated dance of 3 s with
gaps and exchanged labels, whose joint centres are 13.4 mm off: half and twice the value give 9.0 and 9.1 mm."""
SUSPECTED_GAIN, CERTAIN_GAIN = 4.0, 12.0
"""[nat] Gain over both labels being right above which an exchange is reported, and corrected."""
CLEAREST_RATIO = 0.6
"""Ratio to the largest gain below which exchanges are evaluated again after the clearer ones are corrected. Measured
on a simulated dance of 3 s with gaps and exchanged labels, whose joint centres are 13.4 mm off: half and twice the
value give 13.4 and 9.9 mm."""
MAX_PASSES = 60


@dataclass(frozen=True, slots=True)
class Swap:
    """Two labels exchanged in frames start..stop-1.

    Attributes:
        first, second: marker names.
        start: first frame, a number.
        stop: the frame after the last one, a number.
        gain: [nat] how much more probable than that both were right.
    """

    first: str
    second: str
    start: int
    stop: int
    gain: float

    @property
    def is_certain(self) -> bool:
        """Whether it was corrected; otherwise the two markers are missing while it lasts."""
        return self.gain >= CERTAIN_GAIN


@dataclass(frozen=True, slots=True)
class CorrectedLabels:
    """A recording with corrected labels.

    Attributes:
        markers: certain exchanges corrected, markers of uncertain ones missing while they last.
        swaps: in order of their first frame.
    """

    markers: Markers
    swaps: tuple[Swap, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for certain and one for uncertain exchanges."""
        times, messages = self.markers.times, []
        for certain, words in (
            (True, "were exchanged and are corrected"),
            (False, "may be exchanged and are not used"),
        ):
            own = [swap for swap in self.swaps if swap.is_certain is certain]
            listed = [f"{s.first} with {s.second} ({times[s.start]:.2f} to {times[s.stop - 1]:.2f} s)" for s in own]
            if own:
                messages.append(f"markers whose labels {words}: {list_names(listed)}")
        return tuple(messages)


@checked
def correct_labels(markers: Markers) -> CorrectedLabels:
    """Corrects exchanged labels of a recording; returns it unchanged if there are none.

    Example:
        >>> import numpy as np, solver
        >>> markers = solver.demo.simulated_person().recordings[1].markers
        >>> positions = markers.positions.copy()
        >>> pair = [markers.index("LASI"), markers.index("LPSI")]
        >>> positions[20:60, pair] = positions[20:60, pair[::-1]]
        >>> found = solver.tracking.correct_labels(solver.Markers(markers.times, markers.names, positions))
        >>> [(swap.first, swap.second, swap.start, swap.stop) for swap in found.swaps]
        [('LASI', 'LPSI', 20, 60)]
        >>> np.array_equal(found.markers.positions, markers.positions, equal_nan=True)
        True
    """
    if len(markers) < 3 or len(markers.names) <= MIN_NEIGHBOURS + 1:
        return CorrectedLabels(markers)
    positions = markers.positions
    swaps: list[Swap] = []
    uncertain: list[Swap] = []
    for _ in range(MAX_PASSES):
        candidates = _find_swaps(markers, positions)
        largest_gain = max((swap.gain for swap in candidates), default=0.0)
        certain = _select_disjoint(
            [swap for swap in candidates if swap.is_certain and swap.gain > CLEAREST_RATIO * largest_gain]
        )
        if not certain:
            taken = {name for swap in swaps for name in (swap.first, swap.second)}
            uncertain = [s for s in _select_disjoint(candidates) if not {s.first, s.second} & taken]
            break
        positions = positions.copy()
        for swap in certain:
            pair, frames = _columns_of(markers, swap), slice(swap.start, swap.stop)
            positions[frames, pair] = positions[frames, pair[::-1]]
        swaps += certain
    swaps = _join_swaps(swaps, len(markers))
    if uncertain:
        positions = positions.copy()
    for swap in uncertain:
        positions[swap.start : swap.stop, _columns_of(markers, swap)] = np.nan
    if not swaps and not uncertain:
        return CorrectedLabels(markers)
    ordered = sorted([*swaps, *uncertain], key=lambda swap: swap.start)
    return CorrectedLabels(Markers(markers.times, markers.names, positions), tuple(ordered))


def _columns_of(markers: Markers, swap: Swap) -> list[int]:
    return [markers.index(swap.first), markers.index(swap.second)]


def _select_disjoint(swaps: Sequence[Swap]) -> list[Swap]:
    """The most probable exchanges, one partner for each marker."""
    chosen: list[Swap] = []
    partner: dict[str, str] = {}
    for swap in sorted(swaps, key=lambda swap: -swap.gain):
        if partner.get(swap.first, swap.second) == swap.second and partner.get(swap.second, swap.first) == swap.first:
            partner |= {swap.first: swap.second, swap.second: swap.first}
            chosen.append(swap)
    return chosen


def _join_swaps(swaps: Sequence[Swap], frames: int) -> list[Swap]:
    """Joins consecutive exchanges of a pair; two of the same frames cancel."""
    joined = []
    for first, second in dict.fromkeys((swap.first, swap.second) for swap in swaps):
        own = [swap for swap in swaps if (swap.first, swap.second) == (first, second)]
        gain, odd = np.zeros(frames), np.zeros(frames, bool)
        for swap in own:
            odd[swap.start : swap.stop] ^= True
            gain[swap.start] += swap.gain
        edges = np.flatnonzero(np.diff(np.concatenate([[False], odd, [False]]).astype(int)))
        for start, stop in zip(edges[::2], edges[1::2]):
            joined.append(Swap(first, second, int(start), int(stop), max(float(gain[start:stop].sum()), CERTAIN_GAIN)))
    return joined


def _find_swaps(markers: Markers, positions: np.ndarray) -> list[Swap]:
    """Exchanges of every pair that jumps as an exchanged one does."""
    pairs, jumps = _find_candidates(markers.times, positions)
    if not pairs:
        return []
    both = np.array(pairs)
    columns, partners = both.reshape(-1), both[:, ::-1].reshape(-1)
    correlation_frames = max(CORRELATION_TIME * markers.rate, 1.0)
    frames = _select_frames(len(positions), jumps, max(int(correlation_frames / 2.0), 1))
    seen = positions[frames]
    expected = learn_shapes(positions, columns, partners).predict(seen)
    noise = _estimate_stds(seen[:, columns] - expected, np.diff(frames))
    swaps = []
    for row, pair in enumerate(pairs):
        own = slice(2 * row, 2 * row + 2)
        one, other = (markers.names[column] for column in pair)
        known = np.isfinite(seen[:, pair, 0]).all(axis=1) & np.isfinite(expected[:, own, 0]).all(axis=1)
        if known.sum() > 1:
            evidence = _PairEvidence.from_positions(
                frames[known], seen[known][:, pair], expected[known, own], noise[:, own], correlation_frames
            )
            swaps += [Swap(one, other, start, stop, gain) for start, stop, gain in evidence.find_exchanges()]
    return [swap for swap in swaps if swap.gain > SUSPECTED_GAIN]


def _select_frames(count: int, jumps: np.ndarray, stride: int) -> np.ndarray:
    """Frames around jumps, and some in between."""
    chosen = np.zeros(count, bool)
    chosen[::stride] = True
    for shift in (-2, -1, 0, 1):
        chosen[np.clip(jumps + shift, 0, count - 1)] = True
    return np.flatnonzero(chosen)


def _find_candidates(times: np.ndarray, positions: np.ndarray) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Pairs of which one jumped to where the other was predicted, and the frames in which that happened."""
    seen_last = np.full((1, positions.shape[1]), -1)
    found: set[tuple[int, int]] = set()
    frames = []
    for own in iterate_slices(len(times), FRAMES_PER_BATCH):
        start, batch_positions = own.start, positions[own]
        frames_here = np.where(np.isfinite(batch_positions[..., 0]), np.arange(own.start, own.stop)[:, None], -1)
        last = np.maximum.accumulate(np.vstack([seen_last, frames_here]), axis=0)
        seen_last, predicted = last[-1:], _extrapolate(times, positions, last[:-1], times[own])
        distance = np.linalg.norm(batch_positions - predicted, axis=2)
        jumped = np.nan_to_num(distance) > MIN_JUMP
        for frame in np.flatnonzero(jumped.any(axis=1)):
            here = np.flatnonzero(jumped[frame])
            across = np.linalg.norm(batch_positions[frame][None, :] - predicted[frame, here][:, None], axis=2)
            taken = np.nan_to_num(across, nan=np.inf) < TAKEOVER_RATIO * distance[frame, here][:, None]
            taken[np.arange(len(here)), here] = False
            for row, other in np.argwhere(taken):
                found.add((min(int(here[row]), int(other)), max(int(here[row]), int(other))))
            if taken.any():
                frames.append(start + frame)
    return sorted(found), np.array(frames, int)


def _extrapolate(times: np.ndarray, positions: np.ndarray, last: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Predicted position of each marker (n, M, 3) at times (n,), from its motion when it was seen last (n, M); else
    NaN.
    """
    columns, before = np.arange(positions.shape[1]), np.maximum(last - 1, 0)
    start, elapsed = positions[last, columns], times[last] - times[before]
    velocity = (start - positions[before, columns]) / np.where(last > 0, elapsed, np.nan)[..., None]
    predicted = start + np.nan_to_num(velocity) * np.minimum(now[:, None] - times[last], EXTRAPOLATION_TIME)[..., None]
    return np.where((last >= 0)[..., None], predicted, np.nan)


def _estimate_stds(residuals: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Standard deviations (2, C) [m] of residuals (N, C, 3) of the prediction: from frame to frame, and altogether."""
    steps, size = np.linalg.norm(np.diff(residuals, axis=0), axis=2) / gaps[:, None], np.linalg.norm(residuals, axis=2)
    result = np.array([[MIN_STEP_STD], [MIN_POSITION_STD]]) * np.ones(residuals.shape[1])
    for row, values, factor in ((0, steps, STEP_STD_FACTOR), (1, size, POSITION_STD_FACTOR)):
        known = np.isfinite(values).any(axis=0)
        result[row, known] = np.maximum(result[row, known], factor * np.nanmedian(values[:, known], axis=0))
    return result


@dataclass(frozen=True, slots=True)
class _PairEvidence:
    """Penalties of both states (0 own, 1 exchanged) of a pair of labels.

    Attributes:
        frames: (K,) compared, both labels seen.
        position_penalties: (K, 2) [nat] of each state in each frame, from the positions of the labels.
        transition_penalties: (2, 2, K - 1) [nat] of each pair of successive states, from the labels' steps.
    """

    frames: np.ndarray
    position_penalties: np.ndarray
    transition_penalties: np.ndarray

    @staticmethod
    def from_positions(
        frames: np.ndarray, seen: np.ndarray, expected: np.ndarray, noise: np.ndarray, correlation_frames: float
    ) -> _PairEvidence:
        """From positions (K, 2, 3) of two labels, their predictions (K, 2, 3), and standard deviations (2, 2)."""
        left = np.stack([seen - expected, seen[:, ::-1] - expected])  # state, frame, marker, axis
        gaps = np.diff(frames).astype(float)
        stands_for = np.minimum(np.gradient(frames.astype(float)) / correlation_frames, 1.0)
        places = _negative_log_likelihood(left, noise[1], MAX_POSITION_PENALTY).sum(axis=2) * stands_for
        std = np.minimum(noise[0] * gaps[:, None], np.maximum(noise[1], noise[0]))
        moved = [
            [_negative_log_likelihood(left[to, 1:] - left[of, :-1], std, MAX_STEP_PENALTY).sum(axis=1) for to in (0, 1)]
            for of in (0, 1)
        ]
        steps = np.array(moved)
        steps[[0, 1], [1, 0]] += TRANSITION_PENALTY
        return _PairEvidence(frames, places.T, steps)

    def find_exchanges(self) -> list[tuple[int, int, float]]:
        """Start, stop and gain [nat] of each exchange on the most probable path."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self._most_probable_path(), [0]])))
        return [
            (int(self.frames[start]), int(self.frames[stop - 1]) + 1, self._gain(start, stop))
            for start, stop in zip(edges[::2], edges[1::2])
        ]

    def _most_probable_path(self) -> np.ndarray:
        """States (K,) by Viterbi."""
        best = self.position_penalties[0] + [0.0, TRANSITION_PENALTY]
        predecessors = np.zeros((len(self.frames), 2), int)
        for k in range(1, len(self.frames)):
            costs = best[:, None] + self.transition_penalties[:, :, k - 1]
            predecessors[k] = costs.argmin(axis=0)
            best = costs.min(axis=0) + self.position_penalties[k]
        states = np.zeros(len(self.frames), int)
        states[-1] = int(best.argmin())
        for k in range(len(self.frames) - 1, 0, -1):
            states[k - 1] = predecessors[k, states[k]]
        return states

    def _gain(self, start: int, stop: int) -> float:
        """[nat] Log-likelihood ratio of an exchange in compared frames start..stop-1 to none."""
        gain = float((self.position_penalties[start:stop, 0] - self.position_penalties[start:stop, 1]).sum())
        gain += float(
            (
                self.transition_penalties[0, 0, start : stop - 1] - self.transition_penalties[1, 1, start : stop - 1]
            ).sum()
        )
        gain += (
            -TRANSITION_PENALTY
            if start == 0
            else float(self.transition_penalties[0, 0, start - 1] - self.transition_penalties[0, 1, start - 1])
        )
        gain += (
            0.0
            if stop == len(self.frames)
            else float(self.transition_penalties[0, 0, stop - 1] - self.transition_penalties[1, 0, stop - 1])
        )
        return gain


def _negative_log_likelihood(residuals: np.ndarray, std: np.ndarray, upper_bound: float) -> np.ndarray:
    """Of residual vectors (..., 3) with a standard deviation, up to an upper bound."""
    return np.minimum((residuals**2).sum(axis=-1) / (2.0 * std**2), upper_bound)
