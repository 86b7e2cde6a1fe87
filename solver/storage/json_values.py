"""Conversion of values to types that JSON has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidValue


def to_json_values(value: Any) -> Any:
    """Convert arrays, mappings, sequences, paths, enumerations and data classes to JSON types; NaN becomes None."""
    if isinstance(value, Enum):
        return to_json_values(value.value)
    if isinstance(value, np.ndarray):
        return to_json_values(value.tolist())
    if isinstance(value, np.generic):
        return to_json_values(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_json_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_values(entry) for entry in value]
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json_values(getattr(value, f.name)) for f in fields(value)}
    raise InvalidValue(f"a {type(value).__name__} cannot be converted to JSON")
