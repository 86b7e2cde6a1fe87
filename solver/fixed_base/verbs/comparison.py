"""Comparison of a fixed-base robot's result on further trials, for the verb ``compare``."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def compare(options: argparse.Namespace) -> bool:
    """Print the comparison of a fixed-base robot's result on further trials; False for any other result."""
    from ...scene.result import RESULT
    from ...scene.study_folder import RESULT_FILE, RIG_FILE
    from ...storage.manifest import stored_file
    from ...storage.output_folder import read_consistent
    from ..files import is_fixed_base_result

    path = options.result / RESULT_FILE
    if not os.path.exists(path):
        return False
    result = read_consistent(options.result, lambda: RESULT.read(stored_file(options.result, RESULT_FILE)))
    if not is_fixed_base_result(result):
        return False
    from ...cli.printed import warn
    from ...formats.text_table import format_table
    from ...scene.rig import read_rig
    from ...storage.atomic import write_atomically
    from ..comparison import FixedBaseModel, compare_fixed_base
    from ..files import StoredDrives, StoredFixedBase, pair_files, read_trial
    from ..identify import FixedBaseOptions

    stored = read_stored(path, "settings", result.settings, StoredFixedBase)
    drives = read_stored(path, "details", result.details, StoredDrives)
    robot = stored.to_robot(read_rig(stored_file(options.result, RIG_FILE)))
    warnings: list[str] = []
    trials = [read_trial(robot, *pair, warn=warnings.append) for pair in pair_files(options.files)]
    found = compare_fixed_base(
        robot,
        trials,
        FixedBaseModel(result.parameters, drives.drive_parameters),
        FixedBaseModel(result.prior, drives.prior_drive_parameters),
        FixedBaseOptions(preset=stored.preset),
    )
    rows = [
        (c.trial, "used" if c.trial in result.trials else "not used", str(c.frames), name,
         f"{now:.4g}", f"{then:.4g}", f"{now / then:.2f}")
        for c in found
        for name, now, then in zip(robot.row_names, c.identified, c.prior, strict=True)
    ]  # fmt: skip
    header = ("trial", "", "frames", "row", "RMSE identified", "RMSE prior", "ratio")
    if options.output is not None:
        with write_atomically(options.output) as stream:
            csv.writer(stream, lineterminator="\n").writerows([("trial", "used", *header[2:]), *rows])
    warn(warnings)
    print("RMSE [N m; N for prismatic joints and forces]; drives as identified, for the prior as fitted with it")
    print(format_table(header, rows))
    return True


def read_stored(path: Path, place: str, tree: Mapping[str, Any], wanted: type[T]) -> T:
    """Of a result's settings or details the entries of a class.

    Raises:
        InputError: they are not there.
    """
    from ...base.errors import InputError
    from ...storage.json_tree import WrongEntry
    from ...storage.value_tree import from_tree

    names = [field.name for field in fields(wanted)]  # type: ignore[arg-type]
    try:
        found: T = from_tree(wanted, {name: tree[name] for name in names if name in tree}, place=place)
    except WrongEntry as error:
        raise InputError(path, error.problem, place=error.place, remedy="Identify again") from None
    return found
