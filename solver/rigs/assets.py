"""Where the data of the built-in rigs lie, and how they are read."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

RIGS = Path(__file__).resolve().parents[2] / "assets" / "rigs"


@cache
def read_asset(name: str) -> dict[str, Any]:
    """The JSON file ``assets/rigs/<name>.json``; callers must not change it."""
    data: dict[str, Any] = json.loads((RIGS / f"{name}.json").read_text(encoding="utf-8"))
    return data
