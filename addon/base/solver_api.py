"""The only module that imports the solver package, which lies beside the add-on.

Each name is imported when it is first used, so that enabling the extension imports little of the solver.
"""
# ruff: noqa: F401  # these imports are for type checkers, `__getattr__` does them at run time

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solver.base import errors, so3
    from solver.base import termination as stopping
    from solver.centroidal import values as estimate_language
    from solver.centroidal.values import ESTIMATE, CentroidalEstimate
    from solver.character.character import CHARACTER, Character
    from solver.cli.argument_types import add_options, given
    from solver.contacts.rolling import PARTS, TOE_BEND, RollingSole
    from solver.formats.file_formats import recording_suffixes
    from solver.formats.npz import write_recording_npz
    from solver.formats.recording import has_joints
    from solver.input_checks.armature import describe_body, require_parts
    from solver.live.line_reader import bounded_lines
    from solver.live.protocol import parse_json_line
    from solver.moments.values import MOMENTS, JointMoments
    from solver.options.authoring import CompleteOptions, RetargetOptions
    from solver.options.checks import DANCE_CHECKS, CheckOptions
    from solver.options.dances import PHRASE, TEMPO, DanceOptions
    from solver.options.declared import Declaration, Option, Options, Range, declarations
    from solver.options.exciting import ExcitingOptions
    from solver.options.study import CohortOptions, Settings
    from solver.scene import dance_folder, marker_set, study_folder
    from solver.scene.body_mesh import bend_toes, fit_body_mesh, has_body_mesh
    from solver.scene.checked_frame import SceneFoot, SceneFrame, SceneMargin, scene_frame
    from solver.scene.dance_counts import counts_at, write_clicks
    from solver.scene.flight_arc import FlightArc
    from solver.scene.handles import find_handles
    from solver.scene.key_reduction import central_slopes, select_keys
    from solver.scene.labels import display_name, join_names
    from solver.scene.live_pose import ScenePose, scene_pose
    from solver.scene.motion import RECORDING, SceneMotion, SceneRecording, find_trial_files, read_trials
    from solver.scene.motion_record import MOTION
    from solver.scene.result import RESULT, SceneResult, densities, equivalent_ellipsoids
    from solver.scene.rig import read_rig, rig_from_text, rig_to_text, write_rig
    from solver.scene.summary import SUMMARY, SceneFailure, SceneMove, SceneSummary
    from solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline, flights_between_strips
    from solver.signals.trial import Recording
    from solver.skeleton.match import Skeleton, match_bones, match_recording
    from solver.skeleton.rig import BONE_LINKS, CHARACTER_KIND, REST_PLACEMENT, Rig
    from solver.storage.atomic import write_atomically
    from solver.storage.json_tree import read_json
    from solver.storage.lock import Lock, create_locked_folder, remove_abandoned_folders, remove_locked_folder
    from solver.storage.manifest import stored_file
    from solver.storage.output_folder import read_consistent, write_folder
    from solver.storage.value_tree import from_tree, to_tree
    from solver.values import person
    from solver.values.identification_methods import IDENTIFICATION_METHODS, find_method
    from solver.values.inertials import InertialParameters, symmetric_entries, symmetric_matrix
    from solver.values.motion import RestPose, SegmentPoses
    from solver.values.rig_kinds import RIG_KINDS, robot_suffixes
    from solver.values.shape import Shape

_HOUSE = __package__.rpartition(".addon")[0]
_SOLVER = f"{_HOUSE}.solver" if _HOUSE else "solver"
"""Import path of the solver: in the extension bl_ext.<repository>.exciting_dance.solver, otherwise ``solver``."""
_MODULES = {
    "errors": "base.errors",
    "person": "values.person",
    "so3": "base.so3",
    "stopping": "base.termination",
    "dance_folder": "scene.dance_folder",
    "marker_set": "scene.marker_set",
    "study_folder": "scene.study_folder",
    "estimate_language": "centroidal.values",
}
_NAMES = {
    "input_checks.armature": ("describe_body", "require_parts"),
    "skeleton.match": ("Skeleton", "match_bones", "match_recording"),
    "character.character": ("CHARACTER", "Character"),
    "storage.atomic": ("write_atomically",),
    "contacts.rolling": ("PARTS", "TOE_BEND", "RollingSole"),
    "options.authoring": ("CompleteOptions", "RetargetOptions"),
    "options.checks": ("DANCE_CHECKS", "CheckOptions"),
    "options.dances": ("PHRASE", "TEMPO", "DanceOptions"),
    "options.declared": ("Declaration", "Option", "Options", "Range", "declarations"),
    "cli.argument_types": ("add_options", "given"),
    "options.exciting": ("ExcitingOptions",),
    "options.study": ("CohortOptions", "Settings"),
    "formats.file_formats": ("recording_suffixes",),
    "storage.json_tree": ("read_json",),
    "storage.lock": ("Lock", "remove_locked_folder", "create_locked_folder", "remove_abandoned_folders"),
    "formats.npz": ("write_recording_npz",),
    "storage.manifest": ("stored_file",),
    "storage.output_folder": ("read_consistent", "write_folder"),
    "formats.recording": ("has_joints",),
    "storage.value_tree": ("from_tree", "to_tree"),
    "values.identification_methods": ("IDENTIFICATION_METHODS", "find_method"),
    "values.inertials": ("InertialParameters", "symmetric_entries", "symmetric_matrix"),
    "live.line_reader": ("bounded_lines",),
    "live.protocol": ("parse_json_line",),
    "moments.values": ("MOMENTS", "JointMoments"),
    "values.motion": ("RestPose", "SegmentPoses"),
    "skeleton.rig": ("BONE_LINKS", "CHARACTER_KIND", "REST_PLACEMENT", "Rig"),
    "values.rig_kinds": (
        "RIG_KINDS",
        "robot_suffixes",
    ),
    "scene.body_mesh": ("bend_toes", "fit_body_mesh", "has_body_mesh"),
    "centroidal.values": ("ESTIMATE", "CentroidalEstimate"),
    "scene.checked_frame": ("SceneFoot", "SceneFrame", "SceneMargin", "scene_frame"),
    "scene.dance_counts": ("counts_at", "write_clicks"),
    "scene.flight_arc": ("FlightArc",),
    "scene.key_reduction": ("select_keys", "central_slopes"),
    "scene.handles": ("find_handles",),
    "scene.labels": ("display_name", "join_names"),
    "scene.live_pose": ("ScenePose", "scene_pose"),
    "scene.motion": ("RECORDING", "SceneMotion", "SceneRecording", "find_trial_files", "read_trials"),
    "scene.motion_record": ("MOTION",),
    "scene.result": ("RESULT", "SceneResult", "densities", "equivalent_ellipsoids"),
    "scene.rig": ("read_rig", "rig_from_text", "rig_to_text", "write_rig"),
    "scene.summary": ("SUMMARY", "SceneFailure", "SceneMove", "SceneSummary"),
    "scene.timeline": ("TIMELINE", "SceneKey", "SceneStrip", "SceneTimeline", "flights_between_strips"),
    "values.shape": ("Shape",),
    "signals.trial": ("Recording",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted({*_MODULES, *_MODULE_OF})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(f"{_SOLVER}.{_MODULES[name]}")
    elif name in _MODULE_OF:
        value = getattr(import_module(f"{_SOLVER}.{_MODULE_OF[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
