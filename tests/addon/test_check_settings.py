"""What a rig's dance is held to: fields of the panel, one value for every button."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import pytest

from addon.authoring import dance_import as dances
from addon.authoring import timeline
from addon.check_settings import CHECKS_KEY, check_arguments, check_settings, read_checks, store_checks
from addon.live.session import watched_options
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
    fields = check_settings(body)
    assert fields.shrink == pytest.approx(DANCE_CHECKS.shrink)
    assert fields.allowed_slip == pytest.approx(DANCE_CHECKS.allowed_slip)
    assert fields.pairs == "all"
    assert read_checks(body) == DANCE_CHECKS
    assert CHECKS_KEY not in body


def test_a_field_changes_its_own_choice_alone(body: bpy.types.Object) -> None:
    """What was set elsewhere, in double precision or without a field, stays; what is typed has its digits."""
    own = CheckOptions(shrink=1.0 / 3.0, pairs=(("chest", "left_foot"),), distribution="line", flight=0.05)
    store_checks(body, own)
    fields = check_settings(body)
    assert fields.pairs == "own"
    fields.friction = 0.7
    assert read_checks(body) == replace(own, friction=0.7)
    fields.pairs = "paper"
    assert read_checks(body) == replace(own, friction=0.7, pairs="paper")
    fields.pairs = "own"  # there are none any more
    assert read_checks(body).pairs == "paper"
    fields.clearance = 0.05
    assert read_checks(body).reach > read_checks(body).clearance == 0.05


def test_the_timeline_of_a_designed_dance_is_held_to_what_it_was_designed_for(registered: None, tmp_path: Path) -> None:
    """From Design through the scene to what Check, Balance and Live are given it is the same value."""
    chosen = ["--shrink", "0.3", "--friction", "0.45"]
    assert main([*WORDS, *chosen, "--output", str(tmp_path / "dance")]) == OK
    body = dances.show_dance(bpy.context, dances.read_dance(tmp_path / "dance"))
    expected = replace(DANCE_CHECKS, shrink=0.3, friction=0.45)
    assert read_checks(body) == expected
    shown = timeline.sample_timeline(bpy.context.scene, body)
    assert shown.checks == timeline.sample_posture(bpy.context, body).checks == expected
    options = parser().parse_args(["dance", "hoap3", "--output", "x", *check_arguments(body)])
    assert all(getattr(expected, name) == value for name, value in requested_checks(options).items())


def test_a_changed_choice_is_a_change_to_the_live_check(body: bpy.types.Object) -> None:
    """Whoever sets it, the live check sees other choices than before."""
    scene = bpy.context.scene
    before = watched_options(scene, body)
    check_settings(body).shrink = 0.2
    assert watched_options(scene, body) != before


def test_a_damaged_choice_is_told(body: bpy.types.Object) -> None:
    """A custom property edited by hand: the error names it and the rig; the panel can still be drawn."""
    body[CHECKS_KEY] = '{"shrink": 7}'
    with pytest.raises(InvalidValue, match=r"dance checks.*share in"):
        read_checks(body)
    assert check_settings(body).shrink == pytest.approx(DANCE_CHECKS.shrink)
