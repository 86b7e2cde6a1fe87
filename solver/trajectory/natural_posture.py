"""The posture from which dances start: the rig's own, with arms moved away from what they touch."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..contacts.schedule import Anchor, stance
from ..dynamics.coordinates import joint_slices, static_motion, to_flat, to_manifold, with_mimic_joints
from ..dynamics.mechanics import Mechanics
from ..feasibility.collision_shapes import lowest_points
from ..feasibility.collisions import CollisionDetector
from ..options.checks import CheckOptions
from ..skeleton.rig import ROOT_NV, Rig

NATURAL_POSTURES = ("standing", "half_sitting")
"""Rig parameters with a natural posture (nq,), of which trunk and arms are used in the home posture."""
LIMIT_DISTANCE = 0.03
"""Distance of the home posture from a joint's limits, as a share of its range."""
ANGLE_STEPS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
"""[rad; a tenth of it in m] Largest joint displacements that are tried to separate links, smallest first."""
TRIALS = 64
"""Random postures per step."""
MIN_SEPARATION = 0.002
"""[m] Links with a smaller distance beyond the clearance are separated. Derived: the sampling margin of the check of
collisions, which searches keep."""
TOE_TOLERANCE = 1e-6
"""[m] A toe that is less deep below its sole is on the floor."""
TOE_ANGLES = 65
"""Number of angles tried for a toe."""
MIRRORED_KINDS = ("revolute", "continuous", "prismatic", "spherical")
"""Kinds of joints that are moved symmetrically on both sides."""
SEPARATIONS = (0.025, 0.012, 0.005)
"""[m] Separations to reach; the first feasible one is used."""


def natural_posture(rig: Rig) -> np.ndarray:
    """Flat coordinates (nv,) of the rig's own natural posture, within its joints' ranges, root at the origin."""
    y = np.zeros(rig.nv)
    own = next((rig.provenance[name] for name in NATURAL_POSTURES if name in rig.provenance), None)
    if own is not None:
        y = to_flat(rig, np.array(own, float))
        y[:ROOT_NV] = 0.0
    lower, upper = _ranges(rig)
    y[ROOT_NV:] = np.clip(y[ROOT_NV:], lower, upper)
    return _raise_toes(rig, y)


def _raise_toes(rig: Rig, y: np.ndarray) -> np.ndarray:
    """The posture (nv,) with toes raised to the height of a level sole, by the smallest angle."""
    places, ends = joint_slices(rig), [np.r_[y[:ROOT_NV], side] for side in _ranges(rig)]
    for anchor in stance(rig, "both") if len(rig.soles) > 1 else ():
        for toe in np.flatnonzero(rig.descendants[rig.index(rig.patch(anchor.patch).link)])[1:]:
            columns = places[toe][2]
            if rig.joints[toe].nv != 1 or _toe_heights(rig, y[None], anchor, toe)[0] >= -TOE_TOLERANCE:
                continue
            low, high = (np.clip(end[columns], -np.pi, np.pi) for end in ends)
            angles = low + np.linspace(0.0, 1.0, TOE_ANGLES)[:, None] * (high - low)
            tries = np.tile(y, (TOE_ANGLES, 1))
            tries[:, columns] = angles[np.argsort(np.abs(angles - y[columns])[:, 0], kind="stable")]
            heights = _toe_heights(rig, tries, anchor, toe)
            y = tries[int(np.argmax(heights >= min(TOE_TOLERANCE, heights.max())))]
    return y


def _toe_heights(rig: Rig, y: np.ndarray, anchor: Anchor, toe: int) -> np.ndarray:
    """(N,) [m] height of a toe above the floor if its foot's sole is level on it, in flat coordinates (N, nv)."""
    curves = static_motion(rig, y)
    state = Mechanics(rig).compute_state(curves.q, curves.v, curves.a)
    foot = rig.index(rig.patch(anchor.patch).link)
    # frames n, axes i of the world, axes j of the foot, axes k of the toe
    levelled = anchor.rotation @ state.rotation[:, foot].swapaxes(1, 2)
    turns = levelled @ state.rotation[:, toe]
    places = np.einsum("nij,nj->ni", levelled, state.position[:, toe] - state.position[:, foot]) + anchor.position
    own = [shape for shape in rig.shapes if shape.link == rig.links[toe]]
    return np.min([lowest_points(shape, turns, places) for shape in own], axis=0) if own else np.full(len(y), np.inf)


