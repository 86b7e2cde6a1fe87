"""Rehearsal videos show the dance as planned and leave the user's scene unchanged."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import aud
import bpy
import numpy as np
import pytest

from addon.__main__ import main
from addon.base import convert
from addon.base.interpreter import blender_interpreter
from addon.jobs.job import Job
from addon.rehearsal import command
from addon.rehearsal.camera import mirror_matrix
from addon.rehearsal.captions import describe_stance
from addon.rehearsal.command import run
from addon.rehearsal.dance import RehearsedDance, find_stops, from_folder
from addon.rehearsal.film import film_frames
from addon.rehearsal.options import Film, RehearsalOptions, Rendering, Staging
from addon.rehearsal.plan import Stop, VideoPlan, plan_video
from addon.rehearsal.rehearse import CHILD_CALL, SCENE_FILE, plan_rehearsal, write_scene
from addon.rehearsal.scene import build_scene, remove_added_data
from addon.rehearsal.video import count_frames, move_to_target, set_engine
from addon.scene.action import add_motion_action, set_frame_rate
from solver.base.errors import Cancelled, InputError, InvalidValue
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION, motion_record
from solver.scene.summary import SUMMARY, SceneSummary
from solver.scene.timeline import SceneKey, SceneStrip, SceneTimeline
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.addon.scenes import build, fingerprint

STOPS = (Stop(0.0, 1.0, "home"), Stop(3.0, 4.0, "one"), Stop(6.0, 6.0, "two"), Stop(7.5, 9.0, "three"))
SPAN = 0.0, 9.0
RATE = 24.0
BRIEF = RehearsalOptions(rate=20.0, slow=0.0, lead=0.0, title_time=0.0, rest=0.0, ghost="posture")
TINY = Staging(size=(96, 54))
COARSE = Rendering("cycles", 1)


def arms_up(rig: Rig) -> Motion:
    """Rests for 0.15 s, raises its right arm in 0.1 s, and rests for 0.15 s."""
    times = np.round(np.arange(0.0, 0.401, 0.05), 6)
    share = np.clip((times - 0.15) / 0.1, 0.0, 1.0)
    q = np.tile(rig.neutral, (len(times), 1))
    q[:, 2] += 0.02
    joint = next(k for k, link in enumerate(rig.links) if link.startswith("right") and "arm" in link)
    q[:, rig.q_slices[joint].start] += 1.2 * share
    zeros = np.zeros((len(times), rig.nv))
    return Motion(times, q, zeros, zeros)


def danced(rig: Rig) -> RehearsedDance:
    """This motion with keys at the ends of its stops, and the left foot lifted after 0.2 s."""
    motion = scene_motion(rig, arms_up(rig))
    names = [contact.name for contact in rig.contacts]
    right, left = (next(n for n in names if n.startswith(side)) for side in ("right", "left"))
    line = SceneTimeline(
        "arms up", rig, motion.times, motion.root, motion.rotations,
        motion.translations, tuple(SceneKey(t, "preferred", n) for t, n in zip((0.0, 0.15, 0.25, 0.4), "aabb")),
        (SceneStrip(right, 0.0, 0.4), SceneStrip(left, 0.0, 0.2)),
    )  # fmt: skip
    return RehearsedDance(line, find_stops(line))


def on_the_timeline(rig: Rig) -> bpy.types.Object:
    """The rig with this motion in the scene."""
    body = build(rig)
    scene = bpy.context.scene
    set_frame_rate(scene, 20.0)
    add_motion_action(scene, body, scene_motion(rig, arms_up(rig)), "arms up")
    scene.frame_start, scene.frame_end = 1, 9
    scene.frame_set(4)
    return body


def state() -> dict[str, object]:
    """The open file, with the users of its meshes and its scenes."""
    return fingerprint() | {
        "scenes": [scene.name for scene in bpy.data.scenes],
        "users": {mesh.name: mesh.users for mesh in bpy.data.meshes},
        "shapes": {item.name: len(item.material_slots) for item in bpy.data.objects if item.type == "MESH"},
        "more": [len(getattr(bpy.data, store)) for store in ("worlds", "images", "node_groups", "movieclips")],
    }


@pytest.mark.parametrize("rate", [24.0, 29.97, 60.0])
def test_real_time_frames_map_to_the_dance_exactly(rate: float) -> None:
    """Frame k of a run in real time shows the dance at time k / rate, until its end."""
    done = plan_video(STOPS, SPAN, RehearsalOptions(rate=rate, loops=2))
    runs = [part for part in done.parts if part.kind == "real"]
    assert len(runs) == 2
    for part in runs:
        count = int(np.floor(9.0 * rate + 1e-6)) + 1
        shown = done.times[part.play : part.play + count]
        np.testing.assert_allclose(shown, np.arange(count) / rate, atol=1e-9)
        assert (done.times[part.play + count : part.stop] == 9.0).all()


def test_countdown_ends_when_the_move_starts() -> None:
    """The last frame before a move counts 1, its first frame counts nothing, and numbers only decrease."""
    done = plan_video(STOPS, SPAN, RehearsalOptions())
    starts = np.flatnonzero(done.is_still[:-1] & ~done.is_still[1:])
    counted = [int(frame) for frame in starts if done.counts[frame]]
    assert len(counted) == 5  # all three moves of the slow run; of the real one not the move from a stop in passing
    for frame in counted:
        assert done.counts[frame] == 1
        assert done.counts[frame + 1] == 0
        first = frame
        while done.counts[first - 1]:
            first -= 1
        numbers, lasting = np.unique(done.counts[first : frame + 1], return_counts=True)
        assert (np.diff(done.counts[first : frame + 1]) <= 0).all()
        assert list(numbers) == list(range(1, len(numbers) + 1))
        assert min(lasting) >= 0.4 * RATE - 1
        assert max(lasting) <= 1.0 * RATE + 1
    assert not done.counts[~done.is_still].any()


@pytest.mark.parametrize("ghost", ["posture", "move"])
def test_ghost_shows_the_next_stop(ghost: str) -> None:
    """In every frame the ghost is at the next stop or on the way to it."""
    done = plan_video(STOPS, SPAN, RehearsalOptions(ghost=ghost))
    seen = np.isfinite(done.ghosts)
    assert seen[done.counts > 0].all()
    goal = np.array([stop.start for stop in STOPS])[np.minimum(done.stop_indices + 1, 3)]
    leaves = np.array([stop.stop for stop in STOPS])[done.stop_indices]
    if ghost == "posture":
        np.testing.assert_array_equal(done.ghosts[seen], goal[seen])
    assert (done.ghosts[seen] >= leaves[seen]).all()
    assert (done.ghosts[seen] <= goal[seen]).all()
    ends = np.flatnonzero(seen[:-1] & done.is_still[:-1] & ~done.is_still[1:])
    np.testing.assert_array_equal(done.ghosts[ends], goal[ends])
    assert not seen[done.part_kinds() == "title"].any()


def test_duration_is_the_sum_of_the_parts() -> None:
    """The duration is the sum of title, lead-in, dance divided by tempo, pauses and rest, to one frame each."""
    done = plan_video(STOPS, SPAN, RehearsalOptions(slow=0.4, pause=1.5, lead=2.0, title_time=1.0, rest=0.5, loops=3))
    wanted = 1.0 + (2.0 + 9.0 / 0.4 + 2 * 1.5 + 0.5) + 3 * (2.0 + 9.0 + 0.5)
    assert done.duration == pytest.approx(wanted, abs=8 / RATE)
    assert sum(part.stop - part.start for part in done.parts) == len(done)


def test_interval_is_a_dance_of_its_own() -> None:
    """Only the chosen interval is shown, with stops at its ends; an interval outside the dance is an error."""
    done = plan_video(STOPS, SPAN, RehearsalOptions(start=3.5, stop=6.5))
    assert (done.times.min(), done.times.max()) == (3.5, pytest.approx(6.5))
    assert [(s.start, s.stop) for s in done.stops] == [(3.5, 4.0), (6.0, 6.0), (6.5, 6.5)]
    for first, last in ((5.0, 5.0), (-1.0, 3.0), (2.0, 9.5)):
        with pytest.raises(InvalidValue, match="not within the dance"):
            plan_video(STOPS, SPAN, RehearsalOptions(start=first, stop=last))
    with pytest.raises(InvalidValue, match="would be empty"):
        RehearsalOptions(slow=0.0, loops=0)


def test_keys_that_hold_one_pose_are_one_stop(robot: Rig) -> None:
    """Stops from keys and from rests agree; the captions name the supporting feet."""
    dance = danced(robot)
    assert [(stop.start, stop.stop, stop.name) for stop in dance.stops] == [(0.0, 0.15, "a"), (0.25, 0.4, "b")]
    line = dance.timeline
    for keys, between in (((), []), ((*line.keys[:2], SceneKey(0.2, "preferred"), *line.keys[2:]), [(0.2, 0.2)])):
        assert [(stop.start, stop.stop) for stop in find_stops(replace(line, keys=keys))] == [
            (0.0, 0.15),
            *between,
            (0.25, 0.4),
        ]
    words = [describe_stance(dance.standing_patches(time), dance.patch_sides()) for time in (0.1, 0.3)]
    assert words == ["both feet", "right foot only"]


def test_nothing_is_counted_where_nothing_moves(robot: Rig) -> None:
    """A timeline that is longer than its keys, and still there, has the same stops; no countdown leads to no move."""
    dance = danced(robot)
    line = dance.timeline
    inner = tuple(key for key in line.keys if 0.0 < key.time < 0.4)
    shorter = SceneTimeline(line.name, line.rig, line.times, line.root, line.rotations, line.translations, inner)
    stops = find_stops(shorter)
    assert [(stop.start, stop.stop) for stop in stops] == [(0.0, 0.15), (0.25, 0.4)]
    done = plan_video(stops, dance.interval, RehearsalOptions(slow=1.0))
    counted = np.flatnonzero((done.counts[:-1] == 1) & (done.counts[1:] == 0))
    assert len(counted) == 2  # once in each of both runs
    for frame in counted:
        before, after = dance.links_at(done.times[frame + np.array([0, 3])])[1]
        assert np.abs(after - before).max() > 1e-3


def test_body_and_ghost_have_the_poses_of_the_dance(empty_scene: None, robot: Rig) -> None:
    """In the video's scene every link of the body, and of the ghost at the next stop, has the pose of the rig, also
    when mirrored; the ghost is displaced without changing its image.
    """
    body, dance = build(robot), danced(robot)
    for mirror in (False, True):
        with remove_added_data():
            done = plan_rehearsal(dance, BRIEF)
            scene = build_scene(body, dance, done, Staging(size=(96, 54), mirror=mirror))
            turn = mirror_matrix(scene.camera) if mirror else np.eye(4)
            eye = np.array(scene.camera.location)
            for frame in (1, 4, 9):
                scene.frame_set(frame)
                _, places = dance.links_at(done.times[frame - 1 : frame])
                wanted = places[0] @ turn[:3, :3].T + turn[:3, 3]
                np.testing.assert_allclose(origins(scene, "Dancer", dance), wanted, atol=2e-5)
                if np.isfinite(done.ghosts[frame - 1]):
                    _, places = dance.links_at(np.array([0.3]))
                    wanted = (places[0] @ turn[:3, :3].T + turn[:3, 3]) - eye
                    seen = origins(scene, "Ghost", dance) - eye
                    np.testing.assert_allclose(seen / wanted, 1.008, atol=1e-4)
            assert np.isfinite(done.ghosts[3])  # in passing: the stop before is too short to show it


def test_a_long_name_fits_in_the_first_frame_too(empty_scene: None, robot: Rig) -> None:
    """Names of one length have one size, also where they are visible while the scene is built."""
    dance = danced(robot)
    dance = replace(dance, stops=tuple(replace(stop, name="w" * 60) for stop in dance.stops))
    done = plan_rehearsal(dance, BRIEF)
    texts = [item.data for item in build_scene(build(robot), dance, done, TINY).objects if item.type == "FONT"]
    sizes = [text.size for text in texts if "www" in text.body]
    assert max(sizes) < 1.2 * min(sizes)


def origins(scene: bpy.types.Scene, name: str, dance: RehearsedDance) -> np.ndarray:
    """Bone origins (L, 3) in the world."""
    armature = next(item for item in scene.objects if item.name.startswith(name) and item.type == "ARMATURE")
    seen = armature.evaluated_get(scene.view_layers[0].depsgraph)
    world = convert.to_array(seen.matrix_world)
    return np.array([(world @ convert.to_array(seen.pose.bones[link].matrix))[:3, 3] for link in dance.rig.links])


def picture(scene: bpy.types.Scene, frame: int, folder: Path) -> np.ndarray:
    """A rendered frame (rows, columns, 3), bottom row first."""
    set_engine(scene, COARSE)
    scene.frame_start = scene.frame_end = frame
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(folder / "shot_")
    bpy.ops.render.render(animation=True, scene=scene.name)
    image = bpy.data.images.load(str(folder / f"shot_{frame:04d}.png"))
    values = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(values)
    shape = image.size[1], image.size[0], 4
    bpy.data.images.remove(image)
    return values.reshape(shape)[:, :, :3]


def test_a_film_keeps_its_proportions(empty_scene: None, robot: Rig, tmp_path: Path) -> None:
    """A film that is twice as tall as wide keeps its proportions, with its own timing."""
    frames = tmp_path / "film"
    frames.mkdir()
    for number in range(3):
        image = bpy.data.images.new("film", 20, 40)
        image.pixels.foreach_set(np.tile([0.0, 0.2 + 0.3 * number, 0.0, 1.0], 800).astype(np.float32))
        image.filepath_raw, image.file_format = str(frames / f"f{number + 4:03d}.png"), "PNG"
        image.save()
        bpy.data.images.remove(image)
    body, dance = build(robot), danced(robot)
    done = plan_rehearsal(dance, BRIEF)
    staging = Staging(size=(96, 54), film=Film(frames, rate=10.0, offset=0.1))
    with remove_added_data():
        scene = build_scene(body, dance, done, staging)
        early, late = (picture(scene, frame, tmp_path) for frame in (2, 6))
    for shot, green in ((early, 0.2), (late, 0.5)):
        assert shot[45, 36:42, 1] == pytest.approx(green, abs=0.05)
        assert shot[27, :33].max() == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("kind", ["missing", "text", "empty", "gap"])
def test_invalid_film_is_one_error_without_changes(registered: None, robot: Rig, tmp_path: Path, kind: str) -> None:
    """A film that cannot be read is named; scene and disk are unchanged."""
    film = tmp_path / "film"
    if kind == "text":
        film.write_text("no film", encoding="utf-8")
    elif kind in ("empty", "gap"):
        film.mkdir()
    if kind == "gap":
        image = bpy.data.images.new("film", 4, 4)
        for number in (1, 3):
            image.filepath_raw, image.file_format = str(film / f"f{number}.png"), "PNG"
            image.save()
        bpy.data.images.remove(image)
    body = on_the_timeline(robot)
    before = state()
    source = tmp_path / SCENE_FILE
    with pytest.raises(InputError, match="film"):
        write_scene(bpy.context, body, source, BRIEF, Staging(size=(96, 54), film=Film(film)), COARSE)
    assert state() == before
    assert not source.exists()


def test_the_button_writes_the_video_and_leaves_the_scene(registered: None, robot: Rig, tmp_path: Path) -> None:
    """A child renders every planned frame to a video, with a click on each count; the scene is unchanged."""
    body = on_the_timeline(robot)
    settings = bpy.context.scene.exciting_dance_rehearsal
    settings.slow, settings.lead, settings.title_time, settings.rate, settings.samples = 0.0, 0.0, 0.0, 20.0, 1
    settings.width, settings.height, settings.engine = 96, 54, "cycles"
    settings.output = str(tmp_path / "made" / "rehearsal.mp4")
    body.select_set(True)
    before = state()
    assert bpy.ops.exciting_dance.rehearsal() == {"FINISHED"}
    assert state() == before
    assert [item.name for item in (tmp_path / "made").iterdir()] == ["rehearsal.mp4"]
    clip = bpy.data.movieclips.load(settings.output)
    assert (clip.frame_duration, tuple(clip.size)) == (9 + 20, (96, 54))  # the dance, and 1 s of rest
    assert bpy.data.sounds.load(settings.output).channels == "INVALID"  # no sound
    settings.bpm = 400.0
    assert bpy.ops.exciting_dance.rehearsal() == {"FINISHED"}
    assert [item.name for item in (tmp_path / "made").iterdir()] == ["rehearsal.mp4"]
    loud = np.abs(aud.Sound.file(settings.output).data()).max(axis=1)
    begins = np.flatnonzero(loud > 0.25) / aud.Sound.file(settings.output).specs[0]
    assert sorted(set(np.floor(begins * 20.0 + 1e-3))) == [0.0, 3.0, 6.0]  # a click each 0.15 s while it dances
    settings.output = "//rehearsal.mp4"
    with pytest.raises(RuntimeError, match=r"Save the \.blend file first"):
        bpy.ops.exciting_dance.rehearsal()


def test_a_cancelled_child_keeps_the_frames_before(empty_scene: None, robot: Rig, tmp_path: Path) -> None:
    """A child that is cancelled in the middle writes a video of the frames that it had rendered, and nothing else."""
    plan = write_scene(bpy.context, on_the_timeline(robot), tmp_path / SCENE_FILE, RehearsalOptions(), TINY, COARSE)
    job = Job("Rehearsal", [str(tmp_path / SCENE_FILE), str(tmp_path / "video.mp4")], blender_interpreter(CHILD_CALL))
    try:
        late = time.monotonic() + 60.0
        while job.running and job.fraction == 0.0 and time.monotonic() < late:
            time.sleep(0.02)
        assert 0.0 < job.fraction < 1.0
    finally:
        job.end()
    with pytest.raises(Cancelled):
        job.raise_on_failure()
    assert sorted(item.name for item in tmp_path.iterdir()) == [SCENE_FILE, "video.mp4"]
    assert 0 < count_frames(tmp_path / "video.mp4") < len(plan)


def test_dance_folder_is_rendered_without_a_window(
    empty_scene: None, robot: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``rehearse FOLDER`` names the moves, also before a rest, writes every frame and prints progress; an empty folder
    is an error with a message.
    """
    folder, video = tmp_path / "dance", tmp_path / "video.mp4"
    folder.mkdir()
    MOTION.write(folder / "dance.motion.npz", motion_record("dance", robot, arms_up(robot)))
    keys = [SceneKey(time, "preferred", name) for time, name in ((0.0, "home"), (0.15, "home"), (0.25, "arm up"))]
    rest = SceneKey(0.41, "preferred", "rest")  # after the last sample
    SUMMARY.write(folder / "summary.json", SceneSummary("dance", "designed", True, "it passes", (*keys, rest)))
    dance = from_folder(folder)
    assert [(s.start, s.stop, s.name) for s in dance.stops] == [(0.0, 0.15, "home"), (0.25, 0.4, "arm up")]
    words = ["--slow", "0", "--title-time", "0", "--lead", "0", "--size", "96x54", "--rate", "20"]
    assert run([str(folder), "--output", str(video), *words], "rehearse") == 0
    assert "writing 29 frames" in capsys.readouterr().out
    assert bpy.data.movieclips.load(str(video)).frame_duration == 29
    assert run([str(tmp_path / "nothing"), "--output", str(video), *words], "rehearse") == 2
    assert "is not a folder" in capsys.readouterr().err


