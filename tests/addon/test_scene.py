"""Results in the scene: bones, colours, legend, ellipsoids, recordings."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from addon.base.solver_api import SceneRecording
from addon.base.transaction import all_or_nothing
from addon.display import study
from addon.drawing import ellipsoids, legend
from addon.scene import action, colours, inertials, recording
from addon.scene.armature import shapes_of
from addon.scene.skin import material_of
from solver.base.errors import InputError, InvalidValue
from solver.scene.determined import DATA, MOMENT_KIND, DeterminedQuantity
from solver.scene.motion import scene_recording
from solver.scene.motion_record import MOTION, motion_record
from solver.scene.result import SceneResult, densities
from solver.scene.rig import write_rig
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Markers
from solver.values.wrenches import Wrenches
from tests.addon.scenes import build, random_motion


def found(rig: Rig, seed: int = 3) -> SceneResult:
    """A synthetic result with a changed mass of every link."""
    random = np.random.default_rng(seed)
    factors = random.uniform(0.7, 1.4, (len(rig.links), 1))
    determined = tuple(
        DeterminedQuantity(
            MOMENT_KIND, link, (link,), DATA, np.ones(3), np.full(3, random.uniform(0.1, 0.9)), np.ones(3)
        )
        for link in rig.links
    )
    parameters = InertialParameters(rig.links, rig.prior.values * factors)
    return SceneResult(
        parameters,
        rig.prior,
        np.abs(rig.prior.values) * 0.1,
        determined=determined,
        method="consistent",
        satisfies="pseudo-inertia",
        at_bounds=("head m",),
    )


def test_result_on_bones_is_exact(empty_scene: None, rig: Rig) -> None:
    """A result read from the bones is bit for bit the written one, also after saving."""
    body, result = build(rig), found(rig)
    inertials.write_inertials(body, result)
    again = inertials.read_inertials(body)
    assert np.array_equal(again.parameters.values, result.parameters.values)
    assert np.array_equal(again.prior.values, result.prior.values)
    assert np.array_equal(again.half_widths, result.half_widths)
    assert np.array_equal(([body.data.bones[link]["determined"] for link in rig.links]), result.determined_share)
    assert (again.method, again.at_bounds) == (result.method, result.at_bounds)


def test_edited_mass_is_read(empty_scene: None, person: Rig) -> None:
    """Editing a bone's mass changes the parameters of this link only."""
    body, result = build(person), found(person)
    inertials.write_inertials(body, result)
    body.data.bones["head"]["mass"] = 9.0
    again = inertials.read_inertials(body).parameters
    head = person.index("head")
    assert again.masses[head] == pytest.approx(9.0)
    assert np.allclose(again.coms[head], result.parameters.coms[head])
    others = np.arange(len(person.links)) != head
    assert np.array_equal(again.values[others], result.parameters.values[others])


def test_properties_have_units(empty_scene: None, person: Rig) -> None:
    """The description of every quantity has unit and frame."""
    body = build(person)
    inertials.write_inertials(body, found(person))
    bone = body.data.bones["left_thigh"]
    for name, unit in (("mass", "[kg]"), ("com", "[m]"), ("inertia", "[kg m²]"), ("interval_mass", "[kg]")):
        assert unit in bone.id_properties_ui(name).as_dict()["description"]
    assert bone["mass"] == pytest.approx(found(person).parameters.link("left_thigh")[0])


def test_equal_values_have_equal_colours_and_order_is_kept(empty_scene: None, person: Rig) -> None:
    """A heavier link is never darker, and links of equal mass have equal colours."""
    body = build(person)
    inertials.write_prior(body)
    shown = colours.colour_body(bpy.context.scene, body, "mass")
    lightness = {
        link: np.dot(material_of(shape, link).diffuse_color[:3], (0.2126, 0.7152, 0.0722))
        for link, shape in shapes_of(body).items()
    }
    order = sorted(lightness, key=lambda link: shown.values[link])
    assert all(lightness[a] <= lightness[b] + 1e-6 for a, b in pairwise(order))
    assert lightness["left_thigh"] == pytest.approx(lightness["right_thigh"])


@pytest.mark.parametrize("table", [colours.SEQUENTIAL_MAP, colours.DIVERGING_MAP[: 9 * 7 - 1], colours.FRACTION_MAP])
def test_colour_maps_have_even_steps(table: str) -> None:
    """The lightness (CIELAB) of a map is monotonic, with steps of similar size."""
    shares = np.linspace(0.0, 1.0, 9)
    linear = np.array([colours.srgb_to_linear(colours.interpolate_colour(table, share))[:3] for share in shares])
    steps = np.diff(116.0 * np.cbrt(np.maximum((linear @ (0.2126, 0.7152, 0.0722)), 0.00885)) - 16.0)
    assert (steps > 0).all() or (steps < 0).all()
    assert np.abs(steps).max() < 3.0 * np.abs(steps).min()


def test_no_change_is_the_middle_colour(empty_scene: None, person: Rig) -> None:
    """A link with the prior mass has the neutral colour, for any range."""
    body = build(person)
    inertials.write_prior(body)
    shown = colours.colour_body(bpy.context.scene, body, "change")
    assert shown.low == -shown.high
    neutral = colours.srgb_to_linear(colours.interpolate_colour(colours.DIVERGING_MAP, 0.5))
    for link, shape in shapes_of(body).items():
        assert np.allclose(material_of(shape, link).diffuse_color, neutral, atol=1e-6)


