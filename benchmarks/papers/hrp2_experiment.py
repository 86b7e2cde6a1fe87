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

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver.coordinates import joint_coordinates
from solver.demo.motions import MotionAmplitudes
from solver.dynamics import predicted_wrench
from solver.engine import FrameDynamics
from solver.filter_presets import FilterPreset
from solver.identification.accumulate import accumulate_regression
from solver.identification.comparison import Comparison, compare
from solver.identification.constraints import ConstraintOptions
from solver.identification.error_model.axis_weights import fit_axis_weights
from solver.identification.estimate import Estimate
from solver.identification.hierarchical import HierarchicalOptions, hierarchical
from solver.inertials import GRAVITY, InertialParameters
from solver.motion import Motion
from solver.rig import Rig
from solver.rigs import hrp2
from solver.signals import PRESETS, light_preset, low_pass, resample, settling_time, smooth_motion
from solver.so3 import exp, to_quaternion
from solver.trial import Trial
from solver.wrenches import Wrenches

from .exciting import Excitation, Phase, exciting, pressure_margin

RATE = 200.0
ENCODER, ATTITUDE, WANDER = 1e-4, 1e-4, 2e-3  # [rad]
FORCE, MOMENT = 1.0, 0.1  # [N], [N m]
WANDERING = FilterPreset("wander", 2, 0.2, "how slowly the inertial unit's attitude drifts to and fro")
PRESET = PRESETS["jovic_hrp2"]
MODIFIED_BETA, USUAL_BETA = 0.35, 0.05
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
class Hrp2Result:
    """Tables I and II.

    Attributes:
        robot: as drawn and as it is.
        estimate: hierarchical, with eps a share of each link's own inertia.
        paper_floor: the same with the paper's eps = 0.01 kg m^2 for every link.
        comparisons: used motion, unseen motion: identified against the drawings.
        scaled: the same against the drawings scaled to the measured mass, the fair baseline.
        measured_mass: [kg]
        scores: of the candidate motions, mean weighted condition number of the links' sub-regressors; the first was
            chosen.
        margin: [m] distance of the centre of pressure from the edge of the soles' rectangle, at worst.
    """

    robot: Robot
    estimate: Estimate
    paper_floor: Estimate
    comparisons: tuple[Comparison, Comparison]
    scaled: tuple[Comparison, Comparison]
    measured_mass: float
    scores: tuple[float, ...]
    margin: float


def hrp2_experiment(*, seconds: float = 30.0, candidates: int = 8, seed: int = 0) -> Hrp2Result:
    """Simulate, choose the motion, record, identify, compare.

    Args:
        seconds: of each motion.
        candidates: random motions to choose from.
        seed: of truth, motions and noise.
    """
    robot = change_robot(seed)
    rig = robot.rig
    start = np.array(rig.provenance["half_sitting"])
    plan = Excitation(STYLE, FEET, LEGS, (Phase(seconds),), frequencies=(0.3, 1.3), sway=0.01)
    scored = sorted((_score(rig, start, plan, 100 * seed + k), 100 * seed + k) for k in range(candidates + 1))
    scores = tuple(score for score, _ in scored)
    motions = [exciting(rig, start, plan, RATE, chosen) for _, chosen in scored[:2]]
    trials = [_record(robot, motion, name, seed) for motion, name in zip(motions, ("used", "unseen"))]
    mass = _measured_mass(rig, trials)
    base = str(rig.provenance["base_link"])
    regression = accumulate_regression(rig, trials[:1], base=base, axes="world")
    regression, estimate = fit_axis_weights(regression, lambda r: hierarchical(r, rig, _options(rig, mass, None)), rig)
    paper_floor = hierarchical(regression, rig, _options(rig, mass, 0.01))
    drawn, fair = rig.prior, rig.prior.scaled(mass)
    pairs = [
        tuple(replace(compare(rig, t, estimate.parameters, b, base=base), used=t.name == "used") for t in trials)
        for b in (drawn, fair)
    ]
    margin = max(pressure_margin(rig, motion, robot.truth, FEET) for motion in motions)
    return Hrp2Result(robot, estimate, paper_floor, pairs[0], pairs[1], mass, scores, margin)  # type: ignore[arg-type]


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


