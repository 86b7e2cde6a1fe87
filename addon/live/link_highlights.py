"""Highlights links by drawing their shapes in a translucent colour on the GPU; materials are not changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import bpy
import gpu
import numpy as np
from mathutils import Vector

from ..base import bpy_access
from ..drawing import primitives as drawing
from ..scene.armature import link_shapes
from ..scene.colours import srgb_to_linear
from ..scene.skin import LINK_ATTRIBUTE, is_skin, slot_index

if TYPE_CHECKING:
    from .check_colours import Highlight

SURFACE_OFFSET = 0.006
"""Offset of the highlight from the surface towards the eye, as a fraction of the shape's size, to avoid flicker."""
THROUGH_ALPHA = 0.35
"""Factor of the alpha where a highlight shows through other bodies."""
STRIPE_WIDTH = 4.0
"""[px] Width of the stripes of links that are near a limit."""
VERTEX = """
void main()
{
  place = pos;
  gl_Position = projection * vec4(pos + offset * eye, 1.0);
}
"""
FRAGMENT = """
void main()
{
  float facing = abs(dot(normalize(cross(dFdx(place), dFdy(place))), eye));
  float shade = 0.35 + 0.65 * facing;
  bool between = mod(gl_FragCoord.x + gl_FragCoord.y, 2.0 * stripe) > stripe;
  fragColor = vec4(tint.rgb * shade, between ? 0.25 * tint.a : tint.a);
}
"""
"""Triangles are shaded flat, by the derivatives of their positions, so that a skin's normals need not be read."""


class ShapeBatches:
    """Triangles of shapes on the GPU, created when first drawn. The links of a skin share its vertices, which are sent
    again when its pose changes."""

    batches: ClassVar[dict[tuple[int, int, str], gpu.types.GPUBatch]] = {}
    surfaces: ClassVar[dict[int, tuple[bytes, gpu.types.GPUVertBuf]]] = {}
    """Pose and vertices of each skin, by session id of its object."""
    parts: ClassVar[dict[tuple[int, int, str], gpu.types.GPUIndexBuf]] = {}
    """Triangles of a link, by session id of the skin's mesh, number of vertices, and link."""
    shader: ClassVar[gpu.types.GPUShader | None] = None

    @classmethod
    def update_skin(cls, shape: bpy.types.Object, item: bpy.types.Object) -> None:
        """Send the vertices of a skin, if its pose changed.

        Args:
            shape: skin.
            item: the same, evaluated.
        """
        pose, owner = pose_bytes(shape.parent), shape.session_uid
        if owner not in cls.surfaces or cls.surfaces[owner][0] != pose:
            cls.surfaces[owner] = pose, _vertex_buffer(read_vertices(bpy_access.mesh(item)))
            cls.batches = {other: batch for other, batch in cls.batches.items() if other[0] != owner}

    @classmethod
    def batch(cls, shape: bpy.types.Object, item: bpy.types.Object, link: str) -> gpu.types.GPUBatch:
        """Batch of a link's triangles, in object space.

        Args:
            shape: mesh object that shows the link.
            item: the same, evaluated.
            link: name of the link.
        """
        mesh, skinned = bpy_access.mesh(item), is_skin(shape)
        owner = shape.session_uid if skinned else mesh.session_uid
        key = (owner, len(mesh.vertices), link if skinned else "")
        if key not in cls.batches:
            if skinned:
                vertices = cls.surfaces[owner][1]
                faces = cls._skin_triangles(shape, mesh, link)
            else:
                vertices = _vertex_buffer(read_vertices(mesh))
                faces = _index_buffer(read_faces(mesh))
            cls.batches[key] = gpu.types.GPUBatch(type="TRIS", buf=vertices, elem=faces)
        return cls.batches[key]

    @classmethod
    def _skin_triangles(cls, shape: bpy.types.Object, mesh: bpy.types.Mesh, link: str) -> gpu.types.GPUIndexBuf:
        key = (bpy_access.mesh(shape).session_uid, len(mesh.vertices), link)
        if key not in cls.parts:
            cls.parts[key] = _index_buffer(read_part(mesh, slot_index(shape, link)))
        return cls.parts[key]

    @classmethod
    def get_shader(cls) -> gpu.types.GPUShader:
        """A shader with one colour that is darker where the surface faces away."""
        if cls.shader is None:
            between = gpu.types.GPUStageInterfaceInfo("exciting_dance_place")
            between.smooth("VEC3", "place")
            info = gpu.types.GPUShaderCreateInfo()
            info.push_constant("MAT4", "projection")
            info.push_constant("VEC4", "tint")
            info.push_constant("VEC3", "eye")
            info.push_constant("FLOAT", "stripe")
            info.push_constant("FLOAT", "offset")
            info.vertex_in(0, "VEC3", "pos")
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
    if armature is None or armature.pose is None:
        return b""
    matrices = np.empty((len(armature.pose.bones), 16), np.float32)
    armature.pose.bones.foreach_get("matrix", matrices.ravel())
    return matrices.tobytes()


