"""Colours, materials and curves of a rehearsal's scene; nothing here needs light that is sampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..action import CONSTANT, LINEAR, Curves
from ..colours import linear

LEFT, RIGHT, MIDDLE = (0.16, 0.44, 0.80), (0.86, 0.30, 0.22), (0.74, 0.74, 0.77)
"""sRGB of the body's sides: who learns need not know the words."""
GHOST, GHOST_ON_FILM = (0.05, 0.62, 0.30), (0.45, 1.0, 0.62)
PAPER, INK, PLATE, GROUND = (1.0, 1.0, 1.0), (0.13, 0.14, 0.16), (0.09, 0.10, 0.13), (0.84, 0.85, 0.87)
SELF, RIM = 0.5, 0.45
"""Share of a colour that shows without light (soft shadows would have to be sampled), and how much of it does at the
outline."""
EDGE, CORE = 0.98, 0.30
"""Opacity of the ghost at its outline and where it faces the viewer."""
OUTLINE = 0.55
"""How far the ghost's outline reaches inwards."""


def body_material(name: str, colour: tuple[float, float, float], own: float = SELF) -> bpy.types.Material:
    """Matt; ``own``: light of its own, less toward the outline, so that its form shows in the shadow too."""
    material, tree = _empty(name, colour)
    out, both = node(tree, "ShaderNodeOutputMaterial"), node(tree, "ShaderNodeAddShader")
    matt, glow = node(tree, "ShaderNodeBsdfDiffuse"), node(tree, "ShaderNodeEmission")
    facing, reach = node(tree, "ShaderNodeLayerWeight"), node(tree, "ShaderNodeMapRange")
    for shader in (matt, glow):
        shader.inputs["Color"].default_value = linear(colour)
    for socket, value in zip(("To Min", "To Max"), (own, RIM * own)):
        reach.inputs[socket].default_value = value
    tree.links.new(facing.outputs["Facing"], reach.inputs["Value"])
    tree.links.new(reach.outputs["Result"], glow.inputs["Strength"])
    tree.links.new(matt.outputs[0], both.inputs[0])
    tree.links.new(glow.outputs[0], both.inputs[1])
    tree.links.new(both.outputs[0], out.inputs["Surface"])
    return material


def ghost_material(name: str, colour: tuple[float, float, float] = GHOST) -> bpy.types.Material:
    """A bright outline, nearly clear inside, no back."""
    material, tree, share = _glowing(name, colour)
    facing, geometry = node(tree, "ShaderNodeLayerWeight"), node(tree, "ShaderNodeNewGeometry")
    reach, front, both = (node(tree, kind) for kind in ("ShaderNodeMapRange", "ShaderNodeMath", "ShaderNodeMath"))
    facing.inputs["Blend"].default_value = OUTLINE
    for socket, value in zip(("To Min", "To Max"), (CORE, EDGE)):
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
    """Exactly its colour, whatever the light."""
    material, tree, share = _glowing(name, colour)
    share.default_value = alpha  # type: ignore[attr-defined]
    if alpha == 1.0:  # without the mixture it is opaque in every engine
        tree.links.new(tree.nodes["Glow"].outputs[0], tree.nodes["Out"].inputs["Surface"])
    return material


def _glowing(
    name: str, colour: tuple[float, float, float]
) -> tuple[bpy.types.Material, bpy.types.NodeTree, bpy.types.NodeSocket]:
    """A material of light and clearness alone, which needs no sampling, with the socket of light's share."""
    material, tree = _empty(name, colour)
    if hasattr(material, "surface_render_method"):
        material.surface_render_method = "BLENDED"
    out, mix = node(tree, "ShaderNodeOutputMaterial"), node(tree, "ShaderNodeMixShader")
    clear, glow = node(tree, "ShaderNodeBsdfTransparent"), node(tree, "ShaderNodeEmission")
    out.name, glow.name = "Out", "Glow"
    glow.inputs["Color"].default_value = linear(colour)
    tree.links.new(clear.outputs[0], mix.inputs[1])
    tree.links.new(glow.outputs[0], mix.inputs[2])
    tree.links.new(mix.outputs[0], out.inputs["Surface"])
    return material, tree, mix.inputs[0]


def _empty(name: str, colour: tuple[float, float, float]) -> tuple[bpy.types.Material, bpy.types.NodeTree]:
    material = bpy.data.materials.new(name)
    if material.node_tree is None:  # Blender 4.5
        material.use_nodes = True
    material.diffuse_color = (*colour, 1.0)  # type: ignore[assignment]
    material.cycles.emission_sampling = "NONE"  # type: ignore[attr-defined]
    tree = material.node_tree
    assert tree is not None
    tree.nodes.clear()
    return material, tree


def node(tree: bpy.types.NodeTree, kind: str) -> Any:
    """A new node; what it holds depends on its kind, which types do not know."""
    return tree.nodes.new(kind)


def unlit(item: bpy.types.Object) -> None:
    """Seen by the camera alone."""
    item.visible_shadow = item.visible_diffuse = item.visible_glossy = item.visible_transmission = False


def show_while(action: bpy.types.Action, item: bpy.types.Object, shown: np.ndarray) -> None:
    """Render an object in those frames (F,) of the video only; the first is the scene's frame 1."""
    changes = np.flatnonzero(np.diff(np.concatenate([[not shown[0]], shown])))
    hidden = ~shown[changes]
    item.hide_render = bool(hidden[0])
    curves = Curves(action, item)
    for path in ("hide_render", "hide_viewport"):
        curves.add(path, changes + 1.0, hidden.astype(float), interpolation=CONSTANT)


def follow(action: bpy.types.Action, item: bpy.types.Object, path: str, index: int, values: Sequence[float]) -> None:
    """Key one number in every frame of the video."""
    frames = np.arange(len(values)) + 1.0
    Curves(action, item).add(path, frames, np.asarray(values), index=index, interpolation=LINEAR)
