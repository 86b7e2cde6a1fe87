"""Which links mirror each other: by their names, confirmed by where they are."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

POSITION_TOLERANCE = 0.02
"""Mirrored joint origins may differ by this share of the body's extent."""
_RULES = (
    (re.compile("left"), "right"),
    (re.compile("Left"), "Right"),
    (re.compile("LEFT"), "RIGHT"),
    (re.compile(r"(?<![A-Za-z])l(?![A-Za-z])"), "r"),
    (re.compile(r"(?<![A-Za-z])L(?![A-Za-z])"), "R"),
    (re.compile(r"^L(?=[A-Z])"), "R"),
    (re.compile(r"^l(?=[A-Za-z])"), "r"),
    (re.compile(r"(?<=[a-z])L$"), "R"),
    (re.compile(r"(?<=[a-z])l(?![A-Za-z])"), "r"),
    (re.compile(r"(?<=[A-Z])L(?![A-Za-z])"), "R"),
)
"""Left-hand spelling and its right-hand counterpart."""


def right_name(name: str, names: Collection[str]) -> str | None:
    """Counterpart of a left-hand name among ``names``: left/right, l_/r_, _l/_r, L/R, legl/legr; None without one."""
    for pattern, replacement in _RULES:
        for count in (0, 1):  # all places, or the first one alone
            candidate = pattern.sub(replacement, name, count=count)
            if candidate != name and candidate in names:
                return candidate
    return None


def named_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """(left, right) names."""
    known = set(names)
    found = [(name, right_name(name, known)) for name in names]
    return [(left, right) for left, right in found if right is not None]


def mirrored_pairs(
    pairs: Sequence[tuple[str, str]], positions: dict[str, np.ndarray]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Pairs whose origins mirror each other in one plane, and those that do not.

    Every pair proposes the plane between its two origins; the plane that most pairs agree with counts.

    Args:
        pairs: (left, right) names.
        positions: (3,) [m] of every link's origin in one frame, all joints at zero.
    """
    lefts = np.array([positions[left] for left, _ in pairs]).reshape(-1, 3)
    rights = np.array([positions[right] for _, right in pairs]).reshape(-1, 3)
    everything = np.array(list(positions.values()))
    tolerance = POSITION_TOLERANCE * float(np.linalg.norm(np.ptp(everything, axis=0)))
    best = np.zeros(len(pairs), bool)
    for across, middle in zip(lefts - rights, (lefts + rights) / 2):
        length = float(np.linalg.norm(across))
        if length <= tolerance:
            continue
        normal = across / length
        mirrored = rights - 2 * np.outer((rights - middle) @ normal, normal)
        good = np.linalg.norm(mirrored - lefts, axis=1) <= tolerance
        if good.sum() > best.sum():
            best = good
    return [p for p, g in zip(pairs, best) if g], [p for p, g in zip(pairs, best) if not g]
