"""The second experiment of ayusawa on a simulated jumper of 34 degrees of freedom, whose inertials are known.

He jumps, flies and moves; the identification from flight is checked against ground forces of other motion, as in the
paper's Fig. 5, compared with the prior and with as much motion on plates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from solver.demo.truth import perturb_inertials
from solver.dynamics import difference, integrate, predicted_wrench, wrench_regressor
from solver.identification.accumulate import accumulate_regression
from solver.identification.base_parameters import base_parameters
from solver.identification.flight import NullSpace, null_space
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.report.svg import Drawing
from solver.rigs import human
from solver.signals import GRAVITY, light_preset, preset_of, resample, smooth_motion
from solver.signals.trial import Recording, Trial
from solver.skeleton.rig import ROOT_NV, Rig
from solver.study.flights import find_trial_flights
from solver.study.values import TrialRecord
from solver.tracking import TrackingOptions, track_markers
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import WRENCH_AXES, Wrenches

from ..figures.figure import Figure, at_least, at_most, within
from . import plots
from .thrown import simulate_flight, simulate_recording

RATE, SECONDS, PRESET = 100.0, 0.5, "human_8hz"
MASS, HEIGHT, SEX = 70.0, 1.75, "male"
SWING, TEMPO = 0.5, (0.8, 1.8)
"""[rad], [Hz] of every joint coordinate in flight."""
RANGE_USED = 0.8
"""Share of a joint's range that a swing takes at most."""
SPIN = 1.0
"""[rad/s] standard deviation of the angular velocity at take-off."""
STEP = 1e-4
"""[s] of differences of coordinates: rounding makes their second ones wrong by 1e-7 rad/s^2."""
ROOT_SWING = 0.3
"""[m] per rad of the joints' swing, of the root on the ground."""
SEEDS, MANY = 3, 24
"""Bodies of the rows, and of the distribution over single ones."""
COUNTS = (1, 2, 5, 10, 20)
"""Flights that are identified from."""
SPREAD = 0.08
"""[m] of four markers about the middle of every link."""
FORCE_NOISE, MOMENT_NOISE = 2.0, 1.0
"""[N], [N m] of the plates that the baseline has."""
TEST_SECONDS = 6.0
PRINTED = (6.38, 5.90, 7.08, 2.86, 3.47, 2.12)
"""[N], [N m] mean errors of the wrench in the caption of Fig. 5."""


@dataclass(frozen=True, slots=True)
class Jumps:
    """What is recorded of the jumper.

    Attributes:
        count: flights.
        noise: [m] standard deviation of a coordinate of a marker.
        seed: of body and motion.
    """

    count: int
    noise: float
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RecordedJumps:
    """A jumper's recordings.

    Attributes:
        rig: with the prior.
        truth: of the jumper.
        flights: that were found.
        grounded: as much motion on plates.
        test: other motion, without noise.
    """

    rig: Rig
    truth: InertialParameters
    flights: list[Trial]
    grounded: list[Trial]
    test: Motion

    def plain(self, count: int) -> np.ndarray:
        """Base parameters (B,) from the first flights by the paper's program."""
        equations = accumulate_regression(self.rig, self.flights[:count], axes="world")
        return null_space(equations, MASS).values

    def ours(self, trials: Sequence[Trial]) -> np.ndarray:
        """Base parameters (B,) by our program; the two sides of the jumper were drawn independently."""
        options = IdentifyOptions(total_mass=MASS, symmetric=False, cross_validate=False)
        return base_parameters(self.rig).project(identify_trials(self.rig, trials, options).parameters)

    def errors(self, values: np.ndarray) -> np.ndarray:
        """Error (N, 6) [N, N m] of the test's external wrench by base parameters, world axes, about the root."""
        structure = base_parameters(self.rig)
        regressor = wrench_regressor(self.rig, self.test, axes="world")[:, :, structure.independent]
        return np.asarray(regressor @ (values - structure.project(self.truth)))

    def over_prior(self, values: np.ndarray) -> float:
        """Mean over the axes of that error over the prior's, root mean squares."""
        found, prior = (
            np.sqrt((self.errors(each) ** 2).mean(axis=0))
            for each in (values, base_parameters(self.rig).project(self.rig.prior))
        )
        return float(np.mean(found / prior))


def jumper(seed: int) -> tuple[Rig, InertialParameters]:
    """The rig with its prior, and another body's inertials of the same mass."""
    rig = human(HEIGHT, MASS, SEX)
    return rig, perturb_inertials(rig, seed)


def nulls(count: int) -> NullSpace:
    """Null space of flights known without any noise."""
    rig, truth = jumper(0)
    trials = [_exact(rig, _flight(rig, truth, np.random.default_rng(number)), number) for number in range(count)]
    return null_space(accumulate_regression(rig, trials, axes="world"), MASS)


