"""Rows that a log wrote at uneven times, resampled to an even clock: filters and derivatives need one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..clock import LOST, interpolate, uniform_times
from ..errors import InputError
from ..so3 import continuous_signs
from ..wrenches import Wrenches
from .text_files import Warn, check_rate

_QUATERNION = re.compile(r"(.*)q[xyzw0-4]$")
"""Column names of a quaternion's components, after what they belong to."""


def resample_rows(
    path: str | Path,
    times: np.ndarray,
    values: np.ndarray,
    lines: Sequence[int],
    warn: Warn,
    names: Sequence[str] = (),
) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Times, values and line numbers of a table on an even clock of its usual step.

    Stamps that are even, or were only rounded, stay as they are. Others are resampled, with a warning. A step that lost
    samples leaves missing ones.

    Args:
        path: the file they came from.
        times: (N,) [s], increasing, freed of rounding.
        values: (N, C), NaN where missing.
        lines: (N,) line number of each row.
        warn: receives the warning.
        names: C column names; components of quaternions, ``NAMEqx`` to ``NAMEqw``, are turned as one.

    Raises:
        InputError: milliseconds, or stamps of which more than half of the even clock's samples are missing.
    """
    check_rate(times, lines, path)
    grid, even = uniform_times(times)
    if even:
        return times, values, tuple(lines)
    found = _interpolate(times, values, grid, _quaternion_columns(names))
    steps = np.diff(times)
    step = grid[1] - grid[0]
    lost = int(np.sum(np.maximum(np.round(steps / step) - 1, 0)[steps > LOST * step]))
    if 2 * lost > len(grid):
        row = int(np.argmax(steps)) + 1
        problem = f"{steps[row - 1]:g} s pass before this row, {step:g} s before others"
        remedy = "Cut the file there, or export every frame; a missing sample is an empty cell"
        raise InputError(path, problem, place=f"line {lines[row]}", remedy=remedy)
    text = f"{Path(path).name}: resampled to an even {1.0 / step:.4g} Hz, because its time steps vary from "
    text += f"{steps.min():.3g} to {steps.max():.3g} s"
    warn(f"{text}; {lost} lost samples count as missing" if lost else text)
    nearest = np.clip(np.searchsorted(times, grid), 0, len(lines) - 1)
    return grid, found, tuple(int(lines[k]) for k in nearest)


def resample_wrenches(path: str | Path, wrenches: Wrenches, lines: Sequence[int], missing: str, warn: Warn) -> Wrenches:
    """Wrenches on an even clock; what is measured is the same in all rows.

    Moments about a fixed point are interpolated, since they are linear in the load as centres of pressure are not.

    Args:
        path: the file they came from.
        wrenches: as read.
        lines: (N,) line number of each sample.
        missing: ``"error"`` refuses samples that were lost, ``"keep"`` leaves them NaN.
        warn: receives the warning.

    Raises:
        InputError: see `resample_rows`; or samples were lost.
    """
    flat = wrenches.values.reshape(len(wrenches), -1)
    times, values, own = resample_rows(path, wrenches.times, flat, lines, warn)
    if times is wrenches.times:
        return wrenches
    found = values.reshape(len(times), -1, 6)
    lost = ~np.isfinite(found[:, :, :3]).all(axis=(1, 2))
    if lost.any() and missing == "error":
        place = f"line {own[int(np.argmax(lost))]}"
        remedy = "Export the forces again, or read with missing = keep to leave these samples out"
        raise InputError(path, f"{int(lost.sum())} force samples are missing", place=place, remedy=remedy)
    assert wrenches.measured is not None
    return Wrenches(times, wrenches.frames, found, np.tile(wrenches.measured[0], (len(times), 1)))


def _interpolate(
    times: np.ndarray, values: np.ndarray, grid: np.ndarray, quaternions: Sequence[Sequence[int]]
) -> np.ndarray:
    """Values (K, C) at a grid; quaternions keep the length that they had."""
    values = np.array(values, float)
    for four in quaternions:
        known = np.isfinite(values[:, four]).all(axis=1)
        values[np.ix_(known, four)] = continuous_signs(values[np.ix_(known, four)])
    found = interpolate(times, values, grid)
    for four in quaternions:
        lengths = np.linalg.norm(values[:, four], axis=1, keepdims=True)
        own = np.linalg.norm(found[:, four], axis=1, keepdims=True)
        found[:, four] *= interpolate(times, lengths, grid) / np.where(own > 0.0, own, 1.0)
    return found


def _quaternion_columns(names: Sequence[str]) -> list[list[int]]:
    """Columns of each quaternion."""
    groups: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        if match := _QUATERNION.fullmatch(name):
            groups.setdefault(match[1], []).append(column)
    return [columns for columns in groups.values() if len(columns) == 4]
