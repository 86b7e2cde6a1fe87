"""Long arrays lie in files without a name, so that an hour of recording asks for little more memory than a minute.

What a file holds is read as any other array. The system takes the pages back that were read when it needs them, and
`let_go` gives them back at once. The files are gone with the last array that looks at them, or with the process,
however that ends. Where no such file can be had, or the disk is full, arrays stay in memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from weakref import WeakSet

import numpy as np

LONG = 2**23
"""Bytes of an array beyond which it lies in a file."""
LARGE_FILES = Path("/var/tmp")
"""Where large temporary files belong on POSIX: what else is temporary there may lie in memory."""

_open: WeakSet[mmap.mmap] = WeakSet()


class FileRows:
    """An array whose rows are found piece by piece; never held twice, and in a file where there are many."""

    def __init__(self, kind: type = float) -> None:
        self._kind = kind
        self._waiting: list[np.ndarray] = []
        self._file: IO[bytes] | None = None
        self._bytes = self._written = 0
        self._refused = False
        self._tail: tuple[int, ...] = ()

    def add(self, rows: np.ndarray) -> None:
        """Put rows (n, ...) behind those that are there."""
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
        """What waits into the file; back into memory, and there from now on, if that cannot be."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0, dir=_folder())  # noqa: SIM115 closed once it is mapped
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
    """A read-only copy of an array, in a file where it is long."""
    if array.nbytes <= LONG:
        result = np.array(array)
        result.setflags(write=False)
        return result
    rows, step = FileRows(array.dtype.type), max(1, len(array) * LONG // (4 * array.nbytes))
    for start in range(0, len(array), step):
        rows.add(array[start : start + step])
    return rows.finish()


def is_stored(memory: object) -> bool:
    """Whether that is the memory of one of these files, which nobody can write to."""
    owner = memory.obj if isinstance(memory, memoryview) else memory
    return isinstance(owner, mmap.mmap) and owner in _open


def release_pages() -> None:
    """Give all pages of these files back, which are read anew when they are looked at: for after a pass over one."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for held in list(_open):
            held.madvise(mmap.MADV_DONTNEED)


def iterate_slices(count: int, rows: int = 2**14) -> Iterator[slice]:
    """Places of ``count`` rows, so many at a time, in order; what was read of these files goes back after each."""
    for start in range(0, count, rows):
        yield slice(start, min(start + rows, count))
        release_pages()


def _folder() -> str | None:
    """Where the user says, or the system's place for large files; None: wherever temporary files go."""
    if os.environ.get("TMPDIR") or not os.access(LARGE_FILES, os.W_OK):
        return None
    return str(LARGE_FILES)
