"""From a checked URDF to the moving bodies: joints in order, fixed links merged into what carries them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..inertials import InertialParameters
from ..joints import Joint
from .assembly import ROOT
from .urdf_document import AXIS_TYPES, UrdfDocument, UrdfJoint

RESERVED = (ROOT, "universe")
"""Joints that every model has."""
KINDS = {"floating": "free"}
"""Kind of joint of a rig by URDF's name, where it is another."""


@dataclass(frozen=True, slots=True)
class Carried:
    """Where a link of the file stands in the moving link that carries it.

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
    """What moves.

    Attributes:
        joints: depth first, siblings by name.
        links: names of the links that the joints move.
        carried: by the names of the file's links, a carrier before what it carries.
        prior: inertials of the moving links, with all that is fixed to them.
    """

    joints: tuple[Joint, ...]
    links: tuple[str, ...]
    carried: dict[str, Carried]
    prior: InertialParameters

    @property
    def merged(self) -> dict[str, tuple[str, ...]]:
        """Names of the file's links in each moving link, its own first."""
        names: dict[str, list[str]] = {link: [] for link in self.links}
        for name, place in self.carried.items():
            names[self.links[place.carrier]].append(name)
        return {link: tuple(found) for link, found in names.items()}


def moving_bodies(document: UrdfDocument, turned: np.ndarray | None = None) -> MovingBodies:
    """Joints, links and inertials of a checked document.

    A massless root that only holds the robot by a floating joint is the world: that joint is the free flyer.

    Args:
        document: as read.
        turned: (3, 3) axes of the file's root link in those of the root of the moving bodies; the same by default.

    Raises:
        InputError: a moving joint has a name that every model gives to another.
    """
    below: dict[str, list[UrdfJoint]] = {}
    for name in sorted(document.joints, reverse=True):
        below.setdefault(document.joints[name].parent, []).append(document.joints[name])
    top = below.get(document.root, [])
    held = (
        len(top) == 1 and top[0].kind == "floating" and document.links[document.root].element.find("inertial") is None
    )
    root = top[0].child if held else document.root
    joints, links = [Joint(ROOT, "free", -1, np.zeros(3), np.eye(3), np.zeros((0, 3)))], [root]
    carried = {root: Carried(0, np.eye(3) if turned is None else turned, np.zeros(3))}
    waiting = list(below.get(root, ()))
    while waiting:
        joint = waiting.pop()
        parent = carried[joint.parent]
        rotation, position = parent.rotation @ joint.rotation, parent.position + parent.rotation @ joint.position
        if joint.kind == "fixed":
            carried[joint.child] = Carried(parent.carrier, rotation, position)
        else:
            if joint.name in RESERVED:
                place = f"joint {joint.name!r}"
                raise InputError(
                    document.path, "has the name of a joint of every model", place=place, remedy="Rename it"
                )
            carried[joint.child] = Carried(len(links), np.eye(3), np.zeros(3))
            kind = KINDS.get(joint.kind, joint.kind)
            axes = joint.axis[None] if joint.kind in AXIS_TYPES and kind != "planar" else np.zeros((0, 3))
            joints.append(Joint(joint.name, kind, parent.carrier, position, rotation, axes, joint.mimic))
            links.append(joint.child)
        waiting += below.get(joint.child, ())
    return MovingBodies(tuple(joints), tuple(links), carried, _prior(document, tuple(links), carried))


def _prior(document: UrdfDocument, links: tuple[str, ...], carried: dict[str, Carried]) -> InertialParameters:
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
