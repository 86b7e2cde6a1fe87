"""The limits of an arm on a bench: ranges, speeds, torques, its own links and the surface it stands on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..check_options import CheckOptions
from ..dynamics.joint_torques import torques_and_slopes
from ..dynamics.mechanics import Mechanics, State
from ..errors import InvalidValue
from ..feasibility.collisions import CollisionDetector
from ..joints import ROOT_NV
from ..motion import Motion
from ..trajectory.splines import Spline
from .bench import Bench

ANYWHERE = np.pi
"""[rad, m] How far a joint without ends is sent either way."""
UPRIGHT = 1e-3
"""Largest tilt of a mount whose surface is the one that the root's shapes stand on."""
POSTURES = 200
"""Random ones that show which pairs of links no posture parts."""
HOMES = 12
"""Squared: random postures tried where the wanted one cannot be held."""
NEIGHBOURS, ABOUT, ROOMY = 10, 0.5, 0.9
"""Postures about each, how far [rad, m] from it, and the share of them that must keep the limits."""
STEP = 1e-4
"""[rad, m] Of a coordinate, for the slopes of distances."""


@dataclass(frozen=True, slots=True)
class Close:
    """Distances below the reach.

    Attributes:
        frames: (M,) of each.
        room: (M,) [m] by which it exceeds the clearance.
        slopes: (M, n) by the coordinates.
    """

    frames: np.ndarray
    room: np.ndarray
    slopes: np.ndarray


