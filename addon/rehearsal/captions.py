"""Captions of a rehearsal video: countdown, next move, supporting feet, tempo, progress; attached to the camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..base import bpy_access, meshes
from ..base.solver_api import PHRASE, display_name
from .camera import picture_frame
from .dance import RehearsedDance
from .materials import (
    GHOST_COLOUR,
    LEFT_COLOUR,
    PLATE_COLOUR,
    RIGHT_COLOUR,
    TEXT_COLOUR,
    exclude_from_light,
    flat_material,
    key_values,
    key_visibility,
)
from .plan import COUNTDOWN_START, VideoPlan
from .roles import CAPTION, set_role

CAMERA_DISTANCE = 2.0
"""Distance of the captions from the camera, relative to its clip start."""
LAYER_DISTANCE = 1e-3
"""Distance between layers, in picture heights."""
PLATE_OPACITY = 0.93
"""Opacity of the plates; a tenth of a white floor is still well visible, because light adds linearly."""
TITLE_OPACITY = 0.975
"""Opacity of the title card."""
TOP_HEIGHT, BOTTOM_HEIGHT, PROGRESS_HEIGHT = 0.085, 0.125, 0.018
"""Heights of the plates at the edges and of the progress bar, in picture heights."""
TEXT_SIZE, COUNT_SIZE = 0.042, 0.2
MARGIN, OVERHANG = 0.035, 0.02
"""Distance of text from the edges, and extension of plates beyond them, which antialiasing needs."""
DISC_RADIUS, DISC_CORNERS = 0.125, 96
TEXT_RESOLUTION = 8
"""Steps of a curve between two of its points."""
SIDES = {"left": "left foot", "right": "right foot"}


@dataclass(frozen=True, slots=True)
class TextStyle:
    """Style of a text.

    Attributes:
        size: letter size in picture heights.
        align: alignment at the position: ``"LEFT"``, ``"CENTER"`` or ``"RIGHT"``.
        colour: sRGB.
        max_width: largest width in picture heights; longer texts are scaled down.
    """

    size: float = TEXT_SIZE
    align: str = "LEFT"
    colour: tuple[float, float, float] = TEXT_COLOUR
    max_width: float = np.inf


DEFAULT_STYLE = TextStyle()


class CaptionBoard:
    """A board in front of the camera: x to the right and y up from the picture's centre, in picture heights."""

    def __init__(self, scene: bpy.types.Scene, shown: bpy.types.Action) -> None:
        camera = bpy_access.require(scene.camera, "camera")
        assert isinstance(camera.data, bpy.types.Camera)
        distance = CAMERA_DISTANCE * camera.data.clip_start
        x, y, width, height = picture_frame(scene, camera, distance)
        self.half = 0.5 * width / height
        self._scene, self._shown = scene, shown
        self._board = bpy.data.objects.new("Board", None)
        self._board.parent, self._board.location = camera, (x, y, -distance)
        self._board.scale = (height,) * 3
        scene.collection.objects.link(self._board)
        self._materials: dict[tuple, bpy.types.Material] = {}

    def add_text(
        self, text: str, position: tuple[float, float], visible: np.ndarray, style: TextStyle = DEFAULT_STYLE
    ) -> bpy.types.Object | None:
        """Add a line of text that is visible in some frames (F,)."""
        if not visible.any() or not text:
            return None
        curve = bpy.data.curves.new("Words", "FONT")
        assert isinstance(curve, bpy.types.TextCurve)
        curve.body, curve.size = text, style.size
        curve.align_x, curve.align_y = style.align, "CENTER"  # type: ignore[assignment]
        curve.resolution_u = TEXT_RESOLUTION
        item = self._add_object(curve, position, 2.0 * LAYER_DISTANCE, visible, style.colour, 1.0)
        if np.isfinite(style.max_width):
            self._scene.view_layers[0].update()
            width = item.dimensions.x / item.matrix_world.to_scale().x  # the board's scale counts in the current frame
            if width > style.max_width:
                curve.size *= style.max_width / width
        return item

    def add_plate(
        self,
        corners: Sequence[tuple[float, float]],
        visible: np.ndarray,
        *,
        colour: tuple[float, float, float] = PLATE_COLOUR,
        alpha: float = PLATE_OPACITY,
        layer: float = 0.0,
        position: tuple[float, float] = (0.0, 0.0),
    ) -> bpy.types.Object | None:
        """Add a flat polygon at a position that is visible in some frames (F,)."""
        if not visible.any():
            return None
        points = np.array([(x, y, 0.0) for x, y in corners])
        mesh = meshes.build_mesh("Plate", [(points, [list(range(len(points)))])], smooth=False)
        return self._add_object(mesh, position, layer * LAYER_DISTANCE, visible, colour, alpha)

    def add_box(
        self, low: tuple[float, float], high: tuple[float, float], visible: np.ndarray, alpha: float = PLATE_OPACITY
    ) -> None:
        """Add a rectangular plate between two corners."""
        self.add_plate([low, (high[0], low[1]), high, (low[0], high[1])], visible, alpha=alpha)

    def key_width(self, item: bpy.types.Object | None, values: np.ndarray) -> None:
        """Key the width of an object from its left end, in every frame (F,)."""
        if item is None:
            return
        holder = bpy.data.objects.new(
            "Growing", None
        )  # needs its own action, because the object's action shows and hides it
        holder.parent, holder.location = self._board, item.location
        item.parent, item.location = holder, (0.0, 0.0, 0.0)
        self._scene.collection.objects.link(holder)
        key_values(bpy.data.actions.new("Progress"), holder, "scale", 0, values.tolist())

    def _add_object(
        self,
        data: bpy.types.ID,
        place: tuple[float, float],
        height: float,
        when: np.ndarray,
        colour: tuple[float, float, float],
        alpha: float,
    ) -> bpy.types.Object:
        paint = self._materials.get((colour, alpha))
        if paint is None:
            paint = self._materials[colour, alpha] = flat_material("Sign", colour, alpha)
        data.materials.append(paint)  # type: ignore[attr-defined]
        item = bpy.data.objects.new(data.name, data)
        item.parent, item.location = self._board, (*place, height)
        set_role(item, CAPTION)
        exclude_from_light(item)
        self._scene.collection.objects.link(item)
        if not when.all():
            key_visibility(self._shown, item, when)
        return item


