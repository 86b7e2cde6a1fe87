"""The whole dance: postures chosen, ordered, joined by exciting motions and verified, bonnet2016 Fig. 3.

Two streams are independent and run in parallel: on two feet trunk and arms are excited, on one foot the free leg, and
each stream's criterion looks at its own links only (Table I). Within a stream every transition knows all before it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed

from ..errors import Cancelled, InvalidValue
from ..identification.base_parameters import BaseParameters, base_parameters
from ..progress import Progress, silent
from ..rig import ROOT_NV, Rig
from ..threads import one_blas_thread
from .body_parts import require_dancer
from .checks.options import CheckOptions
from .dance import Dance, Step
from .dancer import Dancer
from .excitation import emphasised
from .grams import LinkGrams
from .passages import Passage, run_passage
from .postures import Pool, choose, draw_pool
from .schedule import FOOT_CONFIGURATIONS
from .steps import Ground, Stepper
from .stretch import Judge, Stretch, hold
from .transitions import Choreographer, SearchOptions
from .ways import distances, open_ways

STREAMS = (("both", "right_forward"), ("right", "left"))
"""Configurations whose transitions share a history."""
OBJECTIVES = ("criterion", "sigma")
HISTORY_HOLD = 50.0
"""Samples each held posture contributes to the static criterion: one second at 50 Hz."""


@dataclass(frozen=True, slots=True)
class DanceOptions:
    """Choices of a dance; the defaults are those of bonnet2016 for HOAP-3.

    Attributes:
        postures: number per foot configuration; a configuration left out or at zero is not danced.
        shortest: T_F [s], least duration of a transition (paper: 5 HOAP-3, 2 human).
        hold: [s] each posture is held.
        shrink: of the support polygon.
        friction: mu.
        step: [m] by which the right foot is put forward (paper: 0.1 HOAP-3, 0.2 human); None: 0.8 sole lengths.
        speed: [rad/s] no joint exceeds, besides its own limit (paper: 1 HOAP-3, 4 human).
        emphasis: factor on a link's weight in (12).
        pairs: which links must not touch, as in `CheckOptions`.
        clearance: [m] to keep between links.
        objective: of the transitions: ``"criterion"`` (12) over the links of Table I, or ``"sigma"``, the mean standard
            deviation to expect of all base parameters, with every free joint.
        pool: feasible postures drawn per configuration.
        starts: of the multi-start choice among them.
        search: effort per transition: candidates per round.
        rounds: of the search.
        seed: the same seed gives the same dance, whatever the number of workers.
        workers: processes.
    """

    postures: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(FOOT_CONFIGURATIONS, 15))
    shortest: float = 5.0
    hold: float = 1.0
    shrink: float = 0.4
    friction: float = 0.5
    step: float | None = 0.1
    speed: float = np.inf
    emphasis: Mapping[str, float] = field(default_factory=dict)
    pairs: str | tuple[tuple[str, str], ...] = "all"
    clearance: float = 0.0
    objective: str = "criterion"
    pool: int = 200
    starts: int = 4
    search: int = 96
    rounds: int = 4
    seed: int = 0
    workers: int = 2

    def __post_init__(self) -> None:
        unknown = [name for name in self.postures if name not in FOOT_CONFIGURATIONS]
        if unknown:
            raise InvalidValue(f"no foot configuration {unknown[0]!r}; there are {', '.join(FOOT_CONFIGURATIONS)}")
        if not any(self.postures.values()) or min(self.postures.values()) < 0:
            raise InvalidValue("a dance needs at least one posture, and no negative number of them")
        if self.objective not in OBJECTIVES:
            raise InvalidValue(f"no objective {self.objective!r}; there are {', '.join(OBJECTIVES)}")
        for name in ("shortest", "hold", "workers", "pool", "starts", "rounds", "search"):
            if not getattr(self, name) > 0:
                raise InvalidValue(f"dance option {name!r} must be positive, got {getattr(self, name)!r}")

    @property
    def checks(self) -> CheckOptions:
        """What the dance is checked against."""
        return CheckOptions(
            shrink=self.shrink,
            friction=self.friction,
            pairs=self.pairs,
            clearance=self.clearance,
            reach=self.clearance + 0.03,
        )


def human_options(**changes: object) -> DanceOptions:
    """The paper's choices for a person: 2 s, 4 rad/s, right foot 0.2 m forward."""
    values: dict[str, object] = {"shortest": 2.0, "speed": 4.0, "step": 0.2, **changes}
    return DanceOptions(**values)  # type: ignore[arg-type]


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


