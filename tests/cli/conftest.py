"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from solver.base.progress import Progress
from solver.cli.options import PROGRESS


@pytest.fixture(autouse=True)
def checked_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress that is not shown stays within 0 and 1 and never falls."""

    @contextmanager
    def checked() -> Iterator[Progress]:
        reached = 0.0

        def progress(fraction: float, message: str) -> None:
            nonlocal reached
            assert reached <= fraction <= 1.0, message
            reached = fraction

        yield progress

    monkeypatch.setitem(PROGRESS, "none", checked)
