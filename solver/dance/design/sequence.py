"""A run of postures joined by transitions: the unit of work that is handed to a worker process."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidValue
from ...identification.base_parameters import base_parameters
from ...identification.excitation.excitation import link_weights
from ...rig import Rig
from ...threads import one_blas_thread
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import DanceSegment, SegmentChecker, hold_posture
from ...trajectory.transition_problem import Objective
from .dance import SAME_POSTURE, TraceEntry
from .excitation_groups import build_criterion, excited_columns, free_columns
from .footsteps import StancePostures, StepPlanner
from .mirror import Mirror
from .named_poses import PoseVariations
from .options import DanceOptions, sigma_objective
from .postures import DrawOptions, PosturePool, draw_posture_pool
from .reachability import find_open_paths
from .style import comfort_limits
from .transitions import SearchOptions, TransitionPlanner, TransitionResult

History = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class PostureSequence:
    """What a worker returns.

    Attributes:
        segments: transitions and holds, in order.
        postures: index of the hold of every posture reached.
        names: of these postures, as the task names them.
        trace: of the transitions.
        history: Gram matrices (n, k, k) of the criterion after it.
        added_information: (n, k, k) what it added for the objective.
        stop: (D,) where it ends.
        reached_stop: it ends at the task's stop.
        notes: detours, and postures left out and why.
        missing: of these, the postures left out.
    """

    segments: tuple[DanceSegment, ...]
    postures: tuple[int, ...]
    names: tuple[str, ...]
    trace: tuple[TraceEntry, ...]
    history: np.ndarray
    added_information: np.ndarray
    stop: np.ndarray
    reached_stop: bool
    notes: tuple[str, ...]
    missing: tuple[str, ...] = ()


def build_transition_planner(rig: Rig, options: DanceOptions) -> TransitionPlanner:
    """Search and judges for a rig under the options."""
    style = options.style
    speed = options.speed if style is None else min(options.speed, style.skill_limits.max_speed)
    legged = LeggedRig(rig, shrink=options.shrink, step=options.step, speed=speed, checks=options.search_checks)
    search = SearchOptions(
        options.rounds, options.via, options.shortest, options.quickest_step, spacing=options.spacing
    )
    if style is not None:
        legged.lower, legged.upper = comfort_limits(
            legged, legged.home_posture(legged.get_footing("both")), style.skill_limits
        )
        search = replace(search, beat_duration=style.beat_duration, hold_before=options.hold)
    coarse, fine = SegmentChecker(rig, options.search_checks, 1.0), SegmentChecker(rig, options.search_checks, 0.0)
    leaving = SegmentChecker(rig, replace(options.search_checks, swing=0.0), 0.0)
    return TransitionPlanner(legged, coarse, fine, leaving, search)


def build_step_planner(planner: TransitionPlanner, options: DanceOptions) -> StepPlanner:
    """The rig's steps; even ones where motifs are mirrored.

    Raises:
        InvalidValue: a rig that cannot be mirrored.
    """
    mirrored = options.style is not None and options.style.mirrored
    return StepPlanner(planner, Mirror(planner.legged) if mirrored else None)


@dataclass(frozen=True, slots=True)
class PostureCandidates:
    """A foot configuration before its postures are chosen.

    Attributes:
        pool: feasible postures with an open way home.
        notes: what was missing.
        missing: of these, that fewer postures than requested are feasible.
    """

    pool: PosturePool
    notes: tuple[str, ...]
    missing: tuple[str, ...] = ()


def find_candidates(rig: Rig, options: DanceOptions, ground: StancePostures, seed: int) -> PostureCandidates:
    """Postures where a foot configuration is danced.

    Raises:
        InvalidValue: none is feasible, with what fails most often.
    """
    with one_blas_thread():
        own = build_transition_planner(rig, options)
        configuration = ground.footing.configuration
        number = options.postures[configuration]
        motifs = PoseVariations(own.legged, options.poses, ground.footing, ground.home) if options.poses else None
        draw = DrawOptions(max(options.pool, 4 * number), seed, motifs)
        pool = draw_posture_pool(
            own.legged, own.coarse_checker, ground.footing, ground.home, base_parameters(rig), draw
        )
        homes = np.tile(ground.home, (len(pool.y), 1))
        pool = pool.select(find_open_paths(own.legged, own.coarse_checker, ground.footing, homes, pool.y))
        few = len(pool.y) < number
        fewer = (f"{configuration}: {len(pool.y)} feasible postures found, {number} wanted",) * few
        unfound = [pose.name for n, pose in enumerate(options.poses) if not (pool.pose_indices == n).any()]
        notes = [
            f"{configuration}: no variation of {name!r} keeps all limits and has a way from home" for name in unfound
        ]
        return PostureCandidates(pool, (*fewer, *notes), fewer)


def try_find_candidates(
    rig: Rig, options: DanceOptions, ground: StancePostures, seed: int
) -> PostureCandidates | InvalidValue:
    """`find_candidates`, or why there are none."""
    try:
        return find_candidates(rig, options, ground, seed)
    except InvalidValue as error:
        return error


@dataclass(frozen=True, slots=True)
class SequenceTask:
    """A run of postures to be danced.

    Attributes:
        configuration: of the feet.
        home: (D,) where it may go by.
        start: (D,) where it begins.
        stop: (D,) where it ends, after the configuration's last run; None: at its last posture.
        postures: (P, D) to be reached in order.
        names: P, empty where nobody named the pose.
        first_number: of the first posture, in the configuration.
        history: Gram matrices of everything danced before in the excitation group; None: nothing.
        known_information: of the objective, by everything danced and recorded before.
        seed: of every transition's search.
    """

    configuration: str
    home: np.ndarray
    start: np.ndarray
    stop: np.ndarray | None
    postures: np.ndarray
    names: tuple[str, ...]
    first_number: int
    history: np.ndarray | None
    known_information: np.ndarray | None
    seed: int


def run_sequence(rig: Rig, options: DanceOptions, task: SequenceTask) -> PostureSequence:
    """Dance a run of postures."""
    with one_blas_thread():
        return _SequenceRun(rig, options, task).run()


class _SequenceRun:
    def __init__(self, rig: Rig, options: DanceOptions, task: SequenceTask) -> None:
        self.options, self.task, self.home, self.configuration = options, task, task.home, task.configuration
        self.planner: TransitionPlanner = build_transition_planner(rig, options)
        legged = self.planner.legged
        self.footing: Footing = legged.get_footing(task.configuration)
        structure = base_parameters(rig)
        self.criterion = build_criterion(legged, structure, link_weights(rig, options.emphasis), task.configuration)
        self.objective: Objective = self.criterion
        self.columns = excited_columns(legged, task.configuration)
        expected = sigma_objective(rig, options)
        if expected is not None:
            self.objective, self.columns = expected, free_columns(legged, task.configuration)
        before = self.criterion.prior_matrices if task.history is None else task.history
        self.known = (
            before
            if expected is None
            else expected.prior_matrices
            if task.known_information is None
            else task.known_information
        )
        self.history: History = before, self.known
        self.segments: list[DanceSegment] = []
        self.postures: list[int] = []
        self.names: list[str] = []
        self.trace: list[TraceEntry] = []
        self.notes: list[str] = []
        self.missing: list[str] = []
        self.history_before: list[History] = []  # history before each segment, should it be dropped
        self.count = 0

    def run(self) -> PostureSequence:
        """Dance it."""
        task = self.task
        here = task.start
        for number, (posture, called) in enumerate(zip(task.postures, task.names), start=task.first_number):
            name = f"{self.configuration} {called or f'posture {number + 1}'}"
            if self._move_to(here, posture, name):
                self._add_hold(name, posture)
                self.postures.append(len(self.segments) - 1)
                self.names.append(called)
                here = posture
        gone = task.stop is not None and self._move_to_stop(here, task.stop)
        stop = self.segments[-1].stop if self.segments else task.start
        return PostureSequence(
            tuple(self.segments), tuple(self.postures), tuple(self.names), tuple(self.trace), self.history[0],
            self.history[1] - self.known, stop, gone, tuple(self.notes),
            tuple(self.missing),
        )  # fmt: skip

    def _move_to(self, here: np.ndarray, there: np.ndarray, name: str) -> bool:
        """Straight there, or by way of home; a posture that can be neither reached nor left again is left out."""
        trouble = self._try_move_to(here, there, name)
        if trouble:
            self._omit(f"a posture is left out, no feasible way leads there: {trouble}")
        return not trouble

    def _try_move_to(self, here: np.ndarray, there: np.ndarray, name: str) -> str:
        """Dance there, straight or by way of home; or why neither is feasible."""
        if np.abs(here - there).max() < SAME_POSTURE:
            return ""
        trouble = "the straight path is closed even at rest"
        if self._is_path_open(here, there):
            direct, trouble = self._straight(name, here, there)
            if direct is not None:
                self._add_exciting([direct])
                return ""
        first, why = self._straight(f"{name}: back home", here, self.home)
        second = None
        if first is not None:
            second, why = self._straight(f"{name}: from home", self.home, there)
        if first is None or second is None:
            return f"{trouble}; by way of home: {why}"
        self.notes.append(f"by way of home, the direct way is not feasible: {trouble}")
        self._add_exciting([first, second])
        return ""

    def _move_to_stop(self, here: np.ndarray, stop: np.ndarray) -> bool:
        """To where the steps begin, leaving out the last postures should there be no way from them."""
        while True:
            trouble = self._try_move_to(here, stop, f"{self.configuration}: to the next step")
            if not trouble:
                return True
            if not self.postures:
                return False
            self._omit(f"a posture is left out, no feasible way leads on from it: {trouble}")
            self.postures.pop()
            self.names.pop()
            kept = self.postures[-1] + 1 if self.postures else 0
            here = self.segments[kept].start  # of the way to the dropped posture
            self.segments, self.trace = self.segments[:kept], [s for s in self.trace if s.segment < kept]
            self.history = self.history_before[kept]
            self.history_before = self.history_before[:kept]

    def _omit(self, why: str) -> None:
        self.notes.append(why)
        self.missing.append(why)

    def _is_path_open(self, here: np.ndarray, there: np.ndarray) -> bool:
        return bool(
            find_open_paths(self.planner.legged, self.planner.fine_checker, self.footing, here[None], there[None])[0]
        )

    def _straight(self, name: str, here: np.ndarray, there: np.ndarray) -> tuple[DanceSegment | None, str]:
        return self.planner.plan_straight(name, here, there, self.footing)

    def _add_exciting(self, paths: list[DanceSegment]) -> None:
        for path in paths:
            resting = self.segments[-1].kind == "hold" if self.segments else self.task.first_number > 0
            if self.options.style is not None and not resting:  # every move on counts has its hold before it
                self._add_hold("breath", path.start)
            outcome: TransitionResult = self.planner.plan_exciting(
                path, self.footing, self.objective, self.history[1], self.columns, self._next_seed()
            )
            self.history_before.append(self.history)
            criterion, straight, matrices = outcome.criterion, outcome.straight_criterion, outcome.matrices
            if self.objective is not self.criterion:  # the trace tells (12) whatever was searched for
                matrices = self.planner.added_information(outcome.segments[-1], self.criterion)
                criterion = float(self.criterion.value(self.history[0] + matrices))
                straight = float(
                    self.criterion.value(self.history[0] + self.planner.added_information(path, self.criterion))
                )
            self.history = self.history[0] + matrices, self.history[1] + outcome.matrices
            self.segments += outcome.segments
            self.notes += outcome.notes
            kind = outcome.segments[-1].kind
            place = len(self.segments) - 1
            self.trace.append(TraceEntry(place, self.configuration, criterion, straight, kind))
            self._repeat_transition(outcome.segments[-1], (matrices, outcome.matrices))

    def _repeat_transition(self, forth: DanceSegment, information: History) -> None:
        """Back and forth for as many passes as are asked for: what was danced tells as much each time.

        Nothing is judged again: back in time, accelerations and wrenches are the same at every place and the speeds'
        limits are even, so that every margin is.
        """
        back = forth.reverse(f"{forth.name}, back")
        for number in range(1, self.options.passes):
            path = back if number % 2 else forth
            if self.options.style is not None:
                self._add_hold("breath", path.start)
            self.history_before.append(self.history)
            self.history = self.history[0] + information[0], self.history[1] + information[1]
            self.segments.append(path)

    def _add_hold(self, name: str, posture: np.ndarray) -> None:
        footing = self.footing
        self.history_before.append(self.history)
        self.segments.append(hold_posture(name, posture, self.options.hold, footing.solved, footing.anchors))

    def _next_seed(self) -> int:
        self.count += 1
        return int(np.random.SeedSequence([self.task.seed, self.count]).generate_state(1)[0])