def test_abbreviated_options_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The add-on's own commands take whole names only, as the verbs do."""
    for words, short in ((["rehearse", "dance", "--output", "a.mp4"], "--mirr"), (["study"], "--no-pict")):
        monkeypatch.setattr("sys.argv", ["addon", *words, short])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 2
        assert f"unrecognized arguments: {short}" in capsys.readouterr().err


def test_images_never_replace_a_users_folder(tmp_path: Path) -> None:
    """Images replace a folder of ours, but not a user's folder with the same name."""
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "frame 0001.png").write_text(name)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    move_to_target(tmp_path / "first", ours)
    move_to_target(tmp_path / "second", ours)
    assert (ours / "frame 0001.png").read_text() == "second"
    theirs.mkdir()
    (theirs / "frame 0001.png").write_text("a holiday")
    with pytest.raises(InputError, match="frame 0001"):
        move_to_target(tmp_path / "third", theirs)
    assert (theirs / "frame 0001.png").read_text() == "a holiday"


def test_film_follows_its_timing() -> None:
    """A film with the timing of the video runs at its own rate; with that of the dance it stops with the dance."""
    done: VideoPlan = plan_video(STOPS, SPAN, RehearsalOptions(title_time=0.0))
    video = film_frames(Film(Path("x"), offset=1.0, start=2.0, speed=2.0), done, 30.0, 10**6)
    np.testing.assert_array_equal(video[:25], 60)
    assert video[24 + 48] == 60 + 2 * 2 * 30
    dance = film_frames(Film(Path("x"), clock="dance"), done, 30.0, 10**6)
    np.testing.assert_array_equal(dance, np.floor(done.times * 30.0 + 1e-6))


