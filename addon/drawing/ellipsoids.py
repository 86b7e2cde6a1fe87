"""Centre of mass and inertia of each link on its bone, as a point and an ellipsoid of three rings."""

from __future__ import annotations

import bpy
import numpy as np

from ..base import bpy_access, meshes
from ..base.solver_api import equivalent_ellipsoids
from ..scene.armature import attach, bone_axes, rig_of
from ..scene.colours import plain_material
from ..scene.inertials import read_inertials

ELLIPSOID_KEY = "exciting_dance_ellipsoid"
COM_RADIUS = 0.012
"""[m]"""
ELLIPSOID_COLOUR, COM_COLOUR = (0.95, 0.60, 0.18), (0.10, 0.10, 0.12)
INERTIA_SUFFIX = " inertia"


def make_ellipsoids(armature: bpy.types.Object, collection: bpy.types.Collection) -> list[str]:
    """Attach a centre of mass and the equivalent solid ellipsoid to every bone, replacing earlier ones.

    Returns:
        names of the links without an ellipsoid, because their inertia is physically impossible.
    """
    remove_ellipsoids(armature)
    rig, result = rig_of(armature), read_inertials(armature)
    centres, semi_axes, axes = equivalent_ellipsoids(result.parameters)
    link_axes = bone_axes(armature, rig)
    ball, point = meshes.rings_mesh("Inertia ellipsoid"), meshes.sphere_mesh("Centre of mass", COM_RADIUS)
    ball.materials.append(plain_material("Inertia ellipsoid", ELLIPSOID_COLOUR))
    point.materials.append(plain_material("Centre of mass", COM_COLOUR))
    impossible = []
    for row, link in enumerate(result.links):
        if not np.isfinite(centres[row]).all():
            impossible.append(link)
            continue
        placement = np.eye(4)
        placement[:3, 3] = centres[row]
        attach(
            _add_object(f"{link} CoM", point, link, collection), armature, link, link_axes[rig.index(link)], placement
        )
        if not np.isfinite(semi_axes[row]).all():
            impossible.append(link)
            continue
        placement[:3, :3] = axes[row] * semi_axes[row]
        attach(
            _add_object(link + INERTIA_SUFFIX, ball, link, collection),
            armature,
            link,
            link_axes[rig.index(link)],
            placement,
        )
    return impossible


def remove_ellipsoids(armature: bpy.types.Object) -> None:
    """Remove the ellipsoids."""
    for child in [child for child in armature.children if ELLIPSOID_KEY in child]:
        mesh = bpy_access.mesh(child)
        bpy.data.objects.remove(child)
        if not mesh.users:
            materials = list(mesh.materials)
            bpy.data.meshes.remove(mesh)
            for material in {m for m in materials if m is not None and not m.users}:
                bpy.data.materials.remove(material)


def _add_object(name: str, mesh: bpy.types.Mesh, link: str, collection: bpy.types.Collection) -> bpy.types.Object:
    """Add a mesh object that stores its link and is visible through the body."""
    item = bpy.data.objects.new(name, mesh)
    item[ELLIPSOID_KEY] = link
    item.show_in_front = True
    collection.objects.link(item)
    return item
