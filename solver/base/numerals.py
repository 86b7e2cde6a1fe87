"""Parsing of numbers in files."""

from __future__ import annotations

from math import isfinite

PLAIN = frozenset("0123456789+-.eE")
"""Characters of a number; Python's float also takes 1_000, other scripts' digits, infinity and NaN."""


def numeral(text: str) -> float:
    """The finite number of a text.

    Raises:
        ValueError: not a number, or too large for a double.
    """
    if not PLAIN.issuperset(text):
        raise ValueError(f"{text!r} is not a number")
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text!r} is too large")
    return value
