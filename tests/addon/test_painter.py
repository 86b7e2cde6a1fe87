"""The painter of rehearsal videos: what it draws is where the camera sees it, nearest first, and as large as it is."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from addon.drawing.painting.geometry import Geometry
from addon.drawing.painting.png import write_png
from addon.drawing.painting.rasterise import rasterise
from addon.drawing.render import PANEL_HEIGHT, PANEL_WIDTH, PICTURED_QUANTITIES, render_body
from addon.rehearsal.dance import RehearsedDance
from addon.rehearsal.options import Film, RehearsalOptions, Rendering, Staging
from addon.rehearsal.painter import FramePainter
from addon.rehearsal.rehearse import plan_rehearsal
from addon.rehearsal.roles import BODY
from addon.rehearsal.scene import build_scene, remove_added_data
from addon.rehearsal.video import set_engine
from addon.scene.action import curves_of
from addon.scene.armature import shapes_of
from addon.scene.colours import colour_body, linear_to_srgb
from addon.scene.inertials import write_inertials
from addon.scene.skin import material_of
from solver.base.errors import InvalidValue
from solver.rigs import hoap3, human
from solver.scene import study_folder
from solver.skeleton.rig import Rig
from tests.addon.scenes import build
from tests.addon.test_rehearsal import danced, picture
from tests.addon.test_scene import found

SIZE = 40, 30
WIDE = Staging(size=(192, 108))
BRIEF = RehearsalOptions(rate=20.0, slow=0.0, lead=0.0, title_time=0.0, rest=0.0, ghost="none")


SEEN, FIGURES = (Path(__file__).with_name(f"rehearsal.{kind}") for kind in ("png", "txt"))


def read_picture(path: Path) -> np.ndarray:
    """An image file's values (rows, columns, 3), 0 to 255, the top row first."""
    image = bpy.data.images.load(str(path))
    values = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(values)
    shown = values.reshape(image.size[1], image.size[0], 4)[::-1, :, :3]
    bpy.data.images.remove(image)
    return 255.0 * shown


def on_the_floor(rig: Rig) -> RehearsedDance:
    """The dance of the other tests, with the soles on the floor."""
    dance = danced(rig)
    line = dance.timeline
    turns = line.rotations / np.linalg.norm(line.rotations, axis=-1, keepdims=True)
    raised = replace(line, root=line.root + np.array([0.0, 0.0, rig.standing_height]), rotations=turns)
    return RehearsedDance(raised, dance.stops)


