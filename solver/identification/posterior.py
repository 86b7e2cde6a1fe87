"""Posterior uncertainty of the parameters: what data and prior together leave undetermined.

The curvature of the posterior at the estimate gives the covariance of the parameters (Laplace's approximation). Without
data, their standard deviation is the prior's own. How much blocks of time disagree is contained in the noise of the
equations, whose variance is multiplied by the data inflation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve, solve_triangular

from ..scene.determined import DeterminedQuantity
from ..signals.pooling import TWO_SIDED_STDS
from ..skeleton.rig import Rig
from ..values.inertials import FIRST_MOMENT, INERTIA, MASS, PER_LINK, InertialParameters, steiner, symmetric_entries
from .body_coordinates import BASIS, BodyCoordinates
from .consistent import ConsistentOptions, population_rows, prior_strengths
from .constraints import mass_rows
from .determined import find_determined
from .result import Uncertainty
from .weighted_equations import EquationsWithErrors


@dataclass(frozen=True, slots=True)
class Posterior:
    """Normal approximation of the posterior around an estimate.

    Attributes:
        parameters: around which it is.
        root: (M, L, 10) changes of the parameters whose squares sum to their covariance.
        prior_root: the same before the data.
        uncertainty: standard deviations and 95 % intervals of this covariance.
        determined: what the data determine, in classes.
    """

    parameters: InertialParameters
    root: np.ndarray
    prior_root: np.ndarray
    uncertainty: Uncertainty
    determined: tuple[DeterminedQuantity, ...]


def posterior(
    equations: EquationsWithErrors,
    noise_variance: float,
    parameters: InertialParameters,
    prior: InertialParameters,
    rig: Rig,
    options: ConsistentOptions,
) -> Posterior:
    """The posterior of the consistent method's model around some parameters.

    The joint centres' errors come on top of the covariance that data and prior leave: they also displace the links'
    origins (`EquationsWithErrors.origins`), as far as data determine the parameters that this changes. The total mass,
    if given, is exact. Inequalities are not considered, so that the standard deviations are upper bounds.

    Args:
        equations: of the data, with the covariance of their errors.
        noise_variance: of an equation, multiplied by the data inflation.
        parameters: physically consistent, around which the prior's curvature is taken.
        prior: reference of the prior.
        rig: whose links are identified.
        options: of the prior.
    """
    whitening = equations.whitening(noise_variance)
    data = whitening @ equations.factor
    root, alone = (covariance_root(rows, parameters, prior, rig, options) for rows in (data, data[:0]))
    if len(equations.origins):
        flat = root.reshape(len(root), -1)
        origins = (equations.origins @ data.T) @ (data @ flat.T) @ flat
        root = np.concatenate([root, origins.reshape(-1, *root.shape[1:])])
    fixed = options.constraints.fixed_links
    return Posterior(
        parameters,
        root,
        alone,
        uncertainty_of_changes(root, parameters),
        find_determined(rig, parameters, root, alone, fixed),
    )


def covariance_root(
    data: np.ndarray,
    parameters: InertialParameters,
    prior: InertialParameters,
    rig: Rig,
    options: ConsistentOptions,
) -> np.ndarray:
    """(10 L, L, 10) changes of the parameters whose squares sum to the covariance that data and prior leave.

    Args:
        data: (k, 10 L) equations whose errors are independent with variance one; no rows for the prior alone.
        parameters, prior, rig, options: as `posterior`.
    """
    bodies = BodyCoordinates.from_reference(prior)
    count = len(rig.links)
    matrices = bodies.matrices(bodies.coordinates(parameters))
    # links l, coordinates c and d of a link, rows and columns i, j, k of a pseudo-inertia
    products = np.einsum("lij,cjk->lcik", np.linalg.inv(matrices), BASIS)
    blocks = prior_strengths(rig.links, options)[:, None, None] * np.einsum("lcik,ldki->lcd", products, products)
    prior_factor = block_diag(*np.linalg.cholesky(blocks).swapaxes(1, 2))
    rows = [bodies.transform_columns(data), prior_factor, population_rows(bodies, options)]
    # the curvature itself is not formed: with nearly exact data the prior would be lost in rounding
    factor = np.linalg.qr(np.concatenate(rows), mode="r")
    root = solve_triangular(factor, np.eye(PER_LINK * count), trans="T")  # covariance = root' root
    masses = mass_rows(rig, options.constraints.total_mass)
    if masses.equality.any():
        constrained = root @ bodies.transform_columns(masses.matrix[masses.equality].toarray()).T
        root = root - constrained @ cho_solve(cho_factor(constrained.T @ constrained), constrained.T @ root)
    parts = root.reshape(len(root), count, PER_LINK)
    # link by link (l): from body coordinates (j) to parameters (i), each column (m) of the root on its own
    return np.einsum("mlj,lij->mli", parts, bodies.blocks)


def uncertainty_of_changes(phi: np.ndarray, parameters: InertialParameters) -> Uncertainty:
    """Standard deviations and intervals from changes (M, L, 10) of the parameters whose squares sum to their
    covariance."""
    masses, coms, values = parameters.masses, np.nan_to_num(parameters.coms), parameters.values
    massless = masses == 0.0
    com_changes = (phi[:, :, FIRST_MOMENT] - phi[:, :, [MASS]] * coms) / (masses + massless)[:, None]
    # I about the CoM = I - m S(c), S(c) = c'c 1 - c c', whose derivative along dc is S(c + dc) - S(c - dc) over two
    inertia_changes = phi[:, :, INERTIA] - phi[:, :, [MASS]] * symmetric_entries(steiner(coms))
    inertia_changes -= (
        masses[:, None] * symmetric_entries(steiner(coms + com_changes) - steiner(coms - com_changes)) / 2.0
    )
    std, com_std, inertia_std = (np.sqrt((part**2).sum(axis=0)) for part in (phi, com_changes, inertia_changes))
    return Uncertainty(std, values - TWO_SIDED_STDS * std, values + TWO_SIDED_STDS * std, com_std, inertia_std)
