"""Panels and overlays, as far as they can be tested without a window."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import blf
import bpy
import numpy as np
import pytest

from addon import operators, panels, registration
from addon.authoring import keying
from addon.authoring.ghost import GHOST_KEY, OPERATION_KEY
from addon.authoring.taken_back import TAKEN_BACK_KEY
from addon.base.solver_api import SceneFrame
from addon.display.properties import AUTHOR, RESEARCH, study_settings
from addon.jobs.job_messages import JobMessage, store_message
from addon.live.check_colours import FAIL_COLOUR, NEAR_COLOUR, PASS_COLOUR
from addon.live.overlays import com_colour
from addon.panels import PANELS
from addon.panels.messages import ICON_WIDTH, MARGIN_WIDTH, draw_wrapped, wrap_text
from addon.scene.armature import rig_of
from benchmarks.window import MODES, MOST_CONTROLS, count_controls
from solver.rigs import hoap3
from tests.addon.scenes import build

SQUARE = np.array([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)])


@pytest.mark.parametrize(
    ("width", "icons"), [(60.0, ("NONE", "NONE")), (200.0, ("INFO", "BLANK1")), (600.0, ("INFO", "BLANK1"))]
)
def test_wrapped_lines_fit_the_panel(width: float, icons: tuple[str, str]) -> None:
    """Each line fits, with the first word of the next it would not, and no word is lost. Cut after two lines, the icon
    is before the first.
    """
    text = "Masses from its mesh; shows the bones to approve, or WWWWW and iiiii"
    lines = wrap_text(text, width)
    assert " ".join(lines) == text
    assert all(blf.dimensions(0, line)[0] <= width or " " not in line for line in lines)
    assert all(blf.dimensions(0, f"{a} {b.split()[0]}")[0] > width for a, b in pairwise(lines))
    context: Any = SimpleNamespace(
        region=SimpleNamespace(width=2.0 * (width + MARGIN_WIDTH + ICON_WIDTH * (icons[0] == "INFO"))),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=2.0)),
    )
    labels: list[tuple[str, str]] = []
    column: Any = SimpleNamespace(label=lambda text, icon: labels.append((text, icon)))
    assert draw_wrapped(context, column, text, icon=icons[0], most_lines=2) == len(lines) - 2
    assert labels == list(zip(lines if len(lines) <= 2 else (lines[0], f"{lines[1]} ..."), icons))


@pytest.mark.parametrize(
    ("place", "balanced", "colour"),
    [
        ((0.0, 0.0), True, PASS_COLOUR),
        ((0.0, 0.0), False, PASS_COLOUR),
        ((0.3, 0.0), True, NEAR_COLOUR),
        ((0.3, 0.0), False, FAIL_COLOUR),
    ],
)
def test_moving_body_may_have_its_centre_of_mass_outside(place: tuple, balanced: bool, colour: tuple) -> None:
    """A centre of mass outside the support polygon is a failure only if balance fails."""
    frame = SceneFrame(0, 0.0, (), (), (), (), balanced, (*place, 1.0), None, polygon=SQUARE)
    assert com_colour(frame) == colour


def visible_panels() -> list[Any]:
    """Panels of the tab that are open at first, in the order in which Blender draws them."""
    found: list[Any] = [cls for cls in registration.CLASSES if issubclass(cls, bpy.types.Panel)]
    roots = [cls for cls in found if not hasattr(cls, "bl_parent_id") and cls.poll(bpy.context)]
    return [cls for cls in roots if "DEFAULT_CLOSED" not in getattr(cls, "bl_options", ())]


def test_each_mode_opens_its_own_panels(registered: None) -> None:
    """Besides the next step, Author opens the postures and Research the results; all other panels start closed."""
    build(hoap3())
    opened = {}
    for mode in (AUTHOR, RESEARCH):
        study_settings(bpy.context).mode = mode
        opened[mode] = {cls.__name__.partition("_PT_")[2] for cls in visible_panels()}
    assert opened == {AUTHOR: {"next_step", "postures"}, RESEARCH: {"next_step", "results"}}


@pytest.mark.parametrize("mode", MODES)
def test_few_controls_are_visible_at_first(registered: None, mode: str) -> None:
    """In a scene without a rig, with one, with a dance, its message, and a ghost that takes a part of it back, a mode
    shows at most 12 controls, and the modes first."""
    shown = count_controls(registration, mode)
    assert shown[:2] == ["mode", "mode"]
    assert 3 <= len(shown) <= MOST_CONTROLS
    body = build(hoap3())
    assert 3 <= len(count_controls(registration, mode)) <= MOST_CONTROLS
    for frame in (1, 20):
        bpy.context.scene.frame_set(frame)
        keying.key_posture(bpy.context.scene, body, "preferred")
    assert 3 <= len(count_controls(registration, mode)) <= MOST_CONTROLS
    store_message(bpy.context.scene, body, "dance", JobMessage("Balanced", notes=("the pelvis moved",)))
    assert 3 <= len(count_controls(registration, mode)) <= MOST_CONTROLS
    ghost = bpy.data.objects.new("Ghost", bpy.data.armatures.new("Ghost"))
    bpy.context.scene.collection.objects.link(ghost)
    ghost[GHOST_KEY], ghost[OPERATION_KEY] = body, "balanced"
    ghost[TAKEN_BACK_KEY] = {"frame": 20.0, "link": rig_of(body).links[0], "place": [0.0, 0.0, 0.0]}
    shown = count_controls(registration, mode)
    assert ("exciting_dance.apply_ghost" in shown) == ("exciting_dance.keep_posture" in shown) == (mode == AUTHOR)
    assert 3 <= len(shown) <= MOST_CONTROLS


def test_height_mass_and_sex_appear_once(registered: None) -> None:
    """Also with all panels open, each mode has one field for each of height, mass and sex of a person."""
    for mode in MODES:
        for listed in (False, True):
            if listed:
                study_settings(bpy.context).files.add().path = "squat.trc"
            shown = count_controls(registration, mode, opened=True)
            assert [sum(map(shown.count, names)) for names in (("height",), ("sex",), ("mass", "weigh"))] == [1, 1, 1]
            study_settings(bpy.context).files.clear()


def test_a_part_of_a_panel_starts_closed(registered: None) -> None:
    """Every subpanel is closed at first."""
    parts = [cls for cls in registration.CLASSES if hasattr(cls, "bl_parent_id")]
    assert len(parts) > 5
    assert [cls.__name__ for cls in parts if "DEFAULT_CLOSED" not in cls.bl_options] == []


PANEL = """
import blf
import bpy

