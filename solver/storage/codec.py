"""Writing values of this program to files, and reading them back.

A `FileKind` names the class that a file holds; the fields of the class define the rest (`value_tree`). A path that ends
in ``.json`` is written as readable JSON, any other as a NumPy archive, whose entry ``tree.json`` is the same tree with
names of arrays in place of arrays. Both start with ``kind`` and ``version``. Reading needs no dynamics library unless
the class does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..base.errors import InputError
from ..version import __version__ as PROGRAM
from .atomic import write_atomically
from .json_tree import WrongEntry, json_text, parse_json_object, read_json
from .npz_archive import entry_names, is_archive, read_archive, write_archive
from .value_tree import Arrays, from_tree, to_tree

T = TypeVar("T")
KIND_KEY, VERSION_KEY = "kind", "version"
TREE_ENTRY = "tree.json"
JSON_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class FileKind(Generic[T]):
    """A kind of file of this program.

    Attributes:
        value_type: the class that such a file holds; it has no fields ``kind`` and ``version``.
        name: written into the file, such as ``"exciting dance rig"``.
        version: increased when older files no longer fit the class; those are refused.
        remedy: what a user can do about a file that cannot be read.
        compressed: whether archives are compressed.
    """

    value_type: type[T]
    name: str
    version: int = 1
    remedy: str = "Write it again with this version"
    compressed: bool = True

    def write(self, path: str | Path, value: T) -> Path:
        """Write a value to a file atomically; as JSON if the path ends in ``.json``.

        Raises:
            InvalidValue: a field does not hold a value of its declared type.
            InputError: the file cannot be written.
        """
        path = Path(path)
        arrays: Arrays | None = None if path.suffix.lower() == JSON_SUFFIX else {}
        tree = {KIND_KEY: self.name, VERSION_KEY: self.version, **to_tree(value, self.value_type, arrays)}
        with write_atomically(path, binary=arrays is not None) as stream:
            if arrays is None:
                stream.write(json_text(tree))
            else:
                content = json.dumps(tree, ensure_ascii=False, allow_nan=False).encode()
                write_archive(stream, arrays, {TREE_ENTRY: content}, compressed=self.compressed)
        return path

    def read(self, path: str | Path) -> T:
        """Read a value that `write` wrote.

        Raises:
            InputError: missing, unreadable or damaged file, another kind or version, or an entry that is missing or not
                of its field's declared type.
        """
        return read_one_of(path, (self,))  # type: ignore[no-any-return]


def read_one_of(path: str | Path, kinds: Sequence[FileKind[Any]]) -> Any:
    """Read the value of a file that may be of several kinds; the class of the value identifies it.

    Raises:
        InputError: as `FileKind.read`.
    """
    tree, arrays = _read_tree(path, kinds[0].remedy)
    found, version = tree.pop(KIND_KEY, None), tree.pop(VERSION_KEY, None)
    if (kind := next((kind for kind in kinds if kind.name == found), None)) is None:
        what = f"is {found!r}" if isinstance(found, str) else "is another kind of file"
        raise InputError(path, f"{what}, not {' or '.join(repr(k.name) for k in kinds)}", remedy=kinds[0].remedy)
    if version != kind.version:
        problem = f"has version {version!r} of {kind.name!r}; Exciting Dance {PROGRAM} reads version {kind.version}"
        newer = isinstance(version, int) and version > kind.version
        remedy = f"Update Exciting Dance: a release after {PROGRAM} reads it" if newer else kind.remedy
        raise InputError(path, problem, remedy=remedy)
    try:
        return from_tree(kind.value_type, tree, arrays)
    except WrongEntry as error:
        raise InputError(path, error.problem, place=error.place or None, remedy=kind.remedy) from error


def is_own_file(path: str | Path) -> bool:
    """Whether a file is one of this program, by the suffix of JSON or the entry of an archive.

    Raises:
        InputError: it cannot be read.
    """
    return Path(path).suffix.lower() == JSON_SUFFIX or (is_archive(path) and TREE_ENTRY in (entry_names(path) or ()))


def _read_tree(path: str | Path, remedy: str) -> tuple[dict[str, Any], Arrays | None]:
    if not is_archive(path):
        if Path(path).suffix.lower() != JSON_SUFFIX:
            raise InputError(path, "is no file of this program", remedy=remedy)
        return read_json(path, remedy), None
    entries, others = read_archive(path)
    if TREE_ENTRY not in others:
        held = ", ".join(sorted((*entries, *others))) or "nothing"
        raise InputError(path, f"is no file of this program: it lacks {TREE_ENTRY} and holds {held}", remedy=remedy)
    return parse_json_object(path, others[TREE_ENTRY], remedy), entries
