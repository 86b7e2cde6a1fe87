"""What a dance is checked against, in one value."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidValue, UnknownPreset

DISTRIBUTIONS = ("distance", "line")
PAIR_PRESETS = ("all", "paper")
ROBOT_SHRINK = 0.4
"""Share by which bonnet2016 shrinks the support polygon, against errors of the robot's control and geometry."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Choices of the checks.

    Attributes:
        shrink: share in [0, 1) by which the support polygon shrinks about its centre; 0.4 in bonnet2016 III.D.
        friction: coefficient mu of (19).
        pairs: of links that must not touch: ``"all"`` non-adjacent, ``"paper"`` (bonnet2016 III.D), or link names.
        excluded: pairs of link names taken out of ``pairs``.
        clearance: [m] distance to keep between links.
        reach: [m] distances are computed up to here; farther pairs report this value.
        distribution: how two feet share the load: ``"distance"``, (2) as meant (the nearer foot carries more), or
            ``"line"``, by the foot of the perpendicular from the ZMP on the line between the soles' centres.
        allowed_slip: [m] by which a planted sole may leave its anchor.
        flight: share of the weight that an airborne motion may lack; measured motion is never exactly ballistic.
        tolerance: a margin counts as kept down to minus this, in its own unit.
    """

    shrink: float = 0.0
    friction: float = 0.5
    pairs: str | tuple[tuple[str, str], ...] = "all"
    excluded: tuple[tuple[str, str], ...] = ()
    clearance: float = 0.0
    reach: float = 0.03
    distribution: str = "distance"
    allowed_slip: float = 0.0
    flight: float = 0.02
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if not 0.0 <= self.shrink < 1.0:
            raise InvalidValue(f"the support polygon shrinks by a share in [0, 1), not {self.shrink:g}")
        for name in ("friction", "clearance", "reach", "allowed_slip", "flight", "tolerance"):
            if not getattr(self, name) >= 0.0:
                raise InvalidValue(f"check option {name!r} must not be negative, got {getattr(self, name):g}")
        if self.reach <= self.clearance:
            raise InvalidValue(f"reach {self.reach:g} m must exceed the clearance {self.clearance:g} m")
        if isinstance(self.pairs, str) and self.pairs not in PAIR_PRESETS:
            raise UnknownPreset(self.pairs, PAIR_PRESETS)
        if self.distribution not in DISTRIBUTIONS:
            raise UnknownPreset(self.distribution, DISTRIBUTIONS)
