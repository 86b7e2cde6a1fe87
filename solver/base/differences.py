"""Exact differences of two values: data classes, mappings, sequences, arrays, text and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def differences(one: Any, other: Any, place: str = "") -> tuple[str, ...]:
    """Differences, one sentence for each location such as ``"limits.torque"``; empty for equal values.

    NaN equals NaN; a tuple equals a list of the same entries, an array only an array.
    """
    called = place or "the value"
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _arrays(one, other, called)
    if is_dataclass(one) and type(one) is type(other):
        parts = ((f.name, getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare)
        dot = "." if place else ""
        return tuple(text for name, a, b in parts for text in differences(a, b, f"{place}{dot}{name}"))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if odd := sorted(map(str, one.keys() ^ other.keys())):
            return (f"{called}: only one of them has {', '.join(odd)}",)
        return tuple(text for key in one for text in differences(one[key], other[key], f"{place}[{key!r}]"))
    if _listed(one) and _listed(other):
        if len(one) != len(other):
            return (f"{called}: {len(one)} and {len(other)} entries",)
        return tuple(text for k, (a, b) in enumerate(zip(one, other)) for text in differences(a, b, f"{place}[{k}]"))
    same = one == other or (one != one and other != other)
    return () if same else (f"{called}: {one!r} and {other!r}",)


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _arrays(one: Any, other: Any, called: str) -> tuple[str, ...]:
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return (f"{called}: an array and a {type(other if isinstance(one, np.ndarray) else one).__name__}",)
    if one.shape != other.shape:
        return (f"{called}: shapes {one.shape} and {other.shape}",)
    different = ~((one == other) | ((one != one) & (other != other)))
    if not different.any():
        return ()
    with np.errstate(invalid="ignore"):
        size = f", by at most {np.abs(one[different] - other[different]).max():.3g}" if one.dtype.kind == "f" else ""
    return (f"{called}: {int(different.sum())} of {different.size} numbers differ{size}",)
