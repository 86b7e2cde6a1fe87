"""The smoother's noise, learnt on recordings: what predicts the wrench best where it was hidden.

Likelihood would believe the model; this believes the plates. Flights and stretches of 0.1 and 0.2 s of stance are
hidden in turn, and force and moment that the estimate needs there are compared with the measured ones, over what the
kinematics alone leave. A search goes along one logarithm at a time. The plates' noise and gain are not sought: noise
does not show where the plates are hidden, and a few recordings do not show how wrong the plates of others are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from ..errors import InvalidValue
from ..filter_presets import preset_of
from ..progress import Progress, silent
from ..signals import GRAVITY, low_pass, stretches
from .complementary import complementary
from .flights import flights
from .settings import ComplementarySettings
from .smoother import USUAL, Signal, SmootherSettings, smoothed
from .values import AXES, CentroidalData, CentroidalEstimate

HIDDEN = (0.1, 0.2)
"""[s] of stance that are hidden."""
APART = 0.3
"""[s] of known wrench between stretches that are hidden at once."""
MARGIN = 0.03
"""[s] from where the wrench begins to be known, within which nothing is hidden."""
LOADED = 0.2
"""Share of the body weight from which a stance counts as one."""
FIRST_STEP, SMALLEST = 0.9, 0.1
"""In natural logarithms of the numbers that are sought."""
BAND = preset_of("human_8hz")
"""What both sides of a comparison pass, as the main job's do."""
LEVELS = ((1.0, 1.0, 1.0, 1.0), (0.3, 0.1, 1.0, 1.0), (0.1, 0.01, 3.0, 3.0), (0.03, 0.001, 3.0, 3.0))
"""Factors on fast errors, slow errors, the signals and their cut-offs: from skin and skeleton down to a walk whose
markers leave hardly more than its plates do."""
GRID = tuple(
    ComplementarySettings(f"{low:g}, {high:g}, {momentum:g} Hz", low, high, momentum)
    for low, high, momentum in product((0.25, 0.5, 1.0, 2.0), (5.0, 10.0, 25.0), (0.5, 1.0, 2.0, 4.0))
)
"""Cut-offs to choose from, around the paper's."""


def learn(
    recordings: Sequence[CentroidalData],
    start: SmootherSettings = USUAL,
    rounds: int = 2,
    progress: Progress = silent,
) -> SmootherSettings:
    """Settings of the smoother that these recordings ask for.

    Args:
        recordings: with moments, of bodies that move; what is learnt holds for recordings alike.
        start: where the search begins.
        rounds: through all numbers.
        progress: receives progress.
    """
    x = np.log(_numbers(start))
    steps = np.full(len(x), FIRST_STEP)
    best = hidden_score(recordings, partial(smoothed, settings=_settings(np.exp(x), start)))
    for turn in range(rounds):
        for place in range(len(x)):
            progress((turn + place / len(x)) / rounds, f"hidden wrench over the kinematics' error: {np.exp(best):.3f}")
            moved = False
            for sign in (1.0, -1.0):
                while steps[place] >= SMALLEST:
                    tried = x.copy()
                    tried[place] += sign * steps[place]
                    score = hidden_score(recordings, partial(smoothed, settings=_settings(np.exp(tried), start)))
                    if not score < best:
                        break
                    x, best, moved = tried, score, True
                if moved:
                    break
            if not moved:
                steps[place] *= 0.5
    return _settings(np.exp(x), start)


def hidden_patterns(data: CentroidalData, seconds: float) -> Iterator[np.ndarray]:
    """(N,) masks of stance to hide, each of stretches that long; of flights if ``seconds`` is zero.

    Together they cover every loaded stretch once.
    """
    known, up = data.known, data.force[:, 2]
    if seconds == 0.0:
        spans = list(flights(data, by_motion=False))
    else:
        size, margin = round(seconds * data.rate), round(MARGIN * data.rate)
        loaded = stretches(known & (up > LOADED * data.mass * GRAVITY))
        spans = [
            (first, first + size)
            for begin, end in loaded
            for first in range(begin + margin, end - margin - size + 1, size)
        ]
    groups: list[list[tuple[int, int]]] = []
    for span in spans:
        free = [group for group in groups if span[0] - group[-1][1] >= APART * data.rate]
        free[0].append(span) if free else groups.append([span])
    for group in groups:
        mask = np.zeros(len(data), bool)
        for begin, end in group:
            mask[begin:end] = True
        yield mask


