"""Limits of a fixed-base robot: ranges, speeds, torques, collisions of its links and the surface it stands on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import InvalidValue
from ..dynamics.mechanics import DynamicState, Mechanics, torques_and_derivatives
from ..feasibility.collisions import CollisionDetector
from ..options.checks import CheckOptions
from ..trajectory.splines import Spline
from ..values.joints import ROOT_NV
from ..values.motion import Motion
from .robot import FixedBaseRobot

UNLIMITED_RANGE = np.pi
"""[rad, m] range to either side of a joint without limits."""
MAX_TILT = 1e-3
"""Largest tilt of a mount whose surface is the one on which the root's shapes stand."""
RANDOM_POSTURES = 200
"""Random postures from which pairs of links that are always close are found."""
HOME_GRID = 12
"""Square root of the number of random postures that are tried if the preferred one violates a limit."""
NEIGHBOUR_COUNT, NEIGHBOUR_DISTANCE, MIN_FREE_FRACTION = 10, 0.5, 0.9
"""Postures around each candidate, how far [rad, m] from it, and the fraction of them that must satisfy the limits."""
STEP = 1e-4
"""[rad, m] of a coordinate, for finite differences of distances."""


@dataclass(frozen=True, slots=True)
class NearDistances:
    """Distances below the reach.

    Attributes:
        frames: (M,) of each.
        margins: (M,) [m] by which it exceeds the clearance.
        gradients: (M, n) by the coordinates.
    """

    frames: np.ndarray
    margins: np.ndarray
    gradients: np.ndarray


