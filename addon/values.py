"""The only place that finds the solver package: beside the add-on, inside the extension or in the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

if not TYPE_CHECKING and "." in __package__:  # bl_ext.<repository>.exciting_dance.addon
    from ..solver import errors, so3, stopping
    from ..solver.check_options import DANCE_CHECKS, CheckOptions
    from ..solver.formats.arrays_npz import write_recording_npz
    from ..solver.formats.atomic import write_atomically
    from ..solver.formats.folder import read_whole, write_folder
    from ..solver.formats.json_tree import read_json
    from ..solver.formats.lock import Lock, discard, own_folder, sweep
    from ..solver.formats.recording import hold_joints
    from ..solver.formats.suffixes import RECORDING_SUFFIXES
    from ..solver.formats.value_tree import from_tree, to_tree
    from ..solver.inertials import InertialParameters, six_of, symmetric
    from ..solver.live.lines import bounded_lines
    from ..solver.live.protocol import json_line
    from ..solver.motion import RestPose, SegmentPoses
    from ..solver.rig import Rig
    from ..solver.scene import dance_folder, marker_set, study_folder
    from ..solver.scene import estimate as estimate_language
    from ..solver.scene.bodies import RESULT, SceneResult, densities, equivalent_ellipsoids
    from ..solver.scene.counts import FASTEST_BEAT, PHRASE, SLOWEST_BEAT, counts_at, is_tempo
    from ..solver.scene.estimate import ESTIMATE, SceneEstimate
    from ..solver.scene.flight_arc import FlightArc
    from ..solver.scene.frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
    from ..solver.scene.motion import (
        RECORDING,
        SceneMotion,
        SceneRecording,
        files_of_trials,
        read_trials,
    )
    from ..solver.scene.motion_record import MOTION
    from ..solver.scene.pose import ScenePose, scene_pose
    from ..solver.scene.reduction import enough_keys, slopes_of
    from ..solver.scene.rig import read_rig, rig_of_text, rig_text, write_rig
    from ..solver.scene.summary import SUMMARY, SceneFailure, SceneMove, SceneSummary
    from ..solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline, flights_of
    from ..solver.scene.words import spoken
    from ..solver.shape import Shape
    from ..solver.trial import Recording
else:
    from solver import errors, so3, stopping
    from solver.check_options import DANCE_CHECKS, CheckOptions
    from solver.formats.arrays_npz import write_recording_npz
    from solver.formats.atomic import write_atomically
    from solver.formats.folder import read_whole, write_folder
    from solver.formats.json_tree import read_json
    from solver.formats.lock import Lock, discard, own_folder, sweep
    from solver.formats.recording import hold_joints
    from solver.formats.suffixes import RECORDING_SUFFIXES
    from solver.formats.value_tree import from_tree, to_tree
    from solver.inertials import InertialParameters, six_of, symmetric
    from solver.live.lines import bounded_lines
    from solver.live.protocol import json_line
    from solver.motion import RestPose, SegmentPoses
    from solver.rig import Rig
    from solver.scene import dance_folder, marker_set, study_folder
    from solver.scene import estimate as estimate_language
    from solver.scene.bodies import RESULT, SceneResult, densities, equivalent_ellipsoids
    from solver.scene.counts import FASTEST_BEAT, PHRASE, SLOWEST_BEAT, counts_at, is_tempo
    from solver.scene.estimate import ESTIMATE, SceneEstimate
    from solver.scene.flight_arc import FlightArc
    from solver.scene.frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
    from solver.scene.motion import (
        RECORDING,
        SceneMotion,
        SceneRecording,
        files_of_trials,
        read_trials,
    )
    from solver.scene.motion_record import MOTION
    from solver.scene.pose import ScenePose, scene_pose
    from solver.scene.reduction import enough_keys, slopes_of
    from solver.scene.rig import read_rig, rig_of_text, rig_text, write_rig
    from solver.scene.summary import SUMMARY, SceneFailure, SceneMove, SceneSummary
    from solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline, flights_of
    from solver.scene.words import spoken
    from solver.shape import Shape
    from solver.trial import Recording

__all__ = [
    "DANCE_CHECKS",
    "ESTIMATE",
    "FASTEST_BEAT",
    "MOTION",
    "PHRASE",
    "RECORDING",
    "RECORDING_SUFFIXES",
    "RESULT",
    "SLOWEST_BEAT",
    "SUMMARY",
    "TIMELINE",
    "CheckOptions",
    "FlightArc",
    "InertialParameters",
    "Lock",
    "Recording",
    "RestPose",
    "Rig",
    "SceneEstimate",
    "SceneFailure",
    "SceneFoot",
    "SceneFrame",
    "SceneKey",
    "SceneMargin",
    "SceneMotion",
    "SceneMove",
    "ScenePose",
    "SceneRecording",
    "SceneResult",
    "SceneStrip",
    "SceneSummary",
    "SceneTimeline",
    "SegmentPoses",
    "Shape",
    "bounded_lines",
    "counts_at",
    "dance_folder",
    "densities",
    "discard",
    "enough_keys",
    "equivalent_ellipsoids",
    "errors",
    "estimate_language",
    "files_of_trials",
    "flights_of",
    "from_tree",
    "hold_joints",
    "is_tempo",
    "json_line",
    "marker_set",
    "own_folder",
    "read_json",
    "read_rig",
    "read_trials",
    "read_whole",
    "rig_of_text",
    "rig_text",
    "scene_frame",
    "scene_pose",
    "six_of",
    "slopes_of",
    "so3",
    "spoken",
    "stopping",
    "study_folder",
    "sweep",
    "symmetric",
    "to_tree",
    "write_atomically",
    "write_folder",
    "write_recording_npz",
    "write_rig",
]
