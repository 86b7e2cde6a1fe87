"""Frequency weights of fitted parameters, and the fits repeated with equations that have these weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.errors import SolverError
from ...dynamics import base_index
from ...signals.plate_errors import LikelyErrors
from ...signals.trial import Trial
from ...skeleton.rig import Rig
from ..accumulate import EquationAccumulator
from ..base_parameters import BaseParameters
from ..blocks import AXES, FORCE_AXES
from ..equations import Equations, TrialChunk, equations, frames_with_forces, split_trial, wrench_spectrum
from ..estimate import Estimate
from ..regression import Method, Regression, fit_axis_weights
from .frequency_weights import FrequencyWeights, PairedWeights, body_regions, filter_changes
from .weight_estimation import choose_cutoffs, compute_products, learn_weights


@dataclass(frozen=True, slots=True)
class GroupFit:
    """Parameters fitted to some groups of trials.

    Attributes:
        groups: indices of the groups.
        estimate: the parameters.
        plates: most likely errors of the plates, by the parameters and by the prior.
        regression: accumulated equations; None if they are not needed any more.
    """

    groups: tuple[int, ...]
    estimate: Estimate
    plates: tuple[tuple[LikelyErrors, ...], ...]
    regression: Regression | None = None

    @staticmethod
    def of(groups: tuple[int, ...], regression: Regression, estimate: Estimate, *, keep: bool = False) -> GroupFit:
        """The fit of a regression, which is kept or not."""
        plates = tuple(map(regression.find_likely_plate_errors, (estimate.parameters, estimate.prior)))
        return GroupFit(groups, estimate, plates, regression if keep else None)


def refit_with_frequency_weights(
    rig: Rig,
    groups: Sequence[Sequence[Trial]],
    fits: Sequence[GroupFit],
    method: Method,
    base: int | str,
    structure: BaseParameters,
) -> list[tuple[GroupFit, PairedWeights]]:
    """Fits repeated with the frequency weights of their trials, and the weights of the fit and of the prior.

    The prior's weights are learnt from the same trials with the prior's own residuals; it has none where the fit has
    none, so that both are compared alike. A fit without weights is returned unchanged, and so is one whose repetition
    fails.

    Args:
        rig: of the trials.
        groups: of trials.
        fits: without frequency weights, each to its own groups.
        method: identification method of the fits.
        base: base link, about whose origin the moments are taken.
        structure: base parameters of the rig.
    """
    if not fits:
        return []
    cutoffs = choose_cutoffs(trial for group in groups for trial in group)
    prior, count = fits[0].estimate.prior, len(fits)
    found = _learn(
        rig,
        groups,
        [*fits, *(replace(fit, estimate=replace(fit.estimate, parameters=prior)) for fit in fits)],
        cutoffs,
        base,
    )
    weights, prior_weights = found[:count], found[count:]
    accumulators = {index: EquationAccumulator(rig, structure) for index, own in enumerate(weights) if own is not None}
    for group, trials in enumerate(groups):
        users = [index for index in accumulators if group in fits[index].groups]
        for trial in trials if users else ():
            spectrum = wrench_spectrum(rig, trial, cutoffs, base)
            coefficients = np.array([own.coefficients_of(spectrum) for index in users if (own := weights[index])])
            for pieces in weighted_equations(rig, trial, coefficients, cutoffs, base):
                for index, piece in zip(users, pieces):
                    accumulators[index].add(trial, piece)
    refits = list(fits)
    for index in list(accumulators):
        regression = accumulators.pop(index).regression(rig.links[base_index(rig, base)])
        try:
            regression, estimate = fit_axis_weights(regression, method, rig)
        except SolverError:
            continue
        keep = fits[index].regression is not None
        refits[index] = GroupFit.of(fits[index].groups, regression, estimate, keep=keep)
    found = _learn(rig, groups, refits, cutoffs, base)
    return [
        (refit, PairedWeights(own, None if own is None else weights, *refit.plates))
        for refit, own, weights in zip(refits, found, prior_weights)
    ]


def _learn(
    rig: Rig, groups: Sequence[Sequence[Trial]], fits: Sequence[GroupFit], cutoffs: np.ndarray, base: int | str
) -> list[FrequencyWeights | None]:
    """Weights of each fit's parameters, learnt from the groups that they were fitted to."""
    bodies = list({id(fit.estimate.parameters): fit.estimate.parameters for fit in fits}.values())
    found = [compute_products(rig, group, bodies, cutoffs, base) for group in groups]
    places = {id(body): index for index, body in enumerate(bodies)}
    return [
        learn_weights([found[group] for group in fit.groups], places[id(fit.estimate.parameters)], cutoffs)
        for fit in fits
    ]


def weighted_equations(
    rig: Rig, trial: Trial, coefficients: np.ndarray, cutoffs: np.ndarray, base: int | str
) -> Iterator[list[Equations]]:
    """Equations of a trial's counted frames in world axes, chunk by chunk, for each of several sets of weights.

    Noise in the regressor Y biases the parameters. Y is therefore filtered, region by region, as the wrenches that are
    reconstructed from it.

    Args:
        rig: of the trial.
        trial: with counted frames.
        coefficients: (F, R, 6, C + D) of F sets of weights.
        cutoffs: (C,) [Hz] of their low-passes.
        base: base link, by name or index.
    """
    index = base_index(rig, base)
    for chunk in split_trial(trial, cutoffs):
        if trial.counted[chunk.frames].any():
            yield _filter_equations(rig, chunk, coefficients, cutoffs, index)


def _filter_equations(
    rig: Rig, chunk: TrialChunk, coefficients: np.ndarray, cutoffs: np.ndarray, base: int
) -> list[Equations]:
    trial = chunk.trial
    pieces = list(equations(rig, replace(trial, counted=frames_with_forces(trial)), base, "world"))
    frames = np.concatenate([piece.frames for piece in pieces])
    force, moment, wrench, measured = (
        np.concatenate([getattr(piece, name) for piece in pieces], axis=-1)
        for name in ("force", "moment", "wrench", "used")
    )
    del pieces  # as large as what was joined
    selected = np.zeros(len(trial.motion), bool)
    selected[chunk.core] = trial.counted[chunk.core]
    used = selected[frames]
    filtered = [np.repeat(part[None, ..., used], len(coefficients), axis=0) for part in (force, moment)]
    for axis in range(AXES):
        part, own = divmod(axis, FORCE_AXES)
        rows = (force, moment)[part][own]  # (p, L, n)
        for region, links in enumerate(body_regions(rig).values()):
            columns = np.full((len(trial.motion), len(rows) * len(links)), np.nan)
            columns[frames] = rows[:, links].reshape(-1, len(frames)).T
            changes = filter_changes(trial, columns, cutoffs)[:, frames[used]]
            change = np.tensordot(coefficients[:, region, axis], changes, 1).swapaxes(1, 2)
            filtered[part][:, own][:, :, links] += change.reshape(len(coefficients), len(rows), len(links), -1)
    trial_frames = chunk.frames.start - chunk.core.start + frames[used]
    return [
        Equations(trial_frames, own_force, own_moment, wrench[:, used], measured[:, used])
        for own_force, own_moment in zip(*filtered, strict=True)
    ]
