"""Laws of long arrays in files."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from solver.base.arrays import frozen
from solver.base.errors import InvalidValue
from solver.base.file_arrays import LONG, FileRows, is_stored, release_pages, store

COLUMNS = 1000
MANY = LONG // (8 * COLUMNS) + 500
"""Rows of a long array."""


def numbers(rows: int) -> np.ndarray:
    """(rows, COLUMNS) different values."""
    return np.arange(rows * COLUMNS, dtype=float).reshape(rows, COLUMNS)


def owner(array: np.ndarray) -> object:
    """Owner of an array's memory."""
    part: object = array
    while isinstance(part, np.ndarray):
        part = part.base
    return part


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """A disk with a limit of bytes per file."""
    import resource  # POSIX alone

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    told = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, told)


def test_appended_rows_are_concatenated() -> None:
    """Rows appended in pieces give the whole array, whatever its length."""
    for rows in (10, MANY):
        whole, collected = numbers(rows), FileRows()
        for start in range(0, rows, 700):
            collected.add(whole[start : start + 700])
        found = collected.finish()
        assert np.array_equal(found, whole)
        assert is_stored(owner(found)) == (rows == MANY)
        assert not found.flags.writeable


def test_a_long_array_is_in_an_unnamed_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A long array is in a file without a directory entry, and is unchanged after its pages are released."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    whole = numbers(MANY)
    found = store(whole)
    if sys.platform != "win32":
        assert not list(tmp_path.iterdir())
    release_pages()
    assert np.array_equal(found, whole)
    whole[:] = 0.0
    assert found[-1, -1] == MANY * COLUMNS - 1
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1.0


def test_values_share_arrays_in_files() -> None:
    """A value made from a part of a long array has no copy of it."""
    whole = frozen("whole", numbers(MANY), (None, COLUMNS))
    part = frozen("part", whole[3 : MANY - 3], (None, COLUMNS))
    assert np.shares_memory(whole, part)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
def test_rows_stay_in_memory_if_the_disk_is_full() -> None:
    """If the disk is full, at the first or a later row, the array is complete nevertheless."""
    whole = numbers(2 * MANY)
    for room in (1000, LONG + 10_000_000):
        with files_end_at(room):
            collected = FileRows()
            for start in range(0, len(whole), 700):
                collected.add(whole[start : start + 700])
        found = collected.finish()
        assert np.array_equal(found, whole)
        assert not is_stored(owner(found))


def test_the_index_of_a_wrong_value_in_a_long_array_is_reported() -> None:
    """The error of a value that is not finite gives its index in the whole array, also beyond the first slice."""
    whole = np.zeros((70_000, 2))
    whole[66_000, 1] = np.nan
    with pytest.raises(InvalidValue, match=r"index \(66000, 1\)"):
        frozen("whole", whole, (None, 2))
