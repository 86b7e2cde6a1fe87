"""Laws of single plates: a location or gain that differs from the rest of the layout is corrected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures.mismatched import with_forces
from solver.options.plates import MASS, POSITION, KnownPlates, PlateOptions
from solver.options.study import Settings
from solver.rig import Rig
from solver.signals import preset_of
from solver.study.pipeline import prepare
from solver.study.plates.finding import Action, Finding, PlateCorrection
from solver.study.plates.known_plates import collect_known_plates
from solver.study.values import Study, TrialRecord
from solver.wrenches import Wrenches

PRESET = preset_of("human_8hz")
DISPLACEMENTS = np.array([[0.0, 0.0, 0.0], [0.0, 0.05, 0.0]])
GAINS = np.array([1.0, 0.95])
Body = tuple[Rig, tuple[TrialRecord, ...]]


def plate_findings(prepared: Study) -> list[Finding]:
    """Findings about single plates."""
    return [f for f in prepared.findings if f.kind in (POSITION, MASS) and "layout" in f.text and not f.done.is_silent]


def relative_correction(prepared: Study) -> np.ndarray:
    """(2,) Correction of the second plate minus that of the first: sideways [m], and gain."""
    plates = prepared.records[0].plate_correction
    shifts = plates.shifts if len(plates.shifts) else np.zeros((2, 3))
    gains = plates.gains if len(plates.gains) else np.ones(2)
    return np.array([shifts[1, 1] - shifts[0, 1], gains[1] - gains[0]])


def test_correct_plates_are_not_changed(walks: Body) -> None:
    """Single plates that are right give no finding, and nothing is changed."""
    found = prepare(*walks)
    assert plate_findings(found) == []
    assert relative_correction(found).tolist() == [0.0, 0.0]


def test_one_displaced_plate_is_corrected(walks: Body) -> None:
    """One plate moved 5 cm in software: the displacement is corrected, within the uncertainty between steps."""
    rig, records = walks
    found = prepare(rig, with_forces(lambda w: w.displaced(DISPLACEMENTS))(records))
    assert {finding.done for finding in plate_findings(found)} == {Action.UNDONE}
    assert relative_correction(found) == pytest.approx([-0.05, 0.0], abs=0.008)
    assert all(f.interval[0] < f.evidence < f.interval[1] for f in plate_findings(found))


def test_the_gain_of_one_plate_is_corrected(walks: Body) -> None:
    """Readings of one plate lowered by 5 % in software: its factor is larger than the other one's by as much."""
    rig, records = walks
    found = prepare(rig, with_forces(lambda w: w.scaled(GAINS))(records))
    assert {finding.kind for finding in plate_findings(found)} == {MASS}
    assert relative_correction(found) == pytest.approx([0.0, 0.05], abs=0.012)


def test_overridden_findings_change_no_plate(walks: Body) -> None:
    """If overridden, both findings are reported and nothing is changed."""
    rig, records = walks
    changed = with_forces(lambda w: w.scaled(GAINS).displaced(DISPLACEMENTS))(records)
    found = prepare(rig, changed, Settings(plates=PlateOptions(report_only=(POSITION, MASS))))
    assert {finding.done for finding in plate_findings(found)} == {Action.OVERRIDDEN}
    assert relative_correction(found).tolist() == [0.0, 0.0]


def test_known_corrections_of_single_plates_are_used(walks: Body) -> None:
    """A trial on known plates gets their locations and gains, not its own."""
    rig, records = walks
    wrenches = records[0].recording.wrenches
    correction = PlateCorrection(1.0, np.zeros(3), -DISPLACEMENTS, 1.0 / GAINS)
    known = collect_known_plates([(wrenches.frames, correction)], None)
    assert known == KnownPlates(known.layouts)
    found = prepare(rig, records, Settings(plates=PlateOptions(known=known)))
    assert relative_correction(found) == pytest.approx([-0.05, 1.0 / 0.95 - 1.0])


def test_inverse_factors_and_displacements_restore_the_plates() -> None:
    """Scaled and displaced plates are restored exactly by the inverse factors and displacements."""
    values = np.random.default_rng(0).standard_normal((5, 2, 6))
    right = Wrenches(np.arange(5) / 100.0, ("one", "two"), values)
    wrong = replace(right.displaced(DISPLACEMENTS), values=right.displaced(DISPLACEMENTS).values * GAINS[:, None])
    undone = PlateCorrection(shifts=-DISPLACEMENTS, gains=1.0 / GAINS).apply(wrong)
    np.testing.assert_allclose(undone.values, right.values, atol=1e-12)
