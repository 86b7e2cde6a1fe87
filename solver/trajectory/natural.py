"""The posture that dances start from: the rig's own, with the arms moved aside where they touch something."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..check_options import CheckOptions
from ..coordinates import joint_places, to_flat, to_manifold
from ..feasibility.collisions import CollisionDetector
from ..rig import ROOT_NV, Rig

POSTURES = ("standing", "half_sitting")
"""Rig parameters that hold a natural posture (nq,); its trunk and arms are taken for home."""
CLEAR = 0.03
"""Share of a joint's range by which home keeps off its ends."""
ASIDE = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
"""[rad, or a tenth of it in m] by which joints are turned at most to bring links apart, least first."""
TRIES = 64
"""Postures that are tried with each."""
TOUCHING = 0.002
"""[m] Links that are apart by less, beyond the clearance, are brought apart: searches keep as much."""
MIRRORED = ("revolute", "continuous", "prismatic", "spherical")
"""Kinds of joints that are moved alike on both sides."""
GAPS = (0.025, 0.012, 0.005)
"""[m] by which they are apart then, the first that can be had; distances are not measured much farther."""


def natural_posture(rig: Rig) -> np.ndarray:
    """Flat coordinates (nv,) of the rig's own natural posture, within its joints' ranges, root at the origin."""
    y = np.zeros(rig.nv)
    own = next((rig.provenance[name] for name in POSTURES if name in rig.provenance), None)
    if own is not None:
        y = to_flat(rig, np.array(own, float))
        y[:ROOT_NV] = 0.0
    lower, upper = _ranges(rig)
    y[ROOT_NV:] = np.clip(y[ROOT_NV:], lower, upper)
    return y


@lru_cache(maxsize=16)
def clear_posture(rig: Rig, options: CheckOptions, posture: tuple[float, ...], still: tuple[int, ...]) -> np.ndarray:
    """A posture (nv,) with its arms moved aside by as little as brings all links apart; as it is where nothing does.

    Left and right stay mirrored.

    Args:
        rig: whose posture.
        options: which links must be apart, and by how much.
        posture: (nv,) flat coordinates.
        still: columns that do not move: those of legs, which their feet place, and of joints that are held.
    """
    y = np.array(posture)
    detector = _detector(rig, options)
    touching = _apart(rig, detector, y[None])[0] < options.clearance + TOUCHING
    if not touching.any():
        return y
    free = np.zeros(rig.nv, bool)
    limbs = [rig.index(link) for pair in rig.pairs for link in pair]
    for pair in np.flatnonzero(touching):
        between = _between(rig, *detector.pairs[pair])
        # limbs rather than the trunk, which would lean and carry everything along
        moved = [link for link in between if link in limbs] or between
        free[[column for link in moved for column in range(rig.nv)[joint_places(rig)[link][2]]]] = True
    free[list(still)] = False
    lower, upper = _ranges(rig)
    generator = np.random.default_rng(0)
    ends = np.r_[y[:ROOT_NV], lower], np.r_[y[:ROOT_NV], upper]
    wide = touching & (detector.forgiven == 0.0)  # links in each other's sockets never part by much
    for gap in GAPS:
        near = options.clearance + np.where(wide, min(gap, options.reach - options.clearance), TOUCHING)
        best, found = -np.inf, y
        for size in ASIDE:
            moves = generator.uniform(-size, size, (TRIES, rig.nv)) * free
            moves[:, _lengths(rig)] *= 0.1
            tries = np.tile(found, (TRIES, 1))
            tries[:, free] = np.clip(tries + _mirrored(rig, moves), *ends)[:, free]
            missing = np.minimum(_apart(rig, detector, tries) - near, 0.0).sum(axis=1)
            score = np.where(missing == 0.0, 1.0 / (1.0 + ((tries - y) ** 2).sum(axis=1)), missing)
            if score.max() > best:
                best, found = float(score.max()), tries[int(np.argmax(score))]
            if best > 0.0:
                return found
    return y


@lru_cache(maxsize=4)
def _detector(rig: Rig, options: CheckOptions) -> CollisionDetector:
    return CollisionDetector(rig, options)


def _ranges(rig: Rig) -> tuple[np.ndarray, np.ndarray]:
    """(nv - 6,) joint ranges without their ends."""
    inside = CLEAR * np.nan_to_num(rig.limits.upper - rig.limits.lower, posinf=0.0)
    return rig.limits.lower + inside, rig.limits.upper - inside


def _apart(rig: Rig, detector: CollisionDetector, y: np.ndarray) -> np.ndarray:
    """(N, P) [m] distances of the detector's pairs in flat coordinates (N, nv)."""
    none = np.zeros_like(y)
    return detector.least(to_manifold(rig, y, none, none).q)


def _between(rig: Rig, one: str, other: str) -> list[int]:
    """Links whose joints lie on the way from one link to another."""
    return sorted(set(rig.path(rig.index(one))) ^ set(rig.path(rig.index(other))))


def _lengths(rig: Rig) -> np.ndarray:
    return np.array([j.kind == "prismatic" for j, _, moves in joint_places(rig) for _ in range(rig.nv)[moves]], bool)


def _mirrored(rig: Rig, moves: np.ndarray) -> np.ndarray:
    """Moves (N, nv) whose right half mirrors the left one, of joints that turn or slide alike on both sides."""
    result = np.array(moves)
    places, (turns, origins) = joint_places(rig), rig.rest
    for left, right in ((rig.index(a), rig.index(b)) for a, b in rig.pairs):
        one, other = rig.joints[left], rig.joints[right]
        across = origins[left] - origins[right]
        size = float(np.linalg.norm(across))
        if one.kind != other.kind or one.kind not in MIRRORED or size < GAPS[-1]:
            continue
        mirror = np.eye(3) - 2.0 * np.outer(across, across) / size**2
        if one.kind != "prismatic":
            mirror = -mirror  # a mirrored turn turns the other way
        there, here = (turns[k] @ (j.axes.T if len(j.axes) else np.eye(3)) for k, j in ((left, one), (right, other)))
        # moves n, axes i of the right joint, axes j of the left one
        result[:, places[right][2]] = np.einsum("ij,nj->ni", here.T @ mirror @ there, moves[:, places[left][2]])
    return result
