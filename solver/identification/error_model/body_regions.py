"""Regions of the body whose tracked motions have similar errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...rig import Rig

TRUNK, ARMS, UPPER_LEGS, LOWER_LEGS = "trunk", "arms", "upper legs", "lower legs"


def body_regions(rig: Rig) -> Mapping[str, np.ndarray]:
    """Link indices of each region, by name: the root link alone, trunk, arms, upper legs and lower legs.

    Legs are the chains from the root to the links with soles; their first links are the upper legs. Of the other links,
    those with a counterpart on the other side are arms and those without are the trunk. A rig without soles has no
    legs.
    """
    feet = {rig.index(patch.link) for patch in rig.soles}
    paired = {rig.index(link) for pair in rig.pairs for link in pair}
    legs: dict[int, str] = {}
    for foot in feet:
        legs |= {link: LOWER_LEGS if index else UPPER_LEGS for index, link in enumerate(rig.path(foot))}
    found: dict[str, list[int]] = {}
    for index, name in enumerate(rig.links):
        region = name if index == 0 else legs.get(index, ARMS if index in paired else TRUNK)
        found.setdefault(region, []).append(index)
    return {name: np.array(indices) for name, indices in found.items()}
