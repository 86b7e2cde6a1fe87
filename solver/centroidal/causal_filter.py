"""The causal form sample by sample, for a robot's controller or a live view.

A sample's estimates depend on themselves through (6b) and (8). Both are linear, so the iteration of Fig. 4 has a fixed
point in closed form: with b and h the weights of the newest sample in the low-pass of the centre of mass and in the
high-pass of the momentum rate, the component across the force is divided by 1 - b h and the component along it by 1 -
b. No iteration is needed, and plain numbers are faster than arrays of three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..base.errors import InvalidValue, checked
from ..signals import GRAVITY
from .complementary_filters import FLIGHT, RIDGE, ComplementarySettings, build_filters
from .kinetics import RAMP

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class LiveSample:
    """Signals of one sample.

    Attributes:
        com: [m] by the kinematics, world.
        momentum_rate: [N m] by the kinematics, world axes.
        wrench: [N, N m] force, then moment about the world origin; None while not every contact is measured.
        acceleration: [m/s^2] of the kinematic centre of mass, needed only without a wrench.
    """

    com: Sequence[float]
    momentum_rate: Sequence[float]
    wrench: Sequence[float] | None = None
    acceleration: Sequence[float] | None = None


@checked
class CausalFilter:
    """Sample by sample the same as `complementary.causal_complementary`.

    Args:
        mass: [kg] of the whole body.
        rate: samples per second.
        settings: cut-offs.

    Raises:
        InvalidValue: the mass is not positive, or a cut-off is not below half the rate.
    """

    def __init__(self, mass: float, rate: float, settings: ComplementarySettings | None = None) -> None:
        if not mass > 0.0:
            raise InvalidValue(f"the total mass must be known and positive, got {mass!r} kg")
        filters = build_filters(ComplementarySettings() if settings is None else settings, rate)
        self._mass, self._small = mass, (FLIGHT * mass * GRAVITY) ** 2
        self._steps = max(1, round(RAMP * rate))
        self._since = self._steps  # a recording that begins with forces is assumed to have had them before
        self._low = (*filters.low.b.tolist(), *filters.low.a.tolist()[1:])
        self._rate = (*filters.momentum.b.tolist(), *filters.momentum.a.tolist()[1:])
        self._fast = (*filters.high_twice.b.tolist(), *filters.high.b.tolist(), *filters.high.a.tolist()[1:])
        self._axes = tuple(_AxisFilters() for _ in range(3))
        self._count = 0

    def step(self, sample: LiveSample) -> tuple[Vector, Vector]:
        """Centre of mass [m] and momentum rate [N m] after one more sample, world axes.

        Raises:
            InvalidValue: neither a wrench nor an acceleration.
        """
        x, y, z = sample.com
        kx, ky, kz = sample.momentum_rate
        if sample.wrench is None:
            if sample.acceleration is None:
                raise InvalidValue("a sample without a wrench needs the acceleration of the kinematic centre of mass")
            ux, uy, uz = sample.acceleration
            fx = fy = fz = mx = my = mz = 0.0
            self._since, square = 0, 0.0
        else:
            fx, fy, fz, mx, my, mz = sample.wrench
            ux, uy, uz = fx / self._mass, fy / self._mass, fz / self._mass - GRAVITY
            self._since = min(self._since + 1, self._steps)
            square = fx * fx + fy * fy + fz * fz
        trust = self._since / self._steps
        square = max(square, 1e-9 * self._small)
        weight = (1.0 - RIDGE) * trust * min(0.5 * math.sqrt(square / self._small), 1.0)
        ax, ay, az = self._axes
        first = self._count == 0
        if first:
            ax.start, ay.start, az.start = x, y, z
        elif self._count == 1:
            ax.speed, ay.speed, az.speed = x - ax.start, y - ay.start, z - az.start
        b = self._low[0] * weight
        h = 0.0 if first else (1.0 - self._rate[0]) * trust
        # contribution of the past to centre of mass (r) and momentum rate (q)
        px = x + ax.filter_high(self._fast, ux, x, self._count)  # without the central axis
        py = y + ay.filter_high(self._fast, uy, y, self._count)
        pz = z + az.filter_high(self._fast, uz, z, self._count)
        rx, ry, rz = px + ax.l1, py + ay.l1, pz + az.l1
        kept = 0.0 if first else 1.0 - self._rate[0]
        qx = kx - kept * ax.lead - ax.m1 + h * (mx - kx)
        qy = ky - kept * ay.lead - ay.m1 + h * (my - ky)
        qz = kz - kept * az.lead - az.m1 + h * (mz - kz)
        share = b / square
        rx += share * (fy * mz - fz * my + qy * fz - qz * fy) - b * px
        ry += share * (fz * mx - fx * mz + qz * fx - qx * fz) - b * py
        rz += share * (fx * my - fy * mx + qx * fy - qy * fx) - b * pz
        along = share * (1.0 - h) * (fx * rx + fy * ry + fz * rz) / (1.0 - b)
        scale = 1.0 / (1.0 - b * h)
        cx, cy, cz = (rx + fx * along) * scale, (ry + fy * along) * scale, (rz + fz * along) * scale
        tx, ty, tz = fy * cz - fz * cy, fz * cx - fx * cz, fx * cy - fy * cx
        ex, ey, ez = trust * (mx + tx - kx), trust * (my + ty - ky), trust * (mz + tz - kz)
        lx, ly, lz = qx + h * tx, qy + h * ty, qz + h * tz
        if first:
            ax.lead, ay.lead, az.lead = ex, ey, ez
        along = (fx * cx + fy * cy + fz * cz) / square
        around = 1.0 / square
        ax.update_com(self._low, weight * ((fy * mz - fz * my + ly * fz - lz * fy) * around + fx * along - px))
        ay.update_com(self._low, weight * ((fz * mx - fx * mz + lz * fx - lx * fz) * around + fy * along - py))
        az.update_com(self._low, weight * ((fx * my - fy * mx + lx * fy - ly * fx) * around + fz * along - pz))
        ax.update_momentum_rate(self._rate, ex)
        ay.update_momentum_rate(self._rate, ey)
        az.update_momentum_rate(self._rate, ez)
        self._count += 1
        return (cx, cy, cz), (lx, ly, lz)


class _AxisFilters:
    """Filter states of one axis, in the transposed direct form II."""

    __slots__ = ("f1", "f2", "l1", "l2", "lead", "m1", "m2", "speed", "start")

    def __init__(self) -> None:
        self.f1 = self.f2 = self.l1 = self.l2 = self.m1 = self.m2 = 0.0
        self.start = self.speed = (
            0.0  # [m] first value and [m] a sample: initial translation, which the high-pass removes
        )
        self.lead = 0.0  # [N m] the momentum rates' first difference

    def filter_high(self, c: tuple[float, ...], pushed: float, place: float, count: int) -> float:
        """High-pass of the force's double integral minus that of the kinematics; they have the same poles."""
        t0, t1, t2, h0, h1, h2, a1, a2 = c
        place -= self.start + self.speed * count
        out = t0 * pushed - h0 * place + self.f1
        self.f1 = t1 * pushed - h1 * place - a1 * out + self.f2
        self.f2 = t2 * pushed - h2 * place - a2 * out
        return out

    def update_com(self, c: tuple[float, ...], value: float) -> None:
        """Low-pass one more difference of the central axis."""
        b0, b1, b2, a1, a2 = c
        out = b0 * value + self.l1
        self.l1 = b1 * value - a1 * out + self.l2
        self.l2 = b2 * value - a2 * out

    def update_momentum_rate(self, c: tuple[float, ...], value: float) -> None:
        """Low-pass one more difference of the momentum rates."""
        b0, b1, b2, a1, a2 = c
        value -= self.lead
        out = b0 * value + self.m1
        self.m1 = b1 * value - a1 * out + self.m2
        self.m2 = b2 * value - a2 * out
