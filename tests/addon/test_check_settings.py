"""Check settings of a rig: the fields of the panel and all buttons use one value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import pytest

from addon.authoring import dance_import, timeline
from addon.scene.check_settings import CHECKS_KEY, check_arguments, check_settings, read_checks, store_checks
from solver.base.errors import InvalidValue
from solver.cli import parser
from solver.cli.argument_types import given
from solver.options.checks import DANCE_CHECKS, CheckOptions
from solver.rigs import hoap3
from tests.addon.scenes import build


@pytest.fixture
def body(registered: None) -> bpy.types.Object:
    """A rig without stored checks."""
    return build(hoap3())


def test_new_rig_has_default_checks(body: bpy.types.Object) -> None:
    """The fields show the defaults of the package, and displaying them stores nothing."""
    fields = check_settings(body)
    assert fields.shrink == pytest.approx(DANCE_CHECKS.shrink)
    assert fields.allowed_slip == pytest.approx(DANCE_CHECKS.allowed_slip)
    assert read_checks(body) == DANCE_CHECKS
    assert CHECKS_KEY not in body


def test_field_changes_only_its_own_option(body: bpy.types.Object) -> None:
    """Other options keep their values in double precision; a typed value is rounded to its digits."""
    own = CheckOptions(shrink=1.0 / 3.0, pairs=(("chest", "left_foot"),), distribution="soles", flight=0.05)
    store_checks(body, own)
    fields = check_settings(body)
    fields.friction = 0.7
    assert read_checks(body) == replace(own, friction=0.7)
    fields.clearance = 0.05
    assert read_checks(body).reach > read_checks(body).clearance == 0.05


def test_designed_dance_is_checked_with_its_design_options(registered: None, designed: Path) -> None:
    """Check, Balance and Live Check get the check options with which a dance was designed."""
    body = dance_import.show_dance(bpy.context, dance_import.read_dance(designed))
    expected = replace(DANCE_CHECKS, shrink=0.3, friction=0.45)
    assert read_checks(body) == expected
    shown = timeline.sample_timeline(bpy.context.scene, body)
    assert shown.checks == timeline.sample_posture(bpy.context, body).checks == expected
    options = parser().parse_args(["dance", "hoap3", "--output", "x", *check_arguments(body)])
    assert all(getattr(expected, name) == value for name, value in given(options, CheckOptions).items())


def test_damaged_check_options_are_reported(body: bpy.types.Object) -> None:
    """For a damaged custom property the error names property and rig, and the panel can still be drawn."""
    body[CHECKS_KEY] = '{"shrink": 7}'
    with pytest.raises(InvalidValue, match=r"dance checks.*shrink must be a number from 0 to below 1"):
        read_checks(body)
    assert check_settings(body).shrink == pytest.approx(DANCE_CHECKS.shrink)
