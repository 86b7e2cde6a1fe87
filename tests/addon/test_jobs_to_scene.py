"""Study operators from the button to the scene, with real child processes; a failure leaves nothing behind."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

import solver
from addon import registration
from addon.base.option_fields import labelled
from addon.base.solver_api import RESULT, study_folder
from addon.base.transaction import all_or_nothing
from addon.display import study
from addon.display.study import show_study, study_folder_of
from addon.interface import command
from addon.jobs.job_messages import find_message
from addon.operators.identify import EXCITING_DANCE_OT_identify, EXCITING_DANCE_OT_track
from addon.scene.colours import COLOUR_KEY
from addon.scene.inertials import read_inertials
from solver.cli import OK, main, parser
from solver.cli.argument_types import given
from solver.demo.examples import simulated_robot
from solver.demo.person import HEIGHT, SEX, record_person, simulate_person
from solver.formats.urdf_writer import write_urdf
from solver.options.study import CohortOptions
from solver.scene.rig import write_rig
from solver.skeleton.rig import Rig
from solver.study.provenance import PROVENANCE
from tests.addon.scenes import build, fingerprint
from tests.rigs.opensim_files import EVERY_JOINT

SEED, FRAMES = 4, 400
"""Of the simulation: 3 s of standing and 2 s of dancing at 200 Hz."""


def subject(files: list[Path], height: float, sex: str) -> None:
    """Set the fields of the panel."""
    settings = bpy.context.scene.exciting_dance
    settings.height, settings.sex = height, sex
    for file in files:
        settings.files.add().path = str(file)


@pytest.mark.parametrize("kind", ["human", "hoap3", "hrp2"])
def test_add_rig_builds_the_body_and_leaves_no_files(own: Path, kind: str) -> None:
    """The button adds an armature with the right total mass, and the job's folder is removed."""
    settings = bpy.context.scene.exciting_dance
    settings.height, settings.mass, settings.sex = 1.62, 58.5, "female"
    assert bpy.ops.exciting_dance.import_rig(kind=kind) == {"FINISHED"}
    body = bpy.context.view_layer.objects.active
    total = sum(bone["mass"] for bone in body.data.bones)
    assert total == pytest.approx({"human": 58.5, "hoap3": 8.9, "hrp2": 58.0}[kind], rel=0.05)
    assert list(own.iterdir()) == []


@pytest.mark.parametrize(("scale", "stated"), [(1.0, False), (0.01, True)])
def test_another_unit_scale_is_stated(own: Path, scale: float, stated: bool) -> None:
    """In a scene in centimetres the message says that a Blender unit is a metre; otherwise no message is shown."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = scale
    assert bpy.ops.exciting_dance.import_rig(kind="human") == {"FINISHED"}
    found = find_message(scene, bpy.context.view_layer.objects.active, "rig")
    assert (found is not None and "Unit Scale is 0.01" in found.message) == stated


def test_imported_urdf_has_the_masses_of_the_file(own: Path, tmp_path: Path, person: Rig) -> None:
    """A robot that is written as URDF is imported with its links and masses."""
    write_urdf(person, tmp_path / "robot.urdf")
    assert bpy.ops.exciting_dance.import_rig(filepath=str(tmp_path / "robot.urdf")) == {"FINISHED"}
    bones = bpy.context.view_layer.objects.active.data.bones
    for link in ("pelvis", "left_thigh", "head"):
        assert bones[link]["mass"] == pytest.approx(person.prior.link(link)[0], rel=1e-6)


def test_an_opensim_model_has_its_bodies_and_joints(own: Path, tmp_path: Path) -> None:
    """A model is imported like a robot: bones with the bodies' masses; joints whose axes move also translate."""
    path = tmp_path / "model.osim"
    path.write_text(EVERY_JOINT.text(3), encoding="utf-8")
    assert bpy.ops.exciting_dance.import_rig(filepath=str(path)) == {"FINISHED"}
    body = bpy.context.view_layer.objects.active
    assert body.data.bones["pelvis"]["mass"] == pytest.approx(9.0)
    assert body.data.bones["hinge"]["mass"] == pytest.approx(2.5)
    assert not any(body.pose.bones["knee"].lock_location)
    assert all(body.pose.bones["pin"].lock_location)


def test_missing_meshes_are_reported(own: Path, tmp_path: Path, person: Rig) -> None:
    """The message names a missing mesh; without a file the button reports that and adds nothing."""
    path = tmp_path / "robot.urdf"
    write_urdf(person, path)
    before, head = path.read_text(encoding="utf-8").split('<link name="head">')
    assert "<geometry>" in head
    lost = '<geometry><mesh filename="package://nowhere/head.stl"/></geometry>'
    head = re.sub("<geometry>.*?</geometry>", lost, head, flags=re.DOTALL)
    path.write_text(f'{before}<link name="head">{head}', encoding="utf-8")
    assert bpy.ops.exciting_dance.import_rig(filepath=str(path)) == {"FINISHED"}
    assert "head.stl" in find_message(bpy.context.scene, bpy.context.view_layer.objects.active, "rig").notes
    scene = fingerprint()
    with pytest.raises(RuntimeError, match="no file of a robot or person is chosen"):
        bpy.ops.exciting_dance.import_rig(kind="urdf")
    assert fingerprint() == scene


