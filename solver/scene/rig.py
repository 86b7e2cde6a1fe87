"""The file of a rig; reading it needs no dynamics library.

rig.json contains the rig by value: all fields of `Rig`, SI, z up. Reading it gives the same rig in any process and
place.
"""

from __future__ import annotations

import os
from inspect import Parameter, signature
from pathlib import Path

from ..base.errors import InputError, InvalidValue, checked
from ..base.files import AnyPath
from ..skeleton.rig import Rig
from ..storage.codec import JSON_SUFFIX, FileKind
from ..storage.json_tree import WrongEntry, json_text, parse_json
from ..storage.value_tree import from_tree, to_tree
from ..values.rig_kinds import RIG_KINDS, RigKind, find_rig_kind, robot_suffixes

URDF, ARCHIVE = ".urdf", ".npz"
RIG = FileKind(Rig, "exciting dance rig", version=2, remedy="Write it with `python -m solver rig`")


@checked
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


@checked
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


def load_rig(rig: Rig | AnyPath) -> Rig:
    """A rig by value, by the name of a built-in robot, or from a file.

    Args:
        rig: a rig, which is returned; ``"hoap3"`` or another name of `rig_kinds.RIG_KINDS` that needs no data; or a
            file: .json or .npz of this program, a URDF or an MJCF.

    Raises:
        InvalidValue: not a name or a path, or an unknown name; the message lists the names and suffixes.
        InputError: the file is missing, or not a rig.

    Example:
        >>> import solver
        >>> solver.scene.rig.load_rig("hoap3") == solver.hoap3()
        True
    """
    from ..rigs.robot_files import find_file_kind

    if isinstance(rig, Rig):
        return rig
    names = [kind.name for kind in RIG_KINDS if not kind.suffixes and _needs_no_data(kind)]
    if not isinstance(rig, str | os.PathLike):
        raise InvalidValue(f"{rig!r} is not a rig; give a rig, a file, or one of {', '.join(names)}")
    if rig in names:
        kind = find_rig_kind(str(rig))
        assert kind is not None
        built: Rig = kind.load_builder()()
        return built
    path = Path(rig)
    if path.suffix.lower() in (JSON_SUFFIX, ARCHIVE):
        return read_rig(path)
    suffixes = ", ".join((JSON_SUFFIX, ARCHIVE, *robot_suffixes()))
    try:
        file_kind = find_file_kind(path)
    except InputError as error:  # a format that is not read
        choices = f"give one of {', '.join(names)}, or a file that ends in {suffixes}"
        raise InvalidValue(f"{error} Or {choices}") from error
    if file_kind is not None:
        read: Rig = file_kind.load_builder()(path)
        return read
    raise InvalidValue(f"unknown rig {str(rig)!r}; give one of {', '.join(names)}, or a file that ends in {suffixes}")


def _needs_no_data(kind: RigKind) -> bool:
    parameters = signature(kind.load_builder()).parameters.values()
    return all(parameter.default is not Parameter.empty for parameter in parameters)


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
    except WrongEntry as error:
        raise InvalidValue(f"the text is not a rig: {error}") from error
    return rig