def covered(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Index of the triangle in each sample of a picture; -1 for none."""
    found = rasterise(points, triangles, SIZE)
    shown = np.full(SIZE[0] * SIZE[1], -1)
    shown[found.samples] = found.triangles
    return shown.reshape(SIZE[1], SIZE[0])


def brute(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The same by testing each sample against each triangle."""
    x, y = np.meshgrid(np.arange(SIZE[0]) + 0.5, np.arange(SIZE[1]) + 0.5)
    best, shown = np.full(x.shape, np.inf), np.full(x.shape, -1)
    for index, corners in enumerate(triangles):
        matrix = np.vstack([points[corners, :2].T, np.ones(3)])
        if abs(np.linalg.det(matrix)) < 1e-9:
            continue
        weights = np.einsum("ij,jhw->ihw", np.linalg.inv(matrix), np.stack([x, y, np.ones_like(x)]))
        depth = np.einsum("i,ihw->hw", points[corners, 2], weights)
        nearer = (weights >= 0.0).all(axis=0) & (depth < best)
        best[nearer], shown[nearer] = depth[nearer], index
    return shown


def test_each_sample_shows_its_nearest_triangle() -> None:
    """Random triangles, some of them beyond the picture, cover the samples that a test of every sample finds."""
    random = np.random.default_rng(3)
    points = random.uniform(-10.0, 50.0, (60, 3))
    triangles = random.permutation(60).reshape(20, 3)
    np.testing.assert_array_equal(covered(points, triangles), brute(points, triangles))


def test_neighbours_share_no_sample_and_leave_none() -> None:
    """Triangles that tile a rectangle cover each of its samples exactly once, also along their common edges."""
    points = np.array([[2.0, 3.0, 0.0], [37.0, 3.0, 0.0], [37.0, 28.0, 0.0], [2.0, 28.0, 0.0], [20.5, 14.5, 0.0]])
    fan = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    each = [covered(points, np.array([triangle])) >= 0 for triangle in fan]
    np.testing.assert_array_equal(sum(mask.astype(int) for mask in each)[3:28, 2:37], 1)
    assert sum(int(mask.sum()) for mask in each) == 35 * 25


def test_interpolation_reproduces_a_plane() -> None:
    """A linear function of the picture's coordinates, given at the corners, is itself in every sample."""
    random = np.random.default_rng(4)
    points = random.uniform(0.0, 30.0, (30, 3))
    triangles = random.permutation(30).reshape(10, 3)
    found = rasterise(points, triangles, SIZE)
    values = found.interpolate(points[:, :2] @ np.array([[2.0, 0.5], [-1.0, 3.0]]), triangles)
    row, column = np.divmod(found.samples, SIZE[0])
    wanted = np.stack([column + 0.5, row + 0.5], axis=1) @ np.array([[2.0, 0.5], [-1.0, 3.0]])
    np.testing.assert_allclose(values, wanted, atol=1e-9)


@pytest.mark.parametrize("mirror", [False, True])
def test_painter_agrees_with_cycles(empty_scene: None, robot: Rig, mirror: bool, tmp_path: Path) -> None:
    """Both sides of the body have their colours where Cycles shows them, also when mirrored."""
    body, dance = build(robot), on_the_floor(robot)
    with remove_added_data():
        scene = build_scene(body, dance, plan_rehearsal(dance, BRIEF), replace(WIDE, mirror=mirror))
        painted = FramePainter(scene).paint(6) / 255.0
        traced = picture(scene, 6, tmp_path)[::-1]
    inside = slice(12, 90)  # without the captions
    for high, low in ((0, 2), (2, 0)):
        ours, theirs = (shown[inside, :, high] - shown[inside, :, low] > 0.15 for shown in (painted, traced))
        assert theirs.sum() > 20
        assert (ours & theirs).sum() > 0.8 * (ours | theirs).sum()


def draw_pictures(robot: Rig) -> tuple[np.ndarray, np.ndarray]:
    """Two frames of the robot's dance, of it mirrored, and of its title and countdown, (324, 384, 3), with the
    figures of their scenes.
    """
    body, dance = build(robot), on_the_floor(robot)
    rows, figures = [], []
    with_title = RehearsalOptions(rate=20.0, title_time=0.2, bpm=200.0)
    for options, mirror, frames in ((BRIEF, False, (1, 6)), (BRIEF, True, (1, 6)), (with_title, False, (2, 47))):
        with remove_added_data():
            scene = build_scene(body, dance, plan_rehearsal(dance, options), replace(WIDE, mirror=mirror))
            rows.append(np.concatenate([*map(FramePainter(scene).paint, frames)], axis=1))
            figures += [
                figures_of(item) for item in scene.objects if item.parent is None or item.parent.type != "ARMATURE"
            ]
    return np.concatenate(rows), np.array(figures)


def figures_of(item: bpy.types.Object) -> list[float]:
    """Two corners of an object's box in its parent's frame, its colour, the sum of its material's figures, its lens or
    light, and sums of the frames, of the values and of the products of the keys that show it and that move it.
    """
    corners = (item.bound_box[0], item.bound_box[6]) if item.type in ("MESH", "FONT") else np.eye(3)[:2]
    places = [x for corner in corners for x in item.matrix_basis @ Vector(corner)]
    material = item.active_material
    sockets = [socket for node in material.node_tree.nodes for socket in node.inputs] if material else []
    values = [socket.default_value for socket in sockets if socket.type == "VALUE"]
    data = sum(getattr(item.data, name, 0.0) for name in ("energy", "angle", "shift_x", "shift_y"))
    keys = np.array([point.co for curve in curves_of(item) for point in curve.keyframe_points]).reshape(-1, 2)
    return [
        *places,
        *np.array(material.diffuse_color if material else [0.0] * 4),
        sum(values),
        data,
        *keys.sum(axis=0),
        float(keys.prod(axis=1).sum()),
    ]


def test_pictures_are_those_that_were_looked_at(empty_scene: None, robot: Rig) -> None:
    """Blocks of six pixels have the colours of the picture beside this file, and what stands in the scene has the
    places, colours and keys that it had there.
    """
    shown, figures = draw_pictures(robot)
    found, seen = (each.reshape(54, 6, 64, 6, 3).mean(axis=(1, 3)) for each in (shown, read_picture(SEEN)))
    np.testing.assert_allclose(found, seen, atol=1.0)
    np.testing.assert_allclose(figures, np.loadtxt(FIGURES), rtol=1e-5, atol=2e-4)


def test_only_casters_cast_shadows(empty_scene: None) -> None:
    """A plate above a body changes the picture where it is seen, and elsewhere only if it casts a shadow."""
    rig = hoap3()
    body, dance = build(rig), on_the_floor(rig)
    with remove_added_data():
        painter = FramePainter(build_scene(body, dance, plan_rehearsal(dance, BRIEF), WIDE))
        shapes = painter._reader.gather(painter._shown(BODY), painter._graph)
        linear, ground = painter._painted_ground()
        corners = np.array([[-0.1, -0.1, 0.7], [0.1, -0.1, 0.7], [0.1, 0.1, 0.7], [-0.1, 0.1, 0.7]], np.float32)
        plate = Geometry(
            np.array([[0, 1, 2], [0, 2, 3]], np.int32),
            np.ones((2, 3), np.float32),
            corners,
            np.tile(np.array([0.0, 0.0, 1.0], np.float32), (4, 1)),
            np.ones(2, bool),
        )
        both = Geometry(
            np.concatenate([shapes.triangles, plate.triangles + len(shapes.points)]),
            *(np.concatenate([getattr(each, name) for each in (shapes, plate)]) for name in Geometry.__slots__[1:]),
        )
        pictures = []
        for shown, casters in ((shapes, shapes), (both, shapes), (both, None)):
            pictures.append(ground.copy())
            painter._bodies.paint(pictures[-1], linear, shown, casters=casters)
    without, unshaded, shaded = (each.astype(int) for each in pictures)
    inside = painter.view.project(corners)[:, :2]
    low, high = inside.min(axis=0).astype(int) - 1, inside.max(axis=0).astype(int) + 2
    outside = np.ones(without.shape[:2], bool)
    outside[low[1] : high[1], low[0] : high[0]] = False
    assert (without != unshaded).any()
    assert not (without != unshaded)[outside].any()
    assert (without != shaded)[outside].any()


def test_a_scene_from_a_file_is_painted_alike(empty_scene: None, tmp_path: Path) -> None:
    """The child process, which reads the scene from a file, paints what this process would, with the same light."""
    rig = hoap3()
    body, dance = build(rig), on_the_floor(rig)
    with remove_added_data():
        scene = build_scene(body, dance, plan_rehearsal(dance, BRIEF), WIDE)
        bpy.data.libraries.write(str(tmp_path / "scene.blend"), {scene})
        here = FramePainter(scene).paint(6)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "scene.blend")) as (there, into):  # type: ignore[func-returns-value]
        into.scenes = there.scenes[:1]
    np.testing.assert_array_equal(FramePainter(into.scenes[0]).paint(6), here)


