"""Reading and checking an OpenSim model: bodies, joints with their coordinates, couplings, markers, meshes.

Files of version 2 and 3 hold each joint within its child body; files of version 4 hold a set of joints whose frames are
offset from bodies. Both become the same values here. Muscles, contact geometry and controllers are not read.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ...base.errors import InputError
from ...base.files import check_file, read_bytes
from ...base.numerals import numeral
from ...values.inertials import ROUNDED_MOMENT
from ..safe_xml import MAX_BYTES, parse_xml
from .functions import Function, constant_function, find_function, identity_function, read_function

GROUND = "ground"
OLD, NEW = range(20000, 30500), range(40000, 50000)
"""Versions that are read: joints within bodies, and joints in a set of their own."""
OPEN_REMEDY = "Open it in OpenSim 4 and save it"
X, Y, Z = np.eye(3)
SEQUENCES = {
    "WeldJoint": ((), ()), "PinJoint": ((Z,), ()), "SliderJoint": ((), (X,)), "UniversalJoint": ((X, Y), ()),
    "GimbalJoint": ((X, Y, Z), ()), "BallJoint": ((X, Y, Z), ()), "EllipsoidJoint": ((X, Y, Z), ()),
    "FreeJoint": ((X, Y, Z), (X, Y, Z)), "PlanarJoint": ((Z,), (X, Y)), "CustomJoint": ((), ()),
}  # fmt: skip
"""Axes of rotations and translations of each class of joint, in the order of its coordinates."""
OFFSET_FRAME = "PhysicalOffsetFrame"
SCAPULOTHORACIC = "ScapulothoracicJoint"
"""Three rotations on an ellipsoid, abduction, elevation and upward rotation of a scapula, and its winging about an axis
tangential to the ellipsoid."""
COMMENT = re.compile(rb"(?<=<!--).*?(?=-->)", re.DOTALL)
CLASS_WITHIN_CLASS = re.compile(rb"(</?\w+)::(?=\w)")


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A coordinate of a joint.

    Attributes:
        name: of the coordinate.
        default: [rad or m] value where a motion does not have it.
        lower, upper: [rad or m] its range.
        clamped: its values are kept within the range.
        locked: it keeps the default.
    """

    name: str
    default: float
    lower: float
    upper: float
    clamped: bool
    locked: bool


@dataclass(frozen=True, slots=True)
class TransformAxis:
    """A rotation about, or a translation along, an axis (3,), as a function of coordinates."""

    axis: np.ndarray
    coordinates: tuple[str, ...]
    function: Function


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame fixed to a body, or to the ground: axes (3, 3) and origin (3,) [m] in the body's frame."""

    body: str
    rotation: np.ndarray
    position: np.ndarray


@dataclass(frozen=True, slots=True)
class OpenSimJoint:
    """A joint.

    Attributes:
        name, kind: of the joint, and its class.
        parent, child: frames that it connects.
        coordinates: of the joint.
        rotations: in order, each about an axis of the frame that the one before it left.
        translations: of the child frame, along axes of the parent frame.
        radii: (3,) [m] of the ellipsoid on which the child frame slides; None for other joints.
        pivot: (3,) [m] point of the frame after the first three rotations, through which the fourth one's axis leads.
    """

    name: str
    kind: str
    parent: Frame
    child: Frame
    coordinates: tuple[Coordinate, ...]
    rotations: tuple[TransformAxis, ...]
    translations: tuple[TransformAxis, ...]
    radii: np.ndarray | None = None
    pivot: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Mesh:
    """A mesh file on a body, with its scale (3,), axes (3, 3) and origin (3,) [m] in the body's frame."""

    file: str
    scale: np.ndarray
    rotation: np.ndarray
    position: np.ndarray


@dataclass(frozen=True, slots=True)
class OpenSimBody:
    """A body: mass [kg], centre of mass (3,) [m], inertia (3, 3) [kg m^2] about it, body axes, and its meshes."""

    name: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    meshes: tuple[Mesh, ...]


