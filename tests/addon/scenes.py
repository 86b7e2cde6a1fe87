"""Data that several tests of the add-on build."""

from __future__ import annotations

import bpy
import numpy as np

from addon.scene import armature
from solver.dynamics import integrate
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.pinocchio import pin


def build(rig: Rig) -> bpy.types.Object:
    """The rig's armature in the current scene."""
    return armature.build_armature(bpy.context, rig)


def random_motion(rig: Rig, frames: int = 12, seed: int = 1) -> Motion:
    """A smooth motion of every joint, hinges and balls far from neutral, with the root travelling."""
    random = np.random.default_rng(seed)
    times = np.linspace(0.0, 0.11, frames)
    start = rig.neutral
    start[:3] = 0.3, -0.2, 0.9
    goal = integrate(rig, start, random.uniform(-1.5, 1.5, rig.nv))
    q = np.array([pin.interpolate(rig.model, start, goal, s) for s in np.linspace(0.0, 1.0, frames)])
    zeros = np.zeros((frames, rig.nv))
    return Motion(times, q, zeros, zeros)


STORES = ("objects", "collections", "armatures", "meshes", "curves", "materials", "actions", "cameras", "lights")


def fingerprint() -> dict[str, object]:
    """All data of the open file that the add-on may change, for comparison."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    state: dict[str, object] = {store: sorted(item.name for item in getattr(bpy.data, store)) for store in STORES}
    render = scene.render
    state["times"] = (render.fps, render.fps_base, scene.frame_start, scene.frame_end, scene.frame_current)
    state["active"] = layer.objects.active and layer.objects.active.name
    state["layers"] = {child.name: child.exclude for child in layer.layer_collection.children}
    for item in bpy.data.objects:
        state[f"object {item.name}"] = _properties(item)
        if item.name in layer.objects:
            state[f"seen {item.name}"] = (item.hide_get(), item.select_get(), item.hide_render)
        animation = item.animation_data
        if animation is not None:
            slot = animation.action_slot and animation.action_slot.identifier
            state[f"action {item.name}"] = (animation.action and animation.action.name, slot)
        if item.type == "ARMATURE":
            for owner in (item.data, *item.data.bones):
                state[f"{item.name} {owner.name}"] = _properties(owner)
    for material in bpy.data.materials:
        shader = material.node_tree.nodes["Principled BSDF"]
        state[f"colour {material.name}"] = (
            tuple(material.diffuse_color),
            tuple(shader.inputs["Base Color"].default_value),
        )
    return state


def _properties(owner: bpy.types.ID | bpy.types.Bone) -> dict[str, object]:
    """Custom properties with their units."""
    found: dict[str, object] = {}
    for name in owner.keys():  # noqa: SIM118
        value = owner[name]
        found[name] = value.to_list() if hasattr(value, "to_list") else value
        if not isinstance(value, str):
            found[f"{name} unit"] = owner.id_properties_ui(name).as_dict()
    return found
