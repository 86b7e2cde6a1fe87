"""Motions of an arm on a bench that excite its inertials, inside its limits: bonnet2016's search with a fixed base.

All joints move at once, as one spline from the home posture back to it, at rest at both ends. Ranges and speeds hold at
every instant, being linear in the control values; torques, collisions and the bench's surface hold to first order in
each linear programme and are judged, denser, before a step is taken, and once more, denser still, at the end.

The condition number has edges where singular values meet, at which descent ends early: smooth bounds of it, each nearer
to it than the one before, are lowered first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..check_options import CheckOptions
from ..errors import InvalidValue, SolverError, UnknownPreset
from ..motion import Motion
from ..progress import Progress, silent
from ..trajectory.splines import Spline
from ..trajectory.trust_region import Trust, descend
from .bench import Bench
from .criterion import CONDITION, CRITERIA, criterion
from .margins import Margins
from .search import SEARCH_RATE, Search

TRUST = Trust(0.2, 0.002, refused=0.4, shortened=0.8, whole=1.3)
"""Largest step as a share of a coordinate's range."""
VERIFY_RATE = 200.0
"""[1/s] Samples of the last check."""
PER_SECOND = 3.0
"""Free control values of each joint a second. With two cond(W) came out a third higher for a UR5 and a Panda."""
POWERS = (2.0, 6.0, 20.0, np.inf)
"""Of the smooth bounds of the condition number that are lowered one after the other (`criterion`)."""
STARTS = 3
"""Random motions from which a search begins; the best of them is searched from."""
REACH = 0.12
"""[m] Distances beyond the clearance that the linear programmes know of."""
SHRINKS = 12
"""Times that a random motion is halved towards home before it is given up."""


