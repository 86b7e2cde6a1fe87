"""Drawn over the 3D view: the legend, and what the motion carries: centre of mass, forces, support, momentum.

All that is drawn stands in the study's files; here it is only looked up by time. Without a window nothing happens.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils.geometry import convex_hull_2d

from .action import times_at
from .armature import rig_in
from .colours import COLOUR_KEY, Colouring, colour_at, colouring
from .legend import legends_in
from .properties import Settings, settings_of
from .recording import METRES_PER_NEWTON
from .study import folder_of, trial_of
from .typed import scene
from .values import SceneMotion, SceneRecording, errors, read_motion, read_recording

BANDS, TICKS = 64, 5
WIDTH, HEIGHT, LEFT, BOTTOM = 16, 200, 24, 40
"""[px] at a scale of one."""
INK = (0.93, 0.93, 0.93, 1.0)
MASS, GROUND, PUSH, LINEAR, ANGULAR = (
    (1.00, 0.82, 0.25, 1.0),
    (0.35, 0.75, 1.00, 0.22),
    (1.00, 0.55, 0.10, 1.0),
    (0.45, 0.90, 0.45, 1.0),
    (0.85, 0.50, 1.00, 1.0),
)
METRES_PER_MOMENTUM, METRES_PER_SPIN = 0.01, 0.05
"""Length of an arrow for 1 kg m/s, and for 1 kg m^2/s."""
FAINT, HEAD, CROSS, LIFT = 0.01, 0.06, 0.05, 0.002
"""[m] Arrows shorter than this are left out; head; arm of the cross; height of the polygon over the floor."""
LINE, BOLD = 1.5, 3.5
FONT = 0
_handles: list = []


class Shown:
    """The files of the study that is shown, read once and again when they change."""

    known: ClassVar[dict[Path, tuple[float, SceneMotion | SceneRecording | None]]] = {}

    @classmethod
    def motion(cls, path: Path) -> SceneMotion | None:
        """A motion, or None where there is none to read."""
        found = cls._read(path, read_motion)
        return found if isinstance(found, SceneMotion) else None

    @classmethod
    def recording(cls, path: Path) -> SceneRecording | None:
        """A recording, or None where there is none to read."""
        found = cls._read(path, read_recording)
        return found if isinstance(found, SceneRecording) else None

    @classmethod
    def _read(
        cls, path: Path, read: Callable[[Path], SceneMotion | SceneRecording]
    ) -> SceneMotion | SceneRecording | None:
        try:
            changed = path.stat().st_mtime
        except OSError:
            return None
        if path not in cls.known or cls.known[path][0] != changed:
            try:
                cls.known[path] = changed, read(path)
            except errors.SolverError:
                cls.known[path] = changed, None
        return cls.known[path][1]


def register() -> None:
    """Draw from now on; nothing is drawn without a window."""
    if not bpy.app.background:
        add = bpy.types.SpaceView3D.draw_handler_add
        _handles.append(add(_draw_legend, (), "WINDOW", "POST_PIXEL"))
        _handles.append(add(_draw_motion, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    """Draw no more."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    Shown.known.clear()


def polygon(points: np.ndarray) -> np.ndarray:
    """Convex hull (V, 2) of those points (P, 3) that are on the floor (not NaN); empty when fewer than three are."""
    ground = points[np.isfinite(points).all(axis=1), :2]
    if len(ground) < 3:
        return np.zeros((0, 2))
    return ground[convex_hull_2d(ground.tolist())]


