"""Writing values of this program to files, and reading them back.

A `FileKind` names the class that a file holds; the fields of the class define the rest (`value_tree`). A path that ends
in ``.json`` is written as readable JSON, any other as a NumPy archive, whose entry ``tree.json`` is the same tree with
names of arrays in place of arrays. Both start with ``kind`` and ``version``. Reading needs no dynamics library unless
the class does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import InputError, InvalidValue
from ..files import check_file
from ..version import VERSION as PROGRAM
from .atomic import write_atomically
from .inline_arrays import INLINE_ARRAYS, ArrayStore, WrongEntry
from .json_tree import parse_json_object, read_json
from .npz_archive import is_archive, read_archive, write_archive
from .value_tree import from_tree, to_tree

T = TypeVar("T")
KIND_KEY, VERSION_KEY = "kind", "version"
TREE_ENTRY = "tree.json"
JSON_SUFFIX = ".json"
MAX_LINE_WIDTH = 100
"""Largest number of characters of a list or object of plain entries that is written on one line."""


@dataclass(frozen=True, slots=True)
class FileKind(Generic[T]):
    """A kind of file of this program.

    Attributes:
        value_type: the class that such a file holds.
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

    def __post_init__(self) -> None:
        if taken := {KIND_KEY, VERSION_KEY} & {f.name for f in fields(self.value_type)}:  # type: ignore[arg-type]
            raise InvalidValue(f"{self.value_type.__name__} has a field {min(taken)!r}, which names the kind of file")

    def write(self, path: str | Path, value: T) -> Path:
        """Write a value to a file atomically; as JSON if the path ends in ``.json``.
        Raises:
            InvalidValue: a field does not hold a value of its declared type.
            InputError: the file cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() == JSON_SUFFIX:
            text = json_text(self._tree(value, INLINE_ARRAYS))
            with write_atomically(path) as stream:
                stream.write(text)
            return path
        arrays = _ArchiveArrays({})
        tree = json.dumps(self._tree(value, arrays), ensure_ascii=False, allow_nan=False).encode()
        with write_atomically(path, binary=True) as stream:
            write_archive(stream, arrays.entries, {TREE_ENTRY: tree}, compressed=self.compressed)
        return path

    def read(self, path: str | Path) -> T:
        """Read a value that `write` wrote.

        Raises:
            InputError: missing, unreadable or damaged file, another kind or version, or an entry that is missing or not
                of its field's declared type.
        """
        return read_one_of(path, (self,))  # type: ignore[no-any-return]

    def _tree(self, value: T, arrays: ArrayStore) -> dict[str, Any]:
        return {KIND_KEY: self.name, VERSION_KEY: self.version, **to_tree(value, self.value_type, arrays)}


def read_one_of(path: str | Path, kinds: Sequence[FileKind[Any]]) -> Any:
    """Read the value of a file that may be of several kinds; the class of the value identifies it.

    Raises:
        InputError: as `FileKind.read`.
    """
    tree, arrays = _read_tree(path, kinds[0].remedy)
    found = tree.pop(KIND_KEY, None)
    kind = next((kind for kind in kinds if kind.name == found), None)
    if kind is None:
        what = f"is {found!r}" if isinstance(found, str) else "is another kind of file"
        raise InputError(path, f"{what}, not {' or '.join(repr(k.name) for k in kinds)}", remedy=kinds[0].remedy)
    if (version := tree.pop(VERSION_KEY, None)) != kind.version:
        raise _other_version(path, kind, version)
    try:
        return from_tree(kind.value_type, tree, arrays)
    except WrongEntry as error:
        raise InputError(path, error.problem, place=error.place or None, remedy=kind.remedy) from error


def _other_version(path: str | Path, kind: FileKind[Any], version: object) -> InputError:
    """The refusal of a file of another version, which names the program that reads it."""
    problem = f"has version {version!r} of {kind.name!r}; Exciting Dance {PROGRAM} reads version {kind.version}"
    if isinstance(version, bool) or not isinstance(version, int):
        return InputError(path, problem, remedy=kind.remedy)
    if version > kind.version:
        remedy = f"Update Exciting Dance: a release after {PROGRAM} reads it"
        return InputError(path, problem, remedy=remedy)
    problem += f". Version {version} is read by the development version before 0.1.0 that wrote it"
    return InputError(path, problem, remedy=kind.remedy)


def json_text(tree: Any) -> str:
    """A tree as readable JSON: short and plain lists and objects are on one line."""
    return "".join(_format_lines(tree, "")) + "\n"


class _ArchiveArrays:
    """Arrays beside the tree, by the place where each occurs first; equal arrays are stored once."""

    def __init__(self, entries: dict[str, np.ndarray]) -> None:
        self.entries = entries
        self._names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def store(self, array: np.ndarray, place: str) -> str:
        if array.dtype.hasobject:
            raise WrongEntry(place, "an array of objects cannot be written")
        content = hashlib.sha256(np.ascontiguousarray(array).tobytes()).digest()
        name = self._names.setdefault((array.dtype.str, array.shape, content), place or "array")
        self.entries.setdefault(name, array)
        return name

    def load(self, tree: Any, place: str) -> np.ndarray:
        if not isinstance(tree, str) or tree not in self.entries:
            raise WrongEntry(place, f"the array {tree!r} is missing")
        if self.entries[tree].dtype.hasobject:
            raise WrongEntry(place, "holds objects, which are not read: that would run code from the file")
        return self.entries[tree]


def _read_tree(path: str | Path, remedy: str) -> tuple[dict[str, Any], ArrayStore]:
    if not is_archive(path):
        if Path(path).suffix.lower() != JSON_SUFFIX:
            check_file(path)
            raise InputError(path, "is no file of this program", remedy=remedy)
        return read_json(path, remedy), INLINE_ARRAYS
    entries, others = read_archive(path)
    if TREE_ENTRY not in others:
        held = ", ".join(sorted((*entries, *others))) or "nothing"
        raise InputError(path, f"is no file of this program: it lacks {TREE_ENTRY} and holds {held}", remedy=remedy)
    return parse_json_object(path, others[TREE_ENTRY], remedy), _ArchiveArrays(entries)


def _format_lines(tree: Any, indent: str) -> Iterator[str]:
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    short = not any(isinstance(entry, dict | list) for entry in inner)
    if short:
        text = json.dumps(tree, ensure_ascii=False, allow_nan=False)
        if isinstance(tree, list) or len(indent) + len(text) <= MAX_LINE_WIDTH or not inner:
            yield text
            return
    opening, closing = "{}" if isinstance(tree, dict) else "[]"
    deeper = f"{indent} "
    items = tree.items() if isinstance(tree, dict) else (("", entry) for entry in tree)
    yield opening
    for number, (name, entry) in enumerate(items):
        yield f"{',' if number else ''}\n{deeper}"
        if isinstance(tree, dict):
            yield f"{json.dumps(name, ensure_ascii=False)}: "
        yield from _format_lines(entry, deeper)
    yield f"\n{indent}{closing}"
