"""Durations in words: how long a job takes or has left."""

from __future__ import annotations

MINUTE, HOUR = 60.0, 3600.0
"""[s]"""
ROUGHLY = 5.0
"""[s] Steps in which durations above it are given."""


def describe_duration(seconds: float) -> str:
    """A duration, rounded as roughly as it is known: ``"3 s"``, ``"40 s"``, ``"4 min"``, ``"2 h 10 min"``."""
    if seconds < 2.0 * ROUGHLY:
        return f"{max(round(seconds), 1)} s"
    if seconds < 2.0 * MINUTE:
        return f"{ROUGHLY * round(seconds / ROUGHLY):.0f} s"
    minutes = round(seconds / MINUTE)
    if seconds < HOUR:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