def test_invalid_urdf_is_one_error_without_changes(own: Path, tmp_path: Path) -> None:
    """An invalid file is reported with the solver's message; scene and disk are unchanged."""
    (tmp_path / "bad.urdf").write_text("<robot", encoding="utf-8")
    before = fingerprint()
    with pytest.raises(RuntimeError, match=r"bad\.urdf"):
        bpy.ops.exciting_dance.import_rig(filepath=str(tmp_path / "bad.urdf"))
    assert fingerprint() == before
    assert list(own.iterdir()) == []


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of a simulated person as files."""
    folder, person = tmp_path_factory.mktemp("recorded"), simulate_person(SEED, trials=("dance",))
    short = {"static": person.motions["static"], "dance": person.motions["dance"].part(0, FRAMES)}
    record_person(replace(person, motions=short), folder, SEED)
    return folder


@pytest.fixture(scope="session")
def tracked(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of tracking these recordings."""
    folder = tmp_path_factory.mktemp("tracked")
    words = ["track", str(recorded), "--height", str(HEIGHT), "--sex", SEX, "--output", str(folder)]
    assert main([*words, "--progress", "none"]) == OK
    return folder


def test_robot_is_identified_from_its_joint_data(own: Path, tmp_path: Path) -> None:
    """Joint coordinates and forces of the robot in the scene move it; only identification changes its bones' masses."""
    assert bpy.ops.exciting_dance.import_rig(kind="hrp2") == {"FINISHED"}
    body = bpy.context.view_layer.objects.active
    before = {bone.name: bone["mass"] for bone in body.data.bones}
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    simulated_robot().write(recorded)
    settings = bpy.context.scene.exciting_dance
    settings.weigh = True
    settings.files.add().path = str(recorded)
    assert bpy.ops.exciting_dance.track() == {"FINISHED"}
    assert study.find_trials(body) == ["dance"]
    assert {bone.name: bone["mass"] for bone in body.data.bones} == before
    assert bpy.ops.exciting_dance.identify() == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == body
    after = {bone.name: bone["mass"] for bone in body.data.bones}
    assert [name for name in before if abs(after[name] - before[name]) > 0.01]


def test_identify_writes_the_solvers_result(own: Path, recorded: Path, tmp_path: Path) -> None:
    """The bones have the values and standard deviations of result.json, also after saving.

    The panel shows every warning, and in its notes all findings about the plates and their corrections; the folder
    names the files and options that it was made from.
    """
    subject([recorded], HEIGHT, SEX)
    assert bpy.ops.exciting_dance.identify() == {"FINISHED"}
    folder = study_folder_of(bpy.context.view_layer.objects.active)
    assert [folder] == list(own.iterdir())
    found = RESULT.read(folder / study_folder.RESULT_FILE)
    said = find_message(bpy.context.scene, bpy.context.view_layer.objects.active, "study")
    assert tuple(said.failures.splitlines()) == found.warnings
    assert "the motion by" in said.notes
    assert "95 %) (removed)" in said.notes
    *notes, where = said.notes.splitlines()
    assert where == f"results in {folder}"
    assert f": {found.parameters.masses.sum():.1f} kg" in said.message
    assert set(found.findings) == {*notes, *(set(found.findings) & set(found.warnings))}
    made_of = PROVENANCE.read(folder / study_folder.PROVENANCE_FILE)
    assert "dance.trc" in made_of.inputs
    assert made_of.options["subject"]["sex"] == SEX
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    body = bpy.context.view_layer.objects.active
    shown = read_inertials(body)
    assert np.array_equal(shown.parameters.values, found.parameters.values)
    assert np.array_equal(shown.prior.values, found.prior.values)
    assert np.array_equal(shown.half_widths, found.half_widths)
    assert body[COLOUR_KEY] == "mass"
    assert body.animation_data.action is not None
    scene = bpy.context.scene
    assert scene.frame_end - scene.frame_start > 150  # 2 s of markers at 100 Hz


def test_track_then_open_shows_the_same(own: Path, recorded: Path, tmp_path: Path) -> None:
    """Tracking into a chosen folder, and opening that folder in an empty scene, give the same motion."""
    subject([recorded], HEIGHT, SEX)
    bpy.context.scene.exciting_dance.output = str(tmp_path / "tracked")
    assert bpy.ops.exciting_dance.track() == {"FINISHED"}
    bpy.context.scene.frame_set(60)
    first = posed()
    assert list(own.iterdir()) == []
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    assert bpy.ops.exciting_dance.open_study(directory=str(tmp_path / "tracked")) == {"FINISHED"}
    bpy.context.scene.frame_set(60)
    assert np.array_equal(posed(), first)


