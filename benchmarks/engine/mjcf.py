"""A rig as a MuJoCo model: the same links, joints and inertials, standing on the corners of its soles."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.engine.pinocchio_loader import pin
from solver.errors import InvalidValue
from solver.inertials import InertialParameters
from solver.rig import Rig

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
        world[:3] = _root_rotation(q) @ world[:3]
        return world[self.v]

    def velocity(self, q: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Velocity (nv,) in Pinocchio's convention of one frame."""
        v = np.empty_like(qvel)
        v[self.v] = qvel
        v[:3] = _root_rotation(q).T @ v[:3]
        return v

    def qacc(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """MuJoCo's accelerations (nv,) of one frame: d/dt (R v) = R (a + omega x v) for the root."""
        world = np.array(a, float)
        world[:3] = _root_rotation(q) @ (world[:3] + np.cross(v[3:6], v[:3]))
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
    for joint in _depth_first(rig):
        entry = rig.model.joints[joint]
        kind = _kind(rig, joint)
        if kind == "free":
            q += [0, 1, 2, 6, 3, 4, 5]
        elif kind == "ball":
            at = entry.idx_q
            q += [at + 3, at, at + 1, at + 2]
            balls.append(int(entry.idx_v))
        else:
            q += range(entry.idx_q, entry.idx_q + entry.nq)
        v += range(entry.idx_v, entry.idx_v + entry.nv)
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
    root = ET.Element("mujoco", model=rig.model.name or "rig")
    # a rig's frames are link frames and its angles radians; inertials are written, never taken from shapes
    ET.SubElement(root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
    option = ET.SubElement(root, "option", timestep=_text([timestep]), gravity=_text(rig.model.gravity.linear),
                           integrator="implicitfast", cone="elliptic", impratio=_text([ground.grip]))  # fmt: skip
    option.set("iterations", "50")
    option.set("tolerance", "1e-10")
    world = ET.SubElement(root, "worldbody")
    if contacts:
        plane = {"name": FLOOR, "type": "plane", "size": "0 0 1", "pos": _text([0.0, 0.0, height])}
        ET.SubElement(world, "geom", plane | {"contype": "1", "conaffinity": "0"} | _touch(ground))
    elements: dict[int, ET.Element] = {0: world}
    for joint in _depth_first(rig):
        elements[joint] = _body(rig, joint, parameters, elements[int(rig.model.parents[joint])])
    if contacts:
        _soles(rig, elements, ground)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def sole_geoms(rig: Rig) -> dict[str, tuple[str, ...]]:
    """Names of the corner geoms of every contact patch."""
    return {
        patch.name: tuple(f"{patch.name} {number}" for number in range(len(patch.vertices))) for patch in rig.contacts
    }


def _body(rig: Rig, joint: int, parameters: InertialParameters, parent: ET.Element) -> ET.Element:
    name = rig.links[joint - 1]
    placement = rig.model.jointPlacements[joint]
    body = ET.SubElement(parent, "body", name=name, pos=_text(placement.translation), quat=_quat(placement.rotation))
    row = joint - 1
    inertia = parameters.inertias_at_com[row]
    six = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    ET.SubElement(body, "inertial", pos=_text(parameters.coms[row]), mass=_text([parameters.masses[row]]),
                  fullinertia=_text(six))  # fmt: skip
    kind = _kind(rig, joint)
    if kind == "free":
        ET.SubElement(body, "freejoint", name=ROOT_JOINT)
    elif kind == "ball":
        ET.SubElement(body, "joint", name=name, type="ball")
    else:
        for number, axis in enumerate(_axes(rig, joint)):
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
            ET.SubElement(elements[rig.joint(patch.link)], "geom", ball | silent | _touch(ground))


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


def _kind(rig: Rig, joint: int) -> str:
    entry = rig.model.joints[joint]
    name = entry.shortname()
    if name == "JointModelFreeFlyer":
        return "free"
    if name == "JointModelSpherical":
        return "ball"
    if entry.nq == entry.nv == 1:
        return "slide" if name.startswith("JointModelP") else "hinge"
    if name == "JointModelUniversal":
        return "hinge"
    raise InvalidValue(f"joint {rig.model.names[joint]!r} of rig {rig.name!r} is a {name}: MuJoCo has no equal of it")


def _axes(rig: Rig, joint: int) -> np.ndarray:
    """Axes (k, 3) at zero in the link's frame of a joint of hinges, or of one slide."""
    data = rig.model.createData()
    pin.computeJointJacobians(rig.model, data, rig.neutral)
    entry = rig.model.joints[joint]
    own = pin.getJointJacobian(rig.model, data, joint, pin.LOCAL)[:, entry.idx_v : entry.idx_v + entry.nv]
    return own[:3].T if _kind(rig, joint) == "slide" else own[3:].T


def _depth_first(rig: Rig) -> list[int]:
    """Joints in the order in which MuJoCo numbers nested bodies: each with all its descendants before its sibling."""
    parents = list(rig.model.parents)
    children: dict[int, list[int]] = {joint: [] for joint in range(rig.model.njoints)}
    for joint in range(1, rig.model.njoints):
        children[int(parents[joint])].append(joint)
    order: list[int] = []
    waiting = [1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += reversed(children[joint])
    return order


def _root_rotation(q: np.ndarray) -> np.ndarray:
    return pin.Quaternion(np.array(q[3:7], float)).matrix()


def _quat(rotation: np.ndarray) -> str:
    x, y, z, w = pin.Quaternion(np.array(rotation)).coeffs()
    return _text([w, x, y, z])


def _text(numbers: Sequence[float] | np.ndarray) -> str:
    return " ".join(repr(float(number)) for number in numbers)
