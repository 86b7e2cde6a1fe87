"""Matches a person's links to the bodies of an OpenSim model, and moves identified inertials from one to the other.

Bodies are matched by name. A link that the model lacks (a head, hands) joins its parent; a body that no name matches (a
patella, a sacrum) joins the body that carries it. Both bodies stand upright with hanging arms at zero angles, so one is
laid onto the other by its joint centres: every group is moved, turned and scaled so that its ends coincide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...base.errors import InvalidValue
from ...base.so3 import rotation_between
from ...skeleton.rig import Rig
from ...values.inertials import InertialParameters
from ..moving_bodies import LinkPlacement
from .rig import body_placements, model_of

SEGMENTS = {
    "pelvis": r"pelvis|hip_?bone", "abdomen": r"abdomen|lumbar", "torso": r"torso|trunk|thorax|chest",
    "head": r"head|skull|cranium", "clavicle": r"clavicle", "scapula": r"scapula",
    "upper_arm": r"humerus|upper_?arm", "forearm": r"ulna|radius|fore_?arm|lower_?arm", "hand": r"hand",
    "thigh": r"femur|thigh|upper_?leg", "shank": r"tibia|shank|shin|fibula|lower_?leg",
    "foot": r"foot|talus|calcn|calcaneus|toe",
}  # fmt: skip
"""Names of a model's bodies, by segment of a person."""
SIDE_PATTERNS = {"right": r"(^|_)(r|right)(_|$)|^r(?=[A-Z])", "left": r"(^|_)(l|left)(_|$)|^l(?=[A-Z])"}
CENTRAL = ("pelvis", "abdomen", "torso", "head")
NEXT = {"upper_arm": "forearm", "forearm": "hand", "thigh": "shank", "shank": "foot"}
"""Segment whose joint is the far end of a segment."""
REQUIRED = ("pelvis", "torso", "right_thigh", "left_thigh", "right_shank", "left_shank", "right_foot", "left_foot")
MIN_LENGTH = 0.05
"""[m] Distance between the ends of a group from which on they state direction and size."""
MAX_SCALE = 1.25
"""Largest ratio of a group's length in the model and in the person; beyond, the model is of another person."""


@dataclass(frozen=True, slots=True)
class Group:
    """Links of a person and bodies of a model that move together in both.

    Attributes:
        links: of the person.
        bodies: of the model.
        distance: [m] between the near joint centres of both, with the hip centres laid onto each other.
        scale: length in the model over length in the person.
        mass: [kg] of the bodies in the model.
        identified: [kg] of the links.
    """

    links: tuple[str, ...]
    bodies: tuple[str, ...]
    distance: float
    scale: float
    mass: float
    identified: float

    @property
    def sentence(self) -> str:
        """The match in one line."""
        return (
            f"{', '.join(self.links)} -> {', '.join(self.bodies)}: {self.mass:.2f} to {self.identified:.2f} kg, joint "
            f"centres {1e3 * self.distance:.0f} mm apart, length x {self.scale:.2f}"
        )


def match_bodies(links: tuple[str, ...], theirs: Rig) -> dict[str, tuple[str, ...]]:
    """Bodies of a model by the person's link that they belong to.

    Raises:
        InvalidValue: no body is named after a required segment.
    """
    placements = body_placements(theirs)
    found: dict[str, str] = {}
    for body in placements:
        if (named := _segment_of(body, links)) is not None:
            found[body] = named
    if lacking := [name for name in REQUIRED if name in links and name not in found.values()]:
        raise InvalidValue(
            f"no body of {theirs.name} is named after {', '.join(lacking)}: it has {', '.join(placements)}; rename its "
            "bodies as OpenSim's models do (femur_r, tibia_r, calcn_r ...)"
        )
    bodies_of = {
        k: [name for name, place in placements.items() if place.carrier == k] for k in range(len(theirs.links))
    }
    for body, place in placements.items():
        link = place.carrier
        while body not in found:
            if (own := next((found[other] for other in bodies_of[link] if other in found), None)) is not None:
                found[body] = own
            link = theirs.joints[link].parent
    return {name: tuple(body for body in placements if found[body] == name) for name in links if name in found.values()}


