"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real recordings, which are not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real recordings are not at {SHARED_DATA}")
    return SHARED_DATA
