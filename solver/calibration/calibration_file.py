"""A calibrated subject as JSON: the rig's parameters and where the markers sit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..formats.atomic import write_atomically
from ..formats.plain import plain
from ..rigs import build
from ..tracking.targets import Attachment
from .calibrate import Calibration

FORMAT = "exciting_dance calibration"
VERSION = 1
REMEDY = "Name the calibration.json that `python -m solver calibrate` wrote"


def write_calibration(calibration: Calibration, path: str | Path) -> None:
    """Write a calibration, whole or not at all."""
    tree = {
        "format": FORMAT,
        "version": VERSION,
        "rig": calibration.rig.provenance,
        "marker_set": calibration.marker_set,
        "height": calibration.height,
        "lengths": calibration.lengths,
        "marker_errors": calibration.marker_errors,
        "frames": calibration.frames,
        "shifts": calibration.shifts,
        "warnings": calibration.warnings,
        "assumed": calibration.assumed,
        "attachments": [
            {"marker": a.marker, "link": a.link, "position": a.position, "weight": a.weight}
            for a in calibration.attachments
        ],
    }
    text = json.dumps(plain(tree), indent=1, ensure_ascii=False, allow_nan=False)
    with write_atomically(path) as stream:
        stream.write(text + "\n")


def read_calibration(path: str | Path) -> Calibration:
    """A calibrated subject.

    Raises:
        InputError: missing, not JSON, or no calibration.
    """
    try:
        tree: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", remedy=REMEDY) from None
    except ValueError as error:
        raise InputError(path, f"is not JSON ({error})", remedy=REMEDY) from None
    if not isinstance(tree, dict) or tree.get("format") != FORMAT or tree.get("version") != VERSION:
        raise InputError(path, "is no calibration of this version", remedy=REMEDY)
    try:
        return Calibration(
            rig=build(tree["rig"]),
            attachments=tuple(
                Attachment(a["marker"], a["link"], np.array(a["position"], float), float(a["weight"]))
                for a in tree["attachments"]
            ),
            marker_set=str(tree["marker_set"]),
            height=float(tree["height"]),
            lengths=_numbers(tree["lengths"]),
            marker_errors=_numbers(tree["marker_errors"]),
            frames={str(name): int(count) for name, count in tree["frames"].items()},
            shifts=_numbers(tree["shifts"]),
            warnings=tuple(str(text) for text in tree["warnings"]),
            assumed=tuple(str(text) for text in tree["assumed"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, SolverError) as error:
        raise InputError(path, f"is damaged ({error!r})", remedy=REMEDY) from error


def _numbers(tree: Mapping[str, float | None]) -> dict[str, float]:
    """Named numbers; JSON's null stands for NaN."""
    return {str(name): float("nan") if value is None else float(value) for name, value in tree.items()}
