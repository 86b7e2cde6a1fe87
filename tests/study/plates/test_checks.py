"""Forces that do not belong to their motion are found with the cause; correct forces are not changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures.mismatched import (
    CASES,
    Case,
    Records,
    exchange_forces,
    freeze_forces,
    is_reported,
    prepare_messages,
    with_forces,
)
from solver.base.errors import InvalidValue
from solver.options.plates import CROSSTALK, FREE_MOMENT, FROZEN, MASS, MISMATCH, POSITION, PlateOptions
from solver.options.study import Settings
from solver.signals import preset_of
from solver.signals.plate_errors import POSITION as POSITION_PARAMETER
from solver.skeleton.rig import Rig
from solver.study.plates.finding import Action, Finding
from solver.study.plates.frozen_samples import find_dropouts, find_repeated_forces, find_repeated_markers
from solver.study.prepare import prepare
from solver.study.values import StudyData, TrialRecord
from solver.values.motion import Markers
from solver.values.wrenches import Wrenches

PRESET = preset_of("human_8hz")
BY_NAME = {case.name: case for case in CASES}
Body = tuple[Rig, tuple[TrialRecord, ...]]


def findings(prepared: StudyData, kind: str) -> list[Finding]:
    """Findings of one kind."""
    return [finding for finding in prepared.findings if finding.kind == kind]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_mismatch_is_found_with_its_cause(walks: Body, case: Case) -> None:
    """Trials changed in software in twelve ways: each warning names the cause."""
    found, text = is_reported(case, *walks, mass=walks[0].prior.total_mass)
    assert found, text


def test_correct_forces_cause_no_warning(walks: Body) -> None:
    """Trials as recorded: no warning, and no finding needs one."""
    prepared = prepare(*walks)
    assert prepare_messages(*walks) == ""
    assert prepared.findings
    assert {finding.done for finding in prepared.findings} <= {Action.NOTHING, Action.TAKEN_OFF}  # a lag of some ms


def test_a_trial_that_does_not_belong_is_left_out(walks: Body) -> None:
    """One of two trials with reversed horizontal forces: it gives no equations, the other one does."""
    rig, records = walks
    changed = [BY_NAME["horizontal forces reversed"].modify(records)[0], records[1]]
    prepared = prepare(rig, changed)
    assert [finding.trials for finding in findings(prepared, MISMATCH)] == [(records[0].name,)]
    assert prepared.records[0].trial is None
    assert prepared.records[0].motion is not None
    assert prepared.records[1].trial is not None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("horizontal forces reversed", MISMATCH),
        ("forces frozen for up to 2 s", FROZEN),
        ("plates elsewhere by 4 cm", POSITION),
        ("forces in kilograms-force", MASS),
        ("a stated mass that every plate contradicts", MASS),
    ],
)
def test_findings_can_be_overridden(walks: Body, name: str, kind: str) -> None:
    """If a finding is overridden, the study continues with the recorded wrenches, and the finding says so."""
    rig, records = walks
    case = BY_NAME[name]
    stated = None if case.stated_mass is None else case.stated_mass * rig.prior.total_mass
    # such forces may also not belong to the motion, which is not tested here
    options = PlateOptions(report_only=tuple({kind, MISMATCH, CROSSTALK}))
    prepared = prepare(rig, case.modify(records), Settings(plates=options), stated_mass=stated)
    assert Action.OVERRIDDEN in {finding.done for finding in findings(prepared, kind)}
    assert all(record.trial is not None for record in prepared.records)
    removed = [found for found in prepared.findings if found.done is Action.UNDONE and found.kind != FREE_MOMENT]
    assert removed == []


def test_frames_with_frozen_forces_do_not_count(walks: Body) -> None:
    """Half a trial frozen: the frozen frames give no equations, the rest does."""
    rig, records = walks
    before, after = (prepare(rig, r).records[0].trial for r in (records, with_forces(freeze_forces)(records)))
    assert 0 < after.counted.sum() < before.counted.sum()


def test_only_exact_repetition_is_frozen() -> None:
    """Samples that repeat exactly under load are frozen; samples with noise or without load are not."""
    generator = np.random.default_rng(0)
    values = np.zeros((300, 1, 6))
    values[:, 0, 2] = 600.0 + 0.01 * generator.standard_normal(300)
    values[100:200] = values[100]
    values[250:] = 0.0
    still = find_repeated_forces(Wrenches(np.arange(300) / 100.0, ("plate",), values), 60.0)
    assert np.flatnonzero(still).tolist() == list(range(100, 200))


def test_markers_that_repeat_are_frozen() -> None:
    """Frames in which every marker repeats exactly are frozen; a person who stands still is not."""
    positions = 1e-5 * np.random.default_rng(0).standard_normal((200, 4, 3))
    positions[50:80] = positions[50]
    positions[:, 3] = np.nan
    still = find_repeated_markers(Markers(np.arange(200) / 100.0, tuple("abcd"), positions))
    assert np.flatnonzero(still).tolist() == list(range(50, 80))


def test_frozen_markers_are_found(walks: Body) -> None:
    """Markers that repeat for half a second while the forces change are found, and those frames do not count."""
    rig, records = walks
    markers = records[0].recording.markers
    positions = markers.positions.copy()
    positions[80:130] = positions[80]
    frozen = replace(records[0].recording, markers=Markers(markers.times, markers.names, positions))
    prepared = prepare(rig, [replace(records[0], recording=frozen), records[1]])
    reported = findings(prepared, FROZEN)
    assert [finding.trials for finding in reported] == [(records[0].name,)]
    assert "markers are frozen while the forces change, for 0.5" in reported[0].text
    trial = prepared.records[0].trial
    inside = (trial.motion.times > markers.times[80]) & (trial.motion.times < markers.times[129])
    assert not trial.counted[inside].any()


def test_displaced_plates_are_corrected(walks: Body) -> None:
    """Plates moved 4 cm to the side are moved back, as far as the body's own asymmetry does not explain it."""
    rig, records = walks
    displaced = BY_NAME["plates elsewhere by 4 cm"].modify(records)
    prepared = prepare(rig, displaced, Settings(plates=PlateOptions(report_only=(MISMATCH,))))
    assert [finding.done for finding in findings(prepared, POSITION)] == [Action.UNDONE]
    assert prepared.records[0].plate_errors.plates[:, POSITION_PARAMETER + 1] == pytest.approx(0.04, abs=0.014)


