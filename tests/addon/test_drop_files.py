"""Recordings dropped onto the 3D view are listed and shown once, ready for tracking."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from addon.display import study
from addon.display.study import show_study
from addon.interface.next_step import find_next_step
from addon.jobs.job_messages import find_message
from addon.scene import action
from addon.scene.recording import FILES_KEY, find_recordings
from solver.demo import person
from solver.formats.file_formats import recording_suffixes
from solver.formats.recording import read_recording
from solver.scene.motion import RECORDING, scene_recording
from solver.scene.motion_record import MOTION, motion_record
from solver.scene.rig import write_rig
from solver.skeleton.rig import Rig
from solver.values.rig_kinds import robot_suffixes
from tests.addon.scenes import build, random_motion

TRC = """PathFileType\t4\t(X/Y/Z)\t{name}.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
{rate}\t{rate}\t{frames}\t2\tm\t{rate}\t1\t{frames}
Frame#\tTime\tLow\t\t\tHigh\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

"""
MOT = "{name}\nversion=1\nnRows={rows}\nnColumns=10\ninDegrees=no\nendheader\ntime\t{titles}\n"
TITLES = [f"ground_force_{part}{axis}" for part in ("v", "p") for axis in "xyz"]
TITLES += [f"ground_torque_{axis}" for axis in "xyz"]


def recorded(folder: Path, name: str, rate: float = 100.0, seconds: float = 1.0) -> tuple[Path, Path]:
    """Two markers and one plate, as files in two folders."""
    frames = round(rate * seconds) + 1
    rows = [f"{k + 1}\t{k / rate:.4f}\t0.1\t{0.1 + 0.001 * k:.4f}\t0.2\t0.1\t1.5\t0.25" for k in range(frames)]
    markers, forces = folder / "markers" / f"{name}.trc", folder / "forces" / f"{name}.mot"
    for path in (markers, forces):
        path.parent.mkdir(parents=True, exist_ok=True)
    markers.write_text(TRC.format(name=name, rate=rate, frames=frames) + "\n".join(rows) + "\n", encoding="utf-8")
    loads = [f"{k / rate:.4f}\t0\t700\t0\t0.1\t0\t0.2\t0\t0\t0" for k in range(frames)]
    head = MOT.format(name=name, rows=frames, titles="\t".join(TITLES))
    forces.write_text(head + "\n".join(loads) + "\n", encoding="utf-8")
    return markers, forces


def drop(*paths: Path) -> set[str]:
    """Drop files of one folder, as Blender does."""
    return bpy.ops.exciting_dance.import_recording(
        directory=str(paths[0].parent), files=[{"name": path.name} for path in paths]
    )


def listed() -> list[str]:
    """The listed files."""
    return [Path(item.path).name for item in bpy.context.scene.exciting_dance.files]


def clouds() -> dict[str, set[str]]:
    """Objects of each recording in the scene."""
    return {child.name: {item.name for item in child.objects} for child in find_recordings(bpy.context.scene)}


def test_dropped_recording_is_ready_for_tracking(registered: None, tmp_path: Path) -> None:
    """The files are listed, the recording is shown with its own rate and range, and Track and Identify are enabled."""
    assert not bpy.ops.exciting_dance.track.poll()
    markers, _ = recorded(tmp_path, "walk", rate=200.0, seconds=0.5)
    assert drop(markers) == {"FINISHED"}
    scene = bpy.context.scene
    assert listed() == ["walk.trc"]
    assert action.frame_rate(scene) == pytest.approx(200.0)
    assert (scene.frame_start, scene.frame_end) == (1, 101)
    assert bpy.ops.exciting_dance.track.poll()
    assert bpy.ops.exciting_dance.identify.poll()


def test_forces_dropped_later_join_their_markers(registered: None, tmp_path: Path) -> None:
    """A dropped .mot file is combined with markers of the same name; nothing is shown or listed twice."""
    markers, forces = recorded(tmp_path, "walk")
    drop(markers)
    assert [len(items) for items in clouds().values()] == [2]
    drop(forces)
    assert sorted(listed()) == ["walk.mot", "walk.trc"]
    assert [len(items) for items in clouds().values()] == [3]
    drop(markers)
    drop(forces)
    assert [len(items) for items in clouds().values()] == [3]
    assert len(listed()) == 2


def test_dropped_folder_adds_all_trials(registered: None, tmp_path: Path) -> None:
    """A folder adds all of its trials; one with another rate does not change the frames of the first."""
    recorded(tmp_path, "walk", rate=100.0)
    recorded(tmp_path, "squat", rate=50.0, seconds=2.0)
    assert bpy.ops.exciting_dance.import_recording(directory=str(tmp_path)) == {"FINISHED"}
    assert sorted(listed()) == ["squat.mot", "squat.trc", "walk.mot", "walk.trc"]
    assert sorted(clouds()) == ["squat", "walk"]
    scene = bpy.context.scene
    for file, shown, last in (("walk.mot", "walk", 101), ("squat.trc", "squat", 201)):
        scene.exciting_dance.file_index = listed().index(file)
        assert (scene.frame_start, scene.frame_end) == (1, last)
        layers = bpy.context.view_layer.layer_collection.children
        assert [child.name for child in layers if not child.exclude] == [shown]
    assert action.frame_rate(bpy.context.scene) == pytest.approx(100.0)
    ball = next(item for child in find_recordings(bpy.context.scene) if "squat" in child.name for item in child.objects)
    ends = [curve.keyframe_points[-1].co.x for curve in action.curves_of(ball) if curve.data_path == "location"]
    assert ends == pytest.approx([201.0] * 3)


def test_recording_does_not_change_the_rate_of_a_dance(registered: None, tmp_path: Path, person: Rig) -> None:
    """With an animated rig, a dropped or selected recording uses the scene's rate and does not change its range."""
    body, scene = build(person), bpy.context.scene
    body.keyframe_insert("location", frame=1)
    before = action.frame_rate(scene), scene.frame_end
    drop(recorded(tmp_path, "walk")[0])
    scene.exciting_dance.file_index = 0
    assert (action.frame_rate(scene), scene.frame_end) == before


