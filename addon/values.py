"""The only place that finds the solver package: beside the add-on, inside the extension or in the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

if not TYPE_CHECKING and "." in __package__:  # bl_ext.<repository>.exciting_dance.addon
    from ..solver import errors
    from ..solver.inertials import InertialParameters, six_of, symmetric
    from ..solver.io.scene import SceneJoint, SceneRig, SceneShape, read_rig, read_tree, scene_rig
    from ..solver.io.scene_bodies import SceneResult, densities, equivalent_ellipsoids, read_result
    from ..solver.io.scene_motion import SceneMotion, SceneRecording, read_motion, read_recording, read_trials
else:
    from solver import errors
    from solver.inertials import InertialParameters, six_of, symmetric
    from solver.io.scene import SceneJoint, SceneRig, SceneShape, read_rig, read_tree, scene_rig
    from solver.io.scene_bodies import SceneResult, densities, equivalent_ellipsoids, read_result
    from solver.io.scene_motion import SceneMotion, SceneRecording, read_motion, read_recording, read_trials

__all__ = [
    "InertialParameters",
    "SceneJoint",
    "SceneMotion",
    "SceneRecording",
    "SceneResult",
    "SceneRig",
    "SceneShape",
    "densities",
    "equivalent_ellipsoids",
    "errors",
    "read_motion",
    "read_recording",
    "read_result",
    "read_rig",
    "read_tree",
    "read_trials",
    "scene_rig",
    "six_of",
    "symmetric",
]
