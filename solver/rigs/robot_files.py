"""Finds the kind of a robot's file in the table of rigs."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..files import AnyPath
from ..rig_kinds import RIG_KINDS, RigKind
from .safe_xml import read_xml

OTHER_FORMATS = (".sdf", ".usd", ".usda", ".usdc", ".wbt", ".proto")
"""Suffixes of robots' files in formats that no row of the table reads."""


def find_file_kind(path: AnyPath) -> RigKind | None:
    """The kind of rig that a file describes; None if its suffix is no robot's.

    Kinds that share a suffix are distinguished by the outermost element of the file; if none matches, the last kind is
    returned, whose reader then names the problem.

    Raises:
        InputError: no kind reads the format; or kinds share the suffix, and the file is missing or no XML.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".xacro":
        raise InputError(path, "is a xacro macro, not a URDF", remedy="Expand it first: xacro in > out.urdf")
    if suffix in OTHER_FORMATS:
        raise InputError(path, f"is of a type that cannot be read ({suffix})", remedy="Give the robot's URDF or MJCF")
    rows = [row for row in RIG_KINDS if suffix in row.suffixes]
    if not rows:
        return None
    if len(rows) == 1:
        return rows[0]
    element = read_xml(path).tag
    return next((row for row in rows if row.element == element), rows[-1])