@dataclass(frozen=True, slots=True)
class ExcitingOptions:
    """Choices of the search.

    Attributes:
        seconds: length of the motion [s].
        criterion: ``"condition"`` of the regressor, as the literature prints it, or ``"deviations"``, the geometric
            mean of the parameters' standard deviations.
        speed, torque: share of the limits that may be used; the controller needs the rest.
        clearance: [m] that links keep from one another and from the bench's surface.
        pairs: which links keep it from one another, as in `CheckOptions`.
        surface: [m] height of the surface below the root's origin, world; None: the lowest point of what
            does not move, or no surface where that has no shapes or the root is not mounted upright.
        rounds: linear programmes at most, of all stages.
        seed: of the random motions.
    """

    seconds: float = 10.0
    criterion: str = CONDITION
    speed: float = 0.9
    torque: float = 0.8
    clearance: float = 0.02
    pairs: str | tuple[tuple[str, str], ...] = "all"
    surface: float | None = None
    rounds: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise UnknownPreset(self.criterion, CRITERIA)
        for name in ("speed", "torque"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise InvalidValue(f"the share of {name} to use lies in (0, 1], not {getattr(self, name):g}")
        if not self.seconds >= 1.0:
            raise InvalidValue(f"an exciting motion takes at least a second, not {self.seconds:g}")
        if self.clearance < 0.0 or self.rounds < 1 or self.seed < 0:
            raise InvalidValue("clearance and seed are not negative, and at least one round is needed")


@dataclass(frozen=True, slots=True)
class ExcitingMotion:
    """An exciting motion and what it is worth.

    Attributes:
        bench: that moves.
        options: it was searched with.
        control: (C, n) control values of the spline.
        condition: cond(W) of the rows of its samples, over what the bench can tell.
        random: cond(W) of the best random motion inside the same limits that the search began with.
        trace: value after each step of what was lowered: of smooth bounds of the condition number, then of itself.
        margins: smallest margin of each limit, by name, at `VERIFY_RATE`: ranges, speeds, torques [of the limit's own
            unit], clearance [m].
        notes: what was left out, and where the motion starts if not at home.
    """

    bench: Bench
    options: ExcitingOptions
    control: np.ndarray
    condition: float
    random: float
    trace: tuple[float, ...]
    margins: dict[str, float]
    notes: tuple[str, ...] = ()

    @property
    def spline(self) -> Spline:
        """Of all joints."""
        return _spline(self.options)

    def sample(self, rate: float) -> Motion:
        """Samples from start to end, both included, at least ``rate`` a second."""
        spline = self.spline
        times = spline.samples(rate)
        return self.bench.motion(times, *spline.basis(times).curves(self.control))


def exciting_motion(
    bench: Bench, options: ExcitingOptions | None = None, *, progress: Progress = silent
) -> ExcitingMotion:
    """The best motion found for a bench.

    Raises:
        InvalidValue: no posture keeps the limits, or one is missing without which no motion can be planned.
        SolverError: no random motion stays within the limits.

    Example:
        >>> import solver
        >>> rig = solver.hoap3()
        >>> held = [link for link in rig.links[1:] if not link.startswith(("right_upper", "right_elbow"))]
        >>> bench = solver.Bench(rig, held=tuple(held))
        >>> found = solver.exciting_motion(bench, solver.ExcitingOptions(seconds=2.0, rounds=2))
        >>> found.condition <= found.random
        True
    """
    options = ExcitingOptions() if options is None else options
    spline = _spline(options)
    basis = spline.basis(spline.samples(SEARCH_RATE))
    margins = margins_of(bench, options)
    home = margins.home_near(bench.home, options.seed)
    powers = POWERS if options.criterion == CONDITION else POWERS[-1:]
    stages = [Search(bench, spline, margins, options.criterion, power) for power in powers]
    progress(0.0, "random motions")
    start = _start(stages[0], margins, options, home)
    random = condition_of(bench, bench.motion(basis.times, *basis.curves(start)))
    point = stages[0].point(start)
    traces: list[float] = []
    for number, stage in enumerate(stages):
        progress(0.1 + 0.8 * number / len(stages), "searching")
        point = stage.point(point.control)
        found = descend(stage, point, TRUST, max(1, options.rounds // len(stages)))
        point = found.point
        traces += [float(np.exp(p.value)) for p in found.points]
    progress(0.9, "checking")
    control, tight = _verified(point.control, bench, spline, margins)
    motion = bench.motion(basis.times, *basis.curves(control))
    progress(1.0, "done")
    notes = list(margins.notes)
    if not np.array_equal(home, bench.home):
        told = ", ".join(f"{name} {value:.2f}" for name, value in zip(bench.names, home))
        notes.append(f"starts and ends away from neutral, where there is room: {told}")
    return ExcitingMotion(
        bench, options, control, condition_of(bench, motion), random, tuple(traces), tight, tuple(notes)
    )


def margins_of(bench: Bench, options: ExcitingOptions) -> Margins:
    """The limits that a motion of these options keeps."""
    checks = CheckOptions(clearance=options.clearance, reach=options.clearance + REACH, pairs=options.pairs)
    return Margins(bench, options.speed, options.torque, checks, options.surface)


def condition_of(bench: Bench, motion: Motion) -> float:
    """cond(W) over the columns that the bench can tell."""
    rows = bench.rows(motion)[:, :, bench.columns]
    return float(np.exp(criterion(rows.reshape(-1, rows.shape[2]), CONDITION)[0]))


def _spline(options: ExcitingOptions) -> Spline:
    return Spline(options.seconds, int(np.ceil(PER_SECOND * options.seconds)))


def _start(search: Search, margins: Margins, options: ExcitingOptions, home: np.ndarray) -> np.ndarray:
    """Control values of the best of a few random motions, each drawn towards home until it keeps every limit."""
    generator = np.random.default_rng(options.seed)
    best: np.ndarray | None = None
    least = np.inf
    for _ in range(STARTS):
        free = generator.uniform(margins.lower, margins.upper, (search.spline.free, len(home)))
        for _ in range(SHRINKS):
            control = search.spline.control(home, home, free)
            if search.keeps(control):
                value = search.value(control)
                if value < least:
                    best, least = control, value
                break
            free = home + 0.7 * (free - home)
    if best is None:
        raise SolverError(
            f"no random motion of rig {search.bench.rig.name!r} keeps its limits: they or the clearance leave no room"
        )
    return best


def _verified(
    control: np.ndarray, bench: Bench, spline: Spline, margins: Margins
) -> tuple[np.ndarray, dict[str, float]]:
    """Control values that keep every limit between the samples as well, drawn towards home where they do not."""
    basis = spline.basis(spline.samples(VERIFY_RATE))
    home = control[0]
    for _ in range(SHRINKS):
        found = margins.smallest(spline, control, bench.motion(basis.times, *basis.curves(control)))
        if min(found.values()) >= 0.0:
            return control, found
        control = home + 0.98 * (control - home)
    raise SolverError(f"the motion of rig {bench.rig.name!r} breaks a limit between the samples of the search")
