"""Shapes, bounding boxes, ends of links and feet of a robot from URDF."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ..base.errors import InputError
from ..values.inertials import InertialParameters
from ..values.joints import Joint
from ..values.shape import Shape
from .meshes import MeshSource, cylinder_mesh, load_hull, resolve_mesh_uri
from .moving_bodies import MovingBodies
from .solids import bottom_points, shape_bounds
from .urdf_document import UrdfDocument
from .urdf_elements import read_numbers, read_origin, single_child

MESH_POLICIES = ("found", "required", "none")
MIN_HALF_SIDE = 0.01
"""Smallest half side of a box, relative to the robot's extent."""
MAX_SIDE = 1.0
"""Largest side of a box of equivalent inertia, relative to the robot's extent; a larger one shows that the inertia is a
placeholder such as 1 kg m^2. Measured on the models of `soles.MIN_FLAT_FRACTION`: twice the value draws the same boxes,
half of it takes the inertias of five for placeholders."""
FOOT_HEIGHT = 0.08
"""Largest height of a foot's lowest point above the robot's lowest point, relative to the robot's height. Measured on
the models of `soles.MIN_FLAT_FRACTION`: half and twice the value find the same feet."""
SIZE_ATTRIBUTES = {"box": (("size", 3),), "sphere": (("radius", 1),), "cylinder": (("radius", 1), ("length", 1))}
"""Attributes of the simple solids and the count of numbers of each. By the URDF specification."""
SIZE_ATTRIBUTES["capsule"] = SIZE_ATTRIBUTES["cylinder"]
FOOT_NAMES = re.compile(r"foot(?!print)|feet|sole|toe", re.IGNORECASE)
ANKLE_NAMES = re.compile(r"ankle", re.IGNORECASE)
ARM_NAMES = re.compile(r"arm|elbow|wrist|hand|grip|palm|finger|thumb|shoulder", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LinkGeometry:
    """Shapes on moving links.

    Attributes:
        shapes: in the frames of the moving links.
        sources: mesh file of each shape that is the hull of a mesh, else None.
        missing_meshes: (link, mesh URI) that were not found.
        unreadable_meshes: errors of meshes that were found.
        without_shape: links with shapes without size or of an unknown kind.
    """

    shapes: tuple[Shape, ...]
    sources: tuple[MeshSource | None, ...]
    missing_meshes: tuple[tuple[str, str], ...]
    unreadable_meshes: tuple[str, ...]
    without_shape: tuple[str, ...]


def transform_shape(shape: Shape, link: str, rotation: np.ndarray, position: np.ndarray) -> Shape:
    """The shape in the frame of ``link``, in which its old frame has the pose ``rotation``, ``position``."""
    if shape.kind == "mesh":
        vertices = shape.vertices @ rotation.T + position
        return Shape(link, "mesh", shape.size, shape.rotation, shape.centre, vertices, shape.faces)
    return Shape(link, shape.kind, shape.size, rotation @ shape.rotation, rotation @ shape.centre + position)


def read_geometry(document: UrdfDocument, bodies: MovingBodies, packages: Sequence[Path], meshes: str) -> LinkGeometry:
    """Read the collision shapes of every link, or else its visual shapes; meshes as convex hulls.

    Raises:
        InputError: a size that is not a number or negative; with ``meshes="required"`` a mesh that is missing or
            unreadable.
    """
    shapes: list[Shape] = []
    sources: list[MeshSource | None] = []
    missing: list[tuple[str, str]] = []
    unreadable: list[str] = []
    formless: list[str] = []
    for name, carried in bodies.placements.items():
        element = document.links[name].element
        for piece in element.findall("collision") or element.findall("visual"):
            place = f"link {name!r}, <{piece.tag}>"
            axes, centre = read_origin(document.path, place, piece)
            try:
                shape = _read_shape(document.path, place, name, piece, packages, meshes)
            except InputError as error:
                if error.path == document.path or meshes == "required":
                    raise
                unreadable.append(str(error))
                continue
            if isinstance(shape, str):
                missing.append((name, shape))
            elif shape is not None:
                rotation = carried.rotation @ axes
                position = carried.position + carried.rotation @ centre
                shapes.append(transform_shape(shape, bodies.links[carried.carrier], rotation, position))
                mesh = piece.find("geometry/mesh")
                sources.append(
                    None if mesh is None else _mesh_source(document.path, mesh, packages, rotation, position)
                )
            elif meshes != "none" or piece.find("geometry/mesh") is None:
                formless.append(name)
    if missing and meshes == "required":
        link, uri = missing[0]
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        remedy = "Add the folder that holds the package to 'packages', or read the robot without meshes"
        raise InputError(document.path, f"mesh {uri!r} was not found{more}", place=f"link {link!r}", remedy=remedy)
    return LinkGeometry(
        tuple(shapes), tuple(sources), tuple(missing), tuple(unreadable), tuple(dict.fromkeys(formless))
    )


def _mesh_source(
    path: Path, mesh: Element, packages: Sequence[Path], rotation: np.ndarray, position: np.ndarray
) -> MeshSource | None:
    """The file of a mesh and its pose in the moving link; None if the file is missing."""
    file = resolve_mesh_uri(mesh.get("filename", ""), path, packages)
    scale = read_numbers(path, "<mesh scale>", mesh.get("scale"), 3, (1, 1, 1))
    return None if file is None else MeshSource(file, scale, rotation, position)


def _read_shape(
    path: Path, place: str, link: str, piece: Element, packages: Sequence[Path], meshes: str
) -> Shape | str | None:
    """Read a shape in its own frame; the URI of a missing mesh; None without a shape."""
    centre, axes = np.zeros(3), np.eye(3)
    geometry = single_child(path, place, piece, "geometry")
    if geometry is None or len(geometry) == 0:
        return None
    solid = geometry[0]

    def size(key: str, count: int) -> np.ndarray:
        if (text := solid.get(key)) is None:
            raise InputError(path, f"<{solid.tag}> has no {key!r}", place=place, remedy="Give its size in metres")
        return read_numbers(path, f"{place}, <{solid.tag} {key}>", text, count, ())

    dimensions = np.concatenate(
        [size(key, count) for key, count in SIZE_ATTRIBUTES.get(solid.tag, ())] or [np.zeros(0)]
    )
    if len(dimensions) and dimensions.min() <= 0.0:
        if dimensions.min() < 0.0:
            raise InputError(path, f"<{solid.tag}> has a negative size", place=place, remedy="Correct it")
        return None
    if solid.tag == "box":
        return Shape(link, "box", tuple(dimensions / 2), axes, centre)
    if solid.tag == "sphere":
        return Shape(link, "sphere", tuple(dimensions), axes, centre)
    if solid.tag == "cylinder":
        return cylinder_mesh(link, *dimensions)
    if solid.tag == "capsule":
        return Shape(link, "capsule", tuple(dimensions * [1.0, 0.5]), axes, centre)
    if solid.tag != "mesh" or meshes == "none":
        return None
    uri = solid.get("filename", "")
    if (file := resolve_mesh_uri(uri, path, packages)) is None:
        return uri
    return load_hull(link, file, read_numbers(path, f"{place}, <mesh scale>", solid.get("scale"), 3, (1, 1, 1)))


def boxes_and_tips(
    joints: Sequence[Joint], origins: np.ndarray, shapes: Sequence[Shape], prior: InertialParameters
) -> tuple[np.ndarray, np.ndarray]:
    """Bounding boxes (L, 2, 3) [m] and far ends (L, 3) [m] of moving links.

    A box contains the link's shapes. Without shapes it contains the joints on the link and the solid box of equal mass
    and inertia, unless that is so large that the inertia is a placeholder. It always contains the link's origin and its
    centre of mass.

    Args:
        joints: L, which move the prior's links.
        origins: (L, 3) [m] of the links, every joint at zero.
    """
    extent = float(np.linalg.norm(np.ptp(origins, axis=0)))
    smallest = MIN_HALF_SIDE * (extent if extent > 0 else 1.0)
    carried: list[list[np.ndarray]] = [[] for _ in joints]
    for joint in joints[1:]:
        carried[joint.parent].append(joint.position)
    outlines: dict[str, list[np.ndarray]] = {}
    for shape in shapes:
        outlines.setdefault(shape.link, []).extend(shape_bounds(shape))
    solids = _equivalent_boxes(prior)
    boxes, tips = np.zeros((len(joints), 2, 3)), np.zeros((len(joints), 3))
    for k, (link, heavy, com) in enumerate(zip(prior.links, prior.masses > 0, prior.coms, strict=True)):
        points = [np.zeros(3), *outlines.get(link, ())]
        if link not in outlines:
            points += carried[k]
            if heavy:
                points += [*solids[k]] if np.ptp(solids[k], axis=0).max() <= MAX_SIDE * extent else [com]
        elif heavy:
            points.append(com)
        boxes[k] = [np.min(points, axis=0), np.max(points, axis=0)]
        thin = boxes[k, 1] - boxes[k, 0] < 2 * smallest
        middle = boxes[k].mean(axis=0)
        boxes[k] = np.where(thin, [middle - smallest, middle + smallest], boxes[k])
        tips[k] = _box_tip(carried[k], boxes[k])
    return boxes, tips


def _equivalent_boxes(prior: InertialParameters) -> np.ndarray:
    """(L, 2, 3) [m] corners of the solid box of each link's mass and inertia; NaN without mass."""
    # links l, axes i
    diagonals = np.einsum("lii->li", prior.inertias_at_com)
    seconds = 0.5 * diagonals.sum(axis=1, keepdims=True) - diagonals
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.sqrt(np.maximum(3.0 * seconds / prior.masses[:, None], 0.0))
    return np.stack([prior.coms - half, prior.coms + half], axis=1)


def _box_tip(joints: Sequence[np.ndarray], box: np.ndarray) -> np.ndarray:
    far = max(joints, key=lambda p: float(np.linalg.norm(p)), default=np.zeros(3))
    if np.linalg.norm(far) > 1e-4:
        return far
    reach = np.where(np.abs(box[1]) >= np.abs(box[0]), box[1], box[0])
    axis = int(np.argmax(np.abs(reach)))
    return np.where(np.arange(3) == axis, reach, 0.0)


def find_feet(
    joints: Sequence[Joint],
    rest: tuple[np.ndarray, np.ndarray],
    bodies: Mapping[str, Sequence[str]],
    shapes: Sequence[Shape],
    mirrored: Collection[str] = (),
) -> list[str]:
    """Find the moving links that are probably feet: with geometry, lowest at zero, by name or else by position.

    Args:
        joints: L, which move the links.
        rest: axes (L, 3, 3) and origins (L, 3) [m] of the links, every joint at zero.
        bodies: names of all URDF links in each moving link, in the joints' order.
        mirrored: links with a counterpart on the other side; only these are feet if no link is named as one.
    """
    turns, origins = rest
    links = list(bodies)
    lowest: dict[str, float] = {}
    for shape in shapes:
        k = links.index(shape.link)
        height = float((bottom_points(shape, -turns[k][2]) @ turns[k][2]).min() + origins[k, 2])
        lowest[shape.link] = min(height, lowest.get(shape.link, np.inf))
    if not lowest:
        return []
    floor = min(lowest.values())
    reach = floor + FOOT_HEIGHT * (float(origins[:, 2].max()) - floor)

    def named(pattern: re.Pattern[str]) -> list[str]:
        hits = [link for link, names in bodies.items() if any(pattern.search(body) for body in names)]
        return [link for link in hits if lowest.get(link, np.inf) <= reach]

    arms = find_arms(joints, links, bodies)
    low = [link for link in links if link in mirrored and lowest.get(link, np.inf) <= reach and link not in arms]
    return named(FOOT_NAMES) or _outermost(joints, links, named(ANKLE_NAMES)) or _outermost(joints, links, low)


def find_arms(joints: Sequence[Joint], links: Sequence[str], bodies: Mapping[str, Sequence[str]]) -> set[str]:
    """Links with names of arms, and the links below them."""
    arms: set[str] = set()
    for link, joint in zip(links[1:], joints[1:]):
        if links[joint.parent] in arms or any(ARM_NAMES.search(body) for body in bodies[link]):
            arms.add(link)
    return arms


def _outermost(joints: Sequence[Joint], links: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """Those of ``chosen`` that are not above another one: of an ankle's two axes the one with the foot."""
    above = set()
    for link in chosen:
        parent = joints[links.index(link)].parent
        while parent >= 0:
            above.add(links[parent])
            parent = joints[parent].parent
    return [link for link in chosen if link not in above]
