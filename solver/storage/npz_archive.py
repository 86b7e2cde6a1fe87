"""Safe reading of NumPy archives (.npz): sizes are checked before unpacking, and nothing is unpickled."""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ..errors import InputError
from ..files import check_file, first_bytes

NPY_SUFFIX = ".npy"
ZIP_MAGIC = b"PK"
MAX_TOTAL_BYTES = 4 << 30
"""[bytes] Unpacked size of all entries together; an hour of motion at 500 Hz takes about one gigabyte."""
ALWAYS_ALLOWED_BYTES = 128 << 20
"""[bytes] Unpacked size that is accepted however small the archive is: half an hour of nearly still motion."""
MAX_COMPRESSION_RATIO = 50
"""Largest accepted ratio of unpacked to packed size beyond that. Recordings and tracked motions have a ratio of one to
five; zeros alone reach a thousand."""
MAX_ENTRIES = 100_000
BLOCK_BYTES = 1 << 24
"""[bytes] Unpacked at a time, so that an array is never in memory twice."""
REMEDY = "Write it again with the program that made it, without objects"
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


def read_archive(path: str | Path, *, skip_objects: bool = False) -> tuple[dict[str, np.ndarray], dict[str, bytes]]:
    """Read the arrays of an archive, and its other entries as bytes.

    With ``skip_objects``, arrays of objects are returned empty instead of being refused.

    Raises:
        InputError: missing or damaged; unpacks to more than `MAX_TOTAL_BYTES`, or to more than `ALWAYS_ALLOWED_BYTES`
            and `MAX_COMPRESSION_RATIO` times its size; holds objects, or two entries of one name.
    """
    size = check_file(path)
    arrays, others = {}, {}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_entries(path, entries, size)
            for entry in entries:
                if entry.filename.endswith(NPY_SUFFIX):
                    with archive.open(entry) as stream:
                        name = entry.filename.removesuffix(NPY_SUFFIX)
                        arrays[name] = _read_array(path, entry, stream, skip_objects=skip_objects)
                else:
                    others[entry.filename] = archive.read(entry)
    except InputError:
        raise
    except READ_ERRORS as error:
        problem = f"is not a readable .npz archive: {' '.join(str(error).split()) or type(error).__name__}"
        raise InputError(path, problem, remedy=REMEDY) from error
    return arrays, others


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


def object_array_error(path: str | Path, place: str) -> InputError:
    """The error for an array of objects, which only unpickling, and thus running code from the file, could read."""
    remedy = "Write it again with numpy.savez, without objects"
    return InputError(path, "holds objects, which are not read", place=place, remedy=remedy)


def write_archive(
    stream: IO[bytes], arrays: Mapping[str, np.ndarray], others: Mapping[str, bytes], *, compressed: bool = True
) -> None:
    """Write arrays and other entries to an empty stream as one archive that `numpy.load` can also read.

    The archive is not compressed if its compression ratio would exceed what `read_archive` accepts.
    """
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in others.items():
            with archive.open(name, "w") as entry:
                entry.write(content)
        for name, array in arrays.items():
            with archive.open(f"{name}{NPY_SUFFIX}", "w", force_zip64=True) as entry:
                npy.write_array(entry, np.asanyarray(array), allow_pickle=False)
        whole = sum(entry.file_size for entry in archive.infolist())
    if compressed and whole > _max_unpacked_bytes(stream.tell()):
        stream.seek(0)
        stream.truncate()
        write_archive(stream, arrays, others, compressed=False)


def _max_unpacked_bytes(size: int) -> int:
    """Largest accepted unpacked size [bytes] of a file of ``size`` bytes."""
    return max(ALWAYS_ALLOWED_BYTES, MAX_COMPRESSION_RATIO * size)


def _check_entries(path: str | Path, entries: list[zipfile.ZipInfo], size: int) -> None:
    """Check the entry headers of an archive of ``size`` bytes before anything is unpacked."""
    if len(entries) > MAX_ENTRIES:
        raise InputError(path, f"holds {len(entries)} entries", remedy=REMEDY)
    names = {entry.filename for entry in entries}
    if len(names) < len(entries):
        raise InputError(path, "holds two entries of one name", remedy=REMEDY)
    whole = sum(entry.file_size for entry in entries)
    if whole > MAX_TOTAL_BYTES:
        raise InputError(path, f"unpacks to {whole / 2**30:.1f} GB", remedy="Split it into shorter recordings")
    if whole > _max_unpacked_bytes(size):
        problem = f"unpacks to {whole / 2**20:.0f} MB, {whole / size:.0f} times its size, unlike any recording"
        raise InputError(path, problem, remedy="If that is intended, write it without compression (numpy.savez)")


def _read_array(path: str | Path, entry: zipfile.ZipInfo, stream: IO[bytes], *, skip_objects: bool) -> np.ndarray:
    """Read an array whose number of bytes must agree with its header; zipfile verifies the checksum."""
    place = f"array {entry.filename}"
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise InputError(path, f"has an array of format {version}", place=place, remedy="Write it again")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, kind = read_header(stream)
    if kind.hasobject:
        if skip_objects:
            return np.empty(0, object)
        raise object_array_error(path, place)
    if any(size < 0 for size in shape) or math.prod(shape) * kind.itemsize != entry.file_size - stream.tell():
        raise ValueError(f"{place} does not have the size in its header")
    # With an axis of length zero, or entries of zero bytes, the other axes could have any length.
    if math.prod(max(size, 1) for size in shape) * max(kind.itemsize, 1) > max(ALWAYS_ALLOWED_BYTES, entry.file_size):
        raise ValueError(f"{place} of shape {shape} holds no data but claims more rows than a recording has")
    values: np.ndarray = np.empty(shape, kind, order="F" if by_columns else "C")
    content = memoryview(values.reshape(-1, order="A").view(np.uint8).data if values.nbytes else b"")
    filled = 0
    while filled < len(content):
        count = stream.readinto(content[filled : filled + BLOCK_BYTES])  # type: ignore[attr-defined]
        if not count:
            raise EOFError(f"{place} ends early")
        filled += count
    if stream.read(1):
        raise ValueError(f"{place} does not have the size in its header")
    return values
