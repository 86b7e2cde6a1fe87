"""Highlights links by drawing their shapes in a translucent colour on the GPU; materials are not changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Vector

from .. import bpy_access, drawing
from ..armature import link_shapes
from ..colours import srgb_to_linear
from ..skin import LINK_ATTRIBUTE, is_skin, slot_index

if TYPE_CHECKING:
    from .check_colours import Highlight

SURFACE_OFFSET = 0.006
"""Offset of the highlight from the surface, as a fraction of the shape's size, to avoid flicker."""
THROUGH_ALPHA = 0.35
"""Factor of the alpha where a highlight shows through other bodies."""
STRIPE_WIDTH = 4.0
"""[px] Width of the stripes of links that are near a limit."""
VERTEX = """
void main()
{
  facing = abs(dot(normalize(normal), eye));
  gl_Position = projection * vec4(pos, 1.0);
}
"""
FRAGMENT = """
void main()
{
  float shade = 0.35 + 0.65 * facing;
  bool between = mod(gl_FragCoord.x + gl_FragCoord.y, 2.0 * stripe) > stripe;
  fragColor = vec4(tint.rgb * shade, between ? 0.25 * tint.a : tint.a);
}
"""


class ShapeBatches:
    """Triangles of each mesh on the GPU, created when first drawn; those of a skin anew when its pose changes."""

    batches: ClassVar[dict[tuple[int, int, str], gpu.types.GPUBatch]] = {}
    surfaces: ClassVar[dict[int, tuple[bytes, np.ndarray, np.ndarray]]] = {}
    """Pose, vertices and normals of each skin, by session id of its object."""
    parts: ClassVar[dict[tuple[int, int, int], tuple[np.ndarray, np.ndarray]]] = {}
    """Vertices and triangles of a link, by session id of the skin's mesh, number of vertices, and material slot."""
    shader: ClassVar[gpu.types.GPUShader | None] = None

    @classmethod
    def batch(cls, shader: gpu.types.GPUShader, shape: bpy.types.Object, item: bpy.types.Object, link: str) -> Any:
        """Batch of a link's triangles, in object space.

        Args:
            shader: of `get_shader`.
            shape: mesh object that shows the link.
            item: the same, evaluated.
            link: name of the link.
        """
        mesh, skinned = bpy_access.mesh(item), is_skin(shape)
        owner = shape.session_uid if skinned else mesh.session_uid
        key = (owner, len(mesh.vertices), link if skinned else "")
        if skinned:
            cls._update_surface(owner, shape, mesh)
        if key not in cls.batches:
            positions, normals, faces = cls._skin_triangles(shape, mesh, link) if skinned else read_triangles(mesh)
            content: Any = {"pos": positions, "normal": normals}
            indices: Any = faces  # arrays are accepted, although the type stubs exclude them
            cls.batches[key] = batch_for_shader(shader, "TRIS", content, indices=indices)
        return cls.batches[key]

    @classmethod
    def _update_surface(cls, owner: int, shape: bpy.types.Object, mesh: bpy.types.Mesh) -> None:
        """Read a skin anew, and remove its batches, if its pose changed."""
        pose = pose_bytes(shape.parent)
        if owner not in cls.surfaces or cls.surfaces[owner][0] != pose:
            cls.surfaces[owner] = pose, *read_surface(mesh)
            cls.batches = {other: batch for other, batch in cls.batches.items() if other[0] != owner}

    @classmethod
    def _skin_triangles(
        cls, shape: bpy.types.Object, mesh: bpy.types.Mesh, link: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A link's vertices (V, 3) [m] slightly outside the skin, normals (V, 3), and triangles (T, 3)."""
        slot = slot_index(shape, link)
        key = (bpy_access.mesh(shape).session_uid, len(mesh.vertices), slot)
        if key not in cls.parts:
            cls.parts[key] = read_part(mesh, slot)
        used, faces = cls.parts[key]
        _, positions, normals = cls.surfaces[shape.session_uid]
        return move_outside(positions[used], normals[used]), normals[used], faces

    @classmethod
    def get_shader(cls) -> gpu.types.GPUShader:
        """A shader with one colour that is darker where the surface faces away."""
        if cls.shader is None:
            between = gpu.types.GPUStageInterfaceInfo("exciting_dance_facing")
            between.smooth("FLOAT", "facing")
            info = gpu.types.GPUShaderCreateInfo()
            info.push_constant("MAT4", "projection")
            info.push_constant("VEC4", "tint")
            info.push_constant("VEC3", "eye")
            info.push_constant("FLOAT", "stripe")
            info.vertex_in(0, "VEC3", "pos")
            info.vertex_in(1, "VEC3", "normal")
            info.vertex_out(between)
            info.fragment_out(0, "VEC4", "fragColor")
            info.vertex_source(VERTEX)
            info.fragment_source(FRAGMENT)
            cls.shader = gpu.shader.create_from_info(info)
        return cls.shader

    @classmethod
    def clear(cls) -> None:
        """Free the batches on the GPU."""
        cls.batches.clear()
        cls.surfaces.clear()
        cls.parts.clear()
        cls.shader = None


def pose_bytes(armature: bpy.types.Object | None) -> bytes:
    """The pose of an armature, for comparison."""
    bones = () if armature is None or armature.pose is None else armature.pose.bones
    return np.array([bone.matrix for bone in bones], np.float32).tobytes()


def read_triangles(mesh: bpy.types.Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (V, 3) [m] slightly outside the surface, normals (V, 3), and triangles (T, 3)."""
    positions, normals = read_surface(mesh)
    return move_outside(positions, normals), normals, _read_faces(mesh)


def read_surface(mesh: bpy.types.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3) [m] and their normals (V, 3)."""
    count = len(mesh.vertices)
    positions, normals = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
    mesh.vertices.foreach_get("co", positions.ravel())
    mesh.vertex_normals.foreach_get("vector", normals.ravel())
    return positions, normals


def read_part(mesh: bpy.types.Mesh, slot: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices (V,) of the vertices of a link's triangles, and these triangles (T, 3) as indices into them.

    Args:
        mesh: of a skin.
        slot: index of the link's material slot.
    """
    faces = _read_faces(mesh)
    slots = np.empty(len(faces), np.int32)
    attribute = mesh.attributes.get(LINK_ATTRIBUTE)
    if attribute is None:
        mesh.loop_triangles.foreach_get("material_index", slots)
    else:  # a character's own materials
        mesh.loop_triangles.foreach_get("polygon_index", slots)
        links: Any = np.empty(len(mesh.polygons), np.int32)
        attribute.data.foreach_get("value", links)  # type: ignore[attr-defined]
        slots = links[slots]
    used, faces = np.unique(faces[slots == slot], return_inverse=True)
    return used, faces.reshape(-1, 3).astype(np.int32)


def move_outside(positions: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Vertices (V, 3) [m] moved along their normals by `SURFACE_OFFSET` of the largest extent."""
    size = float(np.max(np.ptp(positions, axis=0))) if len(positions) else 0.0
    return np.asarray(positions + SURFACE_OFFSET * size * normals)


def _read_faces(mesh: bpy.types.Mesh) -> np.ndarray:
    mesh.calc_loop_triangles()
    faces = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.loop_triangles.foreach_get("vertices", faces.ravel())
    return faces


def draw_highlights(context: bpy.types.Context, body: bpy.types.Object, highlights: dict[str, Highlight]) -> None:
    """Draw the highlights; called in a 3D view's POST_VIEW."""
    if not highlights:
        return
    graph = context.evaluated_depsgraph_get()
    shader = ShapeBatches.get_shader()
    shapes = [
        (highlights[link], link, shape)
        for link, shape in link_shapes(body)
        if link in highlights and shape.visible_get()
    ]
    view = gpu.matrix.get_projection_matrix() @ gpu.matrix.get_model_view_matrix()
    back = context.region_data.view_matrix.inverted().to_3x3() @ Vector((0.0, 0.0, 1.0))
    gpu.state.blend_set("ALPHA")
    gpu.state.face_culling_set("BACK")
    gpu.state.depth_mask_set(False)
    shader.bind()
    for through in (True, False):
        gpu.state.depth_test_set("NONE" if through else "LESS_EQUAL")
        for tint, link, shape in shapes:
            if through and not tint.shows_through:
                continue
            item = shape.evaluated_get(graph)
            red, green, blue, _ = srgb_to_linear(tint.colour[:3])  # the view converts it to sRGB
            alpha = tint.colour[3]
            placed: Any = view @ item.matrix_world
            eye = (item.matrix_world.to_3x3().transposed() @ back).normalized()
            shader.uniform_float("projection", placed)
            shader.uniform_float("eye", (eye.x, eye.y, eye.z))
            shader.uniform_float("stripe", STRIPE_WIDTH * drawing.interface_scale() if tint.striped else 1e6)
            shader.uniform_float("tint", (red, green, blue, THROUGH_ALPHA * alpha if through else alpha))
            ShapeBatches.batch(shader, shape, item, link).draw(shader)
    gpu.state.depth_test_set("NONE")
    gpu.state.face_culling_set("NONE")
    gpu.state.blend_set("NONE")
