"""Balance of a body that is followed live: centre of mass, zero-moment point, and how far inside the support it is.

Forces are not measured: the zero-moment point is that of the motion, whose acceleration is read off the parabola that
fits the last moments of the centre of mass best. It is as late as half of them.
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
"""[s] Of motion that the parabola is fitted to."""
MIN_SAMPLES = 6
"""Samples of it."""
MAX_GAP = 0.1
"""[s] Between two samples, after which the parabola begins anew."""


@dataclass(frozen=True, slots=True)
class Balance:
    """At one instant.

    Attributes:
        com: (3,) [m] centre of mass, world.
        zmp: (2,) [m] zero-moment point of the motion on the floor, world; None until enough was seen, and in flight.
        polygon: (V, 2) [m] support polygon of the soles near the floor, counter-clockwise; V = 0 in flight.
        margin: [m] of the zero-moment point, or of the centre of mass as long as it is not known, inside the polygon;
            below 0 outside; None without a polygon.
    """

    com: np.ndarray
    zmp: np.ndarray | None
    polygon: np.ndarray
    margin: float | None


class LiveBalance:
    """Tells the balance of a rig from one configuration after the other.

    Args:
        rig: with a mass; where it has no soles there is no polygon.
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
        """(P, 3) [m] of all soles, world."""
        self._workspace.update_positions(q)
        found = [np.zeros((0, 3))]
        for contact in self._rig.soles:
            link = self._rig.index(contact.link)
            found.append(contact.vertices @ self._workspace.rotations[link].T + self._workspace.positions[link])
        return np.concatenate(found)

    def _zero_moment_point(self) -> np.ndarray | None:
        """(2,) [m] on the floor z = 0, of a point mass at the parabola's end."""
        if len(self._last) < MIN_SAMPLES or self._last[-1][0] - self._last[0][0] < 0.5 * WINDOW:
            return None
        times = np.array([time for time, _ in self._last]) - self._last[-1][0]
        places = np.array([com for _, com in self._last])
        end, _, half = np.linalg.lstsq(np.vander(times, 3, increasing=True), places, rcond=None)[0]
        lift = GRAVITY + 2.0 * half[2]
        if lift < 0.2 * GRAVITY:
            return None  # falling: what carries the body is not the floor
        return end[:2] - end[2] / lift * 2.0 * half[:2]
