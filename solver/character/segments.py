"""Mass, centre of mass, inertia, box and shape of each link of a character, from the volume inside its surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ..base.assets import read_asset
from ..values.inertials import InertialParameters
from ..values.shape import Shape
from .character import Character
from .volume import MeshCells

NEAREST = 6
"""Vertices whose weights decide which link a cell belongs to. Measured on a simulated character of 62 kg: half and
twice as many change no link's mass by more than 0.10 and 0.14 kg."""
NEAR_CELL = 0.5
"""[cells] Distance below which a nearer vertex does not count more. Measured on a simulated character of 62 kg: half
and twice the value change no link's mass by more than 2 g."""
MIN_SHARE = 0.0005
"""Smallest fraction of the volume of a link with a mass of its own. Measured on a simulated character of 62 kg: half
and twice the value change no link's mass."""
LEAST_WEIGHT = 0.3
"""Least weight of the cells that a link's box contains. Measured on a simulated character of 62 kg: half and twice the
value change no side of a box by more than 37 and 29 mm."""
SURFACE_POINTS = 200


@dataclass(frozen=True, slots=True)
class Segments:
    """What the volume says of each link, link axes.

    Attributes:
        volumes: (L,) [m^3].
        prior: of a body with the densities of the tables, scaled to its mass.
        boxes: (L, 2, 3) [m] bounds of the link's cells.
        shapes: an ellipsoid for each link, with the link's volume and second moments.
        table_mass: [kg] by volumes and densities alone.
    """

    volumes: np.ndarray
    prior: InertialParameters
    boxes: np.ndarray
    shapes: tuple[Shape, ...]
    table_mass: float


def vertex_weights(character: Character, link_of_bone: np.ndarray, links: int) -> np.ndarray:
    """Weights (V, L) of the links on each vertex; each row adds up to 1, or to 0 without weights."""
    vertices, bones = character.weighted.T
    flat = vertices * links + link_of_bone[bones]
    weights = np.bincount(flat, character.weights, minlength=links * len(character.vertices)).reshape(-1, links)
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0)