@dataclass(frozen=True, slots=True)
class Coupling:
    """A coordinate that is a function of others."""

    dependent: str
    independent: tuple[str, ...]
    function: Function
    scale: float


@dataclass(frozen=True, slots=True)
class OpenSimModel:
    """A checked model.

    Attributes:
        path, name, version: of the file.
        bodies: by name, in file order.
        joints: each after the joint of its parent body; the first one's parent is the ground.
        couplings: coordinates that follow others.
        markers: body and position (3,) [m] by the marker's name.
        up: axis that points up, ``"y"`` or ``"z"``.
        approximations: what is read differently from OpenSim, in plain sentences.
    """

    path: Path
    name: str
    version: int
    bodies: dict[str, OpenSimBody]
    joints: tuple[OpenSimJoint, ...]
    couplings: tuple[Coupling, ...]
    markers: dict[str, tuple[str, np.ndarray]]
    up: str
    approximations: tuple[str, ...]

    @property
    def coordinates(self) -> dict[str, Coordinate]:
        """All coordinates by name."""
        return {coordinate.name: coordinate for joint in self.joints for coordinate in joint.coordinates}


def read_opensim(path: str | Path) -> OpenSimModel:
    """Read and check a model.

    Raises:
        InputError: no file, not an OpenSim model, a version or a class that is not read, an inertia that no body can
            have, a coordinate whose range or default is impossible, or joints that form no tree.
    """
    path = Path(path)
    check_file(path, MAX_BYTES)
    root = parse_xml(path, to_strict_markup(read_bytes(path)))
    if root.tag != "OpenSimDocument":
        problem = f"the outermost element is <{root.tag}>, not <OpenSimDocument>"
        raise InputError(path, problem, remedy="Give an OpenSim model (.osim)")
    text = root.get("Version", "")
    version = int(text) if text.isdigit() else 0
    if version not in OLD and version not in NEW:
        raise InputError(path, f"is of version {text or 'unknown'}, not 2, 3 or 4", remedy=OPEN_REMEDY)
    if (model := root.find("Model")) is None:
        raise InputError(path, "holds no model", remedy="Give an OpenSim model (.osim), not a setup file")
    return _OpenSimReader(path, model, version).read()


def to_strict_markup(data: bytes) -> bytes:
    """Bytes of a model as XML, with every element where it was.

    OpenSim reads and writes what XML forbids: hyphens within comments, which are left when a part that has comments is
    commented out, and names of classes within classes, such as ``HuntCrossleyForce::ContactParameters``.
    """
    data = COMMENT.sub(lambda found: found[0].replace(b"-", b" "), data)
    return CLASS_WITHIN_CLASS.sub(rb"\1..", data)


