"""The simulated jumper as a recording shows him: stance before and after every flight, and skin that swings.

A flight that is cut out exactly, with white noise, does not test the treatment of its ends and noise. Here feet
push until take-off with a force that falls to nothing, the flight is found in the motion alone, and the markers of a
link swing together as its skin does. The constants of `solver.study.flights` were chosen on these.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solver.engine import FrameDynamics
from solver.identification.base_parameters import base_parameters
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.inertials import InertialParameters
from solver.motion import Markers, Motion
from solver.rig import ROOT_NV, Rig
from solver.signals import GRAVITY, preset_of, smooth_motion
from solver.so3 import to_matrix
from solver.study.flights import find_trial_flights
from solver.study.values import TrialRecord
from solver.tracking import TrackingOptions, track_markers
from solver.trial import Recording

from ..figures.figure import Figure
from .jumper import (
    MASS,
    PRESET,
    RATE,
    SECONDS,
    SPREAD,
    TEST_SECONDS,
    Jumps,
    Waves,
    jumper,
    over_prior,
    swinging_motion,
    take_off,
)
from .skin import SKIN, SKIN_TEMPO, moving_skin
from .thrown import simulate_driven, simulate_recording

STANCE, RAMP, PUSH = 0.3, 0.06, 1.6
"""[s] on either side of a flight, [s] over which the force falls to nothing or grows, and its share of the weight."""
LEVER = 0.05
"""[m] standard deviation of where the force passes the centre of mass."""
JUMPS = Jumps(6, 1e-3)
SEEDS = 3


def rows() -> Iterator[Figure]:
    """His figure, for information: the constants were chosen on it."""
    found = [evaluate_landing(seed) for seed in range(SEEDS)]
    what = f"jumper with stance and skin, {JUMPS.count} flights: ground forces of other motion, error over the prior's"
    data = f"simulated, {SECONDS} s flights, {1e3 * JUMPS.noise:g} mm, skin {1e3 * SKIN:g} mm at {SKIN_TEMPO:g} Hz"
    listed = ", ".join(f"{value:.2f}" for value in found)
    yield Figure(what, data, float(np.median(found)), "", note=f"median of {listed}; constants were chosen on these")


def evaluate_landing(seed: int) -> float:
    """Error of ground forces of other motion over the prior's, of inertials from flights alone."""
    rig, truth = jumper(seed)
    generator = np.random.default_rng(2000 + seed)
    trials = []
    for number in range(JUMPS.count):
        motion = _jump(rig, truth, generator)
        attached, markers = simulate_recording(rig, motion, SPREAD, JUMPS.noise, generator)
        swung = moving_skin(len(motion), len(rig.links), generator, RATE, SKIN)
        on = [rig.index(each.link) for each in attached]
        seen = Markers(markers.times, markers.names, markers.positions + swung[:, on])
        tracked = track_markers(rig, attached, seen, TrackingOptions())
        found = find_trial_flights(
            rig, TrialRecord(Recording(f"jump {number}", seen), tracked), preset_of(PRESET), MASS
        ).trial
        if found is not None:
            trials.append(found)
    options = IdentifyOptions(total_mass=MASS, bootstrap=0, cross_validate=False)
    parameters = identify_trials(rig, trials, options).parameters
    test = swinging_motion(rig, TEST_SECONDS, generator)
    return over_prior(rig, truth, test, [base_parameters(rig).project(parameters)])[0]


def _jump(rig: Rig, truth: InertialParameters, generator: np.random.Generator) -> Motion:
    waves = Waves.drawn(rig, generator)
    start = take_off(rig, waves, generator)
    levers = LEVER * generator.standard_normal((2, 3))
    dynamics = FrameDynamics(rig.with_prior(truth).model)

    def push(time: float, q: np.ndarray) -> np.ndarray:
        into = max(-time, time - SECONDS, 0.0)
        force = np.array([0.0, 0.0, PUSH * min(1.0, into / RAMP) * MASS * GRAVITY])
        arm = dynamics.centres_of_mass(q[None])[0] + levers[int(time > 0.0)] - q[:3]
        inverse = to_matrix(q[3:7]).T
        return np.concatenate([inverse @ force, inverse @ np.cross(arm, force)])

    def drive(time: float) -> np.ndarray:
        return waves.at(time, 2)[ROOT_NV:]

    after = np.arange(round((SECONDS + STANCE) * RATE) + 1) / RATE
    before = -np.arange(round(STANCE * RATE) + 1) / RATE
    late, early = (simulate_driven(rig, truth, start, times, drive, push)[0] for times in (after, before))
    q = np.concatenate([early[:0:-1], late])
    return smooth_motion(rig, np.arange(len(q)) / RATE, q, None)
