"""What the data determine of a body, in three classes; the same function answers before a recording.

A mass at the centre of a joint may belong to either of its links: moved from one to the other it changes no wrench,
whatever the motion. The data alone therefore determine the total mass and, of each link, the first moment about its
joint, with the masses beyond its other joints placed at these joints. The mass of a limb follows from its first moment
if the shape of the prior is right, and the masses of single links are split by the prior.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..scene.determined import (
    DATA,
    EQUAL_SHARES,
    MASS_KIND,
    MOMENT_KIND,
    SHAPE,
    TABLES,
    DeterminedQuantity,
    compare_widths,
)
from ..scene.labels import display_name, join_names
from ..signals.pooling import TWO_SIDED_STDS
from ..skeleton.rig import Rig
from ..values.inertials import FIRST_MOMENT, MASS, PER_LINK, InertialParameters
from ..values.joints import Joint

LIMB_MASS = 0.02
"""Least mass of a limb as a fraction of the body's. Chosen on the tables of segments: less than an arm (.04 to .05),
more than fingers and toes."""


def find_determined(
    rig: Rig,
    parameters: InertialParameters,
    root: np.ndarray,
    prior_root: np.ndarray,
    fixed_links: Iterable[str] = (),
) -> tuple[DeterminedQuantity, ...]:
    """What the data determine, in classes: total mass, first moments, limbs and the trunk, single links.

    A mass or a first moment is determined by the data (`DATA`) if no mass at a joint centre changes it and the data
    give at least as much information on it as the prior; the mass of a limb, or of the trunk between limbs, by the
    data with the prior's shape (`SHAPE`) under the same condition on the information alone. Everything else is split
    by the prior (`TABLES`). Works for every joint of a rig: a sliding joint separates the masses of its links, a hinge
    lets the first moment along its axis belong to either.

    Args:
        rig: whose joints connect the links.
        parameters: values of the quantities.
        root: (M, L, 10) changes of the parameters whose squares sum to their covariance after the data, SI, link
            frames (`posterior.covariance_root`).
        prior_root: the same before the data.
        fixed_links: links that keep the prior's parameters.
    """
    fixed, links = np.isin(rig.links, list(fixed_links)), np.array(rig.links)
    flat, roots = parameters.values.ravel(), [each.reshape(len(each), -1) for each in (root, prior_root)]

    def quantity(kind: str, name: str, members: np.ndarray, known: str, rows: np.ndarray) -> DeterminedQuantity:
        widths = [TWO_SIDED_STDS * np.linalg.norm(each @ rows.T, axis=0) for each in roots]
        informed = compare_widths(*widths) <= EQUAL_SHARES and not fixed[members].all()
        names = tuple(links[members].tolist())
        return DeterminedQuantity(kind, name, names, known if informed else TABLES, rows @ flat, *widths)

    found = []
    for name, members, is_limb in link_groups(rig):
        is_open = [
            not joint.slides and members[k] != members[joint.parent] for k, joint in enumerate(rig.joints[1:], start=1)
        ]
        known = DATA if not any(is_open) else SHAPE if is_limb else TABLES
        rows = np.zeros((1, len(links), PER_LINK))
        rows[0, members, MASS] = 1.0
        found.append(quantity(MASS_KIND, name, members, known, rows.reshape(1, -1)))
    own, rows = np.eye(len(links), dtype=bool), joint_moments(rig).reshape(len(links), 3, -1)
    for k in np.flatnonzero(rig.prior.masses):
        found.append(quantity(MOMENT_KIND, display_name(rig.links[k]), own[k], DATA, rows[k]))
    return tuple(found)


def joint_moments(rig: Rig) -> np.ndarray:
    """(L, 3, L, 10) the first moment of each link about its joint, with the masses beyond, as functions of phi.

    No mass at the centre of a joint changes them, and no first moment along a hinge's axis: it is that of the parent.
    """
    count, below = len(rig.links), rig.descendants
    result = np.zeros((count, 3, count, PER_LINK))
    for k in reversed(range(count)):
        result[k, :, k, FIRST_MOMENT] += np.eye(3)
        joint = rig.joints[k]
        if joint.parent < 0:
            continue
        passed = _constant_directions(joint)
        result[joint.parent] += np.einsum("ij,jlp->ilp", joint.rotation @ passed, result[k])
        result[joint.parent][:, below[k], MASS] += joint.position[:, None]
        result[k] -= np.einsum("ij,jlp->ilp", passed, result[k])
    return result


def _constant_directions(joint: Joint) -> np.ndarray:
    """(3, 3) projection on the directions that are fixed in both links of a joint, in the child's frame."""
    axes = joint.axes if joint.hinge else np.eye(3) if joint.kind == "prismatic" else np.zeros((0, 3))
    return axes.T @ axes


def link_groups(rig: Rig) -> list[tuple[str, np.ndarray, bool]]:
    """The whole body, its limbs, the trunk between them, and single links that are none of these: name, members (L,),
    and whether it is a limb or the trunk.

    The trunk has the root and the links at which the body branches into limbs of at least `LIMB_MASS` each; limbs are
    the subtrees below it. Lighter branches belong to the link that carries them.
    """
    below, masses, names = rig.descendants, rig.prior.masses, np.array([*map(display_name, rig.links)])
    is_heavy = below @ masses >= LIMB_MASS * masses.sum()
    parents = np.array(rig.parents)
    branches = np.bincount(parents[1:][is_heavy[1:]], minlength=len(masses)) > 1
    trunk = (below & branches).any(axis=1)
    trunk[0] = True
    limbs = [k for k in range(1, len(masses)) if is_heavy[k] and not trunk[k] and trunk[parents[k]]]
    groups = [("total mass", np.ones(len(masses), bool), False)]
    groups += [(" to ".join(dict.fromkeys(names[below[k]][[0, -1]].tolist())), below[k], True) for k in limbs]
    if limbs:
        rest = ~below[limbs].any(axis=0)
        groups.append((join_names(names[rest].tolist()), rest, True))
    single = np.eye(len(masses), dtype=bool)
    named = np.any([members for _, members, _ in groups if members.sum() == 1] or [single[0] & False], axis=0)
    return groups + [(str(names[k]), single[k], False) for k in np.flatnonzero(masses * ~named)]
