"""Drawing primitives for overlays: lines, faces, text, and the geometry of arrows and marks.

Colours are sRGB with alpha. Sizes in pixels are for an interface scale of one; see `interface_scale`.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Vector
from mathutils.geometry import convex_hull_2d

from ..scene.colours import colour_stops

Colour = tuple[float, float, float, float]
Point = Sequence[float] | np.ndarray
Points = Sequence[Point] | np.ndarray

TEXT_COLOUR: Colour = (0.93, 0.93, 0.93, 1.0)
SHORTEST_ARROW, ARROW_HEAD, FLOOR_OFFSET = 0.01, 0.06, 0.002
"""[m] Shortest arrow that is drawn; length of an arrow's head; height of shapes above the floor."""
ARROW_SLENDERNESS = 0.4
"""Largest fraction of an arrow that its head takes, and half the head's width over its length."""
LINE_WIDTH, BOLD_WIDTH = 1.5, 3.5
LEGEND_LEFT, LEGEND_BOTTOM, LEGEND_WIDTH, LEGEND_HEIGHT = 24, 40, 16, 200
"""[px] Position and size of a legend."""
LEGEND_ROOM = 80.0
"""[px] Width reserved for a legend with its numbers."""
FONT = 0
BACKGROUND: Colour = (0.08, 0.08, 0.09, 0.78)
"""Background of text, for legibility over any theme and body."""
LINE_HEIGHT, LETTER_HEIGHT, TEXT_MARGIN = 18.0, 12.0, 38.0
"""[px] Line spacing, letter height, and width beside the text in a text box."""


def interface_scale() -> float:
    """The user's interface scale."""
    return float(bpy.context.preferences.system.ui_scale)


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Convex hull (V, 2) of the points (P, 3) without NaN, seen from above; empty for fewer than three points."""
    ground = points[np.isfinite(points).all(axis=1), :2]
    if len(ground) < 3:
        return np.zeros((0, 2))
    return ground[convex_hull_2d(ground.tolist())]


def arrow_lines(start: np.ndarray, along: np.ndarray) -> list[np.ndarray]:
    """Pairs of points of an arrow's lines: shaft and four barbs; empty if the arrow is too short to see."""
    length = float(np.linalg.norm(along))
    if not math.isfinite(length) or length < SHORTEST_ARROW:
        return []
    axis = Vector(along.tolist()) / length
    side = axis.cross((1.0, 0.0, 0.0) if abs(axis.x) < 0.7 else (0.0, 1.0, 0.0)).normalized()
    across = axis.cross(side)
    tip, size = start + along, min(ARROW_HEAD, ARROW_SLENDERNESS * length)
    ends = np.array([barb * ARROW_SLENDERNESS - axis for barb in (side, -side, across, -across)])
    barbs = [tip + size * end for end in ends]
    return [start, tip, *(point for barb in barbs for point in (tip, barb))]


def cross_lines(centre: np.ndarray, size: float) -> list[np.ndarray]:
    """Pairs of points of a cross with arms [m] along the world's axes, horizontal ones first."""
    return [centre + sign * size * axis for axis in np.eye(3) for sign in (-1.0, 1.0)]


def outline_lines(corners: np.ndarray, height: float = FLOOR_OFFSET) -> list[np.ndarray]:
    """Pairs of points (3,) of the edges of a polygon (V, 2), at a height."""
    points = [np.array([x, y, height]) for x, y in corners]
    return [point for k in range(len(points)) for point in (points[k], points[(k + 1) % len(points)])]


def circle_points(centre: Point, radius: float, height: float = FLOOR_OFFSET, steps: int = 24) -> np.ndarray:
    """Points (steps, 3) of a horizontal circle around a point (2,)."""
    angles = np.linspace(0.0, 2.0 * np.pi, steps, endpoint=False)
    x, y = centre[0] + radius * np.cos(angles), centre[1] + radius * np.sin(angles)
    return np.stack([x, y, np.full(steps, height)], axis=1)


def draw_lines(points: Points, colour: Colour, width: float) -> None:
    """Draw lines between pairs of points."""
    draw_line_batch(line_batch(points), colour, width)


def line_batch(points: Points) -> gpu.types.GPUBatch | None:
    """Lines between pairs of points as a batch that stays on the GPU; None without any."""
    return gpu.types.GPUBatch(type="LINES", buf=_vertex_buffer(points)) if len(points) else None


def draw_line_batch(batch: gpu.types.GPUBatch | None, colour: Colour, width: float) -> None:
    """Draw lines that are on the GPU."""
    if batch is None:
        return
    shader = _builtin("POLYLINE_UNIFORM_COLOR")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", width * interface_scale())
    shader.uniform_float("color", colour)
    batch.draw(shader)


def fill_convex(corners: Points, colour: Colour) -> None:
    """Fill a convex polygon (V, 2 or 3)."""
    if len(corners) < 3:
        return
    shader = _builtin("UNIFORM_COLOR")
    batch = gpu.types.GPUBatch(type="TRIS", buf=_vertex_buffer(corners), elem=_fan(len(corners)))
    shader.bind()
    shader.uniform_float("color", colour)
    batch.draw(shader)


