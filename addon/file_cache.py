"""Files that are drawn over the editors: read once, and again after they changed, which is looked up once a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
CHECK_INTERVAL = 1.0
"""[s] between looks at a file's time of change: a network drive takes longer for it than drawing does."""


@dataclass(slots=True)
class FileCache(Generic[T]):
    """What files of one kind hold.

    Attributes:
        read: reads a file; None where there is nothing to draw.
    """

    read: Callable[[Path], T | None]
    _entries: dict[Path, tuple[float, float | None, T | None]] = field(default_factory=dict)
    """Of each file: when it was looked at [s], its time of change (None: no file), and what it holds."""

    def get(self, path: Path) -> T | None:
        """What a file holds; None where there is none, or nothing to draw."""
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
        """Read again from now on."""
        self._entries.clear()


CACHES: list[FileCache] = []


def clear_caches() -> None:
    """Forget what all files hold, after a job that may have written them."""
    for cache in CACHES:
        cache.clear()


def _modification_time(path: Path) -> float | None:
    """Time of change of a file; None without one."""
    try:
        return path.stat().st_mtime
    except OSError:
        return None
