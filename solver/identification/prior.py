"""Priors that no body can have, replaced before an identification."""

from __future__ import annotations

import numpy as np

from ..inertials import InertialParameters
from ..rig import Rig
from ..rigs.anthropometry import nearest_consistent
from .body_coordinates import impossible_links


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
        mass = float(prior.masses[k])
        second = mass * (boxes[k, 1] - boxes[k, 0]) ** 2 / 12.0  # of a solid box
        box = np.diag(second.sum() - second)
        inertia, is_changed = nearest_consistent(inertias[k])
        shape = not is_changed or np.trace(inertias[k]) <= 0.0
        values[k] = 0.0
        if mass > 0.0:
            body = InertialParameters.from_com((link,), np.array([mass]), coms[[k]], (box if shape else inertia)[None])
            values[k] = body.values[0]
        done = "that of a box of the link's size" if shape else "the nearest consistent one"
        changed.setdefault(done if mass > 0.0 else "none, as they have no mass", []).append(link)
    if not links:
        return rig, ()
    return rig.with_prior(InertialParameters(prior.links, values)), tuple(
        f"{', '.join(names)}: no body has the inertia of the model's file; the prior is {done}"
        for done, names in changed.items()
    )
