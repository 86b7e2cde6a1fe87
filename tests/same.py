"""Whether two values are the same, field by field: `==` does not tell where fields hold arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def differences(one: Any, other: Any, place: str = "value", *, tolerance: float = 0.0) -> list[str]:
    """Where two values differ, NaN being equal to NaN; numbers may differ by a tolerance."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape or one.dtype != other.dtype:
            return [f"{place}: {one.dtype}{one.shape} and {other.dtype}{other.shape}"]
        if one.dtype.kind != "f":
            return [] if np.array_equal(one, other) else [f"{place}: entries differ"]
        return [] if np.allclose(one, other, rtol=0.0, atol=tolerance, equal_nan=True) else [f"{place}: entries differ"]
    if is_dataclass(one) and type(one) is type(other):
        names = [f.name for f in fields(one) if f.compare]
        return [d for n in names for d in differences(getattr(one, n), getattr(other, n), f"{place}.{n}",
                                                      tolerance=tolerance)]  # fmt: skip
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if list(one) != list(other):
            return [f"{place}: names {list(one)} and {list(other)}"]
        return [d for n in one for d in differences(one[n], other[n], f"{place}[{n!r}]", tolerance=tolerance)]
    if type(one) is not type(other):
        return [f"{place}: {type(one).__name__} and {type(other).__name__}"]
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return [f"{place}: {len(one)} and {len(other)} entries"]
        return [d for i, (a, b) in enumerate(zip(one, other)) for d in differences(a, b, f"{place}[{i}]",
                                                                                   tolerance=tolerance)]  # fmt: skip
    if isinstance(one, float):
        return differences(np.array(one), np.array(other), place, tolerance=tolerance)
    return [] if one == other else [f"{place}: {one!r} and {other!r}"]