def test_two_trials_whose_forces_are_exchanged_are_both_named(walks: Body) -> None:
    """Two trials with each other's forces are refused, and both are named."""
    rig, records = walks
    with pytest.raises(InvalidValue, match=f"{records[0].name}.*{records[1].name}") as error:
        prepare(rig, exchange_forces(records))
    assert "--report-only mismatch" in str(error.value)


def test_cases_change_copies_only(walks: Body) -> None:
    """The cases change copies: the recordings of the fixture stay the same."""
    records: Records = walks[1]
    before = [r.recording.wrenches.values.copy() for r in records if r.recording.wrenches is not None]
    for case in CASES:
        case.modify(records)
    after = [r.recording.wrenches.values for r in records if r.recording.wrenches is not None]
    assert all(np.array_equal(one, two) for one, two in zip(before, after))


@pytest.mark.parametrize("rate", [100, 1000])
def test_lost_samples_are_distinguished_from_steps(rate: int) -> None:
    """Zero samples for 40 ms between two loaded samples are lost, even on one plate alone; a sudden stance, a foot that
    leaves within 30 ms and returns, and a quarter of a second without load are not.
    """
    times = np.arange(round(4.0 * rate)) / rate
    values = np.zeros((len(times), 2, 6))
    values[:, :, 2] = 300.0

    def span(start: float, stop: float) -> slice:
        return slice(round(start * rate), round(stop * rate))

    values[span(1.0, 1.04), 0] = 0.0
    values[span(2.0, 2.25), 1] = 0.0
    leaving = span(3.0, 3.03)
    values[leaving, 1, 2] = np.linspace(300.0, 60.0, leaving.stop - leaving.start)
    values[leaving.stop : leaving.stop + round(0.09 * rate), 1] = 0.0
    values[: round(0.1 * rate)] = 0.0
    lost = find_dropouts(Wrenches(times, ("left", "right"), values), 60.0)
    assert np.flatnonzero(lost[:, 0]).tolist() == list(range(rate, rate + round(0.04 * rate)))
    assert not lost[:, 1].any()


def test_a_dropout_of_40_ms_is_reported_and_left_out(walks: Body) -> None:
    """Real, both plates of one run read nothing for 40 ms of stance: the finding gives the time, and the wrench is
    interpolated, which is nearer to the recorded one than the dropout that an overridden finding keeps.
    """
    rig, records = walks
    whole = records[0].recording.wrenches
    values = whole.values.copy()
    vertical = whole.total[:, 2]
    middle = int(np.argmax(np.where((whole.times > 0.5) & (whole.times < 1.5), vertical, 0.0)))
    values[middle - 2 : middle + 2] = 0.0
    holed = with_forces(lambda w: Wrenches(w.times, w.frames, values, w.measured))
    changed = [holed(records[:1])[0], *records[1:]]
    errors = []
    for options in (PlateOptions(), PlateOptions(report_only=(FROZEN,))):
        clean = prepare(rig, records, Settings(plates=options)).records[0].trial
        prepared = prepare(rig, changed, Settings(plates=options))
        (finding,) = findings(prepared, FROZEN)
        assert f"{whole.times[middle - 2]:.3f} to {whole.times[middle + 2]:.3f} s" in finding.text
        found = prepared.records[0].trial
        near = np.abs(clean.motion.times - whole.times[middle]) < 0.03
        errors.append(float(np.abs(found.wrenches.total - clean.wrenches.total)[near, 2].max()))
    assert errors[0] < 0.25 * errors[1]
