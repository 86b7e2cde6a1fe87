"""From one footing to another: weight shifted onto one foot, the other moved or lifted, weight shifted back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dynamics.legs import SIDES
from ...errors import InvalidValue
from ...rig import ROOT_NV
from ...trajectory.legged_rig import Footing
from ...trajectory.segment import Stretch
from .transitions import Choreographer

LIFTS = (0.12, 0.08, 0.05, 0.03)
"""Heights to which a free foot is lifted flat, as a share of the root's height: the first that the ankle allows."""
STEP_LIFT = 0.06
"""Height of a step on the way, alike."""
OTHER = {"right": "left", "left": "right"}
GRID = 41


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a group of postures starts from and returns to.

    Attributes:
        footing: of the group.
        home: (D,) its neutral posture.
        arrival: stretches that lead there from both feet side by side.
        departure: stretches that lead back.
    """

    footing: Footing
    home: np.ndarray
    arrival: tuple[Stretch, ...]
    departure: tuple[Stretch, ...]


class Stepper:
    """Makes the ways between the home of both feet side by side and those of the other configurations.

    Args:
        parent: finds the plain ways.

    Attributes:
        both: footing side by side.
        home: (D,) neutral posture there.
    """

    def __init__(self, parent: Choreographer) -> None:
        self._parent, self._dancer = parent, parent.dancer
        self.both = self._dancer.footing("both")
        self.home = self._dancer.home(self.both)

    def ground(self, configuration: str) -> Ground:
        """Home of a configuration and the ways there and back.

        Raises:
            InvalidValue: the rig cannot get there, with what stands in the way.
        """
        if configuration == "both":
            return Ground(self.both, self.home, (), ())
        if configuration == "right_forward":
            return self._forward()
        return self._one_foot(configuration)

    def _one_foot(self, side: str) -> Ground:
        free = OTHER[side]
        led, alone = self._dancer.footing(side, led=(free,)), self._dancer.footing(side)
        goal = common_point([self.both, alone])
        shifted = self._posture(self.home, goal)
        shift = self._way(f"weight onto the {side} foot", self.home, shifted, self.both)
        trouble = ""
        for height in LIFTS:
            lifted = shifted.copy()
            lifted[self._dancer.foot_columns[free][2]] += height * self._dancer.straight_height
            lifted = self._posture(lifted, goal)
            lift, trouble = self._parent.plain(f"lift the {free} foot", shifted, lifted, led, "step")
            if lift is not None:
                break
        else:
            raise InvalidValue(f"rig {self._dancer.rig.name!r} cannot lift its {free} foot: {trouble}")
        arrival = (shift, lift)
        departure = (
            self._way(f"put the {free} foot down", lifted, shifted, led),
            self._way("weight onto both feet", shifted, self.home, self.both),
        )
        return Ground(alone, lifted, arrival, departure)

    def _forward(self) -> Ground:
        forward = self._dancer.footing("right_forward")
        led = self._dancer.footing("left", led=("right",))
        goal = common_point([self.both, led, forward])
        home = self._dancer.home(forward)
        before = self._posture(self.home, goal)
        after = self._posture(self._dancer.with_feet(before, forward.anchors), goal)
        lift = {"right": STEP_LIFT * self._dancer.straight_height}
        arrival = (
            self._way("weight onto the left foot", self.home, before, self.both),
            self._way("right foot forward", before, after, led, lift),
            self._way("weight onto both feet", after, home, forward),
        )
        departure = (
            self._way("weight onto the left foot", home, after, forward),
            self._way("right foot back", after, before, led, lift),
            self._way("weight onto both feet", before, self.home, self.both),
        )
        return Ground(forward, home, arrival, departure)

    def _posture(self, y: np.ndarray, goal: np.ndarray) -> np.ndarray:
        start = y.copy()
        start[:2] = goal  # over the foot already: Newton has less far to go
        for lower in (0.0, 0.03, 0.06, 0.1):
            start[2] = y[2] - lower * self._dancer.straight_height
            start[3:ROOT_NV] = y[3:ROOT_NV]
            found, good = self._dancer.balanced(start[None], goal[None], SIDES)
            if good[0]:
                return found[0]
        raise InvalidValue(
            f"rig {self._dancer.rig.name!r} cannot shift its weight onto one foot: its legs do not reach"
        )

    def _way(
        self, name: str, start: np.ndarray, stop: np.ndarray, footing: Footing, lift: dict[str, float] | None = None
    ) -> Stretch:
        stretch, trouble = self._parent.plain(name, start, stop, footing, "step", lift)
        if stretch is None:
            raise InvalidValue(f"rig {self._dancer.rig.name!r} cannot change its footing: {trouble}")
        return stretch


def common_point(footings: list[Footing]) -> np.ndarray:
    """The point (2,) [m] deepest inside several support polygons at once: where weight changes feet.

    Raises:
        InvalidValue: the polygons share no point.
    """
    corners = np.concatenate([f.polygon.vertices for f in footings])
    axes = [np.linspace(corners[:, k].min(), corners[:, k].max(), 2 * GRID) for k in (0, 1)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=2).reshape(-1, 2)
    depth = np.min([f.polygon.edge_distances(points).min(axis=1) for f in footings], axis=0)
    best = int(np.argmax(depth))
    if depth[best] <= 0.0:
        raise InvalidValue(
            "the shrunk support polygons of one foot and of both share no point, so weight cannot change feet: "
            "shrink them less"
        )
    return points[best]
