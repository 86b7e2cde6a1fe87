"""Options of the feasibility checks of a dance, stored with the dance and used by all of its checks."""

from dataclasses import dataclass, fields, replace
from math import inf
from typing import Annotated, Any, Self

from ..base.errors import InvalidValue
from .declared import LIMIT, NOT_NEGATIVE, PART, Option, Options

DISTRIBUTIONS = ("distance", "soles")
ALL_PAIRS = "all"
VERIFICATION_RATE = 500.0
"""[1/s] Rate at which a dance is checked: ten times that of bonnet2016's search."""
REACH = 0.03
"""[m] Largest distance measured between links."""
ROBOT_SHRINK = 0.4
"""Fraction by which bonnet2016 shrinks the support polygon, a margin for errors of control and geometry."""


@dataclass(frozen=True, slots=True)
class CheckOptions(Options):
    """Options of the checks. The defaults have no margins; `DANCE_CHECKS` has margins for errors.

    Attributes:
        shrink: fraction by which the support polygon shrinks about its centre; 0.4 in bonnet2016 III.D.
        friction: friction coefficient between soles and floor, mu of (19).
        allowed_slip: [m] distance by which a planted sole may move, because keyed feet are never perfectly still.
        clearance: [m] distance to keep between links.
        pairs: pairs of links that must not touch: ``"all"`` that are not neighbours, or pairs of link names.
        excluded: pairs of link names removed from ``pairs``.
        reach: [m] distances are computed up to this; farther pairs report this value.
        distribution: how two feet share the load; ``"distance"``, (2) as intended (the nearer foot carries more), or
            ``"soles"``, (2) with distances to soles: a foot has no load while the ZMP is in the other's sole.
        flight: external force allowed in flight, as a fraction of the weight; measured flight is not exactly ballistic.
        tolerance: a margin counts as satisfied down to minus this, in its own unit.
        torque_reserve: fraction of every joint's torque limit that is reserved for a controller.
        balance_reserve: [m] distance of the zero-moment point from the border of the shrunk polygon, likewise.
        foot_clearance: [m] required clearance of swing feet from the floor.
        hand_speed: [m/s] limit of the speed of the hands, at their joints; infinite: none.
    """

    shrink: Annotated[float, Option(PART, label="Shrink Support", slider=(0.0, 0.95))] = 0.0
    friction: Annotated[float, Option(NOT_NEGATIVE, label="Friction", slider=(0.0, 2.0))] = 0.5
    allowed_slip: Annotated[float, Option(NOT_NEGATIVE, label="Allowed Slip", slider=(0.0, 0.1))] = 0.0
    clearance: Annotated[float, Option(NOT_NEGATIVE, label="Clearance", slider=(0.0, 0.2))] = 0.0
    pairs: Annotated[str | tuple[tuple[str, str], ...], Option(choices=(ALL_PAIRS,), in_code_only=True)] = ALL_PAIRS
    excluded: tuple[tuple[str, str], ...] = ()
    reach: Annotated[float, Option(NOT_NEGATIVE, in_code_only=True)] = REACH
    distribution: Annotated[str, Option(choices=DISTRIBUTIONS, in_code_only=True)] = "distance"
    flight: Annotated[float, Option(NOT_NEGATIVE, in_code_only=True)] = 0.02
    tolerance: Annotated[float, Option(NOT_NEGATIVE, in_code_only=True)] = 1e-4
    torque_reserve: Annotated[float, Option(PART, in_code_only=True)] = 0.0
    balance_reserve: Annotated[float, Option(NOT_NEGATIVE, in_code_only=True)] = 0.0
    foot_clearance: Annotated[float, Option(NOT_NEGATIVE, in_code_only=True)] = 0.0
    hand_speed: Annotated[float, Option(LIMIT, in_code_only=True)] = inf

    def require_consistent(self) -> None:
        """Distances are computed beyond the clearance.

        Raises:
            InvalidValue: they are not.
        """
        if self.reach <= self.clearance:
            raise InvalidValue(f"reach {self.reach:g} m must exceed the clearance {self.clearance:g} m")

    def changed(self, **changes: Any) -> Self:
        """The options with other values; distances are computed far enough for the clearance."""
        return replace(self, **{"reach": max(self.reach, changes.get("clearance", 0.0) + REACH), **changes})

    @property
    def words(self) -> str:
        """Main options: ``"shrink 0.4, friction 0.5, allowed slip 0.002 m, clearance 0 m, all pairs"``."""
        pairs = self.pairs if isinstance(self.pairs, str) else len(self.pairs)
        return (
            f"shrink {self.shrink:g}, friction {self.friction:g}, allowed slip {self.allowed_slip:g} m, "
            f"clearance {self.clearance:g} m, {pairs} pairs"
        )

    def differences(self, other: Self) -> tuple[str, ...]:
        """Differences of another value, one clause each: ``"shrink 0.2 instead of 0.4"``."""
        pairs = [(f.name, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return tuple(f"{name.replace('_', ' ')} {new} instead of {old}" for name, old, new in pairs if new != old)


CHECK_ROWS = (
    "joint_limits:JOINT_ANGLE",
    "joint_limits:JOINT_SPEED",
    "joint_limits:JOINT_TORQUE",
    "hand_speed:HAND_SPEED",
    "balance:ZMP",
    "friction:FRICTION",
    "friction:TWIST",
    "friction:UNILATERAL",
    "planted_feet:SLIP",
    "planted_feet:PLACEMENT",
    "flight:FLIGHT",
    "collisions:SELF_COLLISION",
    "collisions:FLOOR",
)
"""The table of checks, one row each: a file of `feasibility.checks`, and the name of the `Check` that it defines.

A new check is such a file and a row here, beside its limit in `CheckOptions` if it has one of its own. Results, the
command line, Blender, the optimisations and the documentation read this table.
"""
DANCE_CHECKS = CheckOptions(shrink=ROBOT_SHRINK, allowed_slip=0.002)
"""Default checks of dances, with margins for errors of the performance and for feet keyed by hand."""
