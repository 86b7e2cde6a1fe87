"""What limits each number: noise, the prior's spread, moving skin, and a skeleton that is not quite the person's."""

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

NO_BIAS_NOTE = (
    "a bias that all blocks share, from moving skin or a skeleton that does not quite fit, widens none of them"
)
BIAS_NOTE = "what moving skin and the doubts about the skeleton may have led aside widens them"


@dataclass(frozen=True, slots=True)
class WrenchErrors:
    """By how much the wrenches that a trial's motion seems to need may be wrong, in draws.

    Attributes:
        trial: or the part of it that was looked at.
        frame_scale: root of how many times as many frames the whole has.
        errors: by cause, (N, K, 6) of K draws, written as `equations.measured_wrench`.
    """

    trial: Trial
    frame_scale: float
    errors: Mapping[str, np.ndarray]


def propagate_wrench_errors(
    rig: Rig, found: Identification, wrench_errors: Sequence[WrenchErrors]
) -> dict[str, np.ndarray]:
    """How the consistent method's estimate answers to such errors: by cause, (K, L, 10) changes of the parameters.

    d phi = C Y' W^2 e, with the posterior's covariance C and the weights W that are in it. Where the prior's spread was
    learnt (`likeliest_prior`) C is that of the wider one that intervals allow, and the answers are larger than true.

    Args:
        rig: of the trials.
        found: with its ``covariance_root``.
        wrench_errors: of the trials it was found from.
    """
    assert found.covariance_root is not None
    settings = found.estimate.settings
    weights = found.weights**2 / (settings["noise variance"] * settings["data inflation"])
    base, count = base_index(rig, found.base_link), PER_LINK * len(rig.links)
    sums: dict[str, np.ndarray] = {}
    for aside in wrench_errors:
        for piece in equations(rig, aside.trial, base, "world"):
            for cause, errors in aside.errors.items():
                own = sums.setdefault(cause, np.zeros((count, errors.shape[1])))
                here = np.nan_to_num(errors[piece.frames])
                for axis, (row, used) in enumerate(zip(piece.rows, piece.used)):
                    own[: len(row)] += aside.frame_scale**2 * weights[axis] * (row[:, used] @ here[used, :, axis])
    root = found.covariance_root.reshape(len(found.covariance_root), -1)
    if SKIN in sums:
        sums[SKIN] *= min(1.0, _residual_ratio(found, wrench_errors))
    result = {}
    for cause, own in sums.items():
        by_link = own.reshape(PER_LINK, len(rig.links), -1).swapaxes(0, 1).reshape(count, -1)
        result[cause] = (root.T @ (root @ by_link)).T.reshape(-1, len(rig.links), PER_LINK)
    return result


def _residual_ratio(found: Identification, wrench_errors: Sequence[WrenchErrors]) -> float:
    """Root mean square of what the equations leave over that of skin's errors: they show nearly all of what skin does,
    which so is no larger than what they leave."""
    squares = counts = 0.0
    for aside in wrench_errors:
        own = aside.errors[SKIN][aside.trial.counted] * found.weights
        squares += aside.frame_scale**2 * float(np.nansum(own**2))
        counts += aside.frame_scale**2 * float(np.isfinite(own).sum())
    return float(np.sqrt(counts / max(squares, float(np.finfo(float).tiny))))


def split_posterior_std(
    root: np.ndarray, whitened: np.ndarray, parameters: InertialParameters, bootstrap: Uncertainty | None
) -> dict[str, np.ndarray]:
    """Standard deviations (L, 10) by noise and by the prior, whose squares sum to the intervals'.

    The covariance C of a posterior with information H of the data and P of the prior is C H C + C P C. What a bootstrap
    shows beyond it is noise: blocks of time that disagree.

    Args:
        root: (M, L, 10) of the covariance.
        whitened: (k, 10 L) weighed by the noise: H is their square.
        parameters: of the estimate.
        bootstrap: the intervals with the bootstrap in them; None without one.
    """
    flat = root.reshape(len(root), -1)
    by_noise = parameter_std(((whitened @ flat.T) @ flat).reshape(-1, *root.shape[1:]), parameters).std
    whole = parameter_std(root, parameters).std
    prior = np.sqrt(np.maximum(whole**2 - by_noise**2, 0.0))
    widest = whole if bootstrap is None else np.maximum(bootstrap.std, whole)
    return {NOISE: np.sqrt(np.maximum(widest**2 - prior**2, 0.0)), PRIOR: prior}


def add_error_sources(found: Identification, changes: Mapping[str, np.ndarray]) -> Identification:
    """A result whose intervals hold further causes too, each independent of the others.

    Args:
        found: with intervals.
        changes: by cause, (K, L, 10) of K draws.
    """
    uncertainty = found.uncertainty
    assert uncertainty is not None
    limits = dict(found.std_by_source)
    for cause, draws in changes.items():
        spread = parameter_std(draws / np.sqrt(len(draws)), found.parameters)
        limits[cause] = spread.std
        uncertainty = _widen(uncertainty, found.parameters.values, spread)
    notes = tuple(note.replace(NO_BIAS_NOTE, BIAS_NOTE) for note in found.notes)
    return replace(found, uncertainty=uncertainty, std_by_source=limits, notes=notes)


def _widen(uncertainty: Uncertainty, values: np.ndarray, spread: ParameterStd) -> Uncertainty:
    reach = TWO_SIDED * spread.std
    return replace(
        uncertainty,
        std=np.hypot(uncertainty.std, spread.std),
        lower=values - np.hypot(np.maximum(values - uncertainty.lower, 0.0), reach),
        upper=values + np.hypot(np.maximum(uncertainty.upper - values, 0.0), reach),
        com_std=np.hypot(uncertainty.com_std, spread.com_std),
        inertia_std=np.hypot(uncertainty.inertia_std, spread.inertia_std),
    )
