"""Added load: mass and location of what a body carries in later recordings only, as in jovic2016 VIII.

The paper identifies twice and compares the masses; the second identification is given the link that carries the belt.
Here the carrier is unknown: loads on all sets of links are compared by their likelihood (`load_likelihood`). The plates
determine the load's mass well. They determine its location badly: a kilogram at the wrist may belong to the hand or the
forearm, and one kilogram on each of two neighbouring links is similar to two kilograms on one of them. The result is
therefore the most likely one of the smallest sets of links that explain the data, and every other set that a
likelihood-ratio test does not exclude at 95 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np
from scipy.special import chdtri

from ..base.arrays import Array, ArrayValue
from ..base.errors import UnknownLink, checked
from ..options.study import LoadOptions
from ..signals.pooling import TWO_SIDED_STDS
from ..signals.trial import Trial
from ..skeleton.rig import Rig
from ..values.inertials import MASS, PER_LINK, InertialParameters
from .accumulate import accumulate_regression
from .load_likelihood import LoadFit, LoadLikelihood

SIGNIFICANCE = 0.05
"""Probability with which the true set of links is excluded. By definition of an interval of 95 %."""
MIN_SHARE = 0.5
"""Links share a load if each carries at least this fraction of an equal share; otherwise a smaller set carries it."""
ITERATIONS = 3
"""Noise and loads, which any link may carry, are estimated alternately. Measured on a simulated person with 2 kg on
each link in turn: two and six name as many links right."""

Sets = Mapping[tuple[int, ...], LoadFit]


@dataclass(frozen=True, slots=True, repr=False)
class AddedLoad(ArrayValue):
    """Loads found; ``found.loads["right_hand"]`` is one of them as a body: mass [kg], centre of mass [m], inertia.

    Attributes:
        links: L names.
        carriers: the most likely of the smallest sets of links that explain the data, heaviest load first; empty if the
            data show no load.
        loads: added inertial parameters of each link if the carriers carry them; zero elsewhere.
        alternatives: other sets of links that the data do not exclude at 95 %: fewest links first, then most likely
            first.
        probabilities: (L,) in [0, 1] of each link, if exactly one link carries the whole load and all links are equally
            probable beforehand.
        half_widths: (L,) [kg] half of the 95 % interval of each added mass, from the residuals, if ``carriers`` carry
            it; NaN where nothing is carried. A change of the plates' offset between the recordings is not included: it
            looks like a load.
        total_half_width: [kg] of the sum of all loads; 0 without a load.
        is_beyond: the data place the load farther from its links than it may be (`LoadOptions.margin`).
    """

    links: tuple[str, ...]
    carriers: tuple[str, ...]
    loads: InertialParameters
    alternatives: tuple[tuple[str, ...], ...]
    probabilities: Annotated[np.ndarray, Array("K")]
    half_widths: Annotated[np.ndarray, Array("K", finite=False)]
    total_half_width: float
    is_beyond: bool = False

    def __repr__(self) -> str:
        each = [f"{self.loads[name].mass:.2f} kg on {name}" for name in self.carriers]
        first = f"Load found: {self.total:.2f} ± {self.total_half_width:.2f} kg, most likely {' and '.join(each)}"
        return f"{first}\n  {self.not_excluded}" if self.carriers else self.not_excluded

    @property
    def total(self) -> float:
        """All loads together [kg]."""
        return self.loads.total_mass

    @property
    def not_excluded(self) -> str:
        """Sentence that lists where else the load may be."""
        if not self.carriers:
            return "No load found"
        if not self.alternatives:
            return "no other link, and no other pair of links, explains the data as well"
        shown = "; ".join(" and ".join(links) for links in self.alternatives[:MAX_LISTED])
        more = len(self.alternatives) - MAX_LISTED
        return f"not excluded at 95 %, the whole load on: {shown}" + f"; and {more} more" * (more > 0)


MAX_LISTED = 6
"""Largest number of alternatives in a sentence."""


@checked
def find_added_load(
    rig: Rig, before: Sequence[Trial], after: Sequence[Trial], options: LoadOptions | None = None
) -> AddedLoad:
    """Mass and location of what a body carries in later trials and did not carry in earlier ones.

    The trials should excite the same joints; the later ones need not repeat the earlier motion.

    Args:
        rig: with the prior of the bare body.
        before: without the load.
        after: with it.
        options: see `LoadOptions`.

    Raises:
        InvalidValue: no counted frame before or after.
        UnknownLink: a candidate or base link does not exist.
        BackendError: the cone solver failed.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> quick = solver.Settings(no_cross_validation=True)
        >>> study = solver.identify(robot.recordings, rig=robot.rig, settings=quick)
        >>> only = solver.LoadOptions(candidates=("right_hand", "left_hand"))
        >>> solver.identification.find_added_load(study.rig, study.trials, study.trials, only)  # nothing was added
        No load found
    """
    options = LoadOptions() if options is None else options
    for name in options.candidates:
        if name not in rig.links:
            raise UnknownLink(name, rig.links)
    candidates = tuple(rig.index(name) for name in options.candidates) or tuple(range(len(rig.links)))
    first = accumulate_regression(rig, before, base=options.base, axes="world")
    second = accumulate_regression(rig, after, base=options.base, axes="world", structure=first.structure)
    bodies = rig.prior, rig.prior
    for _ in range(ITERATIONS):
        likelihood = LoadLikelihood(rig, (first, second), bodies, options.margin)
        bodies = likelihood.bodies_with(likelihood.fit(candidates).loads)
    likelihood = LoadLikelihood(rig, (first, second), bodies, options.margin)
    found, alone = _search(likelihood, candidates, options.max_links)
    carriers, loads = found[0].carriers, InertialParameters(rig.links, found[0].loads)
    probabilities, half_widths = np.zeros(len(rig.links)), np.full(len(rig.links), np.nan)
    for (link,), fit in alone.items():
        probabilities[link] = np.exp(-fit.cost + min(other.cost for other in alone.values()))
    covariance = likelihood.mass_covariance(carriers)
    # each mass lies between 0 and the sum
    half_widths[list(carriers)] = np.minimum(TWO_SIDED_STDS * np.sqrt(np.diag(covariance)), loads.total_mass)
    others = _with_unobserved_links(rig, [fit.carriers for fit in found], candidates)
    return AddedLoad(
        rig.links,
        tuple(rig.links[k] for k in sorted(carriers, key=lambda k: -loads.masses[k])),
        loads,
        tuple(tuple(rig.links[k] for k in links) for links in others),
        probabilities / probabilities.sum(),
        half_widths,
        TWO_SIDED_STDS * float(np.sqrt(covariance.sum())),
        bool(found[0].cost > likelihood.lower_bound(carriers) + _exclusion_threshold(1)),
    )


def _search(likelihood: LoadLikelihood, candidates: Sequence[int], max_links: int) -> tuple[list[LoadFit], Sets]:
    """Sets of carriers that are not excluded, the most likely of the smallest first, and the likely single links.

    A larger set is accepted only if all smaller sets are excluded.
    """
    smaller: Sets = {(): LoadFit((), np.zeros((likelihood.count, PER_LINK)), 0.0)}
    alone: Sets = {}
    for size in range(1, min(max_links, len(candidates)) + 1):
        sets = list(combinations(candidates, size))
        reach = _exclusion_threshold(len(sets))
        fits = likelihood.fit_within(sets, reach)
        alone = alone or fits
        limit = next(iter(fits.values())).cost + reach
        accepted = [fit for fit in smaller.values() if fit.cost <= limit]
        if accepted:
            return accepted + (_shared(likelihood, fits, limit) if accepted[0].carriers else []), alone
        smaller = fits
    return list(smaller.values()), alone


def _exclusion_threshold(count: int) -> float:
    """Difference in log-likelihood by which the best of ``count`` sets with one more link excludes the smaller sets.

    Half of the chi-squared quantile for a load's ten parameters, with Bonferroni's correction for ``count`` sets.
    """
    return 0.5 * float(chdtri(PER_LINK, SIGNIFICANCE / count))


def _shared(likelihood: LoadLikelihood, larger: Sets, limit: float) -> list[LoadFit]:
    """Sets of one more link than the best, whose links may share the load."""
    shared = []
    for carriers, fit in larger.items():
        masses, least = fit.loads[list(carriers), MASS], MIN_SHARE / len(carriers)
        shared.append(fit if masses.min() >= least * masses.sum() else likelihood.fit(carriers, least))
    return sorted((fit for fit in shared if fit.cost <= limit), key=lambda fit: fit.cost)


def _with_unobserved_links(
    rig: Rig, sets: Sequence[tuple[int, ...]], candidates: Sequence[int]
) -> list[tuple[int, ...]]:
    """Sets besides the first, also with each unobserved link exchanged with its parent.

    No marker shows how such a link moves, so that the likelihood of a load on it means little.
    """
    found = dict.fromkeys(sets)
    for name in rig.unobserved_links:
        pair = rig.index(name), rig.parents[rig.index(name)]
        for links in list(found):
            if len(set(pair) & set(links)) == 1 and set(pair) <= set(candidates):
                found[tuple(sorted(set(pair) ^ set(links)))] = None
    return sorted(list(found)[1:], key=len)
