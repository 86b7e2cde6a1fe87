"""Fixtures of the command line's tests."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from solver.cli.options import PROGRESS


@pytest.fixture(autouse=True)
def steps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The progress that is not shown: it stays within 0 and 1 and never falls."""
    reached = [0.0]

    def progress(fraction: float, message: str) -> None:
        assert reached[-1] <= fraction <= 1.0, message
        reached.append(fraction)

    monkeypatch.setitem(PROGRESS, "none", lambda: nullcontext(progress))
    return reached
