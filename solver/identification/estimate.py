"""The result of one identification method."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ..qp import LevelOptimum, Status
from ..values.inertials import FIRST_MOMENT, INERTIA, MASS, PARAMETERS, PER_LINK, InertialParameters

NONE, ROTATIONAL, CONSISTENT = "none", "rotational", "consistent"
ROUNDING = 1e-12
"""Negative eigenvalue, relative to the largest of its link, that is rounding."""
PARAMETER_COLUMNS = {
    **{name: (column,) for column, name in enumerate(PARAMETERS)},
    "mass": (MASS,),
    **{f"centre of mass {axis}": (FIRST_MOMENT.start + i,) for i, axis in enumerate("xyz")},
    "inertia": tuple(range(INERTIA.start, INERTIA.stop)),
}
"""Columns of a link for each phrase with which the name of a row begins; the longest phrase counts."""
PARAMETER_PATTERN = re.compile(rf"({'|'.join(sorted(PARAMETER_COLUMNS, key=len, reverse=True))})\b *")
LINK_SEPARATOR, NAME_SEPARATOR = " and ", ": "


@dataclass(frozen=True, slots=True)
class Estimate:
    """Inertial parameters found by one method.

    Attributes:
        method: its name, with the variant.
        parameters: found.
        prior: as the method used it.
        status: of the solver.
        cost: ||W (Y phi - f)||^2 at the result, including the residual that no parameters can remove.
        cost_prior: the same for the prior.
        at_bounds: names of constraints that hold with equality at the result.
        levels: optimum of each level of a hierarchical method, and that no lower level worsened it.
        settings: numbers that the method chose or was given (strength of the prior, inflation of the noise, rank ...).
        notes: sentences for the reader.
        seconds: wall clock.
    """

    method: str
    parameters: InertialParameters
    prior: InertialParameters
    status: Status
    cost: float
    cost_prior: float
    at_bounds: tuple[str, ...] = ()
    levels: tuple[LevelOptimum, ...] = ()
    settings: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    @property
    def satisfies(self) -> str:
        """``"consistent"``, ``"rotational"`` or ``"none"``, by the eigenvalues of every link."""
        return consistency(self.parameters)


def consistency(parameters: InertialParameters) -> str:
    """Kind of physical consistency of parameters, by eigenvalues.

    ``"consistent"``: every pseudo-inertia is positive semi-definite, so a body with these parameters exists;
    ``"rotational"``: only masses are not negative and every inertia about its link origin is positive definite,
    jovic2016 (8), (12); ``"none"``: neither.
    """
    if np.all(
        parameters.consistency_margin >= -ROUNDING * np.abs(np.linalg.eigvalsh(parameters.pseudo_inertias)).max(axis=1)
    ):
        return CONSISTENT
    light = -ROUNDING * np.abs(parameters.masses).max()
    if np.all(parameters.masses >= light) and np.all(parameters.rotational_margin > 0.0):
        return ROTATIONAL
    return NONE


def find_bounded_parameters(names: Iterable[str], links: Sequence[str]) -> np.ndarray:
    """Mask of the parameters to which active rows refer.

    Args:
        names: of rows that hold with equality, as `Estimate.at_bounds` lists them: ``link: mass at its lower bound``,
            ``left and right: Izz as different as allowed``. Others, such as ``sum of masses``, refer to no single
            parameter.
        links: L names.

    Returns:
        (L, 10), columns as `PARAMETERS`.
    """
    mask = np.zeros((len(links), PER_LINK), dtype=bool)
    for name in names:
        owner, _, phrase = name.partition(NAME_SEPARATOR)
        if found := PARAMETER_PATTERN.match(phrase):
            rows = [i for i, link in enumerate(links) if link in (owner, *owner.split(LINK_SEPARATOR))]
            mask[np.ix_(rows, PARAMETER_COLUMNS[found[1]])] = True
    return mask


def group_bounds(names: Iterable[str]) -> tuple[str, ...]:
    """Names of active rows for a reader: one sentence for all parameters of the same links at the same bound."""
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for name in names:
        owner, colon, phrase = name.partition(NAME_SEPARATOR)
        found = PARAMETER_PATTERN.match(phrase)
        parameter, bound = (found[1], phrase[found.end() :]) if found else (phrase, "")
        groups.setdefault((owner + colon, bound), {})[parameter] = None
    return tuple(f"{owner}{', '.join(parameter)} {bound}".rstrip() for (owner, bound), parameter in groups.items())