class _OpenSimReader:
    def __init__(self, path: Path, model: Element, version: int) -> None:
        self.path, self.model, self.version = path, model, version
        self.notes: list[str] = []
        self.components = _index_components(model)

    def read(self) -> OpenSimModel:
        elements = [e for e in self.components.values() if e.tag == "Body" and e.get("name") != GROUND]
        names = [element.get("name", "") for element in elements]
        self._check_names("body", names)
        if not names:
            raise InputError(self.path, "holds no body", remedy="Give a model with bodies")
        bodies = {name: self._read_body(name, element) for name, element in zip(names, elements)}
        self.all_bodies = bodies
        listed = self._read_new_joints(bodies) if self.version in NEW else self._read_old_joints(elements, bodies)
        joints = self._sort_joints(listed, bodies)
        bodies = {joint.child.body: bodies[joint.child.body] for joint in joints}
        coordinates = [coordinate.name for joint in joints for coordinate in joint.coordinates]
        self._check_names("coordinate", coordinates)
        return OpenSimModel(
            self.path,
            self.model.get("name") or self.path.stem,
            self.version,
            bodies,
            joints,
            self._read_couplings(coordinates),
            self._read_markers(bodies),
            self._find_up(),
            tuple(dict.fromkeys(self.notes)),
        )

    def _check_names(self, what: str, names: Sequence[str]) -> None:
        if twice := [name for name, count in Counter(names).items() if count > 1 or not name]:
            problem = f"{what} name {twice[0]!r} is used twice" if twice[0] else f"a {what} has no name"
            raise InputError(self.path, problem, remedy="Give each its own name")

    def _numbers(self, place: str, element: Element, tag: str, count: int, default: Sequence[float]) -> np.ndarray:
        text = element.findtext(tag)
        if text is None or not text.strip():
            return np.array(default, float)
        try:
            values = np.array([numeral(word) for word in text.split()])
        except ValueError:
            values = np.empty(0)
        if len(values) != count:
            problem = f"<{tag}> holds {text.strip()[:60]!r}, not {count} finite number(s)"
            raise InputError(self.path, problem, place=place, remedy="Correct it")
        return values

    def _number(self, place: str, element: Element, tag: str, default: float) -> float:
        return float(self._numbers(place, element, tag, 1, (default,))[0])

    def _read_body(self, name: str, element: Element) -> OpenSimBody:
        place = f"body {name!r}"
        if not (element.findtext("mass") or "").strip():
            raise InputError(self.path, "has no <mass>", place=place, remedy=OPEN_REMEDY)
        mass = self._number(place, element, "mass", 0.0)
        com = self._numbers(place, element, "mass_center", 3, (0.0,) * 3)
        if element.find("inertia") is not None:
            xx, yy, zz, xy, xz, yz = self._numbers(place, element, "inertia", 6, (0.0,) * 6)
        else:
            names = ("xx", "yy", "zz", "xy", "xz", "yz")
            xx, yy, zz, xy, xz, yz = (self._number(place, element, f"inertia_{axes}", 0.0) for axes in names)
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        self._check_inertia(place, mass, inertia)
        if mass == 0.0:
            com = np.zeros(3)
        return OpenSimBody(name, mass, com, inertia, self._read_meshes(place, element))

    def _check_inertia(self, place: str, mass: float, inertia: np.ndarray) -> None:
        if mass < 0.0:
            raise InputError(self.path, f"has mass {mass:g} kg", place=place, remedy="Give it a positive mass, or zero")
        moments = np.linalg.eigvalsh(inertia)
        if mass == 0.0 and moments.any():
            problem = "has an inertia but no mass"
            raise InputError(self.path, problem, place=place, remedy="Give it a mass, or set its inertia to zero")
        if moments[0] < -ROUNDED_MOMENT * abs(moments[-1]):
            shown = ", ".join(f"{moment:.3g}" for moment in moments)
            problem = f"has principal moments of inertia {shown} kg m², and no body has a negative one"
            raise InputError(self.path, problem, place=place, remedy="Correct its inertia in OpenSim")

    def _read_meshes(self, place: str, element: Element) -> tuple[Mesh, ...]:
        found = self._attached_meshes(place, element, np.eye(3), np.zeros(3))
        for frame in element.findall("components/PhysicalOffsetFrame"):
            found += self._attached_meshes(place, frame, *self._offset(place, frame, "translation", "orientation"))
        for visible in element.findall("VisibleObject"):
            overall = self._numbers(place, visible, "scale_factors", 3, (1.0,) * 3)
            pieces = visible.findall("GeometrySet/objects/DisplayGeometry")
            for piece in pieces:
                file = (piece.findtext("geometry_file") or "").strip()
                scale = overall * self._numbers(place, piece, "scale_factors", 3, (1.0,) * 3)
                pose = self._numbers(place, piece, "transform", 6, (0.0,) * 6)
                found += [Mesh(file, scale, body_fixed_xyz(pose[:3]), pose[3:])] * bool(file)
            if not pieces:
                files = (visible.findtext("geometry_files") or "").split()
                found += [Mesh(file, overall, np.eye(3), np.zeros(3)) for file in files]
        return tuple(found)

    def _attached_meshes(self, place: str, element: Element, axes: np.ndarray, origin: np.ndarray) -> list[Mesh]:
        found = []
        for piece in element.findall("attached_geometry/Mesh"):
            if file := (piece.findtext("mesh_file") or "").strip():
                scale = self._numbers(place, piece, "scale_factors", 3, (1.0,) * 3)
                found.append(Mesh(file, scale, axes, origin))
        return found

    def _offset(self, place: str, element: Element, where: str, turned: str) -> tuple[np.ndarray, np.ndarray]:
        position = self._numbers(place, element, where, 3, (0.0,) * 3)
        return body_fixed_xyz(self._numbers(place, element, turned, 3, (0.0,) * 3)), position

    def _read_old_joints(self, elements: Sequence[Element], bodies: dict[str, OpenSimBody]) -> list[OpenSimJoint]:
        joints = []
        for name, element in zip(bodies, elements):
            for joint in element.iterfind("Joint/*"):
                title = joint.get("name") or f"joint of {name}"
                place = f"joint {title!r}"
                carrier = (joint.findtext("parent_body") or "").strip()
                if carrier != GROUND and carrier not in bodies:
                    problem = f"is on body {carrier!r}, which does not exist"
                    raise InputError(self.path, problem, place=place, remedy="Name a body of the model")
                if _is_true(joint, "reverse", False):
                    raise InputError(self.path, "is reversed, which is not read", place=place, remedy=OPEN_REMEDY)
                parent = Frame(carrier, *self._offset(place, joint, "location_in_parent", "orientation_in_parent"))
                child = Frame(name, *self._offset(place, joint, "location", "orientation"))
                listed = joint.findall("CoordinateSet/objects/Coordinate")
                joints.append(self._build_joint(title, joint, parent, child, listed))
        return joints

    def _read_new_joints(self, bodies: dict[str, OpenSimBody]) -> list[OpenSimJoint]:
        joints = []
        for path, joint in self.components.items():
            if not joint.tag.endswith("Joint"):
                continue
            title = joint.get("name", "")
            place = f"joint {title!r}"
            ends = [
                self._find_frame(place, path, joint.findtext(f"socket_{role}_frame") or "", bodies)
                for role in ("parent", "child")
            ]
            listed = joint.findall("coordinates/Coordinate")
            joints.append(self._build_joint(title, joint, ends[0], ends[1], listed))
        return joints

    def _find_frame(self, place: str, owner: str, socket: str, bodies: dict[str, OpenSimBody]) -> Frame:
        """The frame that a socket of a component names, offset from its body by any number of frames.

        A name leads from the owner; if nothing is there, as in early files of version 4, its last part is looked for.
        """
        rotation, position = np.eye(3), np.zeros(3)
        named = socket.strip()
        for _ in range(len(self.components) + 1):
            path = posixpath.normpath(posixpath.join(owner, named))
            if path not in self.components and path != f"/{GROUND}":
                path = self._find_by_name(owner, path.rpartition("/")[2])
            if path == f"/{GROUND}":
                return Frame(GROUND, rotation, position)
            if (component := self.components.get(path)) is None:
                break
            if component.tag == "Body" and component.get("name") in bodies:
                return Frame(component.get("name", ""), rotation, position)
            turned, moved = self._offset(place, component, "translation", "orientation")
            rotation, position = turned @ rotation, moved + turned @ position
            owner, named = path, (component.findtext("socket_parent") or "").strip()
        problem = f"refers to frame {socket.strip()!r}, which leads to no body"
        raise InputError(self.path, problem, place=place, remedy=OPEN_REMEDY)

    def _find_by_name(self, owner: str, name: str) -> str:
        """Path of the body or frame of a name: first the owner's neighbours, then bodies, then other frames."""
        if name == GROUND:
            return f"/{GROUND}"
        near = [posixpath.join(place, name) for place in (owner, posixpath.dirname(owner))]
        found = [path for path in self.components if path.rpartition("/")[2] == name]
        of_bodies = [path for path in found if self.components[path].tag == "Body"]
        of_frames = [path for path in found if self.components[path].tag == OFFSET_FRAME]
        return next(iter([path for path in near if path in self.components] + of_bodies + of_frames), "")

    def _build_joint(
        self, name: str, element: Element, parent: Frame, child: Frame, listed: Sequence[Element]
    ) -> OpenSimJoint:
        kind, place = element.tag, f"joint {name!r}"
        if kind not in SEQUENCES and kind != SCAPULOTHORACIC:
            remedy = f"Replace it by one of {', '.join((*SEQUENCES, SCAPULOTHORACIC))}"
            raise InputError(self.path, f"is a <{kind}>, which is not read", place=place, remedy=remedy)
        if child.body == GROUND:
            raise InputError(self.path, "moves the ground", place=place, remedy="Exchange its parent and child frames")
        coordinates = tuple(self._read_coordinate(each) for each in listed)
        if kind == "CustomJoint":
            rotations, translations = self._read_spatial_transform(place, element, coordinates)
        else:
            winging = self._number(place, element, "scapula_winging_axis_direction", 0.0)
            scapula = (Y, -X, Z, np.cos(winging) * Y - np.sin(winging) * X), ()
            turns, slides = SEQUENCES.get(kind, scapula)
            if len(coordinates) != len(turns) + len(slides):
                problem = f"a <{kind}> has {len(turns) + len(slides)} coordinates, and {len(coordinates)} are listed"
                raise InputError(self.path, problem, place=place, remedy=OPEN_REMEDY)
            axes = [
                TransformAxis(axis, (each.name,), identity_function())
                for axis, each in zip((*turns, *slides), coordinates)
            ]
            rotations, translations = tuple(axes[: len(turns)]), tuple(axes[len(turns) :])
        radii = pivot = None
        if kind == "EllipsoidJoint":
            radii = self._numbers(place, element, "radii_x_y_z", 3, (1.0,) * 3)
        elif kind == SCAPULOTHORACIC:
            if element.find("thoracic_ellipsoid_radii_x_y_z") is None:
                raise InputError(self.path, "has no <thoracic_ellipsoid_radii_x_y_z>", place=place, remedy=OPEN_REMEDY)
            radii = self._numbers(place, element, "thoracic_ellipsoid_radii_x_y_z", 3, (1.0,) * 3)
            pivot = np.append(self._numbers(place, element, "scapula_winging_axis_origin", 2, (0.0,) * 2), 0.0)
        return OpenSimJoint(name, kind, parent, child, coordinates, rotations, translations, radii, pivot)

    def _read_coordinate(self, element: Element) -> Coordinate:
        name = element.get("name", "")
        place = f"coordinate {name!r}"
        lower, upper = self._numbers(place, element, "range", 2, (-np.inf, np.inf))
        if lower > upper:
            problem = f"has the range {lower:g} to {upper:g}, which holds no value"
            raise InputError(self.path, problem, place=place, remedy="Exchange its ends")
        default, clamped = self._number(place, element, "default_value", 0.0), _is_true(element, "clamped", False)
        locked, slack = _is_true(element, "locked", False), 1e-6 * max(1.0, abs(upper - lower))
        if clamped and not locked and not lower - slack <= default <= upper + slack:
            problem = f"has the default {default:g}, outside of its range {lower:g} to {upper:g}"
            raise InputError(self.path, problem, place=place, remedy="Correct its default_value or its range")
        return Coordinate(name, default, lower, upper, clamped, locked)

    def _read_spatial_transform(
        self, place: str, joint: Element, coordinates: Sequence[Coordinate]
    ) -> tuple[tuple[TransformAxis, ...], tuple[TransformAxis, ...]]:
        found = []
        known = {coordinate.name for coordinate in coordinates}
        transform = joint.find("SpatialTransform")
        axes = [] if transform is None else transform.findall("TransformAxis")
        if len(axes) != 6:
            problem = f"its <SpatialTransform> has {len(axes)} axes, not 6"
            raise InputError(self.path, problem, place=place, remedy=OPEN_REMEDY)
        for element in axes:
            where = f"{place}, {element.get('name', 'axis')}"
            names = tuple((element.findtext("coordinates") or "").split())
            if unknown := [name for name in names if name not in known]:
                problem = f"uses coordinate {unknown[0]!r}, which the joint does not have"
                raise InputError(self.path, problem, place=where, remedy="Name a coordinate of this joint")
            axis = self._numbers(where, element, "axis", 3, (1.0, 0.0, 0.0))
            length = float(np.linalg.norm(axis))
            if not length > 0.0:
                raise InputError(self.path, "has an axis of length zero", place=where, remedy="Correct its <axis>")
            if (inner := find_function(element)) is None:
                function = identity_function() if names else constant_function(0.0)
            else:
                function = read_function(self.path, where, inner)
            if not names and not function.constant:
                function = constant_function(float(function.evaluate(np.zeros((1, 1)))[0]))
            if function.approximated:
                self.notes.append(f"{where}: {function.approximated}")
            found.append(TransformAxis(axis / length, names, function))
        return tuple(found[:3]), tuple(found[3:])

    def _distinguish(self, joints: list[OpenSimJoint]) -> list[OpenSimJoint]:
        """Joints of which no two have one name, which older files have: later ones are named after their bodies too."""
        taken: set[str] = set()
        result = []
        for joint in joints:
            name = (
                joint.name if joint.name and joint.name not in taken else f"{joint.name}_{joint.child.body}".strip("_")
            )
            if name != joint.name:
                self.notes.append(f"joint {joint.name!r} of body {joint.child.body!r} is called {name!r}")
            taken.add(name)
            result.append(replace(joint, name=name))
        self._check_names("joint", [joint.name for joint in result])
        return result

    def _sort_joints(self, joints: list[OpenSimJoint], bodies: dict[str, OpenSimBody]) -> tuple[OpenSimJoint, ...]:
        """Joints from the ground outwards, of the heaviest tree on it."""
        joints = self._distinguish(joints)
        counts = Counter(joint.child.body for joint in joints)
        for body, count in counts.items():
            if count > 1:
                problem = f"is moved by {count} joints, and loops are not read"
                raise InputError(self.path, problem, place=f"body {body!r}", remedy="Remove one of them")
        free = [body for body in bodies if body not in counts]
        tops = [joint for joint in joints if joint.parent.body == GROUND]
        trees = []
        for top in tops:
            tree = [top]
            for joint in tree:
                tree += [other for other in joints if other.parent.body == joint.child.body]
            trees.append(tree)
        reached = {joint.child.body for tree in trees for joint in tree}
        lost = [body for body in bodies if body not in reached and body not in free]
        if not trees or lost:
            problem = f"no joints lead from the ground to {', '.join(lost or bodies)}"
            raise InputError(self.path, problem, remedy="Connect them, with the body nearer to the ground as parent")
        chosen = max(trees, key=lambda tree: sum(bodies[joint.child.body].mass for joint in tree))
        if apart := [body for body in bodies if body not in {joint.child.body for joint in chosen}]:
            self.notes.append(f"bodies apart from the person, left out: {', '.join(apart)}")
        return tuple(chosen)

    def _read_couplings(self, coordinates: Sequence[str]) -> tuple[Coupling, ...]:
        found, others = [], []
        for element in self.model.iterfind("ConstraintSet/objects/*"):
            name = element.get("name", "")
            if _is_true(element, "isDisabled", False) or not _is_true(element, "isEnforced", True):
                continue
            if element.tag != "CoordinateCouplerConstraint":
                others.append(name)
                continue
            place = f"constraint {name!r}"
            dependent = (element.findtext("dependent_coordinate_name") or "").strip()
            independent = tuple((element.findtext("independent_coordinate_names") or "").split())
            holder = element.find("coupled_coordinates_function")
            inner = None if holder is None or not len(holder) else holder[0]
            if inner is None or not independent:
                raise InputError(self.path, "has no function of coordinates", place=place, remedy=OPEN_REMEDY)
            if unknown := [each for each in (dependent, *independent) if each not in coordinates]:
                problem = f"uses coordinate {unknown[0]!r}, which the model does not have"
                raise InputError(self.path, problem, place=place, remedy="Name a coordinate of the model")
            function = read_function(self.path, place, inner)
            found.append(Coupling(dependent, independent, function, self._number(place, element, "scale_factor", 1.0)))
        if others:
            self.notes.append(f"constraints that are not enforced, since motions are recorded: {', '.join(others)}")
        return tuple(found)

    def _read_markers(self, bodies: dict[str, OpenSimBody]) -> dict[str, tuple[str, np.ndarray]]:
        found, fixed = {}, []
        listed = [(path, each) for path, each in self.components.items() if each.tag == "Marker"]
        for path, marker in listed:
            name = marker.get("name", "")
            place = f"marker {name!r}"
            socket = (marker.findtext("socket_parent_frame") or marker.findtext("body") or "").strip()
            if not socket:
                continue
            frame = self._find_frame(place, path, socket, self.all_bodies)
            if frame.body in bodies:
                location = self._numbers(place, marker, "location", 3, (0.0,) * 3)
                found[name] = frame.body, frame.position + frame.rotation @ location
            else:
                fixed.append(name)
        if fixed:
            self.notes.append(f"markers on the ground or on bodies that are left out: {', '.join(fixed)}")
        return found

    def _find_up(self) -> str:
        gravity = self._numbers("gravity", self.model, "gravity", 3, (0.0, -9.80665, 0.0))
        axis = int(np.argmax(np.abs(gravity)))
        if axis == 0 or gravity[axis] >= 0.0:
            problem = f"its gravity points along {' '.join(f'{x:g}' for x in gravity)}, neither -y nor -z"
            raise InputError(self.path, problem, remedy="Set <gravity> to 0 -9.80665 0")
        return "yz"[axis - 1]