def cell_weights(solid: MeshCells, vertices: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights (C, L) of the links on each cell, from those of the nearest vertices; each row adds up to 1.

    A cell is divided between links by its weights. Where the mesh is deformed linearly by its weights, the centre of
    mass of the links is then that of the deformed volume, in every pose.
    """
    weighted = weights.any(axis=1)
    tree, weights = cKDTree(vertices[weighted]), weights[weighted]
    nearest_count = min(NEAREST, len(weights))
    distances, nearest = (found.reshape(len(solid.centres), -1) for found in tree.query(solid.centres, k=nearest_count))
    closeness = 1.0 / np.maximum(distances, NEAR_CELL * solid.size)
    closeness /= closeness.sum(axis=1, keepdims=True)
    result = np.zeros((len(solid.centres), weights.shape[1]))
    for k in range(nearest_count):
        result += closeness[:, k : k + 1] * weights[nearest[:, k]]
    return result


def link_densities(kinds: tuple[str, ...]) -> np.ndarray:
    """Density (L,) [kg/m^3] of each kind of link; the lower half of a spine is the abdomen."""
    table = read_asset("segment_densities")
    densities = dict(table["densities"])
    spine = [k for k, kind in enumerate(kinds) if kind == "spine"]
    lower = set(spine[: (len(spine) + 1) // 2])
    result = []
    for k, kind in enumerate(kinds):
        name = kind.split("_", 1)[1] if kind.startswith(("left_", "right_")) else kind
        name = {"neck": "head", "spine": "torso"}.get(name, name)
        result.append(table["abdomen"] if k in lower else densities[name])
    return np.array(result, float)


def measure_segments(
    links: tuple[str, ...],
    kinds: tuple[str, ...],
    solid: MeshCells,
    weights: np.ndarray,
    frames: tuple[np.ndarray, np.ndarray],
    mass: float | None,
) -> Segments:
    """Measure the segments of a character.

    Args:
        links: L names.
        kinds: L kinds, see `LinkTree`.
        solid: of the whole character.
        weights: (C, L) of the links on each cell; every link has some.
        frames: axes (L, 3, 3) and origins (L, 3) [m] of the links in rest pose.
        mass: [kg] of the body; None: by the volumes and densities alone.
    """
    rotations, origins = frames
    cell = solid.size**3
    densities = link_densities(kinds)
    volumes, coms = cell * weights.sum(axis=0), np.empty((len(links), 3))
    inertias, boxes, shapes = np.empty((len(links), 3, 3)), np.empty((len(links), 2, 3)), []
    for link, name in enumerate(links):
        used = weights[:, link] > 0.0
        own = weights[used, link]
        points = (solid.centres[used] - origins[link]) @ rotations[link]
        coms[link] = own @ points / own.sum()
        offsets = points - coms[link]
        moments = (own[:, None] * offsets).T @ offsets / own.sum() + solid.size**2 / 12.0 * np.eye(3)
        inertias[link] = densities[link] * volumes[link] * (np.trace(moments) * np.eye(3) - moments)
        inner = points[own >= min(LEAST_WEIGHT, own.max())]
        boxes[link] = inner.min(axis=0) - 0.5 * solid.size, inner.max(axis=0) + 0.5 * solid.size
        shapes.append(_equal_ellipsoid(name, volumes[link], coms[link], moments))
    masses = densities * volumes
    factor = 1.0 if mass is None else mass / masses.sum()
    prior = InertialParameters.from_com(links, factor * masses, coms, factor * inertias)
    return Segments(volumes, prior, boxes, tuple(shapes), float(masses.sum()))


def _equal_ellipsoid(link: str, volume: float, com: np.ndarray, moments: np.ndarray) -> Shape:
    """Ellipsoid with a volume [m^3], and semi-axes in the ratios of the second moments (3, 3)."""
    values, axes = np.linalg.eigh(moments)
    axes = axes * np.sign(np.linalg.det(axes))
    semi_axes = np.sqrt(5.0 * values)
    semi_axes *= (volume / (4.0 / 3.0 * np.pi * semi_axes.prod())) ** (1.0 / 3.0)
    return Shape(link, "ellipsoid", tuple(semi_axes), axes, com)


def touching_pairs(shapes: tuple[Shape, ...], frames: tuple[np.ndarray, np.ndarray]) -> tuple[tuple[str, str], ...]:
    """Pairs of links whose shapes overlap in rest pose.

    Args:
        shapes: one for each link in their order, an ellipsoid or a box.
        frames: axes (L, 3, 3) and origins (L, 3) [m] of the links in rest pose.
    """
    rotations, origins = frames
    golden = np.pi * (3.0 - np.sqrt(5.0))
    heights = 1.0 - 2.0 * (np.arange(SURFACE_POINTS) + 0.5) / SURFACE_POINTS
    angles, radii = golden * np.arange(SURFACE_POINTS), np.sqrt(1.0 - heights**2)
    sphere = np.column_stack([radii * np.cos(angles), radii * np.sin(angles), heights])
    cube = sphere / np.abs(sphere).max(axis=1, keepdims=True)
    axes = [rotations[k] @ shape.rotation for k, shape in enumerate(shapes)]
    centres = [rotations[k] @ shape.centre + origins[k] for k, shape in enumerate(shapes)]
    surfaces = [
        ((cube if shape.kind == "box" else sphere) * shape.size) @ axes[k].T + centres[k]
        for k, shape in enumerate(shapes)
    ]

    def contains(outer: int, inner: int) -> bool:
        local = (surfaces[inner] - centres[outer]) @ axes[outer] / shapes[outer].size
        distances = np.abs(local).max(axis=1) if shapes[outer].kind == "box" else np.linalg.norm(local, axis=1)
        return bool(distances.min() < 1.0)

    count = len(shapes)
    pairs = [(one, other) for one in range(count) for other in range(one + 1, count)]
    return tuple((shapes[a].link, shapes[b].link) for a, b in pairs if contains(a, b) or contains(b, a))
