"""Which links must not touch: bonnet2016 III.D, or all that are not neighbours."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import InvalidValue
from ..rig import Rig

LinkPair = tuple[str, str]

CLUSTER = 0.06
"""Joint centres closer than this share of the rig's extent make one compound joint (a hip of three motors)."""

FOOT = ("foot", "ankle")
LOWER_LEG = ("shank",)
UPPER_LEG = ("thigh",)
LOWER_ARM = ("forearm", "wrist", "hand")
TRUNK = ("pelvis", "waist", "torso", "chest", "trunk")


def collision_pairs(rig: Rig, pairs: str | Iterable[LinkPair] = "all") -> tuple[LinkPair, ...]:
    """Pairs of links, each once, in the rig's order.

    Args:
        rig: whose links are meant.
        pairs: ``"all"``: every two links that are not neighbours; ``"paper"``: feet to the opposite leg, lower arms
            to the trunk, to the upper legs and to the opposite lower arm; or the pairs themselves.

    Raises:
        InvalidValue: the rig's links have other names than ``"paper"`` knows.
        UnknownLink: a pair names a link the rig does not have.
    """
    if not isinstance(pairs, str):
        return _unique(rig, pairs)
    if pairs == "all":
        neighbours = _neighbours(rig)
        links = range(len(rig.links))
        return tuple((rig.links[i], rig.links[j]) for i in links for j in links if i < j and not neighbours[i, j])
    return _unique(rig, _paper(rig))


def _unique(rig: Rig, pairs: Iterable[LinkPair]) -> tuple[LinkPair, ...]:
    indices = {tuple(sorted((rig.index(first), rig.index(second)))) for first, second in pairs}
    return tuple((rig.links[i], rig.links[j]) for i, j in sorted(indices) if i != j)


def _paper(rig: Rig) -> list[LinkPair]:
    side = {"left": "right", "right": "left"}
    sided = {
        (name, part): [link for link in rig.links if link.startswith(name) and any(word in link for word in words)]
        for name in side
        for part, words in (("foot", FOOT), ("shank", LOWER_LEG), ("thigh", UPPER_LEG), ("forearm", LOWER_ARM))
    }
    trunk = [link for link in rig.links if not link.startswith(tuple(side)) and any(w in link for w in TRUNK)]
    missing = [f"{name}_{part}" for (name, part), found in sided.items() if not found] + ([] if trunk else ["trunk"])
    if missing:
        raise InvalidValue(
            f"the pairs of the paper need links called {', '.join(missing)}, which rig {rig.name!r} lacks: "
            "use pairs='all' or name them"
        )
    result = []
    for own, other in side.items():
        opposite_leg = [link for part in ("foot", "shank", "thigh") for link in sided[other, part]]
        result += [(foot, link) for foot in sided[own, "foot"] for link in opposite_leg]
        upper_legs = sided["left", "thigh"] + sided["right", "thigh"]
        result += [
            (arm, link) for arm in sided[own, "forearm"] for link in trunk + upper_legs + sided[other, "forearm"]
        ]
    return result


def _neighbours(rig: Rig) -> np.ndarray:
    """(L, L) True for links that one joint, or one cluster of joints, connects."""
    centres = rig.rest[1]
    largest = CLUSTER * float(np.linalg.norm(np.ptp(centres, axis=0)))
    crossed = _crossed(rig)
    result = crossed.sum(axis=2) <= 1
    for i, j in np.argwhere(~result):
        parted = centres[crossed[i, j]]
        result[i, j] = float(np.linalg.norm(parted[:, None] - parted, axis=-1).max()) <= largest
    return result


def joints_between(rig: Rig) -> np.ndarray:
    """Number (L, L) of joints on the way from one link to another."""
    return _crossed(rig).sum(axis=2)


def _crossed(rig: Rig) -> np.ndarray:
    """(L, L, L) True where the way between the first two links crosses the third's joint."""
    above = np.eye(len(rig.links), dtype=bool)  # (link, itself and its ancestors); parents come first
    for link, parent in enumerate(rig.parents):
        if parent >= 0:
            above[link] |= above[parent]
    return above[:, None] != above[None]
