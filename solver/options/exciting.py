"""Options of motions that excite a fixed-base robot."""

from dataclasses import dataclass
from typing import Annotated

from .checks import ALL_PAIRS
from .declared import ANY, COUNT, NOT_NEGATIVE, SEED, SHARE, Option, Options, Range

CONDITION, DEVIATIONS = "condition", "deviations"
CRITERIA = (CONDITION, DEVIATIONS)


@dataclass(frozen=True, slots=True)
class ExcitingOptions(Options):
    """Options of the search.

    Attributes:
        seconds: [s] length of the motion.
        criterion: condition number of the regressor, or mean deviation of the parameters; ``"condition"``, as in the
            literature, or ``"deviations"``, the geometric mean of the parameters' standard deviations.
        speed: share of the speed limits to use; the controller needs the rest.
        effort: share of the torque limits to use; the controller needs the rest.
        clearance: [m] least distance between links and to the surface.
        pairs: pairs of links with this clearance, as in `CheckOptions`.
        surface: [m] height of the surface above the root's origin; world. None: the lowest point of the links that do
            not move; no surface if these have no shapes or the root is not mounted upright.
        max_iterations: largest number of linear programs, of all stages.
        seed: of the random motions that the search begins with.
    """

    seconds: Annotated[float, Option(Range(1.0), label="Duration", slider=(1.0, 60.0))] = 10.0
    criterion: Annotated[str, Option(choices=CRITERIA, label="Criterion")] = CONDITION
    speed: Annotated[float, Option(SHARE, label="Speed")] = 0.9
    effort: Annotated[float, Option(SHARE, label="Torque")] = 0.8
    clearance: Annotated[float, Option(NOT_NEGATIVE, label="Clearance", slider=(0.0, 0.2))] = 0.02
    pairs: Annotated[str | tuple[tuple[str, str], ...], Option(choices=(ALL_PAIRS,), in_code_only=True)] = ALL_PAIRS
    surface: Annotated[float | None, Option(ANY, usual="below the fixed links")] = None
    max_iterations: Annotated[int, Option(COUNT, in_code_only=True)] = 100
    seed: Annotated[int, Option(SEED, label="Seed")] = 0
