"""Balance of a body that is tracked live: centre of mass, zero-moment point, and margin inside the support polygon.

Forces are not measured. The zero-moment point is computed from the motion: the acceleration is that of a parabola
fitted to the last positions of the centre of mass, so that it is delayed by half of that window.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..contacts.support import convex_polygon
from ..dynamics.mechanics import Mechanics
from ..dynamics.workspace import Workspace
from ..errors import InvalidValue
from ..rig import GRAVITY, Rig
from ..scene.motion import NEAR_GROUND

WINDOW = 0.2
"""[s] Window of motion to which the parabola is fitted."""
MIN_SAMPLES = 6
"""Smallest number of samples in the window."""
MAX_GAP = 0.1
"""[s] Longest gap between two samples; after a longer one the window starts again."""


@dataclass(frozen=True, slots=True)
class Balance:
    """Balance at one instant.

    Attributes:
        com: (3,) [m] centre of mass, world.
        zmp: (2,) [m] zero-moment point of the motion on the floor, world; None until the window is long enough, and in
            flight.
        polygon: (V, 2) [m] support polygon of the soles near the floor, counter-clockwise; V = 0 in flight.
        margin: [m] of the zero-moment point, or of the centre of mass while it is unknown, inside the polygon; negative
            outside; None without a polygon.
    """

    com: np.ndarray
    zmp: np.ndarray | None
    polygon: np.ndarray
    margin: float | None


class LiveBalance:
    """Computes the balance of a rig from successive configurations.

    Args:
        rig: with a mass; without soles there is no polygon.
    """

    def __init__(self, rig: Rig) -> None:
        self._rig, self._mechanics, self._workspace = rig, Mechanics(rig), Workspace(rig)
        self._last: deque[tuple[float, np.ndarray]] = deque()

    def update(self, time: float, q: np.ndarray) -> Balance:
        """The balance at a time [s] in a configuration (nq,)."""
        com = self._mechanics.compute_coms(q[None])[0]
        if self._last and not 0.0 < time - self._last[-1][0] < MAX_GAP:
            self._last.clear()
        self._last.append((time, com))
        while time - self._last[0][0] > WINDOW:
            self._last.popleft()
        corners = self._sole_corners(q)
        standing = corners[corners[:, 2] <= NEAR_GROUND, :2]
        try:
            polygon = convex_polygon(standing) if len(standing) else None
        except InvalidValue:  # on the tip of a toe
            polygon = None
        if polygon is None:
            return Balance(com, None, np.zeros((0, 2)), None)
        zmp = self._zero_moment_point()
        held = com[:2] if zmp is None else zmp
        return Balance(com, zmp, polygon.vertices, float(polygon.margin(held[None])[0]))

    def _sole_corners(self, q: np.ndarray) -> np.ndarray:
        """(P, 3) [m] corners of all soles, world."""
        self._workspace.update_positions(q)
        found = [np.zeros((0, 3))]
        for contact in self._rig.soles:
            link = self._rig.index(contact.link)
            found.append(contact.vertices @ self._workspace.rotations[link].T + self._workspace.positions[link])
        return np.concatenate(found)

    def _zero_moment_point(self) -> np.ndarray | None:
        """(2,) [m] zero-moment point on the floor z = 0, of a point mass at the end of the parabola."""
        if len(self._last) < MIN_SAMPLES or self._last[-1][0] - self._last[0][0] < 0.5 * WINDOW:
            return None
        times = np.array([time for time, _ in self._last]) - self._last[-1][0]
        places = np.array([com for _, com in self._last])
        end, _, half = np.linalg.lstsq(np.vander(times, 3, increasing=True), places, rcond=None)[0]
        lift = GRAVITY + 2.0 * half[2]
        if lift < 0.2 * GRAVITY:
            return None  # falling: the floor does not carry the body
        return end[:2] - end[2] / lift * 2.0 * half[:2]
