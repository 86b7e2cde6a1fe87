"""Estimation of frequency weights from fitted parameters, and of parameters from equations with these weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...dynamics import base_index
from ...errors import SolverError
from ...rig import Rig
from ...trial import Trial
from ..accumulate import EquationAccumulator
from ..base_parameters import BaseParameters
from ..blocks import FORCE_AXES
from ..equations import (
    Equations,
    TrialChunk,
    equations,
    frames_with_forces,
    low_pass_at,
    split_trial,
    wrenches_about_base,
)
from ..estimate import Estimate
from ..regression import Method, Regression, fit_axis_weights, merge_regressions
from .frequency_weights import FrequencyWeights, PairedWeights, has_marker_displacements, skin_compliance_wrenches
from .weight_estimation import ResidualGrams


@dataclass(frozen=True, slots=True)
class TrialFit:
    """Parameters fitted to some trials.

    Attributes:
        trials: to which the parameters were fitted.
        regression: accumulated equations of these trials.
        estimate: the parameters.
    """

    trials: tuple[Trial, ...]
    regression: Regression
    estimate: Estimate


def refit_with_frequency_weights(
    rig: Rig, fits: Sequence[TrialFit], method: Method, base: int | str
) -> list[tuple[TrialFit, PairedWeights]]:
    """Fits repeated with the frequency weights of their trials, and the weights of the fit and of the prior.

    The prior's weights are estimated from the same trials with the prior's own residuals. A fit whose weights are all
    one is returned unchanged, and so is one whose repetition fails.

    Args:
        rig: of the trials.
        fits: without frequency weights, each to its own trials.
        method: identification method of the fits.
        base: base link, about whose origin the moments are taken.
    """
    trials_by_name = {trial.name: trial for fit in fits for trial in fit.trials}
    index_by_name = {name: index for index, name in enumerate(trials_by_name)}
    trials = [[index_by_name[trial.name] for trial in fit.trials] for fit in fits]
    prior = fits[0].estimate.prior  # the rig's, of every fit
    residuals = ResidualGrams.from_trials(
        rig, list(trials_by_name.values()), [*(fit.estimate.parameters for fit in fits), prior], base
    )
    weights = [residuals.estimate_frequency_weights(body, own) for body, own in enumerate(trials)]
    prior_weights = [residuals.estimate_frequency_weights(len(fits), own) for own in trials]
    weighted = [
        index
        for index, own_weights in enumerate(weights)
        if own_weights.shares is not None or np.any(own_weights.gains < 1.0)
    ]
    if not weighted:
        return list(zip(fits, map(PairedWeights, weights, prior_weights)))
    regressions: list[list[Regression]] = [[] for _ in fits]
    for name, trial in trials_by_name.items():
        users = [index for index in weighted if any(own.name == name for own in fits[index].trials)]
        if not users:  # only used by fits without frequency weights
            continue
        structure = fits[0].regression.structure
        accumulated = accumulate_frequency_weighted(rig, trial, [weights[index] for index in users], base, structure)
        for index, regression in zip(users, accumulated):
            regressions[index].append(regression)
    refits = [_refit(rig, fit, own, method) if own else fit for fit, own in zip(fits, regressions)]
    residuals = ResidualGrams.from_trials(
        rig, list(trials_by_name.values()), [fit.estimate.parameters for fit in refits], base
    )
    weights = [residuals.estimate_frequency_weights(body, own) for body, own in enumerate(trials)]
    return list(zip(refits, map(PairedWeights, weights, prior_weights)))


def _refit(rig: Rig, fit: TrialFit, regressions: Sequence[Regression], method: Method) -> TrialFit:
    try:
        return TrialFit(fit.trials, *fit_axis_weights(merge_regressions(regressions), method, rig))
    except SolverError:
        return fit


def accumulate_frequency_weighted(
    rig: Rig, trial: Trial, weights: Sequence[FrequencyWeights], base: int | str, structure: BaseParameters
) -> list[Regression]:
    """Regressions of a trial in world axes, one for each of several sets of frequency weights, in one pass over its
    motion.

    Noise in the regressor Y biases the parameters. Y is therefore filtered, region by region and band by band, with the
    gains that are also used to reconstruct wrenches (`weight_estimation`). The wrench of skin compliance is subtracted
    from f.

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
