"""The second experiment of ayusawa on a simulated jumper of 34 degrees of freedom, whose inertials are known.

He jumps, flies and moves; the identification from flight is checked against ground forces of other motion, as in the
paper's Fig. 5, compared with the prior and with as much motion on plates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver.demo.truth import perturb_inertials
from solver.dynamics import base_regressor, integrate, predicted_wrench
from solver.identification.accumulate import accumulate_regression
from solver.identification.base_parameters import base_parameters
from solver.identification.flight import PLAIN, SCALED, NullSpace, null_space
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.report.svg import Drawing
from solver.rigs import human
from solver.signals import GRAVITY, NoiseReplicas, light_preset, noise_floor, preset_of, resample, smooth_motion
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
ROOT_SWING = 0.3
"""[m] per rad of the joints' swing, of the root on the ground."""
SEEDS = 3
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
class JumpErrors:
    """Mean over the axes of the error of reconstructed ground forces over the prior's.

    Attributes:
        flight: of parameters from flight alone.
        contact: of parameters from as much motion on plates.
        plain: of the paper's null space, plain.
    """

    flight: float
    contact: float
    plain: float


def jumper(seed: int) -> tuple[Rig, InertialParameters]:
    """The rig with its prior, and another body's inertials of the same mass."""
    rig = human(HEIGHT, MASS, SEX)
    return rig, perturb_inertials(rig, seed)


def nulls(count: int) -> NullSpace:
    """Null space of flights known without any noise."""
    rig, truth = jumper(0)
    trials = [_exact(rig, _flight(rig, truth, np.random.default_rng(number)), number) for number in range(count)]
    return null_space(accumulate_regression(rig, trials, axes="world"), rig, MASS, SCALED)


def evaluate_jumps(jumps: Jumps, relative_std: float | None = None) -> JumpErrors:
    """Flights of a noisy recording, the same length of motion on plates, and both on motion that neither has seen."""
    rig, truth = jumper(jumps.seed)
    generator = np.random.default_rng(1000 + jumps.seed)
    flights, grounded = _record_jumps(rig, truth, jumps, generator)
    options = IdentifyOptions(total_mass=MASS, bootstrap=0, cross_validate=False, relative_std=relative_std)
    test = swinging_motion(rig, TEST_SECONDS, generator)
    structure = base_parameters(rig)
    plain = null_space(accumulate_regression(rig, flights, axes="world", structure=structure), rig, MASS, PLAIN)
    parameters = [identify_trials(rig, trials, options).parameters for trials in (flights, grounded)]
    bases = [*(structure.project(each) for each in parameters), plain.values]
    return JumpErrors(*over_prior(rig, truth, test, bases))


def figure_5(jumps: Jumps) -> tuple[str, Drawing]:
    """Fig. 5: mean errors [N, N m] by the paper's program, by ours and by the prior, and the wrench over time."""
    rig, truth = jumper(jumps.seed)
    generator = np.random.default_rng(1000 + jumps.seed)
    flights, _ = _record_jumps(rig, truth, jumps, generator)
    test = swinging_motion(rig, TEST_SECONDS, generator)
    structure = base_parameters(rig)
    plain = null_space(accumulate_regression(rig, flights, axes="world", structure=structure), rig, MASS, PLAIN)
    ours = identify_trials(rig, flights, IdentifyOptions(total_mass=MASS, bootstrap=0, cross_validate=False)).parameters
    sets = {"paper's program": plain.values, "ours": structure.project(ours), "prior": structure.project(rig.prior)}
    lines = [
        f"Fig. 5, simulated jumper, {jumps.count} flights of {SECONDS} s, {1e3 * jumps.noise:g} mm: mean |error| of",
        f"the external wrench [N, N m] in {TEST_SECONDS:g} s of other motion, without noise in it",
        " " * 18 + "".join(f"{axis:>8s}" for axis in WRENCH_AXES),
        " in print         " + "".join(f"{value:8.2f}" for value in PRINTED),
    ]
    for name, values in sets.items():
        error = np.abs(wrench_errors(rig, truth, test, values)).mean(axis=0)
        lines.append(f" {name:17s}" + "".join(f"{value:8.2f}" for value in error))
    true = predicted_wrench(rig, test, truth, axes="world")
    curves = {"true": true} | {name: true + wrench_errors(rig, truth, test, values) for name, values in sets.items()}
    panels = [
        (f"{axis} [{'N' if k < 3 else 'N m'}]", {name: each[:, k] for name, each in curves.items()})
        for k, axis in enumerate(WRENCH_AXES)
    ]
    return "\n".join(lines), plots.curves_over_time(test.times, panels, "Fig. 5: wrench of a jumper, SIMULATED")


