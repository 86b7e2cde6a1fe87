"""Writing inertials into an OpenSim model: only the numbers of mass, mass_center and inertia change.

A link of the rig may hold several bodies, for example a hand welded to its forearm. The link's mass distribution is
mapped from the model's to the identified one by a linear map, and that map is applied to each body. So the bodies'
inertials add up to the link's, each is physically consistent, and none changes if the link's does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

import numpy as np

from ..errors import InputError, InvalidValue
from ..files import read_bytes
from ..inertials import InertialParameters
from ..rig import Rig
from ..rigs.opensim.document import Body, OpenSimModel, read_opensim, to_strict_markup
from ..rigs.opensim.matching import Group, transfer_inertials
from ..rigs.opensim.rig import BodyPlacement, body_placements, consistent_inertia, from_opensim, model_of
from ..storage.atomic import write_atomically
from ..storage.manifest import FileName
from .trial_names import printable_name

SAME = 1e-12
"""Largest relative difference of a number that is not written."""
INERTIAS = ("xx", "yy", "zz", "xy", "xz", "yz")
"""Order of the six moments in the file."""
BODY = "Body"
MIN_MARGIN = -1e-9
"""Smallest eigenvalue of a pseudo-inertia, relative to the largest, that is not negative."""


@dataclass(frozen=True, slots=True)
class BodyInertia:
    """Mass [kg], centre of mass (3,) [m] and inertia (3, 3) [kg m^2] about it, body axes."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def identified_model_name(model: str | Path) -> str:
    """Name of the file with the identified inertials of an OpenSim model's file."""
    return FileName(f"{printable_name(Path(model).stem)}_identified.osim")


def write_opensim(rig: Rig, path: str | Path, parameters: InertialParameters | None = None) -> None:
    """Write the model of a rig with inertial parameters; all other bytes are those of the model's file.

    Args:
        rig: of an OpenSim model.
        path: of the file, written atomically.
        parameters: of the rig's links; the rig's prior by default.

    Raises:
        InputError: the model's file is missing, has changed, or lacks an element to write to.
        InvalidValue: parameters that no body can have.
    """
    inertials = rig.prior if parameters is None else parameters
    if inertials.links != rig.links:
        raise InvalidValue(f"the parameters to write are of other links than those of rig {rig.name!r}")
    model = model_of(rig)
    write_model(model, path, split_links(model, body_placements(rig), inertials))


def write_model(model: OpenSimModel, path: str | Path, bodies: Mapping[str, BodyInertia]) -> None:
    """Write a model in which some bodies have other inertials."""
    data = replace_inertials(model, read_bytes(model.path), bodies)
    with write_atomically(path, binary=True) as stream:
        stream.write(data)
    read_opensim(path)


def split_links(
    model: OpenSimModel, placements: Mapping[str, BodyPlacement], inertials: InertialParameters
) -> dict[str, BodyInertia]:
    """Inertials of every body from those of the links that carry them.

    Raises:
        InvalidValue: a link's parameters are not physically consistent.
    """
    found = {}
    for index, link in enumerate(inertials.links):
        names = [name for name, place in placements.items() if place.link == index and model.bodies[name].mass > 0.0]
        if not names:
            continue
        poses = [_homogeneous(placements[name]) for name in names]
        parts = [pose @ _pseudo_inertia(model.bodies[name]) @ pose.T for name, pose in zip(names, poses)]
        goal = inertials.pseudo_inertias[index]
        values = np.linalg.eigvalsh(goal)
        if values[0] < MIN_MARGIN * values[-1] or inertials.masses[index] <= 0.0:
            raise InvalidValue(f"link {link!r} has inertials that no body can have; write a consistent result instead")
        for name, pose, part in zip(names, poses, map_parts(parts, goal)):
            back = np.linalg.inv(pose)
            found[name] = _body_inertia(back @ part @ back.T)
    return found


def write_into(rig: Rig, parameters: InertialParameters, model: str | Path, path: str | Path) -> tuple[Group, ...]:
    """Write a person's inertials into an OpenSim model of the same person, and return which links became which bodies.

    Args:
        rig: of the person.
        parameters: of its links, physically consistent.
        model: scaled to the person; it is not changed.
        path: of the file, written atomically.

    Raises:
        InputError: the model cannot be read.
        InvalidValue: its bodies do not match the person's links, or it is of another size.
    """
    theirs = from_opensim(model, meshes="none")
    groups, goals = transfer_inertials(rig, parameters, theirs)
    document, placements = model_of(theirs), body_placements(theirs)
    bodies: dict[str, BodyInertia] = {}
    for names, goal in goals.values():
        names = tuple(name for name in names if document.bodies[name].mass > 0.0)
        poses = [_rest_pose(theirs, placements[name]) for name in names]
        parts = [pose @ _pseudo_inertia(document.bodies[name]) @ pose.T for name, pose in zip(names, poses)]
        for name, pose, part in zip(names, poses, map_parts(parts, goal)):
            back = np.linalg.inv(pose)
            bodies[name] = _body_inertia(back @ part @ back.T)
    write_model(document, path, bodies)
    return groups


