"""The regions of a body whose measured motions err each in its own way: what carries them shakes alike."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...rig import Rig

TRUNK, ARMS, UPPER_LEGS, LOWER_LEGS = "trunk", "arms", "upper legs", "lower legs"


def body_regions(rig: Rig) -> Mapping[str, np.ndarray]:
    """Places of the links of each region, by its name: the root link alone, trunk, arms, upper and lower legs.

    Legs lead from the root to what stands on the ground; their first links are the upper legs. Of the others, those
    that have a twin on the other side are arms, and those that have none the trunk. A rig without legs has none.
    """
    standing = {rig.index(patch.link) for patch in rig.soles}
    twins = {rig.index(link) for pair in rig.pairs for link in pair}
    legs: dict[int, str] = {}
    for foot in standing:
        legs |= {link: LOWER_LEGS if place else UPPER_LEGS for place, link in enumerate(rig.path(foot))}
    found: dict[str, list[int]] = {}
    for place, name in enumerate(rig.links):
        region = name if place == 0 else legs.get(place, ARMS if place in twins else TRUNK)
        found.setdefault(region, []).append(place)
    return {name: np.array(places) for name, places in found.items()}
