"""The only place that finds the solver package: beside the add-on, inside the extension or in the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

if not TYPE_CHECKING and "." in __package__:  # bl_ext.<repository>.exciting_dance.addon
    from ..solver import errors
    from ..solver.check_options import DANCE_CHECKS, CheckOptions
    from ..solver.formats.value_tree import from_tree, to_tree
    from ..solver.inertials import InertialParameters, six_of, symmetric
    from ..solver.scene import dance_folder, study_folder
    from ..solver.scene.bodies import SceneResult, densities, equivalent_ellipsoids, read_result
    from ..solver.scene.frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
    from ..solver.scene.motion import RECORDING, SceneMotion, SceneRecording, continuous, read_motion, read_trials
    from ..solver.scene.rig import SceneJoint, SceneRig, SceneShape, read_rig, read_tree, scene_rig
    from ..solver.scene.summary import SUMMARY, SceneFailure, SceneSummary
    from ..solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline
    from ..solver.scene.words import spoken
else:
    from solver import errors
    from solver.check_options import DANCE_CHECKS, CheckOptions
    from solver.formats.value_tree import from_tree, to_tree
    from solver.inertials import InertialParameters, six_of, symmetric
    from solver.scene import dance_folder, study_folder
    from solver.scene.bodies import SceneResult, densities, equivalent_ellipsoids, read_result
    from solver.scene.frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
    from solver.scene.motion import RECORDING, SceneMotion, SceneRecording, continuous, read_motion, read_trials
    from solver.scene.rig import SceneJoint, SceneRig, SceneShape, read_rig, read_tree, scene_rig
    from solver.scene.summary import SUMMARY, SceneFailure, SceneSummary
    from solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline
    from solver.scene.words import spoken

__all__ = [
    "DANCE_CHECKS",
    "RECORDING",
    "SUMMARY",
    "TIMELINE",
    "CheckOptions",
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
    "dance_folder",
    "densities",
    "equivalent_ellipsoids",
    "errors",
    "from_tree",
    "read_motion",
    "read_result",
    "read_rig",
    "read_tree",
    "read_trials",
    "scene_frame",
    "scene_rig",
    "six_of",
    "spoken",
    "study_folder",
    "symmetric",
    "to_tree",
]