def _rest_pose(rig: Rig, place: BodyPlacement) -> np.ndarray:
    """Pose (4, 4) of a body in the world at zero angles."""
    link = np.eye(4)
    link[:3, :3], link[:3, 3] = rig.rest[0][place.link], rig.rest[1][place.link]
    return np.asarray(link @ _homogeneous(place))


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


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return (vectors * np.maximum(values, 1e-15 * values[-1]) ** exponent) @ vectors.T


def _homogeneous(place: BodyPlacement) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = place.rotation, place.position
    return pose


def _pseudo_inertia(body: Body) -> np.ndarray:
    inertia = consistent_inertia(body.inertia)[None]
    return InertialParameters.from_com((body.name,), [body.mass], body.com[None], inertia).pseudo_inertias[0]  # type: ignore[arg-type]


def _body_inertia(pseudo: np.ndarray) -> BodyInertia:
    mass, com = float(pseudo[3, 3]), pseudo[:3, 3] / pseudo[3, 3]
    second = pseudo[:3, :3] - mass * np.outer(com, com)
    return BodyInertia(mass, com, np.trace(second) * np.eye(3) - 0.5 * (second + second.T))


def replace_inertials(model: OpenSimModel, data: bytes, bodies: Mapping[str, BodyInertia]) -> bytes:
    """The bytes of a model's file with other inertials of some bodies.

    Raises:
        InputError: a body lacks an element to write to.
    """
    spans = _find_elements(data)
    edits: list[tuple[int, int, str]] = []
    for name, new in bodies.items():
        own = spans.get(name, {})
        for tag, values, old in _numbers(new, model.bodies[name], own):
            scale = max(float(np.abs(old).max()), float(np.abs(values).max()))
            if np.abs(values - old).max() <= SAME * scale:
                continue
            if tag not in own:
                remedy = "Open it in OpenSim 4 and save it"
                raise InputError(model.path, f"has no <{tag}> to write to", place=f"body {name!r}", remedy=remedy)
            edits.append((*own[tag], " ".join(f"{value:.17g}" for value in values)))
    for start, stop, text in sorted(edits, reverse=True):
        data = data[:start] + text.encode("ascii") + data[stop:]
    return data


def _numbers(
    new: BodyInertia, old: Body, own: Mapping[str, tuple[int, int]]
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Tags with their new and old numbers."""
    places = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    six, before = (np.array([matrix[place] for place in places]) for matrix in (new.inertia, old.inertia))
    result = [
        ("mass", np.array([new.mass]), np.array([old.mass])),
        ("mass_center", new.com, old.com),
    ]
    if any(f"inertia_{axes}" in own for axes in INERTIAS):
        if np.abs(six - before).max() <= SAME * np.abs(before).max():
            return result
        return result + [(f"inertia_{a}", six[k : k + 1], before[k : k + 1]) for k, a in enumerate(INERTIAS)]
    return [*result, ("inertia", six, before)]


def _find_elements(data: bytes) -> dict[str, dict[str, tuple[int, int]]]:
    """Byte ranges of the text of every body's own elements, by body and tag."""
    parser = expat.ParserCreate()
    stack: list[str] = []
    found: dict[str, dict[str, tuple[int, int]]] = {}
    body = ""
    opened = -1
    begun = -1

    def note() -> None:
        nonlocal begun
        if opened >= 0 and begun < 0:
            begun = parser.CurrentByteIndex

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal body, opened, begun
        note()
        stack.append(tag)
        if tag == BODY:
            body = attributes.get("name", "")
        own = stack[-2:-1] == [BODY]
        opened, begun = (parser.CurrentByteIndex, -1) if own else (-1, -1)

    def end(tag: str) -> None:
        nonlocal opened, begun
        note()
        if stack[-2:-1] == [BODY] and opened >= 0 and parser.CurrentByteIndex > opened:
            found.setdefault(body, {})[tag] = begun, parser.CurrentByteIndex
        stack.pop()
        opened, begun = -1, -1

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.DefaultHandler = lambda text: note()
    parser.Parse(to_strict_markup(data), True)
    return found
