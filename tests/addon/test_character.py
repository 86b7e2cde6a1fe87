"""Laws of an animator's own character as a rig."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from addon.authoring.pose_sampling import evaluated_links, needs_frame_stepping
from addon.authoring.timeline import sample_timeline
from addon.base import meshes
from addon.scene import action, armature, character, inertials
from addon.scene.colours import clear_colours, colour_body, shown_quantity
from addon.scene.pose_writer import PoseWriter
from addon.scene.skin import has_link_materials, material_of
from solver.base import errors
from solver.character.rig import build_character_rig
from solver.dynamics import link_poses
from solver.scene.motion import scene_motion
from tests.addon.characters import add_character
from tests.addon.scenes import build, random_motion
from tests.character.synthetic import make_character
from tests.tracking.test_retargeting import person, squat

MASS = 62.0
SINGLE = 5e-6
"""[m] Blender stores poses in single precision."""


@pytest.fixture
def dancer(registered: None) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Armature and mesh of a character with Mixamo's names."""
    return add_character(make_character("Mixamo", spacing=0.04))


def use(body: bpy.types.Object, **values: object) -> None:
    """Make a character a rig as its button does."""
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.exciting_dance.use_character(mass=MASS, **values) == {"FINISHED"}


def attach(body: bpy.types.Object) -> None:
    """Make a character a rig, in this process."""
    bpy.context.view_layer.objects.active = body
    built = build_character_rig(character.read_character(bpy.context, body), MASS)
    character.attach_rig(bpy.context, body, built.rig)
    inertials.write_prior(body)