def _record_jumps(
    rig: Rig, truth: InertialParameters, jumps: Jumps, generator: np.random.Generator
) -> tuple[list[Trial], list[Trial]]:
    """The flights that are found in recordings, and as much motion on plates."""
    flights, grounded = [], []
    for number in range(jumps.count):
        flight = _flight(rig, truth, generator)
        record = _track(rig, flight, jumps.noise, generator, f"jump {number}")
        found = find_trial_flights(rig, record, preset_of(PRESET), MASS).trial
        if found is not None:
            flights.append(found)
        stance = swinging_motion(rig, SECONDS, generator)
        grounded.append(_on_plates(rig, truth, stance, jumps.noise, generator, f"stance {number}"))
    return flights, grounded


def over_prior(rig: Rig, truth: InertialParameters, test: Motion, found: Sequence[np.ndarray]) -> list[float]:
    """Of base parameters (B,) the mean over the axes of the error of a motion's ground forces over the prior's."""
    prior = base_parameters(rig).project(rig.prior)
    errors = [np.sqrt((wrench_errors(rig, truth, test, values) ** 2).mean(axis=0)) for values in (prior, *found)]
    return [float(np.mean(error / errors[0])) for error in errors[1:]]


def wrench_errors(rig: Rig, truth: InertialParameters, test: Motion, values: np.ndarray) -> np.ndarray:
    """Error (N, 6) [N, N m] of a motion's external wrench by base parameters (B,), world axes, about the root."""
    structure = base_parameters(rig)
    regressor = base_regressor(rig, test, axes="world")[:, :, structure.independent]
    return np.asarray(regressor @ (values - structure.project(truth)))


def rows() -> Iterator[Figure]:
    """The jumper's figures."""
    data = "simulated, 34 degrees of freedom, flights of 0.5 s"
    for count in (1, 5):
        space = nulls(count)
        what = f"jumper without noise, {count} flights: dimension of the null space"
        low = within(1.0, 0.0) if count > 1 else at_least(2.0)
        yield Figure(what, data, float(space.dimension), "", must=low, note=space.summary)
    cases = ((Jumps(10, 1e-3), 0.15, 0.11), (Jumps(5, 3e-3), 0.5, 0.35))
    for jumps, must, aim in cases:
        found = [evaluate_jumps(replace(jumps, seed=seed)) for seed in range(SEEDS)]
        flight, contact, plain = np.median([(v.flight, v.flight / v.contact, v.plain) for v in found], axis=0)
        what = f"jumper, {jumps.count} flights, {1e3 * jumps.noise:g} mm: ground forces of other motion, error"
        note = (
            f"median of {len(found)} bodies, worst {max(v.flight for v in found):.2f}; the paper's plain: {plain:.2f}"
        )
        yield Figure(
            f"{what} over the prior's", data, float(flight), "", must=at_most(must), aim=at_most(aim), note=note
        )
        if jumps.count == cases[0][0].count:
            yield Figure(f"{what} over that of as much contact", data, float(contact), "", at_most(1.2), at_most(0.9))


def take_off(rig: Rig, waves: Waves, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,) and v (nv,) from which a flight begins."""
    q = integrate(rig, rig.neutral, np.concatenate([np.zeros(ROOT_NV), waves.at(0.0, 0)[ROOT_NV:]]))
    v = np.concatenate([np.zeros(ROOT_NV), waves.at(0.0, 1)[ROOT_NV:]])
    v[:3] = 0.5, 0.0, 0.5 * GRAVITY * SECONDS
    v[3:6] = SPIN * generator.standard_normal(3)
    return q, v


def _flight(rig: Rig, truth: InertialParameters, generator: np.random.Generator) -> Motion:
    waves = Waves.drawn(rig, generator)
    start = take_off(rig, waves, generator)
    times = np.arange(round(SECONDS * RATE) + 1) / RATE
    return simulate_flight(rig, truth, start, times, lambda time: waves.at(time, 2)[ROOT_NV:])


def swinging_motion(rig: Rig, seconds: float, generator: np.random.Generator) -> Motion:
    """Motion in which every coordinate swings, the root's included, by whatever forces that requires."""
    waves = Waves.drawn(rig, generator)
    times = np.arange(round(seconds * RATE) + 1) / RATE
    steps = np.array([waves.at(time, 0) for time in times])
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

    def at(self, time: float, order: int) -> np.ndarray:
        """The order-th derivative at a time [s]."""
        wave = self.swing * self.tempo**order * np.sin(self.tempo * time + self.phase + 0.5 * np.pi * order)
        return wave + (self.centre if order == 0 else 0.0)


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
    floor = noise_floor(rig, poses.times, poses.q, preset, poses.known)
    copies = () if floor is None else NoiseReplicas(rig, poses.times, poses.q, light, floor, name)
    wrench = predicted_wrench(rig, motion, truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    wrench += generator.standard_normal(wrench.shape) * np.repeat([FORCE_NOISE, MOMENT_NOISE], 3)
    forces = resample(Wrenches(motion.times, ("plate",), wrench[:, None]), motion.times, light)
    counted = np.ones(len(motion), bool)
    return Trial(name, smooth_motion(rig, poses.times, poses.q, light), forces, counted, (), copies, preset)
