"""What a rig's dance is held to: fields of the panel, one value for every button."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import pytest

from addon.authoring import dances, timeline
from addon.checks import KEY, checks_of, hold_to, settings_of, words_of
from addon.live.session import watched
from solver.check_options import DANCE_CHECKS, CheckOptions
from solver.cli import OK, main, parser
from solver.cli.dances import requested_checks
from solver.errors import InvalidValue
from solver.rigs import hoap3
from tests.addon.scenes import build

WORDS = [
    "dance",
    "hoap3",
    "--postures",
    "both=1",
    "--effort",
    "0.02",
    "--shortest",
    "1",
    "--hold",
    "0.3",
    "--workers",
    "1",
    "--progress",
    "none",
]


@pytest.fixture
def body(registered: None) -> bpy.types.Object:
    """A rig that carries nothing yet."""
    return build(hoap3())


def test_a_new_rig_has_the_defaults_of_dances(body: bpy.types.Object) -> None:
    """The fields show the package's defaults, and showing them stores nothing."""
    fields = settings_of(body)
    assert fields.shrink == pytest.approx(DANCE_CHECKS.shrink)
    assert fields.allowed_slip == pytest.approx(DANCE_CHECKS.allowed_slip)
    assert fields.pairs == "all"
    assert checks_of(body) == DANCE_CHECKS
    assert KEY not in body


def test_a_field_changes_its_own_choice_alone(body: bpy.types.Object) -> None:
    """What was set elsewhere, in double precision or without a field, stays; what is typed has its digits."""
    own = CheckOptions(shrink=1.0 / 3.0, pairs=(("chest", "left_foot"),), distribution="line", flight=0.05)
    hold_to(body, own)
    fields = settings_of(body)
    assert fields.pairs == "own"
    fields.friction = 0.7
    assert checks_of(body) == replace(own, friction=0.7)
    fields.pairs = "paper"
    assert checks_of(body) == replace(own, friction=0.7, pairs="paper")
    fields.pairs = "own"  # there are none any more
    assert checks_of(body).pairs == "paper"
    fields.clearance = 0.05
    assert checks_of(body).reach > checks_of(body).clearance == 0.05


def test_the_timeline_of_a_designed_dance_is_held_to_what_it_was_designed_for(registered: None, tmp_path: Path) -> None:
    """From Design through the scene to what Check, Balance and Live are given it is the same value."""
    chosen = ["--shrink", "0.3", "--friction", "0.45"]
    assert main([*WORDS, *chosen, "--output", str(tmp_path / "dance")]) == OK
    body = dances.show_dance(bpy.context, dances.read_dance(tmp_path / "dance"))
    expected = replace(DANCE_CHECKS, shrink=0.3, friction=0.45)
    assert checks_of(body) == expected
    shown = timeline.sample(bpy.context.scene, body)
    assert shown.checks == timeline.posture(bpy.context, body).checks == expected
    options = parser().parse_args(["dance", "hoap3", "--output", "x", *words_of(body)])
    assert all(getattr(expected, name) == value for name, value in requested_checks(options).items())


def test_a_changed_choice_is_a_change_to_the_live_check(body: bpy.types.Object) -> None:
    """Whoever sets it, the live check sees other choices than before."""
    scene = bpy.context.scene
    before = watched(scene, body)
    settings_of(body).shrink = 0.2
    assert watched(scene, body) != before


def test_a_damaged_choice_is_told(body: bpy.types.Object) -> None:
    """A custom property edited by hand: the error names it and the rig; the panel can still be drawn."""
    body[KEY] = '{"shrink": 7}'
    with pytest.raises(InvalidValue, match=r"dance checks.*share in"):
        checks_of(body)
    assert settings_of(body).shrink == pytest.approx(DANCE_CHECKS.shrink)