def figure_5(jumps: Jumps) -> tuple[str, Drawing]:
    """Fig. 5: mean errors [N, N m] by the paper's program, by ours and by the prior, and the wrench over time."""
    found = record_jumps(jumps)
    prior = base_parameters(found.rig).project(found.rig.prior)
    sets = {"paper's program": found.plain(jumps.count), "ours": found.ours(found.flights), "prior": prior}
    lines = [
        f"Fig. 5, simulated jumper, {jumps.count} flights of {SECONDS} s, {1e3 * jumps.noise:g} mm: mean |error| of",
        f"the external wrench [N, N m] in {TEST_SECONDS:g} s of other motion, without noise in it",
        " " * 18 + "".join(f"{axis:>8s}" for axis in WRENCH_AXES),
        " in print         " + "".join(f"{value:8.2f}" for value in PRINTED),
    ]
    true = predicted_wrench(found.rig, found.test, found.truth, axes="world")
    curves = {"true": true}
    for name, values in sets.items():
        curves[name] = true + found.errors(values)
        error = np.abs(curves[name] - true).mean(axis=0)
        lines.append(f" {name:17s}" + "".join(f"{value:8.2f}" for value in error))
    panels = [
        (f"{axis} [{'N' if k < 3 else 'N m'}]", {name: each[:, k] for name, each in curves.items()})
        for k, axis in enumerate(WRENCH_AXES)
    ]
    return "\n".join(lines), plots.curves_over_time(found.test.times, panels, "Fig. 5: wrench of a jumper, SIMULATED")


def record_jumps(jumps: Jumps) -> RecordedJumps:
    """A jumper's flights as they are found in recordings, and other motion."""
    rig, truth = jumper(jumps.seed)
    generator = np.random.default_rng(1000 + jumps.seed)
    flights, grounded = [], []
    for number in range(jumps.count):
        flight = _flight(rig, truth, generator)
        record = _track(rig, flight, jumps.noise, generator, f"jump {number}")
        found = find_trial_flights(rig, record, preset_of(PRESET), MASS).trial
        if found is not None:
            flights.append(found)
        stance = swinging_motion(rig, SECONDS, generator)
        grounded.append(_on_plates(rig, truth, stance, jumps.noise, generator, f"stance {number}"))
    return RecordedJumps(rig, truth, flights, grounded, swinging_motion(rig, TEST_SECONDS, generator))


def rows() -> Iterator[Figure]:
    """The jumper's figures."""
    data = "simulated, 34 degrees of freedom, flights of 0.5 s"
    for count in (1, 5):
        space = nulls(count)
        what = f"jumper without noise, {count} flights: dimension of the null space"
        low = within(1.0, 0.0) if count > 1 else at_least(2.0)
        yield Figure(what, data, float(space.dimension), "", must=low, note=space.summary)
    recorded = [record_jumps(Jumps(max(COUNTS), 1e-3, seed)) for seed in range(MANY)]
    for count in COUNTS:
        found = [(one, values) for one in recorded for values in (one.ours(one.flights[:count]), one.plain(count))]
        errors = np.array([np.abs(one.errors(values)).mean(axis=0) for one, values in found]).reshape(MANY, 2, -1)
        ours, plain = errors[:SEEDS].mean(axis=0)
        worst = (errors[:, 0] / errors[:, 1]).max(axis=1)
        note = (
            f"ours {_format(ours)}, the paper's {_format(plain)} N and N m, mean of {SEEDS} bodies; worst axis of each "
        )
        note += f"of {MANY} bodies: median {np.median(worst):.2g}, largest {worst.max():.2g}, above 1.05 in "
        note += (
            f"{np.sum(worst > 1.05)}; all together {(errors[:, 0].mean(axis=0) / errors[:, 1].mean(axis=0)).max():.2g}"
        )
        what = (
            f"jumper, {count} flights, 1 mm: wrench of other motion, mean |error| over the paper's program, worst axis"
        )
        yield Figure(what, data, float((ours / plain).max()), "", must=at_most(1.05), aim=at_most(0.9), note=note)
    few = [record_jumps(Jumps(5, 3e-3, seed)) for seed in range(SEEDS)]
    for count, noise, bodies, must, aim in ((10, 1, recorded[:SEEDS], 0.15, 0.11), (5, 3, few, 0.5, 0.35)):
        ratios = [one.over_prior(one.ours(one.flights[:count])) for one in bodies]
        note = f"median of {SEEDS} bodies, worst {max(ratios):.2g}; the paper's plain: "
        note += f"{np.median([one.over_prior(one.plain(count)) for one in bodies]):.2g}"
        what = f"jumper, {count} flights, {noise} mm: ground forces of other motion, error"
        value = float(np.median(ratios))
        yield Figure(f"{what} over the prior's", data, value, "", must=at_most(must), aim=at_most(aim), note=note)
        if bodies is not few:
            contact = [one.over_prior(one.ours(one.grounded[:count])) for one in bodies]
            value = float(np.median(np.divide(ratios, contact)))
            yield Figure(f"{what} over that of as much contact", data, value, "", at_most(1.2), at_most(0.9))