def _index_components(model: Element) -> dict[str, Element]:
    """Bodies, joints, markers and frames by their paths, as version 4 names them, such as ``/bodyset/pelvis/frame``."""
    found: dict[str, Element] = {}
    waiting = [("/", each) for each in model.iterfind("components/*")]
    for owner in ("BodySet", "JointSet", "MarkerSet"):
        waiting += [(f"/{owner.lower()}/", each) for each in model.iterfind(f"{owner}/objects/*")]
    for place, component in waiting:
        path = place + component.get("name", "")
        while path in found:  # a name that is used twice; it is reported where it matters
            path += "'"
        found[path] = component
        waiting += [(f"{path}/", each) for tag in ("components", "frames") for each in component.iterfind(f"{tag}/*")]
    return found


def body_fixed_xyz(angles: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) about x, then the new y, then the new z, by angles (..., 3) [rad]."""
    (a, b, c), (s, t, u) = np.moveaxis(np.cos(angles), -1, 0), np.moveaxis(np.sin(angles), -1, 0)
    rows = (
        (b * c, -b * u, t),
        (a * u + s * t * c, a * c - s * t * u, -s * b),
        (s * u - a * t * c, s * c + a * t * u, a * b),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _is_true(element: Element, tag: str, default: bool) -> bool:
    text = (element.findtext(tag) or "").strip().lower()
    return text == "true" if text else default
