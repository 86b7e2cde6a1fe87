"""Estimation of frequency weights from the residuals between measured and required wrenches.

The noise of a tracked motion is not white. Skin motion and a skeleton that does not fit exactly cause false
accelerations between 3 and 10 Hz, where the body itself hardly moves. The motion alone cannot separate them from true
accelerations; force plates, whose noise is much smaller, can. The coefficients of `FrequencyWeights` are learnt by
ridge regression of the residual, around each training trial: the others count by their likeness to it. The measured
wrench keeps its whole band, so that the residual cannot be reduced by removing signal from both sides.

What is learnt is used only if it certainly reduces the error in parts of the training trials that it was not learnt
from, and if they hold a period of the slowest low-pass. The size of the ridge is chosen by the same errors, for all
axes together.

Flights have no weights. Their wrench is zero, and the residual of a wrong body has the spectrum of the motion itself:
a filter would remove from the equations what they say about the body.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...signals import is_still
from ...signals.pooling import TWO_SIDED_STDS
from ...signals.trial import Trial
from ...skeleton.rig import Rig
from ...values.inertials import InertialParameters
from ..blocks import AXES
from ..equations import TrialChunk, group_wrenches, measured_wrench, split_trial, wrench_spectrum
from .frequency_weights import DELAYS, FrequencyWeights, body_regions, compute_likeness, filter_changes

CUTOFF_FRACTIONS = (0.2, 0.3, 0.4, 0.6, 1.0)
"""Cut-offs of the low-passes, as fractions of the trial's own cut-off. Chosen on five recordings of four people:
errors of trials left out are 0.979 to 1.008 times those with nine cut-offs, at half the time."""
RIDGES = (0.03, 0.1, 0.3)
"""Candidate penalties of the squared coefficients, as fractions of the residual of one training part. Chosen on
ten sets of five people: the best is 0.05 for a single run and 0.3 for several kinds of motion."""
LEAST_IMPROVEMENT = 0.03
"""Least reduction of the error in unused parts for which weights are used, with 95 % certainty. Of 156 pieces of 17
trials of six people, .3 to 2.5 s long, of which each taught weights by itself, 21 made the next piece worse by more
than 2 % without certainty, 2 with it and a period of the lowest cut-off."""
ROUNDING = 1e-6
"""Residual, as a fraction of the measured wrench, that is attributed to rounding."""
NEGLIGIBLE = 1e-3
"""Squared residual, as a fraction of a part's own, whose further reduction is no improvement."""


@dataclass(frozen=True, slots=True)
class ResidualProducts:
    """Products from which the residual of several bodies in some trials follows for any coefficients.

    Attributes:
        spectrum: (6, C + 1) of the trials, `wrench_spectrum`.
        products: (2, K, 6, n + 1, n + 1) of the halves of the trials and K bodies: of the n = (C + D) R changes of the
            regions' wrenches (`filter_changes`, the region varies fastest) and of the residual, less their means, over
            the squared residual of both; zero on an axis without measurements.
        seconds: of counted frames.
    """

    spectrum: np.ndarray
    products: np.ndarray
    seconds: float


def choose_cutoffs(trials: Iterable[Trial]) -> np.ndarray:
    """Cut-offs (C,) [Hz] of the low-passes, for the preset of trials; none if they are not filtered."""
    preset = next((trial.preset for trial in trials if trial.preset is not None), None)
    return np.zeros(0) if preset is None else np.array(CUTOFF_FRACTIONS) * preset.cutoff


def compute_products(
    rig: Rig,
    trials: Sequence[Trial],
    bodies: Sequence[InertialParameters],
    cutoffs: np.ndarray,
    base: int | str = 0,
) -> ResidualProducts | None:
    """Products of some trials together, in one pass over each motion; None if none of them moves or all of them are
    flights.

    Args:
        rig: of the trials.
        trials: the first half of the counted frames of each belongs to the first half.
        bodies: sets of inertial parameters of the rig's links.
        cutoffs: (C,) [Hz] of the low-passes.
        base: base link, about whose origin the moments are taken.
    """
    moving = [
        trial
        for trial in trials
        if trial.preset is not None
        and trial.corner is None
        and trial.counted.any()
        and not is_still(rig, trial.motion.q[trial.counted])
    ]
    if not moving:
        return None
    total, scale, seconds = np.zeros(()), np.zeros(()), 0.0
    for trial in moving:
        masks = np.zeros((2, len(trial.counted)), bool)
        for mask, frames in zip(masks, np.array_split(np.flatnonzero(trial.counted), 2)):
            mask[frames] = True
        chunks = (part for part in split_trial(trial, cutoffs) if trial.counted[part.frames].any())
        found = (_sum_products(rig, part, masks[:, part.frames], bodies, cutoffs, base) for part in chunks)
        sums, squares = (np.sum(each, axis=0) for each in zip(*found))
        sums[np.isnan(sums[..., -2, -2])] = 0.0
        count = np.maximum(masks.sum(axis=1), 1)[:, None, None, None, None]
        total = total + sums[..., :-1, :-1] - sums[..., :-1, -1:] * sums[..., -1:, :-1] / count
        scale, seconds = scale + ROUNDING**2 * np.nan_to_num(squares), seconds + float(masks.sum()) / trial.motion.rate
    spectrum = np.mean([wrench_spectrum(rig, trial, cutoffs, base) for trial in moving], axis=0)
    residual = np.maximum(total[..., -1, -1].sum(axis=0), scale + np.finfo(float).tiny)
    return ResidualProducts(spectrum, total / residual[:, :, None, None], seconds)


