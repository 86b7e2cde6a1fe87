"""The prior of an identification: replaced where no body can have it, and made as wide as the data say.

Empirical Bayes prior: the width of the prior under which the data are most likely.

Near its reference, the prior of the consistent method is a normal distribution of independent coordinates x
(`body_coordinates`) with variance 4 s^2. Data y = C x + e with noise variance v then have the distribution N(0, 4 s^2 C
C' + v). Its only unknown is s. The most likely value (type-II maximum likelihood) follows from one singular value
decomposition of C. A prior that is too wide lets noise into parameters that the data hardly determine; one that is too
narrow hides what the data show.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import null_space

from ..qp import Rows
from ..rigs.anthropometry import MIN_SECOND_MOMENT
from ..skeleton.rig import Rig
from ..values.inertials import PER_LINK, InertialParameters
from .body_coordinates import BodyCoordinates, impossible_links
from .consistent import ConsistentOptions, consistent, prior_strengths
from .constraints import fixed_link_rows, mass_rows
from .estimate import Estimate
from .weighted_equations import WeightedEquations

POINT_RATIO = 1e-6
"""Second moments below this fraction of mass times size squared are those of a point. Measured on TX40, iCub and Romeo,
whose files give zeros there."""
MIN_RELATIVE_STD = 0.02
"""Least relative standard deviation of the prior: even a part that was weighed is not modelled more precisely.
Measured on a simulated robot, whose masses are 222 g off: half and twice the value give the same within 0.5 g."""
GRID_SIZE = 60
"""Number of standard deviations that are compared, in equal ratios. Measured on a simulated robot, whose masses are
222 g off: half and twice the value give the same within 0.5 g."""


def replace_impossible_prior(rig: Rig) -> tuple[Rig, tuple[str, ...]]:
    """The rig with a prior that solid bodies can have, and notes that name the links whose prior was replaced.

    Mass and centre of mass stay. The inertia about it becomes the nearest consistent one, or that of the link's
    bounding box where the file gives none. Links without mass, which take no part, lose an inertia that they have.
    """
    prior, boxes = rig.prior, rig.boxes
    links = impossible_links(prior)
    values, coms, inertias = prior.values.copy(), prior.coms, prior.inertias_at_com
    changed: dict[str, list[str]] = {}
    for link in links:
        k = prior.index(link)
        mass, own = float(prior.masses[k]), 0.5 * np.trace(inertias[k]) * np.eye(3) - inertias[k]
        moments, axes = np.linalg.eigh(own)
        size = float(np.maximum(moments, 0.0).sum())
        is_point = size <= POINT_RATIO * mass * float(np.ptp(boxes[k], axis=0).max()) ** 2
        second = np.diag(mass * np.ptp(boxes[k], axis=0) ** 2 / 12.0)  # of a solid box
        if not is_point:
            second = (axes * np.maximum(moments, MIN_SECOND_MOMENT * size)) @ axes.T
        inertia = np.trace(second) * np.eye(3) - second
        values[k] = 0.0
        if mass > 0.0:
            values[k] = InertialParameters.from_com((link,), np.array([mass]), coms[[k]], inertia[None]).values[0]
        done = "that of a box of the link's size" if is_point else "the nearest consistent one"
        changed.setdefault(done if mass > 0.0 else "none, as they have no mass", []).append(link)
    if not links:
        return rig, ()
    return rig.with_prior(InertialParameters(prior.links, values)), tuple(
        f"{', '.join(names)}: no body has the inertia of the model's file; the prior is {done}"
        for done, names in changed.items()
    )


def consistent_with_empirical_prior(regression: WeightedEquations, rig: Rig, options: ConsistentOptions) -> Estimate:
    """`consistent` with the prior width under which the data are most likely, at most that of the options.

    Raises:
        InvalidValue, BackendError: as `consistent`.
    """
    first = consistent(regression, rig, options)
    relative_std = estimate_relative_std(regression, first, rig, options)
    return (
        first
        if relative_std == options.relative_std
        else consistent(regression, rig, replace(options, relative_std=relative_std))
    )


def estimate_relative_std(
    regression: WeightedEquations, estimate: Estimate, rig: Rig, options: ConsistentOptions
) -> float:
    """The relative standard deviation of links' masses under which the data are most likely, at most that of the
    options.

    Inequalities are not considered; the total mass and fixed links are.

    Args:
        regression: the estimate was made from.
        estimate: of `consistent`, whose noise variance and data inflation are used.
        rig: as used for it.
        options: as used for it, with one width for all links and no mass prior.
    """
    bodies = BodyCoordinates.from_reference(estimate.prior)
    noise = estimate.settings["noise variance"] * estimate.settings["data inflation"]
    limits = options.constraints
    rows = Rows.stack([mass_rows(rig, limits.total_mass), fixed_link_rows(rig, estimate.prior, limits)])
    # coordinates of unit variance at the options' width, without the equality constraints
    deviations = np.repeat(1.0 / np.sqrt(prior_strengths(rig.links, options)), PER_LINK)
    free = null_space(bodies.transform_columns(rows.matrix[rows.equality].toarray()) * deviations)
    equations = regression.equations_with_errors
    whitening = equations.whitening(noise)
    columns = (bodies.transform_columns(whitening @ equations.factor) * deviations) @ free
    residual = whitening @ (equations.target - equations.factor @ estimate.prior.vector)
    U, values, _ = np.linalg.svd(columns, full_matrices=False)
    information, projected = values**2, (U.T @ residual) ** 2
    stds = np.geomspace(min(MIN_RELATIVE_STD, options.relative_std), options.relative_std, GRID_SIZE)
    variance = 1.0 + (stds[:, None] / options.relative_std) ** 2 * information
    evidence = -0.5 * np.sum(np.log(variance) + projected / variance, axis=1)
    return float(stds[int(np.argmax(evidence))])
