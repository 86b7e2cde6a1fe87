"""Memory-mapped temporary files for long arrays, so that an hour of recording needs little more memory than a minute.

The arrays are used as any other. The system reclaims their pages when needed, `release_pages` does it at once. A file
is deleted with the last array that uses it, or at the end of the process, however that ends. If no file can be created,
or the disk is full, arrays stay in memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO
from weakref import WeakSet

import numpy as np

LONG = 2**23
"""Bytes of an array above which it is stored in a file."""
CACHED_FRAMES = 256
"""Frames computed at once, so that their arrays stay in the processor's cache. Chosen on 2,400 frames of HRP-2: for 64,
128, 256, 512 and 1,024 the regressor takes 34, 30, 31, 40 and 51 ms, the motion of all links 14, 13, 14, 15 and 18."""
LARGE_FILES = Path("/var/tmp")
"""Folder for large temporary files on POSIX: the default one may be in memory."""

_open: WeakSet[mmap.mmap] = WeakSet()


class FileRows:
    """Builds an array row by row, without copies of it in memory, and in a file if it is long."""

    def __init__(self, kind: type = float) -> None:
        self._kind = kind
        self._waiting: list[np.ndarray] = []
        self._file: IO[bytes] | None = None
        self._bytes = self._written = 0
        self._refused = False
        self._tail: tuple[int, ...] = ()

    def add(self, rows: np.ndarray) -> None:
        """Append rows (n, ...)."""
        rows = np.array(rows, self._kind, order="C")
        self._tail = rows.shape[1:]
        self._waiting.append(rows)
        self._bytes += rows.nbytes
        if not self._refused and self._bytes > LONG:
            self._put()
            release_pages()

    def finish(self) -> np.ndarray:
        """All rows (N, ...), read-only; nothing can be added to them."""
        if self._file is not None:
            result = self._mapped(self._file)
        else:
            result = np.concatenate(self._waiting) if self._waiting else np.zeros(0, self._kind)
            result.setflags(write=False)
        self._waiting, self._file = [], None
        return result

    def _put(self) -> None:
        """Write pending rows to the file; if that fails, read them back and stay in memory."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0, dir=_folder())  # noqa: SIM115 closed after mapping
            while self._waiting:
                left = self._waiting[0].reshape(-1).view(np.uint8).data
                while len(left):
                    left = left[self._file.write(left) :]
                self._written += self._waiting.pop(0).nbytes
        except OSError:
            self._refused = True
            if self._written and self._file is not None:
                self._waiting.insert(0, np.array(self._mapped(self._file)))
            self._file = None

    def _mapped(self, file: IO[bytes]) -> np.ndarray:
        with file:
            held = mmap.mmap(file.fileno(), self._written, access=mmap.ACCESS_READ)
        _open.add(held)
        return np.frombuffer(held, self._kind).reshape(-1, *self._tail)


def store(array: np.ndarray) -> np.ndarray:
    """A read-only copy of an array, in a file if it is long."""
    if array.nbytes <= LONG:
        result = np.array(array)
        result.setflags(write=False)
        return result
    return map_slices(len(array), lambda own: array[own], max(1, len(array) * LONG // (4 * array.nbytes)))


def is_stored(memory: object) -> bool:
    """Whether memory belongs to one of these read-only files."""
    owner = memory.obj if isinstance(memory, memoryview) else memory
    return isinstance(owner, mmap.mmap) and owner in _open


def release_pages() -> None:
    """Release the memory of all pages of these files, for use after a pass over an array; they are reread on access."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for held in list(_open):
            held.madvise(mmap.MADV_DONTNEED)


def cut_frames(count: int, rows: int = CACHED_FRAMES) -> Iterator[slice]:
    """Consecutive slices of ``count`` frames."""
    for start in range(0, count, rows):
        yield slice(start, min(start + rows, count))


def iterate_slices(count: int, rows: int = 2**14) -> Iterator[slice]:
    """Consecutive slices of ``count`` rows; pages of these files are released after each."""
    for own in cut_frames(count, rows):
        yield own
        release_pages()


def map_slices(count: int, function: Callable[[slice], np.ndarray], rows: int = 2**14) -> np.ndarray:
    """Rows (n, ...) of a function of consecutive slices, one below the other, in a file if they are long."""
    result: FileRows | None = None
    for own in iterate_slices(count, rows):
        piece = function(own)
        result = FileRows(piece.dtype.type) if result is None else result
        result.add(piece)
    return np.zeros(0) if result is None else result.finish()


def every(array: np.ndarray, step: int) -> np.ndarray:
    """Every so manieth row of an array that may lie in a file, whose pages would stay in memory if taken at once."""
    return map_slices(len(array), lambda own: array[own][-own.start % step :: step])


def _folder() -> str | None:
    """Folder of temporary files: None (the default) if the user set TMPDIR, otherwise the system's for large files."""
    if os.environ.get("TMPDIR") or not os.access(LARGE_FILES, os.W_OK):
        return None
    return str(LARGE_FILES)
