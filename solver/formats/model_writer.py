"""Writing inertials into a robot's URDF or MJCF, or an OpenSim model: only numbers of mass, centre and inertia change.

Of a URDF these are the attributes of ``<inertial>`` and its children; the axes of an inertia (``rpy``) stay. In an MJCF
``<inertial>`` gets ``pos``, ``mass`` and ``fullinertia``; a body whose inertia MuJoCo computes from its geoms gets one.
In an OpenSim model they are ``mass``, ``mass_center`` and ``inertia`` (or ``inertia_xx`` to ``inertia_yz``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..base.files import read_bytes
from ..base.so3 import from_rpy
from ..rigs.mjcf_model import body_name, read_mjcf
from ..rigs.moving_bodies import LinkPlacement
from ..rigs.opensim.document import OpenSimModel, read_opensim, to_strict_markup
from ..rigs.opensim.matching import Group, transfer_inertials
from ..rigs.opensim.rig import KIND as OPENSIM
from ..rigs.opensim.rig import body_placements, from_opensim, model_of
from ..rigs.robot_files import model_file, require_unchanged
from ..rigs.root_and_up_axis import place_bodies
from ..rigs.urdf_document import INERTIA, UrdfDocument, read_urdf
from ..skeleton.rig import Rig
from ..storage.atomic import write_atomically
from ..storage.manifest import FileName
from ..values.inertials import InertialParameters, symmetric_entries
from .body_inertias import BodyInertia, find_changes, homogeneous, split_body, split_links
from .text_files import Warn
from .trial_names import printable_name
from .xml_tags import Edit, Tag, apply_edits, children, find_tags

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler", "diaginertia")
"""Attributes of MJCF's <inertial> that ``fullinertia`` replaces."""
MOMENTS = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
"""Rows and columns of the six moments of MJCF and OpenSim, in their order. By the MJCF and OpenSim formats."""
OPENSIM_MOMENTS = tuple(f"inertia_{axes}" for axes in ("xx", "yy", "zz", "xy", "xz", "yz"))
"""Tags of the six moments in older models."""
BODY = "Body"


def identified_model_name(model: str | Path) -> str:
    """Name of the file with the identified inertials of the file of a robot or a person's model."""
    return FileName(f"{printable_name(Path(model).stem)}_identified{Path(model).suffix}")


def write_back(rig: Rig, folder: Path, parameters: InertialParameters, satisfies: str, warn: Warn) -> None:
    """Write the file that a rig was read from with identified inertials into a folder; nothing for a rig without one.

    Args:
        rig: whose links the parameters are of.
        folder: for the file `identified_model_name`.
        parameters: to write.
        satisfies: what they satisfy (`Estimate.satisfies`); only consistent ones are written.
        warn: receives the reason if the file is not written.
    """
    if (model := model_file(rig)) is None:
        return
    name = identified_model_name(model)
    if satisfies != "consistent":
        warn(f"{name} is not written: the result is not physically consistent")
        return
    try:
        write_identified_model(rig, folder / name, parameters)
    except InputError as error:
        warn(f"{name} is not written: {error}")


def write_identified_model(rig: Rig, path: str | Path, parameters: InertialParameters) -> None:
    """Write the file that a rig was read from with other inertials; all its other bytes stay.

    Args:
        rig: read from a URDF, an MJCF or an OpenSim model.
        path: of the file, written atomically. Meshes that it names relative to its folder are not copied.
        parameters: of the rig's links.

    Raises:
        InputError: the rig's file is missing, has changed, is not in an encoding that keeps ASCII, or does not state
            all bodies and inertias itself; an OpenSim model lacks an element to write to.
        InvalidValue: parameters that no body can have.
    """
    if parameters.links != rig.links:
        raise InvalidValue(f"the parameters to write are of other links than those of rig {rig.name!r}")
    if rig.provenance["kind"] == OPENSIM:
        model = model_of(rig)
        return _write_opensim(model, path, split_links(model.bodies, body_placements(rig), parameters))
    source = require_unchanged(rig)
    data = read_bytes(source)
    tags = find_tags(data)
    if not all(tag.text for tag in tags):
        raise InputError(source, "is in an encoding that does not keep ASCII", remedy="Save it as UTF-8")
    edits = _urdf_edits if rig.provenance["kind"] == "urdf" else _mjcf_edits
    _write_edits(path, data, edits(source, rig, parameters, tags))


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
    document, poses = model_of(theirs), {}
    for name, place in body_placements(theirs).items():
        link = LinkPlacement(place.carrier, theirs.rest[0][place.carrier], theirs.rest[1][place.carrier])
        poses[name] = homogeneous(link) @ homogeneous(place)
    bodies: dict[str, BodyInertia] = {}
    for names, goal in goals.values():
        own = {name: poses[name] for name in names if document.bodies[name].mass > 0.0}
        bodies |= split_body(document.bodies, own, goal)
    _write_opensim(document, path, bodies)
    return groups


