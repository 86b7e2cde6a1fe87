"""The mass from all trials, and which plates disagree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.calibration.body_mass import _combine, estimate_mass
from solver.calibration.trial_mass import (
    MassEvidence,
    TrialMass,
    UnloadedReading,
    collect_mass_evidence,
    estimate_trial_mass,
    read_unloaded_plates,
    variance_inflation,
)
from solver.signals import GRAVITY, ContactEvidence, find_windows
from solver.signals.windows import Windows
from solver.values.wrenches import Wrenches
from tests.marker_com import SUBJECT_A, Places, body
from tests.simulated_trials import HUMAN, Profile, SimulatedTrial, simulate, steps

MASS = 65.0
ALL_A = ("static1", "squats1", "STS1", "DJ1", "DJ2", "DJAsym1", "walking1", "walkingTI1")


def squats(t: np.ndarray) -> np.ndarray:
    return 1.0 + 0.3 * np.sin(2 * np.pi * 0.7 * t) + 0.1 * np.sin(2 * np.pi * 1.9 * t)


def hopping(t: np.ndarray) -> np.ndarray:
    """0.4 s of contact, 0.2 s of flight, again and again."""
    phase = np.mod(t, 0.6)
    return np.where(phase < 0.4, 0.75 * np.pi * np.sin(np.pi * phase / 0.4), 0.0)


def evidence(name: str, trial: SimulatedTrial, mass: float = MASS) -> MassEvidence:
    """Evidence of a simulated trial, by the chain used on recordings."""
    force = trial.filtered.total[:, :3]
    found = find_windows(ContactEvidence(trial.times, trial.acceleration, force, load=trial.load), mass, HUMAN)
    return collect_mass_evidence(name, trial.velocity, trial.filtered, trial.native, found, mass)


@pytest.mark.parametrize("scale", [0.93, 1.0, 1.07])
@pytest.mark.parametrize("push", [squats, hopping, lambda t: np.ones_like(t)], ids=["squats", "hopping", "standing"])
def test_the_mass_is_found_though_the_kinematic_motion_is_too_large(push: Profile, scale: float) -> None:
    """Still, squatting or hopping, a centre of mass that moves 7 % too much or too little does not change the mass."""
    read = estimate_trial_mass(evidence("one", simulate(6.0, MASS, push, scale=scale)))
    assert read.apparent_mass == pytest.approx(MASS, rel=2e-3)


def test_the_std_of_a_trial_covers_its_error() -> None:
    """Over 16 noisy squat trials the error stays within 3 standard deviations, which are at most five times too large
    beside the plates' linearity of .3 %.
    """
    read = [
        estimate_trial_mass(evidence("one", simulate(3.0, MASS, squats, noise=1.0, seed=seed))) for seed in range(16)
    ]
    masses, stds = np.array([[each.apparent_mass, each.std] for each in read]).T
    assert np.abs((masses - MASS) / stds).max() < 3.0
    assert 0.2 < np.std(masses) / np.sqrt(stds**2 - (0.003 * masses) ** 2).mean() < 1.0


def test_correlated_residuals_count_as_fewer() -> None:
    """One plus twice the autocorrelation up to its first zero, of residuals with known ones."""
    for residual, expected in (
        ([1, -1] * 4, 1.0),
        ([1, 1, -1, -1], 1.5),
        ([1, 2, 3], 1.0 + 22.0 / 14.0),
        ([0] * 5, 1.0),
        ([1, 1], 1.0),
    ):
        assert variance_inflation(np.array(residual, float)) == pytest.approx(expected)


def test_readings_of_unloaded_plates_are_those_of_counted_frames_without_a_foot() -> None:
    """By hand: a plate that reads 12 N and one whose zero was cut carry a body in turn, a third one carries nobody.

    Readings above 3 % of the weight, for less than .03 s, or in frames that do not count are none of an empty plate.
    """
    times = np.arange(1000) / 100.0
    load = np.zeros((1000, 3))
    load[:600, 0], load[600:, 0] = 700.0, 12.0 + np.where(np.arange(400) % 2, 4.0, -4.0)
    load[10:12, 0], load[700:800, 0] = 12.0, 23.0
    load[800:, 1], load[799, 1], load[:, 2] = 700.0, 9.0, 300.0
    values = np.zeros((1000, 3, 6))
    values[:, :, 2] = load
    counted = np.ones(1000, bool)
    counted[650:660] = False
    windows = Windows(times, counted, np.zeros(1000), np.zeros((1000, 3)))
    found = read_unloaded_plates(Wrenches(times, ("a", "b", "c"), values), windows, 70.0)
    shares = np.array([(600 + 100) / 990, 200 / 990])
    assert found.offset == pytest.approx(shares @ [12.0, 0.0])
    assert found.std == pytest.approx(np.hypot(*(shares * [4.0, 9.0])))
    assert read_unloaded_plates(Wrenches(times, ("a", "c"), values[:, [0, 2]]), windows, 20.0) is None


@pytest.mark.parametrize(
    ("masses", "expected"),
    [
        ([70.0, 70.6], (70.3, np.sqrt(0.5))),
        ([70.0, 72.4], (71.2, 1.2)),  # they differ by more than their deviations of 1 kg
        ([70.0, 70.0, 76.0], (70.75, np.sqrt(4.5 / (2.0 + 1.5 / 5.25)))),  # beyond 1.5 deviations a trial pulls less
    ],
)
def test_trials_are_pooled_by_precision_and_scatter(masses: list[float], expected: tuple[float, float]) -> None:
    """By hand, also with an offset of one kilogram's weight that is known to three fifths of the deviation."""
    plain = [TrialMass(str(mass), mass, 1.0, None, 1.0) for mass in masses]
    offset = UnloadedReading(GRAVITY, 0.6 * GRAVITY)
    corrected = [replace(each, apparent_mass=each.apparent_mass + 1.0, std=0.8, unloaded=offset) for each in plain]
    for trials in (plain, corrected):
        assert _combine(trials) == pytest.approx(expected, rel=1e-6)


