"""From one footing to another: stations where the weight rests, and the steps that join them."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ...dynamics.legs import SIDES
from ...errors import InvalidValue
from ...rig import ROOT_NV
from ...trajectory.legged_rig import Footing
from ...trajectory.segment import DanceSegment, SegmentChecker
from .mirror import Mirror
from .transitions import TransitionPlanner

LIFT_FRACTIONS = (0.12, 0.08, 0.05, 0.03)
"""Heights to which a free foot is lifted flat, as a share of the root's height: the first that the ankle allows."""
STEP_HEIGHT_FRACTION = 0.06
"""Height of a step on the way, alike."""
STEP_CLEARANCE_FACTOR, LIFT_CLEARANCE_FACTOR = 2.5, 1.25
"""Least height of a step, and least height of a lifted foot, as multiples of what a swinging foot has to clear."""
HEIGHT_FRACTIONS = (1.0, 0.85, 0.7, 0.6, 0.5, 0.35, 0.2)
"""Shares of a step's height that are tried, the first that the ankle allows."""
RISE_FRACTIONS = (0.0, 0.02, 0.04)
"""Shares of the root's height by which it rises over one foot, where an ankle does not let the other lift."""
CENTRE_FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Shares of the way from the deepest point of two polygons to the middle between the feet that are tried in turn."""
MIN_DEPTH = 0.004
"""[m] that is kept to the polygons' edges there."""
ANKLE_FRACTIONS = (0.0, 0.3, 0.6, 0.9)
"""Shares of the way from that point to below the ankle that are tried: the farther it is, the more an ankle carries."""
LEAN_ANGLES = (0.0, 0.05, -0.05, 0.1, -0.1, 0.15, -0.15)
"""[rad] by which the pelvis leans to a side, the least first, where limits do not let it stay upright."""
MAX_PATHS_TRIED = 5
"""Ways to stations that keep all limits which are sought in vain at most."""
OPPOSITE = {"right": "left", "left": "right"}
GRID_SIZE = 41
WEIGHT_OVER = {"right": "over right", "left": "over left"}
"""Stations on both feet with the weight above one of them, so that the other may leave the floor."""
STEPS = (
    ("both", "over left", "both", ("weight onto the left foot", "weight onto both feet")),
    ("both", "over right", "both", ("weight onto the right foot", "weight onto both feet")),
    ("over left", "over right", "both", ("weight onto the right foot", "weight onto the left foot")),
    ("over left", "left", "left", ("lift the right foot", "put the right foot down")),
    ("over right", "right", "right", ("lift the left foot", "put the left foot down")),
    ("over left", "right_forward", "left", ("right foot forward", "right foot back")),
    ("left", "right_forward", "left", ("put the right foot forward", "lift the right foot")),
)
"""Two stations, the footing between them, and the names of the ways there and back."""
SHORTCUT = {"left", "right_forward"}
"""Stations joined by a step that not every ankle allows, and by way of another station."""


@dataclass(frozen=True, slots=True)
class StancePostures:
    """Where the postures of a foot configuration are danced.

    Attributes:
        footing: of the configuration.
        home: (D,) its neutral posture.
        entry: (D,) the station where steps arrive and leave.
    """

    footing: Footing
    home: np.ndarray
    entry: np.ndarray


