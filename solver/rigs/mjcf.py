"""Rigs from MJCF files, with a free-flyer root: MuJoCo compiles the file, the rest is as for URDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import checked
from ..skeleton.rig import Rig
from ..values.shape import Shape
from .meshes import MeshSource, convex_hull, cylinder_mesh
from .mjcf_model import MjcfModel, body_name, read_mjcf, rotation_matrix
from .moving_bodies import MovingBodies
from .overrides import with_exclusions
from .robot_files import DIGEST, model_digest
from .urdf import build_robot
from .urdf_geometry import LinkGeometry, transform_shape

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(2, 8)
"""MuJoCo's geom types of bodies; planes and height fields are floors."""


@checked
def from_mjcf(
    path: str | Path, *, feet: Sequence[str] | None = None, base_link: str | None = None, up: str = "auto"
) -> Rig:
    """Rig of an MJCF file with a free flyer, as `from_urdf` would build it from the robot's URDF.

    Speeds have no limits, since MJCF states none; torque limits are those of the actuators. If the file has several
    robots, the one with the most joints is read. Shapes are the geoms that collide, or all geoms of a body without
    such.

    Args:
        path: the MJCF.
        feet: bodies that touch the ground; found as for a URDF by default.
        base_link: body at which wrenches are to be expressed; the root by default.
        up: axis of the root body that points up, ``"z"`` or ``"y"``; by default the axis from feet to root.

    Raises:
        MissingDependency: MuJoCo, which reads the file, is not installed.
        InputError: no file, not MJCF, or MuJoCo cannot compile it.
        UnknownLink: a name in ``feet`` or ``base_link`` that is not in the file.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> robot = Path(tempfile.mkdtemp()) / "robot.xml"
        >>> body = '<body name="block"><freejoint/><geom type="sphere" size=".1" mass="2.5"/></body>'
        >>> _ = robot.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
        >>> rig = solver.from_mjcf(robot)
        >>> rig.links, f"{rig.prior.total_mass:.1f} kg"
        (('block',), '2.5 kg')
    """
    found = read_mjcf(path)
    source = {"kind": "mjcf", "path": str(found.document.path), DIGEST: model_digest(path)}
    rig = build_robot(found.document, partial(_read_geometry, found), feet, base_link, up, source)
    if found.other_bodies:
        rig = replace(rig, notes=(*rig.notes, f"bodies beside the robot, left out: {', '.join(found.other_bodies)}"))
    return with_exclusions(rig, found.excluded_pairs, "its file") if found.excluded_pairs else rig


def _read_geometry(found: MjcfModel, bodies: MovingBodies) -> LinkGeometry:
    model, formless = found.model, []
    shapes: list[Shape] = []
    sources: list[MeshSource | None] = []
    for number, origin in found.origins.items():
        name = body_name(model, number)
        carried = bodies.placements[name]
        first = int(model.body_geomadr[number])
        own = list(range(first, first + int(model.body_geomnum[number]))) if first >= 0 else []
        solid = [k for k in own if model.geom_contype[k] or model.geom_conaffinity[k]]
        for geom in solid or own:
            if (shape := _geom_shape(found, name, geom)) is None:
                formless.append(name)
                continue
            turned = carried.rotation @ rotation_matrix(model.geom_quat[geom])
            place = carried.position + carried.rotation @ (np.array(model.geom_pos[geom]) - origin)
            shapes.append(transform_shape(shape, bodies.links[carried.carrier], turned, place))
            drawn = _geom_mesh(model, geom) if int(model.geom_type[geom]) == MESH else None
            sources.append(drawn and MeshSource(found.document.path, np.ones(3), turned, place, drawn))
    return LinkGeometry(tuple(shapes), tuple(sources), (), (), tuple(dict.fromkeys(formless)))


def _geom_mesh(model: Any, geom: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3) [m] and triangles (F, 3) of a mesh geom, in its frame."""
    mesh = int(model.geom_dataid[geom])
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    start, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return np.array(model.mesh_vert[first : first + count], float), np.array(model.mesh_face[start : start + faces])


def _geom_shape(found: MjcfModel, link: str, geom: int) -> Shape | None:
    """A geom as a shape in its own frame; None for types that are not bodies."""
    model = found.model
    kind, (a, b, c) = int(model.geom_type[geom]), (float(size) for size in model.geom_size[geom])
    still, middle = np.eye(3), np.zeros(3)
    if kind == SPHERE:
        return Shape(link, "sphere", (a,), still, middle)
    if kind == CAPSULE:
        return Shape(link, "capsule", (a, b), still, middle)
    if kind == ELLIPSOID:
        return Shape(link, "ellipsoid", (a, b, c), still, middle)
    if kind == CYLINDER:
        return cylinder_mesh(link, a, 2.0 * b)
    if kind == BOX:
        return Shape(link, "box", (a, b, c), still, middle)
    if kind != MESH:
        return None
    return convex_hull(link, _geom_mesh(model, geom)[0], found.document.path)
