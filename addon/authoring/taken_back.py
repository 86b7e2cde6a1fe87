"""How much a balanced dance takes back of what the animator moved from one posture to the next."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..base import convert
from ..base.solver_api import Rig, SceneMotion, find_handles
from ..scene.armature import rig_of
from .ghost import find_ghost
from .pose_sampling import evaluate_curves
from .resample import resample
from .timeline import needs_frame_stepping, read_key_roles, times_at_frames

SMALLEST = 0.005
"""[m] Less than this is not taken back."""
TAKEN_BACK_KEY = "exciting_dance_taken_back"
"""Custom property of the ghost's armature object: frame, link and place of the point that was taken back most."""
ALIKE = 0.8
"""Of points that lose at least this part of the largest loss, the one nearest to the root is named."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A point of a posture that a balanced dance moves back.

    Attributes:
        frame: of the posture.
        link: of the point.
        distance: [m] that it moves back, towards its place in the posture before.
        way: [m] from the posture before to this one.
        time: [s] of the posture.
        place: (3,) [m] of the point in the keyed posture, world.
    """

    frame: float
    link: str
    distance: float
    way: float
    time: float
    place: tuple[float, float, float]

    def describe(self) -> str:
        """One clause."""
        name = self.link.replace("_", " ")
        return f"took back {100 * self.distance:.0f} of {100 * self.way:.0f} cm of the {name} at {self.time:.2f} s"


def find_taken_back(scene: bpy.types.Scene, body: bpy.types.Object, balanced: SceneMotion) -> TakenBack | None:
    """The largest part of a move between postures that a balanced motion takes back; None if there is none.

    Args:
        scene: scene with the frame rate.
        body: a rig with keyed postures.
        balanced: motion of the same rig, in the world.
    """
    rig, frames = rig_of(body), np.array(list(read_key_roles(body)))
    if len(frames) < 2 or needs_frame_stepping(body):
        return None
    times = times_at_frames(scene, frames)
    keyed = _points(rig, *evaluate_curves(scene, body, rig, frames))
    moved = resample(balanced, times)
    translations = np.array(moved.translations)
    translations[:, 0] = moved.root
    change = _points(rig, moved.rotations, translations)[1:] - keyed[1:]
    moves = np.diff(keyed, axis=0)
    ways = np.linalg.norm(moves, axis=2)
    back = -(change * moves).sum(axis=2) / np.maximum(ways, 1e-9)
    back = np.clip(back, 0.0, ways)
    largest = float(back.max())
    if largest < SMALLEST:
        return None
    key = int(np.argmax(back.max(axis=1)))
    point = int(np.argmax(back[key] >= ALIKE * largest))
    link, (x, y, z) = list(find_handles(rig))[point], keyed[key + 1, point].tolist()
    return TakenBack(
        float(frames[key + 1]), link, float(back[key, point]), float(ways[key, point]), float(times[key + 1]), (x, y, z)
    )


def read_taken_back(scene: bpy.types.Scene, body: bpy.types.Object) -> tuple[float, str, np.ndarray] | None:
    """Frame, link and place (3,) [m] of the point that the body's ghost takes back most; None without one."""
    ghost = find_ghost(scene, body)
    stored = ghost.get(TAKEN_BACK_KEY) if ghost is not None else None
    if not hasattr(stored, "to_dict"):
        return None
    known = stored.to_dict()
    if known["frame"] not in read_key_roles(body):
        return None
    return known["frame"], known["link"], np.array(known["place"], float)


def _points(rig: Rig, rotations: np.ndarray, translations: np.ndarray) -> np.ndarray:
    """Points (N, P, 3) [m] of the rig's handles, world."""
    axes, origins = convert.link_poses(rig, rotations, translations)
    places = [
        axes[:, rig.index(link)] @ point + origins[:, rig.index(link)] for link, point in find_handles(rig).items()
    ]
    return np.stack(places, axis=1)
