"""Simulated motions: sums of a few slow sinusoids in every joint, with one foot or both planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.linalg import solve_banded

from ..dynamics import Workspace, com_trajectory, contact_corners, difference, ground_wrench, integrate, link_poses
from ..signals.manifold import smooth_motion
from ..skeleton.rig import GRAVITY, ROOT_NV, Rig
from ..values.motion import Motion
from ..values.person import SIDES

FREQUENCIES = (0.2, 1.2)
"""[Hz] range of the sinusoids. A choice for the simulated motions."""
SINUSOIDS = 3
"""Number of sinusoids of each coordinate. A choice for the simulated motions."""
EASE_DURATION = 1.0
"""[s] in which the motion grows from rest and returns to it. A choice for the simulated motions."""
BALANCE_RATE, BALANCE_ROUNDS = 50.0, 3
"""[Hz] Rate and number of corrections that keep the centre of pressure under the feet."""
SOLE_FRACTION = 0.8
"""Fraction of a sole's length and width within which the centre of pressure stays."""
NEWTON_STEPS = 4
"""Newton steps per frame; each frame starts from the previous one."""


@dataclass(frozen=True, slots=True)
class MotionAmplitudes:
    """Amplitudes of a simulated motion.

    Attributes:
        root: (6,) amplitudes of the root: position [m], rotation vector [rad].
        joints: amplitudes [rad] by the end of a link's name; other joints do not move.
        centres: [rad] mean offsets of joints from the start posture, by the end of a link's name.
        lean: (3,) [m] mean offset of the root from the start posture, world.
    """

    root: tuple[float, float, float, float, float, float]
    joints: tuple[tuple[str, tuple[float, ...]], ...]
    centres: tuple[tuple[str, tuple[float, ...]], ...] = ()
    lean: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def with_leg(
        self,
        joints: tuple[tuple[str, tuple[float, ...]], ...],
        centres: tuple[tuple[str, tuple[float, ...]], ...],
        lean: tuple[float, float, float],
    ) -> MotionAmplitudes:
        """The same with a free leg, and the root leaning over the other."""
        return MotionAmplitudes(self.root, (*self.joints, *joints), (*self.centres, *centres), lean)


@dataclass(frozen=True, slots=True)
class _Path:
    """The prescribed part of a motion: a tangent step (nv,) from the start posture at any time."""

    centre: np.ndarray
    amplitude: np.ndarray
    frequencies: np.ndarray  # (S, nv) [Hz]
    phases: np.ndarray  # (S, nv) [rad]
    shares: np.ndarray  # (S, nv), one in sum
    seconds: float

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """(N, nv) Tangent steps: first the root leans, then all joints oscillate, and back."""
        angles = 2.0 * np.pi * self.frequencies[:, None] * times[None, :, None] + self.phases[:, None]
        # sines s, freedoms c, frames n
        waves = np.einsum("sc,snc->nc", self.shares, np.sin(angles))
        leaning = ease(times) * ease(self.seconds - times)
        swinging = ease(times - EASE_DURATION) * ease(self.seconds - EASE_DURATION - times)
        result = swinging[:, None] * (self.centre + self.amplitude * waves)
        result[:, :3] += (leaning - swinging)[:, None] * self.centre[:3]
        return result


@dataclass(frozen=True, slots=True)
class Stance:
    """Planted feet of a simulated motion.

    Attributes:
        start: (nq,) posture at the start.
        feet: links fixed to the ground.
        legs: links whose joints are solved so that the feet stay fixed.
    """

    start: np.ndarray
    feet: tuple[str, ...]
    legs: tuple[str, ...]


STANDING = {"dance": SIDES, "right_leg": ("left",), "left_leg": ("right",)}
"""Feet that stay on the ground by trial."""


def simulate_trials(  # noqa: PLR0913 a body, what moves, and when
    rig: Rig,
    start: np.ndarray,
    leg: Sequence[str],
    amplitudes: Callable[[Sequence[str]], MotionAmplitudes],
    trials: Sequence[str],
    times: np.ndarray,
    seed: int,
) -> dict[str, Motion]:
    """Simulate motions on both feet and on each foot.

    Args:
        rig: that moves.
        start: (nq,) posture at the start.
        leg: names of a leg's links, without side.
        amplitudes: by the feet that stand.
        trials: of `STANDING`.
        times: (N,) [s] from zero.
        seed: of the first of `STANDING`; the others have the following ones.
    """
    motions = {}
    for number, (name, sides) in enumerate(STANDING.items()):
        if name in trials:
            legs = tuple(f"{side}_{part}" for side in sides for part in leg)
            stance = Stance(start, tuple(f"{side}_foot" for side in sides), legs)
            motions[name] = simulate_motion(rig, stance, amplitudes(sides), times, seed + number)
    return motions