def test_the_painter_refuses_a_film(empty_scene: None, tmp_path: Path) -> None:
    """A film needs Cycles, which is chosen by itself; the painter, chosen on purpose, is an error."""
    rig = hoap3()
    image = bpy.data.images.new("film", 4, 4)
    image.filepath_raw, image.file_format = str(tmp_path / "film.png"), "PNG"
    image.save()
    body, dance = build(rig), on_the_floor(rig)
    with remove_added_data():
        staging = Staging(size=(96, 54), film=Film(tmp_path / "film.png"))
        scene = build_scene(body, dance, plan_rehearsal(dance, BRIEF), staging)
        set_engine(scene, Rendering())
        assert scene.render.engine == "CYCLES"
        with pytest.raises(InvalidValue, match="film"):
            set_engine(scene, Rendering("painter"))


def test_images_hold_exactly_the_picture(tmp_path: Path) -> None:
    """A written image, read by Blender, has the picture's values; its parts have their checksums."""
    shown = np.random.default_rng(5).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    write_png(tmp_path / "image.png", shown)
    data = (tmp_path / "image.png").read_bytes()
    length = struct.unpack(">I", data[8:12])[0]
    assert struct.unpack(">I", data[16 + length : 20 + length])[0] == zlib.crc32(data[12 : 16 + length])
    np.testing.assert_allclose(read_picture(tmp_path / "image.png"), shown, atol=1e-3)


def test_a_picture_has_the_legends_colours(empty_scene: None, tmp_path: Path) -> None:
    """The torso has the colour of its mass, its brightest part exactly; there is a panel for each quantity. Blocks of
    eight pixels have the colours of a picture that was looked at.
    """
    rig = human(1.7, 65.0, "female")
    body = build(rig)
    write_inertials(body, found(rig))
    before, scene = set(bpy.data.objects), bpy.context.scene
    path = render_body(bpy.context, body, tmp_path / "body.png")
    assert (set(bpy.data.objects), scene.camera, scene.render.resolution_x) == (before, None, 1920)
    shown = read_picture(path) / 255.0
    assert shown.shape[:2] == (PANEL_HEIGHT, len(PICTURED_QUANTITIES) * PANEL_WIDTH)
    seen = read_picture(SEEN.with_name("body.png"))
    np.testing.assert_allclose(255.0 * shown.reshape(95, 8, 195, 8, 3).mean(axis=(1, 3)), seen, atol=1.5)
    colour_body(bpy.context.scene, body, "mass")
    material = material_of(shapes_of(body)["torso"], "torso")
    wanted = linear_to_srgb(np.array(material.diffuse_color)[:3])
    near = np.abs(shown[:, :PANEL_WIDTH] - wanted).max(axis=2) < 1.5 / 255.0
    assert near.sum() > 500


def test_the_report_contains_a_picture_of_the_body(studied: bpy.types.Object, study: Path) -> None:
    """Open Report paints the body into the report once, in another Blender."""
    assert bpy.ops.exciting_dance.report() == {"FINISHED"}
    page, made = study / study_folder.REPORT_FILE, (study / study_folder.PICTURE_FILE).stat().st_mtime_ns
    assert page.read_text(encoding="utf-8").count("data:image/png;base64,") == 1
    assert bpy.ops.exciting_dance.report() == {"FINISHED"}
    assert page.read_text(encoding="utf-8").count("data:image/png;base64,") == 1
    assert (study / study_folder.PICTURE_FILE).stat().st_mtime_ns == made
