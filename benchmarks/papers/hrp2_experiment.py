"""HRP-2 whose links were changed after its drawings were made: Tables I and II of jovic2016, simulated.

The robot is the stand-in of `solver.rigs.hrp2`. Changed are the links that the paper says were changed (trunk, head,
feet, wrists and hands); the rest differ from the drawings by up to 2 %. The robot ends 5 kg heavier than its
drawings, as the paper's did. Sensors at 200 Hz:

* joint encoders, white noise of 1e-4 rad;
* attitude of the trunk from its inertial unit: white noise of 1e-4 rad and a slow wander of 2e-3 rad;
* force sensors in the ankles, here under the feet: white noise of 1 N and 0.1 N m in the foot's axes.

The root's place follows from the legs, whose feet do not slip. Nothing bends: the real robot's ankles do, on rubber,
which is why the paper's residuals are larger than these. Collisions of the arms with the body are not looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from solver.base.errors import BackendError
from solver.base.so3 import exp, to_quaternion
from solver.contacts.schedule import Schedule
from solver.dance.design.dance import Dance
from solver.demo.motions import MotionAmplitudes
from solver.dynamics import predicted_wrench
from solver.dynamics.coordinates import joint_coordinates
from solver.engine import FrameDynamics
from solver.identification.accumulate import accumulate_regression
from solver.identification.comparison import WrenchFit, fit_wrenches
from solver.identification.constraints import PAPER_FLOOR, ConstraintOptions
from solver.identification.equations import measured_wrench, reconstructed_wrench
from solver.identification.hierarchical import HierarchicalOptions, hierarchical
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.identification.regression import fit_axis_weights
from solver.rigs import hrp2
from solver.signals import PRESETS, light_preset, low_pass, resample, settling_time, smooth_motion
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.filter_presets import FilterPreset
from solver.values.inertials import GRAVITY, InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

from .exciting import Excitation, Phase, exciting, pressure_margin

RATE = 200.0
ENCODER, ATTITUDE, WANDER = 1e-4, 1e-4, 2e-3  # [rad]
FORCE, MOMENT = 1.0, 0.1  # [N], [N m]
WANDERING = FilterPreset("wander", 2, 0.2, "how slowly the inertial unit's attitude drifts to and fro")
PRESET = PRESETS["jovic_hrp2"]
MODIFIED_BETA, USUAL_BETA = 0.35, 0.05
ON_BOUND = 1e-3
"""Share of a link's mass within which it lies on its bound."""
PAPER, HIERARCHICAL, CONSISTENT = "paper's program", "ours, hierarchical", "ours, default"
"""Parameters: eps of 0.01 kg m^2, level 4 as printed and no weights; eps as a share of each link's own inertia, level 4
scaled and weighed axes; the default method."""
ITS_EPS, ITS_LEVEL_4 = "its eps alone", "its level 4 alone"
"""`HIERARCHICAL` with one part of the paper's program."""
CHANGES = {
    "waist": 1.08,
    "chest_yaw": 1.20,
    "chest": 1.20,
    "neck": 1.25,
    "head": 1.30,
    **{f"{side}_foot": 0.90 for side in ("right", "left")},
    **{f"{side}_wrist_yaw": 1.15 for side in ("right", "left")},
    **{f"{side}_wrist_pitch": 1.15 for side in ("right", "left")},
    **{f"{side}_hand": 1.25 for side in ("right", "left")},
}
"""True mass over that of the drawings; the paper does not know the truth of its robot."""
ADDED_KG = 5.0
UNCHANGED = 0.02
"""Largest relative error of the drawings' masses of links that were not changed."""
SHIFT = 0.15
"""Largest shift of a changed link's centre of mass, in half sides of its box."""
FEET = ("right_foot", "left_foot")
LEG = ("hip_yaw", "hip_roll", "thigh", "shank", "ankle", "foot")
LEGS = tuple(f"{side}_{part}" for side in ("right", "left") for part in LEG)
STYLE = MotionAmplitudes(
    root=(0.0, 0.0, 0.06, 0.12, 0.15, 0.2),
    joints=(
        ("chest_yaw", (0.35,)),
        ("chest", (0.25,)),
        ("neck", (0.5,)),
        ("head", (0.35,)),
        ("shoulder_pitch", (0.9,)),
        ("shoulder_roll", (0.35,)),
        ("upper_arm", (0.6,)),
        ("forearm", (0.7,)),
        ("wrist_yaw", (0.9,)),
        ("wrist_pitch", (0.9,)),
        ("hand", (0.9,)),
    ),
    centres=(
        ("chest", (0.2,)),
        ("right_shoulder_roll", (-0.4,)),
        ("left_shoulder_roll", (0.4,)),
        ("shoulder_pitch", (-0.4,)),
        ("forearm", (-0.5,)),
    ),
)
"""Legs follow; a robot that stands on both feet moves them with its waist only, as the paper's Table II shows."""


