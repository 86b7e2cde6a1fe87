"""Links, joints and limits of a robot in an MJCF file, from MuJoCo's compiled model, as a URDF would state them.

MuJoCo compiles defaults, includes, angles in degrees and inertias of geoms, so that the model is what it simulates. A
body with several joints becomes a chain of massless links, a joint away from its body's origin moves the link's origin
to the joint, and a joint with a reference angle keeps its angles.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ..base.errors import InputError, MissingDependency
from ..base.so3 import exp, to_matrix
from ..values.joints import Mimic
from .safe_xml import read_xml
from .urdf_document import UrdfDocument, UrdfJoint, UrdfLink, resolve_mimic

FREE, BALL, SLIDE, HINGE = range(4)
"""MuJoCo's types of joints."""
JOINT_EQUALITY = 2
"""MuJoCo's type of an equality constraint between joints. By the MuJoCo specification (mjtEq)."""
EQUALITY_KINDS = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
"""MuJoCo's types of equality constraints by their number."""
JOINT_TRANSMISSION = 0
"""MuJoCo's type of a transmission that acts on a joint. By the MuJoCo specification (mjtTrn)."""
MAX_BODIES = 5_000
"""Largest number of bodies and points of flexible bodies. Measured on models of that size: MuJoCo's time grows with
the square, and 5,000 bodies take about ten seconds; robots have some hundred."""
MAX_GRID_POINTS = 4_000_000
"""Largest number of points of a height field or computed texture."""
MAX_RESERVED = 10_000
"""Largest number of values that a file may reserve per body, joint and so on, and of keyframes."""
GRIDS = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}
REPLICATING_TAGS = ("replicate", "flexcomp", "composite")
"""Elements that create as many copies as their count."""


@dataclass(frozen=True, slots=True)
class MjcfModel:
    """One robot of a compiled model.

    Attributes:
        document: its links and joints.
        origins: (3,) [m] origin of each link in the frame of its MuJoCo body, by body number.
        model: MuJoCo's model.
        excluded_pairs: of bodies whose contacts the file excludes.
        other_bodies: that are not part of the robot.
    """

    document: UrdfDocument
    origins: Mapping[int, np.ndarray]
    model: Any
    excluded_pairs: tuple[tuple[str, str], ...]
    other_bodies: tuple[str, ...]


def read_mjcf(path: str | Path) -> MjcfModel:
    """Compile an MJCF file and extract the robot: the body on the world that carries the most joints.

    Raises:
        MissingDependency: MuJoCo is not installed.
        InputError: no file, not MJCF, a file that MuJoCo cannot compile or that is too large, or no body.
    """
    path = Path(path)
    root = read_xml(path)
    if root.tag != "mujoco":
        raise InputError(path, f"the outermost element is <{root.tag}>, not <mujoco>", remedy="Give an MJCF file")
    check_size(path, root)
    try:
        import mujoco
    except ImportError as error:
        remedy = "`pip install 'exciting-dance[mjcf]'`, or give the robot's URDF"
        raise MissingDependency(f"reading MJCF needs MuJoCo, which is not installed: {remedy}") from error
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError, MemoryError) as error:
        try:
            model = _compile_without_scene(mujoco, path)
        except (ValueError, RuntimeError, MemoryError, AttributeError):
            raise InputError(path, f"MuJoCo cannot compile it: {str(error).splitlines()[0]}") from error
    return _MjcfReader(path, model).read()


def _compile_without_scene(mujoco: Any, path: Path) -> Any:
    """Compile a file that a scene includes, without elements that may refer to that scene, such as its floor."""
    spec = mujoco.MjSpec.from_file(str(path))
    for own in (*spec.pairs, *spec.sensors, *spec.keys):
        spec.delete(own)
    return spec.compile()


def body_name(model: Any, number: int) -> str:
    """Name of a body, by its number if it has none."""
    return str(model.body(number).name) or f"body_{number}"


