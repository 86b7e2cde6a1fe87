"""Laws of the model of plates: errors put into readings in software are found by their cause and removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures.mismatched import Records, replace_forces, with_forces
from solver.options.plates import CROSSTALK, LAG, MASS, POSITION, KnownPlates, PlateOptions
from solver.options.study import Settings
from solver.rigs import from_opensim
from solver.signals import shift_wrenches
from solver.signals.plate_errors import (
    COUPLE,
    DRIFT,
    OFFSET,
    PARAMETERS,
    PlateErrors,
    collect_known_plates,
    tolerated_wrenches,
)
from solver.skeleton.rig import Rig
from solver.study.joint_motion import convert_joint_recordings
from solver.study.plates.finding import Action, Finding
from solver.study.plates.frozen_samples import find_constant_points, find_saturated_samples, find_unloaded_offsets
from solver.study.plates.plate_fit import USUAL_LAG, decide_action
from solver.study.plates.plate_model import (
    BODY_STD,
    CAUSES,
    COMMON_LAG,
    POSTURE,
    SYNC,
    PlateEstimate,
    PlateHypothesis,
    PlateModel,
    TrialSums,
    find_causes,
    list_hypotheses,
    parameter_stds,
)
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.values import StudyData
from solver.values.wrenches import Wrenches

Body = tuple[Rig, Records]


def found(study: StudyData, kind: str) -> list[Finding]:
    """Findings of a kind about which something was done."""
    return [finding for finding in study.findings if finding.kind == kind and finding.done is not Action.NOTHING]


def with_matrix(entries: Mapping[tuple[int, int], float], plate: int | None = None) -> Callable[[Records], Records]:
    """Add false forces, by entry of the matrix, to all plates or one; centres of pressure stay."""

    def change(wrenches: Wrenches) -> Wrenches:
        force = wrenches.values[:, :, :3].copy()
        for (to, source), share in entries.items():
            chosen = slice(None) if plate is None else plate
            force[:, chosen, to] += share * wrenches.values[:, chosen, source]
        return replace_forces(wrenches, force, np.nan_to_num(wrenches.centres_of_pressure()))

    return with_forces(change)


@pytest.mark.parametrize(("axis", "parameter"), [(0, 2), (1, 5)])
def test_crosstalk_of_the_vertical_force_is_found_and_removed(walks: Body, axis: int, parameter: int) -> None:
    """5 % of the vertical force in a horizontal one is found with its size and removed, along both axes."""
    rig, records = walks
    study = prepare(rig, with_matrix({(axis, 2): 0.05})(records))
    (finding,) = found(study, CROSSTALK)
    assert finding.done is Action.UNDONE
    for record in study.records:
        assert record.plate_errors.plates[:, parameter] == pytest.approx(0.05, abs=0.012)


def test_a_reported_cause_changes_nothing(walks: Body) -> None:
    """With crosstalk only reported, the forces stay as they are."""
    rig, records = walks
    options = Settings(plates=PlateOptions(report_only=(CROSSTALK,)))
    study = prepare(rig, with_matrix({(0, 2): 0.05})(records), options)
    assert [finding.done for finding in found(study, CROSSTALK)] == [Action.OVERRIDDEN]
    assert not any(record.plate_errors.plates.any() for record in study.records)


def test_the_gain_of_one_plate_is_found(walks: Body) -> None:
    """A plate that reads 10 % too much is named with its size, if the mass is stated."""
    rig, records = walks
    study = prepare(rig, with_matrix({(i, i): 0.1 for i in range(3)}, 0)(records), stated_mass=rig.prior.total_mass)
    finding = next(each for each in found(study, MASS) if study.records[0].recording.wrenches.frames[0] in each.text)
    assert finding.evidence == pytest.approx(100.0 * (1.0 - 1.0 / 1.1), abs=3.0)


def test_the_mean_force_of_a_trial_shows_its_gain(walks: Body) -> None:
    """3 % too much in one of two trials is named with its size: a body's momentum does not explain a mean force."""
    rig, (first, second) = walks
    changed = with_matrix({(i, i): 0.03 for i in range(3)})([first])
    study = prepare(rig, [*changed, second], stated_mass=rig.prior.total_mass)
    gain = [each for each in found(study, MASS) if each.unit == "%"]
    assert [(each.trials, each.done) for each in gain] == [((first.name,), Action.UNDONE)]
    assert gain[0].evidence == pytest.approx(100.0 * (1.0 - 1.0 / 1.03), abs=1.0)


