"""Writing inertials into an OpenSim model: only the numbers of mass, mass_center and inertia change."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..errors import InputError, InvalidValue
from ..files import read_bytes
from ..inertials import InertialParameters
from ..rig import Rig
from ..rigs.moving_bodies import LinkPlacement
from ..rigs.opensim.document import Body, OpenSimModel, read_opensim, to_strict_markup
from ..rigs.opensim.matching import Group, transfer_inertials
from ..rigs.opensim.rig import body_placements, from_opensim, model_of
from ..storage.atomic import write_atomically
from .body_inertias import BodyInertia, homogeneous, is_same, split_body, split_links
from .xml_tags import Edit, apply_edits, find_tags

INERTIAS = ("xx", "yy", "zz", "xy", "xz", "yz")
"""Order of the six moments in the file."""
BODY = "Body"


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
    write_model(model, path, split_links(model.bodies, body_placements(rig), inertials))


def write_model(model: OpenSimModel, path: str | Path, bodies: Mapping[str, BodyInertia]) -> None:
    """Write a model in which some bodies have other inertials."""
    data = replace_inertials(model, read_bytes(model.path), bodies)
    with write_atomically(path, binary=True) as stream:
        stream.write(data)
    read_opensim(path)


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
        bodies |= split_body(document.bodies, {name: _rest_pose(theirs, placements[name]) for name in names}, goal)
    write_model(document, path, bodies)
    return groups


def _rest_pose(rig: Rig, place: LinkPlacement) -> np.ndarray:
    """Pose (4, 4) of a body in the world at zero angles."""
    link = np.eye(4)
    link[:3, :3], link[:3, 3] = rig.rest[0][place.carrier], rig.rest[1][place.carrier]
    return np.asarray(link @ homogeneous(place))


def replace_inertials(model: OpenSimModel, data: bytes, bodies: Mapping[str, BodyInertia]) -> bytes:
    """The bytes of a model's file with other inertials of some bodies.

    Raises:
        InputError: a body lacks an element to write to.
    """
    spans = _find_elements(data)
    edits: list[Edit] = []
    for name, new in bodies.items():
        own = spans.get(name, {})
        for tag, values, old in _numbers(new, model.bodies[name], own):
            if is_same(values, old):
                continue
            if tag not in own:
                remedy = "Open it in OpenSim 4 and save it"
                raise InputError(model.path, f"has no <{tag}> to write to", place=f"body {name!r}", remedy=remedy)
            edits.append((*own[tag], " ".join(f"{value:.17g}" for value in values).encode()))
    return apply_edits(data, edits)


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
        if is_same(six, before):
            return result
        return result + [(f"inertia_{a}", six[k : k + 1], before[k : k + 1]) for k, a in enumerate(INERTIAS)]
    return [*result, ("inertia", six, before)]


def _find_elements(data: bytes) -> dict[str, dict[str, tuple[int, int]]]:
    """Byte ranges of the text of every body's own elements, by body and tag."""
    tags = find_tags(to_strict_markup(data))
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for tag in tags:
        if tag.parent >= 0 and tags[tag.parent].name == BODY and tag.end > tag.start:
            found.setdefault(tags[tag.parent].attributes.get("name", ""), {})[tag.name] = tag.inside, tag.end
    return found
