"""A rig as a MuJoCo model: the same links, joints and inertials, standing on the corners of its soles."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.base.errors import InvalidValue
from solver.base.so3 import to_matrix, to_quaternion
from solver.skeleton.rig import Rig
from solver.values.inertials import GRAVITY, InertialParameters

CORNER = 0.02
"""Radius of the ball under each sole corner, as a share of the sole's longest side; its lowest point is the corner."""
FLOOR = "floor"
ROOT_JOINT = "root"


@dataclass(frozen=True, slots=True)
class Ground:
    """How soles and floor touch.

    MuJoCo's contacts are springs and dampers in acceleration: time constants, not stiffnesses, so one choice serves a
    robot of 9 kg and a person of 70 kg alike.

    Attributes:
        friction: Coulomb's coefficient, the checks' default.
        time_constant: [s] of the contact; 5 ms lets a standing body sink by less than 0.1 mm.
        rigidity: (least, most) impedance, MuJoCo's solimp.
        grip: ratio of frictional to normal impedance; large, because friction yields and a dance takes minutes.
    """

    friction: float = 0.5
    time_constant: float = 0.005
    rigidity: tuple[float, float] = (0.95, 0.99)
    grip: float = 100.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Where Pinocchio's coordinates stand in MuJoCo's arrays.

    Attributes:
        q: (nq,) mujoco_qpos = q[layout.q]; quaternions become wxyz.
        v: (nv,) mujoco_qvel = v[layout.v], but for the root's linear part, which MuJoCo writes in world axes.
        balls: first velocity column of every ball joint, Pinocchio's order.
        bodies: MuJoCo's body name of every link: the link's own.
    """

    q: np.ndarray
    v: np.ndarray
    balls: tuple[int, ...]
    bodies: tuple[str, ...]

    def qpos(self, q: np.ndarray) -> np.ndarray:
        """MuJoCo's positions (..., nq) of configurations (..., nq)."""
        return np.asarray(q, float)[..., self.q]

    def configuration(self, qpos: np.ndarray) -> np.ndarray:
        """Configurations (..., nq) of MuJoCo's positions (..., nq)."""
        q = np.empty_like(qpos)
        q[..., self.q] = qpos
        return q

    def qvel(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """MuJoCo's velocities (nv,) of one frame: the root's linear one is turned to world axes."""
        world = np.array(v, float)
        world[:3] = to_matrix(q[3:7]) @ world[:3]
        return world[self.v]

    def velocity(self, q: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Velocity (nv,) in Pinocchio's convention of one frame."""
        v = np.empty_like(qvel)
        v[self.v] = qvel
        v[:3] = to_matrix(q[3:7]).T @ v[:3]
        return v

    def qacc(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """MuJoCo's accelerations (nv,) of one frame: d/dt (R v) = R (a + omega x v) for the root."""
        world = np.array(a, float)
        world[:3] = to_matrix(q[3:7]) @ (world[:3] + np.cross(v[3:6], v[:3]))
        return world[self.v]

    def force(self, q: np.ndarray, qfrc: np.ndarray) -> np.ndarray:
        """Generalised forces (nv,) in Pinocchio's convention of MuJoCo's."""
        return self.velocity(q, qfrc)  # dual to the velocity, and the change of axes is orthogonal


def layout(rig: Rig) -> Layout:
    """Coordinates of the MuJoCo model that `mjcf` writes for a rig.

    Raises:
        InvalidValue: a joint that MuJoCo has no equal of.
    """
    q: list[int] = []
    v: list[int] = []
    balls = []
    for link in _depth_first(rig):
        own, moves = rig.q_slices[link], rig.v_slices[link]
        kind = _kind(rig, link)
        if kind == "free":
            q += [0, 1, 2, 6, 3, 4, 5]
        elif kind == "ball":
            q += [own.start + 3, own.start, own.start + 1, own.start + 2]
            balls.append(moves.start)
        else:
            q += range(own.start, own.stop)
        v += range(moves.start, moves.stop)
    return Layout(np.array(q), np.array(v), tuple(sorted(balls)), rig.links)


def mjcf(
    rig: Rig,
    inertials: InertialParameters | None = None,
    ground: Ground | None = None,
    *,
    height: float = 0.0,
    timestep: float = 1e-3,
    contacts: bool = True,
) -> str:
    """MJCF text of a rig: link frames, joints and inertials as they are, balls at the soles' corners, a floor.

    Only soles and floor collide: whether links hit each other is the checks' business, and a difference of shapes
    should not look like a difference of dynamics.

    Args:
        rig: to write.
        inertials: of the links; the rig's prior by default.
        ground: how soles and floor touch.
        height: [m] of the floor, world.
        timestep: [s].
        contacts: False leaves the floor and the soles out.

    Raises:
        InvalidValue: no such body can exist (a link whose inertials are not physically consistent), no sole to stand
            on, or a joint that MuJoCo has no equal of.
    """
    ground = Ground() if ground is None else ground
    parameters = rig.prior if inertials is None else inertials
    _require_physical(rig, parameters)
    root = ET.Element("mujoco", model=rig.name or "rig")
    # a rig's frames are link frames and its angles radians; inertials are written, never taken from shapes
    ET.SubElement(root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
    option = ET.SubElement(root, "option", timestep=_text([timestep]), gravity=_text([0.0, 0.0, -GRAVITY]),
                           integrator="implicitfast", cone="elliptic", impratio=_text([ground.grip]))  # fmt: skip
    option.set("iterations", "50")
    option.set("tolerance", "1e-10")
    world = ET.SubElement(root, "worldbody")
    if contacts:
        plane = {"name": FLOOR, "type": "plane", "size": "0 0 1", "pos": _text([0.0, 0.0, height])}
        ET.SubElement(world, "geom", plane | {"contype": "1", "conaffinity": "0"} | _touch(ground))
    elements: dict[int, ET.Element] = {-1: world}
    for link in _depth_first(rig):
        elements[link] = _body(rig, link, parameters, elements[rig.parents[link]])
    if contacts:
        _soles(rig, elements, ground)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def sole_geoms(rig: Rig) -> dict[str, tuple[str, ...]]:
    """Names of the corner geoms of every contact patch."""
    return {
        patch.name: tuple(f"{patch.name} {number}" for number in range(len(patch.vertices))) for patch in rig.contacts
    }


def _body(rig: Rig, link: int, parameters: InertialParameters, parent: ET.Element) -> ET.Element:
    name, joint = rig.links[link], rig.joints[link]
    body = ET.SubElement(parent, "body", name=name, pos=_text(joint.position), quat=_quat(joint.rotation))
    inertia = parameters.inertias_at_com[link]
    six = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    ET.SubElement(body, "inertial", pos=_text(parameters.coms[link]), mass=_text([parameters.masses[link]]),
                  fullinertia=_text(six))  # fmt: skip
    kind = _kind(rig, link)
    if kind == "free":
        ET.SubElement(body, "freejoint", name=ROOT_JOINT)
    elif kind == "ball":
        ET.SubElement(body, "joint", name=name, type="ball")
    else:
        for number, axis in enumerate(joint.axes):
            ET.SubElement(body, "joint", name=f"{name} {number}" if number else name, type=kind, axis=_text(axis))
    return body


def _soles(rig: Rig, elements: dict[int, ET.Element], ground: Ground) -> None:
    if not rig.contacts:
        raise InvalidValue(f"rig {rig.name!r} has no contact patches: it has nothing to stand on")
    for patch, names in zip(rig.contacts, sole_geoms(rig).values()):
        sides = np.roll(patch.vertices, -1, axis=0) - patch.vertices
        radius = CORNER * float(np.linalg.norm(sides, axis=1).max())
        outwards = np.cross(sides[0], sides[1])
        inwards = -outwards / np.linalg.norm(outwards)
        for name, corner in zip(names, patch.vertices):
            ball = {"name": name, "type": "sphere", "size": _text([radius]), "pos": _text(corner + radius * inwards)}
            silent = {"contype": "0", "conaffinity": "1", "mass": "0"}
            ET.SubElement(elements[rig.index(patch.link)], "geom", ball | silent | _touch(ground))


def _touch(ground: Ground) -> dict[str, str]:
    return {
        "condim": "3",
        "friction": _text([ground.friction, 0.0, 0.0]),
        "solref": _text([ground.time_constant, 1.0]),
        "solimp": _text([*ground.rigidity, 1e-3]),
    }


def _require_physical(rig: Rig, parameters: InertialParameters) -> None:
    if parameters.links != rig.links:
        raise InvalidValue(f"the inertial parameters name other links than rig {rig.name!r}")
    for name, mass, margin in zip(parameters.links, parameters.masses, parameters.consistency_margin):
        if mass <= 0.0 or margin <= 0.0:
            raise InvalidValue(
                f"link {name!r} of rig {rig.name!r} cannot exist: mass {mass:g} kg, smallest eigenvalue of its "
                f"pseudo-inertia {margin:g}; simulate consistent inertials"
            )


KINDS = {"free": "free", "spherical": "ball", "revolute": "hinge", "universal": "hinge", "prismatic": "slide"}
"""MuJoCo's names of the kinds of joints."""


def _kind(rig: Rig, link: int) -> str:
    joint = rig.joints[link]
    if joint.kind not in KINDS:
        raise InvalidValue(f"joint {joint.name!r} of rig {rig.name!r} is {joint.kind}: MuJoCo has no equal of it")
    return KINDS[joint.kind]


def _depth_first(rig: Rig) -> list[int]:
    """Links in the order in which MuJoCo numbers nested bodies: each with all its descendants before its sibling."""
    children: dict[int, list[int]] = {link: [] for link in range(len(rig.links))}
    for link, parent in enumerate(rig.parents[1:], start=1):
        children[parent].append(link)
    order: list[int] = []
    waiting = [0]
    while waiting:
        link = waiting.pop()
        order.append(link)
        waiting += reversed(children[link])
    return order


def _quat(rotation: np.ndarray) -> str:
    x, y, z, w = to_quaternion(rotation)
    return _text([w, x, y, z])


def _text(numbers: Sequence[float] | np.ndarray) -> str:
    return " ".join(repr(float(number)) for number in numbers)
