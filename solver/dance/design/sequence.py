"""A run of postures joined by transitions: the unit of work that is handed to a worker process."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

import numpy as np

from ...identification.base_parameters import base_parameters
from ...identification.excitation.excitation import emphasised
from ...identification.excitation.expected_deviations import Information
from ...identification.excitation.gram_matrices import LinkGrams
from ...rig import Rig
from ...threads import one_blas_thread
from ...trajectory.legged_rig import Dancer, Footing
from ...trajectory.segment import Judge, Stretch, hold
from .dance import Step
from .footsteps import Ground, Stepper
from .options import DanceOptions
from .postures import Pool, draw_pool
from .reachability import open_ways
from .streams import excited_columns, free_columns, meter_of
from .transitions import Choreographer, Outcome, SearchOptions

History = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class Passage:
    """What a worker returns.

    Attributes:
        stretches: transitions and holds, in order.
        postures: index of the hold of every posture reached.
        trace: of the transitions.
        history: after it: Gram matrices (n, k, k) of the criterion, and what the objective keeps.
        stop: (D,) where it ends.
        at_home: it ends at home.
        notes: detours, and postures left out and why.
    """

    stretches: tuple[Stretch, ...]
    postures: tuple[int, ...]
    trace: tuple[Step, ...]
    history: History
    stop: np.ndarray
    at_home: bool
    notes: tuple[str, ...]


def choreographer(rig: Rig, options: DanceOptions) -> Choreographer:
    """Search and judges for a rig under the options."""
    dancer = Dancer(rig, shrink=options.shrink, step=options.step, speed=options.speed)
    search = SearchOptions(options.rounds, options.via, options.shortest)
    coarse, fine = Judge(rig, options.checks, 1.0), Judge(rig, options.checks, 0.0)
    return Choreographer(dancer, coarse, fine, search)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A foot configuration before its postures are chosen.

    Attributes:
        ground: where they start from and return to.
        pool: feasible postures with an open way home.
        notes: what was missing.
    """

    ground: Ground
    pool: Pool
    notes: tuple[str, ...]


def prepare(parent: int, rig: Rig, options: DanceOptions, configuration: str, seed: int) -> Prepared:
    """Ways to a foot configuration and postures there; ``parent`` as in `run_passage`."""
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with one_blas_thread():
        own = choreographer(rig, options)
        ground = Stepper(own).ground(configuration)
        number = options.postures[configuration]
        pool = draw_pool(
            own.dancer,
            own.coarse,
            ground.footing,
            ground.home,
            base_parameters(rig),
            max(options.pool, 4 * number),
            seed,
        )
        homes = np.tile(ground.home, (len(pool.y), 1))
        pool = pool.only(open_ways(own.dancer, own.coarse, ground.footing, homes, pool.y))
        few = len(pool.y) < number
        notes = (f"{configuration}: {len(pool.y)} feasible postures found, {number} wanted",) if few else ()
        return Prepared(ground, pool, notes)


def run_passage(
    parent: int, rig: Rig, options: DanceOptions, configuration: str, home: np.ndarray, start: np.ndarray,
    postures: np.ndarray, number: int, homewards: bool, history: History | None, seed: int,
) -> Passage:  # fmt: skip
    """Dance from ``start`` (D,) through postures (P, D), numbered from ``number``; home at the end if ``homewards``.

    ``parent`` is the process that asks: a worker leaves Ctrl-C, which a terminal sends to all, to it.
    """
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with one_blas_thread():
        return _Run(rig, options, configuration, home, history, seed).run(start, postures, number, homewards)