@dataclass(frozen=True, slots=True)
class Robot:
    """The rig as drawn, and what the robot truly is."""

    rig: Rig
    truth: InertialParameters


@dataclass(frozen=True, slots=True)
class MotionResult:
    """What one motion identifies.

    Attributes:
        trial: of the motion.
        sets: parameters by name: `PAPER`, `HIERARCHICAL`, `ITS_EPS`, `ITS_LEVEL_4` and `CONSISTENT`.
        deciding: links whose mass in `PAPER` lies on a bound of the second level, which decides it instead of the data.
    """

    trial: Trial
    sets: Mapping[str, InertialParameters]
    deciding: tuple[str, ...]

    def mass_errors(self, truth: InertialParameters) -> dict[str, float]:
        """Sum of the links' mass errors as a share of the body, by name of the parameters."""
        return {name: mass_error(found, truth) for name, found in self.sets.items()}


@dataclass(frozen=True, slots=True)
class Hrp2Result:
    """Tables I and II for one robot.

    Attributes:
        robot: as drawn and as it is.
        paper: by the paper's motion.
        own: by a dance of this project; None without one.
        unseen: another motion of the paper's kind.
        measured_mass: [kg].
        score: of the chosen motion: mean of the links' condition numbers, weighted by mass.
        scores: of the candidate motions, best first.
    """

    robot: Robot
    paper: MotionResult
    own: MotionResult | None
    unseen: Trial
    measured_mass: float
    score: float
    scores: tuple[float, ...]

    @property
    def scaled(self) -> InertialParameters:
        """The drawings at the measured mass, the fair baseline."""
        return self.robot.rig.prior.scaled(self.measured_mass)

    def fits(self, trial: Trial) -> dict[str, WrenchFit]:
        """How the paper's motion's parameters, the drawings and the scaled drawings explain a trial's wrench."""
        rig = self.robot.rig
        base = base_link(rig)
        sets = {**self.paper.sets, "CAD": rig.prior, "CAD scaled": self.scaled, "truth": self.robot.truth}
        measured, counted = measured_wrench(rig, trial, base), trial.counted
        return {name: fit_wrenches(measured[counted], reconstructed_wrench(rig, trial, found, base)[counted])
                for name, found in sets.items()}  # fmt: skip


def hrp2_experiment(
    *, seconds: float = 30.0, candidates: int = 8, seed: int = 0, dance: Dance | None = None, noise: float = 1.0
) -> Hrp2Result:
    """Simulate, choose the motion, record, identify.

    Each joint above the legs takes its trajectory from the candidate in which its link has the lowest condition number,
    the rest of the body from the candidate with the lowest mean. The unseen motion is none of them.

    Args:
        seconds: of each motion.
        candidates: random motions to choose from.
        seed: of truth, motions and noise.
        dance: of the robot as drawn, performed as well.
        noise: of the sensors, as a multiple of theirs.
    """
    robot = change_robot(seed)
    rig = robot.rig
    start = np.array(rig.provenance["half_sitting"])
    plan = Excitation(STYLE, FEET, LEGS, (Phase(seconds),), frequencies=(0.3, 1.3), sway=0.01)
    drawn = {number: _conditions(rig, start, plan, number) for number in range(100 * seed, 100 * seed + candidates)}
    scored = sorted((_mean(rig, conditions), number) for number, conditions in drawn.items())
    best = scored[0][1]
    joints = {
        column: min(drawn, key=lambda number: drawn[number][link])
        for link, columns in enumerate(rig.v_slices)
        if rig.parents[link] >= 0 and rig.links[link] not in LEGS
        for column in range(columns.start, columns.stop)
    }
    plans: list[tuple[int, Mapping[int, int]]] = [(best, joints), (100 * seed + candidates, {})]
    means = [_mean(rig, _conditions(rig, start, plan, *each)) for each in plans]
    if not np.all(np.isfinite(means)):
        raise BackendError(
            f"robot {seed}: the chosen motion or the unseen one leaves joint ranges or tips the robot over"
        )
    motions = [exciting(rig, start, plan, RATE, *each) for each in plans]
    trials = [_record(robot, m, _halves(m), name, seed, noise) for m, name in zip(motions, ("used", "unseen"))]
    mass = _measured_mass(rig, trials)
    own = None
    if dance is not None:
        motion = dance.sample(rig, RATE)
        shares = foot_shares(rig, dance.schedule, motion.times)
        own = _identify(rig, _record(robot, motion, shares, "own", seed, noise), mass)
    scores = tuple(score for score, _ in scored)
    return Hrp2Result(robot, _identify(rig, trials[0], mass), own, trials[1], mass, means[0], scores)


