"""The only place that finds the solver package: beside the add-on, inside the extension or in the repository.

Each name is imported when a module first asks for it, so that enabling the extension imports little of the solver.
"""
# ruff: noqa: F401  # what type checkers read here is imported by `__getattr__`

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_SOLVER = f"{__package__.rpartition('.')[0]}.solver" if "." in __package__ else "solver"
"""In the extension, bl_ext.<repository>.exciting_dance, it is a package beside this one; in the repository a folder."""
_MODULES = {
    "errors": "errors",
    "so3": "so3",
    "stopping": "stopping",
    "dance_folder": "scene.dance_folder",
    "marker_set": "scene.marker_set",
    "study_folder": "scene.study_folder",
    "estimate_language": "scene.estimate",
}
_HOME = {
    "check_options": (
        "DANCE_CHECKS",
        "CheckOptions",
    ),
    "formats.arrays_npz": ("write_recording_npz",),
    "formats.atomic": ("write_atomically",),
    "formats.folder": (
        "read_whole",
        "write_folder",
    ),
    "formats.json_tree": ("read_json",),
    "formats.lock": (
        "Lock",
        "discard",
        "own_folder",
        "sweep",
    ),
    "formats.recording": ("hold_joints",),
    "formats.suffixes": ("RECORDING_SUFFIXES",),
    "formats.value_tree": (
        "from_tree",
        "to_tree",
    ),
    "inertials": (
        "InertialParameters",
        "six_of",
        "symmetric",
    ),
    "live.lines": ("bounded_lines",),
    "live.protocol": ("json_line",),
    "motion": (
        "RestPose",
        "SegmentPoses",
    ),
    "rig": ("Rig",),
    "scene.bodies": (
        "RESULT",
        "SceneResult",
        "densities",
        "equivalent_ellipsoids",
    ),
    "scene.counts": (
        "FASTEST_BEAT",
        "PHRASE",
        "SLOWEST_BEAT",
        "counts_at",
        "is_tempo",
    ),
    "scene.estimate": (
        "ESTIMATE",
        "SceneEstimate",
    ),
    "scene.flight_arc": ("FlightArc",),
    "scene.frame": (
        "SceneFoot",
        "SceneFrame",
        "SceneMargin",
        "scene_frame",
    ),
    "scene.motion": (
        "RECORDING",
        "SceneMotion",
        "SceneRecording",
        "files_of_trials",
        "read_trials",
    ),
    "scene.motion_record": ("MOTION",),
    "scene.pose": (
        "ScenePose",
        "scene_pose",
    ),
    "scene.reduction": (
        "enough_keys",
        "slopes_of",
    ),
    "scene.rig": (
        "read_rig",
        "rig_of_text",
        "rig_text",
        "write_rig",
    ),
    "scene.summary": (
        "SUMMARY",
        "SceneFailure",
        "SceneMove",
        "SceneSummary",
    ),
    "scene.timeline": (
        "TIMELINE",
        "SceneKey",
        "SceneStrip",
        "SceneTimeline",
        "flights_of",
    ),
    "scene.words": ("spoken",),
    "shape": ("Shape",),
    "trial": ("Recording",),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted({*_MODULES, *_WHERE})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(f"{_SOLVER}.{_MODULES[name]}")
    elif name in _WHERE:
        value = getattr(import_module(f"{_SOLVER}.{_WHERE[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
