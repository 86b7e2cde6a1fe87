"""A picture's legend as objects of the scene: colour bar, title, numbers with unit."""

from __future__ import annotations

from itertools import pairwise

import bpy
import numpy as np

from ..base import meshes
from ..scene.colours import Colouring, interpolate_colour, plain_material

BANDS = 32
TICKS = 5
HEIGHT, WIDTH = 1.0, 0.07
"""[m] Size of the colour bar before scaling; it lies in the object's x-y plane and faces +z."""
TEXT_COLOUR = (0.13, 0.14, 0.16)


def make_legend(collection: bpy.types.Collection, colouring: Colouring, size: float = 0.6) -> bpy.types.Object:
    """Build the legend of a coloured body.

    Args:
        collection: receives the legend.
        colouring: colours of the body, from `colours.colour_body`.
        size: height of the colour bar [m].

    Returns:
        the colour bar, parent of the texts.
    """
    edges = np.linspace(0.0, HEIGHT, BANDS + 1)
    bands = [
        (np.array([[0.0, low, 0.0], [WIDTH, low, 0.0], [WIDTH, high, 0.0], [0.0, high, 0.0]]), [[0, 1, 2, 3]])
        for low, high in pairwise(edges)
    ]
    mesh = meshes.build_mesh("Legend", bands, smooth=False)
    for band in range(BANDS):
        colour = interpolate_colour(colouring.definition.colour_map, (band + 0.5) / BANDS)
        mesh.materials.append(plain_material(f"Legend {band:02d}", colour, glow=True))
    mesh.polygons.foreach_set("material_index", list(range(BANDS)))
    bar = bpy.data.objects.new("Legend", mesh)
    collection.objects.link(bar)
    ink = plain_material("Legend ink", TEXT_COLOUR, glow=True)
    _add_text(collection, bar, colouring.title, (0.0, HEIGHT + 0.07), 0.085, ink)
    for share in np.linspace(0.0, 1.0, TICKS):
        value = colouring.low + share * (colouring.high - colouring.low)
        number = f"{value:+.3g}" if colouring.low < 0.0 < colouring.high and value else f"{value:.4g}"
        _add_text(
            collection, bar, number.replace("-", "\N{MINUS SIGN}"), (WIDTH + 0.03, share * HEIGHT - 0.025), 0.072, ink
        )
    bar.scale = (size / HEIGHT,) * 3
    for item in (bar, *bar.children):
        item.visible_shadow = item.visible_diffuse = item.visible_glossy = False
    return bar


def remove_legend(bar: bpy.types.Object) -> None:
    """Remove a legend with its meshes, texts and materials."""
    for item in (*bar.children, bar):
        data, materials = item.data, list(item.data.materials)
        bpy.data.objects.remove(item)
        if not data.users:
            bpy.data.batch_remove([data])
        for material in {m for m in materials if m is not None and not m.users}:
            bpy.data.materials.remove(material)


def _add_text(
    collection: bpy.types.Collection,
    parent: bpy.types.Object,
    string: str,
    position: tuple[float, float],
    size: float,
    material: bpy.types.Material,
) -> None:
    curve = bpy.data.curves.new(f"Legend {string}", "FONT")
    assert isinstance(curve, bpy.types.TextCurve)
    curve.body, curve.size = string, size
    curve.materials.append(material)
    text = bpy.data.objects.new(curve.name, curve)
    text.parent, text.location = parent, (*position, 0.0)
    collection.objects.link(text)
