"""An identification's result as a file.

JSON, version 1: an object with

- ``format`` ``"exciting_dance.result"`` and ``version`` 1;
- ``links`` (L names) and ``columns`` (m, hx ... Izz: h = m c, I about the link origin; SI, link frame);
- ``parameters``, ``prior`` (L lists of ten); ``std``, ``determined`` (the same shape, or null), ``com_std`` (L lists of
  three, or null): standard deviations and the share in [0, 1] that the data determined;
- ``at_bounds`` (names ``link.parameter``), ``method``, ``satisfies``;
- anything else, plain numbers, strings, lists and objects.

Numbers that do not exist (NaN, infinity) are null.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, InvalidValue
from ..formats.atomic import write_atomically
from ..formats.plain import plain
from ..formats.text import read_lines
from ..inertials import PARAMETERS, InertialParameters

FORMAT, VERSION = "exciting_dance.result", 1
SHAPES = {"parameters": len(PARAMETERS), "prior": len(PARAMETERS), "std": len(PARAMETERS),
          "determined": len(PARAMETERS), "com_std": 3}  # fmt: skip
"""Columns of the entries that hold one row a link."""
REQUIRED = ("links", "parameters", "prior")
UNITS = {"m": "kg", "h": "kg m", "I": "kg m^2"}
"""By the first letter of a parameter's name."""
REMEDY = "Write it again with this version, or name another file"


def inertial_entries(
    parameters: InertialParameters,
    prior: InertialParameters,
    *,
    std: np.ndarray | None = None,
    com_std: np.ndarray | None = None,
    determined: np.ndarray | None = None,
    at_bounds: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The part of a result that tells the inertial parameters.

    Args:
        parameters: identified.
        prior: of the same links.
        std: (L, 10) standard deviations.
        com_std: (L, 3) [m] of the centres of mass.
        determined: (L, 10) share in [0, 1] that the data determined.
        at_bounds: names of parameters that ended on a bound.
    """
    if parameters.links != prior.links:
        raise InvalidValue("the result and its prior name different links")
    return {"links": list(parameters.links), "columns": list(PARAMETERS), "parameters": parameters.values,
            "prior": prior.values, "std": std, "com_std": com_std, "determined": determined,
            "at_bounds": list(at_bounds)}  # fmt: skip


def write_result(path: str | Path, result: Mapping[str, Any]) -> None:
    """A result as JSON, whole or not at all.

    Raises:
        InvalidValue: required entries missing or of the wrong shape.
        InputError: the file cannot be written.
    """
    tree = {"format": FORMAT, "version": VERSION, "columns": list(PARAMETERS), **result}
    _check(tree)
    text = json.dumps(plain(tree), indent=1, ensure_ascii=False, allow_nan=False)
    with write_atomically(path) as stream:
        stream.write(text + "\n")


def read_result(path: str | Path) -> dict[str, Any]:
    """A result as `write_result` wrote it; entries with one row a link as arrays, null in them as NaN.

    Raises:
        InputError: missing, not JSON, not a result, of a later version, or entries of the wrong shape.
    """
    text = "\n".join(read_lines(path))
    try:
        tree = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        place = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else None
        raise InputError(path, "is not JSON", place=place, remedy=REMEDY) from error
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise InputError(path, f"is not a result: format is not {FORMAT!r}", remedy=REMEDY)
    version = tree.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise InputError(path, f"has version {version!r}, this program reads up to {VERSION}", remedy=REMEDY)
    try:
        for name in SHAPES:
            if tree.get(name) is not None:
                tree[name] = np.array(
                    [[np.nan if cell is None else float(cell) for cell in row] for row in tree[name]], float
                )
        _check(tree)
    except (InvalidValue, TypeError, ValueError) as error:
        raise InputError(path, f"is damaged: {error}", remedy=REMEDY) from error
    return tree


def write_result_csv(path: str | Path, result: Mapping[str, Any]) -> None:
    """The inertial part of a result as a table, one row a parameter, ten rows a link.

    Raises:
        InvalidValue: required entries missing or of the wrong shape.
        InputError: the file cannot be written.
    """
    _check(result)
    columns = [name for name in ("parameters", "prior", "std", "determined") if result.get(name) is not None]
    on_bound = set(result.get("at_bounds") or ())
    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        titles = {"parameters": "identified", "std": "standard deviation", "determined": "share determined by data"}
        writer.writerow(["link", "parameter", "unit", *(titles.get(name, name) for name in columns), "at a bound"])
        for i, link in enumerate(result["links"]):
            for j, parameter in enumerate(PARAMETERS):
                values = [np.asarray(result[name], float)[i, j] for name in columns]
                cells = ["" if not np.isfinite(value) else f"{value:.12g}" for value in values]
                bound = "yes" if f"{link}.{parameter}" in on_bound else ""
                writer.writerow([link, parameter, UNITS[parameter[0]], *cells, bound])


def _check(tree: Mapping[str, Any]) -> None:
    """Required entries are there, and every per-link entry has one row a link."""
    for name in REQUIRED:
        if tree.get(name) is None:
            raise InvalidValue(f"the result lacks the entry {name!r}")
    links = len(tree["links"])
    for name, columns in SHAPES.items():
        if tree.get(name) is not None and np.shape(tree[name]) != (links, columns):
            raise InvalidValue(f"{name} has shape {np.shape(tree[name])}, expected ({links}, {columns})")
