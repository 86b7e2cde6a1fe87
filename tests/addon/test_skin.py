"""The person's skin follows its bones, and each face has the colour of its link."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.authoring import ghost
from addon.live.link_highlights import read_faces, read_part, read_vertices
from addon.scene import action, armature, inertials
from addon.scene.colours import colour_body, interpolate_colour, srgb_to_linear
from addon.scene.skin import SOFT_COLOURS, is_skin, material_of, slot_index, soften_borders
from benchmarks.figures.body import skin_vertices
from solver.contacts.rolling import TOE_BEND, RollingSole
from solver.rigs import hoap3, human
from solver.scene import body_mesh
from solver.scene.motion import scene_motion
from solver.skeleton.rig import Rig
from tests.addon.scenes import build, random_motion
from tests.addon.test_armature import link_frames
from tests.scene.body_shapes import arrays_of, tiny_shapes

SINGLE = 2e-5
"""[m] Blender stores vertices and poses in single precision."""
WEIGHT_STEP = 3e-3
"""[m] Blender's weights are rounded to 1 / 255."""


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_scene: None) -> Rig:
    """A person whose stored shapes are prisms."""
    path = tmp_path / "body_mesh.npz"
    np.savez_compressed(path, **arrays_of(tiny_shapes()))
    monkeypatch.setattr(body_mesh, "ASSET", path)
    return human(1.7, 70.0, "female", trunk="three", shoulders="girdle")