def mass_error(found: InertialParameters, truth: InertialParameters) -> float:
    """Sum of the links' mass errors as a share of the body."""
    return float(np.abs(found.masses - truth.masses).sum() / truth.total_mass)


def base_link(rig: Rig) -> str:
    """The trunk, about whose origin the paper takes the moments."""
    return str(rig.provenance["base_link"])


def _identify(rig: Rig, trial: Trial, mass: float) -> MotionResult:
    base = base_link(rig)
    plain = accumulate_regression(rig, [trial], base=base, axes="world")
    paper = hierarchical(plain, rig, HierarchicalOptions(_constraints(rig, mass, PAPER_FLOOR), scaled=False))
    variants = {
        HIERARCHICAL: HierarchicalOptions(_constraints(rig, mass, None)),
        ITS_EPS: HierarchicalOptions(_constraints(rig, mass, PAPER_FLOOR)),
        ITS_LEVEL_4: HierarchicalOptions(_constraints(rig, mass, None), scaled=False),
    }
    weighed = {
        name: fit_axis_weights(plain, partial(hierarchical, rig=rig, options=options), rig)[1].parameters
        for name, options in variants.items()
    }
    default = IdentifyOptions(base=base, total_mass=mass, cross_validate=False)
    sets = {
        PAPER: paper.parameters,
        **weighed,
        CONSISTENT: identify_trials(rig, [trial], default).parameters,
    }
    betas = np.array([MODIFIED_BETA if link in CHANGES else USUAL_BETA for link in rig.links])
    change = np.abs(paper.parameters.masses / rig.prior.masses - 1.0)
    return MotionResult(trial, sets, tuple(np.array(rig.links)[change > betas - ON_BOUND]))


def change_robot(seed: int) -> Robot:
    """The robot as drawn, and with its links changed by `CHANGES`, sized so that 5 kg are added."""
    rig = hrp2()
    generator = np.random.default_rng((seed, 21))
    usual = 1.0 + UNCHANGED * generator.uniform(-1.0, 1.0, len(rig.links))
    factors = np.array([CHANGES.get(link, other) for link, other in zip(rig.links, usual)])
    # the chest holds the new computer: it makes up what is left of the 5 kg
    chest = rig.index("chest")
    factors[chest] += (ADDED_KG - float((factors - 1.0) @ rig.masses)) / rig.masses[chest]
    values = np.array(rig.prior.values)
    for k, link in enumerate(rig.links):
        half = 0.5 * (rig.boxes[k, 1] - rig.boxes[k, 0])
        shift = SHIFT * generator.uniform(-1.0, 1.0, 3) * half if link in CHANGES else np.zeros(3)
        part = InertialParameters.from_com(
            (link,),
            rig.prior.masses[k : k + 1] * factors[k],
            rig.prior.coms[k : k + 1] + shift,
            rig.prior.inertias_at_com[k : k + 1] * factors[k],
        )
        values[k] = part.values[0]
    return Robot(rig, InertialParameters(rig.links, values))


def _constraints(rig: Rig, mass: float, floor: float | None) -> ConstraintOptions:
    betas = {link: MODIFIED_BETA for link in CHANGES if link in rig.links}
    return ConstraintOptions(total_mass=mass, beta=USUAL_BETA, betas=betas, floor=floor)


def _conditions(
    rig: Rig, start: np.ndarray, plan: Excitation, seed: int, joints: Mapping[int, int] = MappingProxyType({})
) -> np.ndarray:
    """Condition numbers (L,) of the links' sub-regressors, static columns (bonnet2016 (12)).

    Infinite for a motion that leaves the joint ranges or tips the robot over.
    """
    motion = exciting(rig, start, plan, 0.25 * RATE, seed, joints)
    coordinates = joint_coordinates(rig, motion.q)
    outside = np.any(coordinates < rig.limits.lower) or np.any(coordinates > rig.limits.upper)
    if outside or pressure_margin(rig, motion, rig.prior, FEET) > 0.0:
        return np.full(len(rig.links), np.inf)
    trial = Trial("candidate", motion, _wrenches(motion, np.zeros((len(motion), 1, 6))), np.ones(len(motion), bool))
    regression = accumulate_regression(rig, [trial], base=base_link(rig), axes="world")
    # bonnet2016 (12): the singular values of each link's columns of W_b
    parts = [regression.base_triangle[:, regression.structure.link_indices(link, "static")] for link in rig.links]
    return np.array([np.linalg.cond(part) if part.shape[1] else 1.0 for part in parts])


