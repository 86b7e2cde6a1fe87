"""What the learner reads: countdown, which move comes, which foot stands, tempo, progress; held before the camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from .. import meshes, typed
from ..values import PHRASE, spoken
from .camera import picture
from .dance import Danced
from .look import GHOST, LEFT, PAPER, PLATE, RIGHT, flat_material, follow, show_while, unlit
from .plan import MOST, Plan

BEFORE = 2.0
"""Distance of the signs from the camera against the nearest that it sees."""
FRONT = 1e-3
"""Of a text before its plate, in heights of the picture."""
SHADE = 0.93
"""Opacity of the plates; light adds up linearly, so that a tenth of a white floor still shows well."""
COVER = 0.975
"""Of the title card."""
TOP, BOTTOM, BAR = 0.085, 0.125, 0.018
"""Heights of the plates at the edges and of the progress bar, in heights of the picture."""
TEXT, HUGE = 0.042, 0.24
MARGIN, OVER = 0.035, 0.02
"""Of words from the edges; of plates beyond them, for what smooths edges looks there too."""
DISC, CORNERS = 0.145, 48
SIDES = {"left": "left foot", "right": "right foot"}


@dataclass(frozen=True, slots=True)
class Lettering:
    """How words are set.

    Attributes:
        size: of the letters, in heights of the picture.
        align: whether a line begins (``"LEFT"``), is centred (``"CENTER"``) or ends (``"RIGHT"``) at its place.
        colour: sRGB.
        widest: beyond this width, in heights of the picture, the letters shrink.
    """

    size: float = TEXT
    align: str = "LEFT"
    colour: tuple[float, float, float] = PAPER
    widest: float = np.inf


PLAIN = Lettering()


class Board:
    """A board before the camera: x to the right and y up from the picture's middle, in heights of the picture."""

    def __init__(self, scene: bpy.types.Scene, shown: bpy.types.Action) -> None:
        camera = typed.there(scene.camera, "camera")
        assert isinstance(camera.data, bpy.types.Camera)
        distance = BEFORE * camera.data.clip_start
        x, y, width, height = picture(scene, camera, distance)
        self.half = 0.5 * width / height
        self._scene, self._shown = scene, shown
        self._board = bpy.data.objects.new("Board", None)
        self._board.parent, self._board.location = camera, (x, y, -distance)
        self._board.scale = (height,) * 3
        scene.collection.objects.link(self._board)
        self._paints: dict[tuple, bpy.types.Material] = {}

    def text(
        self, words: str, place: tuple[float, float], when: np.ndarray, lettering: Lettering = PLAIN
    ) -> bpy.types.Object | None:
        """Words on a line at a place, in those frames (F,)."""
        if not when.any() or not words:
            return None
        curve = bpy.data.curves.new("Words", "FONT")
        assert isinstance(curve, bpy.types.TextCurve)
        curve.body, curve.size = words, lettering.size
        curve.align_x, curve.align_y = lettering.align, "CENTER"  # type: ignore[assignment]
        curve.resolution_u = 3
        item = self._add(curve, place, 2.0 * FRONT, when, lettering.colour, 1.0)
        if np.isfinite(lettering.widest):
            self._scene.view_layers[0].update()
            if item.dimensions.x > lettering.widest:
                curve.size *= lettering.widest / item.dimensions.x
        return item

    def plate(
        self,
        corners: Sequence[tuple[float, float]],
        when: np.ndarray,
        *,
        colour: tuple[float, float, float] = PLATE,
        alpha: float = SHADE,
        layer: float = 0.0,
        place: tuple[float, float] = (0.0, 0.0),
    ) -> bpy.types.Object | None:
        """A flat shape about a place, in those frames (F,)."""
        if not when.any():
            return None
        points = np.array([(x, y, 0.0) for x, y in corners])
        mesh = meshes.mesh_of("Plate", [(points, [list(range(len(points)))])], smooth=False)
        return self._add(mesh, place, layer * FRONT, when, colour, alpha)

    def box(self, low: tuple[float, float], high: tuple[float, float], when: np.ndarray, alpha: float = SHADE) -> None:
        """A plate from corner to corner."""
        self.plate([low, (high[0], low[1]), high, (low[0], high[1])], when, alpha=alpha)

    def grow(self, item: bpy.types.Object | None, values: np.ndarray) -> None:
        """Stretch a sign from its left end, in every frame (F,)."""
        if item is None:
            return
        holder = bpy.data.objects.new("Growing", None)  # its own action: the sign's shows and hides it
        holder.parent, holder.location = self._board, item.location
        item.parent, item.location = holder, (0.0, 0.0, 0.0)
        self._scene.collection.objects.link(holder)
        follow(bpy.data.actions.new("Progress"), holder, "scale", 0, values.tolist())

    def _add(
        self,
        data: bpy.types.ID,
        place: tuple[float, float],
        height: float,
        when: np.ndarray,
        colour: tuple[float, float, float],
        alpha: float,
    ) -> bpy.types.Object:
        paint = self._paints.get((colour, alpha))
        if paint is None:
            paint = self._paints[colour, alpha] = flat_material("Sign", colour, alpha)
        data.materials.append(paint)  # type: ignore[attr-defined]
        item = bpy.data.objects.new(data.name, data)
        item.parent, item.location = self._board, (*place, height)
        unlit(item)
        self._scene.collection.objects.link(item)
        if not when.all():
            show_while(self._shown, item, when)
        return item


