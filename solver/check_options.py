"""What a dance is checked against: one value that is stored with the dance and that every verdict on it uses."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from .errors import InvalidValue, UnknownPreset

DISTRIBUTIONS = ("distance", "line", "soles")
PAIR_PRESETS = ("all", "paper")
REACH = 0.03
"""[m] Distances are measured so far beyond the clearance."""
ROBOT_SHRINK = 0.4
"""Share by which bonnet2016 shrinks the support polygon, against errors of the robot's control and geometry."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Choices of the checks. Without any they are the limits themselves; `DANCE_CHECKS` leaves room for errors.

    Attributes:
        shrink: share in [0, 1) by which the support polygon shrinks about its centre; 0.4 in bonnet2016 III.D.
        friction: coefficient mu of (19).
        pairs: of links that must not touch: ``"all"`` non-adjacent, ``"paper"`` (bonnet2016 III.D), or link names.
        excluded: pairs of link names taken out of ``pairs``.
        clearance: [m] distance to keep between links.
        reach: [m] distances are computed up to here; farther pairs report this value.
        distribution: how two feet share the load: ``"distance"``, (2) as meant (the nearer foot carries more),
            ``"line"``, by the foot of the perpendicular from the ZMP on the line between the soles' centres, or
            ``"soles"``, (2) by the distance to soles: none on a foot while another's sole holds the ZMP.
        allowed_slip: [m] by which a planted sole may leave its anchor.
        flight: share of the weight that an airborne motion may lack; measured motion is never exactly ballistic.
        tolerance: a margin counts as kept down to minus this, in its own unit.
        torque_reserve: share in [0, 1) of every joint's torque limit that is kept for a controller.
        balance_reserve: [m] by which the zero-moment point stays inside the shrunk polygon, kept for the same.
        swing: [m] by which feet that do not stand clear the floor.
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
            raise InvalidValue(f"the support polygon shrinks by a share in [0, 1), not {self.shrink:g}")
        if not 0.0 <= self.torque_reserve < 1.0:
            raise InvalidValue(f"the torque reserve is a share in [0, 1), not {self.torque_reserve:g}")
        lengths = ("clearance", "reach", "allowed_slip", "balance_reserve", "swing")
        for name in ("friction", "flight", "tolerance", *lengths):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise InvalidValue(f"check option {name!r} is a number from zero on, got {getattr(self, name):g}")
        if self.reach <= self.clearance:
            raise InvalidValue(f"reach {self.reach:g} m must exceed the clearance {self.clearance:g} m")
        if isinstance(self.pairs, str) and self.pairs not in PAIR_PRESETS:
            raise UnknownPreset(self.pairs, PAIR_PRESETS)
        if self.distribution not in DISTRIBUTIONS:
            raise UnknownPreset(self.distribution, DISTRIBUTIONS)

    @property
    def words(self) -> str:
        """Its main choices: ``"shrink 0.4, friction 0.5, allowed slip 0.002 m, clearance 0 m, pairs all"``."""
        pairs = f"pairs {self.pairs}" if isinstance(self.pairs, str) else f"{len(self.pairs)} pairs"
        return (
            f"shrink {self.shrink:g}, friction {self.friction:g}, allowed slip {self.allowed_slip:g} m, "
            f"clearance {self.clearance:g} m, {pairs}"
        )

    def differences(self, other: CheckOptions) -> tuple[str, ...]:
        """What another value has otherwise, a clause each: ``"shrink 0.2 instead of 0.4"``."""
        pairs = [(f.name, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return tuple(f"{name.replace('_', ' ')} {new} instead of {old}" for name, old, new in pairs if new != old)


DANCE_CHECKS = CheckOptions(shrink=ROBOT_SHRINK, allowed_slip=0.002)
"""What dances are held to where nobody chose otherwise: room for errors of who dances, and for feet keyed by hand."""