def test_trials_that_unload_the_plates_decide() -> None:
    """Two standing trials miss 35 N, two hopping trials prove zero: the mass is the hoppers', the rest is a group."""
    trials = {
        "still": simulate(5.0, MASS, lambda t: np.ones_like(t), bias=-35.0),
        "squat": simulate(8.0, MASS, squats, bias=-35.0),
        "hop": simulate(5.0, MASS, hopping),
        "hop again": simulate(5.0, MASS, hopping, noise=0.5),
    }
    found = estimate_mass([evidence(name, trial) for name, trial in trials.items()])
    assert found.mass == pytest.approx(MASS, abs=0.2)
    assert set(found.groups[1].trials) == {"still", "squat"}
    assert found.groups[1].apparent_mass == pytest.approx(MASS - 35.0 / GRAVITY, abs=0.3)


def test_an_offset_of_unloaded_plates_is_subtracted() -> None:
    """A hopper's plates that read 30 N in flight, uncut, have that offset, and the mass is corrected for it."""
    trial = simulate(5.0, MASS, hopping, bias=30.0)
    force = trial.filtered.total[:, :3]
    found = find_windows(ContactEvidence(trial.times, trial.acceleration, force, load=trial.load), MASS, HUMAN)
    plate = Wrenches(trial.native.times, ("plate",), trial.native.total[:, None])
    rows = collect_mass_evidence("hop", trial.velocity, trial.filtered, plate, found, 110.0)
    assert rows.unloaded.offset == pytest.approx(30.0 * 2 / 3, rel=0.1)  # loaded two thirds of the time
    assert estimate_mass([rows]).mass == pytest.approx(MASS + 30.0 / 3 / GRAVITY, abs=0.3)


def test_without_unloaded_plates_no_trial_is_preferred() -> None:
    """Two trials that disagree and never unload: the uncertainty spans both, and a warning says so."""
    one = evidence("monday", simulate(5.0, MASS, squats))
    found = estimate_mass([one, evidence("tuesday", simulate(5.0, MASS, squats, bias=-60.0))])
    assert abs(found.mass - MASS) <= found.std + 0.1
    assert found.std > 2.5
    assert any("none can be preferred" in text for text in found.warnings)


def test_nothing_counted_is_an_error() -> None:
    """A trial on unmeasured ground alone gives no mass."""
    with pytest.raises(InvalidValue, match="no trial"):
        estimate_mass([evidence("box", simulate(3.0, MASS, squats, steps((0.0, 0.0), (9.0, 0.0))))])


def recorded(folder: Path, trial: str, places: Places, mass: float) -> MassEvidence:
    """Evidence of a real trial, its centre of mass straight from markers."""
    read = body(folder / "markers" / f"{trial}.trc", folder / "forces" / f"{trial}.mot", places, HUMAN)
    found = find_windows(
        ContactEvidence(read.times, read.acceleration, read.filtered.total[:, :3], read.load, read.feet, read.root),
        mass,
        HUMAN,
    )
    return collect_mass_evidence(trial, read.velocity, read.filtered, read.native, found, mass)


@pytest.mark.parametrize("guess", [60.0, 63.5, 67.0])
def test_the_mass_of_subject_a_is_that_of_the_unloaded_plates(shared_data: Path, guess: float) -> None:
    """Real, all 8 trials, whatever mass the windows were found with: 63.5 +- 0.4 kg and the standing trials' offset."""
    found = estimate_mass([recorded(shared_data / "subject_a", trial, SUBJECT_A, guess) for trial in ALL_A])
    assert found.mass == pytest.approx(63.5, abs=0.4)
    assert found.std < 0.6
    _, group = found.groups
    assert set(group.trials) == {"static1", "squats1", "STS1"}
    assert 59.5 < group.apparent_mass < 60.5


def test_a_standing_trial_alone_admits_an_unseen_offset() -> None:
    """Plates that were never seen unloaded give the weight that they read, and a deviation of more than a kilogram."""
    found = estimate_mass([evidence("still", simulate(5.0, MASS, np.ones_like, bias=-35.0))])
    assert found.mass == pytest.approx(MASS - 35.0 / GRAVITY, abs=0.1)
    assert found.std > 1.0
