"""A simulated person: skeleton, true inertials, marker locations and motions, recorded into files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..calibration.marker_set import load_marker_set
from ..dynamics import link_motions
from ..rigs import human
from ..rigs.human_skeleton import default_lengths
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from ..values.motion import Motion
from ..values.person import CHAINS
from .laboratory import (
    MarkerPlacement,
    PlateNoise,
    find_lifted_feet,
    record_markers,
    record_plates,
    sole_centres,
    write_forces,
    write_trc,
)
from .motions import STANDING, MotionAmplitudes, simulate_trials, standing_posture, still_motion
from .truth import perturb_inertials

HEIGHT, MASS, SEX = 1.76, 71.0, "male"
MARKER_SET = "plug_in_gait"
LENGTH_SPREAD = 0.03
"""Relative standard deviation of the true segment lengths about those of stature."""
PLACEMENT_SPREAD = 0.004
"""[m] standard deviation of a marker's location about that of its set."""
FORCE_RATE, MARKER_RATE = 200, 100
STATIC_SECONDS, MOVING_SECONDS = 3.0, 12.0
CROUCH = (
    ("right_thigh", (-0.12, -0.5, 0.0)),
    ("left_thigh", (0.12, -0.5, 0.0)),
    ("shank", (0.9,)),
    ("right_foot", (0.12, -0.4, 0.0)),
    ("left_foot", (-0.12, -0.4, 0.0)),
)
"""Turns of joints in the crouch. A choice for the simulated person."""
ARMS_ABDUCTED = (("right_upper_arm", (-0.35, 0.0, 0.0)), ("left_upper_arm", (0.35, 0.0, 0.0)), ("forearm", (0.15,)))
"""Turns of joints in standing. A choice for the simulated person."""
WHOLE_BODY = MotionAmplitudes(
    root=(0.04, 0.05, 0.07, 0.12, 0.15, 0.2),
    joints=(
        ("torso", (0.22, 0.3, 0.35)),
        ("head", (0.25, 0.3, 0.5)),
        ("upper_arm", (0.5, 0.8, 0.4)),
        ("forearm", (0.6,)),
        ("hand", (0.4, 0.5, 0.3)),
    ),
    centres=(
        ("right_upper_arm", (-0.7, -0.5, 0.0)),
        ("left_upper_arm", (0.7, -0.5, 0.0)),
        ("forearm", (0.9,)),
    ),
    lean=(0.0, 0.0, -0.04),
)
"""[m, rad] Amplitudes of the root and of joints. A choice for the simulated dance."""


@dataclass(frozen=True, slots=True)
class Person:
    """A simulated person with the truth that the identification does not know.

    Attributes:
        rig: true skeleton; its prior is the table's, not the truth.
        truth: true inertials.
        placements: true marker locations.
        motions: true motions by trial.
    """

    rig: Rig
    truth: InertialParameters
    placements: tuple[MarkerPlacement, ...]
    motions: Mapping[str, Motion]


def simulate_person(
    seed: int,
    seconds: float = MOVING_SECONDS,
    *,
    trials: Sequence[str] = tuple(STANDING),
    motion_seed: int | None = None,
) -> Person:
    """A person with its own skeleton: one static trial, and whole-body motions on both feet and on each foot.

    Args:
        seed: of the body and its motion.
        seconds: [s] duration of each motion.
        trials: of `STANDING`, beside the static one.
        motion_seed: of the motion, if it is another than the body's.
    """
    generator = np.random.default_rng((seed, 1))
    usual = default_lengths(HEIGHT, SEX)
    lengths = {name: value * (1.0 + LENGTH_SPREAD * generator.standard_normal()) for name, value in usual.items()}
    rig = human(HEIGHT, MASS, SEX, lengths=lengths)
    start = standing_posture(rig, CROUCH)
    apart = _foot_distance(rig, start)
    times, first = np.arange(0.0, seconds, 1.0 / FORCE_RATE), 100 * (seed if motion_seed is None else motion_seed)
    motions = {
        "static": still_motion(
            rig, standing_posture(rig, ARMS_ABDUCTED), np.arange(0.0, STATIC_SECONDS, 1.0 / FORCE_RATE)
        )
    }

    def amplitudes(sides: Sequence[str]) -> MotionAmplitudes:
        return WHOLE_BODY if len(sides) == 2 else _one_leg_amplitudes(sides[0], 0.5 * apart)

    motions |= simulate_trials(rig, start, CHAINS[1], amplitudes, trials, times, first + 1)
    return Person(rig, perturb_inertials(rig, seed), _placements(rig, generator), motions)


def record_person(person: Person, folder: Path, seed: int) -> None:
    """Write the files of a laboratory: a .trc and a .mot for every trial."""
    generator = np.random.default_rng((seed, 2))
    every = FORCE_RATE // MARKER_RATE
    for name, motion in person.motions.items():
        feet = sole_centres(person.rig, motion)
        seen = motion.frames(slice(None, None, every))
        write_trc(folder / f"{name}.trc", record_markers(person.rig, seen, person.placements, generator))
        plates = record_plates(
            person.rig, motion, person.truth, feet, find_lifted_feet(person.rig, motion), PlateNoise(generator)
        )
        write_forces(folder / f"{name}.mot", plates)


def _one_leg_amplitudes(side: str, reach: float) -> MotionAmplitudes:
    """Amplitudes with a swinging leg; the pelvis leans over the standing foot, ``reach`` [m] beside the middle."""
    free, outwards = ("left", 1.0) if side == "right" else ("right", -1.0)
    swing = (("thigh", (0.2, 0.5, 0.25)), ("shank", (0.5,)), ("foot", (0.2, 0.25, 0.2)))
    centres = (("thigh", (0.15 * outwards, -0.4, 0.0)), ("shank", (0.6,)), ("foot", (0.0, 0.25, 0.0)))
    return WHOLE_BODY.with_leg(
        joints=tuple((f"{free}_{name}", values) for name, values in swing),
        centres=tuple((f"{free}_{name}", values) for name, values in centres),
        lean=(0.0, -0.8 * outwards * reach, -0.02),
    )


def _foot_distance(rig: Rig, posture: np.ndarray) -> float:
    """[m] between the ankles."""
    position = link_motions(rig, still_motion(rig, posture, np.array([0.0, 1.0]))).position
    return abs(float(position[1, rig.index("left_foot"), 0] - position[1, rig.index("right_foot"), 0]))


def _placements(rig: Rig, generator: np.random.Generator) -> tuple[MarkerPlacement, ...]:
    joints = {link: joint.position for link, joint in zip(rig.links, rig.joints)}
    return tuple(
        MarkerPlacement(
            name, place.link, place.position(joints, HEIGHT) + PLACEMENT_SPREAD * generator.standard_normal(3)
        )
        for name, place in load_marker_set(MARKER_SET).locations.items()
    )
