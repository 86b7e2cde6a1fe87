"""NumPy archives (.npz) read with care: sizes are known before anything is unpacked, and nothing is ever unpickled."""

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
"""Bytes of all entries together, unpacked: an hour of motion at 500 Hz takes about one gigabyte."""
ALWAYS_ALLOWED_BYTES = 128 << 20
"""Bytes that every archive may unpack to, however small it is: half an hour of a dance that hardly moves."""
MAX_COMPRESSION_RATIO = 50
"""Times the bytes of the file that a larger one may unpack to. Recordings, and motions tracked from them, unpack to
one to five times theirs; zeros alone to a thousand times."""
MAX_ENTRIES = 100_000
BLOCK_BYTES = 1 << 24
"""Bytes unpacked at once, so that an array is not held twice."""
REMEDY = "Write it again with the program that made it, without objects"
READ_ERRORS = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, EOFError, RuntimeError,
    MemoryError,
           ArithmeticError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error)  # fmt: skip
"""What reading a damaged archive raises, wherever the damage lies."""


def is_archive(path: str | Path) -> bool:
    """Whether a file begins as an archive does.

    Raises:
        InputError: it cannot be read.
    """
    return first_bytes(path, len(ZIP_MAGIC)) == ZIP_MAGIC


def read_archive(path: str | Path, *, skip_objects: bool = False) -> tuple[dict[str, np.ndarray], dict[str, bytes]]:
    """The arrays of an archive, and its other entries as bytes.

    Of a ``foreign`` one, which may hold more than is asked for, arrays of objects come without their entries.

    Raises:
        InputError: missing, damaged, unpacking to more than `LARGEST` bytes or, beyond `ALWAYS_ALLOWED_BYTES`, than
            `MAX_COMPRESSION_RATIO` times its own; holding objects, or two entries of one name.
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
    """Names of an archive's arrays and other entries, of which none is unpacked; None of a damaged archive.

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
    """The refusal of an array that only unpickling, which runs what it finds, would read."""
    remedy = "Write it again with numpy.savez, without objects"
    return InputError(path, "holds objects, which are not read", place=place, remedy=remedy)


def write_archive(
    stream: IO[bytes], arrays: Mapping[str, np.ndarray], others: Mapping[str, bytes], *, compressed: bool = True
) -> None:
    """Arrays and other entries as one archive that `numpy.load` reads too, on a stream that holds nothing yet.

    What compression makes so small that `read_archive` would doubt it is written without.
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
    """Bytes that a file of ``size`` bytes may unpack to."""
    return max(ALWAYS_ALLOWED_BYTES, MAX_COMPRESSION_RATIO * size)


def _check_entries(path: str | Path, entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse what its headers tell of an archive of ``size`` bytes, before anything is unpacked."""
    if len(entries) > MAX_ENTRIES:
        raise InputError(path, f"holds {len(entries)} entries", remedy=REMEDY)
    names = {entry.filename for entry in entries}
    if len(names) < len(entries):
        raise InputError(path, "holds two entries of one name", remedy=REMEDY)
    whole = sum(entry.file_size for entry in entries)
    if whole > MAX_TOTAL_BYTES:
        raise InputError(path, f"unpacks to {whole / 2**30:.1f} GB", remedy="Cut it into shorter pieces")
    if whole > _max_unpacked_bytes(size):
        problem = f"unpacks to {whole / 2**20:.0f} MB, {whole / size:.0f} times its size, as no recording does"
        raise InputError(path, problem, remedy="Write it without compression (numpy.savez) if it is meant so")


def _read_array(path: str | Path, entry: zipfile.ZipInfo, stream: IO[bytes], *, skip_objects: bool) -> np.ndarray:
    """An array whose bytes pass the archive's check sum; its header must tell just as many as there are."""
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
        raise ValueError(f"{place} does not have the size that its header tells")
    # an axis of length zero, or entries of no bytes, would let the others be of any length
    if math.prod(max(size, 1) for size in shape) * max(kind.itemsize, 1) > max(ALWAYS_ALLOWED_BYTES, entry.file_size):
        raise ValueError(f"{place} of shape {shape} is nothing in no end of rows")
    values: np.ndarray = np.empty(shape, kind, order="F" if by_columns else "C")
    content = memoryview(values.reshape(-1, order="A").view(np.uint8).data if values.nbytes else b"")
    filled = 0
    while filled < len(content):
        count = stream.readinto(content[filled : filled + BLOCK_BYTES])  # type: ignore[attr-defined]
        if not count:
            raise EOFError(f"{place} ends early")
        filled += count
    if stream.read(1):
        raise ValueError(f"{place} does not have the size that its header tells")
    return values
