"""Sequences of postures joined by exciting transitions, bonnet2016 Fig. 3; one sequence is the work of one process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...errors import Cancelled
from ...identification.base_parameters import BaseParameters, base_parameters
from ...identification.excitation.excitation import link_weights
from ...identification.excitation.gram_matrices import GramMatrices
from ...options.dances import DanceOptions
from ...parallel import parallel_map
from ...progress import Progress
from ...rig import Rig
from ...termination import interruptible
from ...threads import one_blas_thread
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import DanceSegment, hold_posture
from ...trajectory.transition_problem import Objective
from .dance import SAME_POSTURE, TraceEntry
from .objective import sigma_objective
from .plan import DesignTask, StancePlan, build_transition_planner, derive_seed
from .posture_choice import PostureChoice
from .reachability import find_open_paths
from .transitions import TransitionPlanner, TransitionResult

History = tuple[np.ndarray, np.ndarray]
EXCITATION_GROUPS = (("both", "right_forward"), ("left", "right"))
"""Foot configurations whose transitions share a history."""


@dataclass(frozen=True, slots=True)
class PostureSequence:
    """The result of a `SequenceTask`.

    Attributes:
        segments: transitions and holds, in order.
        postures: index of the hold of every posture that was reached.
        names: of these postures, as in the task.
        trace: of the transitions.
        history: Gram matrices (n, k, k) of the criterion after it.
        added_information: (n, k, k) information that it added for the objective.
        stop: (D,) where it ends.
        reached_stop: whether it ends at the task's stop.
        notes: detours, and postures that are left out, with reasons.
        missing: of these notes, those on postures that are left out.
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