@pytest.mark.parametrize(("late", "close"), [(0.075, 0.006), (-0.065, 0.006), (0.005, 0.001), (-0.004, 0.001)])
def test_the_lag_of_one_trial_is_removed(walks: Body, late: float, close: float) -> None:
    """One trial with late or early forces is put right, and warned of if the lag is not a usual one."""
    rig, records = walks
    recording = records[0].recording
    assert recording.wrenches is not None
    changed = replace(recording, wrenches=shift_wrenches(recording.wrenches, -late))
    before, after = (prepare(rig, each) for each in (records, [replace(records[0], recording=changed), records[1]]))
    own = after.records[0].plate_errors.lag - before.records[0].plate_errors.lag
    assert own == pytest.approx(late, abs=close)
    assert found(after, LAG)[0].done is (Action.UNDONE if abs(late) > USUAL_LAG else Action.TAKEN_OFF)


def test_known_plates_are_used_and_not_estimated_again(walks: Body) -> None:
    """Calibrations of an identification are removed from further trials on the same plates, whatever these show."""
    rig, records = walks
    changed = with_matrix({(0, 2): 0.05})(records)
    known = prepare(rig, changed).known_plates
    study = prepare(rig, changed[:1], Settings(plates=PlateOptions(known=known)))
    assert not found(study, CROSSTALK)
    assert study.records[0].plate_errors.plates[:, 2] == pytest.approx(0.05, abs=0.012)
    elsewhere = KnownPlates((replace(known.layouts[0], plates=("other", "plates")),))
    again = prepare(rig, changed[:1], Settings(plates=PlateOptions(known=elsewhere)))
    assert found(again, CROSSTALK)


def test_conflicting_calibrations_and_offsets_are_not_known() -> None:
    """Plates with two calibrations are unknown; offset and drift belong to a trial."""
    one, two = np.zeros((2, 1, PARAMETERS))
    one[0, [0, OFFSET, DRIFT, COUPLE]] = two[0, 1] = 1.0
    known = collect_known_plates([(("a",), PlateErrors(one)), (("b",), PlateErrors(one)), (("b",), PlateErrors(two))])
    assert [layout.plates for layout in known.layouts] == [("a",)]
    assert np.flatnonzero(known.layouts[0].errors[0]).tolist() == [0, COUPLE]


def test_errors_are_removed_as_they_were_added() -> None:
    """Each parameter changes forces and moments as a plate with that error would, hand-computed for one sample."""
    times, force, point = np.arange(3.0), np.array([10.0, -20.0, 500.0]), np.array([0.2, -0.1, 0.0])
    values = np.tile(np.concatenate([force, np.cross(point, force) + np.array([0.0, 0.0, 3.0])]), (3, 1, 1))
    wrenches = Wrenches(times, ("plate",), values)
    expected = {
        2: np.concatenate([[500.0, 0.0, 0.0], np.cross(point, [500.0, 0.0, 0.0])]),
        OFFSET + 1: np.concatenate([[0.0, 1.0, 0.0], np.cross(point, [0.0, 1.0, 0.0])]),
        DRIFT + 2: np.concatenate([[0.0, 0.0, 2.0], np.cross(point, [0.0, 0.0, 2.0])]),
        15: np.concatenate([np.zeros(3), np.cross([1.0, 0.0, 0.0], force)]),
        COUPLE: np.array([0.0, 0.0, 0.0, 0.0, 0.0, 500.0]),
        18: np.array([0.0, 0.0, 0.0, 0.0, 0.0, 3.0]),
    }
    for parameter, error in expected.items():
        plates = np.zeros((1, PARAMETERS))
        plates[0, parameter] = 1.0
        assert values[2, 0] - PlateErrors(plates).remove_from(wrenches).values[2, 0] == pytest.approx(error)
    late = PlateErrors(lag=0.1, clock=0.01, start=1.0).remove_from(wrenches)
    assert late.times == pytest.approx(times - 0.1 - 0.01 * (times - 1.0))


def test_tolerances_are_errors_of_the_equations() -> None:
    """0.3 % of 500 N in a horizontal force is 1.5 N, and 1.5 N m about a base link 1 m above the plate; each plate has
    its own errors, and a lag acts on what changes."""
    times, force = np.arange(3.0), np.array([0.0, 0.0, 500.0])
    wrenches = Wrenches(times, ("right",), np.tile(np.concatenate([force, np.zeros(3)]), (3, 1, 1)))
    tolerance = PlateErrors(0.003 * (np.arange(PARAMETERS) == 2)[None], lag=0.001)
    origins = np.tile([0.0, 0.0, 1.0], (3, 1))
    found = tolerated_wrenches(wrenches, np.arange(3), tolerance, origins, [("left",), ("right",)])
    assert found[1, :, PARAMETERS + 2] == pytest.approx([1.5, 0.0, 0.0, 0.0, -1.5, 0.0])
    assert np.count_nonzero(found.any(axis=(0, 1))) == 1


