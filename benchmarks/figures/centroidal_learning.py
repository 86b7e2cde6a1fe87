"""Estimation of the smoother's noise from recordings: the settings that predict hidden wrenches best.

A likelihood would rely on the model; this relies on the plates. Flights and intervals of 0.1 and 0.2 s of stance are
hidden in turn. The force and moment that the estimate requires there are compared with the measured ones, relative to
the error of the kinematics. The search changes one logarithm at a time. Noise and gain of the plates are not estimated:
their noise has no effect where they are hidden, and a few recordings do not determine the gain error of other plates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from solver.base.errors import InvalidValue
from solver.base.progress import PartialProgress, Progress, silent
from solver.centroidal.complementary import complementary
from solver.centroidal.complementary_filters import ComplementarySettings
from solver.centroidal.momentum_blend import SMOOTHER_ONLY, MomentumBlend, blend_features
from solver.centroidal.smoother import DEFAULT_SETTINGS, Signal, SmootherSettings, smooth_centroidal
from solver.centroidal.values import AXES, CentroidalData

from .centroidal_hidden import HIDDEN_SECONDS, hidden_masks, hidden_score, kinematic_wrench, wrench_error

MAX_SECONDS = 3.0
"""[s] of a recording that are used, those with the most rotation: a minute of standing contains no information, and
each of hundreds of evaluations takes as long as the recordings."""
RIDGE = 0.02
"""Weight of the smoother alone, as a fraction of the data's, in the estimation of the momentum blend."""
INITIAL_STEP, MIN_STEP = 0.9, 0.1
"""Steps of the natural logarithms that are searched."""
ERROR_LEVELS = ((1.0, 1.0, 1.0, 1.0), (0.3, 0.1, 1.0, 1.0), (0.1, 0.01, 3.0, 3.0), (0.03, 0.001, 3.0, 3.0))
"""Factors on fast errors, slow errors, the signals and their cut-offs: from skin and skeleton to a walk whose markers
leave hardly more error than its plates."""
CUTOFF_GRID = tuple(
    ComplementarySettings(f"{low:g}, {high:g}, {momentum:g} Hz", low, high, momentum)
    for low, high, momentum in product((0.25, 0.5, 1.0, 2.0), (5.0, 10.0, 25.0), (0.5, 1.0, 2.0, 4.0))
)
"""Candidate cut-offs, around the paper's."""


def learn_noise(
    recordings: Sequence[CentroidalData],
    start: SmootherSettings = DEFAULT_SETTINGS,
    passes: int = 2,
    progress: Progress = silent,
) -> SmootherSettings:
    """Settings of the smoother that predict hidden wrenches of these recordings best.

    Args:
        recordings: with moments, of bodies that move; the settings apply to similar recordings.
        start: where the search begins.
        passes: through all parameters.
        progress: receives progress.
    """
    recordings = [_most_active_part(data) for data in recordings]
    part = PartialProgress(progress, 0.0, 0.95)
    x = np.log(_free_parameters(start))
    steps = np.full(len(x), INITIAL_STEP)

    def scored(numbers: np.ndarray) -> float:
        try:
            return hidden_score(
                recordings, partial(smooth_centroidal, settings=_settings_from_parameters(np.exp(numbers), start))
            )
        except np.linalg.LinAlgError:  # sizes too different for double precision
            return float("inf")

    best = scored(x)
    for turn in range(passes):
        for place in range(len(x)):
            part(
                (turn + place / len(x)) / passes,
                f"error of hidden wrenches over that of the kinematics: {np.exp(best):.3f}",
            )
            moved = False
            for sign in (1.0, -1.0):
                while steps[place] >= MIN_STEP:
                    tried = x.copy()
                    tried[place] += sign * steps[place]
                    score = scored(tried)
                    if not score < best:
                        break
                    x, best, moved = tried, score, True
                if moved:
                    break
            if not moved:
                steps[place] *= 0.5
    return learn_momentum_blend(recordings, _settings_from_parameters(np.exp(x), start))