class Margins:
    """Limits of a motion of a fixed-base robot.

    Attributes:
        lower, upper: (n,) of the coordinates.
        speed, torque: (n,) largest, the chosen share of the limits.
    """

    def __init__(
        self, robot: FixedBaseRobot, speed: float, torque: float, checks: CheckOptions, surface: float | None = None
    ) -> None:
        rig, moving = robot.rig, robot.is_moving
        limits = rig.limits
        self.robot, self._checks = robot, checks
        self.lower = np.maximum(limits.lower[moving], -UNLIMITED_RANGE)
        self.upper = np.minimum(limits.upper[moving], UNLIMITED_RANGE)
        self.speed, self.torque = speed * limits.speed[moving], torque * limits.torque[moving]
        if unlimited := [name for name, most in zip(robot.names, self.speed) if not np.isfinite(most)]:
            raise InvalidValue(
                f"rig {rig.name!r} has no speed limit for {', '.join(unlimited)}: add it "
                "(in a URDF: <limit velocity=...>)"
            )
        self._mechanics = Mechanics(rig)
        self._detector, self.notes = self._build_detector(checks)
        self.surface = self._find_surface(surface)

    def find_home(self, preferred: np.ndarray, seed: int) -> np.ndarray:
        """The posture (n,) to start from: the preferred one, or the nearest random one with room to move around it.

        Raises:
            InvalidValue: no posture satisfies the limits at rest; the message says which limit the preferred one
                violates.
        """
        generator = np.random.default_rng(seed)
        fractions = np.repeat(np.linspace(0.05, 1.0, HOME_GRID), HOME_GRID)[:, None]
        anywhere = generator.uniform(self.lower, self.upper, (len(fractions), len(preferred)))
        postures = np.concatenate([preferred[None], preferred + fractions * (anywhere - preferred)])
        postures = postures[self.are_kept(self._at_rest(postures))]
        if not len(postures):
            raise InvalidValue(self._describe_violation(preferred))
        moved = postures[:, None] + generator.uniform(
            -NEIGHBOUR_DISTANCE, NEIGHBOUR_DISTANCE, (len(postures), NEIGHBOUR_COUNT, len(preferred))
        )
        moved = np.clip(moved, self.lower, self.upper).reshape(-1, len(preferred))
        free_fraction = self.are_kept(self._at_rest(moved)).reshape(len(postures), NEIGHBOUR_COUNT).mean(axis=1)
        roomy = np.flatnonzero(free_fraction >= min(MIN_FREE_FRACTION, float(free_fraction.max())))
        return np.asarray(postures[roomy[np.argmin(np.linalg.norm(postures[roomy] - preferred, axis=1))]])

    def _at_rest(self, postures: np.ndarray) -> Motion:
        zeros = np.zeros_like(postures)
        return self.robot.motion(np.arange(float(len(postures))), postures, zeros, zeros)

    def _describe_violation(self, posture: np.ndarray) -> str:
        (torque,), (clearance,) = self.torque_and_clearance(self._at_rest(posture[None]))
        worst = int(np.argmin(torque))
        if torque[worst] < 0.0:
            return (
                f"{self.robot.names[worst]!r} cannot hold the home posture: its torque exceeds the share that may be "
                f"used by {-torque[worst]:.3g} N m, and no posture nearby is better; raise the share, or correct the "
                "limit"
            )
        return (
            f"in the home posture links come {-clearance:.3g} m nearer to each other "
            f"or to the "
            "surface than the clearance, and no posture nearby is better: lower the clearance, or give the surface"
        )

    def torque_and_clearance(self, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        """Margins of the torques (N, n), and of the smallest distance between links and to the surface (N,) [m]."""
        state = self._state(motion)
        torque = self.torque - np.abs(state.tau[:, ROOT_NV:][:, self.robot.is_moving])
        smallest = self._distances(motion, state).min(axis=1, initial=self._checks.reach)
        return torque, smallest - self._checks.clearance

    def are_kept(self, motion: Motion) -> np.ndarray:
        """(N,) True where torques, clearance and surface are satisfied."""
        torque, clearance = self.torque_and_clearance(motion)
        return (torque >= 0.0).all(axis=1) & (clearance >= 0.0)

    def smallest_margins(self, spline: Spline, control: np.ndarray, motion: Motion) -> dict[str, float]:
        """The smallest margin of each kind."""
        torque, clearance = self.torque_and_clearance(motion)
        return {
            "range": float(np.minimum(control - self.lower, self.upper - control).min()) + 1e-12,
            "speed": float((self.speed - np.abs(spline.speed_controls(control))).min()) + 1e-9,
            "torque": float(torque.min()),
            "clearance": float(clearance.min()),
        }

    def torques(self, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        """Torques (N, n) and their derivatives (3, N, n, n) by coordinates, speeds and accelerations."""
        torques, slopes = torques_and_derivatives(self.robot.rig, motion)
        moving = self.robot.is_moving
        return torques[:, moving], slopes[:, :, moving][:, :, :, moving]

    def near_distances(self, y: np.ndarray) -> NearDistances:
        """Distances between links, and to the surface, below the reach at coordinates (N, n): every pair, in every
        frame."""
        motion = self._at_rest(y)
        gaps = self._distances(motion, self._state(motion))
        frames, which = np.nonzero(gaps < self._checks.reach)
        unique_frames = np.unique(frames)
        row = np.searchsorted(unique_frames, frames)
        slopes = np.zeros((len(frames), y.shape[1]))
        for column in range(y.shape[1] if len(unique_frames) else 0):
            moved = y[unique_frames].copy()
            moved[:, column] += STEP
            motion = self._at_rest(moved)
            after = self._distances(motion, self._state(motion))
            slopes[:, column] = (after[row, which] - gaps[frames, which]) / STEP
        return NearDistances(frames, gaps[frames, which] - self._checks.clearance, slopes)

    def _state(self, motion: Motion) -> DynamicState:
        return self._mechanics.compute_state(motion.q, motion.v, motion.a)

    def _distances(self, motion: Motion, state: DynamicState) -> np.ndarray:
        """(N, P + H) [m] distances of the checked pairs, then heights above the surface; at most the reach."""
        reach = self._checks.reach
        result = np.full((len(motion), len(self._detector.pairs)), reach)
        near = self._detector.find_near_pairs(motion.q, state.rotation, state.position)
        np.minimum.at(result, (near.frames, near.pairs), near.distances)
        if self.surface is None:
            return result
        heights = self._detector.floor_distances(state.rotation, state.position, self.surface)[:, self._movable]
        return np.concatenate([result, np.minimum(heights, reach)], axis=1)

    def _build_detector(self, checks: CheckOptions) -> tuple[CollisionDetector, tuple[str, ...]]:
        """Collisions of the pairs that can satisfy the clearance at all; links two joints apart often cannot."""
        detector = CollisionDetector(self.robot.rig, checks)
        motion = self.robot.random_motion(RANDOM_POSTURES)
        state = self._state(motion)
        near = detector.find_near_pairs(motion.q, state.rotation, state.position)
        distances = np.full((len(motion), len(detector.pairs)), checks.reach)
        np.minimum.at(distances, (near.frames, near.pairs), near.distances)
        always = np.flatnonzero(distances.max(axis=0) < checks.clearance)
        if not len(always):
            return detector, detector.notes
        left_out = tuple(detector.pairs[k] for k in always)
        pairs_text = ", ".join(" and ".join(pair) for pair in left_out)
        detector = CollisionDetector(self.robot.rig, replace(checks, excluded=(*checks.excluded, *left_out)))
        return detector, (
            *detector.notes,
            f"Not checked because they are closer than the clearance in every posture: {pairs_text}",
        )

    def _find_surface(self, given: float | None) -> float | None:
        """Height of the surface; `_movable` links can reach it: neither the static ones nor those that turn on them."""
        rig, moving = self.robot.rig, set(self.robot.names)
        is_static = np.zeros(len(rig.links), bool)
        for link, parent in enumerate(rig.parents):
            is_static[link] = parent < 0 or (is_static[parent] and rig.links[link] not in moving)
        self._movable = np.array(
            [not is_static[k] and not is_static[parent] for k, parent in enumerate(rig.parents)], bool
        )
        if given is not None:
            return given
        tilt = np.linalg.norm(self.robot.mount[:2])
        state = self._state(self._at_rest(self.robot.home[None]))
        lowest = float(self._detector.floor_distances(state.rotation, state.position, 0.0)[0, is_static].min())
        return lowest if tilt < MAX_TILT and np.isfinite(lowest) else None