def _write_opensim(model: OpenSimModel, path: str | Path, bodies: Mapping[str, BodyInertia]) -> None:
    """Write a model in which some bodies have other inertials."""
    data = read_bytes(model.path)
    _write_edits(path, data, _opensim_edits(model, data, bodies))
    read_opensim(path)


def _write_edits(path: str | Path, data: bytes, edits: Iterable[Edit]) -> None:
    edited = apply_edits(data, edits)
    with write_atomically(path, binary=True) as stream:
        stream.write(edited)


def _opensim_edits(model: OpenSimModel, data: bytes, bodies: Mapping[str, BodyInertia]) -> Iterator[Edit]:
    places: dict[str, dict[str, tuple[int, int]]] = {}
    tags = find_tags(to_strict_markup(data))
    for tag in tags:
        if tag.parent >= 0 and tags[tag.parent].name == BODY and tag.end > tag.start:
            places.setdefault(tags[tag.parent].attributes.get("name", ""), {})[tag.name] = tag.inside, tag.end
    for name, new in bodies.items():
        own, six = places.get(name, {}), new.inertia[MOMENTS]
        moments = {tag: six[k : k + 1] for k, tag in enumerate(OPENSIM_MOMENTS)}
        if not set(own) & set(moments):
            moments = {"inertia": six}
        parts = ({"mass": np.array([new.mass])}, {"mass_center": new.com}, moments)
        for part, is_changed in zip(parts, find_changes(new, model.bodies[name])):
            for element, values in part.items() if is_changed else ():
                if element not in own:
                    problem, remedy = f"has no <{element}> to write to", "Open it in OpenSim 4 and save it"
                    raise InputError(model.path, problem, place=f"body {name!r}", remedy=remedy)
                yield (*own[element], _format(values).encode())


def _urdf_edits(path: Path, rig: Rig, parameters: InertialParameters, tags: Sequence[Tag]) -> Iterator[Edit]:
    document = read_urdf(path)
    for name, new in _new_inertials(document, rig, parameters):
        (link,) = (k for k in children(tags, 0, "link") if tags[k].attributes.get("name") == name)
        (inertial,) = children(tags, link, "inertial")
        origins = children(tags, inertial, "origin")
        centre = {"xyz": _format(new.com)}
        if origins:
            yield tags[origins[0]].edit(centre)
        else:
            yield tags[inertial].inside, tags[inertial].inside, b'<origin xyz="%s"/>' % centre["xyz"].encode()
        rpy = tags[origins[0]].attributes.get("rpy", "0 0 0") if origins else "0 0 0"
        axes = from_rpy(np.array(rpy.split(), float))
        yield tags[children(tags, inertial, "mass")[0]].edit({"value": _format([new.mass])})
        six = symmetric_entries(axes.T @ new.inertia @ axes)
        yield tags[children(tags, inertial, "inertia")[0]].edit({k: _format([v]) for k, v in zip(INERTIA, six)})


def _mjcf_edits(path: Path, rig: Rig, parameters: InertialParameters, tags: Sequence[Tag]) -> Iterator[Edit]:
    found = read_mjcf(path)
    names = [body_name(found.model, k) for k in range(1, found.model.nbody)]
    bodies = [k for k, tag in enumerate(tags) if tag.name == "body"]
    own = [tags[k].attributes.get("name") or f"body_{number}" for number, k in enumerate(bodies, 1)]
    settings = [tag.attributes for tag in tags if tag.name == "compiler"]
    computed = any(s.get("inertiafromgeom") == "true" or "settotalmass" in s for s in settings)
    if own != names or computed:
        problem = "does not state the inertias of all bodies itself (include, attach, replicate, inertiafromgeom)"
        raise InputError(path, problem, remedy="Save the compiled model, in MuJoCo with mj_saveLastXML")
    origins = {names[number - 1]: origin for number, origin in found.origins.items()}
    for name, new in _new_inertials(found.document, rig, parameters):
        body = bodies[names.index(name)]
        values = {
            "pos": _format(new.com + origins[name]),
            "mass": _format([new.mass]),
            "fullinertia": _format(new.inertia[MOMENTS]),
        }
        if inertial := children(tags, body, "inertial"):
            yield tags[inertial[0]].edit({**values, **dict.fromkeys(ORIENTATIONS)})
        else:
            yield (
                tags[body].inside,
                tags[body].inside,
                Tag("inertial", {}, body, 0, b"<inertial").edit(values)[2] + b"/>",
            )


def _new_inertials(
    document: UrdfDocument, rig: Rig, parameters: InertialParameters
) -> Iterator[tuple[str, BodyInertia]]:
    """Names and inertials of the links of a file that change."""
    placements = place_bodies(document, rig.links[0], str(rig.provenance["up"])).placements
    for name, new in split_links(document.links, placements, parameters).items():
        if any(find_changes(new, document.links[name])):
            yield name, new


def _format(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values)