def wrench_error(data: CentroidalData, wrench: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """(n, 6) wrench less the measured one in chosen frames (N,), through the band, moments about the kinematic CoM."""
    values = np.concatenate([wrench - data.wrench, data.com], axis=1)
    values[~np.isfinite(data.wrench).all(axis=1)] = np.nan
    values = low_pass(values, data.rate, BAND, longest_gap=0.0)
    error, com = values[frames, :6], values[frames, 6:]
    error[:, AXES:] -= np.cross(com, error[:, :AXES])
    return error if data.has_moment else np.where(np.arange(2 * AXES) < AXES, error, 0.0)


def kinematic_wrench(data: CentroidalData) -> np.ndarray:
    """(N, 6) contact wrench about the world origin that the kinematics need."""
    force = data.mass * (data.acceleration + np.array([0.0, 0.0, GRAVITY]))
    return np.concatenate([force, data.momentum_rate + np.cross(data.com, force)], axis=1)


def adapted(data: CentroidalData, settings: SmootherSettings = USUAL) -> SmootherSettings:
    """Settings at the level of precision that a recording's own hidden stretches ask for.

    Cameras, markers and skin differ from laboratory to laboratory by more than an order of magnitude; how the errors
    are spread over axes and frequencies differs less.

    Args:
        data: a recording, with or without moments.
        settings: learnt on others.

    Raises:
        InvalidValue: nothing of the recording can be hidden.
    """
    tried = [_at_level(settings, level) for level in LEVELS]
    return min(tried, key=lambda chosen: hidden_score([data], partial(smoothed, settings=chosen)))


def _at_level(settings: SmootherSettings, level: tuple[float, float, float, float]) -> SmootherSettings:
    error, drift, std, cutoff = level

    def scaled(signal: Signal) -> Signal:
        return Signal(
            _times(signal.std, std),
            signal.cutoff * cutoff,
            _times(signal.error, error),
            signal.error_cutoff,
            _times(signal.drift, drift),
            signal.drift_cutoff,
        )

    return replace(settings, com=scaled(settings.com), momentum=scaled(settings.momentum))


def _times(numbers: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    x, y, z = numbers
    return x * factor, y * factor, z * factor


def chosen_cutoffs(data: CentroidalData, grid: Sequence[ComplementarySettings] = GRID) -> ComplementarySettings:
    """The complementary filter's settings that predict this recording's hidden wrench best.

    Args:
        data: a recording with moments.
        grid: to choose from; those too high for the recording's rate are passed over.

    Raises:
        InvalidValue: none of the grid fits the rate, or nothing of the recording can be hidden.
    """
    fitting = [settings for settings in grid if max(settings.high, settings.momentum) < 0.5 * data.rate]
    if not fitting:
        raise InvalidValue(f"{data.rate:g} samples a second are too few for all cut-offs there are to choose from")
    return min(fitting, key=lambda settings: hidden_score([data], partial(complementary, settings=settings)))


def hidden_score(
    recordings: Sequence[CentroidalData], estimator: Callable[[CentroidalData], CentroidalEstimate]
) -> float:
    """Mean logarithm of the error over that of the kinematics, force and moment, over trials and kinds of hiding."""
    found = []
    for data in recordings:
        bare = kinematic_wrench(data)
        for seconds in (0.0, *HIDDEN):
            sums = np.zeros((2, 2))
            for frames in hidden_patterns(data, seconds):
                wrench = np.where(frames[:, None], estimator(data.hidden(frames)).wrench, data.wrench)
                for row, tried in enumerate((wrench, bare)):
                    error = wrench_error(data, tried, frames) ** 2
                    sums[row] += error[:, :AXES].sum(), error[:, AXES:].sum()
            told = sums[1] > 0.0
            if told[0] and (told[1] or not data.has_moment):
                found.append(0.5 * np.log(sums[0, told] / sums[1, told]).mean())
    if not found:
        raise InvalidValue(
            f"nothing can be learnt here: no stance of {HIDDEN[0]:g} s with forces and moments that the kinematics do "
            "not explain exactly"
        )
    return float(np.mean(found))


def _numbers(settings: SmootherSettings) -> np.ndarray:
    """What is sought: along the floor both axes share a number, but not with the vertical one."""
    found: list[float] = []
    for signal in (settings.com, settings.momentum):
        found += [signal.std[0], signal.std[2], signal.cutoff]
        found += [signal.error[0], signal.error[2], signal.error_cutoff]
        found += [signal.drift[0], signal.drift[2], signal.drift_cutoff]
    return np.array(found)


def _settings(numbers: np.ndarray, start: SmootherSettings) -> SmootherSettings:
    parts = []
    for row in numbers.reshape(2, 3, 3).tolist():
        (std, up, cutoff), (error, error_up, error_cutoff), (drift, drift_up, drift_cutoff) = row
        parts.append(
            Signal(
                (std, std, up), cutoff, (error, error, error_up), error_cutoff, (drift, drift, drift_up), drift_cutoff
            )
        )
    return replace(start, com=parts[0], momentum=parts[1])
