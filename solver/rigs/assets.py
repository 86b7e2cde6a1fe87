"""Reading the data files of the built-in rigs."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ..assets import ASSETS


@cache
def read_asset(name: str) -> dict[str, Any]:
    """The JSON file ``assets/rigs/<name>.json``; callers must not change it."""
    data: dict[str, Any] = json.loads((ASSETS / "rigs" / f"{name}.json").read_text(encoding="utf-8"))
    return data
