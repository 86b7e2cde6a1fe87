"""Low-pass and derivatives of a motion on the configuration manifold.

Raw joint angles of a spherical joint jump where the chart folds (gimbal); here each rotation stays a unit quaternion.
A quaternion curve is filtered in R^4 and normalised. Rotating the world, or the axes of a link, multiplies quaternions
from the left or right by a constant, which is linear and orthogonal in R^4, so the result does not depend on either;
and a constant angular velocity, whose components are sinusoids of one frequency, passes exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from ..arrays import frozen_times, stretches
from ..errors import InvalidValue
from ..filter_presets import FilterPreset
from ..motion import Motion
from ..rig import Rig
from ..so3 import conjugate, continuous, product, rotate
from .filters import filter_padded, padding
from .gaps import LONGEST_GAP, bridge
from .resample import rate_of_grid, uniform_times

DEGREE = 5
"""The interpolating spline's degree: its second derivative is four times differentiable and of fourth order."""
LEAST_PAD = 12
"""Samples of padding when only derivatives are wanted: they keep the spline's end conditions outside the data."""
_UNIT = 1e-3


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the coordinates of a rig lie: vectors (v = q'), quaternions with the positions they carry, circles."""

    plain: tuple[tuple[int, int], ...]  # (q, v)
    quaternions: tuple[tuple[int, int], ...]  # (first of xyzw in q, first of omega in v)
    carried: tuple[tuple[int, int, int], ...]  # position whose velocity is in body axes: (q, v, quaternion's q)
    circles: tuple[tuple[int, int], ...]  # (first of cos, sin in q, angle in v)


def smooth_motion(
    rig: Rig,
    times: np.ndarray,
    q: np.ndarray,
    preset: FilterPreset | None,
    *,
    longest_gap: float = LONGEST_GAP,
) -> Motion:
    """Filtered motion with velocities and accelerations on the manifold.

    q is filtered, then interpolated by a quintic spline whose analytic derivatives, carried to the tangent space, are
    v and a: v is exactly the velocity of the curve returned, in Pinocchio's convention (root and spherical joints in
    their own axes), and a the derivative of v's components.

    Args:
        rig: with joints of free-flyer, spherical, revolute, prismatic or translation type.
        times: (N,) [s]; rounded stamps are put on their uniform grid, uneven ones are resampled at the median step.
        q: (N, nq); a row with NaN is a gap. Every gap is bridged so that the motion is complete; frames of gaps longer
            than ``longest_gap`` must not count (see `gaps.left_out`).
        preset: low-pass; None for derivatives only.
        longest_gap: [s]; longer gaps end the filter's stretch instead of being filtered across.

    Raises:
        InvalidValue: wrong shape, fewer than two complete frames, a joint type without rule, or the cut-off is not
            below half the frame rate.
    """
    times = frozen_times(times)
    q = np.array(q, float)
    if q.shape != (len(times), rig.model.nq):
        raise InvalidValue(f"q has shape {q.shape}, expected ({len(times)}, {rig.model.nq})")
    layout = _layout(rig)
    known = np.isfinite(q).all(axis=1)
    if known.sum() < 2:
        raise InvalidValue("a motion needs at least two complete frames to have a velocity")
    q[~known] = np.nan
    q[known] = _continuous(q[known], layout)
    grid, same = uniform_times(times)
    if not same:
        q, known = _regrid(times, q, known, grid), np.interp(grid, times, known.astype(float)) > 0.99
    rate = rate_of_grid(grid)
    q = bridge(q, rate, longest_gap)
    filled = np.isfinite(q).all(axis=1)
    pad_wanted = LEAST_PAD if preset is None else max(LEAST_PAD, padding(preset, rate))
    positions, velocities, accelerations = np.full((3, *q.shape), np.nan)
    for start, stop in stretches(filled):
        part, pad = _padded(q[start:stop], layout, pad_wanted)
        if preset is not None:
            part = filter_padded(part, rate, preset)
        local = (np.arange(len(part)) - pad) / rate
        inside = local[pad : pad + stop - start]
        spline = interpolated(local, part)
        for order, target in enumerate((positions, velocities, accelerations)):
            target[start:stop] = spline(inside, order)
    _fill(grid, positions, velocities, accelerations)
    return _on_manifold(rig, grid, positions, velocities, accelerations, layout)


def interpolated(times: np.ndarray, values: np.ndarray) -> BSpline:
    """Spline through values (N, ...) at times (N,), of the degree that derivatives are taken of."""
    degree = min(DEGREE, len(times) - 1)
    return make_interp_spline(times, values, k=degree - (degree + 1) % 2)


def _layout(rig: Rig) -> _Layout:
    plain: list[tuple[int, int]] = []
    quaternions: list[tuple[int, int]] = []
    carried: list[tuple[int, int, int]] = []
    circles: list[tuple[int, int]] = []
    at = vat = 0
    for joint in rig.joints:
        if joint.kind == "free":
            carried.append((at, vat, at + 3))
            quaternions.append((at + 3, vat + 3))
        elif joint.kind == "spherical":
            quaternions.append((at, vat))
        elif joint.kind == "continuous":
            circles.append((at, vat))
        elif joint.kind in ("revolute", "prismatic"):
            plain.append((at, vat))
        elif joint.kind == "universal":  # its speeds are those of its two angles
            plain += [(at, vat), (at + 1, vat + 1)]
        else:
            raise InvalidValue(
                f"joint {joint.name!r} is {joint.kind}, for which there is no rule to filter or differentiate"
            )
        at, vat = at + joint.nq, vat + joint.nv
    return _Layout(tuple(plain), tuple(quaternions), tuple(carried), tuple(circles))


def _continuous(q: np.ndarray, layout: _Layout) -> np.ndarray:
    """Unit quaternions and circles, each with the sign nearest to its predecessor (q and -q are one rotation)."""
    q = q.copy()
    for at, size in [(at, 4) for at, _ in layout.quaternions] + [(at, 2) for at, _ in layout.circles]:
        block = q[:, at : at + size]
        norms = np.linalg.norm(block, axis=1)
        if np.any(np.abs(norms - 1.0) > _UNIT):
            frame = int(np.argmax(np.abs(norms - 1.0)))
            raise InvalidValue(f"q[{frame}, {at}:{at + size}] has norm {norms[frame]:g}, expected a unit rotation")
        block /= norms[:, None]
        if size == 4:
            block[:] = continuous(block)
    return q


def _padded(q: np.ndarray, layout: _Layout, pad: int) -> tuple[np.ndarray, int]:
    """Point reflection of the curve at both ends, repeated while the data are shorter than the padding.

    In R^n the reflection of x at x0 is 2 x0 - x, on the rotations q0 q^-1 q0: steady motion simply continues.
    """
    before = 0
    while before < pad and len(q) > 1:
        count = min(pad - before, len(q) - 1)
        head, tail = q[count:0:-1], q[-2 : -count - 2 : -1]
        q = np.concatenate([_reflected(head, q[0], layout), q, _reflected(tail, q[-1], layout)])
        before += count
    return q, before


def _reflected(q: np.ndarray, at_frame: np.ndarray, layout: _Layout) -> np.ndarray:
    result = 2.0 * at_frame - q
    for at, _ in layout.quaternions:
        centre = at_frame[at : at + 4]
        result[:, at : at + 4] = product(product(centre, conjugate(q[:, at : at + 4])), centre)
    for at, _ in layout.circles:
        centre, point = at_frame[at : at + 2], q[:, at : at + 2]
        result[:, at : at + 2] = 2.0 * (point @ centre)[:, None] * centre - point
    return result


def _regrid(times: np.ndarray, q: np.ndarray, known: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Configurations (G, nq) at the grid's times, spline by stretch, on the unit spheres again only to first order."""
    result = np.full((len(grid), q.shape[1]), np.nan)
    for start, stop in stretches(known):
        inside = (grid >= times[start]) & (grid <= times[stop - 1])
        if stop - start > 1:
            result[inside] = interpolated(times[start:stop], q[start:stop])(grid[inside])
    return result


def _fill(times: np.ndarray, positions: np.ndarray, velocities: np.ndarray, accelerations: np.ndarray) -> None:
    """Long gaps in place: a straight line between their ends, held at the trial's ends; such frames do not count."""
    known = np.isfinite(positions).all(axis=1)
    if known.all():
        return
    if not known.any():
        raise InvalidValue("no stretch of the motion is long enough to be filtered")
    for column in range(positions.shape[1]):
        positions[~known, column] = np.interp(times[~known], times[known], positions[known, column])
    for start, stop in stretches(~known):
        inner = start > 0 and stop < len(times)
        slope = (positions[stop] - positions[start - 1]) / (times[stop] - times[start - 1]) if inner else 0.0
        velocities[start:stop] = slope
        accelerations[start:stop] = 0.0


def _on_manifold(
    rig: Rig, times: np.ndarray, s: np.ndarray, ds: np.ndarray, dds: np.ndarray, layout: _Layout
) -> Motion:
    """Configuration, velocity and acceleration of the curve s (N, nq) with its time derivatives."""
    q, (v, a) = s.copy(), np.zeros((2, len(s), rig.model.nv))
    for at, vat in layout.plain:
        v[:, vat], a[:, vat] = ds[:, at], dds[:, at]
    for at, vat in layout.quaternions:
        span = slice(at, at + 4)
        # frames i, components j of a quaternion
        square = np.einsum("ij,ij->i", s[:, span], s[:, span])[:, None]
        back = conjugate(s[:, span])
        # u = s / |s| turns with omega = 2 Im(s* s') / |s|^2: the growth of |s| is the real part and drops out.
        omega = 2.0 * product(back, ds[:, span])[:, :3] / square
        growth = 2.0 * np.einsum("ij,ij->i", s[:, span], ds[:, span])[:, None] / square
        v[:, vat : vat + 3] = omega
        a[:, vat : vat + 3] = 2.0 * product(back, dds[:, span])[:, :3] / square - growth * omega
        q[:, span] = s[:, span] / np.sqrt(square)
    for at, vat, quaternion in layout.carried:
        unit = conjugate(q[:, quaternion : quaternion + 4])
        omega = v[:, vat + 3 : vat + 6]
        v[:, vat : vat + 3] = rotate(unit, ds[:, at : at + 3])
        a[:, vat : vat + 3] = rotate(unit, dds[:, at : at + 3]) - np.cross(omega, v[:, vat : vat + 3])
    for at, vat in layout.circles:
        cosine, sine = s[:, at], s[:, at + 1]
        square = cosine**2 + sine**2
        v[:, vat] = (cosine * ds[:, at + 1] - sine * ds[:, at]) / square
        growth = 2.0 * (cosine * ds[:, at] + sine * ds[:, at + 1]) / square
        a[:, vat] = (cosine * dds[:, at + 1] - sine * dds[:, at]) / square - growth * v[:, vat]
        q[:, at : at + 2] = s[:, at : at + 2] / np.sqrt(square)[:, None]
    return Motion(times, q, v, a)
