"""A simulated volunteer of jovic2016: true skeleton, inertials and marker places, and a laboratory's recordings of it.

Everything here is simulated. 1.82 m and 70 kg as the paper's volunteer; segment lengths 3 % (standard deviation) off
those of stature; true inertials off the table's by up to 25 % in mass, 12 % in each direction's size and a fifth of
the half box in the centre of mass (`solver.demo.truth.perturb_inertials`). Markers have 2 mm of white noise per
coordinate, plates 1 N and 1 N m per sample at the markers' rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from solver.base.errors import SolverError
from solver.calibration import load_marker_set
from solver.demo.laboratory import MarkerPlacement, PlateNoise, record_markers, record_plates
from solver.demo.motions import MotionAmplitudes, standing_posture, still_motion
from solver.demo.truth import perturb_inertials
from solver.dynamics import link_motions
from solver.dynamics.coordinates import joint_coordinates
from solver.rigs import human
from solver.rigs.human_skeleton import default_lengths
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.tracking import Attachment
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion

from .exciting import Excitation, Phase, exciting, pressure_margin

HEIGHT, MASS, SEX = 1.82, 70.0, "male"
LENGTH_SPREAD = 0.03
PLACEMENT_SPREAD = 0.004
"""[m] Standard deviation of where a marker is glued about where its set says."""
MARKER_SET = "plug_in_gait"
RATE = 100.0
AIRBORNE = 0.002
"""[m] A sole whose lowest corner is higher than this carries nothing."""
STATIC_SECONDS = 3.0
ATTEMPTS, RESEED = 20, 10_000
"""A random motion may exceed a joint's range or fall over; then another one is drawn."""
LIMIT_SLACK = 0.1
"""[rad] A joint may leave its range by this much; the tracker, which enforces the ranges, then has an error."""
SIDES = ("right", "left")
FEET = ("right_foot", "left_foot")
LEGS = tuple(f"{side}_{part}" for side in SIDES for part in ("thigh", "shank", "foot"))
CROUCH = (
    ("right_thigh", (-0.04, -0.46, 0.0)),
    ("left_thigh", (0.04, -0.46, 0.0)),
    ("shank", (0.77,)),
    ("right_foot", (0.04, -0.31, 0.0)),
    ("left_foot", (-0.04, -0.31, 0.0)),
)
ARMS_AWAY = (("right_upper_arm", (-0.35, 0.0, 0.0)), ("left_upper_arm", (0.35, 0.0, 0.0)), ("forearm", (0.15,)))
STYLE = MotionAmplitudes(
    root=(0.0, 0.0, 0.05, 0.15, 0.25, 0.3),
    joints=(
        ("torso", (0.35, 0.5, 0.55)),
        ("head", (0.3, 0.35, 0.5)),
        ("upper_arm", (0.6, 0.9, 0.4)),
        ("forearm", (0.7,)),
        ("hand", (0.5, 0.6, 0.0)),
    ),
    centres=(
        ("right_upper_arm", (-0.8, -0.6, 0.0)),
        ("left_upper_arm", (0.8, -0.6, 0.0)),
        ("forearm", (0.9,)),
    ),
)
ROUND = (
    Phase(3.0),
    Phase(8.0, "left_foot"),
    Phase(2.5),
    Phase(8.0, "right_foot"),
    Phase(2.5),
)
"""One round of the motion: 24 s."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Of the laboratory; by default of a real one.

    Attributes:
        markers: [m] standard deviation per coordinate and frame.
        force, moment: [N], [N m] standard deviation per component and sample of each plate.
    """

    markers: float = 0.002
    force: float = 1.0
    moment: float = 1.0


@dataclass(frozen=True, slots=True)
class Volunteer:
    """What the simulation knows and the identification does not.

    Attributes:
        rig: true skeleton; its prior is the table's, not the truth.
        truth: true inertials, without any load.
        placements: true marker places.
    """

    rig: Rig
    truth: InertialParameters
    placements: tuple[MarkerPlacement, ...]

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The true marker locations, for a pipeline that knows the skeleton."""
        return tuple(Attachment(p.marker, p.link, p.position) for p in self.placements)


def volunteer(seed: int) -> Volunteer:
    """A volunteer with a skeleton, inertials and marker places of its own."""
    generator = np.random.default_rng((seed, 11))
    usual = default_lengths(HEIGHT, SEX)
    lengths = {name: value * (1.0 + LENGTH_SPREAD * generator.standard_normal()) for name, value in usual.items()}
    rig = human(HEIGHT, MASS, SEX, lengths=lengths)
    joints = {link: rig.joints[rig.index(link)].position for link in rig.links}
    placements = tuple(
        MarkerPlacement(
            name, place.link, place.position(joints, HEIGHT) + PLACEMENT_SPREAD * generator.standard_normal(3)
        )
        for name, place in load_marker_set(MARKER_SET).locations.items()
    )
    return Volunteer(rig, perturb_inertials(rig, seed), placements)


def dance(person: Volunteer, seed: int, rounds: int) -> Motion:
    """The exciting motion, ``rounds`` times 24 s with other random numbers from round to round."""
    plan = Excitation(STYLE, FEET, LEGS, ROUND * rounds, frequencies=(0.2, 1.1))
    for attempt in range(ATTEMPTS):
        motion = exciting(person.rig, standing_posture(person.rig, CROUCH), plan, RATE, seed + RESEED * attempt)
        balanced = pressure_margin(person.rig, motion, person.truth, FEET) < 0.0
        if balanced and _beyond_limits(person.rig, motion) < LIMIT_SLACK:
            return motion
    raise SolverError(f"no motion that keeps its balance and its joint ranges was found in {ATTEMPTS} attempts")


def _beyond_limits(rig: Rig, motion: Motion) -> float:
    """[rad] farthest that a joint leaves its range."""
    coordinates = joint_coordinates(rig, motion.q)
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    return float(np.maximum(rig.limits.lower - low, high - rig.limits.upper).max())


def static(person: Volunteer) -> Motion:
    """Standing with the arms a little away from the body."""
    return still_motion(person.rig, standing_posture(person.rig, ARMS_AWAY), np.arange(0.0, STATIC_SECONDS, 1.0 / RATE))


def record(
    person: Volunteer, name: str, motion: Motion, inertials: InertialParameters, noise: Noise, seed: int
) -> Recording:
    """What the laboratory records of a motion with these inertials: person with or without a load."""
    generator = np.random.default_rng((seed, 12))
    markers = record_markers(person.rig, motion, person.placements, generator, noise=noise.markers)
    feet, airborne = _soles(person.rig, motion)
    plates = record_plates(
        person.rig, motion, inertials, feet, airborne, PlateNoise(generator, noise.force, noise.moment)
    )
    return Recording(name, markers, plates)


def _soles(rig: Rig, motion: Motion) -> tuple[Mapping[str, np.ndarray], np.ndarray]:
    """Middle of each sole on the ground (3,) [m] at the start, where the plates are; (N, 2) True in the air."""
    poses = link_motions(rig, motion)
    stands, lowest = {}, []
    for contact in rig.contacts:
        index = rig.index(contact.link)
        points = np.einsum("rcn,vc->nvr", poses.rotation[:, :, index], contact.vertices)
        points += poses.position[:, index].T[:, None]
        stands[contact.name] = points[0].mean(axis=0) * [1.0, 1.0, 0.0]
        lowest.append(points[:, :, 2].min(axis=1))
    return stands, np.stack(lowest, axis=1) > AIRBORNE
