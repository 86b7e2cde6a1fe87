"""The posture that dances start from: the rig's own, with the arms moved aside where they touch something."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..check_options import CheckOptions
from ..contacts.schedule import Anchor, stance
from ..coordinates import at_rest, joint_places, to_flat, to_manifold, with_followers
from ..dynamics.mechanics import Mechanics
from ..feasibility.collisions import CollisionDetector
from ..feasibility.shapes import lowest_points
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
ROUNDED = 1e-6
"""[m] A toe that reaches no deeper below its sole lies on the floor."""
TURNS = 65
"""Angles at which a toe is looked at."""
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
    return _off_the_floor(rig, y)


def _off_the_floor(rig: Rig, y: np.ndarray) -> np.ndarray:
    """The posture (nv,) with toes that would reach below a level sole turned by as little as lifts them."""
    places, ends = joint_places(rig), [np.r_[y[:ROOT_NV], side] for side in _ranges(rig)]
    for anchor in stance(rig, "both") if len(rig.soles) > 1 else ():
        foot = rig.index(rig.patch(anchor.patch).link)
        for toe in np.flatnonzero(rig.below[foot])[1:]:
            columns = places[toe][2]
            if rig.joints[toe].nv != 1 or _above(rig, y[None], anchor, toe)[0] >= -ROUNDED:
                continue
            low, high = (np.clip(end[columns], -np.pi, np.pi) for end in ends)
            angles = low + np.linspace(0.0, 1.0, TURNS)[:, None] * (high - low)
            tries = np.tile(y, (TURNS, 1))
            tries[:, columns] = angles[np.argsort(np.abs(angles - y[columns])[:, 0], kind="stable")]
            heights = _above(rig, tries, anchor, toe)
            y = tries[int(np.argmax(heights >= min(ROUNDED, heights.max())))]
    return y


def _above(rig: Rig, y: np.ndarray, anchor: Anchor, toe: int) -> np.ndarray:
    """(N,) [m] height of a toe above the floor that its foot's level sole stands on, in flat coordinates (N, nv)."""
    curves = at_rest(rig, y)
    state = Mechanics(rig).state(curves.q, curves.v, curves.a)
    foot = rig.index(rig.patch(anchor.patch).link)
    # frames n, axes i of the world, axes j of the foot, axes k of the toe
    levelled = anchor.rotation @ state.rotation[:, foot].swapaxes(1, 2)
    turns = levelled @ state.rotation[:, toe]
    ways = state.position[:, toe] - state.position[:, foot]
    places = np.einsum("nij,nj->ni", levelled, ways) + anchor.position
    own = [shape for shape in rig.shapes if shape.link == rig.links[toe]]
    return np.min([lowest_points(shape, turns, places) for shape in own], axis=0) if own else np.full(len(y), np.inf)


@lru_cache(maxsize=16)
def clear_posture(rig: Rig, options: CheckOptions, posture: tuple[float, ...], still: tuple[int, ...]) -> np.ndarray:
    """A posture (nv,) with its arms moved aside by as little as brings all links apart; as it is where nothing does.

    Left and right stay mirrored; coupled joints, a fist's, follow their sources. What none of the joints that move
    brings apart, a thigh and the pelvis, stays as it is and is no reason to leave the arms.

    Args:
        rig: whose posture.
        options: which links must be apart, and by how much.
        posture: (nv,) flat coordinates.
        still: columns that do not move: those of legs, which their feet place, and of toes.
    """
    y = np.array(posture)
    detector = _detector(rig, options)
    touching = _apart(rig, detector, y[None])[0] < options.clearance + TOUCHING
    if not touching.any():
        return y
    free, stuck = np.zeros(rig.nv, bool), np.zeros(len(touching), bool)
    opposite = _opposite(rig)
    for pair in np.flatnonzero(touching):
        one, other = (rig.index(link) for link in detector.pairs[pair])
        moved = limbs_between(rig, one, other) or {_leader(rig, link) for link in _between(rig, one, other)}
        moved |= {opposite[link] for link in moved if link in opposite}  # what touches on one side only
        columns = [column for link in moved for column in range(rig.nv)[joint_places(rig)[link][2]]]
        free[columns] = True
        stuck[pair] = set(columns) <= set(still)
    free[list(still)] = False
    following = _followers(rig, free)
    lower, upper = _ranges(rig)
    generator = np.random.default_rng(0)
    ends = np.r_[y[:ROOT_NV], lower], np.r_[y[:ROOT_NV], upper]
    wide = touching & (detector.forgiven == 0.0)  # links in each other's sockets never part by much
    for gap in GAPS:
        near = options.clearance + np.where(wide, min(gap, options.reach - options.clearance), TOUCHING)
        near = np.where(stuck, -np.inf, near)
        best, found = -np.inf, y
        for size in ASIDE:
            moves = generator.uniform(-size, size, (TRIES, rig.nv)) * free
            moves[:, _lengths(rig)] *= 0.1
            tries = np.tile(found, (TRIES, 1))
            tries[:, free] = np.clip(tries + _mirrored(rig, moves), *ends)[:, free]
            tries[:, following] = np.clip(with_followers(rig, tries), *ends)[:, following]
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


def limbs_between(rig: Rig, one: int, other: int) -> set[int]:
    """Links of limbs whose joints move one link against another; of coupled joints those that lead.

    Not the trunk's, which would lean and carry everything along.
    """
    opposite = _opposite(rig)
    return {_leader(rig, link) for link in _between(rig, one, other) if link in opposite}


def _opposite(rig: Rig) -> dict[int, int]:
    """The link on the other side of each that has one."""
    sides = [(rig.index(left), rig.index(right)) for left, right in rig.pairs]
    return {one: other for pair in sides for one, other in (pair, pair[::-1])}


def _between(rig: Rig, one: int, other: int) -> list[int]:
    """Links whose joints lie on the way from one link to another."""
    return sorted(set(rig.path(one)) ^ set(rig.path(other)))


def _leader(rig: Rig, link: int) -> int:
    """The link whose joint moves a link's: its own, or that of what it is coupled to."""
    numbers = {joint.name: number for number, joint in enumerate(rig.joints)}
    seen = {link}
    while (mimic := rig.joints[link].mimic) is not None and numbers.get(mimic.source, link) not in seen:
        link = numbers[mimic.source]
        seen.add(link)
    return link


def _followers(rig: Rig, free: np.ndarray) -> np.ndarray:
    """(nv,) True for coordinates that are coupled to free ones (nv,)."""
    places, result = joint_places(rig), np.zeros(rig.nv, bool)
    for link, joint in enumerate(rig.joints):
        if joint.mimic is not None:
            result[places[link][2]] = free[places[_leader(rig, link)][2]].any()
    return result


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
