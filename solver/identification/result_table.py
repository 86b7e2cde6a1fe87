"""The identified parameters as a table: one row per parameter, ten rows per link."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ..inertials import PARAMETERS
from ..scene.result import SceneResult
from ..storage.atomic import write_atomically
from .estimate import find_bounded_parameters

UNITS = {"m": "kg", "h": "kg m", "I": "kg m^2"}
"""By the first letter of a parameter's name."""


def write_result_table(path: str | Path, result: SceneResult) -> None:
    """Write the inertial part of a result as CSV; unknown values are empty cells.

    Raises:
        InputError: the file cannot be written.
    """
    columns = {"identified": result.parameters.values, "prior": result.prior.values,
               "standard deviation": result.std, "share determined by data": result.determined}  # fmt: skip
    known = {title: values for title, values in columns.items() if values is not None}
    bounded = find_bounded_parameters(result.at_bounds, result.links)
    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["link", "parameter", "unit", *known, "at a bound"])
        for i, link in enumerate(result.links):
            for j, parameter in enumerate(PARAMETERS):
                cells = ["" if not np.isfinite(v[i, j]) else f"{v[i, j]:.12g}" for v in known.values()]
                writer.writerow([link, parameter, UNITS[parameter[0]], *cells, "yes" if bounded[i, j] else ""])
