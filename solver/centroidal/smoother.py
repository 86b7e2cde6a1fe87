"""The estimator of this project: a smoother that weights all sources of centre of mass and momentum by their noise.

Unknown are the true centre of mass c and angular momentum L, the errors of the kinematic ones, a gain of the plates
and, if the covariance of the inertials is given, its modes. Each sample gives the equations

* c + error + modes = kinematic c, and the same for L: errors of skin, skeleton and inertials are not white noise but
  signals of their own, fast and small (skin) and slow and large (skeleton, inertials);
* c'' = (1 + gain) f / m + g, bailly2019 (2), where every contact is measured;
* L' = (1 + gain) (tau + f x c), bailly2019 (1), where moments are measured too.

All are linear because f is measured, so the posterior mean of all unknowns is the solution of one banded system
(`gauss_markov`). No cut-off divides the frequencies: the noise determines the weights. Where the wrench is unknown, the
estimate follows from neighbouring samples through position, velocity and errors. The process noise is larger where the
kinematic acceleration changes fast, as in a landing. Where no wrench is known, the momentum rate is blended with the
kinematic one (`momentum_blend`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d

from ..base.errors import InvalidValue
from ..base.so3 import skew
from ..signals import GRAVITY
from .gauss_markov import Observations, Process, matern, ornstein_uhlenbeck, posterior_mean
from .momentum_blend import SMOOTHER_ONLY, MomentumBlend, blend_features
from .values import AXES, CentroidalData, CentroidalEstimate

SEGMENT, OVERLAP = 1500, 250
"""Samples that are solved at once, and samples on either side that are solved with them and discarded."""
WHITE_NOISE_RATIO = 0.03
"""White noise of a kinematic value over its fast error: small, but large enough for numerical stability."""
LEAST_NOTED_GAIN = 5e-4
"""[1] Smallest correction of the plates' gain that is reported."""
JERK_WINDOW, MAX_NOISE_SCALE = 0.09, 5.0
"""[s] duration of a landing in the kinematics; largest factor on a signal's process noise."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Statistics of a signal and of the error of its kinematic value, divided by the mass, so that bodies of any size
    compare.

    Attributes:
        std: (3,) by axis, of the signal's highest derivative: [m/s^2] of c'', [m^2/s^2] of L' / m.
        cutoff: [Hz] of the same.
        error: (3,) [m] or [m^2/s] fast error of the kinematic value, from skin motion.
        error_cutoff: [Hz] above it the fast error decreases.
        drift: (3,) [m] or [m^2/s] slow error, of skeleton and inertials.
        drift_cutoff: [Hz] above it the slow error decreases.
    """

    std: tuple[float, float, float]
    cutoff: float
    error: tuple[float, float, float]
    error_cutoff: float
    drift: tuple[float, float, float]
    drift_cutoff: float


COM = Signal((2.4, 2.4, 1.2), 5.0, (8e-5, 8e-5, 2e-4), 4.0, (3.2e-3, 3.2e-3, 8.3e-4), 0.49)
"""For people with markers, learnt from one drop jump, one walk and one run."""
MOMENTUM = Signal((0.61, 0.61, 0.1), 4.0, (7.8e-3, 7.8e-3, 1.3e-4), 73.0, (0.03, 0.03, 0.013), 0.081)
"""For people with markers, learnt from one drop jump, one walk and one run."""
MOMENTUM_BLEND = MomentumBlend((1.32, 1.21, 1.15), (0.0025, 0.246, -0.534), (-0.0443, -1.13, -0.0445))
"""For people with markers, learnt from ten trials of three people."""


@dataclass(frozen=True, slots=True)
class SmootherSettings:
    """Noise of the sources: by default of people with markers.

    Attributes:
        com: of the centre of mass.
        momentum: of the angular momentum about it over the mass.
        force: [m/s^2] white noise of f / m.
        moment: [m^2/s^2] of tau / m.
        gain: relative error of the plates' gain.
        momentum_blend: of the momentum rate where no wrench is known.
        separate_inertial_modes: whether the uncertainty of the inertials enters the momentum in addition to its slow
            error; a slow error that was estimated with identified inertials includes it already.
    """

    com: Signal = COM
    momentum: Signal = MOMENTUM
    force: float = 0.02
    moment: float = 0.005
    gain: float = 0.03
    momentum_blend: MomentumBlend = MOMENTUM_BLEND
    separate_inertial_modes: bool = False

    def __post_init__(self) -> None:
        for name in ("force", "moment"):
            if not getattr(self, name) > 0.0:
                raise InvalidValue(f"the noise of the {name} must be positive, got {getattr(self, name)!r}")


DEFAULT_SETTINGS = SmootherSettings()
ROBOT_SETTINGS = SmootherSettings(
    com=Signal((2.0, 2.0, 2.0), 4.0, (2e-5, 2e-5, 2e-5), 4.0, (1e-4, 1e-4, 1e-4), 0.2),
    momentum=Signal((0.5, 0.5, 0.5), 4.0, (1e-4, 1e-4, 1e-4), 4.0, (1e-4, 1e-4, 1e-4), 0.2),
    force=0.17,
    moment=0.17,
    gain=1e-3,
    momentum_blend=SMOOTHER_ONLY,
    separate_inertial_modes=True,
)
"""For joint encoders and force sensors in the feet, whose noise of 1 N and 1 N m lies in a few low bands. Errors of the
inertials are represented by `CentroidalData.modes`."""