def polygon_batch(polygons: Sequence[tuple[Points, Colour]]) -> gpu.types.GPUBatch | None:
    """Convex polygons (V, 2 or 3), each with its colour, as one batch that stays on the GPU; None without any."""
    filled = [polygon for polygon in polygons if len(polygon[0]) >= 3]
    if not filled:
        return None
    positions, colours, faces = polygon_triangles(filled)
    content: Any = {"pos": positions, "color": colours}
    triangles: Any = faces  # arrays are accepted, although the type stubs exclude them
    return batch_for_shader(_builtin("SMOOTH_COLOR"), "TRIS", content, indices=triangles)


def polygon_triangles(polygons: Sequence[tuple[Points, Colour]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners (C, 3), their colours (C, 4) and triangles (T, 3) of convex polygons (V, 2 or 3) with colours.

    The types are those of the GPU: float32 and int32.
    """
    counts = [len(corners) for corners, _ in polygons]
    stops = np.cumsum(counts, dtype=np.int32)
    positions = np.zeros((stops[-1], 3), np.float32)
    for (corners, _), start, stop in zip(polygons, stops - counts, stops, strict=True):
        positions[start:stop, : len(corners[0])] = corners
    colours = np.repeat(np.array([colour for _, colour in polygons], np.float32), counts, axis=0)
    faces = [start + _fan_corners(count) for start, count in zip(stops - counts, counts, strict=True)]
    return positions, colours, np.concatenate(faces).astype(np.int32)


def draw_polygon_batch(batch: gpu.types.GPUBatch | None) -> None:
    """Draw polygons that are on the GPU."""
    if batch is not None:
        batch.draw(_builtin("SMOOTH_COLOR"))


@contextmanager
def moved_to(position: Point) -> Iterator[None]:
    """Draw what follows around a position (2,) [px]."""
    gpu.matrix.push()
    try:
        gpu.matrix.translate((float(position[0]), float(position[1])))
        yield
    finally:
        gpu.matrix.pop()


def box_corners(left: float, bottom: float, width: float, height: float) -> list[tuple[float, float]]:
    """Corners of a rectangle [px]."""
    right, top = left + width, bottom + height
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


def fill_floor(corners: np.ndarray, colour: Colour) -> None:
    """Fill a convex polygon (V, 2) on the floor and draw its outline opaque."""
    if len(corners) < 3:
        return
    fill_convex([(x, y, FLOOR_OFFSET) for x, y in corners], colour)
    draw_lines(outline_lines(corners, FLOOR_OFFSET), (*colour[:3], 1.0), LINE_WIDTH)


def fill_box(left: float, bottom: float, width: float, height: float, colour: Colour) -> None:
    """Fill a rectangle [px]."""
    fill_convex(box_corners(left, bottom, width, height), colour)


@lru_cache(16)
def _colour_bar(colour_map: str, position: tuple[float, float], size: tuple[float, float]) -> gpu.types.GPUBatch:
    """A vertical colour bar [px] as a batch that stays on the GPU; linear between the map's colours."""
    (left, bottom), (width, height), colours = position, size, colour_stops(colour_map).tolist()
    heights = [bottom + height * stop / (len(colours) - 1) for stop in range(len(colours))]
    corners = [(x, y) for y in heights for x in (left, left + width)]
    faces = [(k + a, k + b, k + 2) for k in range(0, len(corners) - 2, 2) for a, b in ((0, 1), (1, 3))]
    content: Any = {"pos": corners, "color": [(*colour, 1.0) for colour in colours for _ in range(2)]}
    return batch_for_shader(gpu.shader.from_builtin("SMOOTH_COLOR"), "TRIS", content, indices=faces)


def free_batches() -> None:
    """Free the batches on the GPU."""
    _colour_bar.cache_clear()
    _fan.cache_clear()
    _text_box_shapes.cache_clear()


def draw_legend(colour_map: str, title: str, ticks: Sequence[tuple[float, str]]) -> None:
    """Draw a colour bar with its title, and with labels at fractions of its height, in the lower left corner."""
    size, left = interface_scale(), left_edge()
    bottom, width, height = (size * x for x in (LEGEND_BOTTOM, LEGEND_WIDTH, LEGEND_HEIGHT))
    _colour_bar(colour_map, (left, bottom), (width, height)).draw(gpu.shader.from_builtin("SMOOTH_COLOR"))
    draw_text(title, left, bottom + height + 14 * size, 13 * size)
    for fraction, label in ticks:
        draw_text(label, left + width + 6 * size, bottom + fraction * height - 4 * size, 11 * size)


def left_edge() -> float:
    """[px] Left edge of a legend: to the right of the toolbar, which can overlap it in a low view."""
    context, edge = bpy.context, 0.0
    for region in context.area.regions:
        over = region.type == "TOOLS" and region.alignment == "LEFT" and region.width > 1
        if over and context.preferences.system.use_region_overlap:
            edge = max(edge, float(region.x + region.width - context.region.x))
    return edge + LEGEND_LEFT * interface_scale()


def text_box_size(rows: Sequence[tuple[str, Colour, Colour]]) -> tuple[float, float]:
    """[px] Width and height that `draw_text_box` needs."""
    size = interface_scale()
    inner = max(text_width(text, LETTER_HEIGHT * size) for text, _, _ in rows)
    return inner + TEXT_MARGIN * size, (LINE_HEIGHT * len(rows) + 12) * size


def wrap_rows(rows: Sequence[tuple[str, Colour, Colour]], width: float) -> list[tuple[str, Colour, Colour]]:
    """Rows of a text box no wider than a width [px]; only the first line of each has a square."""
    size, result = interface_scale(), []
    for text, colour, ink in rows:
        room = width - TEXT_MARGIN * size
        taken = text_width(text, LETTER_HEIGHT * size)
        letters = int(len(text) * room / max(taken, 1.0))
        first, *others = [text] if taken <= room else textwrap.wrap(text, max(letters, 1)) or [""]
        result += [(first, colour, ink), *((line, (0.0, 0.0, 0.0, 0.0), ink) for line in others)]
    return result


def draw_text_box(
    rows: Sequence[tuple[str, Colour, Colour]], position: tuple[float, float], size: tuple[float, float] | None = None
) -> None:
    """Draw rows of text on a dark background, each with the colours of its square and of its text.

    Args:
        rows: from top to bottom.
        position: [px] lower left corner.
        size: [px] width and height; by default as small as possible.
    """
    (left, bottom), step = position, interface_scale()
    width, height = text_box_size(rows) if size is None else size
    with moved_to(position):
        draw_polygon_batch(_text_box_shapes(tuple(colour for _, colour, _ in rows), width, height, step))
    heights = _row_heights(len(rows), height, step)
    for y, (text, _, ink) in zip(heights, rows, strict=True):
        draw_text(text, left + 26 * step, bottom + y, LETTER_HEIGHT * step, ink)


def _row_heights(count: int, height: float, step: float) -> list[float]:
    """[px] Baselines of rows above the lower edge of a text box."""
    return [height - (LINE_HEIGHT * (row + 1) + 1) * step for row in range(count)]


@lru_cache(64)
def _text_box_shapes(
    colours: tuple[Colour, ...], width: float, height: float, step: float
) -> gpu.types.GPUBatch | None:
    """Background and squares of a text box."""
    heights = _row_heights(len(colours), height, step)
    squares = [
        (box_corners(9 * step, y, 9 * step, 9 * step), colour)
        for y, colour in zip(heights, colours, strict=True)
        if colour[3] > 0.0
    ]
    return polygon_batch([(box_corners(0.0, 0.0, width, height), BACKGROUND), *squares])


def frame_axis(region: bpy.types.Region) -> tuple[float, float]:
    """Position of frame zero on a time axis, and the distance between frames [px]."""
    ends: Any = [region.view2d.region_to_view(x, 0.0) for x in (0.0, float(region.width))]
    first, last = (float(end[0]) for end in ends)
    step = region.width / (last - first)
    return -first * step, step


def draw_text(
    text: str, x: float, y: float, size: float, colour: Colour = TEXT_COLOUR, *, shadow: bool = False
) -> None:
    """Draw text with its left end at a position [px]; a shadow makes it legible on any background."""
    blf.size(FONT, size)
    if shadow:
        blf.enable(FONT, blf.SHADOW)
        blf.shadow(FONT, 3, 0.0, 0.0, 0.0, 1.0)
    blf.color(FONT, *colour)
    blf.position(FONT, x, y, 0.0)
    blf.draw(FONT, text)
    blf.disable(FONT, blf.SHADOW)


def text_width(text: str, size: float) -> float:
    """[px] Width of a text."""
    blf.size(FONT, size)
    return float(blf.dimensions(FONT, text)[0])


def _vertex_buffer(points: Points) -> gpu.types.GPUVertBuf:
    """Points (N, 2 or 3) on the GPU. `batch_for_shader` takes three times as long."""
    positions: Any = np.array(points, np.float32)  # arrays are accepted, although the type stubs exclude them
    buffer = gpu.types.GPUVertBuf(_point_format(positions.shape[1]), len(positions))
    buffer.attr_fill(id="pos", data=positions)
    return buffer


@lru_cache(2)
def _point_format(dimensions: int) -> gpu.types.GPUVertFormat:
    found = gpu.types.GPUVertFormat()
    found.attr_add(id="pos", comp_type="F32", len=dimensions, fetch_mode="FLOAT")
    return found


@lru_cache(64)
def _fan(count: int) -> gpu.types.GPUIndexBuf:
    """Triangles of a convex polygon with so many corners."""
    triangles: Any = _fan_corners(count)  # arrays are accepted, although the type stubs exclude them
    return gpu.types.GPUIndexBuf(type="TRIS", seq=triangles)


def _fan_corners(count: int) -> np.ndarray:
    """Triangles (count - 2, 3) of a convex polygon with so many corners."""
    second = np.arange(1, count - 1, dtype=np.int32)
    return np.stack([np.zeros_like(second), second, second + 1], axis=1)


@lru_cache(4)
def _builtin(name: Any) -> gpu.types.GPUShader:
    return gpu.shader.from_builtin(name)
