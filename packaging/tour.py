"""The animator's and the researcher's tour in a real window, with the pictures of the documentation.

Run it inside Blender with the extension enabled and a window of 1,600x900 pixels or more:

    blender --factory-startup --python packaging/tour.py -- --output docs/tour

Each step does what the tutorials say, checks its result, and takes a picture of the window. The first step that fails
ends the tour with exit code 1 and says what was wrong. The folder of the pictures also receives `figures.json`, which
`python -m benchmarks extension --window FILE` prints.

Without a window the same steps run in Blender's module, without pictures. This shows neither panels nor overlays, nor
that the window stays responsive:

    ./dance --python 3.11 python packaging/tour.py

With `--character FILE`, which `python -m benchmarks characters --wheel WHEEL --character FILE` writes, only an
animator's own character is shown, in `docs/character`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import numpy as np

CONTEXT: Any = bpy.context
OPERATORS: Any = bpy.ops
"""Blender's context and operators; the stubs lack the add-on's."""
SETTLING_TIME = 1.5
"""[s] in which Blender draws a change."""
WAIT = 0.1
"""[s] between two looks for answers of the live check without a window, where no timer runs."""
JOB_TIMEOUT = 900.0
"""[s] Longest job: an identification on a slow machine."""
REDUCTION = ("-resize", "1100x", "-dither", "None", "-colors", "256")
"""Options of ImageMagick with which a picture has the size of the documentation's."""
DRAG, SLIP, SECONDS, LIFT = 0.15, 3e-4, 3, (-0.15, 0.0, 0.35)
"""[m] by which the pelvis is lowered, largest displacement of a sole between the postures, [s] between them, and [m] by
which a foot is lifted."""
REST_DISTANCE = 10.0
"""[m] Largest distance between two rigs that were added."""
MOTION = 0.02
"""Least change of a bone's matrix, [m] or of a rotation, in a motion that plays."""
UNREAL_NAMES = {
    **{"pelvis": "pelvis", "torso": "spine_01", "head": "head", "upper_arm": "upperarm_", "forearm": "lowerarm_"},
    **{"hand": "hand_", "thigh": "thigh_", "shank": "calf_", "foot": "foot_"},
}
"""Names of a person's bones in Unreal Engine; those that end in _ have a side."""
REACH = (0.1, -0.3, 0.35)
"""[m] by which the right hand of a character is dragged."""


class TourError(Exception):
    """A step did not do what it should."""


def require(condition: object, message: str) -> None:
    """End the tour unless a condition holds."""
    if not condition:
        raise TourError(message)


def find_module(name: str) -> ModuleType:
    """A module of the add-on, as an extension or from a clone; imported if it is not yet."""
    root = next(path for path in sys.modules if path.endswith("addon.registration")).removesuffix(".registration")
    return __import__(f"{root}.{name}", fromlist=["_"])


def use_clone() -> None:
    """Make the modules beside the add-on importable."""
    sys.path.insert(0, str(Path(str(find_module("registration").__file__)).parents[1]))


def view_override() -> Any:
    """Context of the first 3D view; the module's own without a window."""
    if bpy.app.background:
        return nullcontext()
    window = CONTEXT.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return CONTEXT.temp_override(
        window=window, area=area, region=next(region for region in area.regions if region.type == "WINDOW")
    )


def is_plain(path: Path) -> bool:
    """Whether all pixels of a picture have one colour."""
    image = bpy.data.images.load(str(path))
    values: Any = image.pixels  # an array, although its type stub has no length
    pixels = np.empty(len(values), np.float32)
    values.foreach_get(pixels)
    bpy.data.images.remove(image)
    return bool(np.ptp(pixels.reshape(-1, 4)[:, :3], axis=0).max() == 0.0)


