"""Links whose orientation too few seen markers tell: how far they may turn without a marker leaving its place by much.

With markers that move over the skin by s, all alike, the tangent coordinates x have the covariance

    C = s^2 (J'J + s^2 1)^-1,

J the seen markers' Jacobian, a radian or metre the spread of coordinates that nothing tells; a link's orientation has
A C A', A its angular Jacobian. The root of the largest eigenvalue is the link's spread.
"""

from __future__ import annotations

import numpy as np

from ..rig import Rig
from ..signals.gaps import LONGEST_GAP
from .kinematics import Kinematics
from .tasks import PositionTask

SKIN_STD = 0.01
"""[m] By which markers move over the skin: the usual residual of tracked people."""
MAX_ORIENTATION_STD = 0.08
"""[rad] Spread beyond which an orientation is a guess; 0.04 for a pelvis of three or four markers."""
MIN_STD_RATIO = 2.0
"""By so much a spread must be larger than with all markers: hands and heads without any are no news."""
CHECKS_PER_GAP = 2
"""In a gap that is too long."""


def orientation_std(kinematics: Kinematics, q: np.ndarray, links: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Spread (L,) [rad] of the orientation of every link in a posture.

    Args:
        kinematics: of the rig.
        q: (nq,).
        links, offsets: (M,), (M, 3) [m] of the markers that are seen, on their links.
    """
    kinematics.update_kinematics(q)
    slopes = kinematics.point_jacobians(links, kinematics.points(links, offsets))
    slopes = slopes.reshape(-1, slopes.shape[2])
    covariance = SKIN_STD**2 * np.linalg.inv(slopes.T @ slopes + SKIN_STD**2 * np.eye(slopes.shape[1]))
    turning = kinematics.jacobian[3:] * kinematics.moved_by[:, None]
    return np.asarray(np.sqrt(np.linalg.eigvalsh(turning @ covariance @ turning.swapaxes(1, 2))[:, -1]))


class UndeterminedLinks:
    """Finds links whose orientation is a guess for longer than a spline may bridge, while a recording passes by.

    Args:
        rig: whose links.
        task: the markers that are followed.
    """

    def __init__(self, rig: Rig, task: PositionTask) -> None:
        self._rig, self._task, self._tree = rig, task, Kinematics(rig)
        self._observes = rig.descendants[:, task.links].T
        self._cached_stds: dict[bytes, np.ndarray] = {}
        self._next = -np.inf
        self._since = np.full(len(rig.links), np.nan)
        self._longest, self._worst, self._first = (np.zeros(len(rig.links)) for _ in range(3))

    def add(self, times: np.ndarray, seen: np.ndarray, usable: np.ndarray, q: np.ndarray) -> None:
        """The next frames.

        Args:
            times: (n,) [s].
            seen: (n, M) True where a marker is seen.
            usable: (n,) True where enough is; the others are told by themselves.
            q: (n, nq) as tracked.
        """
        for time, own, good, posture in zip(times, seen, usable, q):
            if time < self._next:
                continue
            self._next = time + LONGEST_GAP / CHECKS_PER_GAP
            spread = self._orientation_std(own, posture) if good else np.zeros(len(self._since))
            usual = self._orientation_std(np.ones_like(own), posture)
            vague = (
                (spread > MAX_ORIENTATION_STD)
                & (spread > MIN_STD_RATIO * usual)
                & (own.astype(float) @ self._observes > 0.0)
            )
            self._since = np.where(vague, np.where(np.isnan(self._since), time, self._since), np.nan)
            lasts = np.nan_to_num(time - self._since)
            self._worst = np.where(vague, np.maximum(self._worst, spread), self._worst)
            longer = lasts > self._longest
            self._longest[longer], self._first[longer] = lasts[longer], self._since[longer]

    def _orientation_std(self, seen: np.ndarray, q: np.ndarray) -> np.ndarray:
        """(L,) [rad] by some of the markers (M,), in the posture in which these were seen first."""
        seen = seen & (self._task.weights > 0.0)
        key = seen.tobytes()
        if key not in self._cached_stds:
            links, offsets = self._task.links[seen], self._task.offsets[seen]
            self._cached_stds[key] = orientation_std(self._tree, q, links, offsets)
        return self._cached_stds[key]

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for all links."""
        long = np.flatnonzero(self._longest > LONGEST_GAP)
        if not len(long):
            return ()
        worst = long[np.argmax(self._longest[long])]
        listed = ", ".join(self._rig.links[k] for k in long)
        return (
            f"too few markers tell how {listed} turned, for up to {self._longest[worst]:.2f} s (after "
            f"{self._first[worst]:.3f} s): off by some {self._worst[long].max():.2f} rad",
        )
