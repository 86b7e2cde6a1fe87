"""What somebody states about a robot that its file does not tell, or tells wrongly, written into the rig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from ..errors import InvalidValue, UnknownName
from ..patch import ContactPolygon
from ..rig import UNLIMITED, Rig
from .soles import find_sole


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
    for link, bodies in _bodies_by_link(rig).items():
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


def with_feet(rig: Rig, feet: Sequence[str]) -> Rig:
    """The rig standing on these links alone: on what is flat at their bottom.

    Raises:
        UnknownName: neither a link nor a body of the file the rig came from.
        InvalidValue: a link without a flat bottom.
    """
    if not feet:
        return rig
    carrier = {body: link for link, bodies in _bodies_by_link(rig).items() for body in bodies} | {
        n: n for n in rig.links
    }
    if unknown := [name for name in feet if name not in carrier]:
        raise UnknownName(unknown[0], tuple(carrier))
    links = list(dict.fromkeys(carrier[name] for name in feet))
    known = {patch.link: patch for patch in rig.soles}
    soles = [known.get(link) or find_sole(link, rig.rest[0][rig.index(link)], rig.shapes) for link in links]
    if lacking := [link for link, sole in zip(links, soles) if sole is None]:
        raise InvalidValue(f"{', '.join(lacking)} has no flat sole: state its size (--soles LINK=LENGTHxWIDTH)")
    note = f"feet as stated: {', '.join(links)}"
    contacts = (*(sole for sole in soles if sole is not None), *(patch for patch in rig.contacts if not patch.sole))
    return replace(rig, contacts=contacts, notes=(*rig.notes, note))


def with_soles(rig: Rig, soles: Mapping[str, tuple[float, float]]) -> Rig:
    """The rig with level rectangular soles, where its file has no shapes or a foot is round.

    A sole lies at the lowest point of its link and under its middle, every joint at zero, its length pointing ahead.

    Args:
        rig: that is told about.
        soles: length and width [m] by link, or by body of the file the rig came from.

    Raises:
        UnknownName: neither a link nor a body.
        InvalidValue: a side that is not positive.
    """
    if not soles:
        return rig
    carrier = {body: link for link, bodies in _bodies_by_link(rig).items() for body in bodies} | {
        n: n for n in rig.links
    }
    for name, sides in soles.items():
        if name not in carrier:
            raise UnknownName(name, tuple(carrier))
        if not min(sides) > 0.0:
            raise InvalidValue(f"the sides of a sole are positive, not {sides[0]:g} and {sides[1]:g} m ({name})")
    own = {carrier[name]: sides for name, sides in soles.items()}
    others = [patch for patch in rig.contacts if patch.link not in own or not patch.sole]
    told = "; ".join(f"{name} {length:g} m x {width:g} m" for name, (length, width) in soles.items())
    stands = [_rectangular_sole(rig, link, length, width) for link, (length, width) in own.items()]
    result = replace(rig, contacts=(*others, *stands), notes=(*rig.notes, f"soles as stated: {told}"))
    try:
        across = abs(result.forward[1]) > 0.5
    except InvalidValue:
        return result
    if not across:
        return result
    return replace(
        result, contacts=(*others, *(_rectangular_sole(rig, link, *sides[::-1]) for link, sides in own.items()))
    )


def _bodies_by_link(rig: Rig) -> dict[str, tuple[str, ...]]:
    return dict(rig.provenance.get("bodies", {}))  # type: ignore[call-overload]


def _rectangular_sole(rig: Rig, link: str, along: float, across: float) -> ContactPolygon:
    """A rectangle along x and y at the lowest point of a link's box, every joint at zero."""
    k = rig.index(link)
    turn, (low, high) = rig.rest[0][k], rig.boxes[k]
    corners = np.array(list(product(*zip(low, high)))) @ turn.T
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])  # seen from below against the clock
    flat = np.column_stack([middle[:2] + 0.5 * signs * (along, across), np.full(4, corners[:, 2].min())])
    return ContactPolygon(f"{link}_sole", link, flat @ turn)