def read_vertices(mesh: bpy.types.Mesh) -> np.ndarray:
    """Vertices (V, 3) [m]."""
    positions = np.empty((len(mesh.vertices), 3), np.float32)
    places: Any = mesh.attributes["position"]  # ten times as fast as from the vertices
    places.data.foreach_get("vector", positions.ravel())
    return positions


def read_part(mesh: bpy.types.Mesh, slot: int) -> np.ndarray:
    """A link's triangles (T, 3), as indices of the skin's vertices.

    Args:
        mesh: of a skin.
        slot: index of the link's material slot.
    """
    faces = read_faces(mesh)
    slots = np.empty(len(faces), np.int32)
    attribute = mesh.attributes.get(LINK_ATTRIBUTE)
    if attribute is None:
        mesh.loop_triangles.foreach_get("material_index", slots)
    else:  # a character's own materials
        mesh.loop_triangles.foreach_get("polygon_index", slots)
        links: Any = np.empty(len(mesh.polygons), np.int32)
        attribute.data.foreach_get("value", links)  # type: ignore[attr-defined]
        slots = links[slots]
    return faces[slots == slot]


def _vertex_buffer(positions: np.ndarray) -> gpu.types.GPUVertBuf:
    layout: Any = gpu.types.GPUVertFormat()
    layout.attr_add(id="pos", comp_type="F32", len=3, fetch_mode="FLOAT")
    buffer: Any = gpu.types.GPUVertBuf(layout, len(positions))  # arrays are accepted, although the stubs exclude them
    buffer.attr_fill(id="pos", data=positions)
    return buffer


def _index_buffer(faces: np.ndarray) -> gpu.types.GPUIndexBuf:
    triangles: Any = np.ascontiguousarray(faces, np.int32)
    return gpu.types.GPUIndexBuf(type="TRIS", seq=triangles)


def read_faces(mesh: bpy.types.Mesh) -> np.ndarray:
    """Triangles (T, 3) as indices of vertices."""
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
    items = {shape: shape.evaluated_get(graph) for _, _, shape in shapes}
    for shape, item in items.items():
        if is_skin(shape):
            ShapeBatches.update_skin(shape, item)
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
            item = items[shape]
            red, green, blue, _ = srgb_to_linear(tint.colour[:3])  # the view converts it to sRGB
            alpha = tint.colour[3]
            placed: Any = view @ item.matrix_world
            eye = (item.matrix_world.to_3x3().transposed() @ back).normalized()
            shader.uniform_float("projection", placed)
            shader.uniform_float("eye", (eye.x, eye.y, eye.z))
            low, *_, high, _ = shape.bound_box
            shader.uniform_float("offset", SURFACE_OFFSET * max(b - a for a, b in zip(low, high, strict=True)))
            shader.uniform_float("stripe", STRIPE_WIDTH * drawing.interface_scale() if tint.striped else 1e6)
            shader.uniform_float("tint", (red, green, blue, THROUGH_ALPHA * alpha if through else alpha))
            ShapeBatches.batch(shape, item, link).draw(shader)
    gpu.state.depth_test_set("NONE")
    gpu.state.face_culling_set("NONE")
    gpu.state.blend_set("NONE")
