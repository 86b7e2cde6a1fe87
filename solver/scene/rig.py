"""The file of a rig; reading it needs no dynamics library.

rig.json contains the rig by value: all fields of `Rig`, SI, z up. Reading it gives the same rig in any process and
place.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError, InvalidValue
from ..formats.codec import JSON_SUFFIX, FileKind, json_text
from ..formats.json_tree import InvalidJson, parse_json
from ..formats.tree_leaves import WrongEntry
from ..formats.value_tree import from_tree, to_tree
from ..rig import Rig

URDF, ARCHIVE = ".urdf", ".npz"
RIG = FileKind(Rig, "exciting dance rig", version=2, remedy="Write it with `python -m solver rig`")


def write_rig(path: str | Path, rig: Rig) -> Path:
    """Write a rig, completely or not at all.

    Args:
        path: .json or .npz, which contain the whole rig; or .urdf, for other programs, see `formats.urdf_writer`.
        rig: to write.

    Raises:
        InputError: another suffix, or the file cannot be written.
        InvalidValue: URDF cannot represent a joint of the rig.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> solver.write_rig(Path(tempfile.mkdtemp()) / "robot.json", solver.hoap3()).name
        'robot.json'
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == URDF:
        from ..formats.urdf_writer import write_urdf

        write_urdf(rig, path)
        return path
    if suffix not in (JSON_SUFFIX, ARCHIVE):
        problem = f"suffix {suffix!r} is no format of a rig"
        raise InputError(path, problem, remedy=f"Use the suffix {JSON_SUFFIX} or {ARCHIVE} (the whole rig), or {URDF}")
    return RIG.write(path, rig)


def read_rig(path: str | Path) -> Rig:
    """Read a rig that `write_rig` wrote as .json or .npz; `rigs.from_urdf` reads URDF.

    Raises:
        InputError: a missing file, or not a rig.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> path = solver.write_rig(Path(tempfile.mkdtemp()) / "rig.json", solver.hoap3())
        >>> solver.read_rig(path) == solver.hoap3()
        True
    """
    if Path(path).suffix.lower() == URDF:
        raise InputError(path, "is URDF, which does not contain a whole rig", remedy="Read it with solver.from_urdf")
    return RIG.read(path)


def rig_to_text(rig: Rig) -> str:
    """A rig as text, to store it outside files."""
    return json_text(to_tree(rig))


def rig_from_text(text: str) -> Rig:
    """The rig of a text by `rig_to_text`.

    Raises:
        InvalidValue: the text is not a rig.
    """
    try:
        rig: Rig = from_tree(Rig, parse_json(text))
    except (InvalidJson, WrongEntry) as error:
        raise InvalidValue(f"the text is not a rig: {error}") from error
    return rig
