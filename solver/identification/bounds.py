"""Which parameters lie on a bound, from the names of the rows of `constraints` and `directions`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from ..inertials import FIRST_MOMENT, INERTIA, MASS, PARAMETERS, PER_LINK

PARAMETER_COLUMNS = {
    **{name: (column,) for column, name in enumerate(PARAMETERS)},
    "mass": (MASS,),
    **{f"centre of mass {axis}": (FIRST_MOMENT.start + i,) for i, axis in enumerate("xyz")},
    "inertia": tuple(range(INERTIA.start, INERTIA.stop)),
}
"""Columns of a link for each phrase with which the name of a row begins; the longest phrase counts."""
PARAMETER_PATTERN = re.compile(rf"({'|'.join(sorted(PARAMETER_COLUMNS, key=len, reverse=True))})\b *")
LINK_SEPARATOR, NAME_SEPARATOR = " and ", ": "


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
