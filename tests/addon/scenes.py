"""What several tests of the add-on build."""

from __future__ import annotations

import bpy
import numpy as np

from addon import armature
from solver.io.scene import rig_description, scene_rig
from solver.motion import Motion
from solver.pinocchio_loader import pin
from solver.rig import Rig


def build(rig: Rig) -> bpy.types.Object:
    """The rig's armature in the current scene."""
    tree = rig_description(rig)
    return armature.build_armature(bpy.context, scene_rig(tree), tree)


def random_motion(rig: Rig, frames: int = 12, seed: int = 1) -> Motion:
    """A smooth motion of every joint, hinges and balls far from neutral, with the root travelling."""
    random = np.random.default_rng(seed)
    times = np.linspace(0.0, 0.11, frames)
    start = rig.neutral
    start[:3] = 0.3, -0.2, 0.9
    goal = pin.integrate(rig.model, start, random.uniform(-1.5, 1.5, rig.model.nv))
    q = np.array([pin.interpolate(rig.model, start, goal, s) for s in np.linspace(0.0, 1.0, frames)])
    zeros = np.zeros((frames, rig.model.nv))
    return Motion(times, q, zeros, zeros)
