"""Flat objects of a picture, such as captions, legends and footprints: drawn once, in exactly their colours."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...base import bpy_access, convert
from ...scene.colours import linear_to_srgb
from .geometry import read_triangles
from .rasterise import rasterise
from .view import View

SAMPLING = 4
"""Samples per pixel along each side."""


@dataclass(slots=True)
class Sprite:
    """A flat object as it appears in a picture.

    Attributes:
        place: matrix of the object when it was drawn.
        rows, columns: part of the picture.
        opacity: (R, C, 1) from 0 to 1.
        linear: (R, C, 3) linear colour.
        colour: (R, C, 3) sRGB from 0 to 255.
    """

    place: bytes
    rows: slice
    columns: slice
    opacity: np.ndarray
    linear: np.ndarray
    colour: np.ndarray

    def blend(self, picture: np.ndarray) -> None:
        """Draw it over an sRGB picture (H, W, 3) of 8 bits."""
        part = picture[self.rows, self.columns].astype(np.float32)
        part += self.opacity * (self.colour - part)
        picture[self.rows, self.columns] = np.round(part).astype(np.uint8)

    def blend_linear(self, picture: np.ndarray) -> None:
        """Draw it over a linear picture (H, W, 3)."""
        part = picture[self.rows, self.columns]
        part += self.opacity * (self.linear - part)


def place_of(seen: bpy.types.Object) -> bytes:
    """Place of an evaluated object, with which its sprite can be used again."""
    return convert.to_array(seen.matrix_world).tobytes()


def draw_sprite(view: View, seen: bpy.types.Object) -> Sprite:
    """Draw an evaluated mesh or text, in the colours of its materials."""
    place = convert.to_array(seen.matrix_world)
    mesh = bpy_access.require(seen.to_mesh(), "mesh")
    (triangles, _), slots = read_triangles(mesh)
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    seen.to_mesh_clear()
    wide, high = view.size
    shown = view.project(points @ place[:3, :3].T + place[:3, 3], SAMPLING)
    covered = rasterise(shown, triangles, (SAMPLING * wide, SAMPLING * high))
    row, column = np.divmod(covered.samples, SAMPLING * wide)
    row, column = row // SAMPLING, column // SAMPLING
    rows = slice(int(row.min(initial=high)), int(row.max(initial=-1)) + 1)
    columns = slice(int(column.min(initial=wide)), int(column.max(initial=-1)) + 1)
    shape = max(rows.stop - rows.start, 0), max(columns.stop - columns.start, 0)
    pixel, count = (row - rows.start) * shape[1] + column - columns.start, shape[0] * shape[1]
    materials = [bpy_access.require(slot.material, "material") for slot in seen.material_slots]
    colours = np.array([material.diffuse_color for material in materials])[slots[covered.triangles]]
    sums = np.stack([np.bincount(pixel, colours[:, 3] * colours[:, k], count) for k in range(3)], axis=1)
    alpha = np.bincount(pixel, colours[:, 3], count)[:, None]
    linear = (sums / np.maximum(alpha, 1e-9)).reshape(*shape, 3)
    opacity = alpha.reshape(*shape, 1) / SAMPLING**2
    return Sprite(place_of(seen), rows, columns, opacity, linear, 255.0 * linear_to_srgb(linear))