class _MjcfReader:
    def __init__(self, path: Path, model: Any) -> None:
        self.path, self.model = path, model
        self.links: dict[str, UrdfLink] = {}
        self.joints: dict[str, UrdfJoint] = {}
        self.origins: dict[int, np.ndarray] = {}

    def read(self) -> MjcfModel:
        model = self.model
        if not (top := [k for k in range(1, model.nbody) if model.body_parentid[k] == 0]):
            raise InputError(self.path, "holds no body", remedy="Give a robot's MJCF, not a scene's")
        under = {k: [n for n in range(1, model.nbody) if self._top_body(n) == k] for k in top}
        robot = max(top, key=lambda k: sum(int(model.body_jntnum[n]) for n in under[k]))
        for number in under[robot]:
            self._add_body(number, robot)
        joints, notes = self._joints_with_mimic()
        document = UrdfDocument(
            self.path,
            str(read_xml(self.path).get("model", self.path.stem)),
            self.links,
            joints,
            body_name(model, robot),
            notes,
        )
        names = [body_name(model, k) for k in range(model.nbody)]
        signatures = [divmod(int(pair), 1 << 16) for pair in np.asarray(model.exclude_signature).reshape(-1)]
        apart = tuple((names[one], names[other]) for one, other in signatures)
        return MjcfModel(document, self.origins, model, apart, tuple(names[k] for k in top if k != robot))

    def _top_body(self, number: int) -> int:
        parents = self.model.body_parentid
        while parents[number]:
            number = int(parents[number])
        return number

    def _add_body(self, number: int, robot: int) -> None:
        """Add a link for a body, after a massless link for each of its joints but the last."""
        model, name = self.model, body_name(self.model, number)
        first, count = int(model.body_jntadr[number]), int(model.body_jntnum[number])
        joints = [] if number == robot else list(range(first, first + count))
        offset = np.array(model.jnt_pos[joints[-1]]) if joints else np.zeros(3)
        self.origins[number] = offset
        turn = rotation_matrix(model.body_iquat[number])
        inertia = turn @ np.diag(model.body_inertia[number]) @ turn.T
        com = np.array(model.body_ipos[number]) - offset
        self.links[name] = UrdfLink(name, Element("link"), float(model.body_mass[number]), com, inertia)
        if number == robot:
            return
        parent = int(model.body_parentid[number])
        before, carrier = -self.origins[parent], body_name(model, parent)
        turned, placed = rotation_matrix(model.body_quat[number]), np.array(model.body_pos[number])
        if not joints:
            self._add_joint(f"{name}_fixed", "fixed", (carrier, name), (turned, before + placed), None)
        for joint in joints:
            child = name if joint == joints[-1] else f"{name}_{self._joint_name(joint, name)}"
            if child != name:
                self.links[child] = UrdfLink(child, Element("link"), 0.0, np.zeros(3), np.zeros((3, 3)))
            at = np.array(model.jnt_pos[joint])
            place = before + placed + turned @ at if joint == joints[0] else at - np.array(model.jnt_pos[joint - 1])
            basis = turned if joint == joints[0] else np.eye(3)
            self._add_joint(
                self._joint_name(joint, name), self._joint_kind(joint), (carrier, child), (basis, place), joint
            )
            carrier = child

    def _add_joint(
        self, name: str, kind: str, ends: tuple[str, str], place: tuple[np.ndarray, np.ndarray], joint: int | None
    ) -> None:
        model, (turned, position) = self.model, place
        axis, lower, upper, effort = np.array([1.0, 0.0, 0.0]), None, None, None
        if joint is not None:
            axis = np.array(model.jnt_axis[joint])
            reference = float(model.qpos0[model.jnt_qposadr[joint]]) if kind not in ("spherical", "floating") else 0.0
            if kind == "prismatic":
                position = position - turned @ axis * reference
            elif reference:
                turned = turned @ exp(-reference * axis)
            if kind in ("revolute", "prismatic"):
                lower, upper = self._joint_range(joint)
            effort = self._joint_effort(joint)
        if name in self.joints:
            raise InputError(self.path, f"joint name {name!r} is used twice", remedy="Rename one")
        self.joints[name] = UrdfJoint(name, kind, *ends, turned, position, axis, lower, upper, None, effort)

    def _joint_kind(self, joint: int) -> str:
        kind = int(self.model.jnt_type[joint])
        if kind == HINGE:
            return "continuous" if self._joint_range(joint)[0] is None else "revolute"
        return {FREE: "floating", BALL: "spherical", SLIDE: "prismatic"}[kind]

    def _joint_name(self, joint: int, body: str) -> str:
        return str(self.model.joint(joint).name) or f"{body}_joint_{joint}"

    def _joint_range(self, joint: int) -> tuple[float | None, float | None]:
        """Range of a joint, or else of its position actuators' commands; None without either."""
        model = self.model
        if model.jnt_limited[joint]:
            low, high = (float(end) for end in model.jnt_range[joint])
            return low, high
        own = [k for k in range(model.nu) if self._acts_on(k, joint) and self._is_position_drive(k)]
        ends = [np.sort(model.actuator_ctrlrange[k] / model.actuator_gear[k, 0]) for k in own]
        return (float(max(end[0] for end in ends)), float(min(end[1] for end in ends))) if ends else (None, None)

    def _is_position_drive(self, actuator: int) -> bool:
        """Whether an actuator is a position servo with limited commands."""
        model = self.model
        gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
        places = gain[0] > 0.0 and bias[1] == -gain[0] and model.actuator_gear[actuator, 0] != 0.0
        return bool(places and model.actuator_ctrllimited[actuator])

    def _joint_effort(self, joint: int) -> float | None:
        """[N m, N] Largest effort of a joint's actuators; None if the file does not state it."""
        model = self.model
        if model.jnt_actfrclimited[joint]:
            return float(np.abs(model.jnt_actfrcrange[joint]).max())
        most = [self._max_drive_force(k) for k in range(model.nu) if self._acts_on(k, joint)]
        known = [force for force in most if force is not None]
        return sum(known) if known and len(known) == len(most) else None

    def _acts_on(self, actuator: int, joint: int) -> bool:
        model = self.model
        return (
            int(model.actuator_trntype[actuator]) == JOINT_TRANSMISSION
            and int(model.actuator_trnid[actuator, 0]) == joint
        )

    def _max_drive_force(self, actuator: int) -> float | None:
        model = self.model
        gear = float(np.abs(model.actuator_gear[actuator, 0]))
        if model.actuator_forcelimited[actuator]:
            return gear * float(np.abs(model.actuator_forcerange[actuator]).max())
        motor = not model.actuator_gaintype[actuator] and not model.actuator_biastype[actuator]
        if motor and model.actuator_ctrllimited[actuator]:
            gain = float(np.abs(model.actuator_gainprm[actuator, 0]))
            return gear * gain * float(np.abs(model.actuator_ctrlrange[actuator]).max())
        return None

    def _joints_with_mimic(self) -> tuple[dict[str, UrdfJoint], tuple[str, ...]]:
        """The joints, those that an equality constraint couples linearly with their source; and a note on the other
        constraints of the robot, which a tree cannot keep."""
        model, result = self.model, dict(self.joints)
        lost = []
        for k in range(model.neq):
            kind, first, second = (int(part[k]) for part in (model.eq_type, model.eq_obj1id, model.eq_obj2id))
            if kind == JOINT_EQUALITY and second >= 0 and not np.any(model.eq_data[k, 2:5]):
                own, source = (str(model.joint(joint).name) for joint in (first, second))
                if own in result and source in result:
                    offset, multiplier = (float(value) for value in model.eq_data[k, :2])
                    result[own] = replace(result[own], mimic=Mimic(source, multiplier, offset))
                    continue
            lost.append(str(model.equality(k).name) or f"{EQUALITY_KINDS[kind]} {k + 1}")
        note = f"constraints that a tree cannot keep, left out: {', '.join(lost)}; their joints move independently"
        result, notes = resolve_mimic(result)
        return result, (*notes, *((note,) if lost else ()))


