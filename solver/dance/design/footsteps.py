"""Steps between stances: standing postures with the weight above one or both feet, and the steps between them."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from ...base.errors import InvalidValue
from ...skeleton.rig import ROOT_NV
from ...trajectory.legged_rig import Footing
from ...trajectory.segment import DanceSegment, SegmentChecker
from ...values.person import SIDES
from .mirror import MIRRORED_SIDE, Mirror
from .transitions import TransitionPlanner

LIFT_FRACTIONS = (0.12, 0.08, 0.05, 0.03)
"""Heights of a lifted foot, as fractions of the leg's length, tried in turn until the ankle allows one."""
STEP_HEIGHT_FRACTION = 0.06
"""Height of the foot during a step, as a fraction of the leg's length."""
STEP_CLEARANCE_FACTOR, LIFT_CLEARANCE_FACTOR = 2.5, 1.25
"""Least height of a step, and of a lifted foot, as multiples of the required clearance of a swinging foot."""
HEIGHT_FRACTIONS = (1.0, 0.85, 0.7, 0.6, 0.5, 0.35, 0.2)
"""Fractions of a step's height, tried in turn until the ankle allows one."""
RISE_FRACTIONS = (0.0, 0.02, 0.04)
"""Fractions of the leg's length by which the root rises over one foot if an ankle prevents lifting the other."""
CENTRE_FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Fractions of the way from the deepest common point of two support polygons to the middle between the feet, tried in
turn."""
MIN_DEPTH = 0.004
"""[m] Least distance of these points from the polygons' edges."""
ANKLE_FRACTIONS = (0.0, 0.3, 0.6, 0.9)
"""Fractions of the way from the deepest point to the point below the ankle, tried in turn: nearer to the ankle its
torque is lower."""
LEAN_ANGLES = (0.0, 0.05, -0.05, 0.1, -0.1, 0.15, -0.15)
"""[rad] Lateral pelvis lean, smallest first, tried where limits do not allow an upright pelvis."""
MAX_PATHS_TRIED = 5
"""Largest number of feasible standing postures to which a path from home is searched."""
GRID_SIZE = 41
WEIGHT_OVER = {"right": "over right", "left": "over left"}
"""Standing postures on both feet with the weight above one of them, so that the other can leave the floor."""
MIRRORED_STANCE = {
    "left": "right",
    "right": "left",
    "over left": "over right",
    "over right": "over left",
    "both": "both",
}
STEPS = (
    ("both", "over left", "both", ("weight onto the left foot", "weight onto both feet")),
    ("both", "over right", "both", ("weight onto the right foot", "weight onto both feet")),
    ("over left", "over right", "both", ("weight onto the right foot", "weight onto the left foot")),
    ("over left", "left", "left", ("lift the right foot", "put the right foot down")),
    ("over right", "right", "right", ("lift the left foot", "put the left foot down")),
    ("over left", "right_forward", "left", ("right foot forward", "right foot back")),
)
"""Two standing postures, the stance between them, and the names of the steps there and back."""


@dataclass(frozen=True, slots=True)
class StancePostures:
    """A stance in which postures are danced.

    Attributes:
        footing: planted feet of the foot configuration.
        home: (D,) neutral posture.
        entry: (D,) standing posture at which steps arrive and leave.
    """

    footing: Footing
    home: np.ndarray
    entry: np.ndarray