def add_signs(
    scene: bpy.types.Scene, danced: Danced, plan: Plan, title: str, mirror: bool, shown: bpy.types.Action
) -> None:
    """Put all signs before the scene's camera."""
    board = Board(scene, shown)
    kinds = plan.kinds()
    playing = kinds != "title"
    _title(board, plan, title or danced.timeline.name, mirror, ~playing)
    half = board.half
    board.box((-half - OVER, 0.5 - TOP), (half + OVER, 0.5 + OVER), playing)
    board.box((-half - OVER, -0.5 - OVER), (half + OVER, -0.5 + BOTTOM), playing)
    _tempo(board, plan)
    _moves(board, plan, playing)
    _feet(board, danced, plan, playing)
    _countdown(board, plan)
    _beats(board, plan)
    _progress(board, plan, playing)


def stance_words(patches: Sequence[str], sides: dict[str, str]) -> str:
    """``"both feet"``, ``"right foot only"``, ... of the patches on the floor."""
    feet = {sides.get(name, "") for name in patches}
    if not patches:
        return "in the air"
    if feet == {"left", "right"}:
        return "both feet"
    if len(feet) == 1 and "" not in feet:
        return f"{SIDES[feet.pop()]} only"
    return ", ".join(spoken(name) for name in patches)


def tempo_words(kind: str, tempo: float) -> str:
    """The tempo of a part of the video."""
    if kind == "real":
        return "real time"
    return f"slow: {100.0 * tempo:.0f} %"


def _title(board: Board, plan: Plan, title: str, mirror: bool, when: np.ndarray) -> None:
    half = board.half
    board.box((-half - OVER, -0.5 - OVER), (half + OVER, 0.5 + OVER), when, COVER)
    heading, line, remark = (Lettering(size, "CENTER", widest=1.8 * half) for size in (0.105, 0.05, TEXT))
    board.text(title, (0.0, 0.16), when, heading)
    length = plan.stops[-1].stop - plan.stops[0].start
    runs = [part for part in plan.parts if part.kind != "title"]
    words = [tempo_words(part.kind, part.tempo) for part in runs]
    loops = words.count("real time")
    told = [word for word in words if word != "real time"]
    told += [f"real time x {loops}" if loops > 1 else "real time"] * (loops > 0)
    board.text(f"{plan.moves} moves, {length:.0f} s", (0.0, 0.04), when, line)
    board.text(", then ".join(told), (0.0, -0.04), when, line)
    side = "a mirror: move on the side that you see" if mirror else "no mirror: its left is your left"
    board.text(side, (0.0, -0.17), when, remark)
    board.text("left", (-0.3, -0.28), when, Lettering(0.06, "CENTER", _pale(LEFT)))
    board.text("right", (0.0, -0.28), when, Lettering(0.06, "CENTER", _pale(RIGHT)))
    if np.isfinite(plan.ghosts).any():
        board.text("what comes next", (0.15, -0.28), when, Lettering(0.06, colour=_pale(GHOST), widest=half - 0.18))


def _pale(colour: tuple[float, float, float]) -> tuple[float, float, float]:
    """Lighter, to be read on a dark plate."""
    red, green, blue = (0.65 * value + 0.35 for value in colour)
    return red, green, blue