class Margins:
    """What a motion on a bench must keep.

    Attributes:
        lower, upper: (n,) of the coordinates.
        speed, torque: (n,) largest, the chosen share of the limits.
    """

    def __init__(
        self, bench: Bench, speed: float, torque: float, checks: CheckOptions, surface: float | None = None
    ) -> None:
        rig, moving = bench.rig, bench.moving
        limits = rig.limits
        self.bench, self._checks = bench, checks
        self.lower = np.maximum(limits.lower[moving], -ANYWHERE)
        self.upper = np.minimum(limits.upper[moving], ANYWHERE)
        self.speed, self.torque = speed * limits.speed[moving], torque * limits.torque[moving]
        unlimited = [name for name, most in zip(bench.names, self.speed) if not np.isfinite(most)]
        if unlimited:
            raise InvalidValue(
                f"rig {rig.name!r} states no speed limit for {', '.join(unlimited)}: how fast may they move? State it "
                "(in a URDF: <limit velocity=...>)"
            )
        self._mechanics = Mechanics(rig)
        self._detector, self.notes = self._watched(checks)
        self.surface = self._surface(surface)

    def home_near(self, wanted: np.ndarray, seed: int) -> np.ndarray:
        """The posture (n,) to start from: the wanted one, or the nearest of random ones with room to move about it.

        Raises:
            InvalidValue: no posture keeps the limits at rest; says what the wanted one breaks.
        """
        generator = np.random.default_rng(seed)
        shares = np.repeat(np.linspace(0.05, 1.0, HOMES), HOMES)[:, None]
        anywhere = generator.uniform(self.lower, self.upper, (len(shares), len(wanted)))
        postures = np.concatenate([wanted[None], wanted + shares * (anywhere - wanted)])
        postures = postures[self._at_rest(postures)]
        if not len(postures):
            raise InvalidValue(self._broken(wanted))
        moved = postures[:, None] + generator.uniform(-ABOUT, ABOUT, (len(postures), NEIGHBOURS, len(wanted)))
        kept = self._at_rest(np.clip(moved, self.lower, self.upper).reshape(-1, len(wanted)))
        free = kept.reshape(len(postures), NEIGHBOURS).mean(axis=1)
        roomy = np.flatnonzero(free >= min(ROOMY, float(free.max())))
        return np.asarray(postures[roomy[np.argmin(np.linalg.norm(postures[roomy] - wanted, axis=1))]])

    def _at_rest(self, postures: np.ndarray) -> np.ndarray:
        still = np.zeros_like(postures)
        motion = self.bench.motion(np.arange(float(len(postures))), postures, still, still)
        state = self._state(motion)
        torques = np.abs(state.tau[:, ROOT_NV:][:, self.bench.moving])
        return (torques <= self.torque).all(axis=1) & (self._room(motion, state) >= 0.0)

    def _broken(self, posture: np.ndarray) -> str:
        still = np.zeros((1, len(posture)))
        motion = self.bench.motion(np.zeros(1), posture[None], still, still)
        state = self._state(motion)
        over = np.abs(state.tau[0, ROOT_NV:][self.bench.moving]) - self.torque
        worst = int(np.argmax(over))
        if over[worst] > 0.0:
            return (
                f"{self.bench.names[worst]!r} cannot hold the home posture: its torque exceeds the share that may be "
                f"used by {over[worst]:.3g} N m, and no posture nearby is better; raise the share, or correct the limit"
            )
        return (
            f"in the home posture links come {-self._room(motion, state)[0]:.3g} m nearer to each other or to the "
            "surface than the clearance, and no posture nearby is better: lower the clearance, or state the surface"
        )

    def keeps(self, motion: Motion) -> bool:
        """Whether torques, clearance and surface hold at every sample."""
        state = self._state(motion)
        moving = state.tau[:, ROOT_NV:][:, self.bench.moving]
        return bool((np.abs(moving) <= self.torque).all() and (self._room(motion, state) >= 0.0).all())

    def broken(self, motion: Motion) -> float:
        """By how much the worst torque exceeds its limit, as a share of it, or the worst distance [m] falls short."""
        state = self._state(motion)
        torque = np.abs(state.tau[:, ROOT_NV:][:, self.bench.moving]) / self.torque - 1.0
        return max(0.0, float(torque.max()), -float(self._room(motion, state).min()))

    def smallest(self, spline: Spline, control: np.ndarray, motion: Motion) -> dict[str, float]:
        """The smallest margin of each kind."""
        state = self._state(motion)
        torque = self.torque - np.abs(state.tau[:, ROOT_NV:][:, self.bench.moving])
        return {
            "range": float(np.minimum(control - self.lower, self.upper - control).min()) + 1e-12,
            "speed": float((self.speed - np.abs(spline.speeds(control))).min()) + 1e-9,
            "torque": float(torque.min()),
            "clearance": float(self._room(motion, state).min()),
        }

    def torques(self, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        """Torques (N, n) and their slopes (3, N, n, n) by coordinates, speeds and accelerations."""
        torques, slopes = torques_and_slopes(self.bench.rig, motion)
        moving = self.bench.moving
        return torques[:, moving], slopes[:, :, moving][:, :, :, moving]

    def close(self, y: np.ndarray) -> Close:
        """Where links come near one another or the surface at coordinates (N, n): every pair, in every frame."""
        still = np.zeros_like(y)
        motion = self.bench.motion(np.arange(float(len(y))), y, still, still)
        gaps = self._gaps(motion, self._state(motion))
        frames, which = np.nonzero(gaps < self._checks.reach)
        asked = np.unique(frames)
        place = np.searchsorted(asked, frames)
        slopes = np.zeros((len(frames), y.shape[1]))
        for column in range(y.shape[1] if len(asked) else 0):
            moved = y[asked].copy()
            moved[:, column] += STEP
            motion = self.bench.motion(np.arange(float(len(asked))), moved, still[asked], still[asked])
            after = self._gaps(motion, self._state(motion))
            slopes[:, column] = (after[place, which] - gaps[frames, which]) / STEP
        return Close(frames, gaps[frames, which] - self._checks.clearance, slopes)

    def _state(self, motion: Motion) -> State:
        return self._mechanics.state(motion.q, motion.v, motion.a)

    def _room(self, motion: Motion, state: State) -> np.ndarray:
        """(N,) [m] by which the nearest links, or the link nearest to the surface, keep more than the clearance."""
        return self._gaps(motion, state).min(axis=1, initial=self._checks.reach) - self._checks.clearance

    def _gaps(self, motion: Motion, state: State) -> np.ndarray:
        """(N, P + H) [m] distances of the watched pairs, then heights above the surface; at most the reach."""
        reach = self._checks.reach
        result = np.full((len(motion), len(self._detector.pairs)), reach)
        near = self._detector.near_pairs(motion.q, state.rotation, state.position)
        np.minimum.at(result, (near.frames, near.pairs), near.distances)
        if self.surface is None:
            return result
        heights = self._detector.floor_distances(state.rotation, state.position, self.surface)[:, self._above]
        return np.concatenate([result, np.minimum(heights, reach)], axis=1)

    def _watched(self, checks: CheckOptions) -> tuple[CollisionDetector, tuple[str, ...]]:
        """Collisions of the pairs that can keep the clearance at all; links two joints apart often cannot."""
        detector = CollisionDetector(self.bench.rig, checks)
        motion = self.bench.random_motion(POSTURES)
        state = self._state(motion)
        near = detector.near_pairs(motion.q, state.rotation, state.position)
        distances = np.full((len(motion), len(detector.pairs)), checks.reach)
        np.minimum.at(distances, (near.frames, near.pairs), near.distances)
        always = np.flatnonzero(distances.max(axis=0) < checks.clearance)
        if not len(always):
            return detector, detector.notes
        left_out = tuple(detector.pairs[k] for k in always)
        told = ", ".join(" and ".join(pair) for pair in left_out)
        detector = CollisionDetector(self.bench.rig, replace(checks, excluded=(*checks.excluded, *left_out)))
        return detector, (*detector.notes, f"Not checked because no posture parts them by the clearance: {told}")

    def _surface(self, given: float | None) -> float | None:
        """Height of the surface; `_above` can reach it: neither what stands still nor what turns on that."""
        rig, moving = self.bench.rig, set(self.bench.names)
        stands = np.zeros(len(rig.links), bool)
        for link, parent in enumerate(rig.parents):
            stands[link] = parent < 0 or (stands[parent] and rig.links[link] not in moving)
        self._above = np.array([not stands[k] and not stands[parent] for k, parent in enumerate(rig.parents)], bool)
        if given is not None:
            return given
        tilt = np.linalg.norm(self.bench.mount[:2])
        still = np.zeros((1, len(self.bench.names)))
        state = self._state(self.bench.motion(np.zeros(1), self.bench.home[None], still, still))
        heights = self._detector.floor_distances(state.rotation, state.position, 0.0)[0, stands]
        lowest = float(heights.min())
        return lowest if tilt < UPRIGHT and np.isfinite(lowest) else None
