"""Bodies that differ from their rig's inertials: other link masses, or a load on an arm."""

from __future__ import annotations

import numpy as np

from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters, steiner, symmetric_entries

CHANGES = {
    "chest": 0.9,
    "torso": 0.9,
    "right_upper_arm": 1.3,
    "right_forearm": 1.3,
    "left_thigh": 1.3,
    "right_shank": 1.25,
}
"""Factor on the mass and inertia of links, where a rig has them; a lighter trunk keeps HOAP-3's knees strong enough."""
LOAD_SHARE = 2.4 / 65.0
"""Mass of the arm's load as a share of the body's: the 2.4 kg that the 65 kg volunteer of bonnet2016 wore."""
LOADED_LINK = "left_forearm"
LOAD_PLACE = 0.5
"""Where on the forearm the load sits, as a share of its length."""


def change_inertials(rig: Rig) -> InertialParameters:
    """Change the links of `CHANGES` in the rig's prior."""
    factors = np.array([CHANGES.get(link, 1.0) for link in rig.links])
    return InertialParameters(rig.links, rig.prior.values * factors[:, None])


def arm_load(rig: Rig) -> tuple[InertialParameters, float, str]:
    """The prior with a point mass on the left forearm; the mass [kg]; the link."""
    link = LOADED_LINK
    mass = LOAD_SHARE * rig.prior.total_mass
    place = LOAD_PLACE * rig.tips[rig.index(link)]
    point = np.concatenate([[mass], mass * place, mass * symmetric_entries(steiner(place))])
    return rig.prior.replaced(link, rig.prior.link(link) + point), mass, link


def find_arm_links(rig: Rig, link: str) -> tuple[str, ...]:
    """Links of the arm that a link belongs to: the side's links between trunk and hand, on the link's own chain."""
    side = link.split("_")[0]
    index = rig.index(link)
    above = [index]
    while rig.links[rig.parents[above[-1]]].startswith(side):
        above.append(rig.parents[above[-1]])
    below = np.flatnonzero(rig.descendants[index])
    return tuple(rig.links[k] for k in sorted({*above, *below}))
