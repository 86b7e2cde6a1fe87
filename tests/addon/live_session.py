"""Runs a live check without a window."""

from __future__ import annotations

import time
from collections.abc import Callable

from addon.live.session import CheckSession

PATIENCE = 90.0
"""[s] A busy machine starts a child in some."""


def until(session: CheckSession, reached: Callable[[], bool]) -> None:
    """Poll repeatedly, as the window's timer does."""
    stop = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < stop, session.problem or "the child takes too long"
        session.tick()
        time.sleep(0.02)
