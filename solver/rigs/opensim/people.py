"""OpenSim models that are people, recognised by the names of their bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...base.errors import InvalidValue
from ...skeleton.names import match_segments
from ...skeleton.rig import PARTS, Rig
from ...values.joints import ROOT_NV, Joint
from ...values.person import STATURE_GUESS, TRUNK_AND_LEGS, UNKNOWN
from ..human_rig import human

NOTE = "the names of its bodies are a person's, whose left and right are alike and whose joint moments are limited"
LEG = ("left_thigh", "left_shank", "left_foot")


def find_parts(bodies: Sequence[str]) -> dict[str, str]:
    """Body of each part of a person, by its name; empty if trunk and legs are not all named."""
    matched = match_segments(bodies)
    return matched if set(TRUNK_AND_LEGS) <= set(matched) else {}


def as_person(rig: Rig, found: Mapping[str, str]) -> Rig:
    """A person's model with the parts of a person and people's joint moments; another model as it is.

    Args:
        rig: of the model.
        found: see `find_parts`.
    """
    if not found:
        return rig
    carriers = {body: link for link, bodies in rig.bodies.items() for body in bodies}
    parts = {
        part: link for link, part in {carriers[body]: part for part, body in reversed(list(found.items()))}.items()
    }
    person = replace(rig, provenance={**rig.provenance, PARTS: parts}, notes=(*rig.notes, NOTE))
    try:
        return replace(person, limits=replace(rig.limits, torque=_joint_moments(rig, parts)))
    except InvalidValue:  # no person has the model's size
        return person


def _joint_moments(rig: Rig, parts: Mapping[str, str]) -> np.ndarray:
    """(nv - 6,) [N m] limits of joint moments: those of a person with the model's legs and mass, axis by axis.

    All joints between two parts have those of the person's joint, as ankle and subtalar joint those of the ankle.

    Infinite for lengths and about axes about which a person's joint does not turn.

    Raises:
        InvalidValue: no person has the model's size.
    """
    result, guess = rig.limits.torque.copy(), human(STATURE_GUESS[UNKNOWN], rig.prior.total_mass, UNKNOWN)
    stature = STATURE_GUESS[UNKNOWN] * _leg_length(rig, parts) / _leg_length(guess, {part: part for part in LEG})
    person = human(stature, rig.prior.total_mass, UNKNOWN)
    for part in [part for part in parts if part in person.links[1:]]:
        link = parts[part]
        about = np.full(3, np.inf)  # world axes, which are the person's links' at rest
        about[np.abs(_axes(person.joints[person.index(part)])).argmax(axis=1)] = person.limits_of(part).torque
        k = rig.index(link)
        while k > 0 and (rig.links[k] == link or rig.links[k] not in parts.values()):
            moments = about[np.abs(rig.rest[0][k] @ _axes(rig.joints[k]).T).argmax(axis=0)]
            stop = rig.v_slices[k].stop - ROOT_NV
            result[stop - len(moments) : stop] = moments if rig.joints[k].kind != "prismatic" else np.inf
            k = rig.parents[k]
    return result


def _axes(joint: Joint) -> np.ndarray:
    """(K, 3) axes about which a joint turns, in its link's frame."""
    return joint.axes if len(joint.axes) else np.eye(3)


def _leg_length(rig: Rig, parts: Mapping[str, str]) -> float:
    """[m] From hip to ankle, joints at zero."""
    hip, knee, ankle = (rig.rest[1][rig.index(parts[part])] for part in LEG)
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