@dataclass(frozen=True, slots=True)
class SequenceTask:
    """A sequence of postures to join.

    Attributes:
        configuration: of the feet.
        home: (D,) neutral posture, for detours.
        start: (D,) where it starts.
        stop: (D,) where it ends after the last posture of the foot configuration; None: at its last posture.
        postures: (P, D) to reach in order.
        names: P names of their poses; empty without a name.
        first_number: index of the first posture within the foot configuration.
        history: Gram matrices of all earlier motion of the excitation group; None: no motion.
        known_information: of the objective, from all earlier motion and recordings.
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
    """Join a sequence of postures."""
    with one_blas_thread():
        return _SequenceRun(rig, options, task).run()


class _SequenceRun:
    def __init__(self, rig: Rig, options: DanceOptions, task: SequenceTask) -> None:
        self.options, self.task, self.home, self.configuration = options, task, task.home, task.configuration
        self.planner: TransitionPlanner = build_transition_planner(rig, options)
        legged = self.planner.legged
        self.footing: Footing = legged.get_footing(task.configuration)
        structure = base_parameters(rig)
        self.criterion = build_criterion(legged, structure, link_weights(rig, options.emphasise), task.configuration)
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
        self.history_before: list[History] = []  # history before each segment, in case it is removed
        self.count = 0

    def run(self) -> PostureSequence:
        """Join all postures in order."""
        task = self.task
        here = task.start
        for number, (posture, called) in enumerate(zip(task.postures, task.names), start=task.first_number):
            name = f"{self.configuration} {called or f'posture {number + 1}'}"
            if self._move_to(here, posture, name):
                self._add_hold(name, posture)
                self.postures.append(len(self.segments) - 1)
                self.names.append(called)
                here = posture
        reached_stop = task.stop is not None and self._move_to_stop(here, task.stop)
        stop = self.segments[-1].stop if self.segments else task.start
        return PostureSequence(
            tuple(self.segments), tuple(self.postures), tuple(self.names), tuple(self.trace), self.history[0],
            self.history[1] - self.known, stop, reached_stop, tuple(self.notes),
            tuple(self.missing),
        )  # fmt: skip

    def _move_to(self, here: np.ndarray, there: np.ndarray, name: str) -> bool:
        """Whether a posture was reached, directly or by way of home; otherwise it is left out."""
        trouble = self._try_move_to(here, there, name)
        if trouble:
            self._omit(f"a posture is left out, because no feasible path leads to it: {trouble}")
        return not trouble

    def _try_move_to(self, here: np.ndarray, there: np.ndarray, name: str) -> str:
        """Move to a posture, directly or by way of home; returns why neither is feasible, or an empty text."""
        if np.abs(here - there).max() < SAME_POSTURE:
            return ""
        trouble = "the straight path is not feasible even at rest"
        planner = self.planner
        if find_open_paths(planner.legged, planner.fine_checker, self.footing, here[None], there[None])[0]:
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
        self.notes.append(f"by way of home, because the direct path is not feasible: {trouble}")
        self._add_exciting([first, second])
        return ""

    def _move_to_stop(self, here: np.ndarray, stop: np.ndarray) -> bool:
        """Move to the stop; the last postures are left out if no path leads on from them."""
        while True:
            trouble = self._try_move_to(here, stop, f"{self.configuration}: to the next step")
            if not trouble:
                return True
            if not self.postures:
                return False
            self._omit(f"a posture is left out, because no feasible path leads on from it: {trouble}")
            self.postures.pop()
            self.names.pop()
            kept = self.postures[-1] + 1 if self.postures else 0
            here = self.segments[kept].start  # of the path to the removed posture
            self.segments, self.trace = self.segments[:kept], [s for s in self.trace if s.segment < kept]
            self.history = self.history_before[kept]
            self.history_before = self.history_before[:kept]

    def _omit(self, why: str) -> None:
        self.notes.append(why)
        self.missing.append(why)

    def _straight(self, name: str, here: np.ndarray, there: np.ndarray) -> tuple[DanceSegment | None, str]:
        return self.planner.plan_straight(name, here, there, self.footing)

    def _add_exciting(self, paths: list[DanceSegment]) -> None:
        for path in paths:
            resting = self.segments[-1].kind == "hold" if self.segments else self.task.first_number > 0
            if self.options.style is not None and not resting:  # with beats, a hold precedes every transition
                self._add_hold("breath", path.start)
            outcome: TransitionResult = self.planner.plan_exciting(
                path, self.footing, self.objective, self.history[1], self.columns, self._next_seed()
            )
            self.history_before.append(self.history)
            criterion, straight, matrices = outcome.criterion, outcome.straight_criterion, outcome.matrices
            if self.objective is not self.criterion:  # the trace records (12) with either objective
                matrices = self.planner.added_information(outcome.segments[-1], self.criterion)
                criterion = float(self.criterion.value(self.history[0] + matrices))
                straight = float(
                    self.criterion.value(self.history[0] + self.planner.added_information(path, self.criterion))
                )
            self.history = self.history[0] + matrices, self.history[1] + outcome.matrices
            self.segments += outcome.segments
            self.notes += outcome.notes
            kind = outcome.segments[-1].kind
            self.trace.append(TraceEntry(len(self.segments) - 1, self.configuration, criterion, straight, kind))
            self._repeat_transition(outcome.segments[-1], (matrices, outcome.matrices))

    def _repeat_transition(self, forth: DanceSegment, information: History) -> None:
        """Repeat a transition backwards and forwards for the requested passes; each pass adds the same information.

        No further check is needed: reversed in time, accelerations and wrenches are the same at every posture, and the
        speed limits are symmetric, so every margin is the same.
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


@dataclass(frozen=True, slots=True)
class PostureSequences:
    """All sequences of a dance.

    Attributes:
        by_configuration: sequences of each foot configuration, in order.
        notes: what to know, a sentence each.
        missing: of these notes, what is requested and not danced.
        cancelled: the search was cancelled; the sequences are those that were finished.
    """

    by_configuration: Mapping[str, tuple[PostureSequence, ...]]
    notes: tuple[str, ...]
    missing: tuple[str, ...]
    cancelled: bool = False