def arrow(start: np.ndarray, along: np.ndarray) -> list[np.ndarray]:
    """Pairs of points of an arrow's lines: shaft and four barbs; none when it is too short to see."""
    length = float(np.linalg.norm(along))
    if not math.isfinite(length) or length < FAINT:
        return []
    tip, axis = start + along, along / length
    side = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.7 else (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    size = min(HEAD, 0.4 * length)
    lines = [start, tip]
    for barb in (side, -side, np.cross(axis, side), -np.cross(axis, side)):
        lines += [tip, tip - size * axis + 0.4 * size * barb]
    return lines


def _draw_motion() -> None:
    context = bpy.context
    body, settings = rig_in(context), settings_of(context)
    folder = None if body is None else folder_of(body)
    if body is None or folder is None or not context.space_data.overlay.show_overlays:
        return
    name, time = trial_of(body), times_at(scene(context))
    motion = Shown.motion(folder / f"{name}.motion.npz")
    recording = Shown.recording(folder / f"{name}.recording.npz")
    gpu.state.blend_set("ALPHA")
    if motion is not None:
        _body(motion, time, settings)
    if recording is not None and settings.show_forces and len(recording.force_times):
        frame = _at(recording.force_times, time)
        for centre, force in zip(recording.centres[frame], recording.forces[frame], strict=True):
            if np.isfinite(centre).all():
                _lines(arrow(centre, METRES_PER_NEWTON * force), PUSH, BOLD)
    gpu.state.blend_set("NONE")


def _body(motion: SceneMotion, time: float, settings: Settings) -> None:
    frame = _at(motion.times, time)
    com, momentum = motion.com[frame], motion.momentum[frame]
    if settings.show_support:
        _fill(polygon(motion.standing[frame]), GROUND)
    if settings.show_com:
        foot = com * (1.0, 1.0, 0.0)
        arms = [com + sign * CROSS * axis for axis in np.eye(3) for sign in (-1.0, 1.0)]
        _lines(arms, MASS, BOLD)
        cross = [foot + sign * CROSS * axis for axis in np.eye(3)[:2] for sign in (-1.0, 1.0)]
        _lines([com, foot, *cross], MASS, LINE)
    if settings.show_momentum:
        _lines(arrow(com, METRES_PER_MOMENTUM * momentum[:3]), LINEAR, BOLD)
        _lines(arrow(com, METRES_PER_SPIN * momentum[3:]), ANGULAR, BOLD)


def _at(times: np.ndarray, time: float) -> int:
    """Index of the sample nearest to a time."""
    return int(np.argmin(np.abs(times - time)))


def _lines(points: list[np.ndarray], colour: tuple[float, ...], width: float) -> None:
    if not points:
        return
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": [tuple(map(float, point)) for point in points]})
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", width * bpy.context.preferences.system.ui_scale)
    shader.uniform_float("color", colour)
    batch.draw(shader)


def _fill(corners: np.ndarray, colour: tuple[float, ...]) -> None:
    if len(corners) < 3:
        return
    points = [(float(x), float(y), LIFT) for x, y in corners]
    faces = [(0, k, k + 1) for k in range(1, len(points) - 1)]
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    batch = batch_for_shader(shader, "TRIS", {"pos": points}, indices=faces)
    shader.bind()
    shader.uniform_float("color", colour)
    batch.draw(shader)
    edge = [np.array(point) for k in range(len(points)) for point in (points[k], points[(k + 1) % len(points)])]
    _lines(edge, (*colour[:3], 1.0), LINE)


def _draw_legend() -> None:
    context = bpy.context
    body = rig_in(context)
    if body is None or COLOUR_KEY not in body or not settings_of(context).overlay or legends_in(scene(context)):
        return
    if not context.space_data.overlay.show_overlays:
        return
    try:
        shown = colouring(body, body[COLOUR_KEY])
    except errors.SolverError:
        return
    _legend(shown, context.preferences.system.ui_scale)


def _legend(shown: Colouring, scale: float) -> None:
    left, bottom, width, height = (scale * x for x in (LEFT, BOTTOM, WIDTH, HEIGHT))
    corners, colours, faces = [], [], []
    for band in range(BANDS + 1):
        share = band / BANDS
        y = bottom + share * height
        corners += [(left, y), (left + width, y)]
        colours += [(*colour_at(shown.meaning.table, share), 1.0)] * 2
        if band:
            last = 2 * band
            faces += [(last - 2, last - 1, last), (last - 1, last + 1, last)]
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    batch = batch_for_shader(shader, "TRIS", {"pos": corners, "color": colours}, indices=faces)
    batch.draw(shader)
    _write(f"{shown.meaning.label} [{shown.meaning.unit}]", left, bottom + height + 14 * scale, 13 * scale)
    for tick in range(TICKS):
        share = tick / (TICKS - 1)
        value = shown.low + share * (shown.high - shown.low)
        _write(f"{value:.4g}", left + width + 6 * scale, bottom + share * height - 4 * scale, 11 * scale)


def _write(words: str, x: float, y: float, size: float) -> None:
    blf.size(FONT, size)
    blf.color(FONT, *INK)
    blf.position(FONT, x, y, 0.0)
    blf.draw(FONT, words)