def rotation_matrix(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) of MuJoCo's quaternion wxyz."""
    return to_matrix(np.roll(quaternion, -1) / np.linalg.norm(quaternion))


def check_size(path: Path, root: Element) -> None:
    """Check that a file, with all files that it includes or attaches, is within the limits of this module.

    Args:
        path: of the file.
        root: its outermost element.

    Raises:
        InputError: it is too large, an included file is not XML, or files include each other in a circle.
    """
    count = _SizeCounter(path).count_file(root, path, ())
    if count > MAX_BODIES:
        problem = f"creates {count} bodies and points, the limit is {MAX_BODIES}"
        remedy = "Remove what is not part of the robot, for example <replicate> or <flexcomp>"
        raise InputError(path, problem, remedy=remedy)


class _SizeCounter:
    def __init__(self, main: Path) -> None:
        self.main = main
        self.known: dict[Path, int] = {}
        self.models: dict[str, Path] = {}

    def count_file(self, root: Element, file: Path, within: tuple[Path, ...]) -> int:
        """Bodies and points that a file creates."""
        for model in root.iter("model"):
            if (found := self._resolve_file(model.get("file"), file)) is not None:
                self.models[model.get("name", found.stem)] = found
        return self._count_element(root, file, (*within, file.resolve()))

    def _count_element(self, element: Element, file: Path, within: tuple[Path, ...]) -> int:
        """Bodies and points that an element and its children create."""
        tag = str(element.tag)
        if tag in GRIDS:
            self._check_grid(element, file)
        elif tag == "size":
            for key, value in element.items():
                if key.startswith(("nuser_", "nkey")) and _parse_count(value) > MAX_RESERVED:
                    problem = f"reserves {value} numbers, the limit is {MAX_RESERVED}"
                    raise InputError(file, problem, place=f"<size {key}>", remedy="Lower it")
        elif tag == "include":
            return self._count_included(element.get("file"), file, within)
        elif tag == "attach":
            attached = self.models.get(element.get("model", ""))
            return 0 if attached is None else self._count_included(str(attached), file, within)
        own = sum(self._count_element(inner, file, within) for inner in element)
        if tag in REPLICATING_TAGS:
            copies = 1
            for number in element.get("count", "1").split():
                copies *= max(_parse_count(number), 1)
            return copies * max(own, 1)
        return own + (tag == "body")

    def _check_grid(self, element: Element, file: Path) -> None:
        sides = [_parse_count(element.get(key, "0")) for key in GRIDS[str(element.tag)]]
        if sides[0] * sides[1] > MAX_GRID_POINTS:
            problem = f"has {sides[0]} x {sides[1]} points, the limit is {MAX_GRID_POINTS}"
            name = element.get("name", "")
            raise InputError(file, problem, place=f"<{element.tag} {name!r}>", remedy="Remove it: no robot needs it")

    def _count_included(self, name: str | None, file: Path, within: tuple[Path, ...]) -> int:
        """Bodies and points of another file; 0 for a missing one, which MuJoCo refuses."""
        if (found := self._resolve_file(name, file)) is None:
            return 0
        if found in within:
            raise InputError(file, f"includes {name!r}, which includes this file", remedy="Remove the circular include")
        if found not in self.known:
            self.known[found] = self.count_file(read_xml(found), found, within)
        return self.known[found]

    def _resolve_file(self, name: str | None, file: Path) -> Path | None:
        """The path of a file, relative to the main file or to the file that names it; None if it is missing.

        Raises:
            InputError: it lies outside the main file's folder and the folder above: a model that comes from anybody
                must not name files of the reader's.
        """
        places = [folder / name for folder in (self.main.parent, file.parent)] if name else []
        found = next((place.resolve() for place in places if os.path.isfile(place)), None)
        if found is not None and not found.is_relative_to(self.main.resolve().parent.parent):
            remedy = "Put it into the model's folder, and name it relative to the model"
            raise InputError(file, f"includes {name!r}, which is outside the model's folders", remedy=remedy)
        return found


def _parse_count(text: str) -> int:
    """Parse a whole number; 0 for anything else, which MuJoCo refuses."""
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        return 0