class StepPlanner:
    """Plans steps between standing postures, which are named as foot configurations or as in `WEIGHT_OVER`.

    Args:
        planner: of the transitions.
        mirror: if given, the standing postures of the right side mirror those of the left.

    Attributes:
        both: stance with the feet side by side.
        home: (D,) neutral posture in it.
        notes: feet that do not reach the required clearance.
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
        """Stance, home and entry of a foot configuration.

        Raises:
            InvalidValue: the rig cannot stand in it, with what fails.
        """
        footing, entry = self._legged.get_footing(configuration), self.standing_posture(configuration)
        home = self._legged.home_posture(footing) if configuration == "right_forward" else entry
        return StancePostures(footing, home, entry)

    def standing_posture(self, name: str) -> np.ndarray:
        """Flat coordinates (D,) of a standing posture."""
        if name not in self._postures:
            if self._mirror is not None and name in ("right", WEIGHT_OVER["right"]):
                own = self._mirror.image(self.standing_posture(name.replace("right", "left")))
                planted = self._legged.get_footing(name) if name == "right" else self.both
                own = self._legged.with_feet(own, planted.anchors)
                self._postures[name] = self._legged.solve_static(own[None], SIDES)[0][0]
            elif name == "right_forward":
                try:
                    self._postures[name] = self._posture_foot_forward()
                except InvalidValue as error:
                    raise InvalidValue(f"the foot is put forward too far (--step): {error}") from None
            elif name in SIDES:
                self._postures[name] = self._posture_on_one_foot(name)
            else:
                side = next(side for side, station in WEIGHT_OVER.items() if station == name)
                self._postures[name] = self._posture_over_one_foot(
                    self.home, self._legged.get_footing(side), self.both, name
                )
        return self._postures[name]

    def footing(self, first: str, second: str) -> Footing:
        """Stance during the step between two neighbouring standing postures."""
        between = next(step[2] for step in STEPS if set(step[:2]) == {first, second})
        return self.both if between == "both" else self._legged.get_footing(between, moving=(MIRRORED_SIDE[between],))

    def find_path(self, first: str, last: str) -> list[str]:
        """Names of the standing postures from one to another, both included, by the fewest steps."""
        came, queue = {first: first}, deque([first])
        while queue:
            here = queue.popleft()
            for a, b, *_ in STEPS:
                there = b if a == here else a
                if here in (a, b) and there not in came:
                    came[there] = here
                    queue.append(there)
        result = [last]
        while result[-1] != first:
            result.append(came[result[-1]])
        return result[::-1]

    def plan_step(self, first: str, second: str) -> DanceSegment:
        """The step between two neighbouring standing postures.

        Raises:
            InvalidValue: no step is feasible, with what fails.
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

    def plan_steps(self, first: str, last: str) -> list[DanceSegment]:
        """The steps from one standing posture to another, by the shortest path.

        Raises:
            InvalidValue: a step is not feasible, with what fails.
        """
        return [self.plan_step(a, b) for a, b in pairwise(self.find_path(first, last))]

    def replace_step(self, first: str, second: str, segment: DanceSegment) -> bool:
        """Dance a step otherwise, there and back, and its mirror image on the other side; False: not feasible.

        Raises:
            InvalidValue: the standing postures of the right side do not mirror those of the left.
        """
        if self._mirror is None:
            raise InvalidValue("steps are replaced together with their mirror images, and this planner has no mirror")
        a, b = (MIRRORED_STANCE[name] for name in (first, second))
        ends = self.standing_posture(a), self.standing_posture(b)
        image = replace(self._mirror.mirror_segment(segment, self.footing(a, b), *ends), name=_step_name(a, b))
        steps = {(a, b): image, (b, a): image.reverse(_step_name(b, a)), (first, second): segment}
        steps[second, first] = segment.reverse(_step_name(second, first))
        feasible = all(self._planner.check_segment(step)[1] >= 0.0 for step in steps.values())
        if feasible:
            self._steps |= steps
        return feasible

    @property
    def _step_height(self) -> float:
        """[m] Height of the foot during a step, if the ankle allows it."""
        return max(
            STEP_HEIGHT_FRACTION * self._legged.rig.leg_length, STEP_CLEARANCE_FACTOR * self._planner.foot_clearance
        )

    def _reverse_step(self, first: str, second: str) -> DanceSegment | None:
        """The opposite step reversed in time, if it was found; None if it is not feasible."""
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
            # a foot that cannot reach the required clearance steps as high as it can, and a note says so
            if low := self._planner.describe_low_foot(segment, footing):
                self.notes.append(f"{name}: {low}")
            return segment
        raise InvalidValue(f"rig {self._legged.rig.name!r} cannot change its stance: {trouble}")

    def shift_weight(self, y: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """The posture (D,) on both feet, nearest to y (D,), whose centre of mass is above goal (2,) [m].

        Raises:
            InvalidValue: there is none.
        """
        start, free = y.copy(), self._legged.root_free[:2]
        start[:2] = np.where(free, goal, y[:2])  # above the foot already: fewer Newton steps
        if not free[1] and abs(goal[1] - self.both.polygon.centre[1]) > MIN_DEPTH:
            raise InvalidValue(
                f"rig {self._legged.rig.name!r} cannot shift its weight onto one foot: with two flat feet, legs "
                "of five joints do not let the root move sideways"
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
        """The standing posture (D,) on one foot, with the other lifted flat."""
        shifted, free, trouble = self.standing_posture(WEIGHT_OVER[side]), MIRRORED_SIDE[side], ""
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
            # a search cannot start too near a limit, and this check is cheaper than finding that the step fails
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
        """Why a checker refuses a standing posture (D,), by the margins of another checker; empty if it passes."""
        measured = judge if measured is None else measured
        checks = measured.checks(np.zeros(1), self._legged.solve_static(y[None], footing.solved)[1], footing.anchors)
        if judge.worst_of(checks)[0] >= 0.0:
            return ""
        failures = "; ".join(str(failure) for failure in checks.worst_failures)
        return failures or f"too little margin remains there: {', '.join(judge.tight_checks(checks))}"

    def _posture_foot_forward(self) -> np.ndarray:
        """The standing posture (D,) with the right foot forward, the weight above the left and clear arms."""
        forward, alone = self._legged.get_footing("right_forward"), self._legged.get_footing("left")
        y = self._legged.with_feet(self.standing_posture("over left"), forward.anchors)
        raised, goal = y.copy(), deepest_common_point([alone, forward])
        raised[self._legged.foot_columns["right"][2]] += self._step_height
        with suppress(InvalidValue):
            trunk = self._legged.trunk
            y[trunk] = self._legged.clear_arms(self.shift_weight(raised, goal), forward, goal)[trunk]
        return self._posture_over_one_foot(y, alone, forward)

    def _posture_over_one_foot(self, y: np.ndarray, alone: Footing, both: Footing, name: str = "") -> np.ndarray:
        """A posture (D,) on both feet with the weight where one of them can carry it alone.

        The weight is as deep inside both support polygons as limits allow. If the upright pelvis above the deepest
        point violates a limit, the arms are moved clear of the thighs, the weight moves towards the ankle or the other
        foot, or the pelvis leans. If nothing helps, the result is the posture that fails least, and the step to it
        reports what fails. With a name, the posture can be reached from home, unless `MAX_PATHS_TRIED` failed.
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
            # the path to a posture that had to be searched for comes nearer to a limit than its end
            used = judges if most >= 0 else judges[:2]
            kept = sum(not self._describe_failure(found, footing, judge, leaving) for judge, footing in used)
            if kept == len(used):
                sought += 1
                if not name or sought > MAX_PATHS_TRIED or self._can_step_from_home(found, name):
                    return found
            if most < 0:
                with suppress(InvalidValue):
                    y[self._legged.trunk] = self._legged.clear_arms(found, both, goal)[self._legged.trunk]
            if kept > most:
                best, most = found, kept
        return self.shift_weight(y, goals[0]) if best is None else best  # the former raises with the reason

    def _can_step_from_home(self, y: np.ndarray, name: str) -> bool:
        """Whether the weight can shift from home to a standing posture (D,); stores the step."""
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
    """Name of the step from one standing posture to a neighbouring one."""
    found = next(step for step in STEPS if {first, second} == set(step[:2]))
    return found[3][0 if found[0] == first else 1]


def deepest_common_point(footings: list[Footing]) -> np.ndarray:
    """The point (2,) [m] deepest inside several support polygons at once, where the weight can change feet.

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
            "the shrunk support polygons of one foot and of both share no point, so the weight cannot change feet: "
            "shrink them less"
        )
    return points[best]