def vertices_of(item: bpy.types.Object) -> np.ndarray:
    """Vertices (V, 3) [m] in the world at the current frame."""
    shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.array([vertex.co for vertex in shown.data.vertices])
    matrix = np.array(shown.matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def not_toes(rig: Rig, fitted: body_mesh.BodyMesh) -> np.ndarray:
    """(V,) True for vertices that bending toes do not move."""
    return np.all([bent == fitted.vertices for bent in body_mesh.bend_toes(rig, fitted).values()], axis=(0, 2))


def test_skin_follows_the_bones(person: Rig) -> None:
    """The armature moves every vertex of a single link as the link's frame moves, at rest and in motion; at rest the
    skin is the fitted mesh with its soles on the floor. Toes bend by the rise of the heel, at most by `TOE_BEND`.
    """
    body = build(person)
    (skin,) = armature.shape_objects(body)
    fitted, rest = body_mesh.fit_body_mesh(person), person.rest[1]
    own = fitted.weights.argmax(axis=1)
    assert is_skin(skin)
    assert abs(vertices_of(skin)[:, 2].min()) < 1e-3
    action.add_motion_action(bpy.context.scene, body, scene_motion(person, random_motion(person)), "random")
    single = (fitted.weights.max(axis=1) > 0.999) & not_toes(person, fitted)
    assert single.sum() > 500
    for frame in (1, 2):
        bpy.context.scene.frame_set(frame)
        frames = link_frames(body, person)[own]
        expected = np.einsum("vij,vj->vi", frames[:, :3, :3], fitted.vertices - rest[own]) + frames[:, :3, 3]
        assert np.abs(vertices_of(skin) - expected)[single].max() < SINGLE
        for sole in person.soles:
            turned = link_frames(body, person)[[person.index(sole.link)], :3, :3]
            bend = np.clip(-RollingSole.of(person, sole.name).pitch(turned)[0], 0.0, TOE_BEND) / TOE_BEND
            assert skin.data.shape_keys.key_blocks[f"{sole.link} toes"].value == pytest.approx(bend, abs=1e-4)


def test_benchmarks_skin_as_blender_does(person: Rig) -> None:
    """The skinning that the benchmarks measure puts every vertex where Blender's modifiers put it."""
    body = build(person)
    (skin,) = armature.shape_objects(body)
    motion = random_motion(person)
    motion = replace(motion, q=motion.q[::-1])  # the first frame is the most bent one
    action.add_motion_action(bpy.context.scene, body, scene_motion(person, motion), "random")
    bpy.context.scene.frame_set(1)
    fitted = body_mesh.fit_body_mesh(person)
    expected = skin_vertices(fitted, person, motion.q[0])
    assert np.abs(vertices_of(skin) - expected)[not_toes(person, fitted)].max() < WEIGHT_STEP


def test_faces_have_the_colours_of_their_links(person: Rig) -> None:
    """Every face of the skin has the legend's colour of its link's mass, and no link shares its material."""
    body = build(person)
    inertials.write_prior(body)
    shown = colour_body(bpy.context.scene, body, "mass")
    (skin,) = armature.shape_objects(body)
    face_links = body_mesh.fit_body_mesh(person).face_links
    assert [polygon.material_index for polygon in skin.data.polygons] == face_links.tolist()
    assert len({material_of(skin, link) for link in person.links}) == len(person.links)
    for link in person.links:
        assert skin.material_slots[slot_index(skin, link)].material == material_of(skin, link)
        share = (shown.values[link] - shown.low) / (shown.high - shown.low)
        expected = srgb_to_linear(interpolate_colour(shown.definition.colour_map, share))
        assert np.allclose(material_of(skin, link).diffuse_color, expected, atol=1e-6)


def test_soft_borders_blend_colours_by_weights(person: Rig) -> None:
    """Soft colours are the links' colours times the weights at each vertex, follow the quantity, and reach the shader;
    sharp borders undo this.
    """
    body = build(person)
    inertials.write_prior(body)
    (skin,) = armature.shape_objects(body)
    soften_borders([body], True)
    for quantity in ("mass", "density"):
        colour_body(bpy.context.scene, body, quantity)
        colours = np.array([material_of(skin, link).diffuse_color for link in person.links])
        found = np.array([entry.color for entry in skin.data.color_attributes[SOFT_COLOURS].data])
        assert np.allclose(found, body_mesh.fit_body_mesh(person).weights @ colours, atol=5e-3)
    bases = [material_of(skin, link).node_tree.nodes["Principled BSDF"].inputs["Base Color"] for link in person.links]
    assert all(base.is_linked for base in bases)
    soften_borders([body], False)
    assert not any(base.is_linked for base in bases)


def test_each_link_is_highlighted_alone(person: Rig) -> None:
    """The triangles of all links together are those of the skin, each once, on the vertices of the skin."""
    (skin,) = armature.shape_objects(build(person))
    positions = read_vertices(skin.data)
    whole, parts = [], [read_part(skin.data, slot_index(skin, link)) for link in person.links]
    for faces in parts:
        whole += [tuple(row) for row in faces.tolist()]
    assert len(set(whole)) == len(whole) == len(read_faces(skin.data))
    head = positions[np.unique(parts[person.index("head")])]
    assert head[:, 2].min() > person.rest[1][person.index("head"), 2] + person.standing_height - 0.05


def test_ghost_has_its_own_skin(person: Rig) -> None:
    """The copy of a skin is deformed by the ghost's bones, not by the body's."""
    body = build(person)
    (skin,) = armature.shape_objects(body)
    double = ghost._static_copy(body)
    collection = bpy.context.scene.collection
    collection.objects.link(double)
    ghost._copy_shape(skin, double, collection, 0.0)
    (copied,) = armature.shape_objects(double)
    before = vertices_of(copied)
    body.pose.bones["right_forearm"].rotation_euler[0] = 1.0
    bpy.context.view_layer.update()
    assert np.abs(vertices_of(copied) - before).max() < SINGLE
    assert np.abs(vertices_of(skin) - before).max() > 0.1


def test_without_shapes_a_person_keeps_its_capsules(person: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the stored shapes are missing, and for robots, every link has a mesh of its own."""
    assert not any(is_skin(item) for item in armature.shape_objects(build(hoap3())))
    monkeypatch.setattr(body_mesh, "ASSET", Path("missing.npz"))
    body = build(person)
    shown = {shape.link for shape in person.shapes}
    assert set(armature.shapes_of(body)) == shown
    assert len(armature.shape_objects(body)) == len(shown)
