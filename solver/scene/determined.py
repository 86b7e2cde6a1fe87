"""What the data determine of a body: quantities in three classes, with their standard deviations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue

DATA, SHAPE, TABLES = "data", "data and shape", "prior"
"""Classes of quantities: determined by the data; by the data with the shape of the prior's links; by the prior."""
CLASS_TITLES = {
    DATA: "determined by the data",
    SHAPE: "determined by the data together with the shape of the links in {prior}",
    TABLES: "split by {prior}",
}
"""By class, the words that describe it; ``prior`` names the tables or the model that the prior comes from."""
MASS_KIND, MOMENT_KIND, WRENCH_KIND = "mass", "first moment", "wrench"
ROUNDING = 1e-9
"""[kg], [kg m] Width that is rounding, as of a total mass that was stated."""
EQUAL_SHARES = 0.5**0.5
"""Width over the prior's at which data and prior contribute the same information. Derived: the sum of two equal
informations has half the variance of one."""


@dataclass(frozen=True, slots=True)
class DeterminedQuantity(ArrayValue):
    """A mass of some links together, the first moment of a link about its joint, or the wrench of further motions.

    The first moment contains the masses beyond the link's other joints, as if they were at these joints: this, and not
    the link's own first moment, is what a wrench depends on.

    Attributes:
        kind: `MASS_KIND` [kg], `MOMENT_KIND` [kg m] or `WRENCH_KIND` [N, N m].
        name: ``total mass``, or the links in words.
        links: whose masses are summed, or the one whose first moment it is.
        source: class: `DATA`, `SHAPE` or `TABLES`.
        value: (1,) mass, (3,) first moment in the link's frame, or the mean error of a wrench, zero.
        half_width: (1,), (3,) or (6,) half of the 95 % interval after the data.
        prior_half_width: the same before them.
    """

    kind: str
    name: str
    links: tuple[str, ...]
    source: str
    value: Annotated[np.ndarray, Array("N")]
    half_width: Annotated[np.ndarray, Array("N")]
    prior_half_width: Annotated[np.ndarray, Array("N")]

    @property
    def ratio(self) -> float:
        """Width of the interval over the prior's: 0 if the data determine it exactly, 1 if they say nothing.

        Of a wrench, the geometric mean over its axes, which have different units.
        """
        if self.kind == WRENCH_KIND:
            return float(np.exp(np.mean(np.log(self.half_width / self.prior_half_width))))
        return compare_widths(self.half_width, self.prior_half_width)


def compare_widths(after: np.ndarray, before: np.ndarray) -> float:
    """Root mean square of widths over that of the prior's; 0 for a quantity that was known before, up to rounding."""
    known = float(np.linalg.norm(before))
    return float(np.linalg.norm(after)) / known if known > ROUNDING else 0.0


def describe_determined(quantities: Iterable[DeterminedQuantity], prior: str) -> tuple[str, ...]:
    """A sentence for each class: masses with their 95 % intervals and the prior's, and the links of first moments.

    Args:
        quantities: of an identification, or expected of a motion.
        prior: what the prior was taken from, in words.
    """
    found: dict[str, list[str]] = {source: [] for source in CLASS_TITLES}
    wrench: tuple[str, ...] = ()
    moments: dict[str, list[str]] = {source: [] for source in CLASS_TITLES}
    for one in quantities:
        if one.kind == MOMENT_KIND:
            moments[one.source].append(one.name)
        elif one.kind == WRENCH_KIND:
            after, before = (", ".join(f"{x:.2g}" for x in ends) for ends in (one.half_width, one.prior_half_width))
            wrench = (f"Predicted wrench of {one.name} [N, N m]: ± {after} (prior ± {before})",)
        elif len(one.links) > 1 or one.source != TABLES:
            known = f" (prior ± {one.prior_half_width[0]:.2g})" if one.prior_half_width[0] > ROUNDING else ""
            found[one.source].append(f"{one.name} {one.value[0]:.2f} ± {one.half_width[0]:.2g} kg{known}")
    found[TABLES].append("the masses of single links")
    for source, links in moments.items():
        found[source] += [f"first moments about the joints of {', '.join(links)}"] if links else []
    classes = [
        f"{title[0].upper()}{title[1:].format(prior=prior)}: {'; '.join(found[source])}"
        for source, title in CLASS_TITLES.items()
        if found[source]
    ]
    return (*classes, *wrench)
