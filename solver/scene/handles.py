"""Points by which a body is posed: root, chest, head, hands, feet, elbows and knees, found from any rig's tree."""

from __future__ import annotations

import numpy as np

from ..skeleton.rig import Rig

MIN_DISTANCE = 0.15
"""Least distance of a handle from the handles above and below it, as a fraction of the leg's length."""


def find_handles(rig: Rig) -> dict[str, np.ndarray]:
    """Points (3,) [m] in link axes, by link.

    They are the root, the link at which the arms and the head branch off, the end of each limb, and the joint in the
    middle of a limb that is farthest from both of its ends.
    """
    _, origins = rig.rest
    children = [[k for k, parent in enumerate(rig.parents) if parent == link] for link in range(len(rig.links))]
    found = {0: np.zeros(3)}
    shortest = MIN_DISTANCE * rig.leg_length
    soles = {rig.index(sole.link) for sole in rig.soles}
    for end in [link for link in range(1, len(rig.links)) if not children[link]]:
        limb = [end]
        while len(children[rig.parents[limb[-1]]]) == 1 and rig.parents[limb[-1]] > 0:
            limb.append(rig.parents[limb[-1]])
        branch = rig.parents[limb[-1]]
        foot = next((link for link in limb if link in soles), None)
        tip = end if foot is None else foot
        if branch > 0:
            found.setdefault(branch, np.zeros(3))
        found[tip] = np.zeros(3) if foot is not None else np.array(rig.boxes[tip].mean(axis=0))
        start, stop = origins[limb[-1]], origins[tip]
        distances = {k: min(float(np.linalg.norm(origins[k] - start)), float(np.linalg.norm(origins[k] - stop)))
                     for k in limb}  # fmt: skip
        middle = max(distances, key=distances.__getitem__)
        if distances[middle] > shortest:
            found[middle] = np.zeros(3)
    return {rig.links[link]: found[link] for link in sorted(found)}
