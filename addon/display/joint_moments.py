"""Joint moments of a study: animated custom properties of its armature, and arcs at its joints.

The properties of the armature object are ``moment_NAME`` [N m/kg] of every coordinate, [N/kg] of a sliding one.
An arc turns about the moment on a link, in its sense by the right hand, around the link's joint. Its angle is
proportional to the moment; the legend has the scale.
"""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from ..base import custom_properties
from ..base.bpy_access import scene
from ..base.solver_api import MOMENTS, JointMoments, errors, read_consistent, study_folder
from ..drawing.primitives import BOLD_WIDTH, Colour
from ..scene.action import ActionCurves, frames_at
from .centroidal_overlay import LineSet
from .study import TRIAL_KEY, find_trial_actions, played_trial, study_folder_of

COMPUTED_KEY = "exciting_dance_moments"
"""Custom property of an action: its trial's joint moments were computed."""
PREFIX, GROUP = "moment_", "Joint Moments"
"""Prefix of the properties' names, and group of their curves."""
ARC_COLOUR: Colour = (1.00, 0.30, 0.55, 1.0)
ARC_RADIUS = 0.08
"""[m]"""
LONGEST_ARC, SHORTEST_ARC = 1.5 * np.pi, 0.25
"""[rad] Arc of the recording's largest moment, and the shortest that is drawn."""
ARC_STEP = 0.2
"""[rad] Largest angle of one line of an arc."""
HEAD_SIZE, HEAD_SHARE = 0.025, 0.5
"""[m] Length of an arrow head's lines, and its largest share of the arc's length."""
UPWARD, FORWARD = np.eye(3)[2], np.eye(3)[0]
LEVEL = 0.05
"""[1] Arcs whose upward direction has a smaller length before it is scaled to 1 are horizontal."""


def read_moments(folder: Path) -> dict[str, JointMoments]:
    """Read the moments that ``python -m solver moments`` wrote to a folder, by trial.

    Raises:
        InputError: there are none, or one file is damaged.
    """
    if not study_folder.trial_files(folder, study_folder.MOMENTS_END):
        raise errors.InputError(folder, "contains no joint moments", remedy="Compute the moments again")
    return read_consistent(folder, lambda: study_folder.read_trial_files(folder, study_folder.MOMENTS_END, MOMENTS))


def key_moments(context: bpy.types.Context, body: bpy.types.Object, found: dict[str, JointMoments]) -> tuple[str, ...]:
    """Key the moments on the actions of a body's trials, replacing earlier ones.

    Returns:
        names of the trials.

    Raises:
        InvalidValue: the body has none of these trials.
    """
    own = [item for item in find_trial_actions(body) if custom_properties.read_label(item, TRIAL_KEY) in found]
    if not own:
        raise errors.InvalidValue(f"{body.name!r} has none of the trials {', '.join(found)}: open the results again")
    trials = [custom_properties.read_label(item, TRIAL_KEY) for item in own]
    for item, trial in zip(own, trials, strict=True):
        moments = found[trial]
        curves, frames = ActionCurves(item, None, item.slots[0]), frames_at(scene(context), moments.times)
        curves.remove({_data_path(name) for name in moments.names})
        for name, is_length, values in zip(moments.names, moments.lengths, moments.per_kg.T, strict=True):
            known = values[np.isfinite(values)]
            if not len(known):
                continue
            body[PREFIX + name] = float(known[0])
            unit = "N/kg" if is_length else "N m/kg"
            words = f"Moment that increases {name}, from inverse dynamics [{unit}]"
            body.id_properties_ui(PREFIX + name).update(description=words)
            curves.add(_data_path(name), frames, values, group=GROUP)
        item[COMPUTED_KEY] = True
    body.update_tag()  # Blender evaluates new properties only then
    return tuple(trials)


def find_moments_file(body: bpy.types.Object) -> Path | None:
    """File with the moments of the trial that a body plays; None without one."""
    action = body.animation_data.action if body.animation_data else None
    folder = study_folder_of(body)
    if action is None or folder is None or not action.get(COMPUTED_KEY):
        return None
    return folder / study_folder.MOMENTS_FOLDER / f"{played_trial(body)}{study_folder.MOMENTS_END}"


def moment_lines(moments: JointMoments, largest: float, frame: int) -> list[LineSet]:
    """An arc with an arrow head for the moment at every joint in one frame, relative to the largest [N m]."""
    points = [
        point
        for place, vector in zip(moments.places[frame], moments.vectors[frame], strict=True)
        for point in arc_lines(place, vector, largest)
    ]
    meaning = f"joint moments: three quarters of a circle are {largest / moments.mass:.2g} N m/kg"
    return [LineSet(meaning, points, ARC_COLOUR, BOLD_WIDTH)] if points else []


def largest_moment(moments: JointMoments) -> float:
    """[N m] Largest moment of a recording; 0 if none is known."""
    known = moments.vectors[np.isfinite(moments.vectors).all(axis=2)]
    return float(np.sqrt((known**2).sum(axis=1).max(initial=0.0)))


def arc_lines(centre: np.ndarray, vector: np.ndarray, largest: float) -> list[np.ndarray]:
    """Pairs of points of an arc about a moment; it starts above the joint, so that it does not jump between frames.

    Args:
        centre: (3,) [m] the joint.
        vector: (3,) [N m] the moment; no arc if it is unknown or too small to see.
        largest: [N m] moment of `LONGEST_ARC`.
    """
    size = float(np.linalg.norm(vector))
    angle = LONGEST_ARC * size / largest if largest > 0.0 else 0.0
    if not angle > SHORTEST_ARC:
        return []
    axis = vector / size
    first = UPWARD - (UPWARD @ axis) * axis
    if np.linalg.norm(first) < LEVEL:
        first = FORWARD - (FORWARD @ axis) * axis
    first /= np.linalg.norm(first)
    across = np.cross(axis, first)
    turns = np.linspace(0.0, angle, 2 + int(angle / ARC_STEP))
    rays = np.cos(turns)[:, None] * first + np.sin(turns)[:, None] * across
    points = centre + ARC_RADIUS * rays
    tip, forwards = points[-1], np.cross(axis, rays[-1])
    head = min(HEAD_SIZE, HEAD_SHARE * ARC_RADIUS * angle)
    barbs = [tip + head * (sign * rays[-1] - forwards) / np.sqrt(2.0) for sign in (-1.0, 1.0)]
    return [*np.repeat(points, 2, axis=0)[1:-1], *(point for barb in barbs for point in (tip, barb))]


def _data_path(name: str) -> str:
    return f'["{PREFIX}{name}"]'