from addon.panels.base import DancePanel


class EXCITING_DANCE_PT_example(DancePanel, bpy.types.Panel):
    bl_label = "Example"

    def draw(self, context):
        self.layout.operator("exciting_dance.example")


CLASSES = (EXCITING_DANCE_PT_example,)
"""
OPERATOR = """
import blf
import bpy

from addon.operators.base import AtomicOperator


class EXCITING_DANCE_OT_example(AtomicOperator, bpy.types.Operator):
    bl_idname = "exciting_dance.example"
    bl_label = "Example"

    def run(self, context):
        return {"FINISHED"}


CLASSES = (EXCITING_DANCE_OT_example,)
"""


def test_a_panel_is_one_file_and_one_row(registered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new panel and its operator are one file and one row each; Blender then has the panel in the tab."""
    added: list[Any] = []
    for package, rows, source in ((operators, operators.OPERATORS, OPERATOR), (panels, PANELS, PANEL)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "example.py").write_text(source, encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        known = list(registration.load_classes(package.__name__.rpartition(".")[2], rows))
        now = list(registration.load_classes(package.__name__.rpartition(".")[2], (*rows, "example")))
        assert now[:-1] == known
        added.append(now[-1])
    for cls in added:
        bpy.utils.register_class(cls)
    try:
        assert bpy.types.EXCITING_DANCE_PT_example.bl_category == "Dance"
        assert bpy.ops.exciting_dance.example() == {"FINISHED"}
    finally:
        for cls in reversed(added):
            bpy.utils.unregister_class(cls)
