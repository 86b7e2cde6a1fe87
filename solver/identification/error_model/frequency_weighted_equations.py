"""The equations Y phi = f of a trial with frequency weights and skin compliance applied.

Noise in the regressor Y biases the parameters. Y is therefore filtered, region by region and band by band, with the
gains that are also used to reconstruct wrenches (`weight_estimation`). The wrench of skin compliance is subtracted from
f.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...dynamics import base_index
from ...rig import Rig
from ...trial import Trial
from ..accumulate import EquationAccumulator
from ..base_parameters import BaseParameters
from ..blocks import FORCE_AXES
from ..equations import Equations, equations, frames_with_forces, low_pass_at, wrenches_about_base
from ..regression import Regression
from ..trial_chunks import TrialChunk, split_trial
from .frequency_weights import FrequencyWeights
from .skin_compliance import has_marker_displacements, skin_compliance_wrenches


def accumulate_frequency_weighted(
    rig: Rig, trial: Trial, weights: Sequence[FrequencyWeights], base: int | str, structure: BaseParameters
) -> list[Regression]:
    """Regressions of a trial in world axes, one for each of several sets of frequency weights, in one pass over its
    motion.

    Args:
        rig: of the trial.
        trial: with counted frames.
        weights: one set per regression.
        base: base link, by name or index.
        structure: base parameters of the rig.
    """
    index = base_index(rig, base)
    collected = [EquationAccumulator(rig, structure) for _ in weights]
    for pieces in _weighted_pieces(rig, trial, weights, index):
        for piece, accumulator in zip(pieces, collected):
            accumulator.add(trial, piece)
    return [accumulator.regression(rig.links[index]) for accumulator in collected]


def _weighted_pieces(
    rig: Rig, trial: Trial, weights: Sequence[FrequencyWeights], base: int
) -> Iterator[list[Equations]]:
    """Equations of the counted frames, chunk by chunk, for each set of weights."""
    bands = np.unique(np.concatenate([frequency_weights.bands for frequency_weights in weights]))
    for chunk in split_trial(trial, bands):
        if chunk.trial.counted[chunk.core].any():
            yield _weighted_equations(rig, chunk, weights, base)


def _weighted_equations(rig: Rig, chunk: TrialChunk, weights: Sequence[FrequencyWeights], base: int) -> list[Equations]:
    trial = chunk.trial
    pieces = list(equations(rig, replace(trial, counted=frames_with_forces(trial)), base, "world"))
    frames = np.concatenate([piece.frames for piece in pieces])
    force, moment, wrench, used = (
        np.concatenate([getattr(piece, name) for piece in pieces], axis=-1)
        for name in ("force", "moment", "wrench", "used")
    )
    selected = np.zeros(len(trial.motion), bool)
    selected[chunk.core] = trial.counted[chunk.core]
    is_used = selected[frames]
    added = None
    if has_marker_displacements(trial) and any(frequency_weights.shares is not None for frequency_weights in weights):
        added = wrenches_about_base(rig, trial, skin_compliance_wrenches(rig, trial), base)[frames[is_used]]
    mixtures = [(own.bands, own.low_pass_weights) for own in weights]
    forces, moments = (
        np.stack(
            [_mix_low_passes(trial, frames, is_used, rows, mixtures, first + axis) for axis, rows in enumerate(part)], 1
        )
        for first, part in ((0, force), (FORCE_AXES, moment))
    )
    result = []
    for index, frequency_weights in enumerate(weights):
        right_side = wrench[:, is_used]
        if added is not None and frequency_weights.shares is not None:
            # frames n, shares e, axes a
            right_side = right_side - np.einsum("nea,e->an", added, frequency_weights.shares.reshape(-1))
        trial_frames = chunk.frames.start - chunk.core.start + frames[is_used]
        result.append(Equations(trial_frames, forces[index], moments[index], right_side, used[:, is_used]))
    return result


def _mix_low_passes(
    trial: Trial,
    frames: np.ndarray,
    is_used: np.ndarray,
    rows: np.ndarray,
    mixtures: Sequence[tuple[np.ndarray, np.ndarray]],
    axis: int,
) -> np.ndarray:
    """Rows (p, L, n) of an axis in some frames as mixtures of low-passes: (K, p, L, m) in the used ones of these.

    Args:
        trial: of the rows.
        frames: (n,) their indices.
        is_used: (n,) True in the m frames to return.
        rows: of all frames, which the filters need.
        mixtures: K times upper ends of bands (C,) and the weights (L, 6, C) of their low-passes.
        axis: of the wrench.
    """
    ends = np.unique(np.concatenate([bands for bands, _ in mixtures]))
    own_weights = np.zeros((len(mixtures), len(ends), rows.shape[1]))
    for own, (bands, weights) in zip(own_weights, mixtures):
        own[np.searchsorted(ends, bands)] = weights[:, axis].T
    passed = np.zeros((len(ends), *rows.shape[:2], int(is_used.sum())))
    for own, needed, end in zip(passed, own_weights.any(axis=0), ends):
        some = rows[:, needed]
        columns = np.full((len(trial.motion), some[..., 0].size), np.nan)
        columns[frames] = some.reshape(-1, len(frames)).T
        filtered = low_pass_at(trial, columns, float(end))[frames[is_used]]
        own[:, needed] = filtered.T.reshape(*some.shape[:2], passed.shape[-1])
    by_link = [own_weights[:, :, link] @ passed[:, :, link].reshape(len(ends), -1) for link in range(rows.shape[1])]
    return np.stack(by_link, 1).reshape(len(mixtures), rows.shape[1], rows.shape[0], -1).swapaxes(1, 2)
