"""Priors that no body can have, replaced before an identification."""

from __future__ import annotations

import numpy as np

from ..inertials import InertialParameters
from ..rig import Rig
from ..rigs.anthropometry import MIN_SECOND_MOMENT
from .body_coordinates import impossible_links

POINT_RATIO = 1e-6
"""Second moments below this fraction of mass times size squared are those of a point. Measured on TX40, iCub and Romeo,
whose files give zeros there."""


def replace_impossible_prior(rig: Rig) -> tuple[Rig, tuple[str, ...]]:
    """The rig with a prior that solid bodies can have, and notes that name the links whose prior was replaced.

    Mass and centre of mass stay. The inertia about it becomes the nearest consistent one, or that of the link's
    bounding box where the file gives none. Links without mass, which take no part, lose an inertia that they have.
    """
    prior, boxes = rig.prior, rig.boxes
    links = impossible_links(prior)
    values, coms, inertias = prior.values.copy(), prior.coms, prior.inertias_at_com
    changed: dict[str, list[str]] = {}
    for link in links:
        k = prior.index(link)
        mass, own = float(prior.masses[k]), 0.5 * np.trace(inertias[k]) * np.eye(3) - inertias[k]
        moments, axes = np.linalg.eigh(own)
        size = float(np.maximum(moments, 0.0).sum())
        is_point = size <= POINT_RATIO * mass * float(np.ptp(boxes[k], axis=0).max()) ** 2
        second = np.diag(mass * np.ptp(boxes[k], axis=0) ** 2 / 12.0)  # of a solid box
        if not is_point:
            second = (axes * np.maximum(moments, MIN_SECOND_MOMENT * size)) @ axes.T
        inertia = np.trace(second) * np.eye(3) - second
        values[k] = 0.0
        if mass > 0.0:
            values[k] = InertialParameters.from_com((link,), np.array([mass]), coms[[k]], inertia[None]).values[0]
        done = "that of a box of the link's size" if is_point else "the nearest consistent one"
        changed.setdefault(done if mass > 0.0 else "none, as they have no mass", []).append(link)
    if not links:
        return rig, ()
    return rig.with_prior(InertialParameters(prior.links, values)), tuple(
        f"{', '.join(names)}: no body has the inertia of the model's file; the prior is {done}"
        for done, names in changed.items()
    )
