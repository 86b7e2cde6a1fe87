"""Cost of the live check from request line to answer line, in a child process as the timeline's editor starts it.

Simulated motion: a standing rig whose joints swing, sampled as a scene would, half a minute at 30 frames a second.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from solver.motion import Motion
from solver.rig import Rig
from solver.scene.motion import scene_motion
from solver.scene.timeline import TIMELINE, SceneStrip, SceneTimeline

from .live_client import LiveClient

FRAMES, RATE = 900, 30.0
LOOKED_AT = 400
KEY_REACH = 12
"""Frames on either side of an edited key that move with it."""
EDIT = 0.1
"""[rad] by which the key is turned."""
POSES, EDITS = 40, 5


@dataclass(frozen=True, slots=True)
class LiveCost:
    """What the live check of one rig costs, by the client's clock.

    Attributes:
        start: [s] from the start of the process to the first answer, a posture's.
        pose: [ms] a posture, median.
        frame: [ms] per frame of a whole timeline.
        first: [ms] to the frame looked at, after one key was edited; median.
        edit: [ms] to the last frame, after one key was edited; median.
    """

    start: float
    pose: float
    frame: float
    first: float
    edit: float


def measure_live(rig: Rig, motion: Motion) -> LiveCost:
    """Measure a rig's motion in a child process, whole and after edits of one key."""
    shown = _timeline(rig, motion)
    with tempfile.TemporaryDirectory() as folder:
        path = TIMELINE.write(Path(folder) / "dance.timeline.npz", shown)
        posture = TIMELINE.write(Path(folder) / "pose.timeline.npz", _first(shown))
        begun = time.perf_counter()
        live_client = LiveClient()
        try:
            start = _seconds(begun, live_client, "pose", posture, 0)
            pose = [_seconds(time.perf_counter(), live_client, "pose", posture, k) for k in range(POSES)]
            live_client.send({"do": "look", "frame": LOOKED_AT})
            whole = _seconds(time.perf_counter(), live_client, "timeline", path, 1)
            firsts, edits = [], []
            for serial in range(2, 2 + EDITS):
                TIMELINE.write(path, _edit_key(rig, shown, EDIT * (serial - 1)))
                begun = time.perf_counter()
                live_client.send({"do": "timeline", "serial": serial, "path": str(path), "excitation": False})
                _wait(live_client, "frames")
                firsts.append(time.perf_counter() - begun)
                _wait(live_client, "done")
                edits.append(time.perf_counter() - begun)
        finally:
            live_client.kill()
    return LiveCost(
        start, 1e3 * float(np.median(pose)), 1e3 * whole / FRAMES, 1e3 * float(np.median(firsts)),
        1e3 * float(np.median(edits)),
    )  # fmt: skip


def _seconds(begun: float, live_client: LiveClient, do: str, path: Path, serial: int) -> float:
    live_client.send({"do": do, "serial": serial, "path": str(path), "excitation": False})
    _wait(live_client, "pose" if do == "pose" else "done")
    return time.perf_counter() - begun


def _wait(live_client: LiveClient, kind: str) -> None:
    """Until an answer of that kind comes.

    Raises:
        RuntimeError: an error was answered, or nothing.
    """
    last = live_client.receive_until(lambda answer: answer["kind"] in (kind, "error"))[-1]
    if last["kind"] == "error":
        raise RuntimeError(last["message"])


def _timeline(rig: Rig, motion: Motion) -> SceneTimeline:
    drawn = scene_motion(rig, motion)
    root, rotations, translations = (x.astype(np.float32) for x in (drawn.root, drawn.rotations, drawn.translations))
    strips = tuple(SceneStrip(patch.name, 0.0, float(motion.times[-1])) for patch in rig.contacts)
    return SceneTimeline("swing", rig, motion.times, root, rotations, translations, strips=strips)


def _first(shown: SceneTimeline) -> SceneTimeline:
    return replace(
        shown, times=shown.times[:1], root=shown.root[:1], rotations=shown.rotations[:1],
        translations=shown.translations[:1],
    )  # fmt: skip


def _edit_key(rig: Rig, shown: SceneTimeline, angle: float) -> SceneTimeline:
    """The key of one joint turned, and what lies between it and its neighbours with it."""
    from scipy.spatial.transform import Rotation

    link = len(rig.links) // 2
    axis = np.array(rig.model.joints[link + 1].createData().S).reshape(6, -1)[3:, 0]
    away = np.abs(np.arange(FRAMES) - LOOKED_AT) / KEY_REACH
    turn = np.where(away < 1.0, 0.5 * angle * (1.0 + np.cos(np.pi * np.minimum(away, 1.0))), 0.0)
    rotations = np.array(shown.rotations)
    added = Rotation.from_quat(rotations[:, link]) * Rotation.from_rotvec(turn[:, None] * axis)
    moved = away < 1.0
    rotations[moved, link] = added.as_quat()[moved]
    return replace(shown, rotations=rotations)
