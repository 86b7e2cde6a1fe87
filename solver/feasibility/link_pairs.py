"""Pairs of links that are checked for collisions: all that are not neighbours, or stated ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..dynamics.coordinates import to_manifold, with_mimic_joints
from ..options.checks import ALL_PAIRS
from ..skeleton.rig import ROOT_NV, Rig

LinkPair = tuple[str, str]

CLUSTER_SIZE = 0.06
"""Joint centres closer than this share of the rig's size form one compound joint, such as a hip of three motors."""
MAX_SOCKET_JOINTS = 2
"""Links with at most this number of joints between them belong to one compound joint, at any distance."""

POSTURE_SAMPLES = 96
"""Number of postures, including the neutral one."""
CONTACT_DISTANCE = 0.005
"""[m] Links that are nearer in every posture touch by construction; for compound joints see below."""
CONSTANT_TOLERANCE = 0.005
"""[m] A distance that varies by less is the same in every posture."""
MAJORITY = 0.75
"""Links of one compound joint touch by construction if they are near, or overlap, in this share of the postures. A
forearm beside a wide hip is near in one of ten."""
SOCKET_DISTANCE = 0.003
"""[m] Reported distance of links that overlap as deep as is usual for them. Derived: it exceeds the 2 mm that designed
motions keep (the sampling margin of the check)."""
UNLIMITED_RANGE = np.pi
"""[rad, m] Range to each side of zero of joints without limits. Were it smaller than what the motion needs, a bent knee
of cylinders would overlap deeper than is allowed."""


def collision_pairs(rig: Rig, pairs: str | Iterable[LinkPair] = ALL_PAIRS) -> tuple[LinkPair, ...]:
    """Pairs of links, each once, in the rig's order.

    Args:
        rig: with these links.
        pairs: `ALL_PAIRS`: every two links that are not neighbours; or a list of pairs.

    Raises:
        UnknownLink: the rig does not have a link of a pair.
    """
    if isinstance(pairs, str):
        indices = {*zip(*np.nonzero(np.triu(~_are_neighbours(rig), 1)))}
    else:
        indices = {tuple(sorted((rig.index(first), rig.index(second)))) for first, second in pairs}
    return tuple((rig.links[i], rig.links[j]) for i, j in sorted(indices) if i != j)


def _are_neighbours(rig: Rig) -> np.ndarray:
    """(L, L) True for links that are connected by one joint, one mechanism of coupled joints or one compound joint.

    Two links with meshes in one compound joint or mechanism are not neighbours, because they can collide: an upper arm
    with the chest, a finger with its bracket. Primitive shapes are too rough to check this.
    """
    meshed = {shape.link for shape in rig.shapes if shape.kind == "mesh"}
    exact = np.array([link in meshed for link in rig.links])
    return (count_joints_between(rig) <= 1) | ((_are_clustered(rig) | are_coupled(rig)) & ~(exact[:, None] & exact))


def are_socketed(rig: Rig) -> np.ndarray:
    """(L, L) True for links with at most two joints between them: one may turn in a socket of the other."""
    return count_joints_between(rig) <= MAX_SOCKET_JOINTS


def _are_clustered(rig: Rig) -> np.ndarray:
    """(L, L) True for links that are connected by one cluster of joints."""
    centres = rig.rest[1]
    return _largest_joint_distances(rig, centres) <= CLUSTER_SIZE * float(np.linalg.norm(np.ptp(centres, axis=0)))


def are_coupled(rig: Rig) -> np.ndarray:
    """(L, L) True for links of one mechanism of coupled joints, such as the fingers of a gripper and their base."""
    result = np.zeros((len(rig.links), len(rig.links)), bool)
    mechanisms: dict[str, set[int]] = {}
    numbers = {joint.name: link for link, joint in enumerate(rig.joints)}
    for link, joint in enumerate(rig.joints):
        if joint.mimic is not None and joint.mimic.source in numbers:
            source = numbers[joint.mimic.source]
            mechanisms.setdefault(joint.mimic.source, set()).update({source, rig.parents[source], link, joint.parent})
    for members in mechanisms.values():
        result[np.ix_(sorted(members), sorted(members))] = True
    return result


