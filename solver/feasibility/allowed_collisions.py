"""Pairs of links that touch by construction, found from their distances in many postures."""

from __future__ import annotations

import numpy as np

from ..coordinates import to_manifold, with_mimic_joints
from ..rig import ROOT_NV, Rig
from .link_pairs import LinkPair, are_socketed, share_compound_joint

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
"""[m] Reported distance of links that overlap as deep as is usual for them. It exceeds the 2 mm that designed motions
keep (the sampling margin of the check)."""
UNLIMITED_RANGE = np.pi
"""[rad, m] Range to each side of zero of joints without limits. Were it smaller than what the motion needs, a bent knee
of cylinders would overlap deeper than is allowed."""


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
    related, close = share_compound_joint(rig), are_socketed(rig)
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
