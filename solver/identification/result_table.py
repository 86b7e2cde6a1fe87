"""An identification's parameters as a table, one row a parameter, ten rows a link."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ..formats.atomic import write_atomically
from ..inertials import PARAMETERS
from ..scene.result import SceneResult
from .bounds import find_bounded_parameters

UNITS = {"m": "kg", "h": "kg m", "I": "kg m^2"}
"""By the first letter of a parameter's name."""


def write_result_table(path: str | Path, result: SceneResult) -> None:
    """The inertial part of a result as CSV; what is unknown is an empty cell.

    Raises:
        InputError: the file cannot be written.
    """
    columns = {"identified": result.parameters.values, "prior": result.prior.values,
               "standard deviation": result.std, "share determined by data": result.determined}  # fmt: skip
    told = {title: values for title, values in columns.items() if values is not None}
    bounded = find_bounded_parameters(result.at_bounds, result.links)
    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["link", "parameter", "unit", *told, "at a bound"])
        for i, link in enumerate(result.links):
            for j, parameter in enumerate(PARAMETERS):
                cells = ["" if not np.isfinite(v[i, j]) else f"{v[i, j]:.12g}" for v in told.values()]
                writer.writerow([link, parameter, UNITS[parameter[0]], *cells, "yes" if bounded[i, j] else ""])
