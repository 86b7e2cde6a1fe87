"""Options of repairing, completing and retargeting dances."""

from dataclasses import dataclass
from math import inf
from typing import Annotated

from .declared import ANY, COUNT, LIMIT, NOT_NEGATIVE, POSITIVE, SEED, SHARE, Option, Options, Range

SMOOTHING_TIME = 0.2
"""[s] Displacements that change within this time cost twice. Measured on randomly keyed motions, 0.1 s increased the
jerk up to nine times and 0.2 s 1.5 times, with equal displacements and fewer subproblems."""
MOST_PROGRAMS = 60
"""Most quadratic programs of a repair on the command line, so that an animator does not wait long."""


@dataclass(frozen=True, slots=True)
class RepairOptions(Options):
    """How to repair.

    Attributes:
        rate: [1/s] of the samples within the optimisation; the result is verified at ten times this.
        spacing: [s] between the knots of the displacement.
        iterations: most quadratic programs per window and pass.
        passes: most passes over all windows. Each further pass keeps a larger margin to the limits and moves more of
            the trajectory; there is one pass only if a fixed key is infeasible by itself.
        joint_cost: cost ratio, squared, of a joint's move to the same visible move of the root.
        smoothing_time: [s] displacements that change within this time cost twice as much; a longer time gives smoother
            and larger displacements.
        programs: most quadratic programs to solve, after which the best result is written; a number.
        seconds: [s] longest search, after which the best result is written and depends on the machine.
    """

    rate: Annotated[float, Option(POSITIVE, in_code_only=True)] = 50.0
    spacing: Annotated[float, Option(POSITIVE, in_code_only=True)] = 0.1
    iterations: Annotated[int, Option(COUNT, in_code_only=True)] = 10
    passes: Annotated[int, Option(COUNT, in_code_only=True)] = 6
    joint_cost: Annotated[float, Option(POSITIVE, in_code_only=True)] = 3.0
    smoothing_time: Annotated[float, Option(NOT_NEGATIVE, in_code_only=True)] = SMOOTHING_TIME
    programs: Annotated[float, Option(Range(1, 10**6, whole=True, also=inf), usual=str(MOST_PROGRAMS))] = inf
    seconds: Annotated[float, Option(LIMIT, usual="no limit")] = inf


@dataclass(frozen=True, slots=True)
class CompleteOptions(Options):
    """How to fill free keys.

    Attributes:
        interpolate: fill free postures by the curve through the other keys, without excitation.
        pool: random postures to choose from per foot configuration.
        share: fraction of the way from the interpolated to the exciting posture.
        seed: of every random choice; the same seed gives the same result.
    """

    interpolate: Annotated[bool, Option(label="Interpolate")] = False
    pool: Annotated[int, Option(COUNT)] = 60
    share: Annotated[float, Option(SHARE)] = 1.0
    seed: Annotated[int, Option(SEED)] = 0


@dataclass(frozen=True, slots=True)
class RetargetOptions(Options):
    """Options of retargeting.

    Attributes:
        keep_timing: keep the timing even where joints are too fast or forces fail, and report it.
        slower: factor on the duration, besides what speed limits need.
        stance_widening: [m] by which the feet are further apart sideways than the followed ones, scaled.
        allow_collisions: leave links that intersect as they are, instead of separating them.
        roll: rigid soles, such as a robot's, roll over the edges of heel and toes; otherwise they lie flat where they
            stand. Soles with toes always roll.
        from_rest: start from rest on both feet and come to rest, completing steps that the recording cuts off.
    """

    keep_timing: Annotated[bool, Option(label="Keep Timing")] = False
    slower: Annotated[float, Option(POSITIVE, label="Slowdown", slider=(1.0, 10.0))] = 1.0
    stance_widening: Annotated[float, Option(ANY, in_code_only=True)] = 0.0
    allow_collisions: Annotated[bool, Option(label="Allow Collisions")] = False
    roll: Annotated[bool, Option(label="Roll Rigid Soles")] = False
    from_rest: Annotated[bool, Option(label="From Rest")] = False
