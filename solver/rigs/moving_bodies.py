"""Moving bodies of a checked URDF: joints in order, with links on fixed joints merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.errors import InputError
from ..values.inertials import InertialParameters
from ..values.joints import Joint
from .assembly import ROOT_JOINT
from .urdf_document import UrdfDocument, UrdfJoint

RESERVED_JOINTS = (ROOT_JOINT, "universe")
"""Names of joints that every model has."""
KIND_BY_URDF_TYPE = {"floating": "free"}
"""Kind of joint of a rig by URDF's type, if the names differ."""
ONE_OR_TWO_AXES = ("revolute", "continuous", "prismatic", "universal")
REVERSIBLE = ("revolute", "continuous", "prismatic", "fixed")
"""Types of joints that are of the same type if parent and child are exchanged."""


@dataclass(frozen=True, slots=True)
class LinkPlacement:
    """Pose of a link of the file in the moving link that carries it.

    Attributes:
        carrier: index of the moving link.
        rotation: (3, 3) axes of the link in the carrier's.
        position: (3,) [m] of its origin in the carrier's frame.
    """

    carrier: int
    rotation: np.ndarray
    position: np.ndarray


@dataclass(frozen=True, slots=True)
class MovingBodies:
    """The moving bodies of a robot.

    Attributes:
        joints: depth first, siblings by name.
        links: names of the links that the joints move.
        placements: by the names of the file's links, moving links before the links that they carry.
        prior: inertials of the moving links, including all links fixed to them.
    """

    joints: tuple[Joint, ...]
    links: tuple[str, ...]
    placements: dict[str, LinkPlacement]
    prior: InertialParameters

    @property
    def bodies_by_link(self) -> dict[str, tuple[str, ...]]:
        """Names of the file's links in each moving link, its own first."""
        names: dict[str, list[str]] = {link: [] for link in self.links}
        for name, place in self.placements.items():
            names[self.links[place.carrier]].append(name)
        return {link: tuple(found) for link, found in names.items()}


def find_moving_bodies(
    document: UrdfDocument, root_rotation: np.ndarray | None = None, root: str | None = None
) -> MovingBodies:
    """Joints, links and inertials of a checked document.

    A massless root with a single floating joint is the world: that joint is the free flyer. Joints between the file's
    root and another requested root are reversed; their coordinates keep their meaning.

    Args:
        document: as read.
        root_rotation: (3, 3) axes of the root link in those of the root of the moving bodies; the same by default.
        root: link that the free flyer moves, joined to the file's root by `REVERSIBLE` joints; the file's by default.

    Raises:
        InputError: a moving joint has a reserved name.
    """
    root = file_root(document) if root is None else root
    reverse = {joint.name for joint in path_to_root(document, root)}
    beyond: dict[str, list[UrdfJoint]] = {}
    for name in sorted(document.joints, reverse=True):
        joint = document.joints[name]
        beyond.setdefault(joint.child if name in reverse else joint.parent, []).append(joint)
    joints, links = [Joint(ROOT_JOINT, "free", -1, np.zeros(3), np.eye(3), np.zeros((0, 3)))], [root]
    carried = {root: LinkPlacement(0, np.eye(3) if root_rotation is None else root_rotation, np.zeros(3))}
    waiting = list(beyond.get(root, ()))
    while waiting:
        joint = waiting.pop()
        there, place, own = _place_child(joint, carried, joint.name in reverse)
        if joint.kind == "fixed":
            carried[there] = LinkPlacement(
                place.carrier, place.rotation @ own[0], place.position + place.rotation @ own[1]
            )
        else:
            if joint.name in RESERVED_JOINTS:
                named = f"joint {joint.name!r}"
                raise InputError(document.path, "has a reserved name", place=named, remedy="Rename it")
            carried[there] = LinkPlacement(len(links), *own)
            kind = KIND_BY_URDF_TYPE.get(joint.kind, joint.kind)
            axes = np.atleast_2d(joint.axis) if kind in ONE_OR_TWO_AXES else np.zeros((0, 3))
            axes = -axes if joint.name in reverse else axes
            joints.append(Joint(joint.name, kind, place.carrier, place.position, place.rotation, axes, joint.mimic))
            links.append(there)
        waiting += beyond.get(there, ())
    return MovingBodies(tuple(joints), tuple(links), carried, _merge_inertials(document, tuple(links), carried))


def file_root(document: UrdfDocument) -> str:
    """The link that a free flyer moves according to the file."""
    top = [joint for joint in document.joints.values() if joint.parent == document.root]
    root = document.links[document.root]
    is_massless = root.mass == 0.0 and root.element.find("inertial") is None
    held = len(top) == 1 and top[0].kind == "floating" and is_massless
    return top[0].child if held else document.root


def path_to_root(document: UrdfDocument, link: str) -> list[UrdfJoint]:
    """Joints from a link up to the file's root link; none for the root."""
    above = {joint.child: joint for joint in document.joints.values()}
    result, top = [], file_root(document)
    while link != top:
        result.append(above[link])
        link = above[link].parent
    return result


def _place_child(
    joint: UrdfJoint, carried: dict[str, LinkPlacement], reverse: bool
) -> tuple[str, LinkPlacement, tuple[np.ndarray, np.ndarray]]:
    """The link beyond a joint, the joint's placement, and axes (3, 3) and origin (3,) [m] of that link in the joint."""
    if reverse:
        return joint.parent, carried[joint.child], (joint.rotation.T, -joint.rotation.T @ joint.position)
    here = carried[joint.parent]
    rotation, position = here.rotation @ joint.rotation, here.position + here.rotation @ joint.position
    return joint.child, LinkPlacement(here.carrier, rotation, position), (np.eye(3), np.zeros(3))


def _merge_inertials(
    document: UrdfDocument, links: tuple[str, ...], carried: dict[str, LinkPlacement]
) -> InertialParameters:
    bodies = [document.links[name] for name in carried]
    rotations = np.array([place.rotation for place in carried.values()])
    places = np.array([place.position for place in carried.values()])
    # bodies b, axes i j k l
    coms = places + np.einsum("bij,bj->bi", rotations, [body.com for body in bodies])
    inertias = np.einsum("bij,bjk,blk->bil", rotations, [body.inertia for body in bodies], rotations)
    each = InertialParameters.from_com(tuple(carried), np.array([body.mass for body in bodies]), coms, inertias)
    values = np.zeros((len(links), each.values.shape[1]))
    np.add.at(values, [place.carrier for place in carried.values()], each.values)
    return InertialParameters(links, values)