def test_invalid_file_is_reported_in_the_panel(registered: None, tmp_path: Path) -> None:
    """A file that is not a recording changes nothing, and the panel keeps the error message."""
    markers, _ = recorded(tmp_path, "walk")
    drop(markers)
    before = clouds(), listed()
    (markers.parent / "bad.trc").write_text("no recording", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"bad\.trc"):
        drop(markers.parent / "bad.trc")
    assert (clouds(), listed()) == before
    assert "bad.trc" in find_message(bpy.context.scene, None, "recording").message


def test_removing_a_file_removes_its_recording(registered: None, tmp_path: Path) -> None:
    """The file is removed from the list, and its recording from the scene."""
    drop(recorded(tmp_path, "walk")[0])
    assert bpy.ops.exciting_dance.remove_file() == {"FINISHED"}
    assert listed() == []
    assert clouds() == {}
    assert not bpy.data.actions


def test_a_study_shows_its_recordings_once(registered: None, tmp_path: Path, person: Rig) -> None:
    """A study's recordings replace dropped ones and those of an earlier study of the body, with the study's rate and
    names.
    """
    drop(recorded(tmp_path, "walk", rate=50.0)[0])
    folder = tmp_path / "study"
    folder.mkdir()
    write_rig(folder / "rig.json", person)
    found = read_recording(tmp_path / "markers" / "walk.trc")
    RECORDING.write(folder / "walk.recording.npz", scene_recording(found.markers, found.wrenches))
    MOTION.write(folder / "walk.motion.npz", motion_record("walk", person, random_motion(person)))
    body = show_study(bpy.context, study.read_study(folder))
    rate = action.frame_rate(bpy.context.scene)
    assert rate == pytest.approx(100.0)
    for _ in range(2):
        assert list(clouds()) == ["walk"]
        assert "walk markers" in bpy.data.actions
        assert not [item.name for item in bpy.data.actions if item.name.startswith("walk markers.")]
        ball = next(iter(find_recordings(bpy.context.scene)[0].objects))
        ends = [curve.keyframe_points[-1].co.x for curve in action.curves_of(ball) if curve.data_path == "location"]
        assert ends == pytest.approx([1.0 + rate * found.markers.times[-1]] * 3)
        show_study(bpy.context, study.read_study(folder), onto=body)
    assert not [child for child in find_recordings(bpy.context.scene) if FILES_KEY in child]


def test_all_readable_suffixes_are_offered(registered: None) -> None:
    """File browsers and drops offer all suffixes of the tables of readers, each once, and a suffix only one of them."""
    for operator, handler, known in (
        (bpy.ops.exciting_dance.import_recording, bpy.types.EXCITING_DANCE_FH_recording, recording_suffixes()),
        (bpy.ops.exciting_dance.import_rig, bpy.types.EXCITING_DANCE_FH_rig, robot_suffixes()),
    ):
        picker = operator.get_rna_type().properties["filter_glob"].default
        assert picker.split(";") == [f"*{suffix}" for suffix in known]
        assert handler.bl_file_extensions.split(";") == list(known)
    assert not set(recording_suffixes()) & set(robot_suffixes())
    assert ".tsv" in recording_suffixes()


def test_sample_study_lists_simulated_recordings(own: Path) -> None:
    """One click writes simulated recordings, shows them, and enters the person that they are of."""
    assert bpy.ops.exciting_dance.sample_study() == {"FINISHED"}
    assert sorted(listed()) == sorted(
        f"{name}.{end}" for name in ("dance", "left_leg", "static") for end in ("mot", "trc")
    )
    assert len(clouds()) == 3
    settings = bpy.context.scene.exciting_dance
    entered = (round(settings.height, 6), settings.mass, settings.sex, settings.weigh)
    assert entered == (person.HEIGHT, person.MASS, person.SEX, False)
    message = find_message(bpy.context.scene, None, "recording")
    assert message.message.startswith("Simulated recordings")
    assert find_next_step(bpy.context).operator == "identify"
