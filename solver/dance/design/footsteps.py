"""From one footing to another: weight shifted onto one foot, the other moved or lifted, weight shifted back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dynamics.legs import SIDES
from ...errors import InvalidValue
from ...rig import ROOT_NV
from ...trajectory.legged_rig import Footing
from ...trajectory.segment import DanceSegment
from .transitions import TransitionPlanner

LIFTS = (0.12, 0.08, 0.05, 0.03)
"""Heights to which a free foot is lifted flat, as a share of the root's height: the first that the ankle allows."""
STEP_LIFT = 0.06
"""Height of a step on the way, alike."""
OTHER = {"right": "left", "left": "right"}
GRID = 41


@dataclass(frozen=True, slots=True)
class Approach:
    """Where a group of postures starts from and returns to.

    Attributes:
        footing: of the group.
        home: (D,) its neutral posture.
        arrival: segments that lead there from both feet side by side.
        departure: segments that lead back.
    """

    footing: Footing
    home: np.ndarray
    arrival: tuple[DanceSegment, ...]
    departure: tuple[DanceSegment, ...]


class Stepper:
    """Makes the ways between the home of both feet side by side and those of the other configurations.

    Args:
        planner: finds the straight paths.

    Attributes:
        both: footing side by side.
        home: (D,) neutral posture there.
    """

    def __init__(self, planner: TransitionPlanner) -> None:
        self._planner, self._legged = planner, planner.legged
        self.both = self._legged.footing("both")
        self.home = self._legged.home(self.both)

    def approach(self, configuration: str) -> Approach:
        """Home of a configuration and the ways there and back.

        Raises:
            InvalidValue: the rig cannot get there, with what stands in the way.
        """
        if configuration == "both":
            return Approach(self.both, self.home, (), ())
        if configuration == "right_forward":
            return self._forward()
        return self._one_foot(configuration)

    def _one_foot(self, side: str) -> Approach:
        free = OTHER[side]
        led, alone = self._legged.footing(side, led=(free,)), self._legged.footing(side)
        goal = common_point([self.both, alone])
        shifted = self._posture(self.home, goal)
        shift = self._path(f"weight onto the {side} foot", self.home, shifted, self.both)
        trouble = ""
        for height in LIFTS:
            lifted = shifted.copy()
            lifted[self._legged.foot_columns[free][2]] += height * self._legged.straight_height
            lifted = self._posture(lifted, goal)
            lift, trouble = self._planner.straight(f"lift the {free} foot", shifted, lifted, led, "step")
            if lift is not None:
                break
        else:
            raise InvalidValue(f"rig {self._legged.rig.name!r} cannot lift its {free} foot: {trouble}")
        arrival = (shift, lift)
        departure = (
            self._path(f"put the {free} foot down", lifted, shifted, led),
            self._path("weight onto both feet", shifted, self.home, self.both),
        )
        return Approach(alone, lifted, arrival, departure)

    def _forward(self) -> Approach:
        forward = self._legged.footing("right_forward")
        led = self._legged.footing("left", led=("right",))
        goal = common_point([self.both, led, forward])
        home = self._legged.home(forward)
        before = self._posture(self.home, goal)
        after = self._posture(self._legged.with_feet(before, forward.anchors), goal)
        lift = {"right": STEP_LIFT * self._legged.straight_height}
        arrival = (
            self._path("weight onto the left foot", self.home, before, self.both),
            self._path("right foot forward", before, after, led, lift),
            self._path("weight onto both feet", after, home, forward),
        )
        departure = (
            self._path("weight onto the left foot", home, after, forward),
            self._path("right foot back", after, before, led, lift),
            self._path("weight onto both feet", before, self.home, self.both),
        )
        return Approach(forward, home, arrival, departure)

    def _posture(self, y: np.ndarray, goal: np.ndarray) -> np.ndarray:
        start = y.copy()
        start[:2] = goal  # over the foot already: Newton has less far to go
        for lower in (0.0, 0.03, 0.06, 0.1):
            start[2] = y[2] - lower * self._legged.straight_height
            start[3:ROOT_NV] = y[3:ROOT_NV]
            found, good = self._legged.balanced(start[None], goal[None], SIDES)
            if good[0]:
                return found[0]
        raise InvalidValue(
            f"rig {self._legged.rig.name!r} cannot shift its weight onto one foot: its legs do not reach"
        )

    def _path(
        self, name: str, start: np.ndarray, stop: np.ndarray, footing: Footing, lift: dict[str, float] | None = None
    ) -> DanceSegment:
        segment, trouble = self._planner.straight(name, start, stop, footing, "step", lift)
        if segment is None:
            raise InvalidValue(f"rig {self._legged.rig.name!r} cannot change its footing: {trouble}")
        return segment


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