def transfer_inertials(
    rig: Rig, parameters: InertialParameters, theirs: Rig
) -> tuple[tuple[Group, ...], dict[str, tuple[tuple[str, ...], np.ndarray]]]:
    """Groups, and the pseudo-inertia (4, 4) of each in the world where the model stands at zero angles, by first link.

    Args:
        rig: of the person.
        parameters: identified, of its links.
        theirs: rig of the model.

    Raises:
        InvalidValue: the rig is no person's, the bodies do not match, or the model is of another size.
    """
    matched = match_bodies(rig.links, theirs)
    carrier = {link: _carrier(rig, link, matched) for link in rig.links}
    ours, other = _Landmarks(rig, matched, None), _Landmarks(theirs, matched, body_placements(theirs))
    groups, goals = [], {}
    masses = {name: body.mass for name, body in model_of(theirs).bodies.items()}
    for name, bodies in matched.items():
        links = tuple(link for link in rig.links if carrier[link] == name)
        near, far = ours.ends(name)
        there, beyond = other.ends(name)
        turn, scale = np.eye(3), 1.0
        if far is not None and beyond is not None:
            way, goal = far - near, beyond - there
            if min(np.linalg.norm(way), np.linalg.norm(goal)) > MIN_LENGTH:
                turn, scale = rotation_between(way, goal), float(np.linalg.norm(goal) / np.linalg.norm(way))
        if not 1.0 / MAX_SCALE <= scale <= MAX_SCALE:
            raise InvalidValue(
                f"{name} is {scale:.2f} times as long in {theirs.name} as in the person; scale the model to the person "
                "in OpenSim first"
            )
        total = np.zeros((4, 4))
        for link in links:
            k = rig.index(link)
            pose = np.eye(4)
            pose[:3, :3] = scale * turn @ rig.rest[0][k]
            pose[:3, 3] = there + scale * turn @ (rig.rest[1][k] - near)
            total += pose @ parameters.pseudo_inertias[k] @ pose.T
        goals[name] = bodies, total
        apart = float(np.linalg.norm((there - other.middle) - (near - ours.middle)))
        groups.append(Group(links, bodies, apart, scale, sum(masses[body] for body in bodies), float(total[3, 3])))
    return tuple(groups), goals


def _segment_of(body: str, links: tuple[str, ...]) -> str | None:
    """The person's link that a body is named after; None without one."""
    for segment, pattern in SEGMENTS.items():
        if not re.search(pattern, body, re.IGNORECASE):
            continue
        if segment in CENTRAL:
            return segment if segment in links else None
        side = next((side for side, words in SIDE_PATTERNS.items() if re.search(words, body)), None)
        name = f"{side}_{segment}"
        return name if name in links else None
    return None


def _carrier(rig: Rig, link: str, matched: Mapping[str, tuple[str, ...]]) -> str:
    """The nearest link towards the root, or itself, that has bodies."""
    k = rig.index(link)
    while rig.links[k] not in matched:
        k = rig.joints[k].parent
    return rig.links[k]


class _Landmarks:
    """Joint centres of a person or a model at zero angles, in the world."""

    def __init__(
        self, rig: Rig, matched: Mapping[str, tuple[str, ...]], placements: Mapping[str, LinkPlacement] | None
    ) -> None:
        rotations, origins = rig.rest
        self.centres: dict[str, np.ndarray] = {}
        for name, bodies in matched.items():
            if placements is None:
                self.centres[name] = origins[rig.index(name)]
                continue
            own = {body: placements[body].carrier for body in bodies}
            first = min(bodies, key=lambda body: (own[body], body != rig.links[own[body]]))
            place = placements[first]
            welded = np.zeros(3) if first == rig.links[place.carrier] else place.position
            self.centres[name] = origins[place.carrier] + rotations[place.carrier] @ welded
        self.middle = 0.5 * (self.centres["right_thigh"] + self.centres["left_thigh"])

    def ends(self, name: str) -> tuple[np.ndarray, np.ndarray | None]:
        """Near and far end of a group; None without a far joint."""
        side, _, segment = name.partition("_")
        if name in CENTRAL:
            if name == "pelvis":
                return self.middle, None
            arms = [self.centres.get(f"{each}_upper_arm") for each in SIDE_PATTERNS]
            if name != "torso" or arms[0] is None or arms[1] is None:
                return self.middle, None
            return self.middle, 0.5 * (arms[0] + arms[1])
        return self.centres[name], self.centres.get(f"{side}_{NEXT.get(segment, '')}")
