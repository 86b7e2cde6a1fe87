"""Cost of a rehearsal video, in bpy: ``python -m benchmarks rehearsal [DANCE_FOLDER]``.

Every so many frames of the video of a dance are rendered at 960 x 540 and encoded; processor time of this process and
its children. Without a folder a person (1.70 m, 65 kg) turns all its joints to and fro for 8 s.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from addon import armature
from addon.rehearsal.dance import RehearsedDance, find_stops, from_folder
from addon.rehearsal.options import RehearsalOptions, Rendering, Staging
from addon.rehearsal.rehearse import plan_rehearsal
from addon.rehearsal.scene import build_scene
from addon.rehearsal.video import render_video, set_engine
from solver.rigs import human
from solver.scene.timeline import SceneKey, SceneStrip, SceneTimeline

from .reference import reference_line, to_ordinary

SIZE = 960, 540
DURATION, TURNS, LARGEST_TURN, RATE = 8.0, 4, 0.9, 50.0
"""[s], number of turns to and fro, [rad], and [1/s] of the simulated dance."""
FRAMES = 60
"""Number of frames that are rendered."""
GOAL, AIM = 0.3, 0.1
"""[s] of processor time for a frame."""


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


@dataclass(frozen=True, slots=True)
class RehearsalCost:
    """Processor times [s] of a video.

    Attributes:
        scene: of building its scene.
        frame, drawing, encoding: of a frame, the median of drawing it, and its share of the encoding.
        frames, duration: number of frames of the whole video, and its duration [s].
        rate: frames a second of the clock.
    """

    scene: float
    frame: float
    drawing: float
    encoding: float
    frames: int
    duration: float
    rate: float


def measure_rehearsal(dance: RehearsedDance, count: int = FRAMES, engine: str = "auto") -> RehearsalCost:
    """Render and encode frames from the first third of a dance's video."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    body = armature.build_armature(bpy.context, dance.rig)
    plan = plan_rehearsal(dance, RehearsalOptions())
    start = time.process_time()
    scene = build_scene(body, dance, plan, Staging(size=SIZE))
    set_engine(scene, Rendering(engine))
    built = time.process_time() - start
    whole = len(plan)
    scene.frame_start = max(1, whole // 3 - count // 2)
    scene.frame_end = scene.frame_start + min(count, whole) - 1
    marks: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        start, clock = time.process_time(), time.monotonic()
        render_video(scene, Path(folder) / "video.mp4", lambda *_: marks.append(time.process_time()))
        total, passed = time.process_time() - start, time.monotonic() - clock
    encoding = (start + total - marks[-1]) / count
    drawing = float(np.median(np.diff(marks[:-1])))
    return RehearsalCost(built, total / count, drawing, encoding, whole, plan.duration, count / passed)


def main(arguments: list[str]) -> int:
    """Print the cost of a frame, and of the whole video."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks rehearsal", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="results of `exciting-dance dance`")
    parser.add_argument("--frames", type=int, default=FRAMES, help="number of frames that are rendered (%(default)s)")
    parser.add_argument("--engine", default="auto", help="renderer (%(default)s)")
    chosen = parser.parse_args(arguments)
    print(reference_line())
    dance = simulated_dance() if chosen.folder is None else from_folder(chosen.folder)
    found = measure_rehearsal(dance, chosen.frames, chosen.engine)
    frame = to_ordinary(found.frame)
    print(f"scene {found.scene:.2f} s of processor time; {found.frames} frames, {found.duration:.0f} s of video")
    print(f"a frame at {SIZE[0]} x {SIZE[1]}: {found.frame:.3f} s (drawing {found.drawing:.3f} median, encoding "
          f"{found.encoding:.3f})")  # fmt: skip
    print(f"on an ordinary machine {frame:.3f} s (drawing {to_ordinary(found.drawing):.3f}), whole video "
          f"{frame * found.frames / 60.0:.1f} min")  # fmt: skip
    print(f"goal {GOAL:g} s, aim {AIM:g} s; whole video {found.frame * found.frames / 60.0:.1f} min; "
          f"{found.rate:.1f} frames a second here")  # fmt: skip
    return 0 if frame <= GOAL else 1