def _format(errors: np.ndarray) -> str:
    return " ".join(f"{error:.3g}" for error in errors)


def take_off(rig: Rig, waves: Waves, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,) and v (nv,) from which a flight begins."""
    q, v, _ = waves.joint_motion(rig, 0.0)
    v[:3] = 0.5, 0.0, 0.5 * GRAVITY * SECONDS
    v[3:6] = SPIN * generator.standard_normal(3)
    return q, v


def _flight(rig: Rig, truth: InertialParameters, generator: np.random.Generator) -> Motion:
    waves = Waves.drawn(rig, generator)
    start = take_off(rig, waves, generator)
    times = np.arange(round(SECONDS * RATE) + 1) / RATE
    return simulate_flight(rig, truth, start, times, lambda time: waves.joint_motion(rig, time)[2][ROOT_NV:])


def swinging_motion(rig: Rig, seconds: float, generator: np.random.Generator) -> Motion:
    """Motion in which every coordinate swings, the root's included, by whatever forces that requires."""
    waves = Waves.drawn(rig, generator)
    times = np.arange(round(seconds * RATE) + 1) / RATE
    steps = np.array([waves.at(time) for time in times])
    steps[:, :3] *= ROOT_SWING
    return smooth_motion(rig, times, integrate(rig, rig.neutral, steps), None)


@dataclass(frozen=True, slots=True)
class Waves:
    """Sinusoids of every coordinate, the joints' in the middle of their ranges."""

    centre: np.ndarray
    swing: np.ndarray
    tempo: np.ndarray  # [rad/s]
    phase: np.ndarray

    @staticmethod
    def drawn(rig: Rig, generator: np.random.Generator) -> Waves:
        """Any such waves that the joints' ranges allow."""
        half = np.minimum(0.5 * (rig.limits.upper - rig.limits.lower), np.pi)
        reach = np.concatenate([np.full(ROOT_NV, SWING), np.minimum(SWING, RANGE_USED * half)])
        lower, upper = rig.limits.lower + reach[ROOT_NV:], rig.limits.upper - reach[ROOT_NV:]
        centre = np.concatenate([np.zeros(ROOT_NV), np.clip(0.0, lower, upper)])
        tempo = 2.0 * np.pi * generator.uniform(*TEMPO, rig.nv)
        return Waves(centre, reach, tempo, generator.uniform(0.0, 2.0 * np.pi, rig.nv))

    def at(self, time: float) -> np.ndarray:
        """Coordinates (nv,) at a time [s]."""
        return self.swing * np.sin(self.tempo * time + self.phase) + self.centre

    def joint_motion(self, rig: Rig, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q (nq,), v and a (nv,) of the joints at a time [s], with the root at rest.

        By differences: the rates of a joint about several axes are not those of its coordinates, and integrated as if
        they were they leave the joint's range.
        """
        before, now, after = (
            integrate(rig, rig.neutral, np.append(np.zeros(ROOT_NV), self.at(time + step)[ROOT_NV:]))
            for step in (-STEP, 0.0, STEP)
        )
        backward, forward = difference(rig, before, now), difference(rig, now, after)
        return now, (backward + forward) / (2.0 * STEP), (forward - backward) / STEP**2


def _exact(rig: Rig, motion: Motion, number: int) -> Trial:
    zero = Wrenches(motion.times, ("nothing",), np.zeros((len(motion), 1, 6)))
    return Trial(f"flight {number}", motion, zero, np.ones(len(motion), bool))


def _track(rig: Rig, motion: Motion, noise: float, generator: np.random.Generator, name: str) -> TrialRecord:
    attached, markers = simulate_recording(rig, motion, SPREAD, noise, generator)
    return TrialRecord(Recording(name, markers), track_markers(rig, attached, markers, TrackingOptions()))


def _on_plates(
    rig: Rig,
    truth: InertialParameters,
    motion: Motion,
    noise: float,
    generator: np.random.Generator,
    name: str,
) -> Trial:
    """As much motion with plates, prepared as flights are."""
    poses, preset = _track(rig, motion, noise, generator, name).poses, preset_of(PRESET)
    assert poses is not None
    light = light_preset(preset, RATE)
    wrench = predicted_wrench(rig, motion, truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    wrench += generator.standard_normal(wrench.shape) * np.repeat([FORCE_NOISE, MOMENT_NOISE], 3)
    forces = resample(Wrenches(motion.times, ("plate",), wrench[:, None]), motion.times, light)
    counted = np.ones(len(motion), bool)
    return Trial(name, smooth_motion(rig, poses.times, poses.q, light), forces, counted, (), preset)
