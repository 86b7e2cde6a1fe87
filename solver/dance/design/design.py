"""The whole dance: postures chosen, ordered, joined by exciting motions and verified, bonnet2016 Fig. 3.

Two groups of foot configurations are independent and run in parallel: on two feet trunk and arms are excited, on one
foot the free leg, and each group's criterion looks at its own links only (Table I). Within a group every transition
knows all before it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...errors import Cancelled, InvalidValue
from ...feasibility.messages import describe_contradictions, describe_unreachable, suggest_allowed_pairs
from ...identification.base_parameters import base_parameters
from ...identification.excitation.excitation import link_weights
from ...motion import Motion
from ...parallel import background_map, parallel_map
from ...progress import Progress, silent
from ...rig import CONTRADICTING, Rig
from ...scene.labels import display_name, join_names
from ...termination import interruptible
from ...threads import one_blas_thread
from ...trajectory.segment import DanceSegment, hold_posture
from .blocks import CONFIGURATION_ORDER, Block, apply_style, order_blocks
from .body_parts import require_danceable
from .dance import Dance, TraceEntry
from .excitation_groups import EXCITATION_GROUPS
from .footsteps import StancePostures
from .mirror import Mirror
from .options import DanceOptions, human_options, paper_options, sigma_objective
from .postures import PosturePool, choose_postures
from .reachability import FINE_INSTANTS, find_open_paths, travel_times
from .route import shortest_route
from .sequence import (
    PostureCandidates,
    PostureSequence,
    SequenceTask,
    build_step_planner,
    build_transition_planner,
    run_sequence,
    try_find_candidates,
)
from .sequential_design import recorded_information
from .style import DURATION_FACTORS, align_to_beats

MAX_CHOICES = 3
"""Times that postures are chosen at most, without those that have no way from home by a closer look."""

__all__ = ["DanceOptions", "build_transition_planner", "design", "human_options", "paper_options"]


def design(
    rig: Rig, options: DanceOptions | None = None, progress: Progress = silent, recorded: Sequence[Motion] = ()
) -> Dance:
    """An exciting dance for a rig, every segment verified at 500 Hz.

    Given recordings made already, the dance that adds most to what they tell.

    When ``progress`` raises `Cancelled`, or Ctrl-C comes while transitions are sought, what is done is returned as a
    partial dance, marked so.

    Raises:
        InvalidValue: a rig without feet or torque limits, or that no posture or step is feasible for, with the reason;
            recordings of another rig, or for the paper's criterion, which does not add up what others found.
        Cancelled: before anything could be danced.
    """
    require_danceable(rig)
    with one_blas_thread():
        work = _Design(rig, DanceOptions() if options is None else options, progress, recorded)
        try:
            return work.run()
        except InvalidValue as error:
            raise InvalidValue(
                f"{error}{suggest_allowed_pairs(rig, [str(error)])}{describe_contradictions(rig)}"
            ) from error


class _Design:
    def __init__(self, rig: Rig, options: DanceOptions, progress: Progress, recorded: Sequence[Motion]) -> None:
        self.rig, self.progress = rig, progress
        asked, options = options, apply_style(options)
        self.options = options
        self.planner = build_transition_planner(rig, options)
        self.structure = base_parameters(rig)
        self.weights = link_weights(rig, options.emphasis)
        ring = CONFIGURATION_ORDER if options.style is None else tuple(DURATION_FACTORS)
        self.configurations = [name for name in ring if options.postures.get(name, 0)]
        self.blocks = order_blocks(self.configurations, options.style)
        self.wanted = sum(options.postures[block.motif_configuration] for block in self.blocks)
        expected = sigma_objective(rig, options)
        if expected is None and recorded:
            raise InvalidValue("recordings made before count for the objective 'sigma', not for the paper's criterion")
        self.known = None
        if expected is not None:
            self.known = expected.prior_matrices + recorded_information(rig, expected, recorded)
        self.missing: list[str] = []
        self.notes: list[str] = [
            *self.planner.fine_checker.notes,
            *(note for note in rig.notes if CONTRADICTING in note),
        ]
        raised = sum(asked.postures.get(name, 0) for name in ("left", "right"))
        if raised and options.style is not None and not options.style.skill_limits.allows_one_leg:
            who = f"{options.style.skill}s do not stand on one foot"
            self.notes.append(f"postures on one foot that are left out, because {who}: {raised}")
        self.began = time.perf_counter()

    def run(self) -> Dance:
        self.progress(0.0, "feet and postures")
        self.footwork = build_step_planner(self.planner, self.options)
        stood_on = self._grounds()
        asked = [(self.rig, self.options, ground, self._seed(k)) for k, ground in enumerate(stood_on.values())]
        with background_map(try_find_candidates, asked, max(1, min(self.options.workers, len(asked)))) as drawn:
            self._leave_out(self._unreachable())
            self.stations = self._route()
            found = {name: own for name, own in zip(stood_on, drawn) if name in self.configurations}
        if refused := {name: own for name, own in found.items() if isinstance(own, InvalidValue)}:
            self._leave_out(refused)
            self.stations = self._route()
        grounds = {name: self.footwork.stance_postures(name) for name in self.configurations}
        candidates = [own for own in found.values() if isinstance(own, PostureCandidates)]
        for own in candidates:
            self.notes += own.notes
            self.missing += own.missing
        if not any(len(own.pool.y) for own in candidates):
            raise InvalidValue(describe_unreachable(self.rig.name, self.configurations, self.notes))
        self.progress(0.08, "postures")
        self.report = {"postures [s]": time.perf_counter() - self.began}
        chosen, self.names, criterion = self._postures([own.pool for own in candidates], grounds)
        sequences = self._sequences(grounds, chosen)
        return self._dance(grounds, sequences, criterion)

    def _grounds(self) -> dict[str, StancePostures]:
        """Where each foot configuration is danced that the rig can stand in."""
        grounds = {}
        for name in self.configurations:
            with suppress(InvalidValue):  # told where it is left out
                grounds[name] = self.footwork.stance_postures(name)
        return grounds

    def _unreachable(self) -> dict[str, InvalidValue]:
        """Foot configurations that the rig cannot step to and back from, with what stands in the way."""
        troubles = {}
        for name in dict.fromkeys(
            block.configuration for block in self.blocks
        ):  # in the mirror too, where none are designed
            try:
                self._steps("both", name)
                self._steps(name, "both")
            except InvalidValue as error:
                troubles[name] = error
        return troubles

    def _leave_out(self, troubles: Mapping[str, InvalidValue]) -> None:
        """Drop foot configurations that are not danced.

        Raises:
            InvalidValue: none is left, with what stands in the way.
        """
        self.configurations = [name for name in self.configurations if name not in troubles]
        if not self.configurations:
            raise next(iter(troubles.values()))
        self.blocks = [b for b in self.blocks if not {b.configuration, b.motif_configuration} & troubles.keys()]
        alike: dict[str, list[str]] = {}
        for name, error in troubles.items():
            alike.setdefault(str(error), []).append(display_name(name))
        why = [
            f"{join_names(who)} {'is' if len(who) == 1 else 'are'} left out: {error}" for error, who in alike.items()
        ]
        self.notes += why
        self.missing += why

    def _route(self) -> dict[str, tuple[str, str]]:
        """Stations at which each configuration is entered and left: the weight is shifted away from its last posture.

        Raises:
            InvalidValue: the rig cannot step from one to another.
        """
        result: dict[str, tuple[str, str]] = {}
        here = "both"
        for block, after in zip(self.blocks, [*self.blocks[1:], Block("both")]):
            self._steps(here, block.configuration)
            way = self.footwork.find_path(block.configuration, after.configuration)
            closed = block.mirrored or self.options.style is not None  # a motif ends where its mirror image begins
            here = way[1] if block.configuration == "both" and len(way) > 1 and not closed else block.configuration
            result[block.configuration] = (block.configuration, here)
        self._steps(here, "both")
        return result

    def _postures(
        self, pools: list[PosturePool], grounds: Mapping[str, StancePostures]
    ) -> tuple[dict[str, np.ndarray], dict[str, tuple[str, ...]], float]:
        """Postures (P, D) of each configuration in the order of their route, their names, and the criterion."""
        for _ in range(MAX_CHOICES):
            numbers = [min(self.options.postures[name], len(pool.y)) for name, pool in zip(self.configurations, pools)]
            chosen, value = choose_postures(
                pools, numbers, self.structure, self.weights, self.options.seed, self.options.starts
            )
            closed = [self._closed(grounds[name], p, own) for name, p, own in zip(self.configurations, pools, chosen)]
            if not any(len(some) for some in closed):
                break
            pools = [pool.select(np.setdiff1d(np.arange(len(pool.y)), some)) for pool, some in zip(pools, closed)]
        result, names, poses = {}, {}, self.options.poses
        for name, pool, own in zip(self.configurations, pools, chosen):
            y = pool.y[own]
            ground = grounds[name]
            apart = travel_times(self.planner.legged, self.planner.coarse_checker, ground.footing, ground.home, y)
            route = np.array(shortest_route(apart), int) - 1
            result[name] = y[route]
            names[name] = tuple(poses[k].name if poses else "" for k in pool.pose_indices[own][route])
        return result, names, value

    def _closed(self, ground: StancePostures, pool: PosturePool, chosen: np.ndarray) -> np.ndarray:
        """Those of the chosen that have no way from home after all: thin limbs pass each other between a few instants.

        None where no other posture could take their place.
        """
        if len(pool.y) <= len(chosen):
            return chosen[:0]
        homes = np.tile(ground.home, (len(chosen), 1))
        judge = self.planner.fine_checker
        return chosen[
            ~find_open_paths(self.planner.legged, judge, ground.footing, homes, pool.y[chosen], FINE_INSTANTS)
        ]

    def _sequences(
        self, grounds: Mapping[str, StancePostures], chosen: Mapping[str, np.ndarray]
    ) -> dict[str, list[PostureSequence]]:
        groups = [[name for name in group if name in self.configurations] for group in EXCITATION_GROUPS]
        queues = [[(name, part) for name in group for part in _parts(len(chosen[name]))] for group in groups]
        done: dict[str, list[PostureSequence]] = {name: [] for name in self.configurations}
        history: list[np.ndarray | None] = [None, None]
        total = sum(len(queue) for queue in queues)
        finished = 0
        workers = min(self.options.workers, len(EXCITATION_GROUPS))
        for turn in range(max(len(queue) for queue in queues)):
            tasks, owners = [], []
            for group, queue in enumerate(queues):
                if turn >= len(queue):
                    continue
                name, (first, last) = queue[turn]
                earlier, (entry, leave) = done[name], self.stations[name]
                start = earlier[-1].stop if earlier else self.footwork.standing_posture(entry)
                stop = self.footwork.standing_posture(leave) if last == len(chosen[name]) else None
                seed = self._seed(100 + 10 * group + turn)
                task = SequenceTask(
                    name, grounds[name].home, start, stop, chosen[name][first:last], self.names[name][first:last],
                    first, history[group], self.known, seed,
                )  # fmt: skip
                tasks.append((self.rig, self.options.for_configuration(name), task))
                owners.append((group, name))
            try:
                with interruptible():
                    for (group, name), sequence in zip(owners, parallel_map(run_sequence, tasks, workers)):
                        done[name].append(sequence)
                        history[group] = sequence.history
                        self._learn(sequence.added_information)
                        self.notes += sequence.notes
                        self.missing += sequence.missing
                finished += len(tasks)
                self.progress(0.1 + 0.88 * finished / total, f"transitions: {finished} of {total} parts")
            except (Cancelled, KeyboardInterrupt):
                if not any(done.values()):
                    raise
                self.notes.append("cancelled: the dance holds what was done until then")
                self.missing.append(self.notes[-1])
                self.cancelled = True
                return done
        return done

    def _learn(self, gained: np.ndarray) -> None:
        """What one group found the other knows from its next turn on; the paper's criterion knows its group alone."""
        if self.known is not None:
            self.known = self.known + gained

    cancelled = False

    def _dance(
        self,
        grounds: Mapping[str, StancePostures],
        sequences: Mapping[str, Sequence[PostureSequence]],
        criterion: float,
    ) -> Dance:
        footwork = self.footwork
        segments: list[DanceSegment] = [
            hold_posture("home", footwork.home, self.options.hold, footwork.both.solved, footwork.both.anchors)
        ]
        postures: list[int] = []
        names: list[str] = []
        trace: list[TraceEntry] = []
        here = "both"
        for block in self.blocks:
            own = sequences[block.motif_configuration]
            if not own:
                continue
            entry, leave = self.stations[block.configuration]
            segments += self._steps(here, entry)
            here = leave
            if block.mirrored:
                offset = len(segments)
                for sequence in own:
                    postures += [len(segments) + index for index in sequence.postures]
                    names += [f"{name}, mirrored" if name else "" for name in sequence.names]
                    segments += [self._mirrored(segment, block.configuration) for segment in sequence.segments]
                self.notes.append(f"from segment {offset} on: the motif of {block.motif_configuration}, mirrored")
                continue
            for sequence in own:
                offset = len(segments)
                segments += sequence.segments
                postures += [offset + index for index in sequence.postures]
                names += sequence.names
                trace += [
                    TraceEntry(offset + s.segment, block.motif_configuration, s.criterion, s.straight_criterion, s.kind)
                    for s in sequence.trace
                ]
            if not own[-1].reached_stop:
                path, _ = self.planner.plan_straight(
                    "to the next step",
                    own[-1].stop,
                    footwork.standing_posture(leave),
                    grounds[block.motif_configuration].footing,
                )
                if path is None:
                    break
                segments.append(path)
        else:
            segments += self._steps(here, "both")
        if self.options.style is not None:
            segments, places = align_to_beats(segments, self.options.style)
            postures = [int(places[k]) for k in postures]
            trace = [replace(entry, segment=int(places[entry.segment])) for entry in trace]
        wanted = self.wanted
        self.report |= {"design [s]": time.perf_counter() - self.began, "left out": wanted - len(postures)}
        return Dance(
            self.rig, tuple(segments), self.options.checks, self.options.step, tuple(postures),
            tuple(trace), criterion, self.options.seed, len(postures) == wanted and not self.cancelled,
            tuple(dict.fromkeys([*self.notes, *self.footwork.notes])), self.report,
            tuple(names) if self.options.poses else (), tuple(dict.fromkeys(self.missing)),
        )  # fmt: skip

    def _mirrored(self, segment: DanceSegment, stands: str) -> DanceSegment:
        """A segment's mirror image, or the straight way between its ends where a body that is not even fails it.

        Raises:
            InvalidValue: neither is feasible, with what fails.
        """
        footing = self.planner.legged.get_footing(stands)
        image = Mirror(self.planner.legged).mirror_segment(segment, footing)
        checks, worst = self.planner.check_segment(image)
        if worst >= 0.0:
            return image
        plain = None
        if segment.kind != "hold":
            plain, _ = self.planner.plan_straight(image.name, image.start, image.stop, footing)
        if plain is None:
            failed = "; ".join(str(failure) for failure in checks.worst_failures if failure.failed)
            raise InvalidValue(
                f"the motif cannot be mirrored: {segment.name} in the mirror: {failed}; dance without mirrored motifs"
            )
        self.notes.append(f"{image.name}: the straight way, its mirror image is not feasible")
        return plain

    def _steps(self, first: str, last: str) -> list[DanceSegment]:
        """The steps from one station to another."""
        way = self.footwork.find_path(first, last)
        return [self.footwork.plan_step(a, b) for a, b in itertools.pairwise(way)]

    def _seed(self, place: int) -> int:
        return int(np.random.SeedSequence([self.options.seed, place]).generate_state(1)[0])


def _parts(count: int, size: int = 4) -> list[tuple[int, int]]:
    """Runs of postures handed to a worker at once: small, so that progress is seen and cancelling is quick."""
    return [(first, min(first + size, count)) for first in range(0, count, size)]