def smooth_centroidal(data: CentroidalData, settings: SmootherSettings = DEFAULT_SETTINGS) -> CentroidalEstimate:
    """Zero-phase estimate of a recording.

    Args:
        data: signals; the wrench may be unknown in any interval.
        settings: noise of the sources.
    """
    count = len(data)
    parts, gains = [], []
    for start in range(0, count, SEGMENT):
        stop = min(start + SEGMENT, count)
        low, high = max(0, start - OVERLAP), min(count, stop + OVERLAP)
        values, common = _solve_segment(data.part(low, high), settings)
        parts.append(values[:, :, start - low : stop - low])
        gains.append(common[0])
    com, acceleration, rate, momentum = np.concatenate(parts, axis=2)
    if data.has_moment:
        share = settings.momentum_blend.shares(blend_features(data, acceleration.T)).T
        rate = np.where(data.known, rate, data.momentum_rate.T + share * (rate - data.momentum_rate.T))
    notes = [] if data.has_moment else ["the wrench has no moment: the momentum rate is the kinematic one, smoothed"]
    if not data.known.any():
        notes.append("no wrench is known in the whole recording: the estimate is the kinematic one, smoothed")
    elif max(abs(gain) for gain in gains) >= LEAST_NOTED_GAIN:
        listed = ", ".join(f"{100.0 * gain:+.1f}" for gain in gains)
        notes.append(f"the plates' gain was corrected by {listed} %")
    return CentroidalEstimate(
        "smoother", data.times, data.mass, com.T, acceleration.T, rate.T, momentum.T, notes=tuple(notes)
    )


def _solve_segment(data: CentroidalData, settings: SmootherSettings) -> tuple[np.ndarray, np.ndarray]:
    """(4, 3, N) centre of mass, acceleration, momentum rate, momentum; and the common unknowns, the gain first."""
    step, count, mass = 1.0 / data.rate, len(data), data.mass
    processes: list[Process] = []
    first_states: dict[str, list[int]] = {"com": [], "momentum": []}
    size = 0
    for name, signal, integrals in (("com", settings.com, 2), ("momentum", settings.momentum, 1)):
        for axis in range(AXES):
            own = (
                matern(signal.std[axis], signal.cutoff, step, integrals),
                matern(signal.error[axis], signal.error_cutoff, step),
                ornstein_uhlenbeck(signal.drift[axis], signal.drift_cutoff, step),
            )
            first_states[name].append(size)
            processes += own
            size += integrals + 2 + 2 + 1
    modes = data.modes
    states = np.zeros((count, 4 * AXES, size))
    common = np.zeros((count, 4 * AXES, 1 + (0 if modes is None else len(modes))))
    values, weights = np.zeros((2, count, 4 * AXES))
    force, moment = data.force / mass, data.moment / mass
    known = data.known.astype(float)
    origin = data.com[:1]  # relative to the first position: large lever arms would cost digits
    force_matrix = skew(force)
    for axis in range(AXES):
        index, momentum_index = first_states["com"][axis], first_states["momentum"][axis]
        states[:, axis, [index, index + 4, index + 6]] = 1.0
        states[:, 3 + axis, [momentum_index, momentum_index + 3, momentum_index + 5]] = 1.0
        states[:, 6 + axis, index + 2] = step**-2.0
        states[:, 9 + axis, momentum_index + 1] = step**-1.0
        states[:, 9 + axis, first_states["com"]] = -force_matrix[:, axis]
    values[:, 0:3], weights[:, 0:3] = data.com - origin, (WHITE_NOISE_RATIO * np.array(settings.com.error)) ** -2.0
    values[:, 3:6], weights[:, 3:6] = (
        data.momentum / mass,
        (WHITE_NOISE_RATIO * np.array(settings.momentum.error)) ** -2.0,
    )
    values[:, 6:9] = force - np.array([0.0, 0.0, GRAVITY])
    weights[:, 6:9] = known[:, None] * settings.force**-2.0
    values[:, 9:12] = moment + np.cross(force, np.broadcast_to(origin, force.shape))
    weights[:, 9:12] = known[:, None] * data.has_moment * settings.moment**-2.0
    common[:, 6:9, 0] = -force
    common[:, 9:12, 0] = -(moment + np.cross(force, data.com))
    if modes is not None:
        common[:, 0:3, 1:] = modes.com
        if settings.separate_inertial_modes:
            common[:, 3:6, 1:] = modes.momentum / mass
    common_std = np.ones(common.shape[2])
    common_std[0] = settings.gain
    noise_scale = np.ones((count, size))
    for name, kinematic_signal, driven_states in (("com", data.acceleration, 4), ("momentum", data.momentum_rate, 3)):
        scales = _noise_scale(kinematic_signal, data.rate)
        for axis, index in enumerate(first_states[name]):
            noise_scale[:, index : index + driven_states] = scales[:, axis, None]
    found, theta = posterior_mean(processes, Observations(states, common, values, weights, noise_scale), common_std)
    com = found[:, first_states["com"]] + origin
    acceleration = found[:, [index + 2 for index in first_states["com"]]] * step**-2.0
    rate = mass * found[:, [index + 1 for index in first_states["momentum"]]] * step**-1.0
    return np.stack([com.T, acceleration.T, rate.T, (mass * found[:, first_states["momentum"]]).T]), theta


def _noise_scale(values: np.ndarray, rate: float) -> np.ndarray:
    """(N, 3) rate of change of values (N, 3) around each sample relative to its mean over the recording; at
    least one."""
    square = np.gradient(values, axis=0) ** 2
    mean = square.mean(axis=0)
    near = uniform_filter1d(square, max(1, round(JERK_WINDOW * rate)), axis=0)
    return np.clip(np.sqrt(near / np.where(mean > 0.0, mean, 1.0)), 1.0, MAX_NOISE_SCALE)