class StepPlanner:
    """Stations of a rig's feet, named as foot configurations are or `OVER`, and the ways between them.

    Args:
        planner: finds the steps.
        mirror: the right side's stations are the left side's mirror images.

    Attributes:
        both: footing side by side.
        home: (D,) neutral posture there.
        notes: feet that do not clear the floor by as much as is asked.
    """

    def __init__(self, planner: TransitionPlanner, mirror: Mirror | None = None) -> None:
        self._planner, self._legged, self._mirror = planner, planner.legged, mirror
        self.both = self._legged.get_footing("both")
        self.home = self._legged.home_posture(self.both)
        if mirror is not None:
            even = self._legged.with_feet(0.5 * (self.home + mirror.image(self.home)), self.both.anchors)
            self.home = self._legged.solve_static(even[None], SIDES)[0][0]
        self._postures = {"both": self.home}
        self._steps: dict[tuple[str, str], DanceSegment] = {}
        self._impossible: dict[tuple[str, str], str] = {}
        self.notes: list[str] = []

    def stance_postures(self, configuration: str) -> StancePostures:
        """Home and entry of a configuration.

        Raises:
            InvalidValue: the rig cannot stand so, with what stands in the way.
        """
        footing, entry = self._legged.get_footing(configuration), self.standing_posture(configuration)
        home = self._legged.home_posture(footing) if configuration == "right_forward" else entry
        return StancePostures(footing, home, entry)

    def standing_posture(self, name: str) -> np.ndarray:
        """Posture (D,) of a station."""
        if name not in self._postures:
            if self._mirror is not None and name in ("right", WEIGHT_OVER["right"]):
                self._postures[name] = self._mirror.image(self.standing_posture(name.replace("right", "left")))
            elif name == "right_forward":
                self._postures[name] = self._posture_foot_forward()
            elif name in OPPOSITE:
                self._postures[name] = self._posture_on_one_foot(name)
            else:
                side = next(side for side, station in WEIGHT_OVER.items() if station == name)
                self._postures[name] = self._posture_over_one_foot(
                    self.home, self._legged.get_footing(side), self.both, name
                )
        return self._postures[name]

    def footing(self, first: str, second: str) -> Footing:
        """Footing of the step between two neighbouring stations."""
        between = next(step[2] for step in STEPS if set(step[:2]) == {first, second})
        return self.both if between == "both" else self._legged.get_footing(between, moving=(OPPOSITE[between],))

    def find_path(self, first: str, last: str) -> list[str]:
        """Stations from one to another, both included, by the fewest steps."""
        came, queue = {first: first}, deque([first])
        while queue:
            here = queue.popleft()
            for a, b, *_ in STEPS:
                there = b if a == here else a
                if here in (a, b) and there not in came and self._is_possible(here, there):
                    came[there] = here
                    queue.append(there)
        result = [last]
        while result[-1] != first:
            result.append(came[result[-1]])
        return result[::-1]

    def plan_step(self, first: str, second: str) -> DanceSegment:
        """The step between two neighbouring stations.

        Raises:
            InvalidValue: there is none, with what stands in the way.
        """
        if (first, second) in self._impossible:
            raise InvalidValue(self._impossible[first, second])
        if (first, second) not in self._steps:
            try:
                self._steps[first, second] = self._reverse_step(first, second) or self._search_step(first, second)
            except InvalidValue as error:
                self._impossible[first, second] = self._impossible[second, first] = str(error)
                raise
        return self._steps[first, second]

    @property
    def _step_height(self) -> float:
        """[m] to which a foot is led on its way, where its ankle allows it."""
        return max(
            STEP_HEIGHT_FRACTION * self._legged.rig.leg_length, STEP_CLEARANCE_FACTOR * self._planner.foot_clearance
        )

    def _reverse_step(self, first: str, second: str) -> DanceSegment | None:
        """The step the other way, where it was found, backwards in time: what a body at rest can do it can undo."""
        forth = self._steps.get((second, first))
        if forth is None:
            return None
        back = forth.reverse(_step_name(first, second))
        return back if self._planner.check_segment(back)[1] >= 0.0 else None

    def _search_step(self, first: str, second: str) -> DanceSegment:
        name, footing = _step_name(first, second), self.footing(first, second)
        ends = self.standing_posture(first), self.standing_posture(second)
        lifts: list[dict[str, float] | None] = [None]
        if "right_forward" in (first, second):
            lifts = [{"right": share * self._step_height} for share in HEIGHT_FRACTIONS]
        trouble = ""
        for lift in lifts:
            segment, trouble = self._planner.plan_straight(name, *ends, footing, "step", lift)
            if segment is None:
                continue
            # a foot that cannot clear the floor by as much as is asked still steps, as high as it can, and it is told;
            # not where it may go another way
            if low := self._planner.describe_low_foot(segment, footing):
                if {first, second} == SHORTCUT:
                    raise InvalidValue(f"{name}: {low}")
                self.notes.append(f"{name}: {low}")
            return segment
        raise InvalidValue(f"rig {self._legged.rig.name!r} cannot change its footing: {trouble}")

    def _is_possible(self, first: str, second: str) -> bool:
        """Whether a shortcut can be stepped; there is a longer way without it."""
        if {first, second} != SHORTCUT:
            return True
        try:
            self.plan_step(first, second)
        except InvalidValue:
            return False
        return True

    def shift_weight(self, y: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """The posture (D,) nearest to another on both feet whose centre of mass is above goal (2,).

        Raises:
            InvalidValue: there is none.
        """
        start, free = y.copy(), self._legged.root_free[:2]
        start[:2] = np.where(free, goal, y[:2])  # over the foot already: Newton has less far to go
        if not free[1] and abs(goal[1] - self.both.polygon.centre[1]) > MIN_DEPTH:
            raise InvalidValue(
                f"rig {self._legged.rig.name!r} cannot shift its weight onto one foot: over two flat feet its legs "
                "of five joints let the root go nowhere sideways"
            )
        for lower in (0.0, 0.03, 0.06, 0.1):
            start[2] = y[2] - lower * self._legged.rig.leg_length
            start[3:ROOT_NV] = y[3:ROOT_NV]
            found, good = self._legged.balance(start[None], goal[None], SIDES)
            if good[0]:
                return found[0]
        raise InvalidValue(
            f"rig {self._legged.rig.name!r} cannot shift its weight onto one foot: its legs do not reach"
        )

    def _posture_on_one_foot(self, side: str) -> np.ndarray:
        """On one foot, the other lifted flat."""
        shifted, free, trouble = self.standing_posture(WEIGHT_OVER[side]), OPPOSITE[side], ""
        size = self._legged.rig.leg_length
        heights = dict.fromkeys(
            max(share * size, LIFT_CLEARANCE_FACTOR * self._planner.foot_clearance) for share in LIFT_FRACTIONS
        )
        footing, name = self.footing(WEIGHT_OVER[side], side), f"lift the {free} foot"
        above = self._legged.compute_com(self._legged.solve_static(shifted[None], SIDES)[1])[0, :2]
        for rise, height in product(RISE_FRACTIONS, heights):
            lifted = shifted.copy()
            lifted[2] += rise * size
            lifted[self._legged.foot_columns[free][2]] += height
            try:
                lifted = self.shift_weight(lifted, above)
            except InvalidValue as error:
                trouble = trouble or f"{name}: {error}"
                continue
            # no search could set out from too near a limit, and this is sooner told than that the way there fails
            if cramped := self._describe_failure(lifted, footing, self._planner.coarse_checker):
                trouble = f"{name}: {cramped}"
                continue
            lift, trouble = self._planner.plan_straight(name, shifted, lifted, footing, "step")
            if lift is not None:
                trouble = self._planner.describe_low_foot(lift, footing)
                if not trouble:
                    self._steps[WEIGHT_OVER[side], side] = lift
                    return lifted
        raise InvalidValue(f"rig {self._legged.rig.name!r} cannot lift its {free} foot: {trouble}")

    def _describe_failure(
        self, y: np.ndarray, footing: Footing, judge: SegmentChecker, measured: SegmentChecker | None = None
    ) -> str:
        """What to say of a station (D,) that a judge refuses by what another one measured; nothing of what passes."""
        measured = judge if measured is None else measured
        checks = measured.checks(np.zeros(1), self._legged.solve_static(y[None], footing.solved)[1], footing.anchors)
        if judge.worst_of(checks)[0] >= 0.0:
            return ""
        told = "; ".join(str(failure) for failure in checks.worst_failures)
        return told or f"it leaves too little margin there: {', '.join(judge.tight_checks(checks))}"

    def _posture_foot_forward(self) -> np.ndarray:
        """Right foot forward, the weight above the left one, hands aside of the knee that is raised on the way."""
        forward, alone = self._legged.get_footing("right_forward"), self._legged.get_footing("left")
        y = self._legged.with_feet(self.standing_posture("over left"), forward.anchors)
        raised, goal = y.copy(), deepest_common_point([alone, forward])
        raised[self._legged.foot_columns["right"][2]] += self._step_height
        with suppress(InvalidValue):
            trunk = self._legged.trunk
            y[trunk] = self._legged.clear_arms(self.shift_weight(raised, goal), forward, goal)[trunk]
        return self._posture_over_one_foot(y, alone, forward)

    def _posture_over_one_foot(self, y: np.ndarray, alone: Footing, both: Footing, name: str = "") -> np.ndarray:
        """On both feet with the weight where one of them carries it alone: as deep in both polygons as limits let it.

        Where the upright pelvis above the deepest point comes to a limit, hands are kept aside of the thighs, the
        weight goes to where the foot's ankle or the other foot is nearer, or the pelvis leans. Where that does not
        help either, what fails least is the answer, and the step there says what stands in the way. To a station of
        a name there is a way from home, unless some were sought in vain.
        """
        y, goals = y.copy(), self._com_goals(alone, both)
        leaving, bearing = self._planner.step_checker, replace(alone, solved=both.solved)
        judges = [(judge, footing) for judge in (leaving, self._planner.coarse_checker) for footing in (both, bearing)]
        best, most, sought = None, -1, 0
        for lean, goal in [(0.0, goals[0]), *product(LEAN_ANGLES, goals)]:
            tried = y.copy()
            tried[3:ROOT_NV] += lean * self._legged.rig.forward
            try:
                found = self.shift_weight(tried, goal)
            except InvalidValue:
                continue
            # the way to what had to be searched for comes nearer to a limit than its end does
            asked = judges if most >= 0 else judges[:2]
            kept = sum(not self._describe_failure(found, footing, judge, leaving) for judge, footing in asked)
            if kept == len(asked):
                sought += 1
                if not name or sought > MAX_PATHS_TRIED or self._can_step_from_home(found, name):
                    return found
            if most < 0:
                with suppress(InvalidValue):
                    y[self._legged.trunk] = self._legged.clear_arms(found, both, goal)[self._legged.trunk]
            if kept > most:
                best, most = found, kept
        return self.shift_weight(y, goals[0]) if best is None else best  # the former says why there is none

    def _can_step_from_home(self, y: np.ndarray, name: str) -> bool:
        """Whether weight comes from home to a station (D,); the step is kept."""
        segment, _ = self._planner.plan_straight(_step_name("both", name), self.home, y, self.both, "step")
        if segment is not None:
            self._steps["both", name] = segment
        return segment is not None

    def _com_goals(self, alone: Footing, both: Footing) -> list[np.ndarray]:
        """Points (2,) [m] for the centre of mass, the deepest in both polygons first."""
        deepest, result = deepest_common_point([alone, both]), []
        (anchor,) = alone.anchors
        for nearer, share in product(ANKLE_FRACTIONS, CENTRE_FRACTIONS):
            goal = deepest + nearer * (anchor.position[:2] - deepest) + share * (both.polygon.centre - deepest)
            if min(footing.polygon.edge_distances(goal[None]).min() for footing in (alone, both)) > MIN_DEPTH:
                result.append(goal)
        return result or [deepest]


def _step_name(first: str, second: str) -> str:
    """Name of the step from one station to a neighbouring one."""
    found = next(step for step in STEPS if {first, second} == set(step[:2]))
    return found[3][0 if found[0] == first else 1]


def deepest_common_point(footings: list[Footing]) -> np.ndarray:
    """The point (2,) [m] deepest inside several support polygons at once: where weight changes feet.

    Raises:
        InvalidValue: the polygons share no point.
    """
    corners = np.concatenate([f.polygon.vertices for f in footings])
    axes = [np.linspace(corners[:, k].min(), corners[:, k].max(), 2 * GRID_SIZE) for k in (0, 1)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=2).reshape(-1, 2)
    depth = np.min([f.polygon.edge_distances(points).min(axis=1) for f in footings], axis=0)
    best = int(np.argmax(depth))
    if depth[best] <= 0.0:
        raise InvalidValue(
            "the shrunk support polygons of one foot and of both share no point, so weight cannot change feet: "
            "shrink them less"
        )
    return points[best]