def test_beats_are_counted_to_eight() -> None:
    """Counts follow the time of the dance and go from 1 to 8, so that a slow preview counts slowly."""
    done = plan_video(STOPS, SPAN, RehearsalOptions(bpm=120.0, slow=0.5, title_time=1.0))
    playing = done.beats > 0
    assert not done.beats[: done.parts[0].stop].any()
    np.testing.assert_array_equal(done.beats[playing], (np.floor(done.times[playing] * 2.0 + 1e-6) + 4) % 8 + 1)
    slow, real = (done.beats[p.play : p.stop] for p in done.parts if p.kind != "title")
    assert (slow == 3).sum() > 1.5 * (real == 3).sum() > 0
    assert not plan_video(STOPS, SPAN, RehearsalOptions()).beats.any()
    with pytest.raises(InvalidValue, match="from 20 to 400, or 0 for none"):
        RehearsalOptions(bpm=5.0)


def test_time_left_is_that_of_the_speed_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steady work has the time left that it takes; the start before the first report does not count."""
    clock = [0.0]
    monkeypatch.setattr(command.time, "monotonic", lambda: clock[0])
    report = command.ProgressLines()
    for frame in range(1, 101):
        clock[0] = 60.0 + frame
        report(0.9 * frame / 100.0, f"frame {frame}")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "frame 1"
    assert "frame 56, 55 s left" in lines  # at 111 frames for all, encoding included