def add_captions(
    scene: bpy.types.Scene, danced: RehearsedDance, plan: VideoPlan, title: str, mirror: bool, shown: bpy.types.Action
) -> None:
    """Add all captions in front of the scene's camera."""
    board = CaptionBoard(scene, shown)
    kinds = plan.part_kinds()
    playing = kinds != "title"
    _add_title(board, plan, title, mirror, ~playing)
    half = board.half
    board.add_box((-half - OVERHANG, 0.5 - TOP_HEIGHT), (half + OVERHANG, 0.5 + OVERHANG), playing)
    board.add_box((-half - OVERHANG, -0.5 - OVERHANG), (half + OVERHANG, -0.5 + BOTTOM_HEIGHT), playing)
    _add_tempo(board, plan)
    _add_moves(board, plan, playing)
    _add_stance(board, danced, plan, playing)
    _add_countdown(board, plan)
    _add_beats(board, plan)
    _add_progress(board, plan, playing)


def describe_stance(patches: Sequence[str], sides: dict[str, str]) -> str:
    """Text for the patches in contact: ``"both feet"``, ``"right foot only"``, ..."""
    feet = {sides.get(name, "") for name in patches}
    if not patches:
        return "in the air"
    if feet == {"left", "right"}:
        return "both feet"
    if len(feet) == 1 and "" not in feet:
        return f"{SIDES[feet.pop()]} only"
    return ", ".join(display_name(name) for name in patches)