def learn_momentum_blend(recordings: Sequence[CentroidalData], settings: SmootherSettings) -> SmootherSettings:
    """The same settings with the momentum blend that predicts the hidden moments best: a linear problem.

    Every recording and length counts equally, by its error over that of the kinematics.

    Raises:
        InvalidValue: nothing of the recordings can be hidden.
    """
    alone = replace(settings, momentum_blend=SMOOTHER_ONLY)
    square, right = np.zeros((AXES, 3, 3)), np.zeros((AXES, 3))
    for data in recordings:
        for seconds in (0.0, *HIDDEN_SECONDS):
            found = [_hidden_moment_errors(data, frames, alone) for frames in hidden_masks(data, seconds)]
            size = sum(float(np.sum(bare**2)) for bare, _, _ in found)
            for _, base, changes in found if size > 0.0 else ():
                square += np.einsum("nai,naj->aij", changes, changes) / size
                right -= np.einsum("nai,na->ai", changes, base) / size
    if not square.any():
        raise InvalidValue(
            f"no hidden wrench to estimate from: no stance of {HIDDEN_SECONDS[0]:g} s with forces and moments"
        )
    ridge = RIDGE * np.trace(square, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
    numbers = np.linalg.solve(square + ridge, (right + ridge[:, :, 0])[:, :, None])[:, :, 0]
    aloft, carried, slope = ((float(x), float(y), float(z)) for x, y, z in numbers.T)
    return replace(settings, momentum_blend=MomentumBlend(aloft, carried, slope))


def _hidden_moment_errors(
    data: CentroidalData, frames: np.ndarray, settings: SmootherSettings
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors of moments (n, 3) of the kinematics, and of the smoother with the kinematic rate where the wrench is
    hidden; (n, 3, 3) the change of the latter with each parameter of a blend."""
    found = smooth_centroidal(data.without_wrench(frames), settings)
    needed = found.required_wrench
    difference = found.momentum_rate - data.momentum_rate
    needed[:, AXES:] -= difference

    def error(wrench: np.ndarray) -> np.ndarray:
        return wrench_error(data, np.where(frames[:, None], wrench, data.wrench), frames)[:, AXES:]

    base = error(needed)
    columns = []
    for number in np.moveaxis(blend_features(data, found.acceleration), 2, 0):
        moved = needed.copy()
        moved[:, AXES:] += number * difference
        columns.append(error(moved) - base)
    bare = wrench_error(data, kinematic_wrench(data), frames)[:, AXES:]
    return bare, base, np.stack(columns, axis=2)


def _most_active_part(data: CentroidalData) -> CentroidalData:
    """The part of a recording with the most rotation while its wrench is known."""
    size = round(MAX_SECONDS * data.rate)
    if len(data) <= size:
        return data
    turning = np.concatenate([[0.0], np.cumsum(data.known * np.sum(data.momentum_rate**2, axis=1))])
    start = int(np.argmax(turning[size:] - turning[:-size]))
    return data.part(start, start + size)


def adapt_noise(data: CentroidalData, settings: SmootherSettings = DEFAULT_SETTINGS) -> SmootherSettings:
    """Settings at the error level that predicts a recording's own hidden wrenches best.

    Cameras, markers and skin differ between laboratories by more than an order of magnitude; the distribution of the
    errors over axes and frequencies differs less.

    Args:
        data: a recording, with or without moments.
        settings: estimated from others.

    Raises:
        InvalidValue: nothing of the recording can be hidden.
    """
    tried = [_at_level(settings, level) for level in ERROR_LEVELS]
    return min(tried, key=lambda chosen: hidden_score([data], partial(smooth_centroidal, settings=chosen)))


def _at_level(settings: SmootherSettings, level: tuple[float, float, float, float]) -> SmootherSettings:
    error, drift, std, cutoff = level

    def scaled(signal: Signal) -> Signal:
        return Signal(
            _scale(signal.std, std),
            signal.cutoff * cutoff,
            _scale(signal.error, error),
            signal.error_cutoff,
            _scale(signal.drift, drift),
            signal.drift_cutoff,
        )

    return replace(settings, com=scaled(settings.com), momentum=scaled(settings.momentum))


def _scale(numbers: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    x, y, z = numbers
    return x * factor, y * factor, z * factor


def choose_cutoffs(data: CentroidalData, grid: Sequence[ComplementarySettings] = CUTOFF_GRID) -> ComplementarySettings:
    """Settings of the complementary filter that predict this recording's hidden wrench best.

    Args:
        data: a recording with moments.
        grid: candidates; those too high for the recording's rate are skipped.

    Raises:
        InvalidValue: no candidate fits the rate, or nothing of the recording can be hidden.
    """
    fitting = [settings for settings in grid if max(settings.high, settings.momentum) < 0.5 * data.rate]
    if not fitting:
        raise InvalidValue(f"{data.rate:g} samples per second are too few for all candidate cut-offs")
    return min(fitting, key=lambda settings: hidden_score([data], partial(complementary, settings=settings)))


def _free_parameters(settings: SmootherSettings) -> np.ndarray:
    """The parameters that are searched: both horizontal axes have the same values, the vertical one its own."""
    found: list[float] = []
    for signal in (settings.com, settings.momentum):
        found += [signal.std[0], signal.std[2], signal.cutoff]
        found += [signal.error[0], signal.error[2], signal.error_cutoff]
        found += [signal.drift[0], signal.drift[2], signal.drift_cutoff]
    return np.array(found)


def _settings_from_parameters(numbers: np.ndarray, start: SmootherSettings) -> SmootherSettings:
    parts = []
    for row in numbers.reshape(2, 3, 3).tolist():
        (std, up, cutoff), (error, error_up, error_cutoff), (drift, drift_up, drift_cutoff) = row
        parts.append(
            Signal(
                (std, std, up), cutoff, (error, error, error_up), error_cutoff, (drift, drift, drift_up), drift_cutoff
            )
        )
    return replace(start, com=parts[0], momentum=parts[1])
