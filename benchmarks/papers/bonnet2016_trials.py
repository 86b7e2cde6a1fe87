"""Shared steps of the bonnet2016 experiments: play a dance in MuJoCo, measure, identify, and predict an unseen one."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.engine.loop import Sensors, simulate_sensors
from benchmarks.engine.measure import measure
from benchmarks.engine.performance import Performance, plan
from solver.dance.design.dance import Dance
from solver.dynamics import external_wrench, predicted_wrench
from solver.identification.accumulate import accumulate_regression
from solver.identification.base_estimation import BaseEstimate, estimate_base
from solver.identification.comparison import WrenchFit, fit_wrenches
from solver.identification.hierarchical import ConstrainedOptions, constrained
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.regression import fit_axis_weights
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.inertials import GRAVITY, InertialParameters

PLAN_RATE = 250.0
"""[1/s] of the plan handed to the controller."""
BEFORE_FALL = 1.0
"""[s] left out before a fall."""


@dataclass(frozen=True, slots=True)
class RecordedDance:
    """A dance as sensed.

    Attributes:
        trial: noisy and filtered.
        mass: [kg] as the plates weighed the body standing still before it.
        fell: [s] after the start, or None.
        slip: [m] farthest of a planted foot.
    """

    trial: Trial
    mass: float
    fell: float | None
    slip: float


@dataclass(frozen=True, slots=True)
class IdentifiedBody:
    """Identification of a body from one dance.

    Attributes:
        prior: the rig's.
        scaled: the prior at the weighed mass.
        paper: by the paper's program (8).
        ours: by the default method of this software, at the weighed mass.
        base: base parameters by weighted least squares (7).
        structure: how many base parameters the rig has.
    """

    prior: InertialParameters
    scaled: InertialParameters
    paper: InertialParameters
    ours: InertialParameters
    base: BaseEstimate
    structure: int


@dataclass(frozen=True, slots=True)
class PlayedDance:
    """A dance as it was played.

    Attributes:
        performance: truly.
        slip: [m] farthest of a planted foot.
    """

    performance: Performance
    slip: float


def play_dance(planner: Rig, dance: Dance, truth: InertialParameters) -> PlayedDance:
    """Play a dance in MuJoCo on a body of ``truth`` with the controller of ``planner``.

    Args:
        planner: its prior is that of plan and controller.
        dance: for that rig.
        truth: of the simulated body.
    """
    from benchmarks.engine.simulate import play  # needs MuJoCo

    intended = plan(planner, dance.sample(planner, PLAN_RATE), dance.schedule)
    shown = play(planner, intended, truth=truth)
    return PlayedDance(shown, measure(planner, intended, shown).slip)


def simulate_recording(rig: Rig, shown: PlayedDance, sensors: Sensors, seed: int) -> RecordedDance:
    """Simulate the sensors; ``seed`` is that of their noise."""
    performance = shown.performance
    weight = float(performance.standing[:, 2].sum())
    trial = simulate_sensors(rig, performance.before_fall(BEFORE_FALL), sensors, seed)
    return RecordedDance(trial, weight / GRAVITY, performance.fell, shown.slip)


def identify_body(rig: Rig, trial: Trial, mass: float) -> IdentifiedBody:
    """Identify from one trial with the rig's prior; left and right need not agree."""
    choices = ConstrainedOptions(corrected=False)
    regression, estimate = fit_axis_weights(
        accumulate_regression(rig, [trial], axes="world"), lambda found: constrained(found, rig, choices), rig
    )
    options = IdentifyOptions(total_mass=mass, symmetric=False, cross_validate=False)
    ours = identify_trials(rig, [trial], options)
    return IdentifiedBody(
        prior=rig.prior,
        scaled=rig.prior.scaled(mass),
        paper=estimate.parameters,
        ours=ours.parameters,
        base=estimate_base(regression),
        structure=len(regression.structure),
    )


def compare_wrenches(rig: Rig, trial: Trial, parameters: InertialParameters) -> WrenchFit:
    """Compare measured and reconstructed wrench in the root link's axes, as the paper does."""
    counted = trial.counted
    measured = external_wrench(rig, trial.motion, trial.wrenches, axes="link")
    return fit_wrenches(measured[counted], predicted_wrench(rig, trial.motion, parameters, axes="link")[counted])


def format_noise(sensors: Sensors) -> str:
    """The sensors' noise as text."""
    return (
        f"white noise a sample at 250 Hz: {sensors.angle:g} rad (joints and root), {1e3 * sensors.position:g} mm "
        f"(root), {100.0 * sensors.force:g} % of the weight (each plate, per axis; moments times the root's height); "
        f"filter {sensors.preset}"
    )