def choreographer(rig: Rig, options: DanceOptions) -> Choreographer:
    """Search and judges for a rig under the options."""
    dancer = Dancer(rig, shrink=options.shrink, step=options.step, speed=options.speed)
    search = SearchOptions(options.search, options.rounds, shortest=options.shortest)
    coarse, fine = Judge(rig, options.checks, 1.0), Judge(rig, options.checks, 0.0)
    return Choreographer(dancer, coarse, fine, search)


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
        self.progress(0.0, "steps between the foot configurations")
        stepper = Stepper(self.parent)
        grounds = {name: stepper.ground(name) for name in self.groups}
        chosen, criterion = self._postures(grounds)
        self.report = {"postures [s]": time.perf_counter() - self.began}
        passages = self._passages(grounds, chosen)
        return self._dance(grounds, passages, criterion, stepper)

    def _postures(self, grounds: Mapping[str, Ground]) -> tuple[dict[str, np.ndarray], float]:
        pools: dict[str, Pool] = {}
        for number, name in enumerate(self.groups):
            self.progress(0.02 + 0.02 * number, f"postures: {name}")
            wanted = max(self.options.pool, 4 * self.options.postures[name])
            ground = grounds[name]
            pool = draw_pool(
                self.parent.dancer, self.parent.coarse, ground.footing, ground.home, self.structure, wanted,
                self._seed(number),
            )  # fmt: skip
            homes = np.tile(ground.home, (len(pool.y), 1))
            pool = pool.only(open_ways(self.parent.dancer, self.parent.coarse, ground.footing, homes, pool.y))
            if len(pool.y) < self.options.postures[name]:
                self.notes.append(
                    f"{name}: {len(pool.y)} feasible postures found, {self.options.postures[name]} wanted"
                )
            pools[name] = pool
        numbers = [min(self.options.postures[name], len(pools[name].y)) for name in self.groups]
        ordered = [pools[name] for name in self.groups]
        chosen, value = choose(ordered, numbers, self.structure, self.weights, self.options.seed, self.options.starts)
        result = {}
        for name, own in zip(self.groups, chosen):
            y = pools[name].y[own]
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
        with Parallel(n_jobs=min(self.options.workers, 2)) as pool:
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
        stepper: Stepper,
    ) -> Dance:
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


def excited_links(dancer: Dancer, configuration: str) -> tuple[str, ...]:
    """Links whose inertias a configuration excites, Table I: all but the legs, or the free leg."""
    rig = dancer.rig
    chains: dict[str, set[str]] = {}
    for leg in dancer.legs:
        joint, chain = rig.joint(leg.link), set()
        while joint > 1:
            chain.add(rig.links[joint - 1])
            joint = int(rig.model.parents[joint])
        chains[leg.side] = chain
    if configuration in chains:
        free = next(side for side in chains if side != configuration)
        return tuple(link for link in rig.links if link in chains[free])
    return tuple(link for link in rig.links if not any(link in chain for chain in chains.values()))


def excited_columns(dancer: Dancer, configuration: str) -> np.ndarray:
    """Columns of y that excite, Table I, and on two feet also the root's height and rotation."""
    if configuration in dancer.leg_columns:
        return dancer.leg_columns[next(side for side in dancer.leg_columns if side != configuration)]
    return np.concatenate([np.arange(2, ROOT_NV), dancer.trunk])


def free_columns(dancer: Dancer, configuration: str) -> np.ndarray:
    """Columns of y that may excite when all are asked: the root's height and rotation, and all but loaded legs."""
    loaded = (configuration,) if configuration in dancer.leg_columns else tuple(dancer.leg_columns)
    legs = [columns for side, columns in dancer.leg_columns.items() if side not in loaded]
    return np.concatenate([np.arange(2, ROOT_NV), dancer.trunk, *legs])


def meter_of(dancer: Dancer, structure: BaseParameters, weights: np.ndarray, configuration: str) -> LinkGrams:
    """Criterion of a configuration, over Gram matrices of all links that its stream excites."""
    stream = next(s for s in STREAMS if configuration in s)
    links = [link for name in stream for link in excited_links(dancer, name)]
    counted = np.isin(dancer.rig.links, excited_links(dancer, configuration))
    return LinkGrams(structure, weights * counted, "dynamic", dict.fromkeys(links))


def _parts(count: int, size: int = 4) -> list[tuple[int, int]]:
    """Runs of postures handed to a worker at once: small, so that progress is seen and cancelling is quick."""
    return [(first, min(first + size, count)) for first in range(0, count, size)]
