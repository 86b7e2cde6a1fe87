"""Design, Check, Balance and Live Check use the identified inertial parameters of a rig."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.authoring import keying, timeline
from addon.display.study import FLIGHT_MARKERS, OpenedStudy, show_study
from addon.jobs.job_messages import find_message
from addon.scene import armature, inertials
from addon.scene.colours import compute_colouring
from solver.base.errors import InvalidValue
from solver.dance.workflows.loading import load_dance
from solver.rigs import hoap3, human
from solver.scene.determined import DATA, MASS_KIND, MOMENT_KIND, SHAPE, DeterminedQuantity
from solver.scene.motion import scene_motion
from solver.scene.result import SceneResult
from solver.scene.timeline import TIMELINE
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from tests.addon.scenes import build


def identified(body: bpy.types.Object, rig: Rig, mass: float) -> InertialParameters:
    """Write another mass, distributed differently, to a body's bones, as an identification does."""
    generator = np.random.default_rng(3)
    values = rig.prior.values * generator.uniform(0.8, 1.25, (len(rig.links), 1))
    found = replace(rig.prior, values=values).scaled(mass)
    inertials.write_inertials(body, SceneResult(found, rig.prior, method="a test"))
    return found


def test_rig_has_the_mass_of_its_bones(own: Path) -> None:
    """A rig has its prior mass until another one is identified or edited."""
    rig = human(1.75, 70.0, "male")
    body = build(rig)
    assert inertials.total_mass(body) is None
    inertials.write_prior(body)
    assert inertials.total_mass(body) == pytest.approx(70.0)
    identified(body, rig, 60.0)
    assert inertials.total_mass(body) == pytest.approx(60.0)
    bone = body.data.bones["left_foot"]
    bone["mass"] += 1.5
    assert inertials.total_mass(body) == pytest.approx(61.5)
    bone["mass"] = "heavy"
    assert inertials.total_mass(body) is None


def keyed(body: bpy.types.Object) -> None:
    """Key three postures on both feet, with an arm raised and lowered."""
    scene = bpy.context.scene
    scene.render.fps = 20
    for frame, angle in ((1, 0.0), (6, 0.1), (11, 0.0)):
        scene.frame_set(frame)
        bone = body.pose.bones["left_upper_arm"]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler.x = angle
        keying.key_posture(scene, body, "preferred")
    scene.frame_set(1)
    keying.key_contacts(scene, body, dict.fromkeys(armature.rig_of(body).patches, "sole"))


def test_jobs_get_the_identified_body(own: Path, tmp_path: Path) -> None:
    """For a person with 70 kg in the prior and 84 kg identified, the input of every job is the rig of 84 kg."""
    rig = human(1.75, 70.0, "male")
    body = build(rig)
    keyed(body)
    wanted = rig.with_prior(identified(body, rig, 84.0))
    sampled = timeline.sample_timeline(bpy.context.scene, body)
    path = TIMELINE.write(tmp_path / "dance.timeline.npz", sampled)
    assert sampled.rig.differences(wanted) == ()
    loaded = load_dance(path)
    assert loaded.rig.differences(wanted) == ()
    assert loaded.rig.prior.total_mass == pytest.approx(84.0, rel=1e-12)
    assert loaded.rig.weight == pytest.approx(84.0 * 9.81, rel=1e-12)
    assert armature.rig_of(body).differences(rig) == ()


def test_check_uses_the_identified_mass(own: Path, tmp_path: Path) -> None:
    """HOAP-3 can hold a posture; with thirty times its mass it cannot, and Check reports it."""
    rig = hoap3()
    body = build(rig)
    keyed(body)
    assert bpy.ops.exciting_dance.check_dance() == {"FINISHED"}
    assert find_message(bpy.context.scene, body, "dance").verdict == "good"
    inertials.write_inertials(body, SceneResult(rig.prior.scaled(30.0 * rig.prior.total_mass), rig.prior))
    assert bpy.ops.exciting_dance.check_dance() == {"FINISHED"}
    assert find_message(bpy.context.scene, body, "dance").verdict == "bad"


def test_a_body_without_a_result_is_its_rig(own: Path) -> None:
    """With the prior or nothing on its bones, a body is exactly the rig that it was built from."""
    rig = hoap3()
    body = build(rig)
    assert inertials.rig_with_inertials(body) == rig
    inertials.write_prior(body)
    assert inertials.rig_with_inertials(body) == rig


def test_edited_mass_is_used(own: Path) -> None:
    """An edited mass of a bone is used; a physically impossible one is an error that names the bone."""
    rig = hoap3()
    body = build(rig)
    inertials.write_prior(body)
    body.data.bones["chest"]["mass"] = 5.0
    assert inertials.rig_with_inertials(body).masses[rig.index("chest")] == 5.0
    assert timeline.sample_timeline(bpy.context.scene, body, 1, 2).rig.masses[rig.index("chest")] == 5.0
    body.data.bones["chest"]["mass"] = -1.0
    with pytest.raises(InvalidValue, match="chest"):
        inertials.rig_with_inertials(body)


def test_flights_used_for_identification_are_marked(own: Path, tmp_path: Path) -> None:
    """Take-off and landing of the trial's own flights are marked at the scene's frames."""
    rig = hoap3()
    times = np.arange(101) / 100.0
    still = Motion(times, np.repeat(rig.neutral[None], 101, 0), np.zeros((101, rig.nv)), np.zeros((101, rig.nv)))
    seen = {"used": [["jump", 0.3, 0.7]], "short": [["other", 0.1, 0.2]]}
    result = SceneResult(rig.prior, rig.prior, method="a test", details={"from_flight": seen})
    body = show_study(bpy.context, OpenedStudy(tmp_path, rig, result, {"jump": scene_motion(rig, still)}))
    marks = {marker.name: marker.frame for marker in body.animation_data.action.pose_markers}
    assert marks == dict(zip(FLIGHT_MARKERS, (31, 71), strict=True))


def test_legends_name_the_class_of_what_they_show(own: Path) -> None:
    """First moments are the data's, limbs the data's with the prior's shape, single masses split by the prior; links
    without a value are unknown."""
    rig = hoap3()
    body, first = build(rig), rig.links[0]
    moment = DeterminedQuantity(MOMENT_KIND, first, (first,), DATA, np.ones(3), np.full(3, 0.6), np.ones(3))
    limb = DeterminedQuantity(MASS_KIND, "some", rig.links[1:3], SHAPE, *np.array([[3.0], [0.5], [1.0]]))
    for alone in (False, True):
        details: dict[str, object] = {"summary": ["a doubt"], **({"from_flight": {"used": []}} if alone else {})}
        result = SceneResult(
            rig.prior, rig.prior, determined=(moment, limb), method="a test", satisfies="none", details=details
        )
        inertials.write_inertials(body, result)
        first_line, *others = inertials.describe_result(body)
        assert ("from flight only" in first_line, others) == (alone, ["a doubt", "A mass or inertia is negative"])
    shown = {name: compute_colouring(body, name) for name in ("determined", "limb_mass", "mass")}
    assert shown["determined"].values[first] == pytest.approx(64.0)
    assert np.isnan(shown["determined"].values[rig.links[1]])
    assert shown["limb_mass"].values[rig.links[2]] == pytest.approx(3.0)
    titles = ("First Moment by Data [%]", "Limb Mass, by Data and Shape [kg]", "Mass, Split by Prior [kg]")
    assert tuple(each.title for each in shown.values()) == titles