def _mean(rig: Rig, conditions: np.ndarray) -> float:
    return float(np.average(conditions, weights=rig.masses))


def _halves(motion: Motion) -> np.ndarray:
    return np.full((len(motion), len(FEET)), 0.5)


def foot_shares(rig: Rig, schedule: Schedule, times: np.ndarray) -> np.ndarray:
    """Share of the load on each foot (N, 2): the planted ones carry the same."""
    shares = np.zeros((len(times), len(FEET)))
    for phase in schedule.phases:
        links = [rig.patch(name).link for name in phase.loaded]
        shares[(times >= phase.start) & (times <= phase.stop)] = [(foot in links) / len(links) for foot in FEET]
    return shares


def _record(robot: Robot, motion: Motion, shares: np.ndarray, name: str, seed: int, size: float) -> Trial:
    """Sensor data of a motion; both sides of the equations are filtered at 20 Hz, the coordinates less.

    ``shares`` (N, 2) are those of the feet in the load. The robot knows where the feet that carry it stand. ``size`` is
    that of the noise, as a multiple of the sensors'.
    """
    rig = robot.rig
    generator = np.random.default_rng((seed, len(name), 22))
    count = len(motion)
    q = np.array(motion.q)
    q[:, 7:] += size * ENCODER * generator.standard_normal((count, rig.nq - 7))
    wander = low_pass(generator.standard_normal((count, 3)), RATE, WANDERING)
    wander *= WANDER / wander.std()
    tilt = size * (wander + ATTITUDE * generator.standard_normal((count, 3)))
    wrenches = _foot_wrenches(robot, motion, shares)
    noise = generator.standard_normal(wrenches.shape) * size * np.repeat([FORCE, MOMENT], 3)
    feet, trunk = [rig.index(foot) for foot in FEET], rig.index(base_link(rig))
    true_turns, true_places = _poses(rig, motion.q)
    turns, _ = _poses(rig, q)
    turned = true_turns[:, trunk] @ exp(tilt) @ turns[:, trunk].transpose(0, 2, 1)  # of the whole body
    q[:, 3:7] = to_quaternion(turned @ turns[:, 0])
    _, places = _poses(rig, q)
    q[:, :3] += (shares[:, :, None] * (true_places[:, feet] - places[:, feet])).sum(axis=1)
    turns, places = _poses(rig, q)
    seen = np.empty((count, len(FEET), 6))
    for k, foot in enumerate(feet):  # a sensor measures in its foot's axes, about the foot's origin
        force, moment = wrenches[:, k, :3], wrenches[:, k, 3:] - np.cross(true_places[:, foot], wrenches[:, k, :3])
        own = np.concatenate([(true_turns[:, foot].transpose(0, 2, 1) @ part[:, :, None])[:, :, 0]
                              for part in (force, moment)], axis=1) + noise[:, k]  # fmt: skip
        force, moment = ((turns[:, foot] @ part[:, :, None])[:, :, 0] for part in (own[:, :3], own[:, 3:]))
        seen[:, k] = np.concatenate([force, moment + np.cross(places[:, foot], force)], axis=1)
    light = light_preset(PRESET, RATE)
    filtered = smooth_motion(rig, motion.times, q, light)
    measured = resample(_wrenches(motion, seen), filtered.times, light)
    edge = int(np.ceil(settling_time(PRESET) * RATE))
    counted = np.ones(len(filtered), bool)
    counted[:edge] = counted[-edge:] = False
    return Trial(name, filtered, measured, counted, preset=PRESET)


def _poses(rig: Rig, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes (N, L, 3, 3) and origins (N, L, 3) [m] of the links at configurations (N, nq), world."""
    poses = FrameDynamics(rig.model).poses(q).reshape(len(q), -1, 4, 3)
    return poses[:, :, :3].swapaxes(2, 3), poses[:, :, 3]


def _foot_wrenches(robot: Robot, motion: Motion, shares: np.ndarray) -> np.ndarray:
    """What each foot carries (N, 2, 6), world, about the world origin."""
    wrench = predicted_wrench(robot.rig, motion, robot.truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    return np.asarray(shares[:, :, None] * wrench[:, None])


def _wrenches(motion: Motion, values: np.ndarray) -> Wrenches:
    names = tuple(f"sensor {k}" for k in range(values.shape[1]))
    return Wrenches(motion.times, names, values)


def _measured_mass(rig: Rig, trials: Sequence[Trial]) -> float:
    """[kg] mean vertical force over gravity: over a whole motion from rest to rest the momentum does not change."""
    loads = np.concatenate([trial.wrenches.total[:, 2] for trial in trials])
    return float(loads.mean() / GRAVITY)
