"""Low-pass and derivatives of a motion on the configuration manifold.

Angles of a spherical joint jump at the singularities of their chart (gimbal lock); here each rotation is a unit
quaternion. A quaternion curve is filtered in R^4 and normalised. Rotating the world, or the axes of a link, multiplies
quaternions from the left or right by a constant. That is linear and orthogonal in R^4, so the result is independent of
both. A constant angular velocity, whose components are sinusoids of one frequency, passes exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from ..base.arrays import frozen_times, true_runs
from ..base.errors import InvalidValue
from ..base.file_arrays import FileRows
from ..base.so3 import conjugate, continuous_signs, product, rotate
from ..skeleton.rig import Rig
from ..values.filter_presets import FilterPreset
from ..values.motion import Motion
from .filters import filter_padded, padding
from .gaps import LONGEST_GAP, bridge, unbridged
from .resampling import DEGREE, rate_of_grid, uniform_times

LEAST_PAD = 12
"""Least number of padding samples: they keep the spline's end conditions outside the data."""
SPLINED = 48
"""Frames on either side on which a spline depends, to rounding. Derived: what a sample changes in a spline of fifth
degree decays by the factor 0.4306 from sample to sample, to 3e-18 over 48."""
PIECE = 4096
"""Frames filtered at once, without the padding that filter and spline need."""
NEAREST, LOST = 0.25, 1.5
"""Fractions of the median step: a sample after a shorter step is dropped, a longer step means lost samples."""
_UNIT = 1e-3

Curve: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows (n, ...) of a curve, its first and its second derivative."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Indices of a rig's coordinates by kind: vectors (v = q'), quaternions, body-frame positions, circles."""

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

    q is filtered, then interpolated by a quintic spline. Its analytic derivatives, mapped to the tangent space, are v
    and a: v is exactly the velocity of the returned curve in Pinocchio's convention (root and spherical joints in
    their own axes), and a the derivative of v's components.

    Args:
        rig: that moves.
        times: (N,) [s]; rounded stamps are moved to their uniform grid, uneven ones are resampled at the median step.
        q: (N, nq); a row with NaN is a gap. Every gap is bridged so that the motion is complete; frames of gaps longer
            than ``longest_gap`` must not count (see `gaps.unbridged`).
        preset: low-pass; None for derivatives only.
        longest_gap: [s]; the filter does not cross longer gaps.

    Raises:
        InvalidValue: wrong shape, fewer than two complete frames, or the cut-off is not
            below half the frame rate.
    """
    times = frozen_times(times)
    q = np.asarray(q, float)
    if q.shape != (len(times), rig.nq):
        raise InvalidValue(f"q has shape {q.shape}, expected ({len(times)}, {rig.nq})")
    layout = _layout(rig)
    known = np.concatenate([np.isfinite(q[start : start + PIECE]).all(axis=1) for start in range(0, len(q), PIECE)])
    if known.sum() < 2:
        raise InvalidValue("a motion needs at least two complete frames to have a velocity")
    grid, same = uniform_times(times)
    if not same:
        kept = _after_gaps(times, float(grid[1] - grid[0]))
        times, q, known = times[kept], q[kept], known[kept]
        q = _regrid(times, _continuous_signs(np.where(known[:, None], q, np.nan), layout), known, grid, layout)
        known = np.isfinite(q).all(axis=1) & (np.interp(grid, times, known.astype(float)) > 0.99)
    rate = rate_of_grid(grid)
    filled = ~unbridged(~known, rate, longest_gap)
    for start, stop in true_runs(filled):
        filled[start:stop] = stop - start > 1  # one frame alone has no velocity
    if not filled.any():
        raise InvalidValue("no segment of the motion is long enough to be filtered")
    curves = _Curves(q, known, layout, rate, preset)
    rows = FileRows(), FileRows(), FileRows()
    for curve in _without_gaps(grid, filled, _continuing(_pieces(curves, filled), layout)):
        for row, values in zip(rows, _on_manifold(rig, *curve, layout)):
            row.add(values)
    positions, velocities, accelerations = (row.finish() for row in rows)
    return Motion(grid, positions, velocities, accelerations)


@dataclass(frozen=True, slots=True)
class _Curves:
    """Computes the filtered curve of a motion and its derivatives for any frames."""

    q: np.ndarray
    known: np.ndarray
    layout: _Layout
    rate: float
    preset: FilterPreset | None

    def __call__(self, start: int, stop: int, first: int, last: int) -> Curve:
        """Frames start..stop-1 of the segment first..last-1, which has bridged gaps only.

        With the neighbouring frames that filter and spline depend on, the result is that of the segment to 1e-8.
        """
        pad = LEAST_PAD if self.preset is None else max(LEAST_PAD, padding(self.preset, self.rate))
        low, high = max(first, start - pad - SPLINED), min(last, stop + pad + SPLINED)
        while not self.known[low]:
            low -= 1
        while not self.known[high - 1]:
            high += 1
        known, part = self.known[low:high], np.array(self.q[low:high], float)
        part[~known] = np.nan
        part = bridge(_continuous_signs(part, self.layout, low), self.rate, np.inf)
        part, before = _pad(part, self.layout, pad)
        if self.preset is not None:
            part = filter_padded(part, self.rate, self.preset)
        local = (np.arange(len(part)) - before) / self.rate
        spline = fit_spline(local, part)
        inside = local[before + start - low : before + stop - low]
        return spline(inside, 0), spline(inside, 1), spline(inside, 2)


def _pieces(curves: _Curves, filled: np.ndarray) -> Iterator[tuple[slice, Curve]]:
    for first, last in true_runs(filled):
        for start in range(first, last, PIECE):
            stop = min(start + PIECE, last)
            yield slice(start, stop), curves(start, stop, first, last)


def _continuing(pieces: Iterator[tuple[slice, Curve]], layout: _Layout) -> Iterator[tuple[slice, Curve]]:
    """The pieces, every quaternion with the sign that continues the piece before."""
    last: np.ndarray | None = None
    for frames, curve in pieces:
        for at, _ in layout.quaternions:
            span = slice(at, at + 4)
            if last is not None and curve[0][0, span] @ last[span] < 0.0:
                for values in curve:
                    values[:, span] *= -1.0
        last = curve[0][-1]
        yield frames, curve


def _without_gaps(times: np.ndarray, filled: np.ndarray, pieces: Iterator[tuple[slice, Curve]]) -> Iterator[Curve]:
    """Fill long gaps between pieces: linearly between their ends, constant at the trial's ends; they do not count."""
    done, last = 0, None
    for frames, curve in pieces:
        if frames.start > done:
            yield from _bridged(times, slice(done, frames.start), last, curve[0][0])
        yield curve
        done, last = frames.stop, curve[0][-1]
    if done < len(filled):
        yield from _bridged(times, slice(done, len(filled)), last, None)


