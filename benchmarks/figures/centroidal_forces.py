"""Centroidal figures of a walk whose plates deliver forces alone: the application of the published fusion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from solver.centroidal.baselines import FusionNoise, kinematic, linear_fusion
from solver.centroidal.inputs import centroidal_data
from solver.centroidal.smoother import smooth_centroidal
from solver.centroidal.values import CentroidalData, CentroidalEstimate
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all

from .centroidal_hidden import HIDDEN_SECONDS, hidden_masks, wrench_error
from .centroidal_learning import adapt_noise
from .centroidal_noise import SECOND_HALF
from .figure import Figure, at_most

Estimator = Callable[[CentroidalData], CentroidalEstimate]
FILE, SEX = "walk_d/walk_d.npz", "male"
WHERE = "real, walk_d"
MUST, AIM = 1.03, 0.95
TRIED = ((1e-4, 3e-4, 1e-3, 3e-3), (0.02,), (10.0, 30.0, 100.0, 300.0))
"""[m], [m/s^2], [m/s^3 / sqrt(Hz)] of the peer's noise: the best on this very walk is taken, in its favour."""


def walk_signals(data: Path) -> CentroidalData:
    """The walk's signals, inertials from tables."""
    recordings = load([data / FILE])
    calibration = calibrate(recordings, sex=SEX)
    prepared = prepare(calibration.rig, track_all(calibration, recordings))
    trial = prepared.records[0].trial
    assert trial is not None
    return centroidal_data(prepared.rig, trial, prepared.rig.prior)


def force_figures(data: Path) -> list[Figure]:
    """Hidden intervals of the walk: the smoother with the noise of other people, the peer with its best."""
    if not (data / FILE).exists():
        what = "forces without moments, hidden intervals: error over kinematics'"
        return [Figure(what, WHERE, None, "", at_most(MUST), at_most(AIM), "no data")]
    return build_figures(walk_signals(data))


def build_figures(signals: CentroidalData) -> list[Figure]:
    """Each half of the walk at the precision chosen on the other half; the peer at its best on both."""
    middle = len(signals) // 2
    halves = signals.part(0, middle), signals.part(middle, len(signals))
    levels = [adapt_noise(half, SECOND_HALF) for half in halves[::-1]]
    figures = []
    for seconds in HIDDEN_SECONDS:
        bare = _mean([_error(half, seconds, kinematic) for half in halves])
        ours = _mean(
            [_error(h, seconds, partial(smooth_centroidal, settings=level)) for h, level in zip(halves, levels)]
        )
        peers = {
            noise: _mean([_error(h, seconds, partial(linear_fusion, noise=FusionNoise(*noise))) for h in halves])
            for noise in product(*TRIED)
        }
        best = min(peers, key=lambda noise: peers[noise])
        label = f"forces without moments, {1e3 * seconds:.0f} ms hidden"
        note = f"RMS: kinematic {bare:.2f}, fusion {peers[best]:.2f} (its noise {best}), smoother {ours:.2f} N"
        figures.append(
            Figure(f"{label}: error over kinematics'", WHERE, ours / bare, "", at_most(MUST), at_most(AIM), note)
        )
        figures.append(Figure("  the same over the fusion's", WHERE, ours / peers[best], "", at_most(1.0)))
    return figures


def _mean(errors: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def _error(signals: CentroidalData, seconds: float, estimator: Estimator) -> float:
    """RMS error of the force [N] of an estimator in hidden intervals."""
    found = []
    for frames in hidden_masks(signals, seconds):
        estimate = estimator(signals.without_wrench(frames)).required_wrench
        wrench = estimate if estimator is kinematic else np.where(frames[:, None], estimate, signals.wrench)
        found.append(wrench_error(signals, wrench, frames)[:, :3])
    return float(np.sqrt(np.mean(np.sum(np.concatenate(found) ** 2, axis=1))))
