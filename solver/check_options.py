"""Options of the feasibility checks of a dance, stored with the dance and used by all of its checks."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from .errors import InvalidValue, UnknownPreset

DISTRIBUTIONS = ("distance", "line", "soles")
PAIR_PRESETS = ("all", "paper")
REACH = 0.03
"""[m] Largest distance measured between links."""
ROBOT_SHRINK = 0.4
"""Fraction by which bonnet2016 shrinks the support polygon, a margin for errors of control and geometry."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Options of the checks. The defaults have no margins; `DANCE_CHECKS` has margins for errors.

    Attributes:
        shrink: fraction in [0, 1) by which the support polygon shrinks about its centre; 0.4 in bonnet2016 III.D.
        friction: coefficient mu of (19).
        pairs: of links that must not touch: ``"all"`` non-adjacent, ``"paper"`` (bonnet2016 III.D), or link names.
        excluded: pairs of link names removed from ``pairs``.
        clearance: [m] required distance between links.
        reach: [m] distances are computed up to this; farther pairs report this value.
        distribution: how two feet share the load: ``"distance"``, (2) as intended (the nearer foot carries more),
            ``"line"``, by the projection of the ZMP on the line between the soles' centres, or ``"soles"``, (2) with
            distances to soles: a foot has no load while the ZMP is in the other's sole.
        allowed_slip: [m] allowed displacement of a planted sole from its anchor.
        flight: external force allowed in flight, as a fraction of the weight: measured flight is not exactly ballistic.
        tolerance: a margin counts as satisfied down to minus this, in its own unit.
        torque_reserve: fraction in [0, 1) of every joint's torque limit that is reserved for a controller.
        balance_reserve: [m] distance of the zero-moment point from the border of the shrunk polygon, likewise.
        swing: [m] required clearance of swing feet from the floor.
    """

    shrink: float = 0.0
    friction: float = 0.5
    pairs: str | tuple[tuple[str, str], ...] = "all"
    excluded: tuple[tuple[str, str], ...] = ()
    clearance: float = 0.0
    reach: float = REACH
    distribution: str = "distance"
    allowed_slip: float = 0.0
    flight: float = 0.02
    tolerance: float = 1e-4
    torque_reserve: float = 0.0
    balance_reserve: float = 0.0
    swing: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.shrink < 1.0:
            raise InvalidValue(f"the shrink of the support polygon must be in [0, 1), got {self.shrink:g}")
        if not 0.0 <= self.torque_reserve < 1.0:
            raise InvalidValue(f"the torque reserve must be in [0, 1), got {self.torque_reserve:g}")
        lengths = ("clearance", "reach", "allowed_slip", "balance_reserve", "swing")
        for name in ("friction", "flight", "tolerance", *lengths):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise InvalidValue(f"check option {name!r} must not be negative, got {getattr(self, name):g}")
        if self.reach <= self.clearance:
            raise InvalidValue(f"reach {self.reach:g} m must exceed the clearance {self.clearance:g} m")
        if isinstance(self.pairs, str) and self.pairs not in PAIR_PRESETS:
            raise UnknownPreset(self.pairs, PAIR_PRESETS)
        if self.distribution not in DISTRIBUTIONS:
            raise UnknownPreset(self.distribution, DISTRIBUTIONS)

    @property
    def words(self) -> str:
        """Main options: ``"shrink 0.4, friction 0.5, allowed slip 0.002 m, clearance 0 m, pairs all"``."""
        pairs = f"pairs {self.pairs}" if isinstance(self.pairs, str) else f"{len(self.pairs)} pairs"
        return (
            f"shrink {self.shrink:g}, friction {self.friction:g}, allowed slip {self.allowed_slip:g} m, "
            f"clearance {self.clearance:g} m, {pairs}"
        )

    def differences(self, other: CheckOptions) -> tuple[str, ...]:
        """Differences of another value, one clause each: ``"shrink 0.2 instead of 0.4"``."""
        pairs = [(f.name, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return tuple(f"{name.replace('_', ' ')} {new} instead of {old}" for name, old, new in pairs if new != old)


DANCE_CHECKS = CheckOptions(shrink=ROBOT_SHRINK, allowed_slip=0.002)
"""Default checks of dances, with margins for errors of the performance and for feet keyed by hand."""
