"""Contribution of each error source to the uncertainty: noise, prior, and errors that follow posture."""

from __future__ import annotations

import numpy as np

from ...inertials import InertialParameters
from ..posterior import parameter_std
from ..result import NOISE, PRIOR, SKIN, Uncertainty
from .equation_errors import EquationsWithErrors

NO_BIAS_NOTE = "they do not include errors that all blocks share"
BIAS_NOTE = "they include errors of soft tissue and skeleton that follow posture"


def split_posterior_std(
    root: np.ndarray,
    equations: EquationsWithErrors,
    noise_variance: float,
    parameters: InertialParameters,
    bootstrap: Uncertainty | None,
) -> dict[str, np.ndarray]:
    """Standard deviations (L, 10) by source, whose squares sum to the squares of the intervals'.

    With the posterior covariance C, the error e of the target changes the parameters by C F' W'W e, where W whitens the
    equations F. What noise and errors that follow posture do not explain of C is due to the prior. A standard deviation
    of the bootstrap that exceeds the posterior's is attributed to noise.

    Args:
        root: (M, L, 10) of the covariance.
        equations: of the posterior.
        noise_variance: of an equation, without the errors that follow posture.
        parameters: of the estimate.
        bootstrap: intervals that include the bootstrap; None without one.
    """
    flat, shape = root.reshape(len(root), -1), (-1, *root.shape[1:])
    whitening = equations.whitening(noise_variance)
    response = ((whitening.T @ (whitening @ equations.factor)) @ flat.T) @ flat
    by_noise = parameter_std((np.sqrt(noise_variance) * response).reshape(shape), parameters).std
    errors = equations.scaled_posture_errors(noise_variance)
    by_skin = parameter_std((errors.T @ response).reshape(shape), parameters).std
    posterior_std = parameter_std(root, parameters).std
    prior = np.sqrt(np.maximum(posterior_std**2 - by_noise**2 - by_skin**2, 0.0))
    widest = posterior_std if bootstrap is None else np.maximum(bootstrap.std, posterior_std)
    result = {NOISE: np.sqrt(np.maximum(widest**2 - prior**2 - by_skin**2, 0.0)), PRIOR: prior}
    return result if equations.posture_errors is None else {**result, SKIN: by_skin}