def describe_tempo(kind: str, tempo: float) -> str:
    """Text for the tempo of a part of the video."""
    if kind == "real":
        return "real time"
    return f"slow: {100.0 * tempo:.0f} %"


def _add_title(board: CaptionBoard, plan: VideoPlan, title: str, mirror: bool, when: np.ndarray) -> None:
    half = board.half
    board.add_box((-half - OVERHANG, -0.5 - OVERHANG), (half + OVERHANG, 0.5 + OVERHANG), when, TITLE_OPACITY)
    heading, line, remark = (TextStyle(size, "CENTER", max_width=1.8 * half) for size in (0.105, 0.05, TEXT_SIZE))
    length = plan.stops[-1].stop - plan.stops[0].start
    count = f"{plan.move_count} move{'s' * (plan.move_count != 1)}, {length:.0f} s"
    board.add_text(title or count, (0.0, 0.16), when, heading)
    runs = [part for part in plan.parts if part.kind != "title"]
    texts = [describe_tempo(part.kind, part.tempo) for part in runs]
    loops = texts.count("real time")
    tempos = [word for word in texts if word != "real time"]
    tempos += [f"real time x {loops}" if loops > 1 else "real time"] * (loops > 0)
    if title:
        board.add_text(count, (0.0, 0.04), when, line)
    board.add_text(", then ".join(tempos), (0.0, -0.04), when, line)
    side = "mirrored: move on the side that you see" if mirror else "not mirrored: its left is your left"
    board.add_text(side, (0.0, -0.17), when, remark)
    board.add_text("left", (-0.3, -0.28), when, TextStyle(0.06, "CENTER", _lighten(LEFT_COLOUR)))
    board.add_text("right", (0.0, -0.28), when, TextStyle(0.06, "CENTER", _lighten(RIGHT_COLOUR)))
    if np.isfinite(plan.ghosts).any():
        board.add_text(
            "next move",
            (0.15, -0.28),
            when,
            TextStyle(0.06, colour=_lighten(GHOST_COLOUR), max_width=half - 0.18),
        )


def _lighten(colour: tuple[float, float, float]) -> tuple[float, float, float]:
    """A lighter colour, legible on a dark plate."""
    red, green, blue = (0.65 * value + 0.35 for value in colour)
    return red, green, blue


def _add_tempo(board: CaptionBoard, plan: VideoPlan) -> None:
    position = board.half - MARGIN, 0.5 - 0.5 * TOP_HEIGHT
    runs: dict[str, np.ndarray] = {}
    real = sum(part.kind == "real" for part in plan.parts)
    number = 0
    for part in plan.parts:
        if part.kind == "title":
            continue
        text = describe_tempo(part.kind, part.tempo)
        if part.kind == "real":
            number += 1
            text += f" {number} of {real}" * (real > 1)
        runs.setdefault(text, np.zeros(len(plan), bool))[part.start : part.stop] = True
    for text, when in runs.items():
        board.add_text(text, position, when, TextStyle(align="RIGHT"))


def _add_moves(board: CaptionBoard, plan: VideoPlan, playing: np.ndarray) -> None:
    """Add the name of the current or next move."""
    low, left = 0.5 - 0.5 * TOP_HEIGHT, -board.half + MARGIN
    ahead, now = (
        TextStyle(colour=colour, max_width=board.half * 1.3) for colour in (_lighten(GHOST_COLOUR), TEXT_COLOUR)
    )
    for index in range(plan.move_count):
        then = plan.stops[index + 1]
        text = f"{index + 1}/{plan.move_count}   {then.name}" + (f"   {then.difficulty}" if then.difficulty else "")
        here = playing & (plan.stop_indices == index)
        board.add_text(f"next: {text}", (left, low), here & plan.is_still, ahead)
        board.add_text(text, (left, low), here & ~plan.is_still, now)
    board.add_text("end", (left, low), playing & (plan.stop_indices == plan.move_count))