def _options(rig: Rig, mass: float, floor: float | None) -> HierarchicalOptions:
    betas = {link: MODIFIED_BETA for link in CHANGES if link in rig.links}
    return HierarchicalOptions(ConstraintOptions(total_mass=mass, beta=USUAL_BETA, betas=betas, floor=floor))


def _score(rig: Rig, start: np.ndarray, plan: Excitation, seed: int) -> float:
    """Mean over the links of the condition number of their sub-regressors, weighted by mass (bonnet2016 (12)).

    Infinite for a motion that leaves the joint ranges or tips the robot over.
    """
    motion = exciting(rig, start, plan, 0.25 * RATE, seed)
    coordinates = joint_coordinates(rig, motion.q)
    if np.any(coordinates < rig.limits.lower) or np.any(coordinates > rig.limits.upper):
        return float("inf")
    if pressure_margin(rig, motion, rig.prior, FEET) > 0.0:
        return float("inf")
    trial = Trial("candidate", motion, _wrenches(motion, np.zeros((len(motion), 1, 6))), np.ones(len(motion), bool))
    regression = accumulate_regression(rig, [trial], base=str(rig.provenance["base_link"]), axes="world")
    conditions = []
    for link in rig.links:
        part = regression.sub_regressor(link, "static")
        conditions.append(np.linalg.cond(part) if part.shape[1] else 1.0)
    return float(np.average(conditions, weights=rig.masses))


def _record(robot: Robot, motion: Motion, name: str, seed: int) -> Trial:
    """Sensor data of a motion; both sides of the equations are filtered at 20 Hz, the coordinates less."""
    rig = robot.rig
    generator = np.random.default_rng((seed, len(name), 22))
    count = len(motion)
    q = np.array(motion.q)
    q[:, 7:] += ENCODER * generator.standard_normal((count, rig.nq - 7))
    wander = low_pass(generator.standard_normal((count, 3)), RATE, WANDERING)
    wander *= WANDER / wander.std()
    tilt = wander + ATTITUDE * generator.standard_normal((count, 3))
    wrenches = _foot_wrenches(robot, motion)
    noise = generator.standard_normal(wrenches.shape) * ([FORCE] * 3 + [MOMENT] * 3)
    feet, trunk = [rig.index(foot) for foot in FEET], rig.index(str(rig.provenance["base_link"]))
    true_turns, true_places = _poses(rig, motion.q)
    turns, _ = _poses(rig, q)
    turned = true_turns[:, trunk] @ exp(tilt) @ turns[:, trunk].transpose(0, 2, 1)  # of the whole body
    q[:, 3:7] = to_quaternion(turned @ turns[:, 0])
    _, places = _poses(rig, q)
    q[:, :3] += true_places[0, feet].mean(axis=0) - places[:, feet].mean(axis=1)
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


def _foot_wrenches(robot: Robot, motion: Motion) -> np.ndarray:
    """What each foot carries (N, 2, 6), world, about the world origin: half of the force, moments about its ankle."""
    wrench = predicted_wrench(robot.rig, motion, robot.truth, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    return np.repeat(0.5 * wrench[:, None], len(FEET), axis=1)


def _wrenches(motion: Motion, values: np.ndarray) -> Wrenches:
    names = tuple(f"sensor {k}" for k in range(values.shape[1]))
    return Wrenches(motion.times, names, values)


def _measured_mass(rig: Rig, trials: Sequence[Trial]) -> float:
    """[kg] mean vertical force over gravity: over a whole motion from rest to rest the momentum does not change."""
    loads = np.concatenate([trial.wrenches.total[:, 2] for trial in trials])
    return float(loads.mean() / GRAVITY)
