"""User-specified properties of a rig that its file lacks or states wrongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from ..base.errors import InvalidValue, UnknownName
from ..skeleton.rig import UNLIMITED, Rig
from ..values.shape import ContactPolygon


def with_torques(rig: Rig, torques: Mapping[str, float]) -> Rig:
    """The rig with torque limits [N m, N] of joints or of the links that they move, which are then no placeholders.

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
            raise InvalidValue(f"a torque limit must be positive, got {value:g} ({name})")
        link, columns = spans[name]
        limits[columns] = value
        known.add(link)
    listed = "; ".join(f"{name} {value:g}" for name, value in torques.items())
    return replace(
        rig,
        limits=replace(rig.limits, torque=limits),
        notes=(*rig.notes, f"torque limits as specified [N m]: {listed}"),
        provenance=dict(rig.provenance) | {UNLIMITED: [link for link in rig.unlimited if link not in known]},
    )


def with_exclusions(rig: Rig, pairs: Sequence[tuple[str, str]], source: str = "") -> Rig:
    """The rig with further pairs of links that may touch.

    Bodies on fixed joints are one link of the rig. Two such links may touch if all of their bodies that occur in the
    pairs may.

    Args:
        rig: without the pairs.
        pairs: of links, or of bodies of the rig's file.
        source: of the pairs, such as an SRDF; names that the rig lacks are then ignored. Empty: specified by the user.

    Raises:
        UnknownName: neither a link nor a body, if no source is given.
    """
    named = dict.fromkeys(name for pair in pairs for name in pair)
    for name in () if source else named:
        rig.carrier_of(name)
    said = {frozenset(pair) for pair in pairs}
    own = {link: [body for body in bodies if body in named] for link, bodies in rig.bodies.items()}
    found = [
        (one, other)
        for one, other in combinations(rig.links, 2)
        if own[one] and own[other] and all(frozenset((a, b)) in said for a in own[one] for b in own[other])
    ]
    fresh = [pair for pair in found if frozenset(pair) not in {frozenset(known) for known in rig.excluded}]
    if not fresh:
        return rig
    by = f"by {source}" if source else "as specified"
    note = f"{len(fresh)} pair(s) of links may touch, {by}"
    return replace(rig, excluded=(*rig.excluded, *fresh), notes=(*rig.notes, note))


def with_feet(rig: Rig, feet: Sequence[str]) -> Rig:
    """The rig with only these links as feet, on the flat areas at their bottom.

    Raises:
        UnknownName: neither a link nor a body of the rig's file.
        InvalidValue: a link without a flat bottom.
    """
    if not feet:
        return rig
    from .soles import find_sole

    links = list(dict.fromkeys(rig.carrier_of(name) for name in feet))
    known = {patch.link: patch for patch in rig.soles}
    soles = [known.get(link) or find_sole(link, rig.rest[0][rig.index(link)], rig.shapes) for link in links]
    if lacking := [link for link, sole in zip(links, soles) if sole is None]:
        raise InvalidValue(f"{', '.join(lacking)} has no flat sole: specify its size (--soles LINK=LENGTHxWIDTH)")
    note = f"feet as specified: {', '.join(links)}"
    contacts = (*(sole for sole in soles if sole is not None), *(patch for patch in rig.contacts if not patch.sole))
    return replace(rig, contacts=contacts, notes=(*rig.notes, note))


def with_soles(rig: Rig, soles: Mapping[str, tuple[float, float]]) -> Rig:
    """The rig with level rectangular soles, for files without shapes or with round feet.

    A sole is at the lowest point of its link, below its middle, with every joint at zero; its length points forward.

    Args:
        rig: without the soles.
        soles: length and width [m] by link, or by body of the rig's file.

    Raises:
        UnknownName: neither a link nor a body.
        InvalidValue: a side that is not positive.
    """
    if not soles:
        return rig
    own = {rig.carrier_of(name): sides for name, sides in soles.items()}
    for name, sides in soles.items():
        if not min(sides) > 0.0:
            raise InvalidValue(f"the sides of a sole must be positive, got {sides[0]:g} and {sides[1]:g} m ({name})")
    others = [patch for patch in rig.contacts if patch.link not in own or not patch.sole]
    listed = "; ".join(f"{name} {length:g} m x {width:g} m" for name, (length, width) in soles.items())
    specified = [_rectangular_sole(rig, link, length, width) for link, (length, width) in own.items()]
    result = replace(rig, contacts=(*others, *specified), notes=(*rig.notes, f"soles as specified: {listed}"))
    try:
        across = abs(result.forward[1]) > 0.5
    except InvalidValue:
        return result
    if not across:
        return result
    return replace(
        result, contacts=(*others, *(_rectangular_sole(rig, link, *sides[::-1]) for link, sides in own.items()))
    )


def _rectangular_sole(rig: Rig, link: str, along: float, across: float) -> ContactPolygon:
    """A rectangle along x and y at the lowest point of a link's box, every joint at zero."""
    k = rig.index(link)
    turn, (low, high) = rig.rest[0][k], rig.boxes[k]
    corners = np.array(list(product(*zip(low, high)))) @ turn.T
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])  # counter-clockwise seen from below
    flat = np.column_stack([middle[:2] + 0.5 * signs * (along, across), np.full(4, corners[:, 2].min())])
    return ContactPolygon(f"{link}_sole", link, flat @ turn)