def _add_stance(board: CaptionBoard, danced: RehearsedDance, plan: VideoPlan, playing: np.ndarray) -> None:
    """Add the supporting feet, and those after the next move if they differ."""
    if not danced.timeline.strips:
        return
    sides = danced.patch_sides()
    edges = np.unique([moment for strip in danced.timeline.strips for moment in (strip.start, strip.stop)])
    piece = np.searchsorted(edges, plan.times, side="right")
    middles = {int(p): float(plan.times[piece == p].mean()) for p in np.unique(piece)}
    stance_by_piece = {p: describe_stance(danced.standing_patches(time), sides) for p, time in middles.items()}
    now = np.array([stance_by_piece[int(p)] for p in piece], dtype=object)
    then = np.array([describe_stance(danced.standing_patches_in(stop), sides) for stop in plan.stops], dtype=object)
    later = then[np.minimum(plan.stop_indices + 1, plan.move_count)]
    height = -0.5 + PROGRESS_HEIGHT + 0.5 * (BOTTOM_HEIGHT - PROGRESS_HEIGHT)
    for stance in sorted(set(now)):
        board.add_text(f"on {_standing_on(stance)}", (-board.half + MARGIN, height), playing & (now == stance))
    for stance in sorted(set(later)):
        when = playing & (later == stance) & (now != later)
        position = (board.half - MARGIN, height)
        board.add_text(
            f"then on {_standing_on(stance)}", position, when, TextStyle(align="RIGHT", colour=_lighten(GHOST_COLOUR))
        )


def _standing_on(stance: str) -> str:
    return stance if stance == "both feet" else f"the {stance}" if stance.endswith("only") else stance


def _add_countdown(board: CaptionBoard, plan: VideoPlan) -> None:
    position = board.half - DISC_RADIUS - 0.06, 0.14
    angles = np.linspace(0.0, 2.0 * np.pi, DISC_CORNERS, endpoint=False)
    disc = [(DISC_RADIUS * float(np.cos(turn)), DISC_RADIUS * float(np.sin(turn))) for turn in angles]
    board.add_plate(disc, plan.counts > 0, position=position)
    for number in range(1, COUNTDOWN_START + 1):
        board.add_text(
            str(number), position, plan.counts == number, TextStyle(COUNT_SIZE, "CENTER", _lighten(GHOST_COLOUR))
        )


def _add_beats(board: CaptionBoard, plan: VideoPlan) -> None:
    """Add the beats of the phrase, where there is no countdown."""
    position = board.half - DISC_RADIUS - 0.06, 0.14
    for number in range(1, PHRASE + 1):
        when = (plan.beats == number) & (plan.counts == 0)
        if when.any():
            board.add_text(str(number), position, when, TextStyle(COUNT_SIZE, "CENTER", TEXT_COLOUR))


def _add_progress(board: CaptionBoard, plan: VideoPlan, playing: np.ndarray) -> None:
    """Add a progress bar at the lower edge with marks at the stops."""
    half, first, last = board.half, plan.stops[0].start, plan.stops[-1].stop
    bar = [(0.0, 0.0), (2.0 * half, 0.0), (2.0 * half, PROGRESS_HEIGHT), (0.0, PROGRESS_HEIGHT)]
    bar_done = board.add_plate(
        bar, playing, colour=_lighten(GHOST_COLOUR), alpha=0.95, layer=1.0, position=(-half, -0.5)
    )
    board.key_width(bar_done, np.maximum((plan.times - first) / (last - first), 1e-4))
    for stop in plan.stops[1:-1]:
        x = 2.0 * half * (stop.start - first) / (last - first) - half
        wide = max(2.0 * half * (stop.stop - stop.start) / (last - first), 0.004)
        mark = [(0.0, 0.0), (wide, 0.0), (wide, 0.4 * PROGRESS_HEIGHT), (0.0, 0.4 * PROGRESS_HEIGHT)]
        board.add_plate(mark, playing, colour=TEXT_COLOUR, alpha=0.6, layer=2.0, position=(x, -0.5))
