"""Known corrections of plates are used for further trials, and disagreements are reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.options.plates import (
    FREE_MOMENT,
    MASS,
    POSITION,
    REVERSED,
    KnownLayout,
    KnownOffset,
    KnownPlates,
    PlateOptions,
)
from solver.options.study import Settings
from solver.rig import Rig
from solver.signals import preset_of
from solver.study.comparison import compare
from solver.study.pipeline import prepare
from solver.study.plates.finding import Action, PlateCorrection
from solver.study.plates.known_plates import collect_known_plates
from solver.study.values import Study, TrialRecord
from solver.wrenches import Wrenches

PRESET = preset_of("human_8hz")
HERE, SHIFT = (0.0, 0.0, 0.0), (0.0, 0.012, 0.0)
Robot = tuple[Rig, TrialRecord]


def sensors(robot: Robot) -> Wrenches:
    """Its recorded wrenches."""
    wrenches = robot[1].recording.wrenches
    assert wrenches is not None
    return wrenches


def prepared(robot: Robot, known: KnownPlates | None, *, factor: float = 1.0) -> Study:
    """The robot's trial with known plates, its free moment multiplied by a factor in software."""
    rig, record = robot
    wrenches = sensors(robot).with_free_moments(factor)
    record = replace(record, recording=replace(record.recording, wrenches=wrenches))
    return prepare(rig, [record], Settings(plates=PlateOptions(known=known)))


def layout(robot: Robot, free: float, shift: tuple[float, ...] = HERE) -> KnownPlates:
    """Known corrections of the robot's sensors."""
    return KnownPlates((KnownLayout(sensors(robot).frames, free, shift),))


def test_known_signs_and_locations_are_used(robot: Robot) -> None:
    """On the same plates a trial gets the known sign and location, not its own."""
    found = prepared(robot, layout(robot, -1.0, SHIFT), factor=-1.0)
    assert found.records[0].plate_correction.free_moment == -1.0
    assert tuple(found.records[0].plate_correction.shift) == SHIFT
    assert not [finding for finding in found.findings if finding.done is Action.REPORTED]


def test_known_plates_do_not_affect_other_plates(robot: Robot) -> None:
    """Known plates with other names change nothing."""
    found = prepared(robot, KnownPlates((KnownLayout(("another",), -1.0, SHIFT),)))
    assert found.records[0].plate_correction.free_moment == 1.0
    assert not found.records[0].plate_correction.shift.any()


def test_a_disagreement_with_known_plates_is_reported(robot: Robot) -> None:
    """If the known plates are reversed and the trial's are not, the known sign is used and a finding says so."""
    found = prepared(robot, layout(robot, -1.0))
    reported = [finding for finding in found.findings if finding.done is Action.REPORTED]
    assert [finding.kind for finding in reported] == [FREE_MOMENT]
    assert "another sign" in reported[0].sentence
    assert found.records[0].plate_correction.free_moment == -1.0


def test_known_offsets_are_matched_by_the_plates_reading(robot: Robot) -> None:
    """Plates with the reading of known ones get their bias; plates with another reading give a finding."""
    mass = prepared(robot, None).mass
    bias = (0.0, 0.0, -5.0, 0.0, 0.0, 0.0)
    alike = prepared(robot, KnownPlates(offsets=(KnownOffset(mass.mass, bias), KnownOffset(3.0 * mass.mass, bias))))
    assert alike.records[0].bias == pytest.approx(np.array(bias))
    other = prepared(robot, KnownPlates(offsets=(KnownOffset(1.2 * mass.mass, bias),)))
    assert [finding.kind for finding in other.findings if finding.done is Action.REPORTED] == [MASS]
    assert other.records[0].bias == pytest.approx(mass.bias_of("dance"))


def test_options_take_precedence_over_known_plates(robot: Robot) -> None:
    """A specified use of the free moment, or an overridden location, is not replaced by known plates."""
    rig, record = robot
    known = layout(robot, 1.0, SHIFT)
    found = prepare(rig, [record], Settings(plates=PlateOptions(REVERSED, (POSITION,), known)))
    assert found.records[0].plate_correction.free_moment == -1.0
    assert not found.records[0].plate_correction.shift.any()


def test_layouts_with_conflicting_corrections_are_not_known() -> None:
    """A layout is known if all of its trials have the same correction."""
    shifted = PlateCorrection(-1.0, np.array(SHIFT))
    found = collect_known_plates(
        [(("a",), shifted), (("a",), shifted), (("b",), shifted), (("b",), PlateCorrection())], None
    )
    assert found.layouts == (KnownLayout(("a",), -1.0, SHIFT),)


def test_compare_returns_warnings_of_plates_and_files(robot: Robot) -> None:
    """A comparison returns the warnings of its own plate checks and of reading the files."""
    rig, record = robot
    turned = sensors(robot).with_free_moments(-1.0)
    changed = replace(record.recording, wrenches=turned, warnings=("read past something",))
    _, warnings = compare([changed], rig, rig.prior, rig.prior, Settings())
    assert "read past something" in warnings
    assert any("wrong sign" in text for text in warnings)
