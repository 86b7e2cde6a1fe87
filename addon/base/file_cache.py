"""Cache of files that are drawn over the editors; once a second it checks whether they have changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
CHECK_INTERVAL = 1.0
"""[s] Interval between checks of a file's time of change, which takes longer than drawing on a network drive."""


@dataclass(slots=True)
class FileCache(Generic[T]):
    """Contents of files of one kind.

    Attributes:
        read: reads a file; None if there is nothing to draw.
    """

    read: Callable[[Path], T | None]
    _entries: dict[Path, tuple[float, float | None, T | None]] = field(default_factory=dict)
    """By file: when it was checked [s], its time of change (None: no file), and its contents."""

    def get(self, path: Path) -> T | None:
        """Contents of a file; None if there is no file or nothing to draw."""
        now = time.monotonic()
        looked, changed, value = self._entries.get(path, (-CHECK_INTERVAL, None, None))
        if now - looked >= CHECK_INTERVAL:
            before, changed = changed, _modification_time(path)
            if changed != before:
                value = None if changed is None else self.read(path)
            self._entries[path] = now, changed, value
        return value

    def __post_init__(self) -> None:
        CACHES.append(self)

    def clear(self) -> None:
        """Discard all contents."""
        self._entries.clear()


CACHES: list[FileCache] = []


def clear_caches() -> None:
    """Clear all caches, after a job that may have changed files."""
    for cache in CACHES:
        cache.clear()


def _modification_time(path: Path) -> float | None:
    """Time of change of a file; None if it does not exist."""
    try:
        return path.stat().st_mtime
    except OSError:
        return None