def count_joints_between(rig: Rig) -> np.ndarray:
    """Number (L, L) of joints on the path between two links."""
    result = np.zeros((len(rig.links), len(rig.links)), int)
    for link, parent in enumerate(rig.parents[1:], start=1):
        result[link, :link] = result[:link, link] = result[parent, :link] + 1
    return result


def _largest_joint_distances(rig: Rig, centres: np.ndarray) -> np.ndarray:
    """(L, L) [m] largest distance between two joints on the path between two links.

    Computed from parent to child in O(L^2) steps: the path between a link and an earlier one is the path from its
    parent, and its own joint.
    """
    parents, below = rig.parents, rig.descendants
    apart = np.linalg.norm(centres[:, None] - centres, axis=-1)
    farthest = np.zeros_like(apart)  # from a link's own joint to any joint on the path to the other link
    for link in range(len(parents) - 1, 0, -1):
        under, parent = below[link], parents[link]
        farthest[under, parent] = np.maximum(farthest[under, link], apart[under, link])
    for link, parent in enumerate(parents[1:], start=1):
        beside = ~below[link]
        farthest[beside, link] = np.maximum(farthest[beside, parent], apart[beside, link])
    result = np.zeros_like(apart)
    for link, parent in enumerate(parents[1:], start=1):
        result[link, :link] = result[:link, link] = np.maximum(result[parent, :link], farthest[link, :link])
    return result


def sample_postures(rig: Rig) -> np.ndarray:
    """Configurations (N, nq) over the joints' ranges, with coupled joints following; the first is neutral."""
    limits = rig.limits
    lower, upper = np.maximum(limits.lower, -UNLIMITED_RANGE), np.minimum(limits.upper, UNLIMITED_RANGE)
    y = np.zeros((POSTURE_SAMPLES, rig.nv))
    y[1:, ROOT_NV:] = np.random.default_rng(0).uniform(lower, upper, (POSTURE_SAMPLES - 1, len(lower)))
    y = with_mimic_joints(rig, y)
    none = np.zeros_like(y)
    return to_manifold(rig, y, none, none).q


def find_allowed_collisions(
    rig: Rig, pairs: tuple[LinkPair, ...], distances: np.ndarray
) -> tuple[tuple[LinkPair, ...], dict[LinkPair, float]]:
    """Pairs that need no check, and allowances [m] for pairs that are usually near or overlap.

    1. *Socket*: at most two joints lie between the links and they are near in most postures, or they belong to one
       compound joint or coupled mechanism and overlap in most. Their usual overlap, in most postures or in the neutral
       one, is reported as `SOCKET_DISTANCE`, so that they may overlap by that much more: a hand that enters its forearm
       at the end of the wrist's range still collides. If no posture overlaps deeper, the pair needs no check.
    2. Links at one distance in all postures need no check.
    3. Other links that are near in every posture: in a compound joint their median distance is reported as
       `SOCKET_DISTANCE` (an upper arm can hit the chest); else they may overlap as deep as in the neutral posture.

    Args:
        rig: with these links.
        pairs: P of its links.
        distances: (N, P) [m] in the postures of `sample_postures`.
    """
    close = are_socketed(rig)
    related = close | _are_clustered(rig) | are_coupled(rig)  # links of one compound joint overlap by construction
    touching, allowances = [], {}
    for pair, values in zip(pairs, distances.T):
        links = rig.index(pair[0]), rig.index(pair[1])
        near = values.max(initial=-np.inf) < CONTACT_DISTANCE
        socketed = (close[links] and (values < CONTACT_DISTANCE).mean() >= MAJORITY) or (
            related[links] and (values < 0.0).mean() >= MAJORITY
        )
        usual = min(float(np.quantile(values, 1.0 - MAJORITY)), float(values[0]))
        if (socketed and values.min() >= usual - SOCKET_DISTANCE) or (near and np.ptp(values) <= CONSTANT_TOLERANCE):
            touching.append(pair)
        elif socketed:
            allowances[pair] = SOCKET_DISTANCE - usual
        elif near:
            allowances[pair] = SOCKET_DISTANCE - float(np.median(values)) if related[links] else -float(values[0])
    return tuple(touching), {pair: depth for pair, depth in allowances.items() if depth > 0.0}