def simulate_motion(rig: Rig, stance: Stance, amplitudes: MotionAmplitudes, times: np.ndarray, seed: int) -> Motion:
    """Simulate a motion in which some feet stay planted and carry the body.

    Args:
        rig: that moves.
        stance: with the planted feet.
        amplitudes: amplitudes.
        times: (N,) [s] from zero.
        seed: of frequencies and phases.
    """
    return follow_path(
        rig, stance, _path(rig, amplitudes, stance.legs, float(times[-1]), np.random.default_rng(seed)), times
    )


def follow_path(
    rig: Rig,
    stance: Stance,
    path: Callable[[np.ndarray], np.ndarray],
    times: np.ndarray,
    balance_rounds: int = BALANCE_ROUNDS,
) -> Motion:
    """The motion along a path of prescribed joints, the legs solved for planted feet.

    Args:
        rig: that moves.
        stance: with the planted feet.
        path: times (N,) [s] to tangent steps (N, nv) from the stance's start.
        times: (N,) [s] from zero.
        balance_rounds: corrections that bring the centre of pressure under the feet; 0 where a chair carries too.
    """
    coarse = np.linspace(0.0, times[-1], int(times[-1] * BALANCE_RATE) + 1)
    low, high = _support_boxes(rig, stance, ease(coarse) * ease(times[-1] - coarse))
    shift = np.zeros((len(coarse), 2))
    for _ in range(balance_rounds):
        shift += rebalancing_shift(rig, _motion_along_path(rig, stance, path, coarse, shift), low, high)
    return _motion_along_path(rig, stance, path, times, make_interp_spline(coarse, shift, k=5)(times))


def _path(
    rig: Rig, style: MotionAmplitudes, legs: Sequence[str], seconds: float, generator: np.random.Generator
) -> _Path:
    amplitude, centre = np.zeros(rig.nv), np.zeros(rig.nv)
    amplitude[:ROOT_NV], centre[:3] = style.root, style.lean
    for target, entries in ((amplitude, style.joints), (centre, style.centres)):
        for ending, values in entries:
            for link in rig.links:
                if link.endswith(ending) and link not in legs:
                    at = rig.v_slices[rig.index(link)].start
                    target[at : at + len(values)] = values
    shape = (SINUSOIDS, rig.nv)
    return _Path(
        centre,
        amplitude,
        generator.uniform(*FREQUENCIES, shape),
        generator.uniform(0.0, 2.0 * np.pi, shape),
        generator.dirichlet(np.full(SINUSOIDS, 2.0), rig.nv).T,
        seconds,
    )


def _motion_along_path(
    rig: Rig, standing: Stance, path: Callable[[np.ndarray], np.ndarray], times: np.ndarray, shift: np.ndarray
) -> Motion:
    """The motion along a path, with the root shifted horizontally (N, 2) [m] and the legs solved for the feet."""
    free = np.array([_from_start(rig, standing.start, row) for row in path(times)])
    free[:, :2] += shift
    return smooth_motion(rig, times, _plant_feet(rig, standing, free), None)


