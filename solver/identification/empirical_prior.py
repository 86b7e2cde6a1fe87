"""How far bodies lie from their prior, as the data themselves say: the spread of the prior of largest evidence.

The exact method's prior is, near its reference, a normal distribution of independent coordinates x (`bodies`) of
variance 4 s^2. With it the data y = C x + e of noise v have the probability N(0, 4 s^2 C C' + v), whose only unknown is
s: its likeliest value (empirical Bayes, type-II maximum likelihood) needs one decomposition of C. A prior wider than
bodies scatter lets noise into every parameter that the data hardly show; a narrower one hides what they do show.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import null_space

from ..errors import InvalidValue
from ..inertials import PER_LINK
from ..qp import Rows
from ..rig import Rig
from .body_coordinates import BodyCoordinates
from .consistent import DIAGONAL, ConsistentOptions, consistent, prior_strengths
from .constraints import fixed_link_rows, mass_rows
from .estimate import Estimate
from .weighted_equations import WeightedEquations

MIN_RELATIVE_STD = 0.02
"""Least relative spread that is asked for: even a part that was weighed is modelled no better."""
GRID_SIZE = 60
"""Spreads that are tried, in equal ratios."""


def consistent_with_empirical_prior(regression: WeightedEquations, rig: Rig, options: ConsistentOptions) -> Estimate:
    """`consistent` with the spread of the prior that the data are likeliest under, no wider than the options have it.

    Raises:
        InvalidValue, BackendError: as `consistent` and `estimate_relative_std`.
    """
    first = consistent(regression, rig, options)
    spread = estimate_relative_std(regression, first, rig, options)
    return first if spread == options.relative_std else consistent(regression, rig, with_relative_std(options, spread))


def with_relative_std(options: ConsistentOptions, relative_std: float) -> ConsistentOptions:
    """The options with another spread of the prior; those of single links keep their ratio to it."""
    ratio = relative_std / options.relative_std
    by_link = {link: ratio * value for link, value in options.relative_stds.items()}
    return replace(options, relative_std=relative_std, relative_stds=by_link)


def estimate_relative_std(
    regression: WeightedEquations, estimate: Estimate, rig: Rig, options: ConsistentOptions
) -> float:
    """The relative spread of links' masses around the prior that makes the data likeliest, up to the options'.

    Inequalities are not counted; the total mass and held links are.

    Args:
        regression: the estimate was made from.
        estimate: of `consistent`, whose judgement of the noise is kept.
        rig: as used for it.
        options: as used for it; spreads of single links keep their ratio to the common one.

    Raises:
        InvalidValue: a diagonal prior, or one that holds masses by themselves, has no such spread.
    """
    if options.prior == DIAGONAL or options.mass_prior:
        raise InvalidValue("only a prior with one spread for all that bodies differ by can be judged by the data")
    bodies = BodyCoordinates.from_reference(estimate.prior)
    noise = estimate.settings["noise variance"] * estimate.settings["data inflation"]
    limits = options.constraints
    rows = Rows.stack([mass_rows(rig, limits.total_mass), fixed_link_rows(rig, estimate.prior, limits)])
    # coordinates of unit variance at the spread that the options name, free of what must hold
    deviations = np.repeat(1.0 / np.sqrt(prior_strengths(rig.links, options)), PER_LINK)
    free = null_space(bodies.transform_columns(rows.matrix[rows.equality].toarray()) * deviations)
    equations = regression.calibrated_equations
    columns = (bodies.transform_columns(equations.factor) * deviations) @ free / np.sqrt(noise)
    rest = (equations.target - equations.factor @ estimate.prior.vector) / np.sqrt(noise)
    U, values, _ = np.linalg.svd(columns, full_matrices=False)
    gains, told = values**2, (U.T @ rest) ** 2
    tried = np.geomspace(min(MIN_RELATIVE_STD, options.relative_std), options.relative_std, GRID_SIZE)
    spread = 1.0 + (tried[:, None] / options.relative_std) ** 2 * gains
    evidence = -0.5 * np.sum(np.log(spread) + told / spread, axis=1)
    return float(tried[int(np.argmax(evidence))])
