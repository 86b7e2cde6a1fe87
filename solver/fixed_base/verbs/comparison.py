"""Comparison of a fixed-base robot's result on further trials, for the verb ``compare``."""

from __future__ import annotations

import argparse
import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...calibration.calibration import Calibration
    from ...scene.result import SceneResult
    from ...skeleton.rig import Rig


def compare(options: argparse.Namespace, result: SceneResult, body: Calibration | Rig) -> bool:
    """Print the comparison of a fixed-base robot's result on further trials; False for any other result."""
    from ..files import is_fixed_base_result

    if not is_fixed_base_result(result):
        return False
    from ...cli.compare import read_stored
    from ...cli.printed import warn
    from ...formats.text_table import format_table
    from ...scene.study_folder import RESULT_FILE
    from ...skeleton.rig import Rig
    from ...storage.atomic import write_atomically
    from ..comparison import FixedBaseModel, compare_fixed_base
    from ..files import StoredDrives, StoredFixedBase, pair_files, read_trial
    from ..identify import FixedBaseOptions

    assert isinstance(body, Rig)
    path = options.result / RESULT_FILE
    stored = read_stored(path, "settings", result.settings, StoredFixedBase)
    drives = read_stored(path, "details", result.details, StoredDrives)
    robot = stored.to_robot(body)
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