def optimise_transitions(
    task: DesignTask, plan: StancePlan, choice: PostureChoice, progress: Progress
) -> PostureSequences:
    """Join the postures of each foot configuration by exciting transitions, bonnet2016 (18) and (20).

    Two excitation groups are independent and run in parallel: on two feet trunk and arms are excited, on one foot the
    free leg, and the paper's criterion of each group counts its own links only (Table I). Within a group every
    transition accounts for all earlier ones. The objective ``"sigma"`` adds the information of both groups after each
    round of parts.

    Raises:
        Cancelled: before any sequence was finished.
    """
    options, planner = task.options, plan.step_planner
    groups = [[name for name in group if name in plan.stances] for group in EXCITATION_GROUPS]
    queues = [[(name, part) for name in group for part in _split(len(choice.postures[name]))] for group in groups]
    done: dict[str, list[PostureSequence]] = {name: [] for name in plan.stances}
    history: list[np.ndarray | None] = [None, None]
    notes: list[str] = []
    missing: list[str] = []
    known, finished, total = task.known, 0, sum(len(queue) for queue in queues)
    cancelled = False
    for turn in range(max(len(queue) for queue in queues)):
        tasks, owners = [], []
        for group, queue in enumerate(queues):
            if turn >= len(queue):
                continue
            name, (first, last) = queue[turn]
            earlier, (entry, exit_) = done[name], plan.ends[name]
            start = earlier[-1].stop if earlier else planner.standing_posture(entry)
            stop = planner.standing_posture(exit_) if last == len(choice.postures[name]) else None
            part = SequenceTask(
                name, plan.stances[name].home, start, stop, choice.postures[name][first:last],
                choice.names[name][first:last], first, history[group], known,
                derive_seed(options.seed, 100 + 10 * group + turn),
            )  # fmt: skip
            tasks.append((task.rig, options.for_configuration(name), part))
            owners.append((group, name))
        try:
            with interruptible():
                workers = min(options.workers, len(EXCITATION_GROUPS))
                for (group, name), sequence in zip(owners, parallel_map(run_sequence, tasks, workers)):
                    done[name].append(sequence)
                    history[group] = sequence.history
                    if known is not None:
                        known = known + sequence.added_information
                    notes += sequence.notes
                    missing += sequence.missing
            finished += len(tasks)
            progress(0.1 + 0.88 * finished / total, f"transitions: {finished} of {total} parts")
        except (Cancelled, KeyboardInterrupt):
            if not any(done.values()):
                raise
            cancelled = True
            notes.append("cancelled: the dance holds what was done until then")
            missing.append(notes[-1])
            break
    by_configuration = {name: tuple(sequences) for name, sequences in done.items()}
    return PostureSequences(by_configuration, tuple(notes), tuple(missing), cancelled)


def _split(count: int, size: int = 4) -> list[tuple[int, int]]:
    """First and last index of runs of postures: short, so that progress is frequent and cancelling is quick."""
    return [(first, min(first + size, count)) for first in range(0, count, size)]


def excited_links(legged: LeggedRig, configuration: str) -> tuple[str, ...]:
    """Links whose inertias a foot configuration excites, Table I: all except the legs, or the free leg."""
    rig = legged.rig
    chains: dict[str, set[str]] = {}
    for leg in legged.legs:
        chains[leg.side] = {rig.links[link] for link in rig.path(rig.index(leg.link))}
    if configuration in chains:
        free = next(side for side in chains if side != configuration)
        return tuple(link for link in rig.links if link in chains[free])
    return tuple(link for link in rig.links if not any(link in chain for chain in chains.values()))


def excited_columns(legged: LeggedRig, configuration: str) -> np.ndarray:
    """Columns of the flat coordinates y that excite: Table I, and on two feet also the root's height and rotation."""
    if configuration in legged.leg_columns:
        return legged.swing_leg_columns[next(side for side in legged.leg_columns if side != configuration)]
    return np.concatenate([_root_columns(legged), legged.trunk])


def free_columns(legged: LeggedRig, configuration: str) -> np.ndarray:
    """Columns of y that may excite without Table I: the root's height and rotation, and all except loaded legs."""
    loaded = (configuration,) if configuration in legged.leg_columns else tuple(legged.leg_columns)
    legs = [columns for side, columns in legged.swing_leg_columns.items() if side not in loaded]
    return np.concatenate([_root_columns(legged), legged.trunk, *legs])


def _root_columns(legged: LeggedRig) -> np.ndarray:
    """Columns of the root's height and rotation that may move."""
    return 2 + np.flatnonzero(legged.root_free[2:])


def build_criterion(
    legged: LeggedRig, structure: BaseParameters, weights: np.ndarray, configuration: str
) -> GramMatrices:
    """The criterion of a foot configuration, over Gram matrices of all links that its excitation group excites."""
    group = next(s for s in EXCITATION_GROUPS if configuration in s)
    links = [link for name in group for link in excited_links(legged, name)]
    counted = np.isin(legged.rig.links, excited_links(legged, configuration))
    return GramMatrices(structure, weights * counted, "dynamic", dict.fromkeys(links))
