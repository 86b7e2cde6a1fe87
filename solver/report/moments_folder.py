"""Writes joint moments of trials: a table of each, a file for scenes, and a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..formats.csv_tables import write_table
from ..moments.values import MOMENTS, JointMoments
from ..scene.study_folder import MOMENTS_END, MOMENTS_PAGE, MOMENTS_TABLE_END
from ..storage.atomic import write_atomically
from ..storage.output_folder import write_folder
from .moments_page import render_moments

RESIDUAL = ("fx", "fy", "fz", "mx", "my", "mz")


def write_moments(folder: str | Path, found: Mapping[str, JointMoments]) -> tuple[str, ...]:
    """``NAME.moments.csv`` and ``.npz`` of every trial and ``moments.html``, complete or not at all; the files' names.

    Raises:
        InputError: the folder cannot be written.

    Example:
        >>> import solver
        >>> solver.report.write_moments("moments", solver.moments.moments_of_study("results"))  # doctest: +SKIP
    """
    with write_folder(folder) as building:
        for name, moments in found.items():
            titles, values = _columns(moments)
            write_table(building / f"{name}{MOMENTS_TABLE_END}", moments.times, titles, values)
            MOMENTS.write(building / f"{name}{MOMENTS_END}", moments)
        with write_atomically(building / MOMENTS_PAGE) as stream:
            stream.write(render_moments(tuple(found.values())))
        return tuple(sorted(file.name for file in building.iterdir()))


def _columns(found: JointMoments) -> tuple[list[str], np.ndarray]:
    """Titles and values (N, 4 C + 6): of each coordinate the moment, it per kilogram and its interval; the residual."""
    titles: list[str] = []
    for name, unit in zip(found.names, found.units):
        titles += [f"{name} [{unit}]", f"{name}_per_kg [{unit}/kg]"]
        titles += [f"{name}_lower [{unit}]", f"{name}_upper [{unit}]"]
    titles += [f"residual_{axis} [{'N' if axis[0] == 'f' else 'N m'}]" for axis in RESIDUAL]
    ends = found.values - found.half_width, found.values + found.half_width
    columns = np.stack([found.values, found.per_kg, *ends], axis=2).reshape(len(found), -1)
    return titles, np.concatenate([columns, found.residual], axis=1)