def _support_boxes(rig: Rig, standing: Stance, leaning: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (N, 2) [m] of the box for the centre of pressure: all soles at first, then those of the planted feet."""
    corners = {}
    for contact, sole in zip(rig.soles, contact_corners(rig, standing.start)):
        points = sole[:, :2]
        middle = points.mean(axis=0)
        corners[contact.link] = middle + SOLE_FRACTION * (points - middle)
    both, staying = np.vstack(list(corners.values())), np.vstack([corners[foot] for foot in standing.feet])
    share = leaning[:, None]
    low, high = ((1.0 - share) * limit(both, axis=0) + share * limit(staying, axis=0) for limit in (np.min, np.max))
    return low, high


def still_motion(rig: Rig, posture: np.ndarray, times: np.ndarray) -> Motion:
    """A motion that stays in one posture."""
    count = len(times)
    zeros = np.zeros((count, rig.nv))
    return Motion(times, np.tile(posture, (count, 1)), zeros, zeros)


def standing_posture(rig: Rig, angles: Sequence[tuple[str, tuple[float, ...]]]) -> np.ndarray:
    """A posture (nq,) with the lowest contact on the ground.

    Args:
        rig: to stand.
        angles: (end of a link's name, rotation vector or angle [rad] of its joint).
    """
    tangent = np.zeros(rig.nv)
    for ending, values in angles:
        for link in rig.links:
            if link.endswith(ending):
                at = rig.v_slices[rig.index(link)].start
                tangent[at : at + len(values)] = values
    q = integrate(rig, rig.neutral, tangent)
    q[2] -= min(float(corners[:, 2].min()) for corners in contact_corners(rig, q))
    return q


def ease(seconds: np.ndarray) -> np.ndarray:
    """A smooth step from 0 to 1 within `EASE_DURATION`, with two vanishing derivatives at both ends."""
    x = np.clip(seconds / EASE_DURATION, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)


def _from_start(rig: Rig, start: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    """The posture a tangent step away, the root's translation along the world's axes."""
    q = integrate(rig, start, np.concatenate([np.zeros(3), tangent[3:]]))
    q[:3] = start[:3] + tangent[:3]
    return q


def _plant_feet(rig: Rig, standing: Stance, free: np.ndarray) -> np.ndarray:
    """Solve the legs so that the feet stay planted; redundant joints stay near the start posture."""
    workspace = Workspace(rig)
    turns, origins = link_poses(rig, standing.start)
    targets = [(link, turns[link], origins[link]) for link in (rig.index(foot) for foot in standing.feet)]
    legs = [rig.index(leg) for leg in standing.legs]
    columns = np.concatenate([np.arange(rig.nv)[rig.v_slices[leg]] for leg in legs])
    places = np.concatenate([np.arange(rig.nq)[rig.q_slices[leg]] for leg in legs])
    result, legs_now = np.array(free), standing.start[places]
    for q in result:
        q[places] = legs_now
        for _ in range(NEWTON_STEPS):
            workspace.update_kinematics(q)
            twists, jacobians = zip(*(workspace.pose_error(*target) for target in targets))
            error, jacobian = np.concatenate(twists), np.vstack(jacobians)
            inverse = np.linalg.pinv(jacobian[:, columns])
            spare = difference(rig, q, standing.start)[columns]
            step = np.zeros(rig.nv)
            step[columns] = inverse @ error + spare - inverse @ (jacobian[:, columns] @ spare)
            q[:] = integrate(rig, q, step)
        legs_now = q[places].copy()
    return result


def centre_of_pressure(rig: Rig, motion: Motion) -> np.ndarray:
    """Centre of pressure (N, 2) [m] on the plane z = 0 of a body with the rig's prior."""
    wrench = ground_wrench(rig, motion, rig.prior)
    return np.column_stack([-wrench[:, 4], wrench[:, 3]]) / wrench[:, 2:3]


def rebalancing_shift(rig: Rig, motion: Motion, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Horizontal shift of the whole body (N, 2) [m] that brings the centre of pressure into a box.

    A body whose centre of mass at height z is shifted by s moves its centre of pressure by s - (z / g) s''. The s for
    a required move is the solution of this two-point problem with s = 0 at both ends.

    Args:
        rig: that moves.
        motion: to correct, evenly spaced.
        low, high: (N, 2) [m] corners of the box at each time, world.
    """
    pressure = centre_of_pressure(rig, motion)
    wanted = np.clip(pressure, low, high) - pressure
    height = float(com_trajectory(rig, motion, rig.prior)[:, 2].mean())
    stiffness = height / GRAVITY * motion.rate**2
    bands = np.empty((3, len(motion)))
    bands[0], bands[1], bands[2] = -stiffness, 1.0 + 2.0 * stiffness, -stiffness
    bands[0, :2], bands[2, -2:] = 0.0, 0.0
    bands[1, [0, -1]] = 1.0
    wanted[[0, -1]] = 0.0
    return solve_banded((1, 1), bands, wanted)
