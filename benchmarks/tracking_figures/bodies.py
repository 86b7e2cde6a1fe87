"""The three bodies of rapetti2020: 66 and 48 degrees of freedom and iCub, and what each is to follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from solver.base.so3 import exp
from solver.dynamics.workspace import link_poses
from solver.rigs import from_urdf
from solver.skeleton.rig import Rig

from ..models import HUMANS, ICUB, MissingModel, model_file

QUARTER = np.pi / 2.0

SPINE = {"Pelvis": 0.0, "L5": 0.25, "L3": 0.5, "T12": 0.75, "T8": 1.0}
"""Share of the trunk's turn against the pelvis that each segment of the spine takes."""
SIDED = {
    "Shoulder": "torso", "UpperArm": "upper_arm", "ForeArm": "forearm", "Hand": "hand",
    "UpperLeg": "thigh", "LowerLeg": "shank", "Foot": "foot", "Toe": "foot",
}  # fmt: skip
ARMS = ("UpperArm", "ForeArm", "Hand")
ICUB_LINKS = {
    "root_link": "Pelvis", "chest": "T8", "head": "Head",
    "upper_leg": "UpperLeg", "lower_leg": "LowerLeg", "foot": "Foot",
    "upper_arm": "UpperArm", "forearm": "ForeArm", "hand": "Hand",
}  # fmt: skip
"""iCub's 15 bodies that follow, and the human segment of each."""
SHOULDER = np.array([[-1.71, 1.71, 0.0], [-1.71, 1.71, 1.71], [0.0, -1.0, -1.0], [1.71, -1.71, -1.71], [0.0, 1.0, 1.0]])
"""A of A s <= b for pitch, roll and yaw: the length of the tendons in iCub's shoulder, as its makers publish it."""
SHOULDER_BOUND = np.radians([347.0, 366.57, 66.6, 112.42, 213.3])
"""b [rad]."""


@dataclass(frozen=True, slots=True)
class Body:
    """A body and the 23 or 15 links that follow.

    Attributes:
        name: as tables call it.
        rig: read from its file as it is.
        links: (O,) indices of the links.
        segments: O names of the human segments that they follow.
        turns: (O, 3, 3) link axes in the body's own T-pose, where the segments' axes are parallel to the world's.
    """

    name: str
    rig: Rig
    links: np.ndarray
    segments: tuple[str, ...]
    turns: np.ndarray


@cache
def human(freedoms: int) -> Body:
    """The human with 66 or 48 degrees of freedom.

    Raises:
        MissingModel: it is not installed.
    """
    path = model_file(HUMANS[freedoms])
    if path is None:
        raise MissingModel(HUMANS[freedoms])
    rig = from_urdf(path, meshes="none")
    names = tuple(name for name in rig.links if "_f" not in name)
    links = np.array([rig.index(name) for name in names])
    return Body(f"human {freedoms}", rig, links, names, np.broadcast_to(np.eye(3), (len(names), 3, 3)))


@cache
def icub() -> Body | None:
    """iCub, or None where icub-models is not installed."""
    if (path := model_file(ICUB)) is None:
        return None
    rig = from_urdf(path, meshes="none")
    carriers = {body: link for link, bodies in _bodies(rig).items() for body in bodies}
    ahead = exp(np.array([0.0, 0.0, np.pi]))  # its root looks backwards
    raised = np.array([QUARTER * joint.name.endswith("_shoulder_roll") for joint in rig.joints[1:]])
    # its elbows bend by 15 degrees at least, and its shoulders' axes are inclined by as much
    t_pose = np.append(rig.neutral[:7], np.clip(raised, rig.limits.lower, rig.limits.upper))
    rotations = link_poses(rig, t_pose)[0]
    links, segments, turns = [], [], []
    for body, segment in ICUB_LINKS.items():
        sides = (("", ""),) if segment in ("Pelvis", "T8", "Head") else (("l_", "Left"), ("r_", "Right"))
        for prefix, side in sides:
            link = rig.index(carriers[prefix + body])
            links.append(link)
            segments.append(side + segment)
            turns.append(ahead @ rotations[link])
    return Body("iCub", rig, np.array(links), tuple(segments), np.array(turns))


def bodies() -> list[Body]:
    """Those that are there."""
    humans = [human(freedoms) for freedoms, parts in HUMANS.items() if model_file(parts) is not None]
    robot = icub()
    return humans if robot is None else [*humans, robot]


def hanging_rotation(segment: str) -> np.ndarray:
    """(3, 3) turn of a segment from arms stretched sideways, palms down, to arms hanging, palms inwards."""
    if not segment.endswith(ARMS):
        return np.eye(3)
    return exp(np.array([QUARTER if segment.startswith("Right") else -QUARTER, 0.0, 0.0]))


def palms_forwards(segment: str) -> np.ndarray:
    """(3, 3) turn of a forearm and hand from hanging with palms inwards to hanging with palms forwards."""
    return exp(np.array([0.0, 0.0, -QUARTER if segment.startswith("Right") else QUARTER]))


def _bodies(rig: Rig) -> Mapping[str, tuple[str, ...]]:
    return rig.provenance["bodies"]  # type: ignore[return-value]
