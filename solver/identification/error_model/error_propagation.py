"""Contribution of each error source to the uncertainty: noise, prior, skin motion and skeleton."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...dynamics import base_index
from ...inertials import PER_LINK, InertialParameters
from ...rig import Rig
from ...trial import Trial
from ..equations import equations
from ..posterior import ParameterStd, parameter_std
from ..result import NOISE, PRIOR, SKIN, TWO_SIDED, Identification, Uncertainty

NO_BIAS_NOTE = "they do not include errors that all blocks share, from soft tissue or the skeleton"
BIAS_NOTE = "they include errors of soft tissue and skeleton"


@dataclass(frozen=True, slots=True)
class WrenchErrors:
    """Random draws of the error of the wrench that is reconstructed from a trial's motion.

    Attributes:
        trial: or the part of it for which the errors were computed.
        frame_scale: square root of the ratio of the trial's counted frames to those of the part.
        errors: by source, (N, K, 6) of K draws, in the axes of `equations.measured_wrench`.
    """

    trial: Trial
    frame_scale: float
    errors: Mapping[str, np.ndarray]


def propagate_wrench_errors(
    rig: Rig, found: Identification, wrench_errors: Sequence[WrenchErrors]
) -> dict[str, np.ndarray]:
    """Changes of the consistent method's estimate due to wrench errors: by source, (K, L, 10).

    d phi = C Y' W^2 e, with the posterior covariance C and the weights W that are in it. With an empirical prior
    (`empirical_prior`), C is that of the wider prior that the intervals allow; the changes are then overestimated.

    Args:
        rig: of the trials.
        found: with its ``covariance_root``.
        wrench_errors: of the trials that it was identified from.
    """
    assert found.covariance_root is not None
    settings = found.estimate.settings
    weights = found.weights**2 / (settings["noise variance"] * settings["data inflation"])
    base, count = base_index(rig, found.base_link), PER_LINK * len(rig.links)
    sums: dict[str, np.ndarray] = {}
    for wrench_error in wrench_errors:
        for piece in equations(rig, wrench_error.trial, base, "world"):
            for source, errors in wrench_error.errors.items():
                weighted = sums.setdefault(source, np.zeros((count, errors.shape[1])))
                draws = np.nan_to_num(errors[piece.frames])
                for axis, (row, used) in enumerate(zip(piece.rows, piece.used)):
                    weighted[: len(row)] += (
                        wrench_error.frame_scale**2 * weights[axis] * (row[:, used] @ draws[used, :, axis])
                    )
    root = found.covariance_root.reshape(len(found.covariance_root), -1)
    if SKIN in sums:
        sums[SKIN] *= min(1.0, _residual_ratio(found, wrench_errors))
    result = {}
    for source, weighted in sums.items():
        by_link = weighted.reshape(PER_LINK, len(rig.links), -1).swapaxes(0, 1).reshape(count, -1)
        result[source] = (root.T @ (root @ by_link)).T.reshape(-1, len(rig.links), PER_LINK)
    return result


def _residual_ratio(found: Identification, wrench_errors: Sequence[WrenchErrors]) -> float:
    """Root mean square of the residuals over that of the skin errors.

    Residuals contain nearly all of the skin errors, so that these cannot be larger than the residuals.
    """
    squares = counts = 0.0
    for wrench_error in wrench_errors:
        weighted = wrench_error.errors[SKIN][wrench_error.trial.counted] * found.weights
        squares += wrench_error.frame_scale**2 * float(np.nansum(weighted**2))
        counts += wrench_error.frame_scale**2 * float(np.isfinite(weighted).sum())
    return float(np.sqrt(counts / max(squares, float(np.finfo(float).tiny))))


def split_posterior_std(
    root: np.ndarray, whitened: np.ndarray, parameters: InertialParameters, bootstrap: Uncertainty | None
) -> dict[str, np.ndarray]:
    """Standard deviations (L, 10) due to noise and due to the prior; their squares sum to the squares of the
    intervals'.

    The covariance C of a posterior with information H of the data and P of the prior is C H C + C P C. A standard
    deviation of the bootstrap that exceeds the posterior's is attributed to noise.

    Args:
        root: (M, L, 10) of the covariance.
        whitened: (k, 10 L) equations divided by the noise's standard deviation: H is their square.
        parameters: of the estimate.
        bootstrap: intervals that include the bootstrap; None without one.
    """
    flat = root.reshape(len(root), -1)
    by_noise = parameter_std(((whitened @ flat.T) @ flat).reshape(-1, *root.shape[1:]), parameters).std
    posterior_std = parameter_std(root, parameters).std
    prior = np.sqrt(np.maximum(posterior_std**2 - by_noise**2, 0.0))
    widest = posterior_std if bootstrap is None else np.maximum(bootstrap.std, posterior_std)
    return {NOISE: np.sqrt(np.maximum(widest**2 - prior**2, 0.0)), PRIOR: prior}


def add_error_sources(found: Identification, changes: Mapping[str, np.ndarray]) -> Identification:
    """A result whose intervals include further, independent error sources.

    Args:
        found: with intervals.
        changes: by source, (K, L, 10) of K draws.
    """
    uncertainty = found.uncertainty
    assert uncertainty is not None
    by_source = dict(found.std_by_source)
    for source, draws in changes.items():
        source_std = parameter_std(draws / np.sqrt(len(draws)), found.parameters)
        by_source[source] = source_std.std
        uncertainty = _widen(uncertainty, found.parameters.values, source_std)
    notes = tuple(note.replace(NO_BIAS_NOTE, BIAS_NOTE) for note in found.notes)
    return replace(found, uncertainty=uncertainty, std_by_source=by_source, notes=notes)


def _widen(uncertainty: Uncertainty, values: np.ndarray, source_std: ParameterStd) -> Uncertainty:
    half_width = TWO_SIDED * source_std.std
    return replace(
        uncertainty,
        std=np.hypot(uncertainty.std, source_std.std),
        lower=values - np.hypot(np.maximum(values - uncertainty.lower, 0.0), half_width),
        upper=values + np.hypot(np.maximum(uncertainty.upper - values, 0.0), half_width),
        com_std=np.hypot(uncertainty.com_std, source_std.com_std),
        inertia_std=np.hypot(uncertainty.inertia_std, source_std.inertia_std),
    )
