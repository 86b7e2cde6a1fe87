"""Safe reading of NumPy archives (.npz): sizes are checked before unpacking, and nothing is unpickled."""

from __future__ import annotations

import math
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ..base.errors import InputError
from ..base.file_arrays import release_pages
from ..base.files import check_file, first_bytes

NPY_SUFFIX = ".npy"
ZIP_MAGIC = b"PK"
MAX_TOTAL_BYTES = 4 << 30
"""[bytes] Unpacked size of all entries together. Chosen on an hour of motion at 500 Hz, which takes about one
gigabyte."""
ALWAYS_ALLOWED_BYTES = 128 << 20
"""[bytes] Unpacked size that is accepted however small the archive is. Chosen on half an hour of nearly still
motion."""
MAX_COMPRESSION_RATIO = 50
"""Largest accepted ratio of unpacked to packed size beyond that. Measured on recordings and tracked motions: one to
five; zeros alone reach a thousand."""
REMEDY = "Write it again with the program that made it"
READ_ERRORS = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, EOFError, RuntimeError,
    MemoryError,
           ArithmeticError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error)  # fmt: skip
"""Exceptions that reading a damaged archive can raise."""


def is_archive(path: str | Path) -> bool:
    """Whether a file begins like an archive.

    Raises:
        InputError: it cannot be read.
    """
    return first_bytes(path, len(ZIP_MAGIC)) == ZIP_MAGIC


def read_archive(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, bytes]]:
    """Read the arrays of an archive, and its other entries as bytes.

    An array of objects, which only running code from the file could read, is returned as an empty array of objects.

    Raises:
        InputError: missing or damaged; holds two entries of one name; unpacks to more than `MAX_TOTAL_BYTES`, or to
            more than `ALWAYS_ALLOWED_BYTES` and `MAX_COMPRESSION_RATIO` times its size.
    """
    size = check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_entries(path, entries, size)
            names = {entry.filename: entry for entry in entries}
            arrays = {name: _read_array(archive, each) for name, each in names.items() if name.endswith(NPY_SUFFIX)}
            others = {name: archive.read(each) for name, each in names.items() if name not in arrays}
            return {name.removesuffix(NPY_SUFFIX): array for name, array in arrays.items()}, others
    except READ_ERRORS as error:
        problem = f"is not a readable .npz archive: {' '.join(str(error).split()) or type(error).__name__}"
        raise InputError(path, problem, remedy=REMEDY) from error


def entry_names(path: str | Path) -> frozenset[str] | None:
    """Names of an archive's arrays and other entries, without unpacking any; None if the archive is damaged.

    Raises:
        InputError: no file, unreadable, empty or too large.
    """
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(name.removesuffix(NPY_SUFFIX) for name in archive.namelist())
    except READ_ERRORS:
        return None


def write_archive(
    stream: IO[bytes], arrays: Mapping[str, np.ndarray], others: Mapping[str, bytes], *, compressed: bool = True
) -> None:
    """Write arrays and other entries to an empty stream as one archive that `numpy.load` can also read.

    Large ones are not compressed, because their compression ratio might exceed what `read_archive` accepts.
    """
    compressed &= sum(array.nbytes for array in arrays.values()) <= ALWAYS_ALLOWED_BYTES
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in others.items():
            archive.writestr(name, content)
        for name, array in arrays.items():
            with archive.open(f"{name}{NPY_SUFFIX}", "w", force_zip64=True) as entry:
                npy.write_array(_ReleasingPages(entry), array, allow_pickle=False)


class _ReleasingPages:
    """Writes to a stream; the pages of long arrays that were written are released."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        self._stream.write(data)
        release_pages()


def _check_entries(path: str | Path, entries: list[zipfile.ZipInfo], size: int) -> None:
    """Check the directory of an archive of ``size`` bytes before anything is unpacked."""
    if len({entry.filename for entry in entries}) < len(entries):
        raise InputError(path, "holds two entries of one name", remedy=REMEDY)
    whole = sum(entry.file_size for entry in entries)
    if whole > min(MAX_TOTAL_BYTES, max(ALWAYS_ALLOWED_BYTES, MAX_COMPRESSION_RATIO * size)):
        problem = f"unpacks to {whole / 2**20:.0f} MB, {whole / size:.0f} times its size, unlike any recording"
        remedy = "If that is intended, split it into shorter recordings, or write it without compression (numpy.savez)"
        raise InputError(path, problem, remedy=remedy)


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    """Read an array whose number of bytes must agree with its header; zipfile verifies the checksum."""
    with archive.open(entry) as stream:
        place, version = f"array {entry.filename}", npy.read_magic(stream)
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, _, kind = read_header(stream)
        if kind.hasobject:
            return np.empty(0, object)
        if any(count < 0 for count in shape) or math.prod(shape) * kind.itemsize != entry.file_size - stream.tell():
            raise ValueError(f"{place} does not have the size in its header")
        # With an axis of length zero, or entries of zero bytes, the other axes could have any length.
        most = max(ALWAYS_ALLOWED_BYTES, entry.file_size)
        if math.prod(max(count, 1) for count in shape) * max(kind.itemsize, 1) > most:
            raise ValueError(f"{place} of shape {shape} holds no data but claims more rows than a recording has")
        stream.seek(0)
        values: np.ndarray = npy.read_array(stream, allow_pickle=False)
        if kind.kind == "U" and kind.itemsize and (values.ravel().view(f"{kind.byteorder}u4") > sys.maxunicode).any():
            raise ValueError(f"{place} holds numbers that are no characters")
        if stream.read(1):  # also reads to the end, where the checksum is verified
            raise ValueError(f"{place} does not have the size in its header")
        return values