@lru_cache(maxsize=16)
def clear_arms(rig: Rig, options: CheckOptions, posture: tuple[float, ...], fixed: tuple[int, ...]) -> np.ndarray:
    """A posture (nv,) with arms displaced by as little as separates all links; unchanged if that is impossible.

    Left and right stay symmetric, and coupled joints, such as a fist's, follow their sources. Pairs that no movable
    joint can separate, such as a thigh and the pelvis, are ignored.

    Args:
        rig: of the posture.
        options: of the checks: pairs and clearance.
        posture: (nv,) flat coordinates.
        fixed: columns that do not move: those of legs and toes.
    """
    y = np.array(posture)
    detector = _detector(rig, options)
    touching = _pair_distances(rig, detector, y[None])[0] < options.clearance + MIN_SEPARATION
    if not touching.any():
        return y
    free, stuck = np.zeros(rig.nv, bool), np.zeros(len(touching), bool)
    opposite = _opposite_links(rig)
    for pair in np.flatnonzero(touching):
        one, other = (rig.index(link) for link in detector.pairs[pair])
        moved = limb_joints_between(rig, one, other) or {
            _mimic_source(rig, link) for link in _path_links(rig, one, other)
        }
        moved |= {opposite[link] for link in moved if link in opposite}  # for contacts on one side only
        columns = [column for link in moved for column in range(rig.nv)[joint_slices(rig)[link][2]]]
        free[columns] = True
        stuck[pair] = set(columns) <= set(fixed)
    free[list(fixed)] = False
    following = _mimic_columns(rig, free)
    lower, upper = _ranges(rig)
    generator = np.random.default_rng(0)
    ends = np.r_[y[:ROOT_NV], lower], np.r_[y[:ROOT_NV], upper]
    wide = touching & (detector.allowances == 0.0)  # links in a socket cannot be separated by much
    for gap in SEPARATIONS:
        near = options.clearance + np.where(wide, min(gap, options.reach - options.clearance), MIN_SEPARATION)
        near = np.where(stuck, -np.inf, near)
        best, found = -np.inf, y
        for size in ANGLE_STEPS:
            moves = generator.uniform(-size, size, (TRIALS, rig.nv)) * free
            moves[:, _is_length(rig)] *= 0.1
            tries = np.tile(found, (TRIALS, 1))
            tries[:, free] = np.clip(tries + _mirror_moves(rig, moves), *ends)[:, free]
            tries[:, following] = np.clip(with_mimic_joints(rig, tries), *ends)[:, following]
            missing = np.minimum(_pair_distances(rig, detector, tries) - near, 0.0).sum(axis=1)
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
    """Reduced joint limits (nv - 6,), lower and upper."""
    inside = LIMIT_DISTANCE * np.nan_to_num(rig.limits.upper - rig.limits.lower, posinf=0.0)
    return rig.limits.lower + inside, rig.limits.upper - inside


def _pair_distances(rig: Rig, detector: CollisionDetector, y: np.ndarray) -> np.ndarray:
    """(N, P) [m] distances of the detector's pairs in flat coordinates (N, nv)."""
    none = np.zeros_like(y)
    return detector.minimum_distances(to_manifold(rig, y, none, none).q)


def limb_joints_between(rig: Rig, one: int, other: int) -> set[int]:
    """Links of limbs whose joints move one link relative to another; sources of coupled joints.

    Joints of the trunk are excluded, since they would move everything.
    """
    opposite = _opposite_links(rig)
    return {_mimic_source(rig, link) for link in _path_links(rig, one, other) if link in opposite}


def _opposite_links(rig: Rig) -> dict[int, int]:
    """The link on the other side, for every link that has one."""
    sides = [(rig.index(left), rig.index(right)) for left, right in rig.pairs]
    return {one: other for pair in sides for one, other in (pair, pair[::-1])}


def _path_links(rig: Rig, one: int, other: int) -> list[int]:
    """Links whose joints are on the path between two links."""
    return sorted(set(rig.path(one)) ^ set(rig.path(other)))


def _mimic_source(rig: Rig, link: int) -> int:
    """The link whose joint moves a link: itself, or the source of its coupling."""
    numbers = {joint.name: number for number, joint in enumerate(rig.joints)}
    seen = {link}
    while (mimic := rig.joints[link].mimic) is not None and numbers.get(mimic.source, link) not in seen:
        link = numbers[mimic.source]
        seen.add(link)
    return link


def _mimic_columns(rig: Rig, free: np.ndarray) -> np.ndarray:
    """(nv,) True for coordinates coupled to free ones (nv,)."""
    places, result = joint_slices(rig), np.zeros(rig.nv, bool)
    for link, joint in enumerate(rig.joints):
        if joint.mimic is not None:
            result[places[link][2]] = free[places[_mimic_source(rig, link)][2]].any()
    return result


def _is_length(rig: Rig) -> np.ndarray:
    return np.array([j.kind == "prismatic" for j, _, moves in joint_slices(rig) for _ in range(rig.nv)[moves]], bool)


def _mirror_moves(rig: Rig, moves: np.ndarray) -> np.ndarray:
    """Displacements (N, nv) whose right side mirrors the left one, for joints of the same kind on both sides."""
    result = np.array(moves)
    places, (turns, origins) = joint_slices(rig), rig.rest
    for left, right in ((rig.index(a), rig.index(b)) for a, b in rig.pairs):
        one, other = rig.joints[left], rig.joints[right]
        across = origins[left] - origins[right]
        size = float(np.linalg.norm(across))
        if one.kind != other.kind or one.kind not in MIRRORED_KINDS or size < SEPARATIONS[-1]:
            continue
        mirror = np.eye(3) - 2.0 * np.outer(across, across) / size**2
        if one.kind != "prismatic":
            mirror = -mirror  # a reflection reverses rotation vectors
        there, here = (turns[k] @ (j.axes.T if len(j.axes) else np.eye(3)) for k, j in ((left, one), (right, other)))
        # moves n, axes i of the right joint, axes j of the left one
        result[:, places[right][2]] = np.einsum("ij,nj->ni", here.T @ mirror @ there, moves[:, places[left][2]])
    return result