def _bridged(times: np.ndarray, gap: slice, before: np.ndarray | None, after: np.ndarray | None) -> Iterator[Curve]:
    end = after if before is None else before
    assert end is not None
    slope, zero = np.zeros_like(end), times[gap.start]
    if before is not None and after is not None:
        zero = times[gap.start - 1]
        slope = (after - before) / (times[gap.stop] - zero)
    for start in range(gap.start, gap.stop, PIECE):
        elapsed = (times[start : min(start + PIECE, gap.stop)] - zero)[:, None]
        yield (end + elapsed * slope, np.tile(slope, (len(elapsed), 1)), np.zeros((len(elapsed), len(slope))))


def fit_spline(times: np.ndarray, values: np.ndarray) -> BSpline:
    """Spline of degree `DEGREE` (less for few samples) through values (N, ...) at times (N,)."""
    degree = min(DEGREE, len(times) - 1)
    return make_interp_spline(times, values, k=degree - (degree + 1) % 2)


def _layout(rig: Rig) -> _Layout:
    joints = [(joint, own.start, rate.start) for joint, own, rate in zip(rig.joints, rig.q_slices, rig.v_slices)]
    free = [(at, vat, at + 3) for joint, at, vat in joints if joint.kind == "free"]
    turning = [(at, vat) for joint, at, vat in joints if joint.kind == "spherical"]
    equal = ("revolute", "prismatic", "universal")  # their velocities are the rates of their coordinates
    return _Layout(
        plain=tuple((at + k, vat + k) for joint, at, vat in joints if joint.kind in equal for k in range(joint.nv)),
        quaternions=tuple(sorted([*((own, vat + 3) for _, vat, own in free), *turning])),
        carried=tuple(free),
        circles=tuple((at, vat) for joint, at, vat in joints if joint.kind == "continuous"),
    )


