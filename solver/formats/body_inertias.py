"""Share the inertials of a rig's links among the bodies of the file that it was read from.

A link may hold several bodies, for example a hand welded to its forearm. The link's mass distribution is mapped from
the file's to the identified one by a linear map, and that map is applied to each body. So the bodies' inertials add up
to the link's, each is physically consistent, and none changes if the link's does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..rigs.moving_bodies import LinkPlacement
from ..rigs.opensim.document import OpenSimBody
from ..rigs.opensim.rig import consistent_inertia
from ..rigs.urdf_document import UrdfLink
from ..values.inertials import InertialParameters

SAME = 1e-12
"""Largest relative difference of a number that is not written."""
ROUNDED_MARGIN = 1e-9
"""An eigenvalue of a pseudo-inertia that is more negative than this, relative to the largest, is no rounding error."""


Massive = OpenSimBody | UrdfLink
"""What has a mass [kg], a centre of mass (3,) [m] and an inertia (3, 3) [kg m^2] about it, in axes of its own."""


@dataclass(frozen=True, slots=True)
class BodyInertia:
    """Mass [kg], centre of mass (3,) [m] and inertia (3, 3) [kg m^2] about it, body axes."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def split_links(
    bodies: Mapping[str, Massive], placements: Mapping[str, LinkPlacement], inertials: InertialParameters
) -> dict[str, BodyInertia]:
    """Inertials of every body with mass from those of the links that carry them.

    Args:
        bodies: of the file, by name.
        placements: of the bodies in the links.
        inertials: of the links.

    Raises:
        InvalidValue: a link's parameters are not physically consistent.
    """
    found: dict[str, BodyInertia] = {}
    for index, link in enumerate(inertials.links):
        names = [name for name, place in placements.items() if place.carrier == index and bodies[name].mass > 0.0]
        if not names:
            continue
        goal = inertials.pseudo_inertias[index]
        values = np.linalg.eigvalsh(goal)
        if values[0] < -ROUNDED_MARGIN * values[-1] or inertials.masses[index] <= 0.0:
            raise InvalidValue(f"link {link!r} has inertials that no body can have; write a consistent result instead")
        found |= split_body(bodies, {name: homogeneous(placements[name]) for name in names}, goal)
    return found


def split_body(
    bodies: Mapping[str, Massive], poses: Mapping[str, np.ndarray], goal: np.ndarray
) -> dict[str, BodyInertia]:
    """Inertials of bodies with poses (4, 4) in one frame, so that their pseudo-inertias (4, 4) there sum to a goal."""
    parts = [pose @ _pseudo_inertia(bodies[name]) @ pose.T for name, pose in poses.items()]
    backs = [np.linalg.inv(pose) for pose in poses.values()]
    return {name: _body_inertia(back @ part @ back.T) for name, back, part in zip(poses, backs, map_parts(parts, goal))}


def map_parts(parts: Sequence[np.ndarray], goal: np.ndarray) -> list[np.ndarray]:
    """Pseudo-inertias (4, 4) that add up to the goal: the parts, mapped as their sum is mapped to the goal.

    The map is the symmetric positive one, hence nearest to none, in units of the parts' size.
    """
    if len(parts) == 1:
        return [goal]
    total = np.sum(parts, axis=0)
    size = np.sqrt(np.trace(total[:3, :3]) / total[3, 3])
    unit = np.diag([size, size, size, 1.0])
    scaled, wanted = (np.linalg.solve(unit, np.linalg.solve(unit, matrix).T) for matrix in (total, goal))
    root, inverse = _power(scaled, 0.5), _power(scaled, -0.5)
    mapping = unit @ inverse @ _power(root @ wanted @ root, 0.5) @ inverse @ np.linalg.inv(unit)
    return [mapping @ part @ mapping.T for part in parts]


def find_changes(new: BodyInertia, old: Massive) -> tuple[bool, bool, bool]:
    """Whether mass, centre of mass and inertia differ by more than `SAME`, relative to the body's mass and size."""
    size = float(np.sqrt(np.trace(old.inertia) / old.mass) + np.linalg.norm(old.com)) or 1.0
    return (
        abs(new.mass - old.mass) > SAME * old.mass,
        bool(np.abs(new.com - old.com).max() > SAME * size),
        bool(np.abs(new.inertia - old.inertia).max() > SAME * old.mass * size**2),
    )


def homogeneous(place: LinkPlacement) -> np.ndarray:
    """(4, 4) pose of a body in the link that carries it."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = place.rotation, place.position
    return pose


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return (vectors * np.maximum(values, 1e-15 * values[-1]) ** exponent) @ vectors.T


def _pseudo_inertia(body: Massive) -> np.ndarray:
    inertia = consistent_inertia(body.inertia)[None]
    return InertialParameters.from_com(("body",), np.array([body.mass]), body.com[None], inertia).pseudo_inertias[0]


def _body_inertia(pseudo: np.ndarray) -> BodyInertia:
    mass, com = float(pseudo[3, 3]), pseudo[:3, 3] / pseudo[3, 3]
    second = pseudo[:3, :3] - mass * np.outer(com, com)
    return BodyInertia(mass, com, np.trace(second) * np.eye(3) - 0.5 * (second + second.T))
