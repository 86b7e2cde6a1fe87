"""The only place that finds the solver package: beside the add-on, inside the extension or in the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

if not TYPE_CHECKING and "." in __package__:  # bl_ext.<repository>.exciting_dance.addon
    from ..solver import errors
    from ..solver.inertials import InertialParameters, six_of, symmetric
    from ..solver.scene.bodies import SceneResult, densities, equivalent_ellipsoids, read_result
    from ..solver.scene.frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
    from ..solver.scene.motion import SceneMotion, SceneRecording, continuous, read_motion, read_recording, read_trials
    from ..solver.scene.rig import SceneJoint, SceneRig, SceneShape, read_rig, read_tree, scene_rig
    from ..solver.scene.summary import SceneFailure, SceneSummary, read_summary
    from ..solver.scene.timeline import SceneKey, SceneStrip, SceneTimeline, read_timeline, write_timeline
    from ..solver.scene.words import spoken
else:
    from solver import errors
    from solver.inertials import InertialParameters, six_of, symmetric
    from solver.scene.bodies import SceneResult, densities, equivalent_ellipsoids, read_result
    from solver.scene.frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
    from solver.scene.motion import SceneMotion, SceneRecording, continuous, read_motion, read_recording, read_trials
    from solver.scene.rig import SceneJoint, SceneRig, SceneShape, read_rig, read_tree, scene_rig
    from solver.scene.summary import SceneFailure, SceneSummary, read_summary
    from solver.scene.timeline import SceneKey, SceneStrip, SceneTimeline, read_timeline, write_timeline
    from solver.scene.words import spoken

__all__ = [
    "InertialParameters",
    "SceneFailure",
    "SceneFoot",
    "SceneFrame",
    "SceneJoint",
    "SceneKey",
    "SceneMargin",
    "SceneMotion",
    "SceneRecording",
    "SceneResult",
    "SceneRig",
    "SceneShape",
    "SceneStrip",
    "SceneSummary",
    "SceneTimeline",
    "continuous",
    "densities",
    "equivalent_ellipsoids",
    "errors",
    "read_motion",
    "read_recording",
    "read_result",
    "read_rig",
    "read_summary",
    "read_timeline",
    "read_tree",
    "read_trials",
    "scene_frame",
    "scene_rig",
    "six_of",
    "spoken",
    "symmetric",
    "write_timeline",
]
