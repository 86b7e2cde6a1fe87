"""The whole dance: postures chosen, ordered, joined by exciting motions and verified, bonnet2016 Fig. 3.

Two streams are independent and run in parallel: on two feet trunk and arms are excited, on one foot the free leg, and
each stream's criterion looks at its own links only (Table I). Within a stream every transition knows all before it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

import numpy as np
from joblib import Parallel, delayed

from ...contacts.schedule import FOOT_CONFIGURATIONS
from ...errors import Cancelled
from ...identification.base_parameters import base_parameters
from ...identification.excitation.excitation import emphasised
from ...progress import Progress, silent
from ...rig import Rig
from ...threads import one_blas_thread
from ...trajectory.segment import Stretch, hold
from .body_parts import require_dancer
from .dance import Dance, Step
from .footsteps import Ground, Stepper
from .options import DanceOptions, human_options, paper_options
from .postures import Pool, choose
from .reachability import distances
from .sequence import Passage, choreographer, prepare, run_passage
from .streams import STREAMS

__all__ = ["DanceOptions", "choreographer", "design", "human_options", "paper_options", "route_of"]


def design(rig: Rig, options: DanceOptions | None = None, progress: Progress = silent) -> Dance:
    """An exciting dance for a rig, every stretch verified at 500 Hz.

    When ``progress`` raises `Cancelled`, or Ctrl-C comes while transitions are sought, what is done is returned as a
    partial dance, marked so.

    Raises:
        InvalidValue: a rig without feet or torque limits, or that no posture or step is feasible for, with the reason.
        Cancelled: before anything could be danced.
    """
    require_dancer(rig)
    with one_blas_thread():
        return _Design(rig, DanceOptions() if options is None else options, progress).run()


class _Design:
    def __init__(self, rig: Rig, options: DanceOptions, progress: Progress) -> None:
        self.rig, self.options, self.progress = rig, options, progress
        self.parent = choreographer(rig, options)
        self.structure = base_parameters(rig)
        self.weights = emphasised(rig, options.emphasis)
        self.groups = [name for name in FOOT_CONFIGURATIONS if options.postures.get(name, 0)]
        self.notes: list[str] = list(self.parent.fine.notes)
        self.began = time.perf_counter()

    def run(self) -> Dance:
        self.progress(0.0, "feet and postures")
        with Parallel(n_jobs=min(self.options.workers, len(self.groups))) as pool:
            prepared = pool(
                delayed(prepare)(os.getpid(), self.rig, self.options, name, self._seed(number))
                for number, name in enumerate(self.groups)
            )
        for found in prepared:
            self.notes += found.notes
        self.progress(0.08, "postures")
        self.report = {"postures [s]": time.perf_counter() - self.began}
        grounds = {name: found.ground for name, found in zip(self.groups, prepared)}
        chosen, criterion = self._postures([found.pool for found in prepared], grounds)
        passages = self._passages(grounds, chosen)
        return self._dance(grounds, passages, criterion)

    def _postures(self, pools: list[Pool], grounds: Mapping[str, Ground]) -> tuple[dict[str, np.ndarray], float]:
        numbers = [min(self.options.postures[name], len(pool.y)) for name, pool in zip(self.groups, pools)]
        chosen, value = choose(pools, numbers, self.structure, self.weights, self.options.seed, self.options.starts)
        result = {}
        for name, pool, own in zip(self.groups, pools, chosen):
            y = pool.y[own]
            ground = grounds[name]
            apart = distances(self.parent.dancer, self.parent.coarse, ground.footing, ground.home, y)
            result[name] = y[np.array(route_of(apart)) - 1]
        return result, value

    def _passages(self, grounds: Mapping[str, Ground], chosen: Mapping[str, np.ndarray]) -> dict[str, list[Passage]]:
        streams = [[name for name in stream if name in self.groups] for stream in STREAMS]
        queues = [[(name, part) for name in stream for part in _parts(len(chosen[name]))] for stream in streams]
        done: dict[str, list[Passage]] = {name: [] for name in self.groups}
        histories: list[tuple[np.ndarray, np.ndarray] | None] = [None, None]
        total = sum(len(queue) for queue in queues)
        finished = 0
        with Parallel(n_jobs=min(self.options.workers, len(STREAMS))) as pool:
            for turn in range(max(len(queue) for queue in queues)):
                tasks, owners = [], []
                for stream, queue in enumerate(queues):
                    if turn >= len(queue):
                        continue
                    name, (first, last) = queue[turn]
                    earlier = done[name]
                    start = earlier[-1].stop if earlier else grounds[name].home
                    tasks.append(
                        delayed(run_passage)(
                            os.getpid(), self.rig, self.options, name, grounds[name].home, start,
                            chosen[name][first:last], first, last == len(chosen[name]), histories[stream],
                            self._seed(100 + 10 * stream + turn),
                        )
                    )  # fmt: skip
                    owners.append((stream, name))
                try:
                    for (stream, name), passage in zip(owners, pool(tasks)):
                        done[name].append(passage)
                        histories[stream] = passage.history
                        self.notes += passage.notes
                    finished += len(tasks)
                    self.progress(0.1 + 0.88 * finished / total, f"transitions: {finished} of {total} parts")
                except (Cancelled, KeyboardInterrupt):
                    if not any(done.values()):
                        raise
                    self.notes.append("cancelled: the dance holds what was done until then")
                    self.cancelled = True
                    return done
        return done

    cancelled = False

    def _dance(
        self,
        grounds: Mapping[str, Ground],
        passages: Mapping[str, Sequence[Passage]],
        criterion: float,
    ) -> Dance:
        stepper = Stepper(self.parent)
        stretches: list[Stretch] = [
            hold("home", stepper.home, self.options.hold, stepper.both.solved, stepper.both.anchors)
        ]
        postures: list[int] = []
        trace: list[Step] = []
        for name in self.groups:
            own = passages[name]
            if not own:
                continue
            stretches += grounds[name].arrival
            for passage in own:
                offset = len(stretches)
                stretches += passage.stretches
                postures += [offset + index for index in passage.postures]
                trace += [Step(offset + s.stretch, name, s.criterion, s.plain, s.kind) for s in passage.trace]
            if not own[-1].at_home:
                way, _ = self.parent.plain("home", own[-1].stop, grounds[name].home, grounds[name].footing)
                if way is None:
                    break
                stretches.append(way)
            stretches += grounds[name].departure
        wanted = sum(self.options.postures[name] for name in self.groups)
        self.report |= {"design [s]": time.perf_counter() - self.began, "left out": wanted - len(postures)}
        return Dance(
            dict(self.rig.parameters), tuple(stretches), self.options.shrink, self.options.step, tuple(postures),
            tuple(trace), criterion, self.options.seed, len(postures) == wanted and not self.cancelled,
            tuple(dict.fromkeys(self.notes)), self.report,
        )  # fmt: skip

    def _seed(self, place: int) -> int:
        return int(np.random.SeedSequence([self.options.seed, place]).generate_state(1)[0])


def route_of(distance: np.ndarray) -> list[int]:
    """Order (P,) in which to visit entries 1 ... P from and back to entry 0: nearest neighbour, then 2-opt."""
    distance = np.pad(distance, (0, 1), mode="wrap")  # home once more, as the end
    count = len(distance) - 2
    left, route = set(range(1, count + 1)), [0]
    while left:
        nearest = min(left, key=lambda k: (distance[route[-1], k], k))
        route.append(nearest)
        left.remove(nearest)
    route.append(count + 1)
    improved = True
    while improved:
        improved = False
        for i in range(1, len(route) - 2):
            for j in range(i + 1, len(route) - 1):
                old = distance[route[i - 1], route[i]] + distance[route[j], route[j + 1]]
                new = distance[route[i - 1], route[j]] + distance[route[i], route[j + 1]]
                if new < old - 1e-9:
                    route[i : j + 1] = route[i : j + 1][::-1]
                    improved = True
    return route[1:-1]


def _parts(count: int, size: int = 4) -> list[tuple[int, int]]:
    """Runs of postures handed to a worker at once: small, so that progress is seen and cancelling is quick."""
    return [(first, min(first + size, count)) for first in range(0, count, size)]