def test_density_is_mass_over_the_meshes_volume(empty_scene: None, person: Rig) -> None:
    """Density uses the volume of the drawn shapes (boxes are drawn with rounded edges)."""
    import bmesh

    from addon.base.meshes import build_mesh, shape_geometry
    from addon.scene.armature import rig_of

    body = build(person)
    described = rig_of(body)
    inertials.write_prior(body)
    for shape in described.shapes:
        if shape.kind in ("box", "mesh"):
            continue
        grid = bmesh.new()
        grid.from_mesh(build_mesh("volume", [shape_geometry(shape)]))
        assert grid.calc_volume(signed=True) == pytest.approx(shape.volume, rel=0.02)
        grid.free()
    assert np.isfinite(densities(InertialParameters(person.links, person.prior.values), described.volumes)).all()


def test_legend_has_range_and_unit(empty_scene: None, person: Rig) -> None:
    """The legend has the quantity, its unit and both ends of the range; removing it leaves nothing behind."""
    body = build(person)
    inertials.write_inertials(body, found(person))
    objects, materials = len(bpy.data.objects), len(bpy.data.materials)
    shown = colours.colour_body(bpy.context.scene, body, "mass")
    materials = len(bpy.data.materials)
    bar = legend.make_legend(bpy.context.scene.collection, shown)
    words = {child.data.body for child in bar.children}
    assert {"Mass, Split by Prior [kg]", f"{shown.low:.4g}", f"{shown.high:.4g}"} <= words
    assert shown.high >= max(shown.values.values())
    legend.remove_legend(bar)
    assert len(bpy.data.objects) == objects
    assert len(bpy.data.materials) == materials


def test_ellipsoids_are_added_and_removed(empty_scene: None, person: Rig) -> None:
    """A link with an impossible inertia has only a centre of mass and is named; removing restores the scene."""
    body = build(person)
    broken = person.prior.values.copy()
    broken[person.index("head"), 4] = 9.0  # one moment larger than the other two together
    inertials.write_inertials(body, SceneResult(InertialParameters(person.links, broken), person.prior))
    before = len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.materials)
    assert ellipsoids.make_ellipsoids(body, bpy.context.scene.collection) == ["head"]
    assert len(bpy.data.objects) == before[0] + 2 * len(person.links) - 1
    ellipsoids.remove_ellipsoids(body)
    assert (len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.materials)) == before


def shown_recording() -> SceneRecording:
    """Two markers, one with a gap, and a plate that is loaded half of the time."""
    times = np.arange(40) / 100.0
    positions = np.zeros((40, 2, 3))
    positions[:, 0] = times[:, None] * (1.0, 2.0, 3.0)
    positions[10:15, 1] = np.nan
    force = np.where(times[:, None] < 0.2, (30.0, 0.0, 600.0), (0.0, 0.0, 0.0))
    centre = np.array([0.2, -0.1, 0.0])
    values = np.concatenate([force, np.cross(centre, force)], axis=1)[:, None]
    return scene_recording(Markers(times, ("A", "B"), positions), Wrenches(times, ("plate",), values))


def test_markers_and_forces_are_at_their_measured_positions(empty_scene: None) -> None:
    """A marker is at its position and hidden in its gap; the arrow starts at the centre of pressure."""
    scene, measured = bpy.context.scene, shown_recording()
    action.set_frame_rate(scene, 100.0)
    recording.add_recording(bpy.context, measured, "trial")
    scene.frame_set(13)
    assert np.allclose(bpy.data.objects["A"].location, measured.positions[12, 0], atol=1e-6)
    assert bpy.data.objects["B"].hide_viewport
    arrow = bpy.data.objects["trial plate"]
    tip = np.array(arrow.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world @ Vector((0.0, 0.0, 1.0)))
    assert np.allclose(tip - (0.2, -0.1, 0.0), measured.forces[12, 0] * recording.METRES_PER_NEWTON, atol=1e-5)
    scene.frame_set(30)
    assert arrow.hide_viewport


def test_segments_of_a_skeleton_connect_its_joints(empty_scene: None) -> None:
    """A segment reaches from its parent's joint to its own in every frame; markers have none."""
    measured, scene = shown_recording(), bpy.context.scene
    recording.add_recording(bpy.context, replace(measured, parents=(1, -1)), "walk")
    scene.frame_set(20)
    evaluated = bpy.data.objects["B to A"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    for along, joint in enumerate("BA"):
        end = evaluated.matrix_world @ Vector((0.0, float(along), 0.0))
        assert np.allclose(end, bpy.data.objects[joint].location, atol=1e-5)
    with pytest.raises(InvalidValue, match="parents"):
        replace(measured, parents=(2, -1))


def test_failed_change_leaves_the_scene_unchanged(empty_scene: None, person: Rig) -> None:
    """When the block raises an error, all data-blocks that it added are removed."""
    before = len(bpy.data.objects), len(bpy.data.armatures), len(bpy.data.meshes)

    def fail() -> None:
        with all_or_nothing():
            build(person)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (len(bpy.data.objects), len(bpy.data.armatures), len(bpy.data.meshes)) == before


def test_a_study_without_a_result_shows_the_prior(empty_scene: None, tmp_path: Path, person: Rig) -> None:
    """A tracked folder gives a moving, coloured armature; a missing rig is one clear error."""
    write_rig(tmp_path / "rig.json", person)
    MOTION.write(tmp_path / "walk.motion.npz", motion_record("walk", person, random_motion(person)))
    body = study.show_study(bpy.context, study.read_study(tmp_path))
    assert body.animation_data.action.name == "walk"
    assert body.data.bones["head"]["mass"] == pytest.approx(person.prior.link("head")[0])
    assert body[colours.COLOUR_KEY] == "mass"
    with pytest.raises(InputError, match=r"rig\.json"):
        study.read_study(_empty(tmp_path))


def _empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"
