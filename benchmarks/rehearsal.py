"""Cost of a rehearsal video, in bpy, for `benchmarks.extension`.

Frames of the video of a dance are rendered at 960 x 540 and encoded. A person (1.70 m, 65 kg) turns all its joints to
and fro for 8 s.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import bpy
import numpy as np

from addon.rehearsal.dance import RehearsedDance, find_stops
from addon.rehearsal.options import RehearsalOptions, Rendering, Staging
from addon.rehearsal.rehearse import plan_rehearsal
from addon.rehearsal.scene import build_scene
from addon.rehearsal.video import render_video, set_engine
from addon.scene import armature
from solver.rigs import human
from solver.scene.timeline import SceneKey, SceneStrip, SceneTimeline

SIZE = 960, 540
DURATION, TURNS, LARGEST_TURN, RATE = 8.0, 4, 0.9, 50.0
"""[s], number of turns to and fro, [rad], and [1/s] of the simulated dance."""
FRAMES = 60
"""Number of frames that are rendered."""


def simulated_dance() -> RehearsedDance:
    """A person whose joints turn to and fro about random axes, with a key at every turn."""
    rig, random = human(1.7, 65.0, "female"), np.random.default_rng(0)
    times = np.linspace(0.0, DURATION, round(RATE * DURATION) + 1)
    axes = random.normal(size=(len(rig.links), 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    half = 0.5 * LARGEST_TURN * (0.5 - 0.5 * np.cos(2.0 * np.pi * TURNS / DURATION * times))[:, None, None]
    turns = np.concatenate([np.cos(half) + 0.0 * axes[:, :1], np.sin(half) * axes], axis=2)
    turns[:, 0] = 1.0, 0.0, 0.0, 0.0  # of the root
    root = np.tile([0.0, 0.0, rig.standing_height], (len(times), 1))
    keys = tuple(
        SceneKey(float(time), "preferred", f"posture {number}")
        for number, time in enumerate(np.linspace(0.0, DURATION, 2 * TURNS + 1), start=1)
    )
    strips = tuple(SceneStrip(sole.name, 0.0, DURATION) for sole in rig.soles)
    line = SceneTimeline("Rehearsal", rig, times, root, turns, np.zeros((*turns.shape[:2], 3)), keys, strips)
    return RehearsedDance(line, find_stops(line))


def measure_rehearsal(dance: RehearsedDance, count: int = FRAMES) -> float:
    """Processor time [s] of a frame, encoding included, of frames from the first third of a dance's video."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = armature.build_armature(bpy.context, dance.rig)
    plan = plan_rehearsal(dance, RehearsalOptions())
    scene = build_scene(body, dance, plan, Staging(size=SIZE))
    set_engine(scene, Rendering("auto"))
    scene.frame_start = max(1, len(plan) // 3 - count // 2)
    scene.frame_end = scene.frame_start + min(count, len(plan)) - 1
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        render_video(scene, Path(folder) / "video.mp4", lambda *_: None)
        return (time.process_time() - start) / count
