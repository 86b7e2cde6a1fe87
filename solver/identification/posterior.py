"""Posterior uncertainty of the parameters: what data and prior together leave undetermined.

A bootstrap shows how much blocks of time disagree. A parameter that no block determines stays at the prior in every
sample, so the bootstrap reports no uncertainty. The curvature of the posterior at the estimate does: without data, the
standard deviation is the prior's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve, solve_triangular

from ..inertials import FIRST_MOMENT, INERTIA, MASS, PER_LINK, InertialParameters, steiner, symmetric_entries
from ..rig import Rig
from .body_coordinates import BASIS, BodyCoordinates
from .consistent import ConsistentOptions, population_rows, prior_strengths
from .constraints import mass_rows
from .estimate import Estimate
from .result import TWO_SIDED, Uncertainty
from .weighted_equations import WeightedEquations


@dataclass(frozen=True, slots=True)
class ParameterStd:
    """Standard deviations under the posterior.

    Attributes:
        std: (L, 10), columns as `inertials.PARAMETERS`.
        com_std: (L, 3) [m] of the centres of mass.
        inertia_std: (L, 6) [kg m^2] of the inertias about them: xx xy yy xz yz zz.
    """

    std: np.ndarray
    com_std: np.ndarray
    inertia_std: np.ndarray


def posterior(regression: WeightedEquations, estimate: Estimate, rig: Rig, options: ConsistentOptions) -> ParameterStd:
    """Standard deviations of an estimate of the consistent method (Laplace's approximation).

    The total mass, if given, is exact. Inequalities are not considered, so that the standard deviations are upper
    bounds.

    Args:
        regression: the estimate was made from.
        estimate: of `consistent`.
        rig: as used for it.
        options: as used for it.
    """
    return parameter_std(covariance_root(regression, estimate, rig, options), estimate.parameters)


def parameter_std(phi: np.ndarray, parameters: InertialParameters) -> ParameterStd:
    """Standard deviations from changes (M, L, 10) of the parameters whose squares sum to their covariance."""
    masses, coms = parameters.masses, parameters.coms
    com_changes = (phi[:, :, FIRST_MOMENT] - phi[:, :, [MASS]] * coms) / masses[:, None]
    # I about the CoM = I - m S(c), S(c) = c'c 1 - c c', whose derivative along dc is S(c + dc) - S(c - dc) over two
    inertia_changes = phi[:, :, INERTIA] - phi[:, :, [MASS]] * symmetric_entries(steiner(coms))
    inertia_changes -= (
        masses[:, None] * symmetric_entries(steiner(coms + com_changes) - steiner(coms - com_changes)) / 2.0
    )
    return ParameterStd(*(np.sqrt((columns**2).sum(axis=0)) for columns in (phi, com_changes, inertia_changes)))


def whitened_factor(regression: WeightedEquations, estimate: Estimate) -> np.ndarray:
    """(k, 10 L) factor of the posterior's equations, divided by their standard deviation."""
    noise = estimate.settings["noise variance"] * estimate.settings["data inflation"]
    equations = regression.equations_with_errors
    return equations.whitening(noise) @ equations.factor


def covariance_root(
    regression: WeightedEquations, estimate: Estimate, rig: Rig, options: ConsistentOptions
) -> np.ndarray:
    """(M, L, 10) changes of the parameters whose squares sum to their covariance; arguments as `posterior`."""
    bodies = BodyCoordinates.from_reference(estimate.prior)
    count = len(rig.links)
    data = bodies.transform_columns(whitened_factor(regression, estimate))
    matrices = bodies.matrices(bodies.coordinates(estimate.parameters))
    # links l, coordinates c and d of a link, rows and columns i, j, k of a pseudo-inertia
    products = np.einsum("lij,cjk->lcik", np.linalg.inv(matrices), BASIS)
    blocks = prior_strengths(rig.links, options)[:, None, None] * np.einsum("lcik,ldki->lcd", products, products)
    prior_factor = block_diag(*np.linalg.cholesky(blocks).swapaxes(1, 2))
    prior_factor = np.concatenate([prior_factor, population_rows(bodies, options)])
    # the curvature itself is not formed: with nearly exact data the prior would be lost in rounding
    factor = np.linalg.qr(np.concatenate([data, prior_factor]), mode="r")
    root = solve_triangular(factor, np.eye(PER_LINK * count), trans="T")  # covariance = root' root
    rows = mass_rows(rig, options.constraints.total_mass)
    if rows.equality.any():
        constrained = root @ bodies.transform_columns(rows.matrix[rows.equality].toarray()).T
        root = root - constrained @ cho_solve(cho_factor(constrained.T @ constrained), constrained.T @ root)
    parts = root.reshape(len(root), count, PER_LINK)
    # link by link (l): from body coordinates (j) to parameters (i), each column (m) of the root on its own
    return np.einsum("mlj,lij->mli", parts, bodies.blocks)


def widen_by_posterior(uncertainty: Uncertainty, estimate: Estimate, posterior_std: ParameterStd) -> Uncertainty:
    """Intervals that contain both the bootstrap's and the posterior's."""
    values = estimate.parameters.values
    return replace(
        uncertainty,
        std=np.maximum(uncertainty.std, posterior_std.std),
        lower=np.minimum(uncertainty.lower, values - TWO_SIDED * posterior_std.std),
        upper=np.maximum(uncertainty.upper, values + TWO_SIDED * posterior_std.std),
        com_std=np.maximum(uncertainty.com_std, posterior_std.com_std),
        inertia_std=np.maximum(uncertainty.inertia_std, posterior_std.inertia_std),
    )
