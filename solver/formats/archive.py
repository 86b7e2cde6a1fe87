"""NumPy archives (.npz) read with care: sizes are known before anything is unpacked, and nothing is ever unpickled."""

from __future__ import annotations

import io
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
from .text import check_file

SUFFIX = ".npy"
LARGEST = 4 << 30
"""Bytes of all entries together, unpacked: an hour of motion at 500 Hz takes about one gigabyte."""
DAMAGED = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, EOFError, RuntimeError, MemoryError,
           ArithmeticError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error)  # fmt: skip
"""What reading a damaged archive raises, wherever the damage lies."""


def is_archive(head: bytes) -> bool:
    """Whether a file that begins so is an archive."""
    return head.startswith(b"PK")


def read_archive(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, bytes]]:
    """The arrays of an archive, and its other entries as bytes.

    Raises:
        InputError: missing, damaged, too large, or holding objects.
    """
    remedy = "Write it again with the program that made it, without objects"
    arrays, others = {}, {}
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if (size := sum(entry.file_size for entry in entries)) > LARGEST:
                raise InputError(path, f"unpacks to {size / 2**30:.1f} GB", remedy="Cut it into shorter pieces")
            for entry in entries:
                content = archive.read(entry)
                if entry.filename.endswith(SUFFIX):
                    arrays[entry.filename.removesuffix(SUFFIX)] = _array(path, entry.filename, content)
                else:
                    others[entry.filename] = content
    except InputError:
        raise
    except DAMAGED as error:
        problem = f"is not a readable .npz archive: {' '.join(str(error).split()) or type(error).__name__}"
        raise InputError(path, problem, remedy=remedy) from error
    return arrays, others


def write_archive(
    stream: IO[bytes], arrays: Mapping[str, np.ndarray], others: Mapping[str, bytes], *, compressed: bool = True
) -> None:
    """Arrays and other entries as one archive that `numpy.load` reads too."""
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in others.items():
            with archive.open(name, "w") as entry:
                entry.write(content)
        for name, array in arrays.items():
            with archive.open(f"{name}{SUFFIX}", "w", force_zip64=True) as entry:
                npy.write_array(entry, np.asanyarray(array), allow_pickle=False)


def _array(path: str | Path, name: str, content: bytes) -> np.ndarray:
    """An array whose bytes have passed the archive's check sum; its header must tell just as many as there are."""
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise InputError(path, f"has an array of format {version}", place=f"array {name}", remedy="Write it again")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, kind = read_header(stream)
    if kind.hasobject:
        remedy = "Write it again with numpy.savez, without objects"
        raise InputError(path, "holds objects, which are not read", place=f"array {name}", remedy=remedy)
    start = stream.tell()
    if any(size < 0 for size in shape) or math.prod(shape) * kind.itemsize != len(content) - start:
        raise ValueError(f"array {name} does not have the size that its header tells")
    values: np.ndarray = np.ndarray(shape, kind, content, start, order="F" if by_columns else "C")
    return values.copy(order="F" if by_columns else "C")
