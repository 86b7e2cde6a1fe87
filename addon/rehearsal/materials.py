"""Colours, materials and animation curves of a rehearsal scene; no material needs sampled light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..drawing.painting.bodies import CORE_OPACITY, OUTLINE_OPACITY
from ..scene.action import CONSTANT, LINEAR, ActionCurves
from ..scene.colours import srgb_to_linear

LEFT_COLOUR, RIGHT_COLOUR, MIDDLE_COLOUR = (0.16, 0.44, 0.80), (0.86, 0.30, 0.22), (0.74, 0.74, 0.77)
"""sRGB colours of the body's sides, so that learners see left and right."""
GHOST_COLOUR, GHOST_COLOUR_ON_FILM = (0.05, 0.62, 0.30), (0.45, 1.0, 0.62)
TEXT_COLOUR, DARK_COLOUR, PLATE_COLOUR, FLOOR_COLOUR = (
    (1.0, 1.0, 1.0),
    (0.13, 0.14, 0.16),
    (0.09, 0.10, 0.13),
    (0.84, 0.85, 0.87),
)
EMISSION, RIM_EMISSION = 0.5, 0.45
"""Emission of a material as a fraction of its colour (instead of soft shadows, which need samples), and factor of the
emission at the outline."""
OUTLINE_WIDTH = 0.55
"""Width of the ghost's outline, as the blend of a Layer Weight node."""


def body_material(name: str, colour: tuple[float, float, float], emission: float = EMISSION) -> bpy.types.Material:
    """A matt material with some emission, which is weaker at the outline, so that shape is visible in shadow too."""
    material, tree = _empty_material(name, colour)
    out, both = add_node(tree, "ShaderNodeOutputMaterial"), add_node(tree, "ShaderNodeAddShader")
    matt, glow = add_node(tree, "ShaderNodeBsdfDiffuse"), add_node(tree, "ShaderNodeEmission")
    facing, reach = add_node(tree, "ShaderNodeLayerWeight"), add_node(tree, "ShaderNodeMapRange")
    for shader in (matt, glow):
        shader.inputs["Color"].default_value = srgb_to_linear(colour)
    for socket, value in zip(("To Min", "To Max"), (emission, RIM_EMISSION * emission)):
        reach.inputs[socket].default_value = value
    tree.links.new(facing.outputs["Facing"], reach.inputs["Value"])
    tree.links.new(reach.outputs["Result"], glow.inputs["Strength"])
    tree.links.new(matt.outputs[0], both.inputs[0])
    tree.links.new(glow.outputs[0], both.inputs[1])
    tree.links.new(both.outputs[0], out.inputs["Surface"])
    return material


def ghost_material(name: str, colour: tuple[float, float, float] = GHOST_COLOUR) -> bpy.types.Material:
    """A material with a bright outline, nearly transparent inside, with invisible back faces."""
    material, tree, share = _emissive_material(name, colour)
    facing, geometry = add_node(tree, "ShaderNodeLayerWeight"), add_node(tree, "ShaderNodeNewGeometry")
    reach, front, both = (add_node(tree, kind) for kind in ("ShaderNodeMapRange", "ShaderNodeMath", "ShaderNodeMath"))
    facing.inputs["Blend"].default_value = OUTLINE_WIDTH
    for socket, value in zip(("To Min", "To Max"), (CORE_OPACITY, OUTLINE_OPACITY)):
        reach.inputs[socket].default_value = value
    front.operation, front.inputs[0].default_value = "SUBTRACT", 1.0
    both.operation = "MULTIPLY"
    tree.links.new(facing.outputs["Facing"], reach.inputs["Value"])
    tree.links.new(geometry.outputs["Backfacing"], front.inputs[1])
    tree.links.new(reach.outputs["Result"], both.inputs[0])
    tree.links.new(front.outputs[0], both.inputs[1])
    tree.links.new(both.outputs[0], share)
    return material


def flat_material(name: str, colour: tuple[float, float, float], alpha: float = 1.0) -> bpy.types.Material:
    """A material with exactly its colour in any light."""
    material, tree, share = _emissive_material(name, colour)
    share.default_value = alpha  # type: ignore[attr-defined]
    material.diffuse_color[3] = alpha  # type: ignore[index]
    if alpha == 1.0:  # without the mix shader it is opaque in all engines
        tree.links.new(tree.nodes["Glow"].outputs[0], tree.nodes["Out"].inputs["Surface"])
    return material


def _emissive_material(
    name: str, colour: tuple[float, float, float]
) -> tuple[bpy.types.Material, bpy.types.NodeTree, bpy.types.NodeSocket]:
    """A mix of emission and transparency, which needs no sampling, with the socket of the mix factor."""
    material, tree = _empty_material(name, colour)
    if hasattr(material, "surface_render_method"):
        material.surface_render_method = "BLENDED"
    out, mix = add_node(tree, "ShaderNodeOutputMaterial"), add_node(tree, "ShaderNodeMixShader")
    clear, glow = add_node(tree, "ShaderNodeBsdfTransparent"), add_node(tree, "ShaderNodeEmission")
    out.name, glow.name = "Out", "Glow"
    glow.inputs["Color"].default_value = srgb_to_linear(colour)
    tree.links.new(clear.outputs[0], mix.inputs[1])
    tree.links.new(glow.outputs[0], mix.inputs[2])
    tree.links.new(mix.outputs[0], out.inputs["Surface"])
    return material, tree, mix.inputs[0]


def _empty_material(name: str, colour: tuple[float, float, float]) -> tuple[bpy.types.Material, bpy.types.NodeTree]:
    material = bpy.data.materials.new(name)
    if material.node_tree is None:  # Blender 4.5
        material.use_nodes = True
    material.diffuse_color = srgb_to_linear(colour)  # type: ignore[assignment]
    material.cycles.emission_sampling = "NONE"  # type: ignore[attr-defined]
    tree = material.node_tree
    assert tree is not None
    tree.nodes.clear()
    return material, tree


def add_node(tree: bpy.types.NodeTree, kind: str) -> Any:
    """Add a node; its type is Any because its sockets depend on the kind."""
    return tree.nodes.new(kind)


def exclude_from_light(item: bpy.types.Object) -> None:
    """Make an object visible to the camera only."""
    item.visible_shadow = item.visible_diffuse = item.visible_glossy = item.visible_transmission = False


def key_visibility(action: bpy.types.Action, item: bpy.types.Object, visible: np.ndarray) -> None:
    """Show an object only in some frames (F,) of the video, which start at the scene's frame 1."""
    changes = np.flatnonzero(np.diff(np.concatenate([[not visible[0]], visible])))
    hidden = ~visible[changes]
    item.hide_render = bool(hidden[0])
    curves = ActionCurves(action, item)
    for path in ("hide_render", "hide_viewport"):
        curves.add(path, changes + 1.0, hidden.astype(float), interpolation=CONSTANT)


def key_values(
    action: bpy.types.Action, item: bpy.types.Object, path: str, index: int, values: Sequence[float]
) -> None:
    """Key a property in every frame of the video."""
    frames = np.arange(len(values)) + 1.0
    ActionCurves(action, item).add(path, frames, np.asarray(values), index=index, interpolation=LINEAR)