class _Run:
    def __init__(
        self,
        rig: Rig,
        options: DanceOptions,
        configuration: str,
        home: np.ndarray,
        history: History | None,
        seed: int,
    ) -> None:
        self.options, self.configuration, self.home, self.seed = options, configuration, home, seed
        self.parent: Choreographer = choreographer(rig, options)
        dancer = self.parent.dancer
        self.footing: Footing = dancer.footing(configuration)
        structure = base_parameters(rig)
        self.meter = meter_of(dancer, structure, emphasised(rig, options.emphasis), configuration)
        self.aim: LinkGrams | Information = self.meter
        self.columns = excited_columns(dancer, configuration)
        if options.objective == "sigma":
            factors = np.array([options.emphasis.get(link, 1.0) for link in rig.links])
            self.aim = Information(structure, rig.prior, factors)
            self.columns = free_columns(dancer, configuration)
        self.history: History = (self.meter.nothing, self.aim.nothing) if history is None else history
        self.stretches: list[Stretch] = []
        self.postures: list[int] = []
        self.trace: list[Step] = []
        self.notes: list[str] = []
        self.before: list[History] = []  # history before each stretch, should it be dropped
        self.count = 0

    def run(self, start: np.ndarray, postures: np.ndarray, first: int, homewards: bool) -> Passage:
        here = start
        for number, posture in enumerate(postures, start=first):
            name = f"{self.configuration} posture {number + 1}"
            if self._go(here, posture, name):
                self._hold(name, posture)
                self.postures.append(len(self.stretches) - 1)
                here = posture
        at_home = not homewards or self._home(here)
        stop = self.stretches[-1].stop if self.stretches else start
        return Passage(
            tuple(self.stretches), tuple(self.postures), tuple(self.trace), self.history, stop, homewards and at_home,
            tuple(self.notes),
        )  # fmt: skip

    def _go(self, here: np.ndarray, there: np.ndarray, name: str) -> bool:
        """Straight there, or by way of home; a posture that can be neither reached nor left again is left out."""
        trouble = "the straight way is closed even at rest"
        if self._open(here, there):
            direct, trouble = self._plain(name, here, there)
            if direct is not None:
                self._excite([direct])
                return True
        first, why = self._plain(f"{name}: back home", here, self.home)
        second = None
        if first is not None:
            second, why = self._plain(f"{name}: from home", self.home, there)
        if first is None or second is None:
            self.notes.append(f"left out, no feasible way there: {trouble}; by way of home: {why}")
            return False
        self.notes.append(f"by way of home, the direct way is not feasible: {trouble}")
        self._excite([first, second])
        return True

    def _home(self, here: np.ndarray) -> bool:
        """Home, leaving out the last postures should there be no way from them."""
        while True:
            way, trouble = self._plain(f"{self.configuration}: home", here, self.home)
            if way is not None:
                self._excite([way])
                return True
            if not self.postures:
                return False
            self.notes.append(f"left out, no way home from it: {trouble}")
            self.postures.pop()
            kept = self.postures[-1] + 1 if self.postures else 0
            here = self.stretches[kept].start  # of the way to the dropped posture
            self.stretches, self.trace = self.stretches[:kept], [s for s in self.trace if s.stretch < kept]
            self.history = self.before[kept]
            self.before = self.before[:kept]

    def _open(self, here: np.ndarray, there: np.ndarray) -> bool:
        return bool(open_ways(self.parent.dancer, self.parent.fine, self.footing, here[None], there[None])[0])

    def _plain(self, name: str, here: np.ndarray, there: np.ndarray) -> tuple[Stretch | None, str]:
        return self.parent.plain(name, here, there, self.footing)

    def _excite(self, ways: list[Stretch]) -> None:
        for way in ways:
            outcome: Outcome = self.parent.exciting(
                way, self.footing, self.aim, self.history[1], self.columns, self._next_seed()
            )
            self.before.append(self.history)
            criterion, plain, grams = outcome.criterion, outcome.plain, outcome.grams
            if self.aim is not self.meter:  # the trace tells (12) whatever was searched for
                grams = self.parent.added(outcome.stretches[-1], self.meter)
                criterion = float(self.meter.criterion(self.history[0] + grams))
                plain = float(self.meter.criterion(self.history[0] + self.parent.added(way, self.meter)))
            self.history = self.history[0] + grams, self.history[1] + outcome.grams
            self.stretches += outcome.stretches
            kind = outcome.stretches[-1].kind
            place = len(self.stretches) - 1
            self.trace.append(Step(place, self.configuration, criterion, plain, kind))

    def _hold(self, name: str, posture: np.ndarray) -> None:
        footing = self.footing
        self.before.append(self.history)
        self.stretches.append(hold(name, posture, self.options.hold, footing.solved, footing.anchors))

    def _next_seed(self) -> int:
        self.count += 1
        return int(np.random.SeedSequence([self.seed, self.count]).generate_state(1)[0])
