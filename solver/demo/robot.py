"""A simulated HRP-2: encoders, an inertial sensor with a state estimate, and force sensors under the feet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..dynamics import integrate
from ..formats.csv_tables import write_wrenches_csv
from ..formats.joint_coordinates import write_coordinates
from ..rigs import hrp2
from ..signals.trial import Recording
from ..skeleton.rig import ROOT_NV, Rig
from ..study.joint_motion import joints_of, poses_of
from ..values.inertials import InertialParameters
from ..values.motion import Motion
from .laboratory import PlateNoise, find_lifted_feet, record_plates, sole_centres
from .motions import STANDING, MotionAmplitudes, simulate_trials
from .truth import perturb_inertials

RATE, SECONDS = 200, 12.0
ENCODER_NOISE = 5e-5
"""[rad] standard deviation of a joint angle."""
ORIENTATION_NOISE, POSITION_NOISE = 1e-4, 2e-5
"""[rad], [m] of the waist's estimated pose, as from an inertial sensor and the legs' encoders."""
BALL = 0.04
"""[m] radius of a load. A choice for the simulated load."""
LEG = ("hip_yaw", "hip_roll", "thigh", "shank", "ankle", "foot")
WHOLE_BODY = MotionAmplitudes(
    root=(0.03, 0.03, 0.04, 0.05, 0.08, 0.1),
    joints=(
        ("chest_yaw", (0.4,)),
        ("chest", (0.15,)),
        ("neck", (0.4,)),
        ("head", (0.3,)),
        ("shoulder_pitch", (0.7,)),
        ("shoulder_roll", (0.15,)),
        ("upper_arm", (0.8,)),
        ("forearm", (0.6,)),
        ("wrist_yaw", (0.6,)),
        ("wrist_pitch", (0.6,)),
        ("hand", (0.4,)),
    ),
    centres=(
        ("chest", (0.15,)),
        ("forearm", (-0.1,)),
        ("right_shoulder_roll", (-0.2,)),
        ("left_shoulder_roll", (0.2,)),
    ),
)
"""[m, rad] Amplitudes of the root and of joints. A choice for the simulated dance."""


@dataclass(frozen=True, slots=True)
class Robot:
    """A simulated robot and the recordings of its sensors.

    Attributes:
        rig: with the inertials of its drawings as prior, not the truth.
        truth: true inertials.
        recordings: joint coordinates with the waist's pose, and wrenches, by trial.
    """

    rig: Rig
    truth: InertialParameters
    recordings: tuple[Recording, ...]

    def write(self, folder: str | Path) -> None:
        """Write the files of a robot's laboratory: tables of joint coordinates and of wrenches for every trial."""
        folder = Path(folder)
        for recording in self.recordings:
            assert recording.joints is not None
            assert recording.wrenches is not None
            poses = poses_of(self.rig, recording.joints)
            rest = np.zeros((len(poses.times), self.rig.nv))
            motion = Motion(poses.times, poses.q, rest, rest)
            write_coordinates(folder / f"{recording.name}_joints.csv", self.rig, motion, degrees=False)
            write_wrenches_csv(folder / f"{recording.name}_wrenches.csv", recording.wrenches)


def simulate_robot(
    seed: int,
    *,
    trials: Sequence[str] = tuple(STANDING),
    seconds: float = SECONDS,
    rate: float = RATE,
    load: tuple[str, float] | None = None,
) -> Robot:
    """Simulate whole-body motions of HRP-2 on both feet and on each foot.

    Args:
        seed: of truth, motion and noise.
        trials: of `STANDING`.
        seconds: [s] duration of each trial.
        rate: [1/s] of all sensors.
        load: link that carries a small ball in the middle of its box, and the ball's mass [kg]; None: no load. The
            noise differs with and without a load.
    """
    generator = np.random.default_rng((seed, 3) if load is None else (seed, 4))
    rig = hrp2()
    truth = perturb_inertials(rig, seed) if load is None else add_ball(rig, perturb_inertials(rig, seed), *load)
    start = np.array(rig.provenance["half_sitting"])
    times = np.arange(0.0, seconds, 1.0 / rate)

    def amplitudes(sides: Sequence[str]) -> MotionAmplitudes:
        return WHOLE_BODY if len(sides) == 2 else _one_leg_amplitudes(sides[0])

    recordings = []
    for name, motion in simulate_trials(rig, start, LEG, amplitudes, trials, times, 1000 * seed + 1).items():
        soles = sole_centres(rig, motion)
        wrenches = record_plates(rig, motion, truth, soles, find_lifted_feet(rig, motion), PlateNoise(generator))
        joints = joints_of(rig, times, _add_sensor_noise(rig, motion.q, generator))
        recordings.append(Recording(name, wrenches=wrenches, joints=joints))
    return Robot(rig, truth, tuple(recordings))


def add_ball(rig: Rig, body: InertialParameters, link: str, mass: float) -> InertialParameters:
    """Add a small ball of a mass [kg] in the middle of a link's box to a body."""
    middle = rig.boxes[rig.index(link)].mean(axis=0)
    inertia = 0.4 * mass * BALL**2 * np.eye(3)
    ball = InertialParameters.from_com((link,), np.array([mass]), middle[None], inertia[None])
    return body.replaced(link, body.link(link) + ball.values[0])


def _one_leg_amplitudes(side: str) -> MotionAmplitudes:
    """Amplitudes with a swinging leg; the waist leans over the standing foot."""
    free, outwards = ("left", 1.0) if side == "right" else ("right", -1.0)
    swing = (("hip_yaw", 0.2), ("hip_roll", 0.15), ("thigh", 0.35), ("shank", 0.4), ("ankle", 0.3), ("foot", 0.15))
    centres = (("hip_roll", 0.12 * outwards), ("thigh", -0.25), ("shank", 0.4), ("ankle", -0.1))
    return WHOLE_BODY.with_leg(
        joints=tuple((f"{free}_{name}", (value,)) for name, value in swing),
        centres=tuple((f"{free}_{name}", (value,)) for name, value in centres),
        lean=(0.0, -0.08 * outwards, 0.0),
    )


def _add_sensor_noise(rig: Rig, q: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Configurations with the noise of encoders and of the trunk's estimated pose."""
    noise = generator.standard_normal((len(q), rig.nv))
    noise[:, :3] *= POSITION_NOISE
    noise[:, 3:ROOT_NV] *= ORIENTATION_NOISE
    noise[:, ROOT_NV:] *= ENCODER_NOISE
    return integrate(rig, q, noise)
