"""What somebody states about a robot that its file does not tell, or tells wrongly, written into the rig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..errors import InvalidValue, UnknownName
from ..rig import UNLIMITED, Rig


def with_torques(rig: Rig, torques: Mapping[str, float]) -> Rig:
    """The rig with torque limits [N m, N] of joints or of the links that they move; they are no placeholders any more.

    Raises:
        UnknownName: neither a joint nor a link.
        InvalidValue: a limit that is not positive.
    """
    if not torques:
        return rig
    limits = np.array(rig.limits.torque)
    spans, first = {}, 0
    for link, joint in zip(rig.links[1:], rig.joints[1:]):
        spans[joint.name] = spans[link] = (link, slice(first, first + joint.nv))
        first += joint.nv
    known = set()
    for name, value in torques.items():
        if name not in spans:
            raise UnknownName(name, [joint.name for joint in rig.joints[1:]])
        if not value > 0.0:
            raise InvalidValue(f"a torque limit is positive, not {value:g} ({name})")
        link, columns = spans[name]
        limits[columns] = value
        known.add(link)
    told = "; ".join(f"{name} {value:g}" for name, value in torques.items())
    return replace(
        rig,
        limits=replace(rig.limits, torque=limits),
        notes=(*rig.notes, f"torque limits as stated [N m]: {told}"),
        provenance=dict(rig.provenance) | {UNLIMITED: [link for link in rig.unlimited if link not in known]},
    )


def with_exclusions(rig: Rig, pairs: Sequence[tuple[str, str]], source: str = "") -> Rig:
    """The rig with pairs that may touch.

    Links that the rig's file joins firmly are one link here. A pair of such links may touch where all of their bodies
    may that the pairs name.

    Args:
        rig: that is told about.
        pairs: of links, or of bodies of the file the rig came from; names that it lacks are those of a variant.
        source: who says so; where nobody is named, every name must be known.

    Raises:
        UnknownName: neither a link nor a body, where no source is named.
    """
    carrier = {name: name for name in rig.links}
    for link, bodies in dict(rig.provenance.get("bodies", {})).items():  # type: ignore[call-overload]
        carrier |= dict.fromkeys(bodies, link)
    named = {name for pair in pairs for name in pair}
    if unknown := [name for pair in pairs for name in pair if name not in carrier and not source]:
        raise UnknownName(unknown[0], tuple(carrier))
    said = {frozenset(pair) for pair in pairs}
    own = {link: [body for body in carrier if carrier[body] == link and body in named] for link in rig.links}
    found = [
        (one, other)
        for one, other in combinations(rig.links, 2)
        if own[one] and own[other] and all(frozenset((a, b)) in said for a in own[one] for b in own[other])
    ]
    fresh = [pair for pair in found if frozenset(pair) not in {frozenset(known) for known in rig.excluded}]
    if not fresh:
        return rig
    by = f" by {source}" if source else " as stated"
    note = f"{len(fresh)} pair(s) of links may touch{by}"
    return replace(rig, excluded=(*rig.excluded, *fresh), notes=(*rig.notes, note))
