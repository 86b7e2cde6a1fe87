"""The legend applies to all visible rigs, and the cost of a redraw does not grow with the rigs."""

from __future__ import annotations

from functools import partial

import bpy
import numpy as np
import pytest

from addon.display.overlays import named_legend
from addon.scene import inertials
from addon.scene.armature import rig_of, shapes_of
from addon.scene.colours import QUANTITIES, colour_body, interpolate_colour, read_legend, srgb_to_linear
from addon.scene.skin import material_of
from solver.rigs import hoap3, human
from solver.skeleton.rig import Rig
from tests.addon.scenes import build
from tests.addon.test_posture_cache import calls


def weighed(rig: Rig) -> bpy.types.Object:
    """A rig's armature beside the others, with its prior on the bones."""
    body = build(rig)
    inertials.write_prior(body)
    return body


def masses_in_colour(body: bpy.types.Object) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By link, its colour, and the legend's colour of its mass."""
    shown, rig = read_legend(body), rig_of(body)
    assert shown is not None
    found = {}
    for link, shape in shapes_of(body).items():
        share = (rig.masses[rig.index(link)] - shown.low) / (shown.high - shown.low)
        colour = material_of(shape, link).diffuse_color
        found[link] = np.array(colour), np.array(srgb_to_linear(interpolate_colour(shown.colour_map, share)))
    return found


def test_one_legend_applies_to_all_visible_rigs(empty_scene: None) -> None:
    """A robot and a person have one legend that gives the mass of each link's colour, whichever is added later.
    Choosing another quantity for one changes the other too.
    """
    scene = bpy.context.scene
    person, robot = weighed(human(1.75, 70.0, "male")), weighed(hoap3())
    alone = colour_body(scene, robot, "mass")
    colour_body(scene, person, "mass")
    assert read_legend(person) == read_legend(robot)
    assert read_legend(robot).high > 5.0 * alone.high
    for body in (person, robot):
        for painted, meant in masses_in_colour(body).values():
            assert np.allclose(painted, meant, atol=1e-6)
    colour_body(scene, robot, "change")
    assert read_legend(person) == read_legend(robot)
    assert read_legend(person).title == "Mass Change, Split by Prior [%]"
    assert named_legend(scene, person) == read_legend(person)


def test_a_rig_without_the_quantity_is_grey(empty_scene: None) -> None:
    """If a rig is coloured by excitation, a visible rig without excitation scores is grey."""
    scene = bpy.context.scene
    person, robot = weighed(human(1.75, 70.0, "male")), weighed(hoap3())
    colour_body(scene, person, "mass")
    for bone in robot.data.bones:
        bone["excitation"] = 100.0
    colour_body(scene, robot, "excitation")
    colours = [np.array(material_of(shape, link).diffuse_color) for link, shape in shapes_of(person).items()]
    assert np.ptp(np.array(colours)[:, :3], axis=1).max() < 0.01
    assert read_legend(person) == read_legend(robot)


def test_different_legends_name_their_rigs(empty_scene: None) -> None:
    """A rig that was hidden keeps its colours; when it is visible again, each legend names its rig."""
    scene = bpy.context.scene
    person, robot = weighed(human(1.75, 70.0, "male")), weighed(hoap3())
    colour_body(scene, person, "mass")
    person.hide_set(True)
    colour_body(scene, robot, "mass")
    assert named_legend(scene, robot) == read_legend(robot)
    person.hide_set(False)
    assert read_legend(person) != read_legend(robot)
    for body in (person, robot):
        assert named_legend(scene, body).title == f"{body.name}: Mass, Split by Prior [kg]"
        for painted, meant in masses_in_colour(body).values():
            assert np.allclose(painted, meant, atol=1e-6)


def test_legend_follows_the_colours_and_not_the_bones(empty_scene: None) -> None:
    """An edited mass changes the legend when it changes the colours, not before."""
    scene, body = bpy.context.scene, weighed(hoap3())
    colour_body(scene, body, "mass")
    before = read_legend(body)
    body.data.bones["chest"]["mass"] = 30.0
    assert read_legend(body) == before
    colour_body(scene, body, "mass")
    assert read_legend(body).high >= 30.0


@pytest.mark.parametrize("quantity", ["mass", "determined"])
def test_redraw_of_the_legend_does_not_depend_on_the_rig(empty_scene: None, quantity: str) -> None:
    """A redraw reads neither inertial parameters nor the colour map, and does not grow with the number of links."""
    found = []
    for rig in (hoap3(), human(1.75, 70.0, "male", shoulders="girdle", trunk="three")):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene, body = bpy.context.scene, weighed(rig)
        colour_body(scene, body, quantity)
        found.append(calls(partial(named_legend, scene, body)))
    assert found[0] == found[1]
    assert found[0]["read_legend"] == 1
    assert not found[0]["read_inertials"] + found[0]["_current_parameters"] + found[0]["colour_stops"]
    assert QUANTITIES[quantity].colour_map == read_legend(body).colour_map