def test_nothing_is_corrected_further_than_a_laboratory_could_be_off() -> None:
    """A cause within its limit is corrected, beyond it the trials are left out; with a rival it is reported only."""
    (position,) = [cause for cause in CAUSES if cause.kind == POSITION]
    hypothesis = PlateHypothesis(position, ("walk",), (), ("plate",), {}, True)
    near, far = (PlateEstimate(hypothesis, np.array([size, 0.0]), 1e-6 * np.eye(2), 99.0) for size in (0.05, 0.15))
    assert decide_action(near, None, PlateOptions())[0] is Action.UNDONE
    assert decide_action(near, far, PlateOptions())[0] is Action.REPORTED
    assert decide_action(far, None, PlateOptions())[0] is Action.LEFT_OUT
    assert decide_action(far, None, PlateOptions(report_only=(POSITION,)))[0] is Action.OVERRIDDEN


def test_opposite_offsets_of_two_plates_are_found_together() -> None:
    """25 N too much on one plate and 18 N too little on the other are one cause, with their sizes, and no other."""
    names, tolerances = ("left", "right"), parameter_stds(limits=False)
    precision = np.concatenate([np.ones(POSTURE), *2 * (tolerances[:-SYNC],), tolerances[-SYNC:]]) ** -2.0
    wrong, body = np.zeros(len(precision)), 1 + len(BODY_STD)
    wrong[POSTURE + OFFSET + 2], wrong[POSTURE + PARAMETERS + OFFSET + 2] = 25.0, -18.0
    rows = np.random.default_rng(0).standard_normal((500, body + len(precision)))
    right = rows.T @ rows[:, body:] @ wrong
    sums = TrialSums("standing", names, np.ones(2, bool), rows.T @ rows, right, precision)
    hypotheses = list_hypotheses([sums], [])
    always = next(each for each in hypotheses if each.cause is COMMON_LAG)
    causes = find_causes(PlateModel([sums], 1), always, [each for each in hypotheses if each is not always])
    ((found, rival),) = [cause for cause in causes if cause[0].hypothesis is not always]
    assert found.hypothesis.cause.is_each
    assert rival is None
    sizes = {c.place: size for c, size in zip(found.hypothesis.cause.components, found.sizes)}
    assert [sizes[f"({name})"] for name in names] == pytest.approx([25.0, -18.0], abs=0.3)


def test_an_unloaded_plate_shows_its_offset() -> None:
    """The median wrench of a plate while nothing touches it is its offset, unless it is small or was cut to zero."""
    rng, values = np.random.default_rng(0), np.zeros((400, 3, 6))
    values[:, :2] += rng.standard_normal((400, 2, 6))
    values[:, 0] += [3.0, 0.0, -20.0, 1.0, 2.0, 0.0]
    values[150:250, :, 2] += 600.0
    offsets = find_unloaded_offsets(Wrenches(np.arange(400) / 100.0, ("a", "b", "c"), values), 60.0)
    assert offsets[0] == pytest.approx([3.0, 0.0, -20.0, 1.0, 2.0, 0.0], abs=0.4)
    assert not offsets[1:].any()


def test_saturated_plates_and_constant_points_are_found() -> None:
    """A force that stays at its largest value, and a centre of pressure that never moves under a changing force."""
    times = np.arange(300) / 100.0
    force = np.zeros((300, 2, 3))
    force[:, :, 2] = 600.0 + 100.0 * np.sin(5.0 * times)[:, None]
    force[:, 0, 2] = np.minimum(force[:, 0, 2], 650.0)
    point = np.zeros((300, 2, 3))
    point[:, 0, 0] = 0.1 * np.sin(times)
    wrenches = Wrenches(times, ("clipped", "stuck"), np.concatenate([force, np.cross(point, force)], axis=2))
    assert find_saturated_samples(wrenches).any(axis=0).tolist() == [True, False]
    assert find_constant_points(wrenches, 60.0).tolist() == [False, True]


def test_plates_of_a_planar_walk_stay(shared_data: Path) -> None:
    """Gait10dof (recorded, planar): its plates are not moved, sideways nothing is known of them."""
    folder = shared_data / "brought" / "gait10dof"
    rig = from_opensim(folder / "gait10dof_subject01.osim", meshes="none")
    recordings = load([folder / "subject01_walk_IK.mot", folder / "subject01_walk_grf.mot"])
    assert not found(prepare(rig, convert_joint_recordings(rig, recordings)), POSITION)
