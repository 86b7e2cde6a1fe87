"""The file of a robot or of a person's model: its kind in the table of rigs, and whether it is as it was read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..base.errors import InputError
from ..base.files import AnyPath, read_bytes
from ..skeleton.rig import Rig
from ..values.rig_kinds import RIG_KINDS, RigKind, find_rig_kind
from .safe_xml import read_xml

DIGEST = "sha256"
"""Key of the provenance: checksum of the file that the rig was read from."""
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
    if not (rows := [row for row in RIG_KINDS if suffix in row.suffixes]):
        return None
    if len(rows) == 1:
        return rows[0]
    element = read_xml(path).tag
    return next((row for row in rows if row.element == element), rows[-1])


def model_digest(path: str | Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


def model_file(rig: Rig) -> Path | None:
    """The file that a rig was read from; None for a rig that was built, or whose provenance was not written here."""
    kind = find_rig_kind(str(rig.provenance.get("kind")))
    is_read = kind is not None and bool(kind.suffixes) and {"path", "up", DIGEST} <= set(rig.provenance)
    return Path(str(rig.provenance["path"])) if is_read else None


def require_unchanged(rig: Rig) -> Path:
    """The file that a rig was read from.

    Raises:
        InputError: it is missing, or has changed since.
    """
    path = Path(str(rig.provenance["path"]))
    if model_digest(path) != rig.provenance[DIGEST]:
        raise InputError(path, "has changed since the rig was built from it", remedy="Give the file itself as the rig")
    return path
