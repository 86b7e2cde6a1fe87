"""Laws of the counted windows: what is not measured does not count, and flight does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.rigs import human
from solver.signals import GRAVITY, ContactEvidence, Reason, Windows, find_windows, settling_time
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from tests.marker_com import RUNNER, SUBJECT_A, Body, Places, body
from tests.pinocchio import pin
from tests.simulated_trials import HUMAN, SimulatedTrial, simulate, steps

MASS = 65.0
MARGIN = settling_time(HUMAN)


def windows(
    trial: SimulatedTrial, mass: float = MASS, feet: np.ndarray | None = None, root: np.ndarray | None = None
) -> Windows:
    """Windows of a simulated trial whose feet stay on the floor unless given."""
    if feet is None:
        feet = np.tile([[0.1, 0.1, 0.0], [0.1, -0.1, 0.0]], (len(trial.times), 1, 1))
    force = trial.filtered.total[:, :3]
    return find_windows(
        ContactEvidence(trial.times, trial.acceleration, force, load=trial.load, feet=feet, root=root), mass, HUMAN
    )


def bounce(t: np.ndarray) -> np.ndarray:
    """Squats of +-40 % body weight."""
    return 1.0 + 0.4 * np.sin(2 * np.pi * 0.8 * t)


def test_everything_measured_counts_but_the_ends() -> None:
    """Squats on plates count from one filter margin after the start to one before the end, noise and all."""
    found = windows(simulate(5.0, MASS, bounce, noise=1.0))
    inside = (found.times > MARGIN) & (found.times < 5.0 - MARGIN)
    assert found.counted[inside].all()
    assert (found.reasons[~inside] == Reason.TRIAL_END).all()
    assert not found.flight.any()


@pytest.mark.parametrize("mass_error", [-0.05, 0.0, 0.05])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_a_box_is_excluded_and_flight_kept(noise: float, mass_error: float) -> None:
    """In a drop jump from an unmeasured box the box is excluded and the flight counted, with noise or a wrong mass."""
    push = steps((0.0, 1.0), (1.2, 0.0), (1.45, 1.9), (2.0, 0.0), (2.4, 2.5), (2.6, 1.0))
    trial = simulate(3.5, MASS, push, lambda t: (t > 1.3).astype(float), noise=noise)
    feet = np.tile([[0.1, 0.1, 0.0]], (len(trial.times), 1, 1))
    feet[trial.times < 1.25, :, 2] = 0.35
    found = windows(trial, MASS * (1 + mass_error), feet=feet)
    t = found.times
    assert not found.counted[t < 1.2].any()
    assert (found.reasons[(t > 0.2) & (t < 1.1)] == Reason.RAISED_SUPPORT).all()
    assert found.counted[(t > 1.6) & (t < 3.3)].all()
    assert found.flight[(t > 2.03) & (t < 2.37)].all()
    assert not found.flight[(t > 1.5) & (t < 1.95)].any()


def test_zero_force_alone_is_not_flight() -> None:
    """Quiet standing beside all plates is never flight, with or without feet in the evidence."""
    trial = simulate(3.0, MASS, lambda t: np.ones_like(t), lambda t: np.zeros_like(t))
    assert not windows(trial).counted.any()
    found = find_windows(ContactEvidence(trial.times, trial.acceleration, trial.filtered.total[:, :3]), MASS)
    assert (found.reasons == Reason.OTHER_SUPPORT).all()


def test_a_chair_is_recognised_by_the_pelvis() -> None:
    """A seat that carries 85 % for 2 s, with a low and still pelvis, has reason SEAT; standing afterwards counts."""
    trial = simulate(5.0, MASS, lambda t: np.ones_like(t), steps((0.0, 0.15), (2.0, 1.0), ramp=0.2), noise=0.3)
    root = np.zeros((len(trial.times), 3))
    root[:, 2] = steps((0.0, 0.5), (2.4, 0.9), ramp=0.8)(trial.times)
    found = windows(trial, root=root)
    assert (found.reasons[found.times < 1.8] == Reason.SEAT).all()
    assert found.counted[(found.times > 2.5) & (found.times < 4.8)].all()


def test_a_foot_beside_the_plates_is_recognised_by_its_height() -> None:
    """Half the weight unmeasured with feet on the floor has reason OFF_PLATES."""
    trial = simulate(3.0, MASS, lambda t: 1 + 0.2 * np.sin(9 * t), steps((0.0, 0.5), (0.6, 1.0)), noise=1.0)
    found = windows(trial)
    assert (found.reasons[found.times < 0.5] == Reason.OFF_PLATES).all()
    assert found.counted[(found.times > 0.9) & (found.times < 2.8)].all()


def test_short_flights_of_running_are_kept() -> None:
    """Flights of 90 ms at 3 Hz, which an 8 Hz filter smooths out, are counted as flight."""

    def push(t: np.ndarray) -> np.ndarray:
        phase = np.mod(t, 1 / 3)
        stance = 1 / 3 - 0.09
        return np.where(phase < stance, 0.5 * np.pi / (3 * stance) * np.sin(np.pi * phase / stance), 0.0)

    found = windows(simulate(5.0, MASS, push, noise=1.0))
    assert found.counted[15:-15].all()
    runs = [span for span in found.spans if span[0] == Reason.FLIGHT]
    assert len(runs) == 14
    assert all(0.05 < stop - start < 0.1 for _, start, stop in runs)


def test_a_hand_on_a_rail_is_unmeasured_support() -> None:
    """An unmeasured horizontal force of a quarter of the weight is excluded though the vertical force agrees."""
    lean = steps((0.0, 0.0), (2.0, 0.25), (3.0, 0.0))
    trial = simulate(5.0, MASS, lambda t: np.stack([0 * t, 0 * t, bounce(t)], axis=1))
    seen = trial.acceleration + GRAVITY * np.stack([lean(trial.times), 0 * trial.times, 0 * trial.times], axis=1)
    found = find_windows(ContactEvidence(trial.times, seen, trial.filtered.total[:, :3]), MASS, HUMAN)
    assert not found.counted[(found.times > 2.0) & (found.times < 3.0)].any()
    assert found.counted[(found.times > 3.3) & (found.times < 4.8)].all()


def test_missing_forces_and_motion_are_named() -> None:
    """Frames without forces, or whose motion is unusable, and their surroundings do not count; each has its reason."""
    trial = simulate(4.0, MASS, bounce)
    force = trial.filtered.total[:, :3].copy()
    force[100:130] = np.nan
    usable = np.ones(len(trial.times), bool)
    usable[300:310] = False
    found = find_windows(ContactEvidence(trial.times, trial.acceleration, force, usable=usable), MASS, HUMAN)
    assert (found.reasons[100:130] == Reason.NO_FORCES).all()
    assert (found.reasons[300:310] == Reason.NO_MOTION).all()
    assert found.reasons[133] == found.reasons[297] == Reason.NEAR_UNMEASURED
    assert found.counted[150:280].all()
    assert sum(count for _, count in found.excluded) == np.sum(~found.counted)


def test_masses_and_forces_in_other_units_change_nothing() -> None:
    """Scaling mass and force together changes no reason: thresholds are fractions of the body weight."""
    push = steps((0.0, 1.0), (1.2, 0.0), (1.45, 1.9), (2.0, 1.0))
    trial = simulate(3.0, MASS, push, lambda t: (t > 1.3).astype(float), noise=1.0)
    force = trial.filtered.total[:, :3]
    one = find_windows(ContactEvidence(trial.times, trial.acceleration, force), MASS, HUMAN)
    ten = find_windows(ContactEvidence(trial.times, trial.acceleration, 0.1 * force), 0.1 * MASS, HUMAN)
    assert np.array_equal(one.reasons, ten.reasons)


def test_a_rig_standing_on_unmeasured_ground_does_not_count() -> None:
    """With evidence from a rig and its motion, frames with forces of its weight count and frames without do not."""
    rig = human(1.75, 70.0, "male")

    def of_rig(motion: Motion, wrench: np.ndarray) -> Windows:
        evidence = ContactEvidence.of_motion(rig, motion, Wrenches(motion.times, ("plate",), wrench))
        return find_windows(evidence, rig.prior.total_mass)

    times = np.arange(200) / 100.0
    q = np.tile(rig.neutral, (200, 1))
    zero = np.zeros((200, rig.nv))
    weight = np.zeros((200, 1, 6))
    weight[:100, 0, 2] = rig.prior.total_mass * GRAVITY
    found = of_rig(Motion(times, q, zero, zero), weight)
    assert found.counted[:85].all()
    assert (found.reasons[115:] == Reason.OFF_PLATES).all()
    hop = np.array(q)
    hop[:, 2] += 2.0 - 0.5 * GRAVITY * times**2
    falling = zero.copy()
    falling[:, 2] = -GRAVITY
    speed = zero.copy()
    speed[:, 2] = -GRAVITY * times
    found = of_rig(Motion(times, hop, speed, falling), 0 * weight)
    assert found.flight.all()
    assert pin.computeTotalMass(rig.model) == pytest.approx(70.0)


def test_shapes_and_mass_are_checked() -> None:
    """A force array of another length and a mass of zero are refused."""
    trial = simulate(1.0, MASS, bounce)
    with pytest.raises(InvalidValue, match="force"):
        find_windows(ContactEvidence(trial.times, trial.acceleration, trial.filtered.total[:-1, :3]), MASS)
    with pytest.raises(InvalidValue, match="mass"):
        find_windows(ContactEvidence(trial.times, trial.acceleration, trial.filtered.total[:, :3]), 0.0)


def real(shared_data: Path, subject: str, trial: str, places: Places, mass: float) -> tuple[Body, Windows]:
    """A recorded trial and its windows."""
    folder = shared_data / subject
    read = body(folder / "markers" / f"{trial}.trc", folder / "forces" / f"{trial}.mot", places, HUMAN)
    found = find_windows(
        ContactEvidence(read.times, read.acceleration, read.filtered.total[:, :3], read.load, read.feet, read.root),
        mass,
        HUMAN,
    )
    return read, found


@pytest.mark.parametrize("mass", [60.0, 63.5])
@pytest.mark.parametrize("trial", ["DJ1", "DJ2", "DJAsym1"])
def test_drop_jumps_lose_the_box_and_keep_the_flight(shared_data: Path, trial: str, mass: float) -> None:
    """Frames on the box never count; the flight of the jump, 0.37 to 0.42 s, counts (real recordings)."""
    read, found = real(shared_data, "subject_a", trial, SUBJECT_A, mass)
    speed = np.linalg.norm(np.gradient(read.feet, 0.01, axis=0), axis=2).max(axis=1)
    on_box = (read.feet[:, :, 2].min(axis=1) > 0.30) & (speed < 0.3)
    assert on_box.sum() > 70
    assert not found.counted[on_box].any()
    assert Reason.RAISED_SUPPORT in found.reasons[on_box]
    last = [span for span in found.spans if span[0] == Reason.FLIGHT][-1]
    assert 0.35 < last[2] - last[1] < 0.43
    # In what counts as flight the body falls: from the markers alone, within a quarter of gravity on average.
    flight = found.flight
    assert read.acceleration[flight, 2].mean() == pytest.approx(-GRAVITY, rel=0.25)


def test_sitting_on_the_chair_does_not_count(shared_data: Path) -> None:
    """Frames with the hips at seat height and little force have reason SEAT, standing counts (real recording)."""
    read, found = real(shared_data, "subject_a", "STS1", SUBJECT_A, 63.5)
    seated = (read.root[:, 2] < 0.53) & (read.load < 300.0)
    standing = read.root[:, 2] > 0.75
    assert seated.sum() > 300
    assert not found.counted[seated].any()
    assert np.mean(found.reasons[seated] == Reason.SEAT) > 0.95
    assert found.counted[standing].all()
    assert not found.flight.any()


@pytest.mark.parametrize("trial", ["walking1", "walkingTI1"])
def test_walking_counts_where_both_feet_are_on_plates(shared_data: Path, trial: str) -> None:
    """The first 0.15 s, with one foot beside the plates, do not count; the middle does, without flight (real)."""
    _, found = real(shared_data, "subject_a", trial, SUBJECT_A, 63.5)
    assert not found.counted[found.times < 0.15].any()
    assert Reason.OFF_PLATES in found.reasons
    assert found.counted[(found.times > 0.3) & (found.times < 1.15)].all()
    assert not found.flight.any()


def test_every_flight_of_the_run_is_kept(shared_data: Path) -> None:
    """All 14 flights of 80 to 115 ms of subject_b count, with no excluded frame between the margins (real)."""
    _, found = real(shared_data, "subject_b", "run", RUNNER, 73.0)
    assert set(found.reasons) == {Reason.MEASURED, Reason.FLIGHT, Reason.TRIAL_END}
    flights = [stop - start + 0.01 for reason, start, stop in found.spans if reason == Reason.FLIGHT]
    assert len(flights) == 14
    assert 0.075 < min(flights) <= max(flights) < 0.125
