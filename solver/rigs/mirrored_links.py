"""Pairs of left and right links, by their names and confirmed by their positions."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from ..values.joints import Joint, Limits

POSITION_TOLERANCE = 0.02
"""Largest deviation of mirrored joint origins, relative to the body's extent. Measured on the models of
`soles.MIN_FLAT_FRACTION`: a tenth and twice the value pair the same links, ten times leaves those of two unpaired."""
_SIDE_SPELLINGS = (
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
"""Patterns of a left-hand name, and the replacement in the right-hand one."""
MIN_AXIS_COSINE = 0.9
"""Smallest cosine of the angle between axes that mirror each other. Measured on the models of
`soles.MIN_FLAT_FRACTION`: half the value pairs the same links."""
MIN_RANGE_ASYMMETRY = 0.5
"""[rad] Smallest asymmetry of a range that determines the direction in which a joint bends. Measured on the models of
`soles.MIN_FLAT_FRACTION`: a tenth and ten times the value pair the same links."""


def right_name(name: str, names: Collection[str]) -> str | None:
    """Counterpart of a left-hand name among ``names``: left/right, l_/r_, _l/_r, L/R, legl/legr; None without one."""
    for pattern, replacement in _SIDE_SPELLINGS:
        for count in (0, 1):  # all occurrences, or only the first one
            candidate = pattern.sub(replacement, name, count=count)
            if candidate != name and candidate in names:
                return candidate
    return None


def pairs_by_name(names: Sequence[str]) -> list[tuple[str, str]]:
    """(left, right) names."""
    known = set(names)
    found = [(name, right_name(name, known)) for name in names]
    return [(left, right) for left, right in found if right is not None]


def split_mirrored(
    pairs: Sequence[tuple[str, str]], positions: dict[str, np.ndarray]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Split pairs into those whose origins mirror each other in one plane, and the others.

    Every pair proposes the plane between its two origins; the plane with which most pairs agree is used.

    Args:
        pairs: (left, right) names.
        positions: (3,) [m] of every link's origin in one frame, all joints at zero.
    """
    lefts = np.array([positions[left] for left, _ in pairs]).reshape(-1, 3)
    rights = np.array([positions[right] for _, right in pairs]).reshape(-1, 3)
    tolerance = POSITION_TOLERANCE * float(np.linalg.norm(np.ptp(np.array(list(positions.values())), axis=0)))
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


def find_opposed_joints(
    pairs: Sequence[tuple[str, str]],
    joints: Sequence[Joint],
    links: Sequence[str],
    rest: tuple[np.ndarray, np.ndarray],
    limits: Limits,
) -> list[str]:
    """Left joints whose range bends in the opposite direction to that of their right counterparts.

    Args:
        pairs: (left, right) links that mirror each other.
        joints: L, which move the links.
        links: L names.
        rest: axes (L, 3, 3) and origins (L, 3) [m] of the links, every joint at zero.
        limits: of the joints' coordinates.
    """
    firsts = np.cumsum([0, *(joint.nv for joint in joints[1:])])
    turns, origins = rest
    result = []
    for left, right in pairs:
        one, other = links.index(left), links.index(right)
        across = origins[one] - origins[other]
        distance = float(np.linalg.norm(across))
        if min(one, other) == 0 or {joints[one].kind, joints[other].kind} != {"revolute"} or distance == 0.0:
            continue
        normal = across / distance
        axes = [turns[k] @ joints[k].axes[0] for k in (one, other)]
        cosine = float(axes[0] @ (2.0 * (axes[1] @ normal) * normal - axes[1]))  # reflected as axial vectors
        if abs(cosine) < MIN_AXIS_COSINE:
            continue
        ways = []
        for k, sign in ((one, 1.0), (other, np.sign(cosine))):
            low, high = limits.lower[firsts[k - 1]], limits.upper[firsts[k - 1]]
            ways.append(float(sign * (low + high)) if np.isfinite([low, high]).all() else 0.0)
        if min(map(abs, ways)) > MIN_RANGE_ASYMMETRY and ways[0] * ways[1] < 0.0:
            result.append(joints[one].name)
    return result
