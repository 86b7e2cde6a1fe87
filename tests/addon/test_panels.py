"""What panels and overlays show, as far as it can be told without a window."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from addon import registration
from addon.live.check_colours import FAIL_COLOUR, NEAR_COLOUR, PASS_COLOUR
from addon.live.overlays import com_colour
from addon.panels import sidebar
from addon.panels.messages import ICON_WIDTH, LETTER_WIDTH, MARGIN_WIDTH, letters_per_line
from addon.solver_api import SceneFrame
from solver.rigs import hoap3
from tests.addon.scenes import build

SQUARE = np.array([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)])


@pytest.mark.parametrize("width", [260.0, 292.0, 600.0])
@pytest.mark.parametrize("share", [0.7, 1.0])
def test_a_line_fills_the_panel_and_does_not_pass_its_edge(width: float, share: float) -> None:
    """One letter more would not fit; without an icon there is room for the letters in its place."""
    for bare, icon in ((False, ICON_WIDTH), (True, 0.0)):
        room, count = share * (width - MARGIN_WIDTH) - icon, letters_per_line(width, share, without_icon=bare)
        assert count * LETTER_WIDTH <= room < (count + 1) * LETTER_WIDTH
    assert letters_per_line(width, share, without_icon=True) > letters_per_line(width, share)


@pytest.mark.parametrize(
    ("place", "balanced", "colour"),
    [
        ((0.0, 0.0), True, PASS_COLOUR),
        ((0.0, 0.0), False, PASS_COLOUR),
        ((0.3, 0.0), True, NEAR_COLOUR),
        ((0.3, 0.0), False, FAIL_COLOUR),
    ],
)
def test_a_moving_body_may_have_its_mass_outside_its_feet(place: tuple, balanced: bool, colour: tuple) -> None:
    """Only out of balance is it shown as a failure: a step or a swing takes the centre of mass over the edge."""
    frame = SceneFrame(0, 0.0, (), (), (), (), balanced, (*place, 1.0), None, polygon=SQUARE)
    assert com_colour(frame) == colour


def test_nothing_unfolds_above_an_answer(registered: None) -> None:
    """Panels above Identify and its answer that a new rig makes appear, and parts of panels, are folded until somebody
    unfolds them.
    """

    def folded(cls: Any) -> bool:
        return "DEFAULT_CLOSED" in getattr(cls, "bl_options", ())

    panels: list[Any] = [cls for cls in registration.CLASSES if issubclass(cls, bpy.types.Panel)]
    roots = [cls for cls in panels if not hasattr(cls, "bl_parent_id")]
    above = [cls for cls in roots if cls.bl_order < sidebar.EXCITING_DANCE_PT_identify.bl_order]
    hidden = [cls for cls in above if hasattr(cls, "poll") and not cls.poll(bpy.context)]
    build(hoap3())
    come = [cls for cls in hidden if cls.poll(bpy.context)]
    assert come
    assert all(map(folded, come))
    parts = [(cls, part) for cls in above for part in panels if getattr(part, "bl_parent_id", "") == cls.__name__]
    assert len(parts) > 5
    for cls, part in parts:
        assert folded(cls) or folded(part), part
