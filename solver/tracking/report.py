"""What a tracked recording says about its markers: jumps, flicker, and a body of another size than the rig's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .kinematics import Kinematics
from .posture import Posture

SKIN_SPEED = 3.0
"""[m/s] A marker does not move faster than this against its place on the link, landings included."""
SMALLEST_JUMP = 0.02
"""[m]"""
FLICKER_RATE = 2.0
"""[1/s] Gaps per second beyond which a marker flickers."""
SHOWN = 6


@dataclass(frozen=True, slots=True)
class MarkerFaults:
    """Suspicious markers of a recording.

    Attributes:
        jumps: (marker, frames) of single-frame jumps against the link.
        flicker: (marker, gaps) of markers that come and go.
    """

    jumps: tuple[tuple[str, int], ...] = ()
    flicker: tuple[tuple[str, int], ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each kind of fault."""
        result = []
        if self.jumps:
            listed = ", ".join(f"{name} ({n})" for name, n in self.jumps[:SHOWN])
            result.append(f"markers that jump against their link: {listed}")
        if self.flicker:
            listed = ", ".join(f"{name} ({n} gaps)" for name, n in self.flicker[:SHOWN])
            result.append(f"markers that flicker: {listed}")
        return tuple(result)


class FaultCount:
    """Counts the faults of M markers while their recording passes by, piece by piece."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._jumps, self._gaps = np.zeros((2, len(names)), int)
        self._first: float | None = None
        self._time, self._rest = 0.0, np.zeros((0, len(names), 3))

    def add(self, times: np.ndarray, rest: np.ndarray) -> None:
        """The next frames.

        Args:
            times: (n,) [s].
            rest: (n, M, 3) [m] measured less modelled places, world; NaN where not seen.
        """
        if self._first is None:
            self._first = float(times[0])
        else:
            times, rest = np.append(self._time, times), np.concatenate([self._rest, rest])
        steps = np.linalg.norm(np.diff(rest, axis=0), axis=2)
        self._jumps += (steps > np.maximum(SMALLEST_JUMP, SKIN_SPEED * np.diff(times))[:, None]).sum(axis=0)
        seen = np.isfinite(rest[:, :, 0])
        self._gaps += (seen[:-1] & ~seen[1:]).sum(axis=0)
        self._time, self._rest = float(times[-1]), rest[-1:]

    @property
    def faults(self) -> MarkerFaults:
        """Of all frames that passed."""
        limit = max(3.0, FLICKER_RATE * (self._time - (self._first or 0.0)))
        return MarkerFaults(self._listed(self._jumps, 0.0), self._listed(self._gaps, limit))

    def _listed(self, counts: np.ndarray, limit: float) -> tuple[tuple[str, int], ...]:
        return tuple((self._names[k], int(counts[k])) for k in np.argsort(-counts) if counts[k] > limit)


def size_factor(
    kinematics: Kinematics,
    posture: Posture,
    links: np.ndarray,
    offsets: np.ndarray,
    frames: np.ndarray,
    configurations: np.ndarray,
) -> float:
    """How much larger (> 1) or smaller the recorded body is than the rig, all lengths together.

    One Gauss-Newton step of a common scale with the pose eliminated, at each frame; the median counts.

    Args:
        kinematics, posture: of the rig.
        links, offsets: (P,), (P, 3) [m] the markers' places.
        frames: (F, P, 3) [m] world; NaN where not seen.
        configurations: (F, nq) tracked.
    """
    factors = []
    for positions, q in zip(frames, configurations):
        kinematics.update(q)
        points = kinematics.points(links, offsets)
        seen = np.isfinite(positions[:, 0])
        if not seen.any():
            continue
        jacobian = kinematics.point_jacobians(links, points)[seen].reshape(3 * int(seen.sum()), -1)
        outwards = (points - kinematics.positions[0])[seen].reshape(-1)
        residual = (positions - points)[seen].reshape(-1)
        hessian, gradient = jacobian.T @ jacobian, jacobian.T @ residual
        posture.add(q, 1e-4, hessian, gradient)
        hessian[np.diag_indices_from(hessian)] += 1e-6
        cross = jacobian.T @ outwards
        solved = np.linalg.solve(hessian, np.column_stack([cross, gradient]))
        own = outwards @ outwards - cross @ solved[:, 0]
        if own > 0.0:
            factors.append((outwards @ residual - cross @ solved[:, 1]) / own)
    return float(1.0 + np.median(factors)) if factors else 1.0