def test_button_makes_the_selected_mesh_a_rig(dancer: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Use Character on the mesh makes its armature a rig of the stated mass, coloured by mass."""
    body, mesh = dancer
    use(mesh)
    rig = armature.rig_of(body)
    assert inertials.total_mass(body) == pytest.approx(MASS, rel=1e-6)
    assert armature.count_links(body) == len(rig.links) < len(body.data.bones)
    assert shown_quantity(body) == "mass"
    assert armature.shape_objects(body) == [mesh]


def test_button_retargets_a_motion_to_a_character(dancer: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Retarget keys a person's squat on the character's own bones, over the same time, with its soles planted."""
    body, settings = dancer[0], bpy.context.scene.exciting_dance
    attach(body)
    action.set_frame_rate(bpy.context.scene, 50.0)
    leader = build(person())
    action.add_motion_action(bpy.context.scene, leader, scene_motion(person(), squat(person(), seconds=1.0)), "squat")
    bpy.context.view_layer.objects.active = leader
    settings.follower, settings.follow_repaired = body, False
    assert bpy.ops.exciting_dance.retarget() == {"FINISHED"}
    got = sample_timeline(bpy.context.scene, body, 1.0, 51.0)
    assert np.ptp(got.times) == pytest.approx(1.0)
    assert np.ptp(got.root[:, 2]) > 0.05
    assert {strip.patch for strip in got.strips} == {sole.name for sole in armature.rig_of(body).soles}


def test_blender_gives_the_character_that_was_built(dancer: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Bones, surface and weights are read as they were written."""
    body, _ = dancer
    expected, found = make_character("Mixamo", spacing=0.04), character.read_character(bpy.context, body)
    assert set(found.bones) == set(expected.bones)
    order = [found.bones.index(bone) for bone in expected.bones]
    assert np.allclose(found.heads[order], expected.heads, atol=SINGLE)
    assert np.allclose(found.vertices, expected.vertices, atol=SINGLE)
    assert len(found.triangles) == len(expected.triangles)
    assert found.weights.sum() == pytest.approx(expected.weights.sum())


def test_toes_stay_level_while_the_heel_rises(dancer: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """The bones of the toes, which are no links, turn back what the foot is pitched."""
    body, _ = dancer
    attach(body)
    foot, toe = (body.pose.bones[f"mixamorig:Left{name}"] for name in ("Foot", "ToeBase"))
    foot.matrix_basis = Matrix.Rotation(0.4, 4, foot.bone.matrix_local.to_3x3().inverted() @ Vector((1.0, 0.0, 0.0)))
    bpy.context.view_layer.update()
    assert foot.tail.z < foot.bone.tail_local.z - 0.03
    assert toe.tail.z - toe.head.z == pytest.approx(toe.bone.tail_local.z - toe.bone.head_local.z, abs=1e-5)


def test_written_motion_is_what_blender_shows(dancer: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """A motion of the rig, keyed on the character's bones, moves the links as the dynamics say, and is read back."""
    body, _ = dancer
    body.location, body.rotation_euler = (0.4, -0.3, 0.0), (0.0, 0.0, 0.7)
    attach(body)
    rig = armature.rig_of(body)
    bpy.context.scene.render.fps = 24
    motion = replace(random_motion(rig, frames=4), times=np.arange(4) / 24.0)
    action.add_motion_action(bpy.context.scene, body, scene_motion(rig, motion), "random")
    world = np.array(body.matrix_world)
    for frame in (1, 3):
        bpy.context.scene.frame_set(frame)
        rotations, origins = evaluated_links(bpy.context.evaluated_depsgraph_get(), body, rig)
        expected_rotations, expected_origins = link_poses(rig, motion.q[frame - 1])
        assert np.allclose(origins, expected_origins @ world[:3, :3].T + world[:3, 3], atol=2e-5)
        assert np.allclose(rotations, world[:3, :3] @ expected_rotations, atol=2e-5)
    assert not needs_frame_stepping(body)


def test_own_materials_return(dancer: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Colours use a copy of the mesh; one operator shows the own mesh and materials again and leaves nothing behind."""
    body, mesh = dancer
    slot = mesh.material_slots[1]
    slot.link = "OBJECT"
    slot.material = bpy.data.materials.new("Own")
    attach(body)
    before = (mesh.data.name, [s.material.name for s in mesh.material_slots], [s.link for s in mesh.material_slots])
    names = {store: {item.name for item in getattr(bpy.data, store)} for store in ("meshes", "materials")}
    indices = [polygon.material_index for polygon in mesh.data.polygons]
    colour_body(bpy.context.scene, body, "mass")
    rig = armature.rig_of(body)
    assert has_link_materials(mesh)
    assert len({material_of(mesh, link) for link in rig.links}) == len(rig.links)
    assert {rig.links[polygon.material_index] for polygon in mesh.data.polygons} == set(rig.links)
    assert bpy.ops.exciting_dance.restore_materials() == {"FINISHED"}
    after = (mesh.data.name, [s.material.name for s in mesh.material_slots], [s.link for s in mesh.material_slots])
    assert after == before
    assert [polygon.material_index for polygon in mesh.data.polygons] == indices
    assert {store: {item.name for item in getattr(bpy.data, store)} for store in names} == names
    assert shown_quantity(body) == ""
    colour_body(bpy.context.scene, body, "mass")
    clear_colours(body)
    assert not has_link_materials(mesh)


@pytest.mark.parametrize("of_bone", [False, True])
def test_scaled_and_tilted_armature_is_applied(
    dancer: tuple[bpy.types.Object, bpy.types.Object], of_bone: bool
) -> None:
    """An armature of centimetres with y up, as from FBX, gives the same rig, and nothing moves in the world; also if
    its root bone is scaled instead of the object, as from glTF."""
    body, mesh = dancer
    expected = build_character_rig(character.read_character(bpy.context, body), MASS).rig
    to_fbx = np.diag([100.0, 100.0, 100.0, 1.0]) @ np.array(
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )
    from mathutils import Matrix

    body.data.transform(Matrix(to_fbx.tolist()))
    mesh.data.transform(Matrix(to_fbx.tolist()))
    body.rotation_euler, body.location, hips = (np.pi / 2, 0.0, 0.0), (0.5, 0.2, 0.0), body.pose.bones["mixamorig:Hips"]
    (hips if of_bone else body).scale = (0.01,) * 3
    hips.keyframe_insert("scale", frame=1)
    hips.location = (10.0, 0.0, 5.0)
    hips.keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    before = shown_vertices(mesh)
    attach(body)
    bpy.context.view_layer.update()
    assert np.allclose(shown_vertices(mesh), before, atol=1e-5)
    bpy.context.scene.frame_set(1)
    assert np.allclose(shown_vertices(mesh), before, atol=1e-5)
    found = armature.rig_of(body)
    assert np.allclose(body.scale, 1.0)
    assert np.allclose(found.rest[1], expected.rest[1], atol=1e-5)
    assert np.allclose(found.prior.masses, expected.prior.masses, atol=0.01)
    armature.bone_axes(body, found)


def shown_vertices(mesh: bpy.types.Object) -> np.ndarray:
    """Vertices (V, 3) [m] of a mesh object in the world, deformed."""
    shown = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world = np.array(shown.matrix_world)
    return np.array([vertex.co for vertex in shown.data.vertices]) @ world[:3, :3].T + world[:3, 3]


def test_unusable_characters_are_refused(dancer: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Two armatures, uneven or negative scale, a scaled bone, and missing weights each end in one error; the scene
    stays as it was.
    """
    body, mesh = dancer
    other = bpy.data.objects.new("Other", bpy.data.armatures.new("Other"))
    bpy.context.scene.collection.objects.link(other)
    second = mesh.modifiers.new("Second", "ARMATURE")
    second.object = other
    bpy.context.view_layer.objects.active = mesh
    refuse("deformed by several armatures")
    bpy.context.view_layer.objects.active = body
    refuse("is deformed by .* and by Other")
    mesh.modifiers.remove(second)
    body.scale = (1.0, 1.2, 1.0)
    bpy.context.view_layer.update()
    refuse("scaled unevenly")
    body.scale = (-1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    refuse("is mirrored")
    body.scale = (1.0, 1.0, 1.0)
    body.pose.bones["mixamorig:LeftArm"].scale = (1.3, 1.3, 1.3)
    bpy.context.view_layer.update()
    refuse("LeftArm is scaled")
    body.pose.bones["mixamorig:LeftArm"].scale = (1.0, 1.0, 1.0)
    mesh.vertex_groups.clear()
    refuse("have weights of bones")


def refuse(problem: str) -> None:
    """Use Character reports a problem and changes nothing."""
    names = {store: {item.name for item in getattr(bpy.data, store)} for store in ("meshes", "materials", "objects")}
    with pytest.raises(RuntimeError, match=problem):
        bpy.ops.exciting_dance.use_character(mass=MASS)
    assert {store: {item.name for item in getattr(bpy.data, store)} for store in names} == names
    assert not any("exciting_dance_rig" in data for data in bpy.data.armatures)


def test_what_moves_bones_otherwise_is_sampled_and_never_overwritten(
    dancer: tuple[bpy.types.Object, bpy.types.Object],
) -> None:
    """A constraint on a link is seen in the motion, and writing poses is refused with the bone's name."""
    body, _ = dancer
    attach(body)
    rig = armature.rig_of(body)
    constraint = body.pose.bones["mixamorig:LeftForeArm"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = body, "mixamorig:RightForeArm"
    body.pose.bones["mixamorig:RightForeArm"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert needs_frame_stepping(body)
    assert abs(sample_timeline(bpy.context.scene, body).rotations[0, rig.index("mixamorig:LeftForeArm"), 3]) < 0.95
    with pytest.raises(errors.InvalidValue, match="LeftForeArm follows the constraint"):
        PoseWriter(body)


def test_all_meshes_of_a_character_show_its_links(dancer: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    """Eyes that are fixed to a bone and clothes without a parent follow the rig, take colours and give them back."""
    body, mesh = dancer
    eye = bpy.data.objects.new("Eye", meshes.sphere_mesh("Eye", 0.02))
    bpy.context.scene.collection.objects.link(eye)
    eye.parent, eye.parent_type, eye.parent_bone = body, "BONE", "mixamorig:Head"
    skirt = mesh.copy()
    skirt.name, skirt.data, skirt.parent = "Skirt", mesh.data.copy(), None
    bpy.context.scene.collection.objects.link(skirt)
    bpy.context.view_layer.update()
    places = [np.array(item.matrix_world) for item in (eye, skirt)]
    own_meshes = [item.data.name for item in (mesh, eye, skirt)]
    attach(body)
    bpy.context.view_layer.update()
    assert set(armature.shape_objects(body)) == {mesh, eye, skirt}
    assert np.allclose([np.array(item.matrix_world) for item in (eye, skirt)], places, atol=1e-6)
    colour_body(bpy.context.scene, body, "mass")
    head = material_of(eye, "mixamorig:Head")
    assert np.allclose(head.diffuse_color, material_of(mesh, "mixamorig:Head").diffuse_color)
    links = armature.rig_of(body).links
    assert {links[polygon.material_index] for polygon in eye.data.polygons} == {"mixamorig:Head"}
    clear_colours(body)
    assert [item.data.name for item in (mesh, eye, skirt)] == own_meshes
