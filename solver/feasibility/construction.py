"""Which links touch by construction, wherever their joints are: told from real contact by looking at many postures."""

from __future__ import annotations

import numpy as np

from ..coordinates import joint_places, to_manifold
from ..rig import ROOT_NV, Rig
from .pairs import LinkPair, relatives

SAMPLES = 96
"""Postures that are looked at, the neutral one among them."""
ALWAYS_NEAR = 0.005
"""[m] Links that no posture parts by more (in a compound joint: not the neutral one) touch by construction."""
CONSTANT = 0.005
"""[m] A distance that varies by no more is the same in every posture."""
UNKNOWN_RANGE = 0.8
"""[rad, m] to each side of zero, for joints whose range is not known."""


def sampled_postures(rig: Rig) -> np.ndarray:
    """Configurations (N, nq) all over the joints' ranges, coupled joints as their sources; the first is neutral."""
    limits = rig.limits
    lower = np.where(np.isfinite(limits.lower), np.maximum(limits.lower, -np.pi), -UNKNOWN_RANGE)
    upper = np.where(np.isfinite(limits.upper), np.minimum(limits.upper, np.pi), UNKNOWN_RANGE)
    y = np.zeros((SAMPLES, rig.nv))
    y[1:, ROOT_NV:] = np.random.default_rng(0).uniform(lower, upper, (SAMPLES - 1, len(lower)))
    places = {joint.name: moves for joint, _, moves in joint_places(rig)}
    for joint in rig.joints:
        if joint.mimic is not None and joint.mimic.source in places:
            source = y[:, places[joint.mimic.source]]
            y[:, places[joint.name]] = joint.mimic.multiplier * source + joint.mimic.offset
    none = np.zeros_like(y)
    return to_manifold(rig, y, none, none).q


def by_construction(
    rig: Rig, pairs: tuple[LinkPair, ...], distances: np.ndarray
) -> tuple[tuple[LinkPair, ...], dict[LinkPair, float]]:
    """Pairs that touch by construction, and the overlap [m] of pairs that overlap more or less in every posture.

    The first lie at one distance, or nestle in one compound joint where every joint is at zero: their hulls say more
    than they are. The others may overlap no deeper than they do in the neutral posture.

    Args:
        rig: whose links.
        pairs: P of them.
        distances: (N, P) [m] in the `sampled_postures`.
    """
    related = relatives(rig)
    touching, unavoidable = [], {}
    for pair, values in zip(pairs, distances.T):
        near = values.max(initial=-np.inf) < ALWAYS_NEAR
        compound = related[rig.index(pair[0]), rig.index(pair[1])]
        if (compound and values[0] < ALWAYS_NEAR) or (near and np.ptp(values) <= CONSTANT):
            touching.append(pair)
        elif near:
            unavoidable[pair] = max(0.0, -float(values[0]))
    return tuple(touching), unavoidable