def _continuous_signs(q: np.ndarray, layout: _Layout, first: int = 0) -> np.ndarray:
    """Normalised quaternions and circles, quaternions with continuous signs (q and -q are one rotation).

    Rows with NaN (gaps) stay; ``first`` is the frame number of the first row.
    """
    known = np.isfinite(q).all(axis=1)
    result, q = q.copy(), q[known]
    for at, size in [(at, 4) for at, _ in layout.quaternions] + [(at, 2) for at, _ in layout.circles]:
        block = q[:, at : at + size]
        norms = np.linalg.norm(block, axis=1)
        if np.any(np.abs(norms - 1.0) > _UNIT):
            worst = int(np.argmax(np.abs(norms - 1.0)))
            frame = first + int(np.flatnonzero(known)[worst])
            raise InvalidValue(f"q[{frame}, {at}:{at + size}] has norm {norms[worst]:g}, expected a unit rotation")
        block /= norms[:, None]
        if size == 4:
            block[:] = continuous_signs(block)
    result[known] = q
    return result


def _pad(q: np.ndarray, layout: _Layout, pad: int) -> tuple[np.ndarray, int]:
    """The curve with point reflections at both ends, repeated while the data are shorter than the padding.

    The reflection of x at x0 is 2 x0 - x in R^n and q0 q^-1 q0 on the rotations, so steady motion continues.
    """
    before = 0
    while before < pad and len(q) > 1:
        count = min(pad - before, len(q) - 1)
        head, tail = q[count:0:-1], q[-2 : -count - 2 : -1]
        q = np.concatenate([_reflect(head, q[0], layout), q, _reflect(tail, q[-1], layout)])
        before += count
    return q, before


def _reflect(q: np.ndarray, at_frame: np.ndarray, layout: _Layout) -> np.ndarray:
    result = 2.0 * at_frame - q
    for at, _ in layout.quaternions:
        centre = at_frame[at : at + 4]
        result[:, at : at + 4] = product(product(centre, conjugate(q[:, at : at + 4])), centre)
    for at, _ in layout.circles:
        centre, point = at_frame[at : at + 2], q[:, at : at + 2]
        result[:, at : at + 2] = 2.0 * (point @ centre)[:, None] * centre - point
    return result


def _after_gaps(times: np.ndarray, step: float) -> np.ndarray:
    """Indices of samples at times (N,) [s], without those that follow another too soon for a smooth spline."""
    kept = [0]
    for k in range(1, len(times)):
        if times[k] - times[kept[-1]] >= NEAREST * step:
            kept.append(k)
    return np.array(kept)


def _regrid(times: np.ndarray, q: np.ndarray, known: np.ndarray, grid: np.ndarray, layout: _Layout) -> np.ndarray:
    """Configurations (G, nq) at the grid's times, with one spline per segment; lost samples are gaps."""
    result = np.full((len(grid), q.shape[1]), np.nan)
    lost = np.append(False, np.diff(times) > LOST * (grid[1] - grid[0]))
    for first, last in true_runs(known):
        parts = np.append(np.append(first, first + np.flatnonzero(lost[first:last])), last)
        for start, stop in zip(parts[:-1].tolist(), parts[1:].tolist()):
            inside = (grid >= times[start]) & (grid <= times[max(stop - 1, start)])
            if stop - start > 1:
                result[inside] = fit_spline(times[start:stop], q[start:stop])(grid[inside])
    for at, size in [(at, 4) for at, _ in layout.quaternions] + [(at, 2) for at, _ in layout.circles]:
        result[:, at : at + size] /= np.linalg.norm(result[:, at : at + size], axis=1)[:, None]
    return result


def _on_manifold(rig: Rig, s: np.ndarray, ds: np.ndarray, dds: np.ndarray, layout: _Layout) -> Curve:
    """Configuration, velocity and acceleration of the curve s (N, nq) with its time derivatives."""
    q, (v, a) = s.copy(), np.zeros((2, len(s), rig.nv))
    for at, vat in layout.plain:
        v[:, vat], a[:, vat] = ds[:, at], dds[:, at]
    for at, vat in layout.quaternions:
        span = slice(at, at + 4)
        # frames i, components j of a quaternion
        square = np.einsum("ij,ij->i", s[:, span], s[:, span])[:, None]
        back = conjugate(s[:, span])
        # u = s / |s| rotates with omega = 2 Im(s* s') / |s|^2: the change of |s| is the real part and drops out.
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
    return q, v, a