def _sum_products(
    rig: Rig,
    chunk: TrialChunk,
    masks: np.ndarray,
    bodies: Sequence[InertialParameters],
    cutoffs: np.ndarray,
    base: int | str,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the core frames of each half (2, n): products (2, K, 6, n + 2, n + 2) of changes, residual and 1; and
    squares (6,) of the measured wrench."""
    trial, core = chunk.trial, chunk.core
    measured = measured_wrench(rig, trial, base)[core]
    shares = group_wrenches(rig, trial, bodies, list(body_regions(rig).values()), base)
    size = (len(cutoffs) + len(DELAYS)) * shares.shape[2]
    products = np.empty((len(masks), len(bodies), AXES, size + 2, size + 2))
    for body in range(len(bodies)):
        rows = np.ones((AXES, size + 2, len(measured)))
        rows[:, :size] = (
            filter_changes(trial, shares[:, body], cutoffs)[:, core].transpose(3, 0, 2, 1).reshape(AXES, size, -1)
        )
        rows[:, size] = (measured - shares[core, body].sum(axis=1)).T
        for mask, own in zip(masks, products[:, body]):
            own[:] = rows[:, :, mask] @ rows[:, :, mask].swapaxes(1, 2)
    return products, np.sum(measured[masks.any(axis=0)] ** 2, axis=0)


def learn_weights(groups: Sequence[ResidualProducts | None], body: int, cutoffs: np.ndarray) -> FrequencyWeights | None:
    """Weights of a body from groups of trials; None if they do not improve parts that they are not learnt from.

    Args:
        groups: products; those without are ignored. Of a single one the halves test each other.
        body: index of the body.
        cutoffs: (C,) [Hz] of the low-passes.
    """
    known = [group for group in groups if group is not None]
    if not known or sum(group.seconds for group in known) < 1.0 / cutoffs[0]:
        return None
    spectra = np.array([group.spectrum for group in known])
    products = np.array([group.products[:, body].sum(axis=0) for group in known])
    parts, owners = products, np.arange(len(known))
    if len(known) == 1:
        parts, owners = known[0].products[:, body], np.zeros(2, int)
    errors = np.zeros((len(RIDGES), len(parts), AXES))
    for part, owner in enumerate(owners):
        rest = np.arange(len(parts)) != part
        for index, ridge in enumerate(RIDGES):
            learnt = _solve(cutoffs, spectra[owners[rest]], parts[rest], ridge)
            coefficients = learnt.coefficients_of(spectra[owner]).transpose(1, 2, 0).reshape(AXES, -1)
            change = np.column_stack([-coefficients, np.ones(AXES)])
            errors[index, part] = np.einsum("ai,aij,aj->a", change, parts[part], change)
    before = parts[:, :, -1, -1]
    reduction = 0.5 * np.log((errors + NEGLIGIBLE) / (before + NEGLIGIBLE))
    means = reduction[:, before > 0.0].mean(axis=1)
    best = int(np.argmin(means))
    found = reduction[best][:, (before > 0.0).any(axis=0)]
    std = float(found.std(axis=0).mean()) / np.sqrt(max((len(found) - 1) * found.shape[1], 1))
    if not means[best] + TWO_SIDED_STDS * std <= np.log1p(-LEAST_IMPROVEMENT):
        return None
    return _solve(cutoffs, spectra, products, RIDGES[best], float(np.exp(means[best])))


def _solve(
    cutoffs: np.ndarray, spectra: np.ndarray, products: np.ndarray, ridge: float, improvement: float = 1.0
) -> FrequencyWeights:
    """Weights by ridge regression around each of T spectra (T, 6, C + 1), from products (T, 6, n + 1, n + 1)."""
    likeness = np.array([compute_likeness(spectrum, spectra) for spectrum in spectra])
    sums = np.tensordot(likeness, products, 1)
    normal_matrices = sums[..., :-1, :-1] + ridge * np.eye(sums.shape[-1] - 1)
    found = np.linalg.solve(normal_matrices, sums[..., :-1, -1:])
    coefficients = found.reshape(len(spectra), AXES, len(cutoffs) + len(DELAYS), -1).transpose(0, 3, 1, 2)
    return FrequencyWeights(cutoffs, spectra, coefficients, improvement)
