"""Parts of a body by their common names; and rigs that cannot dance."""

from __future__ import annotations

import numpy as np

from ...base.errors import InvalidValue
from ...dynamics.coordinates import coordinate_links, coordinate_names
from ...dynamics.legs import require_joints
from ...scene.labels import display_name, join_names
from ...skeleton.rig import PAIR_SIDES, Rig
from ...trajectory.legged_rig import fixed_coordinates

TRUNK = "trunk"


def body_parts(rig: Rig) -> dict[str, tuple[str, ...]]:
    """Links of each part: ``right_leg``, ``left_leg``, ``right_arm``, ``left_arm`` and ``trunk``.

    Legs are the chains from the root to the soles with their branches, arms the other mirrored links, and the trunk is
    the rest.

    Raises:
        InvalidValue: the rig has no feet.
    """
    sides = rig.sides
    parts: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    for side, patch in sides.items():
        first = next(iter(rig.path(rig.index(rig.patch(patch).link))), 0)
        parts[f"{side}_leg"] = tuple(rig.links[k] for k in np.flatnonzero(rig.descendants[first]))
        taken |= set(parts[f"{side}_leg"])
    for column, side in enumerate(("left", "right")):
        mirrored = {pair[column] for pair in rig.pairs}
        parts[f"{side}_arm"] = tuple(link for link in rig.links if link in mirrored and link not in taken)
    taken |= set(parts["left_arm"]) | set(parts["right_arm"])
    parts[TRUNK] = tuple(link for link in rig.links if link not in taken)
    return {name: links for name, links in parts.items() if links}


def require_danceable(rig: Rig) -> None:
    """Refuse a rig for which no dance can be designed; the message names the verb for robots on a fixed base.

    Raises:
        InvalidValue: the rig has no feet, legs with too few joints, or joints without a range or a torque limit.
    """
    if not rig.contacts and len(rig.feet) < len(PAIR_SIDES):
        raise InvalidValue(
            f"rig {rig.name!r} has no two legs to dance on. `excite` designs motions of a robot whose base is fixed; "
            "name the feet of one that walks (--feet)"
        )
    for foot in () if rig.contacts else rig.feet:
        require_joints(rig, foot)  # specified soles would not help
    rig.require_contacts()
    rig.sides  # noqa: B018 (raises where a side has no patch)
    still = rig.limits.lower >= rig.limits.upper
    if held := [display_name(name) for name, no in zip(coordinate_names(rig), still) if no]:
        raise InvalidValue(
            f"rig {rig.name!r} cannot dance, because {join_names(held)} cannot turn: state the joint's range, or make "
            "it a fixed joint"
        )
    names = zip(coordinate_names(rig), coordinate_links(rig), ~np.isfinite(rig.limits.torque) & ~fixed_coordinates(rig))
    free = [name for name, (link,), missing in names if missing and link not in rig.unlimited]
    if free:
        which = "any joint" if len(free) == len(rig.limits.torque) else ", ".join(free)
        raise InvalidValue(
            f"rig {rig.name!r} has no torque limit for {which}, so the load on the joints cannot be checked; "
            "specify it (--torques JOINT=NM, or in a URDF <limit effort=...>)"
        )