def _tempo(board: Board, plan: Plan) -> None:
    place = board.half - MARGIN, 0.5 - 0.5 * TOP
    runs: dict[str, np.ndarray] = {}
    real = sum(part.kind == "real" for part in plan.parts)
    number = 0
    for part in plan.parts:
        if part.kind == "title":
            continue
        words = tempo_words(part.kind, part.tempo)
        if part.kind == "real":
            number += 1
            words += f" {number} of {real}" * (real > 1)
        runs.setdefault(words, np.zeros(len(plan), bool))[part.start : part.stop] = True
    for words, when in runs.items():
        board.text(words, place, when, Lettering(align="RIGHT"))


def _moves(board: Board, plan: Plan, playing: np.ndarray) -> None:
    """Which move it is, and before it starts that it comes next."""
    low, left = 0.5 - 0.5 * TOP, -board.half + MARGIN
    ahead, now = (Lettering(colour=colour, widest=board.half * 1.3) for colour in (_pale(GHOST), PAPER))
    for index in range(plan.moves):
        then = plan.stops[index + 1]
        words = f"{index + 1}/{plan.moves}   {then.name}" + (f"   {then.hard}" if then.hard else "")
        here = playing & (plan.at == index)
        board.text(f"next: {words}", (left, low), here & plan.still, ahead)
        board.text(words, (left, low), here & ~plan.still, now)
    board.text("end", (left, low), playing & (plan.at == plan.moves))


def _feet(board: Board, danced: Danced, plan: Plan, playing: np.ndarray) -> None:
    """On which feet the body stands, and on which after the next move where that differs."""
    if not danced.timeline.strips:
        return
    sides = danced.sides()
    edges = np.unique([moment for strip in danced.timeline.strips for moment in (strip.start, strip.stop)])
    piece = np.searchsorted(edges, plan.times, side="right")
    middles = {int(p): float(plan.times[piece == p].mean()) for p in np.unique(piece)}
    words_of = {p: stance_words(danced.stands(time), sides) for p, time in middles.items()}
    now = np.array([words_of[int(p)] for p in piece], dtype=object)
    then = np.array([stance_words(danced.stands_in(stop), sides) for stop in plan.stops], dtype=object)
    later = then[np.minimum(plan.at + 1, plan.moves)]
    height = -0.5 + BAR + 0.5 * (BOTTOM - BAR)
    for stance in sorted(set(now)):
        board.text(f"on {_on(stance)}", (-board.half + MARGIN, height), playing & (now == stance))
    for stance in sorted(set(later)):
        when = playing & (later == stance) & (now != later)
        place = (board.half - MARGIN, height)
        board.text(f"then on {_on(stance)}", place, when, Lettering(align="RIGHT", colour=_pale(GHOST)))


def _on(stance: str) -> str:
    return stance if stance == "both feet" else f"the {stance}" if stance.endswith("only") else stance


def _countdown(board: Board, plan: Plan) -> None:
    place = board.half - DISC - 0.06, 0.14
    turns = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    round_ = [(DISC * float(np.cos(turn)), DISC * float(np.sin(turn))) for turn in turns]
    board.plate(round_, plan.counts > 0, place=place)
    for number in range(1, MOST + 1):
        board.text(str(number), place, plan.counts == number, Lettering(HUGE, "CENTER", _pale(GHOST)))


def _beats(board: Board, plan: Plan) -> None:
    """The metronome: counts of the phrase, where no countdown stands."""
    place = board.half - DISC - 0.06, 0.14
    for number in range(1, PHRASE + 1):
        when = (plan.beats == number) & (plan.counts == 0)
        if when.any():
            board.text(str(number), place, when, Lettering(HUGE, "CENTER", PAPER))


def _progress(board: Board, plan: Plan, playing: np.ndarray) -> None:
    """A bar along the lower edge with the stops marked."""
    half, first, last = board.half, plan.stops[0].start, plan.stops[-1].stop
    bar = [(0.0, 0.0), (2.0 * half, 0.0), (2.0 * half, BAR), (0.0, BAR)]
    done = board.plate(bar, playing, colour=_pale(GHOST), alpha=0.95, layer=1.0, place=(-half, -0.5))
    board.grow(done, np.maximum((plan.times - first) / (last - first), 1e-4))
    for stop in plan.stops[1:-1]:
        x = 2.0 * half * (stop.start - first) / (last - first) - half
        wide = max(2.0 * half * (stop.stop - stop.start) / (last - first), 0.004)
        mark = [(0.0, 0.0), (wide, 0.0), (wide, 0.4 * BAR), (0.0, 0.4 * BAR)]
        board.plate(mark, playing, colour=PAPER, alpha=0.6, layer=2.0, place=(x, -0.5))
