"""Fixtures of the command line's tests."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from solver.cli.options import PROGRESS


@pytest.fixture(autouse=True)
def steps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The progress of the latest verb, if it is not shown: it stays within 0 and 1 and never falls."""
    reached: list[float] = []

    def progress(fraction: float, message: str) -> None:
        assert max([0.0, *reached]) <= fraction <= 1.0, message
        reached.append(fraction)

    monkeypatch.setitem(PROGRESS, "none", lambda: reached.clear() or nullcontext(progress))  # type: ignore[func-returns-value]
    return reached