class ButtonListLayout:
    """A layout that keeps which buttons are drawn, and whether progress is."""

    def __init__(self, drawn: list[str]) -> None:
        self._drawn = drawn

    def operator(self, name: str, **_: object) -> SimpleNamespace:
        """A button."""
        self._drawn.append(name)
        return SimpleNamespace()

    def progress(self, **_: object) -> None:
        """A bar of progress."""
        self._drawn.append("progress")

    def __getattr__(self, name: str) -> Any:
        """Rows and columns are layouts; labels draw nothing."""
        return lambda *_, **__: self


class Tour:
    """Steps and pictures.

    Args:
        output: folder of the pictures.
    """

    def __init__(self, output: Path) -> None:
        self.output, self.count, self.clicks = output, 0, 0
        self.figures: dict[str, float] = {}
        output.mkdir(parents=True, exist_ok=True)

    def take_picture(self, name: str) -> Iterator[float]:
        """Take a picture of the window, after it was drawn; nothing without one."""
        yield SETTLING_TIME
        self.count += 1
        if bpy.app.background:
            print(f"{self.count}. {name.replace('_', ' ')}", flush=True)
            return
        path = self.output / f"{self.count}_{name}.png"
        if shutil.which("import"):  # of ImageMagick; Blender's own is black with a software renderer
            subprocess.run(["import", "-window", "root", *REDUCTION, f"PNG8:{path}"], check=True)
        else:
            with view_override():
                bpy.ops.screen.screenshot(filepath=str(path))
        require(not is_plain(path), f"the picture {path} has one colour only")
        print(f"{self.count}. {name.replace('_', ' ')}", flush=True)

    def run_job(self, name: str, *, dialog: bool = False, **options: object) -> Iterator[float]:
        """Press a button that starts a job, and OK in its dialog; wait for its end; without a window the button itself
        waits."""
        jobs = find_module("jobs.job")
        self.clicks += 1 + dialog
        with view_override():
            require(getattr(OPERATORS.exciting_dance, name).poll(), f"the button {name} cannot be pressed")
            getattr(OPERATORS.exciting_dance, name)("EXEC_DEFAULT", **options)  # without a dialog
        yield 0.5
        stop = time.monotonic() + JOB_TIMEOUT
        while jobs.CurrentJob.job is not None:
            self.count_hidden_jobs()
            require(time.monotonic() < stop, f"{name} did not end in {JOB_TIMEOUT:g} s")
            yield 0.5
        messages = find_module("jobs.job_messages")
        for item in messages._stored_messages(CONTEXT.scene):
            require(item.verdict != "failed", f"{name}: {item.message}")

    def count_hidden_jobs(self) -> None:
        """Count a running job of which the top of the tab does not show progress, time left or Cancel."""
        drawn: list[str] = []
        panel = find_module("panels.next_step").EXCITING_DANCE_PT_next_step
        panel.draw(SimpleNamespace(layout=ButtonListLayout(drawn)), CONTEXT)
        hidden = not {"progress", "exciting_dance.cancel"} <= set(drawn)
        self.figures["hidden jobs"] = self.figures.get("hidden jobs", 0.0) + hidden

    def animate(self) -> Iterator[float]:
        """The animator's tour."""
        if not bpy.app.background:
            region = self.open_tab()
            yield SETTLING_TIME
            region.active_panel_category = "Dance"
        yield from self.take_picture("first_screen")
        yield from self.run_job("import_rig")
        body = CONTEXT.view_layer.objects.active
        require(body is not None and body.type == "ARMATURE", "no rig is active after Add Rig")
        if bpy.app.background:  # Add Rig does this in a window only
            bpy.ops.object.mode_set(mode="POSE")
            OPERATORS.exciting_dance.live()
        require(CONTEXT.mode == "POSE", f"the rig is in the mode {CONTEXT.mode}, not in Pose Mode")
        live = find_module("live.control").LiveCheck
        require(live.session is not None, "the live check does not run")
        self.figures["clicks posing"] = self.clicks
        yield from self.take_picture("rig")
        yield from self.pose(body, live)
        yield from self.lift_foot(body, live)
        for bone in body.pose.bones:
            bone.matrix_basis.identity()
        CONTEXT.scene.exciting_dance_dance.postures = 4
        yield from self.run_job("design_dance")
        yield from self.wait_for_check(live)
        failing = live.session.results.failing_intervals()
        require(not failing, f"the designed dance does not pass the live check: {failing}")
        CONTEXT.scene.frame_set((CONTEXT.scene.frame_start + CONTEXT.scene.frame_end) // 2)
        yield from self.take_picture("dance")

    def pose(self, body: Any, live: Any) -> Iterator[float]:
        """Lower the pelvis between two keyed postures: the soles stay in place."""
        drag_module, timeline = find_module("posing.drag"), find_module("authoring.timeline")
        rig = find_module("scene.armature").rig_of(body)
        scene = CONTEXT.scene
        scene.frame_set(1)
        with view_override():
            OPERATORS.exciting_dance.key_posture()
        drag = drag_module.PoseDrag(live.session, rig.links[0], [0.0, 0.0, 0.0])
        yield from self.follow(drag, [0.0, 0.0, -DRAG])
        lowered = find_module("scene.pose_writer").read_pose(body)
        last = 1 + SECONDS * round(scene.render.fps)
        scene.frame_set(last)
        find_module("scene.pose_writer").restore_pose(body, lowered)
        with view_override():
            OPERATORS.exciting_dance.key_posture()
        places = []
        for frame in range(1, last + 1):
            scene.frame_set(frame)
            turns, origins = timeline.evaluated_links(CONTEXT.evaluated_depsgraph_get(), body, rig)
            for sole in rig.soles:
                index = rig.index(sole.link)
                places.append(sole.vertices @ turns[index].T + origins[index])
        count = len(rig.soles)
        slip = max(abs(place - places[number % count]).max() for number, place in enumerate(places))
        distance = 1e3 * float(np.linalg.norm(origins[0] - (drag.start - [0.0, 0.0, DRAG])))
        self.figures |= {"pelvis": distance, "slip": 1e3 * float(slip)}
        require(slip <= SLIP, f"a sole moves by {1e3 * slip:.2f} mm between the postures")
        yield from self.wait_for_check(live)
        yield from self.take_picture("lowered")

    def follow(self, drag: Any, shift: list[float]) -> Iterator[float]:
        """Drag a point by a shift [m], and keep the posture; nothing may hold it back."""
        drag.move(drag.start + shift)
        stop = time.monotonic() + JOB_TIMEOUT
        while not drag.is_settled:
            require(time.monotonic() < stop, "the body did not follow the drag")
            drag.apply()
            yield 0.02
        drag.apply()
        drag.end()
        require(not drag.describe(), f"{drag.link} was held: {drag.describe()}")

    def lift_foot(self, body: Any, live: Any) -> Iterator[float]:
        """Lift a foot from the posture at the start: the weight goes to the other one first."""
        drag_module, timeline = find_module("posing.drag"), find_module("authoring.timeline")
        rig = find_module("scene.armature").rig_of(body)
        with view_override():
            CONTEXT.scene.frame_set(1)
        foot = rig.soles[-1].link
        drag = drag_module.PoseDrag(live.session, foot, [0.0, 0.0, 0.0])
        yield from self.follow(drag, list(LIFT))
        yield from self.wait_for_check(live)
        loaded = {strip.patch for strip in timeline.sample_posture(CONTEXT, body).strips}
        others = {sole.name for sole in rig.soles if sole.link != foot}
        require(loaded == others, f"{loaded} carry load after {foot} was lifted")
        yield from self.take_picture("one_foot")

    def wait_for_check(self, live: Any) -> Iterator[float]:
        """Wait until the live check has checked all frames."""
        yield SETTLING_TIME
        stop = time.monotonic() + JOB_TIMEOUT
        while not (live.session.results is not None and live.session.results.done):
            require(time.monotonic() < stop, "the live check did not end")
            yield 1.0

    def open_tab(self) -> Any:
        """The sidebar of the 3D view."""
        window = CONTEXT.window_manager.windows[0]
        area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
        area.spaces.active.show_region_ui = True
        return next(region for region in area.regions if region.type == "UI")

    def clear_scene(self) -> None:
        """Stop the live check and remove all objects and actions, and go back to Author."""
        find_module("live.control").LiveCheck.stop(wait=True)
        with view_override():
            if CONTEXT.mode != "OBJECT":
                bpy.ops.object.mode_set(mode="OBJECT")
            bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])
        CONTEXT.scene.exciting_dance.mode = "author"
        CONTEXT.scene.timeline_markers.clear()

    def add_character(self, path: Path) -> None:
        """Clear the scene and add a character from a file."""
        use_clone()
        from tests.addon.characters import add_character

        self.clear_scene()
        with view_override():
            objects: Any = add_character(find_module("base.solver_api").CHARACTER.read(path), materials=0)
        body, mesh = objects
        body.data.display_type, body.show_in_front = "STICK", True
        mesh.data.shade_smooth()

    def use_character(self, path: Path) -> Iterator[float]:
        """Make a character a rig and pose it; then show the bones for approval, which are shown before."""
        if not bpy.app.background:
            region = self.open_tab()
            yield SETTLING_TIME
            region.active_panel_category = "Dance"
            with view_override():  # characters face -y, which is on the left at first
                bpy.ops.view3d.view_orbit(angle=np.radians(50.0), type="ORBITLEFT")
        self.add_character(path)
        yield from self.run_job("use_character", mass=70.0)
        live = find_module("live.control").LiveCheck
        if bpy.app.background:  # Use Character does this in a window only
            bpy.ops.object.mode_set(mode="POSE")
            OPERATORS.exciting_dance.live()
        rig = find_module("scene.armature").rig_of(CONTEXT.view_layer.objects.active)
        hand = next(link for link in rig.links if link.endswith("RightHand"))
        yield from self.follow(find_module("posing.drag").PoseDrag(live.session, hand, [0.0, 0.0, 0.0]), list(REACH))
        yield from self.wait_for_check(live)
        yield from self.take_picture("character")
        if not bpy.app.background:
            self.add_character(path)
            CONTEXT.window_manager.windows[0].cursor_warp(300, 120)  # beside the body
            yield SETTLING_TIME
            with view_override():
                OPERATORS.exciting_dance.use_character("INVOKE_DEFAULT")
            yield from self.take_picture("bones")

    def require_step(self, operator: str) -> None:
        """The big button is this operator, and it can be pressed."""
        step = find_module("interface.next_step").find_next_step(CONTEXT)
        require(step is not None and step.operator == operator, f"the tab offers {step}, not {operator}")
        require(getattr(OPERATORS.exciting_dance, operator).poll(), f"{operator} is offered and cannot be pressed")

    def take_foreign_motion(self) -> Iterator[float]:
        """A BVH at the importer's own scale plays on a body after one button; then a second rig and another frame rate:
        the live check follows the active rig, and no verdict about another state of it stays."""
        use_clone()
        from solver.demo.samples import write_samples

        self.clear_scene()
        write_samples(self.output / "samples")
        bpy.ops.import_anim.bvh(filepath=str(next((self.output / "samples").rglob("*.bvh"))), rotate_mode="NATIVE")
        self.clicks = 0
        self.require_step("retarget")
        yield from self.run_job("retarget", dialog=True)
        body = CONTEXT.view_layer.objects.active
        self.require_motion(body)
        self.figures["clicks foreign motion"] = self.clicks
        yield from self.take_picture("foreign_motion")
        yield from self.run_job("import_rig")
        second = CONTEXT.view_layer.objects.active
        require(second != body, "the second rig is not active")
        apart = (second.matrix_world.translation - body.matrix_world.translation).length
        require(apart < REST_DISTANCE, f"the second rig is {apart:.0f} m away")
        live = find_module("live.control").LiveCheck
        if live.session is None:
            OPERATORS.exciting_dance.live()
        yield from self.wait_for_check(live)
        require(live.session.body == second.session_uid, "the live check is not about the active rig")
        checked = live.session.results
        CONTEXT.scene.render.fps += 7
        yield 2.0 * SETTLING_TIME
        require(live.session.results is not checked, "a verdict about another frame rate stays")
        yield from self.wait_for_check(live)
        yield from self.take_picture("two_rigs")
        yield from self.change(second)
        CONTEXT.view_layer.objects.active = body
        yield 2.0 * SETTLING_TIME
        require(live.session.body == body.session_uid, "the live check does not follow to the first rig")

    def require_motion(self, body: Any) -> None:
        """The body's action moves its bones."""
        first, last = body.animation_data.action.frame_range
        places = []
        for frame in (first, 0.5 * (first + last)):
            CONTEXT.scene.frame_set(round(frame))
            places.append(np.array([bone.matrix for bone in body.pose.bones]))
        require(abs(places[0] - places[1]).max() > MOTION, f"the motion of {body.name} does not play")

    def take_foreign_character(self) -> Iterator[float]:
        """A skinned character with bones of another naming and a motion of its own, read from a glTF file, plays as a
        rig after one button and the OK of its dialog."""
        self.clear_scene()
        yield from self.run_job("import_rig")
        body = CONTEXT.view_layer.objects.active
        with view_override():
            bpy.ops.object.mode_set(mode="OBJECT")
            for name, other in UNREAL_NAMES.items():
                for side in ("left", "right") if other.endswith("_") else ("",):
                    body.data.bones[f"{side}_{name}".lstrip("_")].name = f"{other}{side[:1]}"
            for frame, angle in ((1, 0.0), (30, -0.8)):
                for side in "lr":
                    arm = body.pose.bones[f"upperarm_{side}"]
                    arm.rotation_mode, arm.rotation_euler.x = "XYZ", angle
                    arm.keyframe_insert("rotation_euler", frame=frame)
            path = str(self.output / "character.glb")
            bpy.ops.export_scene.gltf(filepath=path, export_apply=False, export_skins=True)
        self.clear_scene()
        with view_override():
            bpy.ops.import_scene.gltf(filepath=path)
        self.clicks = 0
        self.require_step("use_character")
        yield from self.run_job("use_character", dialog=True, mass=70.0)
        self.require_motion(CONTEXT.view_layer.objects.active)
        self.figures["clicks foreign character"] = self.clicks
        yield 2.0 * SETTLING_TIME
        yield from self.take_picture("foreign_character")

    def change(self, body: Any) -> Iterator[float]:
        """Twelve kinds of changes after a check: no verdict about the state before stays; each is undone by hand."""
        scene, live, other = CONTEXT.scene, find_module("live.control"), bpy.data.objects.new("other", None)
        messages, foot = find_module("jobs.job_messages"), next(bone for bone in body.pose.bones if "foot" in bone.name)
        soles = [sole.name for sole in find_module("scene.armature").rig_of(body).soles]
        changes: dict[str, Any] = {
            "frame rate": lambda: setattr(scene.render, "fps", scene.render.fps + 1),
            "range": lambda: setattr(scene, "frame_end", scene.frame_end + 10),
            "mass": lambda: foot.bone.__setitem__("mass", 2.0),
            "limits": lambda: OPERATORS.exciting_dance.limits(enforce=True),
            "constraint": lambda: setattr(foot.constraints.new("COPY_LOCATION"), "target", other),
            "no constraint": lambda: foot.constraints.remove(foot.constraints[-1]),
            "parent": lambda: setattr(body, "parent", other),
            "no parent": lambda: setattr(body, "parent", None),
            "unit scale": lambda: setattr(scene.unit_settings, "scale_length", 0.01),
            "no unit scale": lambda: setattr(scene.unit_settings, "scale_length", 1.0),
            "contact": lambda: find_module("authoring.keying").key_contacts(scene, body, {soles[0]: "sole"}),
            "key": lambda: foot.keyframe_insert("rotation_euler", frame=17),
        }
        stale = []
        for what, alter in changes.items():
            before = live.state_fingerprint(scene, body)
            said = messages.JobMessage("All checks pass", fingerprint=before)
            item = messages.store_message(scene, body, "dance", said)
            yield from self.wait_for_change(live, before)
            with view_override():
                alter()
            yield SETTLING_TIME
            stale += (
                [what] if live.LiveCheck.confirms(scene, item) or live.LiveCheck.session.fingerprint == before else []
            )
        self.figures["stale verdicts"] = float(len(stale))
        require(not stale, f"a verdict stays after these changes: {stale}")

    def wait_for_change(self, live: Any, fingerprint: str) -> Iterator[float]:
        """Wait until the live check is about a state of the rig."""
        stop = time.monotonic() + JOB_TIMEOUT
        while live.LiveCheck.session.fingerprint != fingerprint:
            require(time.monotonic() < stop, f"the live check does not follow: {live.LiveCheck.session.problem}")
            yield 0.2

    def research(self) -> Iterator[float]:
        """The researcher's tour, on simulated recordings."""
        self.clear_scene()
        CONTEXT.scene.exciting_dance.mode = "research"
        self.clicks = 1
        yield from self.run_job("sample_study")
        require(len(CONTEXT.scene.exciting_dance.files) == 6, "the sample study is not listed")
        yield from self.take_picture("recordings")
        yield from self.run_job("identify")
        body = CONTEXT.view_layer.objects.active
        require(body is not None and "mass" in body.data.bones[0], "no masses on the bones")
        self.figures["clicks masses"] = self.clicks
        CONTEXT.scene.frame_set((CONTEXT.scene.frame_start + CONTEXT.scene.frame_end) // 2)
        yield from self.take_picture("masses")


def write_figures(path: Path, figures: dict[str, float]) -> None:
    """Write what was measured, with Blender's version and the day."""
    found = {"blender": bpy.app.version_string, "day": time.strftime("%Y-%m-%d"), "figures": figures}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def run(output: Path, *, research: bool = True, character: Path | None = None) -> None:
    """Make both tours, or only the animator's or that of a character in a file, between redraws of the window, and
    quit; without a window one step after the other."""
    tour = Tour(output)

    def steps() -> Iterator[float]:
        yield 2.0
        if character is not None:
            yield from tour.use_character(character)
            return
        yield from tour.animate()
        if research:
            yield from tour.research()
        yield from tour.take_foreign_motion()
        yield from tour.take_foreign_character()

    remaining = steps()

    def step() -> float | None:
        try:
            delay = next(remaining, None)
        except Exception as error:
            if not isinstance(error, TourError):
                traceback.print_exc()
            print(f"The tour failed after picture {tour.count}: {error}", flush=True)
            os._exit(1)
        if delay is None and not bpy.app.background:
            write_figures(output / "figures.json", tour.figures)
            print(f"The tour is complete: {tour.count} pictures in {tour.output}", flush=True)
            bpy.ops.wm.quit_blender()
        return delay

    if not bpy.app.background:
        bpy.app.timers.register(step)
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __import__("addon.registration", fromlist=["_"]).register()
    while (delay := step()) is not None:
        stop = time.monotonic() + delay
        while time.monotonic() < stop:
            time.sleep(min(delay, WAIT))
            find_module("live.control")._tick()
    print(f"All {tour.count} steps are done in Blender {bpy.app.version_string}, without a window", flush=True)
    os._exit(0)  # Blender's module sometimes never returns from its exit handlers


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tour.py", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("tour"))
    parser.add_argument("--animator", action="store_true", help="only the animator's tour")
    parser.add_argument("--character", type=Path, metavar="FILE", help="only a character with Mixamo's bones")
    options = parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])
    run(options.output, research=not options.animator, character=options.character)
