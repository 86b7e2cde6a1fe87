"""Exciting motions of a fixed-base robot within its limits: bonnet2016's search with a fixed base.

All joints move at once, along one spline from the home posture back to it, at rest at both ends. Ranges and speeds are
linear in the control values and hold at every instant. Torques, collisions and the clearance to the surface are
linearised in each linear program; they are checked at a higher rate before a step is accepted, and at a still higher
rate at the end.

The condition number is not smooth where singular values meet, so that descent ends early there: a sequence of smooth
bounds is minimised first, each nearer to it than the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.errors import SolverError, checked
from ..base.progress import Progress, silent
from ..options.checks import CheckOptions
from ..options.exciting import CONDITION, ExcitingOptions
from ..trajectory.splines import Spline
from ..trajectory.trust_region import TrustRegion, solve_sequentially
from ..values.motion import Motion
from .margins import Margins
from .robot import FixedBaseRobot
from .search import MODEL_RATE, ExcitationSearch, compute_criterion

TRUST_REGION = TrustRegion(0.2, 0.002, rejected_factor=0.4, partial_factor=0.8, full_factor=1.3)
"""Largest step as a fraction of a coordinate's range."""
CHECK_RATE = 200.0
"""[1/s] samples of the last check."""
KNOTS_PER_SECOND = 3.0
"""[1/s] free control values of each joint. Chosen on a UR5 and a Panda: with two, cond(W) was a third higher."""
POWERS = (2.0, 6.0, 20.0, np.inf)
"""Of the smooth bounds of the condition number that are minimised one after the other (`criterion`)."""
RANDOM_STARTS = 3
"""Number of random motions; the search begins at the best of them."""
DISTANCE_REACH = 0.12
"""[m] distances beyond the clearance that enter the linear programs."""
MAX_SHRINKS = 12
"""Number of times that a random motion is moved towards home before it is discarded."""


@dataclass(frozen=True, slots=True)
class ExcitingMotion:
    """An exciting motion and its condition number.

    Attributes:
        robot: that moves.
        options: of the search.
        control: (C, n) control values of the spline.
        condition: cond(W) of the rows of its samples, over the independent columns.
        random_condition: cond(W) of the best random motion within the same limits, with which the search began.
        trace: value of the objective after each step: of smooth bounds of the condition number, then of itself.
        margins: smallest margin of each limit, by name, at `CHECK_RATE`: ranges, speeds, torques [of the limit's own
            unit], clearance [m].
        notes: what was omitted, and where the motion starts if not at home.
    """

    robot: FixedBaseRobot
    options: ExcitingOptions
    control: np.ndarray
    condition: float
    random_condition: float
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
        return self.robot.motion(times, *spline.basis(times).curves(self.control))


@checked
def exciting_motion(
    robot: FixedBaseRobot, options: ExcitingOptions | None = None, *, progress: Progress = silent
) -> ExcitingMotion:
    """The best motion found for a robot.

    Raises:
        InvalidValue: no posture satisfies the limits, or a required limit is missing.
        SolverError: no random motion stays within the limits.

    Example:
        >>> import solver
        >>> rig = solver.hoap3()
        >>> held = [link for link in rig.links[1:] if not link.startswith(("right_upper", "right_elbow"))]
        >>> bench = solver.fixed_base.FixedBaseRobot(rig, locked_links=tuple(held))
        >>> options = solver.fixed_base.ExcitingOptions(seconds=2.0, max_iterations=2)
        >>> found = solver.fixed_base.exciting_motion(bench, options)
        >>> found.condition <= found.random_condition
        True
    """
    options = ExcitingOptions() if options is None else options
    spline = _spline(options)
    basis = spline.basis(spline.samples(MODEL_RATE))
    margins = build_margins(robot, options)
    home = margins.find_home(robot.home, options.seed)
    powers = POWERS if options.criterion == CONDITION else POWERS[-1:]
    stages = [ExcitationSearch(robot, spline, margins, options.criterion, power) for power in powers]
    progress(0.0, "random motions")
    start = _best_random_start(stages[0], margins, options, home)
    random = compute_condition(robot, robot.motion(basis.times, *basis.curves(start)))
    point = stages[0].point(start)
    trace: list[float] = []
    for number, stage in enumerate(stages):
        progress(0.1 + 0.8 * number / len(stages), "searching")
        point = stage.point(point.control)
        found = solve_sequentially(stage, point, TRUST_REGION, max(1, options.max_iterations // len(stages)))
        point = found.point
        trace += [float(np.exp(p.value)) for p in found.accepted]
    progress(0.9, "checking")
    control, smallest = _verify_limits(point.control, robot, spline, margins)
    motion = robot.motion(basis.times, *basis.curves(control))
    progress(1.0, "done")
    notes = list(margins.notes)
    if not np.array_equal(home, robot.home):
        posture = ", ".join(f"{name} {value:.2f}" for name, value in zip(robot.names, home))
        notes.append(f"starts and ends away from the neutral posture, where there is room: {posture}")
    return ExcitingMotion(
        robot, options, control, compute_condition(robot, motion), random, tuple(trace), smallest, tuple(notes)
    )


def build_margins(robot: FixedBaseRobot, options: ExcitingOptions) -> Margins:
    """The limits of a motion with these options."""
    checks = CheckOptions(clearance=options.clearance, reach=options.clearance + DISTANCE_REACH, pairs=options.pairs)
    return Margins(robot, options.speed, options.effort, checks, options.surface)


def compute_condition(robot: FixedBaseRobot, motion: Motion) -> float:
    """cond(W) over the independent columns."""
    rows = robot.regressor(motion)[:, :, robot.independent_columns]
    return float(np.exp(compute_criterion(rows.reshape(-1, rows.shape[2]), CONDITION)[0]))


def _spline(options: ExcitingOptions) -> Spline:
    return Spline(options.seconds, int(np.ceil(KNOTS_PER_SECOND * options.seconds)))


def _best_random_start(
    search: ExcitationSearch, margins: Margins, options: ExcitingOptions, home: np.ndarray
) -> np.ndarray:
    """Control values of the best of a few random motions, each moved towards home until it satisfies every limit."""
    generator = np.random.default_rng(options.seed)
    best: np.ndarray | None = None
    least = np.inf
    for _ in range(RANDOM_STARTS):
        free = generator.uniform(margins.lower, margins.upper, (search.spline.free, len(home)))
        for _ in range(MAX_SHRINKS):
            control = search.spline.control(home, home, free)
            if search.satisfies_limits(control):
                value = search.value(control)
                if value < least:
                    best, least = control, value
                break
            free = home + 0.7 * (free - home)
    if best is None:
        raise SolverError(
            f"no random motion of rig {search.robot.rig.name!r} satisfies its limits: raise the limits or lower the "
            f"clearance"
        )
    return best


def _verify_limits(
    control: np.ndarray, robot: FixedBaseRobot, spline: Spline, margins: Margins
) -> tuple[np.ndarray, dict[str, float]]:
    """Control values that also satisfy every limit between the samples, moved towards home if necessary."""
    basis = spline.basis(spline.samples(CHECK_RATE))
    home = control[0]
    for _ in range(MAX_SHRINKS):
        found = margins.smallest_margins(spline, control, robot.motion(basis.times, *basis.curves(control)))
        if min(found.values()) >= 0.0:
            return control, found
        control = home + 0.98 * (control - home)
    raise SolverError(f"the motion of rig {robot.rig.name!r} violates a limit between the samples of the search")