def test_every_panel_setting_is_an_option_of_the_verb(registered: None, tmp_path: Path) -> None:
    """The settings of the panel become options of the command line, which accepts them."""
    subject([Path("walk.trc")], HEIGHT, SEX)
    settings = bpy.context.scene.exciting_dance

    def chosen(button: Any = EXCITING_DANCE_OT_identify) -> dict[str, Any]:
        pressed = SimpleNamespace(verb=button.verb, study_options=button.study_options)
        read = parser().parse_args(button.arguments(pressed, bpy.context, tmp_path))
        return given(read, CohortOptions) | given(read, solver.Settings)

    assert chosen() == {}
    wanted = {}
    for name, declared in (labelled(CohortOptions) | labelled(solver.Settings)).items():
        wanted[name] = list(declared.choices)[-1] if declared.choices else True if declared.kind is bool else 7
        setattr(settings, name, wanted[name])
    assert {"trunk", "shoulders", "method", "smooth", "flight_only"} <= set(wanted)
    assert chosen() == wanted
    assert chosen(EXCITING_DANCE_OT_track) == {name: wanted[name] for name in ("trunk", "shoulders", "smooth")}


def posed() -> np.ndarray:
    """Matrices of all bones of the active armature at the current frame."""
    body = bpy.context.view_layer.objects.active
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([np.array(evaluated.matrix_world @ bone.matrix) for bone in evaluated.pose.bones])


def test_a_failing_job_changes_nothing(own: Path, tmp_path: Path) -> None:
    """An invalid recording is reported with the solver's message; edits, colours, frame rate and disk are unchanged."""
    bpy.ops.exciting_dance.import_rig(kind="human")
    bpy.context.view_layer.objects.active.data.bones["head"]["mass"] = 9.0
    (tmp_path / "bad.trc").write_text("no recording", encoding="utf-8")
    subject([tmp_path / "bad.trc"], 1.7, "female")
    before = fingerprint()
    with pytest.raises(RuntimeError, match=r"bad\.trc"):
        bpy.ops.exciting_dance.identify()
    assert fingerprint() == before
    assert list(own.iterdir()) == []


def test_failing_study_leaves_the_scene_unchanged(registered: None, tmp_path: Path, person: Rig, tracked: Path) -> None:
    """Changes of bones, units, colours, actions, visibility and frame rate are undone when showing a study fails."""
    show_study(bpy.context, study.read_study(tracked))
    body = build(person)
    write_rig(tmp_path / "rig.json", person)
    show_study(bpy.context, study.read_study(tmp_path), onto=body)
    body.data.bones["head"]["mass"] = 9.0
    body.data.bones["head"]["note"] = "edited by hand"
    bpy.context.scene.render.fps, bpy.context.scene.frame_end = 24, 77
    before = fingerprint()

    def fail() -> None:
        with all_or_nothing():
            show_study(bpy.context, study.read_study(tracked), onto=body)
            show_study(bpy.context, study.read_study(tmp_path), onto=body)
            assert fingerprint() != before
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert fingerprint() == before


def test_a_robot_from_blender_s_command_line(empty_scene: None, tmp_path: Path) -> None:
    """`blender --command exciting_dance identify` on a robot's data: its body with the identified masses."""
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    simulated_robot().write(recorded)
    words = ["identify", str(recorded), "--rig", "hrp2", "--no-cross-validation"]
    assert command.run([*words, "--output", str(tmp_path / "out"), "--no-picture"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / study_folder.SCENE_FILE))
    body = next(item for item in bpy.data.objects if item.type == "ARMATURE")
    found = RESULT.read(tmp_path / "out" / study_folder.RESULT_FILE)
    assert np.array_equal(read_inertials(body).parameters.values, found.parameters.values)
    masses = sum(bone["mass"] for bone in body.data.bones)
    assert masses == pytest.approx(simulated_robot().truth.total_mass, rel=0.02)
    assert "dance" in {action.name for action in bpy.data.actions}


def test_real_person_from_blenders_command_line(empty_scene: None, shared_data: Path, tmp_path: Path) -> None:
    """`blender --command exciting_dance identify` on a real recording gives a body with the mass from the plates."""
    files = [
        str(shared_data / "subject_a" / folder / f"{trial}.{suffix}")
        for trial in ("static1", "squats1")
        for folder, suffix in (("markers", "trc"), ("forces", "mot"))
    ]
    words = ["identify", *files, "--height", "1.67", "--sex", "male", "--no-cross-validation"]
    assert command.run([*words, "--output", str(tmp_path / "out"), "--no-picture"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / study_folder.SCENE_FILE))
    body = next(item for item in bpy.data.objects if item.type == "ARMATURE")
    found = RESULT.read(tmp_path / "out" / study_folder.RESULT_FILE)
    assert np.array_equal(read_inertials(body).parameters.values, found.parameters.values)
    assert 55.0 < sum(bone["mass"] for bone in body.data.bones) < 70.0
    assert {action.name for action in bpy.data.actions} >= {"static1", "squats1"}
