"""Which links touch by construction, wherever their joints are: told from real contact by looking at many postures."""

from __future__ import annotations

import numpy as np

from ..coordinates import to_manifold, with_mimic_joints
from ..rig import ROOT_NV, Rig
from .link_pairs import LinkPair, are_socketed, share_compound_joint

POSTURE_SAMPLES = 96
"""Postures that are looked at, the neutral one among them."""
CONTACT_DISTANCE = 0.005
"""[m] Links that no posture parts by more touch by construction; in a compound joint: see below."""
CONSTANT_TOLERANCE = 0.005
"""[m] A distance that varies by no more is the same in every posture."""
MAJORITY = 0.75
"""Share of the postures in which links of one compound joint are near, or overlap, by construction, and that show how
deep; a forearm that hangs at a wide hip is there in one of ten."""
SOCKET_DISTANCE = 0.003
"""[m] As how far apart links are shown that are as deep in each other's sockets as is usual: designed motion keeps 2 mm
(the check's slack)."""
UNLIMITED_RANGE = 0.8
"""[rad, m] to each side of zero, for joints whose range is not known."""


def sample_postures(rig: Rig) -> np.ndarray:
    """Configurations (N, nq) all over the joints' ranges, coupled joints as their sources; the first is neutral."""
    limits = rig.limits
    lower = np.where(np.isfinite(limits.lower), np.maximum(limits.lower, -np.pi), -UNLIMITED_RANGE)
    upper = np.where(np.isfinite(limits.upper), np.minimum(limits.upper, np.pi), UNLIMITED_RANGE)
    y = np.zeros((POSTURE_SAMPLES, rig.nv))
    y[1:, ROOT_NV:] = np.random.default_rng(0).uniform(lower, upper, (POSTURE_SAMPLES - 1, len(lower)))
    y = with_mimic_joints(rig, y)
    none = np.zeros_like(y)
    return to_manifold(rig, y, none, none).q


def find_allowed_collisions(
    rig: Rig, pairs: tuple[LinkPair, ...], distances: np.ndarray
) -> tuple[tuple[LinkPair, ...], dict[LinkPair, float]]:
    """Pairs that touch by construction, and what is forgiven [m] to pairs that are near each other in every posture.

    Links nestle where two joints lie between them and they are near in most postures, or in one compound joint or
    coupled mechanism where they overlap in most: their shapes say more than the links are. They may overlap as deep as
    they do in most postures or in the neutral one, which is shown as `SOCKET_DISTANCE`, and that much deeper: a hand
    that enters its forearm at the end of the wrist's range hits it. Where no posture brings them deeper, they touch by
    construction, as do links that lie at one distance in all postures.

    Others of one compound joint that lie in each other's sockets, a hair apart in the middle of all postures, are
    watched (an upper arm hits the chest), that hair shown as `SOCKET_DISTANCE`. Others that overlap in every posture
    may do so as deep as in the neutral one.

    Args:
        rig: whose links.
        pairs: P of them.
        distances: (N, P) [m] in the `sample_postures`.
    """
    related, close = share_compound_joint(rig), are_socketed(rig)
    touching, forgiven = [], {}
    for pair, values in zip(pairs, distances.T):
        at = rig.index(pair[0]), rig.index(pair[1])
        near = values.max(initial=-np.inf) < CONTACT_DISTANCE
        nestled = (close[at] and (values < CONTACT_DISTANCE).mean() >= MAJORITY) or (
            related[at] and (values < 0.0).mean() >= MAJORITY
        )
        usual = min(float(np.quantile(values, 1.0 - MAJORITY)), float(values[0]))
        if (nestled and values.min() >= usual - SOCKET_DISTANCE) or (near and np.ptp(values) <= CONSTANT_TOLERANCE):
            touching.append(pair)
        elif nestled:
            forgiven[pair] = SOCKET_DISTANCE - usual
        elif near:
            forgiven[pair] = SOCKET_DISTANCE - float(np.median(values)) if related[at] else -float(values[0])
    return tuple(touching), {pair: depth for pair, depth in forgiven.items() if depth > 0.0}
