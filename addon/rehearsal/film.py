"""A film behind the dancer: a movie, an image sequence or an image, as the background of the world."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import numpy as np

from ..base import bpy_access
from ..base.solver_api import errors
from ..scene.action import CONSTANT, curves_of
from .materials import add_node
from .options import Film
from .plan import VideoPlan

REMEDY = "Choose a movie that Blender can read, an image, or a folder of numbered images"
FILM_NODE = "Film"
IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".exr", ".bmp", ".webp")


def film_frames(film: Film, plan: VideoPlan, rate: float, count: int) -> np.ndarray:
    """Indices (F,) of the film's frame, from 0, for each frame of the video."""
    begin = plan.times[0] if film.clock == "dance" else 0.0
    clock = plan.times if film.clock == "dance" else np.arange(len(plan)) / plan.rate
    seconds = film.start + film.speed * np.maximum(clock - begin - film.offset, 0.0)
    return np.clip(np.floor(seconds * rate + 1e-6), 0, count - 1).astype(int)


def add_film(scene: bpy.types.Scene, film: Film, plan: VideoPlan, *, mirror: bool) -> None:
    """Put a film behind everything, uncropped and in its own proportions; uncovered areas are dark.

    It is a world texture and not a plane, so that Cycles can cast shadows on it.

    Raises:
        InputError: it cannot be read.
    """
    image, (across, up), rate, first, count = _load_film(film, plan.rate)
    tree = bpy_access.require(scene.world, "world").node_tree
    assert tree is not None
    wide = scene.render.resolution_x / scene.render.resolution_y * up / across
    shares = max(wide, 1.0), max(1.0 / wide, 1.0)  # picture size over film size
    where, place = add_node(tree, "ShaderNodeTexCoord"), add_node(tree, "ShaderNodeMapping")
    side = -1.0 if mirror else 1.0
    place.inputs["Scale"].default_value = side * shares[0], shares[1], 1.0
    offset = 0.5 * (1.0 - side * shares[0]), 0.5 * (1.0 - shares[1]), 0.0
    place.inputs["Location"].default_value = offset
    texture = add_node(tree, "ShaderNodeTexImage")
    texture.name, texture.image, texture.extension = FILM_NODE, image, "CLIP"
    tree.links.new(where.outputs["Window"], place.inputs["Vector"])
    tree.links.new(place.outputs["Vector"], texture.inputs["Vector"])
    tree.links.new(texture.outputs["Color"], tree.nodes["Background"].inputs["Color"])
    if image.source in ("MOVIE", "SEQUENCE"):
        _key_film_frames(tree, texture.image_user, film_frames(film, plan, rate, count) + first)


def has_film(scene: bpy.types.Scene) -> bool:
    """Whether a rehearsal scene shows a film."""
    tree = None if scene.world is None else scene.world.node_tree
    return tree is not None and FILM_NODE in tree.nodes


def _load_film(film: Film, rate: float) -> tuple[bpy.types.Image, tuple[int, int], float, int, int]:
    """Image, size, frame rate [1/s], number of the first frame, and number of frames."""
    path = film.path
    numbered: list[Path] = []
    if path.is_dir():
        numbered = sorted(p for p in path.iterdir() if p.suffix.lower() in IMAGES and re.search(r"\d+$", p.stem))
        if not numbered:
            raise errors.InputError(path, "contains no numbered images", remedy=REMEDY)
    elif not path.is_file():
        raise errors.InputError(path, "is not a file", remedy=REMEDY)
    try:
        image = bpy.data.images.load(str((numbered[0] if numbered else path).resolve()))
        across, up = (image.size[side] for side in (0, 1))  # type: ignore[index]
    except RuntimeError:
        across, up = 0, 0
    if not across * up:
        raise errors.InputError(path, "is not a film or image that Blender can read", remedy=REMEDY)
    if image.source == "MOVIE":
        clip = bpy.data.movieclips.load(str(path.resolve()))
        rate = clip.fps
        bpy.data.movieclips.remove(clip)
        return image, (across, up), rate, 1, max(image.frame_duration, 1)
    if not numbered:
        return image, (across, up), rate, 1, 1
    numbers = [int(re.findall(r"\d+$", p.stem)[0]) for p in numbered]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise errors.InputError(path, "contains images with gaps in their numbers", remedy=REMEDY)
    image.source = "SEQUENCE"  # resets the size until a frame is loaded
    return image, (across, up), film.rate or rate, numbers[0], len(numbers)


def _key_film_frames(tree: bpy.types.NodeTree, user: bpy.types.ImageUser, frames: np.ndarray) -> None:
    """Key which frames (F,) of an image are shown, from the scene's frame 1 on."""
    user.frame_start, user.frame_duration, user.use_auto_refresh = 1, len(frames), True
    ahead = frames - np.arange(1, len(frames) + 1)
    for change in np.flatnonzero(np.diff(ahead, prepend=ahead[0] - 1)).tolist():
        user.frame_offset = int(ahead[change])
        user.keyframe_insert("frame_offset", frame=change + 1)
    for curve in curves_of(tree):  # type: ignore[arg-type]
        curve.keyframe_points.foreach_set("interpolation", np.full(len(curve.keyframe_points), CONSTANT, np.int32))
        curve.update()
